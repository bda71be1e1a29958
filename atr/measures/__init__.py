"""Fairness, influence and sampling, computed on what is announced.

A measure of group fairness is a module with a class that follows :class:`atr.measures.base.Measure`, and a line in
:data:`MEASURES`; reports, their verification and the dossier ask the registry.
"""

from __future__ import annotations

from atr.measures.base import Measure
from atr.measures.parity import ConditionalStatisticalParity, StatisticalParity
from atr.measures.ratio import PPercentRule

MEASURES: dict[str, Measure] = {
    measure.name: measure for measure in (PPercentRule(), StatisticalParity(), ConditionalStatisticalParity())
}
"""The measures of group fairness by name, in the order of a report's comparisons."""
INDIVIDUAL = "individual_fairness"
"""The measure of single regions, :mod:`atr.measures.individual`, as it is called in a report."""
