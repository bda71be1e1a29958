"""From decision regions to the announced mapping by the optimal mechanism.

Two steps, so that the first can run for each QID group on its own: :func:`solve` (group by group) and :func:`announce`
(all announced groups at one confidence).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np
import numpy.typing as npt

from atr.core.announcement import Announcement
from atr.core.disclosure import disclosure_status, flattened
from atr.core.fidelity import Fidelity, Ranges, ladder
from atr.core.publication import flat_digits, published_population
from atr.core.regions import Regions, groups_of, members_of, values_of
from atr.errors import RefusedError
from atr.mechanisms.optimal import announce as least_distorted
from atr.mechanisms.optimal import optimal_privacy, round_announcement
from atr.mechanisms.optimal.grid import filled_up
from atr.mechanisms.optimal.policy import OptimalPolicy

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_NAMED = 10
"""Groups or regions named in the private part of a refusal."""


@dataclass(frozen=True)
class Solved:
    """The optimal privacy of some groups at each fidelity that may be promised. Private: it depends on the true rules.

    Parameters
    ----------
    group
        (k,) positions of the groups in the regions.
    beta
        (k, levels) smallest maximum confidence at each level of :func:`fidelity_ladder`, under the policy's rates.
    beta_other
        (k,) the same at the policy's own fidelity, had group rates been the other way (free for exact, exact for free).
    limits
        (k, 2) what is known before any report, and what the true rules would give away.
    """

    group: Ints
    beta: Floats
    beta_other: Floats
    limits: Floats

    @staticmethod
    def join(parts: Sequence[Solved]) -> Solved:
        """All parts as one, in the order of the groups."""
        order = np.argsort(np.concatenate([part.group for part in parts]), kind="stable")
        return Solved(*(np.concatenate([getattr(p, name) for p in parts])[order] for name in _SOLVED))


_SOLVED = ("group", "beta", "beta_other", "limits")


def fidelity_ladder(regions: Regions, which: Ints, policy: OptimalPolicy) -> tuple[Fidelity, ...]:
    """The fidelities that may be promised, most faithful first: one, or a ladder under the objective ``fidelity``.

    Parameters
    ----------
    regions
        The decision regions of the period.
    which
        (k,) positions of the groups that the promise is about.
    policy
        The programme's policy.

    Raises
    ------
    ProgrammeError
        If ranges are declared, but not for all regions of these groups.
    RefusedError
        If a true chance lies outside its declared range; which ones is in its private part.
    """
    fidelity = policy.fidelity.model(values_of(regions, which))
    if isinstance(fidelity, Ranges):
        _check_truth(regions, which, fidelity)
    return ladder(fidelity) if policy.objective == "fidelity" else (fidelity,)


def _check_truth(regions: Regions, which: Ints, declared: Ranges) -> None:
    members, _ = members_of(regions, which)
    true = regions.counts[members, 0] / regions.population[members]
    outside = np.flatnonzero((true < declared.lower) | (true > declared.upper))
    if not len(outside):
        return
    values = list(values_of(regions, which))
    named = [f"  {', '.join(values[i])}" for i in outside[:_NAMED]]
    more = [f"  and {len(outside) - _NAMED} more"] if len(outside) > _NAMED else []
    raise RefusedError(
        "a true chance lies outside the range that the programme declares for it",
        hint="Widen the ranges; the dossier shows which. Move in coarse steps: how far depends on the true decisions.",
        private="\n".join(["Regions whose true chance lies outside its range:", *named, *more]),
    )


def solve(regions: Regions, which: Ints, policy: OptimalPolicy) -> Solved:
    """The optimal privacy of some groups.

    Parameters
    ----------
    regions
        The decision regions of the period.
    which
        (k,) positions of the groups to solve.
    policy
        The programme's policy.
    """
    if not len(which):
        steps = len(fidelity_ladder(regions, which, policy))
        return Solved(np.zeros(0, dtype=np.int64), np.zeros((0, steps)), np.zeros(0), np.zeros((0, 2)))
    groups = groups_of(regions, which)
    promises = fidelity_ladder(regions, which, policy)
    other: Literal["exact", "free"] = "free" if policy.group_rates == "exact" else "exact"
    solved = [
        optimal_privacy(groups, fidelity=f, group_rates=policy.group_rates, digits=policy.digits) for f in promises
    ]
    return Solved(
        group=np.asarray(which, dtype=np.int64),
        beta=np.stack([s.beta for s in solved], axis=1),
        beta_other=optimal_privacy(groups, fidelity=promises[-1], group_rates=other, digits=policy.digits).beta,
        limits=solved[-1].limits,
    )


def announce(regions: Regions, solved: Solved, policy: OptimalPolicy) -> Announcement:
    """The announced mapping: that of the solved groups, and the rates of each group that the policy flattens.

    Raises
    ------
    RefusedError
        If some group cannot be brought below the ceiling at the demanded fidelity. Which groups bind is in its
        private part.
    """
    return _with_flattened(_least_distorted(regions, solved, policy), regions, policy)


def _with_flattened(made: Announcement, regions: Regions, policy: OptimalPolicy) -> Announcement:
    statuses = disclosure_status(regions, policy)
    added = np.flatnonzero(flattened(statuses))
    if not len(added):
        return made
    which = np.union1d(made.groups, added)
    flat = flattened(statuses[which])
    members, offsets = members_of(regions, which)
    inside = np.repeat(flat, np.diff(offsets))
    chance = np.repeat(_rates(regions, policy.digits)[which], np.diff(offsets), axis=0)
    chance[~inside] = made.chance
    published = published_population(regions.population[members], rounding=policy.population_rounding)
    return announced_of(
        regions,
        which,
        published=published,
        chance=chance,
        level_index=made.level_index,
        policy=policy,
        statuses=statuses[which],
    )


def _rates(regions: Regions, digits: int) -> Ints:
    """(g, outcomes) the rates of each group, in units of the last digit, but to the digits of a flattened chance.

    The rates of a group add up to 1; of two, the first is rounded halves up.
    """
    unit = 10 ** flat_digits(digits)
    with_outcome = np.add.reduceat(regions.counts, regions.offsets[:-1])
    whole, rest = np.divmod(with_outcome * unit, regions.group_population[:, None])
    rates: Ints = filled_up(whole, rest, unit) * (10**digits // unit)
    return rates


def _nobody(regions: Regions, which: Ints, *, level_index: int, policy: OptimalPolicy) -> Announcement:
    none = np.zeros((0, len(regions.outcomes)), dtype=np.int64)
    return announced_of(regions, which, published=none[:, 0], chance=none, level_index=level_index, policy=policy)


def _least_distorted(regions: Regions, solved: Solved, policy: OptimalPolicy) -> Announcement:
    """The solved groups, least distorted at one confidence, rounded, below the ceiling."""
    which = solved.group
    promises = fidelity_ladder(regions, which, policy)
    if not len(which):
        return _nobody(regions, which, level_index=len(promises) - 1, policy=policy)
    groups = groups_of(regions, which)
    refusal: RefusedError | None = None
    for level_index, fidelity in enumerate(promises):
        binding = solved.beta[:, level_index] > policy.ceiling + 1e-12
        if binding.any():
            refusal = _refused(regions, which[binding], solved.beta[binding, level_index], level_index, policy)
            continue
        beta = policy.ceiling if policy.objective == "fidelity" else float(solved.beta[:, level_index].max())
        continuous = least_distorted(
            groups, beta=beta, fidelity=fidelity, group_rates=policy.group_rates, digits=policy.digits
        )
        try:
            made = _rounded(regions, which, continuous, level_index, beta=beta, ceiling=policy.ceiling, policy=policy)
        except RefusedError as error:
            refusal = _refused(regions, which, solved.beta[:, level_index], level_index, policy, after_rounding=error)
            continue
        return _as_private_as_printed(made, regions, continuous, beta=beta, policy=policy)
    raise refusal or AssertionError("a ladder has at least one level_index")


def _rounded(
    regions: Regions,
    which: Ints,
    continuous: Floats,
    level_index: int,
    *,
    beta: float,
    ceiling: float,
    policy: OptimalPolicy,
) -> Announcement:
    """The printed numbers of some groups, at most at the ceiling by the side information and by published numbers."""
    groups = groups_of(regions, which)
    members, _ = members_of(regions, which)
    published = published_population(regions.population[members], rounding=policy.population_rounding)
    rounded = round_announcement(
        groups,
        continuous,
        fidelity=fidelity_ladder(regions, which, policy)[level_index],
        digits=policy.digits,
        beta=beta,
        ceiling=ceiling,
        published_population=published,
        group_rates=policy.group_rates,
    )
    # The mechanism gives one number for two outcomes.
    chance = rounded if rounded.ndim == 2 else np.column_stack([rounded, 10**policy.digits - rounded])
    return announced_of(regions, which, published=published, chance=chance, level_index=level_index, policy=policy)


def _as_private_as_printed(
    made: Announcement, regions: Regions, continuous: Floats, *, beta: float, policy: OptimalPolicy
) -> Announcement:
    """Hold published populations, too, to the smallest confidence that all groups can reach.

    The optimum is reached with exact populations. Rounding small regions up to a printable number of people can make
    the printed rules give away more; where other numbers within the promise do not, those are announced.
    """
    unit = 10**policy.digits
    level = math.ceil(beta * unit - 1e-6)
    surest = [math.ceil(confidence * unit) for confidence in made.held_confidences()]
    above = sorted((i for i, steps in enumerate(surest) if steps > level), key=lambda i: -surest[i])

    @cache
    def held(group: int, steps: int) -> Ints | None:
        cells = slice(int(made.offsets[group]), int(made.offsets[group + 1]))
        try:
            which, ceiling = made.groups[group : group + 1], steps / unit
            alone = _rounded(
                regions,
                which,
                continuous[cells],
                made.level_index,
                beta=min(beta, ceiling),
                ceiling=ceiling,
                policy=policy,
            )
        except RefusedError:
            return None
        return alone.chance

    for group in above:
        if surest[group] <= level:
            break
        if held(group, level) is None:
            impossible, possible = level, surest[group]
            while possible - impossible > 1:
                middle = (impossible + possible) // 2
                impossible, possible = (middle, possible) if held(group, middle) is None else (impossible, middle)
            level = possible
    chance = made.chance.copy()
    for group in above:
        found = held(group, level) if surest[group] > level else None
        if found is not None:
            chance[made.offsets[group] : made.offsets[group + 1]] = found
    return replace(made, chance=chance)


def announced_of(
    regions: Regions,
    which: Ints,
    *,
    published: Ints,
    chance: Ints,
    level_index: int,
    policy: OptimalPolicy,
    statuses: npt.NDArray[np.int64] | None = None,
) -> Announcement:
    """The announcement of some groups, from the numbers chosen for their regions.

    None is flattened unless their statuses say so.
    """
    members, offsets = members_of(regions, which)
    nobody = np.zeros(len(which), dtype=bool)
    flat = nobody if statuses is None else flattened(statuses)
    promise = fidelity_ladder(regions, which[~flat], policy)[level_index]
    return Announcement(
        outcomes=regions.outcomes,
        groups=which,
        group_values=tuple(regions.group_values[i] for i in which),
        region_values=tuple(regions.region_values[i] for i in members),
        offsets=offsets,
        population=regions.population[members],
        published=published,
        chance=chance,
        digits=policy.digits,
        fidelity=promise,
        level_index=level_index,
        flattened=flat,
        coarsened=np.array([regions.group_values[i] in regions.merged for i in which], dtype=bool),
        protection=regions.protection,
        known=None if regions.known is None else regions.known[members],
    )


def _refused(
    regions: Regions,
    which: Ints,
    beta: Floats,
    level_index: int,
    policy: OptimalPolicy,
    *,
    after_rounding: RefusedError | None = None,
) -> RefusedError:
    kind, level = policy.fidelity.kind, policy.fidelity.level
    promised, widen = (
        ("within the declared ranges", "Widen the ranges")
        if level is None
        else (f"at {kind} {level:g}", "Lower the fidelity")
    )
    if after_rounding is not None:
        private = f"Within the printed digits some groups cannot be held below the ceiling. {after_rounding.private}"
    else:
        worst = np.argsort(-beta, kind="stable")[:_NAMED]
        needs = _needs(regions, which[worst], beta[worst], level_index, policy)
        named = [f"  {', '.join(regions.group_values[which[i]])}: {of}" for i, of in zip(worst, needs, strict=True)]
        more = [f"  and {len(which) - len(worst)} more"] if len(which) > len(worst) else []
        private = "\n".join(["Groups that bind, with the ceiling each would need:", *named, *more])
    own = " or a ceiling of its own" if regions.protection.own_ceilings else ""
    return RefusedError(
        f"a maximum confidence of {policy.max_confidence:g}{own} cannot be reached {promised} "
        f"with {policy.group_rates} group rates",
        hint=f"{widen}, raise max_confidence{own}, or choose the other group_rates; the dossier shows which "
        "groups bind and how far. Move in coarse steps: how far depends on the true decisions.",
        private=private,
    )


def _needs(regions: Regions, which: Ints, beta: Floats, level_index: int, policy: OptimalPolicy) -> Iterator[str]:
    """The ceiling that each group would need; where ceilings differ, that of the protected set that binds."""
    if not regions.protection.own_ceilings:
        yield from (f"needs {_coarse(least)}" for least in beta)
        return
    fidelity = fidelity_ladder(regions, which, policy)[level_index]
    solved = optimal_privacy(
        groups_of(regions, which), fidelity=fidelity, group_rates=policy.group_rates, digits=policy.digits
    )
    for group, least, position in zip(which, beta, solved.binding[:, 0], strict=True):
        members = slice(int(regions.offsets[group]), int(regions.offsets[group + 1]))
        label = list(regions.protection.labelled(regions.region_values[members]))[position]
        factor = regions.protection.factor(label)
        yield f"needs {_coarse(least * factor)} for {label.attribute}: {label.name}"


def _coarse(beta: float) -> str:
    return f"{min(1.0, np.ceil(beta * 20 - 1e-9) / 20):.2f}"
