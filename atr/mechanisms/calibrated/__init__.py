"""Between which limits a chance is announced to lie, so that no reader of three models becomes too sure of a secret.

- models of readers, and the weights they give to rules: :mod:`atr.mechanisms.calibrated.readers`
- sums over the rules of a box: :mod:`atr.mechanisms.calibrated.box`, compiled in
  :mod:`atr.mechanisms.calibrated.kernels`
- sums over tables of three outcomes: :mod:`atr.mechanisms.calibrated.tables`
- whether a group may be announced at all: :mod:`atr.mechanisms.calibrated.every_total`, of three outcomes
  :mod:`atr.mechanisms.calibrated.every_table`
- the public partition of a group's rules: :mod:`atr.mechanisms.calibrated.partition`
- groups of two outcomes: :mod:`atr.mechanisms.calibrated.two_outcomes`, of three
  :mod:`atr.mechanisms.calibrated.three_outcomes`, of any number :mod:`atr.mechanisms.calibrated.group`
- digits of printed chances: :mod:`atr.mechanisms.calibrated.digits`
"""

from atr.mechanisms.calibrated.cell import Cell
from atr.mechanisms.calibrated.digits import Printed, printed_chances
from atr.mechanisms.calibrated.every_total import announceable
from atr.mechanisms.calibrated.group import Announced, group_announceable, solve_group
from atr.mechanisms.calibrated.two_outcomes import announce, announce_many, safe_start

__all__ = [
    "Announced",
    "Cell",
    "Printed",
    "announce",
    "announce_many",
    "announceable",
    "group_announceable",
    "printed_chances",
    "safe_start",
    "solve_group",
]
