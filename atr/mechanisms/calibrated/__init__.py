"""Between which limits a chance is announced to lie, so that no reader of three models becomes too sure of a secret.

- models of readers, and the weights they give to rules: :mod:`atr.mechanisms.calibrated.readers`
- sums over the rules of a box: :mod:`atr.mechanisms.calibrated.box`, compiled in
  :mod:`atr.mechanisms.calibrated.kernels`
- whether a group may be announced at all: :mod:`atr.mechanisms.calibrated.every_total`
- the public partition of a group's rules: :mod:`atr.mechanisms.calibrated.partition`
- groups of two outcomes: :mod:`atr.mechanisms.calibrated.two_outcomes`
"""

from atr.mechanisms.calibrated.cell import Cell
from atr.mechanisms.calibrated.every_total import announceable
from atr.mechanisms.calibrated.two_outcomes import announce, announce_many, safe_start

__all__ = ["Cell", "announce", "announce_many", "announceable", "safe_start"]
