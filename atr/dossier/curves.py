"""Trade-off curves: how private a group can be at every fidelity, with exact and with free group rates. Private."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from markupsafe import Markup

from atr.core.arrays import FloatArray
from atr.core.display_text import named
from atr.core.fidelity import Alpha, Delta, Fidelity
from atr.core.groups import Groups
from atr.core.policy import Policy
from atr.core.regions import Regions
from atr.core.tolerances import SAME_CONFIDENCE, SAME_LEVEL
from atr.documents.charts.curves import Curve, CurveWords
from atr.documents.charts.curves import curves as draw
from atr.mechanisms import mechanism_of
from atr.mechanisms.optimal import optimal_privacy
from atr.mechanisms.optimal.closed_form import by_regions, by_sets

Kind = Literal["delta", "alpha"]

DRAWN = 6
"""Groups whose trade-off is drawn; the numbers of all are in ``dossier.json``."""
ROWS = 10
"""Rows of the table of a trade-off, about."""
SYMBOLS: dict[Kind, str] = {"delta": "δ", "alpha": "α"}
STEPS = 20
"""Steps of fidelity from 0 to 1: those of :func:`atr.core.fidelity.ladder`."""
FEW_LEVELS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Instead, where every point is a linear programme: close together where curves bend."""
MOST_REGIONS_TIMES_OUTCOMES = 600
"""Chances that such programmes may choose at one level, all groups together: some seconds for all of them."""
_DECIMALS = 6
"""Of confidences in ``dossier.json``: more than anybody reads, and a third of the file."""


@dataclass(frozen=True, eq=False, slots=True)
class TradeOff:
    """Optimal privacy against fidelity.

    Parameters
    ----------
    levels
        (k,) fidelity δ or α, ascending.
    exact, free
        (g, k) smallest maximum confidence β* at each fidelity when group rates are announced exactly, and when they
        may move.
    limits
        (g, 2) [β_min, C*]: confidence before any report, and after announcing the true decisions.
    """

    levels: FloatArray
    exact: FloatArray
    free: FloatArray
    limits: FloatArray


@dataclass(frozen=True, slots=True)
class GroupCurve:
    """The smallest confidence β* of a group at each fidelity, and its limits [β_min, C*]."""

    values: tuple[str, ...]
    exact: tuple[float, ...]
    free: tuple[float, ...]
    limits: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Curves:
    """The trade-off of privacy and fidelity, for the worst group at each fidelity and for every group to announce.

    ``level`` is the fidelity that is promised, or that of the policy where nothing is. ``reach_exact`` and
    ``reach_free`` are the largest of ``levels`` at which every group keeps to the ceiling, printed digits aside; None:
    at none of them. ``groups`` begins with those that can be protected least; where these are not all, ``overall`` is
    None.
    """

    kind: Kind
    level: float
    levels: tuple[float, ...]
    overall: GroupCurve | None
    reach_exact: float | None
    reach_free: float | None
    groups: tuple[GroupCurve, ...]


@dataclass(frozen=True, slots=True)
class CurveFigure:
    """A trade-off drawn, with the table of the same: levels, and the smallest confidence at exact and at free rates."""

    title: str
    drawing: Markup
    rows: tuple[tuple[str, str, str], ...]


def grid(kind: Kind, *, steps: int) -> FloatArray:
    """Give evenly spaced levels up to 1: of δ from 0, of α, which must be positive, from the first step.

    Parameters
    ----------
    kind
        ``delta`` or ``alpha``.
    steps
        How many steps there are from 0 to 1.

    Returns
    -------
    (k,) levels, ascending.

    Examples
    --------
    >>> grid("delta", steps=4), grid("alpha", steps=4)
    (array([0.  , 0.25, 0.5 , 0.75, 1.  ]), array([0.25, 0.5 , 0.75, 1.  ]))
    """
    return np.arange(0 if kind == "delta" else 1, steps + 1) / steps


def trade_off(
    groups: Groups,
    *,
    levels: Sequence[float] | FloatArray,
    kind: Kind = "delta",
    digits: int | None = None,
) -> TradeOff:
    """Compute the optimal privacy of every group at every fidelity of a grid.

    Under δ both curves run from β_min at δ = 0, where every region may announce its group's rate, to C* at δ = 1; the
    one with exact rates lies above. Under α chances of 0 never move, so α near 0 need not come near β_min.

    Parameters
    ----------
    groups
        Populations and true decisions.
    levels
        (k,) fidelities, ascending.
    kind
        ``delta`` or ``alpha``.
    digits
        Decimals announced: the allowed ranges shrink to that grid. None: no grid.

    Returns
    -------
    Smallest maximum confidences β* of every group at every level, and their limits.

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
    promise = Delta if kind == "delta" else Alpha
    chosen = np.asarray(levels, dtype=np.float64)
    if chosen.ndim != 1 or not len(chosen) or (np.diff(chosen) <= 0).any():
        raise ValueError("levels must be one row of ascending numbers")
    exact, free = (
        [optimal_privacy(groups, fidelity=promise(x), group_rates=rates, digits=digits) for x in chosen.tolist()]
        for rates in ("exact", "free")
    )
    beta_exact, beta_free = (np.column_stack([at_level.beta for at_level in found]) for found in (exact, free))
    return TradeOff(chosen, beta_exact, beta_free, free[-1].limits)


def curves(regions: Regions, beta: FloatArray, promise: Fidelity | None, policy: Policy) -> Curves | None:
    """Compute the trade-off of the groups to announce.

    Parameters
    ----------
    regions
        All decision regions of the period.
    beta
        (k,) the optimal privacy of the groups to announce.
    promise
        What was promised; None where the run was refused.
    policy
        The programme's policy.

    Returns
    -------
    The curves of the groups, those that can be protected least first. None where there is no group, where the mechanism
    has no level to set against the others, or where it would take too long.
    """
    drawn = mechanism_of(policy).trade_off(promise, policy)
    if drawn is None or not len(beta):
        return None
    kind, level = drawn
    which, usual = regions.announced[np.argsort(-beta, kind="stable")], grid(kind, steps=STEPS).tolist()
    groups = regions.take(which).groups
    if not (by_regions(groups) or by_sets(groups)):  # every point is a linear programme
        which = which[np.cumsum(groups.sizes) * len(regions.outcomes) <= MOST_REGIONS_TIMES_OUTCOMES]
        if not len(which):
            return None
        groups, usual = regions.take(which).groups, [x for x in FEW_LEVELS if x or kind == "delta"]
    levels = np.array(sorted({level, *(x for x in usual if abs(x - level) > SAME_LEVEL)}))
    found = trade_off(groups, kind=kind, levels=levels, digits=policy.digits)
    overall, reach_exact, reach_free = None, None, None
    if len(which) == len(beta):
        exact, free, limits = (of_groups.max(axis=0) for of_groups in (found.exact, found.free, found.limits))
        overall = _curve(("The worst group at each fidelity",), exact, free, limits)
        reach_exact, reach_free = (
            max(levels[worst <= policy.ceiling + SAME_CONFIDENCE].tolist(), default=None) for worst in (exact, free)
        )
    of_each = zip((named(regions.group_values[g]) for g in which), found.exact, found.free, found.limits, strict=True)
    return Curves(
        kind=kind,
        level=level,
        levels=tuple(levels.tolist()),
        overall=overall,
        reach_exact=reach_exact,
        reach_free=reach_free,
        groups=tuple(_curve(*curve) for curve in of_each),
    )


def _curve(values: tuple[str, ...], exact: FloatArray, free: FloatArray, limits: FloatArray) -> GroupCurve:
    before, after = limits.round(_DECIMALS).tolist()
    return GroupCurve(
        values, tuple(exact.round(_DECIMALS).tolist()), tuple(free.round(_DECIMALS).tolist()), (before, after)
    )


def charts(curves: Curves | None) -> tuple[CurveFigure, ...]:
    """Draw the trade-off of the worst group at each fidelity, then of the groups that can be protected least.

    Parameters
    ----------
    curves
        From :func:`curves`; None gives no chart.

    Returns
    -------
    The charts, that of the worst group first.
    """
    if curves is None:
        return ()
    overall = [] if curves.overall is None else [curves.overall]
    return tuple(_figure(curve, curves) for curve in (*overall, *curves.groups[:DRAWN]))


def _figure(of: GroupCurve, curves: Curves) -> CurveFigure:
    at, title = curves.levels.index(curves.level), ", ".join(of.values)
    mark = f"{SYMBOLS[curves.kind]}\N{NO-BREAK SPACE}{curves.level:g}"
    drawn = [Curve(name, percent(ys[at]), _percents(ys)) for name, ys in (("exact rates", of.exact), ("free", of.free))]
    before, after = of.limits
    levels = [
        Curve(name, percent(y), _percents([y])) for name, y in (("true rules", after), ("before any report", before))
    ]
    said = "; ".join(f"{line.label} {line.text}" for line in (*drawn, *levels))
    words = CurveWords(f"{title}. Smallest confidence at {mark}: {said}.", f"fidelity {SYMBOLS[curves.kind]}", mark)
    step = max(1, (len(curves.levels) - 1) // ROWS)
    chosen = sorted({*range(len(curves.levels) - 1, -1, -step), at})
    rows = tuple((f"{curves.levels[k]:g}", percent(of.exact[k]), percent(of.free[k])) for k in chosen)
    return CurveFigure(title, draw(curves.levels, drawn, levels, words, mark=curves.level), rows)


def _percents(shares: Sequence[float]) -> tuple[float, ...]:
    return tuple(100 * share for share in shares)


def percent(share: float) -> str:
    """Show a share in percent, to one decimal; only exact certainty is 100 %, and what was divided can be above it.

    >>> percent(0.675), percent(1.0), percent(0.99999), percent(1.083)
    ('67.5\\xa0%', '100\\xa0%', '99.9\\xa0%', '108.3\\xa0%')
    """
    tenths = min(round(share * 1000), 999) if share < 1 else round(share * 1000)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"
