"""Populations, mappings, protected sets, fidelity, confidence and leakage: no files, no database.

Where the terms of Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137) live:

- decision region, QID group, true decision mapping D: :mod:`atr.core.regions`, as arrays :mod:`atr.core.groups`
- announced mapping D̃: :mod:`atr.core.announcement`
- maximum confidence (Def. 3 and 4), privacy limit β_min: :mod:`atr.core.confidence`
- fidelity δ, α and general (Def. 5 to 7), with the two-sided tightening of two outcomes: :mod:`atr.core.fidelity`
- minimum uncertainty γ (App. C), local differential privacy, log-lift: :mod:`atr.core.leakage`
- protected sets, of sensitive values and named ones: :mod:`atr.core.protected`
- disclosure status, which groups are announced (Remark 2): :mod:`atr.core.disclosure`
- population rounding, printed rates: :mod:`atr.core.publication`
- optimal privacy β* and the mapping to announce: :mod:`atr.mechanisms.optimal`
"""

from atr.core.confidence import maximum_confidence
from atr.core.fidelity import Alpha, Delta, Fidelity, Ranges
from atr.core.groups import Groups

__all__ = ["Alpha", "Delta", "Fidelity", "Groups", "Ranges", "maximum_confidence"]
