"""Sanitised columns: values altered at random, so that a record tells a bounded amount of what is hidden.

S is what is hidden, X the column, Y what is released in its place. A joint is an (s, x) array of P(S = s, X = x), or a
frame of it with the values as labels; frames give frames. Positions of Y are those of X. All is in nats.

>>> joint = np.array([[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]])
>>> alpha = choose_alpha(joint, max_log_lift=0.5)
>>> leakage(linear_reduction(joint, alpha=alpha)).log_lift <= 0.5
True
>>> round(loss(joint, markov(joint, alpha)), 4)
0.3476

- what a joint tells of S, and what a channel costs: :mod:`atr.sanitise.measured`
- the joint of S and Y, the smallest α that keeps a bound: :mod:`atr.sanitise.reduction`
- the channels that give it: :mod:`atr.sanitise.channels`, with :mod:`atr.sanitise.distances`
- released values drawn from a channel: :mod:`atr.sanitise.draws`
- couplings of two distributions at the least expected cost: discrete ones :mod:`atr.sanitise.couplings`, numbers
  :mod:`atr.sanitise.quantiles`, points to cells and back :mod:`atr.sanitise.cells`
- streams whose class is not known: :mod:`atr.sanitise.streams`

Sources: [DLF] Ding, Liu, Farokhi, *A Linear Reduction Method for Local Differential Privacy and Log-lift* (arXiv
2101.09689); [DM] distribution mapping for inference privacy. Where a paper is wrong, the module says so.
"""

from atr.sanitise.cells import Partition, assign, draw_from_cells, partition
from atr.sanitise.channels import best, markov
from atr.sanitise.couplings import Transport, transport
from atr.sanitise.draws import draw
from atr.sanitise.measured import Leakage, information, leakage, loss
from atr.sanitise.quantiles import quantile_map
from atr.sanitise.reduction import choose_alpha, linear_reduction
from atr.sanitise.streams import MappedStream, chernoff_information, map_stream

__all__ = [
    "Leakage",
    "MappedStream",
    "Partition",
    "Transport",
    "assign",
    "best",
    "chernoff_information",
    "choose_alpha",
    "draw",
    "draw_from_cells",
    "information",
    "leakage",
    "linear_reduction",
    "loss",
    "map_stream",
    "markov",
    "partition",
    "quantile_map",
    "transport",
]
