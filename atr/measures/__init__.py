"""Fairness, influence and sampling, computed on what is announced.

A measure of group fairness is a module with a :class:`atr.measures.base.Measure`, and a name in :data:`MEASURES`;
reports, their verification and the dossier ask the registry.
"""

from __future__ import annotations

from atr.measures.base import Measure
from atr.measures.parity import CONDITIONAL_PARITY, PARITY
from atr.measures.ratio import P_PERCENT_RULE

MEASURES: dict[str, Measure] = {measure.name: measure for measure in (P_PERCENT_RULE, PARITY, CONDITIONAL_PARITY)}
"""The measures of group fairness by name, in the order of a report's comparisons."""
INDIVIDUAL = "individual_fairness"
"""The measure of single regions, :mod:`atr.measures.individual`, as it is called in a report."""
