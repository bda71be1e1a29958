"""What the dossier says of privacy beyond the policy: trade-off curves, and leakage by other yardsticks. Private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from atr.core.announcement import Announcement
from atr.core.leakage import leakage_of_values
from atr.core.regions import Regions
from atr.documents.charts.curves import CurveChart, curve_chart
from atr.dossier.tradeoff import Kind, grid, trade_off
from atr.mechanisms.optimal.closed_form import by_regions, by_sets
from atr.programme import Policy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Yardstick = float | Literal["inf"]
"""JSON has no infinity: it is the text "inf"."""

_DRAWN = 6
"""Groups whose trade-off is drawn; the numbers of all are in ``dossier.json``."""
_STEPS = 20
"""Steps of fidelity from 0 to 1: those of :func:`atr.core.fidelity.ladder`."""
_FEW_LEVELS = (0.0, 0.25, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95, 1.0)
"""Instead, where every point is a linear programme: close together where curves bend."""
_MOST_CELLS = 600
"""Chances that such programmes may choose at one level, all groups together: some seconds for all of them."""


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """What a mapping gives away in a group, in the units of other definitions: see :mod:`atr.core.leakage`."""

    minimum_uncertainty: Yardstick
    local_differential_privacy: Yardstick
    log_lift: Yardstick
    likeness_gain: Yardstick
    min_entropy_leakage: Yardstick


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


def curves(regions: Regions, beta: Floats, announcement: Announcement | None, policy: Policy) -> Curves | None:
    """The trade-off of the groups to announce, of which ``beta`` (k,) is the optimal privacy.

    None where there is no group, where every region has a range of its own, so that there is no one level, where it
    takes too long.
    """
    promised = policy.fidelity.level if announcement is None else getattr(announcement.fidelity, "level", None)
    if promised is None or policy.fidelity.level is None or not len(beta):
        return None
    kind: Kind = "alpha" if policy.fidelity.kind == "alpha" else "delta"
    which, usual = regions.announced[np.argsort(-beta, kind="stable")], grid(kind, steps=_STEPS).tolist()
    groups = regions.take(which).groups
    if not (by_regions(groups) or by_sets(groups)):  # every point is a linear programme
        which = which[np.cumsum(groups.sizes) * len(regions.outcomes) <= _MOST_CELLS]
        if not len(which):
            return None
        groups, usual = regions.take(which).groups, [x for x in _FEW_LEVELS if x or kind == "delta"]
    level = float(promised)
    levels = np.array(sorted({level, *(x for x in usual if abs(x - level) > 1e-9)}))
    found = trade_off(groups, kind=kind, levels=levels, digits=policy.digits)
    of_groups = zip((regions.group_values[g] for g in which), found.exact, found.free, found.limits, strict=True)
    worst = found.overall_exact, found.overall_free, found.overall_limits
    every = len(which) == len(beta)

    def reach(worst: Floats) -> float | None:
        kept = levels[worst <= policy.ceiling + 1e-12]
        return float(kept.max()) if every and len(kept) else None

    return Curves(
        kind=kind,
        level=level,
        levels=tuple(levels.tolist()),
        overall=_curve(("The worst group at each fidelity",), *worst) if every else None,
        reach_exact=reach(found.overall_exact),
        reach_free=reach(found.overall_free),
        groups=tuple(_curve(*curve) for curve in of_groups),
    )


def charts(curves: Curves | None) -> tuple[CurveChart, ...]:
    """The trade-off of the worst group at each fidelity, then of the groups that can be protected least."""
    if curves is None:
        return ()
    overall = [] if curves.overall is None else [curves.overall]
    return tuple(
        curve_chart(
            curves.levels,
            {"exact rates": curve.exact, "free rates": curve.free},
            {"true rules": curve.limits[1], "before any report": curve.limits[0]},
            mark=curves.level,
            text=percent,
            id=f"curve-{i}",
            title=", ".join(curve.values),
        )
        for i, curve in enumerate([*overall, *curves.groups[:_DRAWN]])
    )


def percent(share: float) -> str:
    """A share in percent, to one decimal; only exact certainty is 100 %, and what was divided can be above it.

    >>> percent(0.675), percent(1.0), percent(0.99999), percent(1.083)
    ('67.5\\xa0%', '100\\xa0%', '99.9\\xa0%', '108.3\\xa0%')
    """
    tenths = min(round(share * 1000), 999) if share < 1 else round(share * 1000)
    return f"{tenths / 10:g}\N{NO-BREAK SPACE}%"


def yardsticks(regions: Regions, which: Ints, announcement: Announcement | None) -> list[Yardsticks]:
    """(k,) the yardsticks of the announced mapping of some groups; of the true one where none is given."""
    if not len(which):
        return []
    told = regions.take(which)
    decision = told.decision if announcement is None else announcement.mapping
    found = leakage_of_values(told.assumed, decision, told.offsets, values=told.region_values, sets=told.sets)
    names = Yardsticks.__dataclass_fields__
    columns = ([_finite(x) for x in getattr(found, name).tolist()] for name in names)
    return [Yardsticks(*row) for row in zip(*columns, strict=True)]


def _curve(values: tuple[str, ...], exact: Floats, free: Floats, limits: Floats) -> GroupCurve:
    """To six decimals: more than anybody reads, and a third of the file."""
    before, after = limits.round(6).tolist()
    return GroupCurve(values, tuple(exact.round(6).tolist()), tuple(free.round(6).tolist()), (before, after))


def _finite(value: float) -> Yardstick:
    return round(value, 6) if math.isfinite(value) else "inf"
