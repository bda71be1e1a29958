"""Between which limits a chance is announced to lie, so that no reader of three models becomes too sure of a secret.

- models of readers, the weights they give to rules, and what is asked of a belief:
  :mod:`atr.mechanisms.calibrated.readers`
- sums over the rules of two outcomes: :mod:`atr.mechanisms.calibrated.box`, compiled in
  :mod:`atr.mechanisms.calibrated.kernels`; of three: :mod:`atr.mechanisms.calibrated.tables`
- what people alone tell, whatever the totals: :mod:`atr.mechanisms.calibrated.every_total`, of three outcomes
  :mod:`atr.mechanisms.calibrated.every_table`
- how sure of which sets a reader may be: :mod:`atr.mechanisms.calibrated.ceilings`
- the public partition of a group's rules: :mod:`atr.mechanisms.calibrated.partition`
- what is announced of a group, if anything: :mod:`atr.mechanisms.calibrated.group`
- digits of printed chances: :mod:`atr.mechanisms.calibrated.digits`
"""

from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.group import Cell, announce, announceable, solve_group

__all__ = ["Ceilings", "Cell", "announce", "announceable", "solve_group"]
