"""Populations, mappings, protected sets, fidelity, confidence and leakage: no files, no database."""

from atr.core.confidence import maximum_confidence
from atr.core.fidelity import Alpha, Delta, Fidelity, Ranges
from atr.core.groups import Groups

__all__ = ["Alpha", "Delta", "Fidelity", "Groups", "Ranges", "maximum_confidence"]
