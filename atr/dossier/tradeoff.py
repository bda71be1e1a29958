"""Trade-off curves: how private a group can be at every fidelity, with exact and with free group rates side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from atr.core.arrays import FloatArray
from atr.core.fidelity import Alpha, Delta
from atr.core.groups import Groups
from atr.mechanisms.optimal import optimal_privacy

Kind = Literal["delta", "alpha"]


@dataclass(frozen=True, eq=False, slots=True)
class TradeOff:
    """Optimal privacy against fidelity. Private: it depends on the true decisions.

    Attributes
    ----------
    kind
        ``delta`` or ``alpha``.
    levels
        (k,) fidelity δ or α, ascending.
    exact, free
        (g, k) smallest maximum confidence β* at each fidelity when group rates are announced exactly, and when they
        may move.
    limits
        (g, 2) [β_min, C*]: confidence before any report, and after announcing the true decisions.
    """

    kind: Kind
    levels: FloatArray
    exact: FloatArray
    free: FloatArray
    limits: FloatArray

    @property
    def overall_exact(self) -> FloatArray:
        """(k,) the worst group's β* at each fidelity, rates exact: what a whole report can promise."""
        worst: FloatArray = self.exact.max(axis=0)
        return worst

    @property
    def overall_free(self) -> FloatArray:
        """(k,) the same with free rates."""
        worst: FloatArray = self.free.max(axis=0)
        return worst

    @property
    def overall_limits(self) -> FloatArray:
        """(2,) the worst group's confidence before any report, and after announcing the true decisions."""
        worst: FloatArray = self.limits.max(axis=0)
        return worst


def grid(kind: Kind, *, steps: int = 50) -> FloatArray:
    """Give evenly spaced levels up to 1: of δ from 0, of α, which must be positive, from the first step.

    Examples
    --------
    >>> grid("delta", steps=4), grid("alpha", steps=4)
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.25, 0.5 , 0.75, 1.  ]))
    """
    first = 0 if kind == "delta" else 1
    return np.arange(first, steps + 1) / steps


def trade_off(
    groups: Groups,
    *,
    kind: Kind = "delta",
    levels: Sequence[float] | FloatArray | None = None,
    digits: int | None = None,
) -> TradeOff:
    """Compute the optimal privacy of every group at every fidelity of a grid.

    Under δ both curves run from β_min at δ = 0, where every region may announce its group's rate, to C* at δ = 1; the
    one with exact rates lies above. Under α chances of 0 never move, so α near 0 need not come near β_min.

    Parameters
    ----------
    groups
        Populations and true decisions.
    kind
        ``delta`` or ``alpha``.
    levels
        Fidelities, ascending; by default :func:`grid`.
    digits
        Decimals announced: the allowed ranges shrink to that grid. None: no grid.

    Returns
    -------
    TradeOff

    Raises
    ------
    ValueError
        If levels are missing, out of range or do not ascend.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time*, section 8 and Figure 5, for free
    rates; exact ones are this library's.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> curve = trade_off(card, levels=[0, 0.9, 1])
    >>> curve.free.round(4)
    array([[0.6   , 0.675 , 1.    ],
           [0.45  , 0.6378, 0.72  ]])
    >>> curve.exact.round(4)
    array([[0.6  , 0.9  , 1.   ],
           [0.45 , 0.648, 0.72 ]])
    """
    fidelity = Delta if kind == "delta" else Alpha
    chosen = grid(kind) if levels is None else np.asarray(levels, dtype=np.float64)
    if chosen.ndim != 1 or not len(chosen) or (np.diff(chosen) <= 0).any():
        raise ValueError("levels must be one row of ascending numbers")
    exact, free = np.empty((len(groups), len(chosen))), np.empty((len(groups), len(chosen)))
    for k, level in enumerate(chosen.tolist()):
        exact[:, k] = optimal_privacy(groups, fidelity=fidelity(level), group_rates="exact", digits=digits).beta
        at_level = optimal_privacy(groups, fidelity=fidelity(level), group_rates="free", digits=digits)
        free[:, k] = at_level.beta
    return TradeOff(kind=kind, levels=chosen, exact=exact, free=free, limits=at_level.limits)
