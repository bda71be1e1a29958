"""The optimal mechanism of Chen, Golubchik and Pal: the least distorted announcement within a promised fidelity."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import ClassVar, Literal

import numpy as np
import pandas as pd

from atr.core.announced import WHOLE_NUMBERS, Announced
from atr.core.arrays import FloatArray, IntArray
from atr.core.confidence import exact_confidence
from atr.core.fidelity import Alpha, Delta, Fidelity, Ranges, ladder, promises
from atr.core.policy import Policy
from atr.core.publication import published_population
from atr.core.regions import Regions
from atr.core.tolerances import MISSED_STEPS, SAME_CONFIDENCE, SAME_VALUE
from atr.errors import RefusedError
from atr.mechanisms.base import Mechanism, Terms
from atr.mechanisms.optimal.closed_form import allowed_ranges
from atr.mechanisms.optimal.policy import OptimalPolicy
from atr.mechanisms.optimal.rounding import round_announcement
from atr.mechanisms.optimal.several import optimal
from atr.mechanisms.optimal.solve import least_distorted, optimal_privacy
from atr.mechanisms.optimal.whole_numbers import whole_number_confidence

_NAMED = 10
"""Groups or regions named in the private part of a refusal."""


class OptimalMechanism(Mechanism[OptimalPolicy]):
    """Move every group as little as possible, but so far that no reader is surer than the ceiling.

    References
    ----------
    Chen, Golubchik, Pal, *Achieving Transparency Report Privacy in Linear Time* (arXiv 2104.00137),
    section 5; what is chosen among optimal announcements is this library's.
    """

    name: ClassVar[str] = "optimal"
    policy: ClassVar[type[Policy]] = OptimalPolicy

    def terms(self, policy: OptimalPolicy) -> Terms:
        """Give what a report states of a policy."""
        demanded: dict[str, float | None] = {policy.fidelity.kind: policy.fidelity.level}
        return Terms(policy.group_rates, policy.objective, demanded, policy.whole_numbers)

    def check_programme(self, regions: Regions, policy: OptimalPolicy) -> None:
        """Check that ranges are declared for all regions, if any are.

        Raises
        ------
        ProgrammeError
            If a region has no range.
        """
        policy.fidelity.model(regions.values)

    def check_decisions(self, regions: Regions, policy: OptimalPolicy) -> None:
        """Check that no true chance lies outside its declared range.

        Raises
        ------
        RefusedError
            If one does; the first of them are named in its private part.
        """
        declared = policy.fidelity.model(regions.values)
        if not isinstance(declared, Ranges):
            return
        true = regions.decision[:, 0]
        outside = np.flatnonzero((true < declared.lower[:, 0]) | (true > declared.upper[:, 0]))
        if len(outside):
            raise RefusedError(
                "a true chance lies outside the range that the programme declares for it",
                hint="Widen the ranges; the dossier shows which. Move in coarse steps: how far depends on the true "
                "decisions.",
                private=_listed(
                    "Regions whose true chance lies outside its range:",
                    [", ".join(regions.values[i]) for i in outside[:_NAMED]],
                    len(outside),
                ),
            )

    def solve(self, regions: Regions, policy: OptimalPolicy) -> pd.DataFrame:
        """Compute every group's optimal privacy at each fidelity that may be promised.

        Returns
        -------
        ``beta_0``, ``beta_1``, …: the smallest maximum confidence at each step of the ladder, strictest first.
        """
        promises = _promises(regions, policy)
        return pd.DataFrame(
            {f"beta_{i}": _optimal(regions, promise, policy) for i, promise in enumerate(promises)}, dtype=np.float64
        )

    def announce(self, regions: Regions, solved: pd.DataFrame, policy: OptimalPolicy) -> Announced:
        """Choose the least distorted announcement at the strictest promise that can be kept, in printed numbers.

        Returns
        -------
        The printed chances, and the promise.

        Raises
        ------
        RefusedError
            If no promise can be kept; the groups that bind are named in its private part.
        """
        promises = _promises(regions, policy)
        if not len(regions):
            nothing = np.zeros((0, len(regions.outcomes)), dtype=np.int64)
            return _announced(nothing, promises[-1], policy, groups=0)
        refusal = RefusedError("no promise was tried")
        for level_index, promise in enumerate(promises):
            beta = solved[f"beta_{level_index}"].to_numpy()
            binding = np.flatnonzero(beta > policy.ceiling + SAME_CONFIDENCE)
            if len(binding):
                refusal = _refused(regions.take(binding), beta[binding], promise, policy)
                continue
            target = policy.ceiling if policy.objective == "fidelity" else float(beta.max())
            continuous = least_distorted(
                regions.groups, beta=target, fidelity=promise, group_rates=policy.group_rates, digits=policy.digits
            )
            try:
                chance = _rounded(regions, continuous, promise, beta=target, ceiling=policy.ceiling, policy=policy)
            except RefusedError as error:
                refusal = _refused(regions, beta, promise, policy, after_rounding=error)
                continue
            chance = _as_private_as_printed(regions, chance, continuous, promise, beta=target, policy=policy)
            found = whole_number_confidence(
                regions.population,
                chance / 10**policy.digits,
                promise,
                totals=np.add.reduceat(regions.counts, regions.offsets[:-1]) if policy.group_rates == "exact" else None,
                offsets=regions.offsets,
                sets=regions.sets,
                digits=policy.digits,
            )
            above = np.flatnonzero(found.held > policy.ceiling + SAME_VALUE)
            if policy.whole_numbers == "refuse" and len(above):
                refusal = _refused_for_whole_numbers(regions.take(above), found.average[above], policy)
                continue
            readers = {WHOLE_NUMBERS: found.average, f"{WHOLE_NUMBERS}_at_most": found.largest}
            return replace(_announced(chance, promise, policy, groups=len(regions)), readers=readers)
        raise refusal

    def columns(self, solved: pd.DataFrame, promise: Fidelity | None, policy: OptimalPolicy) -> pd.DataFrame:
        """Give the optimal privacy of every group at the fidelity that was promised, or at the policy's own."""
        if promise is None or policy.objective == "privacy" or policy.fidelity.level is None:
            level_index = -1
        else:
            level_index = ladder(policy.fidelity.model([])).index(promise)
        return pd.DataFrame({"beta": solved.iloc[:, level_index].to_numpy()})

    def trade_off(
        self, promise: Fidelity | None, policy: OptimalPolicy
    ) -> tuple[Literal["delta", "alpha"], float] | None:
        """Give what is promised, or else demanded; None where every region has a range of its own."""
        level = policy.fidelity.level if promise is None else promise.level
        if level is None:
            return None
        return ("alpha" if policy.fidelity.kind == "alpha" else "delta"), level

    def promise(self, kind: str, level: float | None, limits: FloatArray | None = None) -> Fidelity | None:
        """Make a promise again from what a report says of it."""
        if kind == "ranges" and limits is not None:
            return Ranges.within(limits)
        kinds: dict[str, type[Delta | Alpha]] = {"delta": Delta, "alpha": Alpha}
        if level is None or kind not in kinds:
            return None
        try:
            return kinds[kind](level)
        except ValueError:
            return None


def _announced(chance: IntArray, promise: Fidelity, policy: OptimalPolicy, *, groups: int) -> Announced:
    exact = policy.group_rates == "exact"
    return Announced.plain(chance, promise, digits=policy.digits, groups=groups, rates_exact=exact)


def _promises(regions: Regions, policy: OptimalPolicy) -> tuple[Fidelity, ...]:
    """The fidelities that may be promised, strictest first: one, or a ladder under the objective ``fidelity``."""
    return promises(policy.fidelity.model(regions.values), policy.objective)


def _optimal(regions: Regions, promise: Fidelity, policy: OptimalPolicy) -> FloatArray:
    if not len(regions):
        return np.zeros(0)
    found = optimal_privacy(regions.groups, fidelity=promise, group_rates=policy.group_rates, digits=policy.digits)
    return found.beta


def _rounded(
    regions: Regions,
    continuous: FloatArray,
    promise: Fidelity,
    *,
    beta: float,
    ceiling: float,
    policy: OptimalPolicy,
) -> IntArray:
    """The printed numbers of some groups, at most at the ceiling by the side information and by published numbers."""
    return round_announcement(
        regions.groups,
        continuous,
        fidelity=promise,
        digits=policy.digits,
        beta=beta,
        ceiling=ceiling,
        published_population=published_population(
            regions.population, regions.offsets, rounding=policy.population_rounding
        ),
        group_rates=policy.group_rates,
    )


def _as_private_as_printed(
    regions: Regions,
    chance: IntArray,
    continuous: FloatArray,
    promise: Fidelity,
    *,
    beta: float,
    policy: OptimalPolicy,
) -> IntArray:
    """Hold published populations, too, to the smallest confidence that all groups can reach.

    The optimum is reached with exact populations. Rounding small regions up to a printable number of people can make
    the printed rules give away more; where other numbers within the promise do not, those are announced.
    """
    unit = 10**policy.digits
    level = math.ceil(beta * unit - MISSED_STEPS)
    published = published_population(regions.population, regions.offsets, rounding=policy.population_rounding)
    people = (regions.population, published) if regions.known is None else (regions.known,)
    held = [
        exact_confidence(known, chance, digits=policy.digits, offsets=regions.offsets, sets=regions.sets)
        for known in people
    ]
    surest = [math.ceil(max(confidences) * unit) for confidences in zip(*held, strict=True)]
    above = sorted((i for i, steps in enumerate(surest) if steps > level), key=lambda i: -surest[i])

    @cache
    def held_to(group: int, steps: int) -> IntArray | None:
        alone = regions.take(np.array([group]))
        cells = slice(int(regions.offsets[group]), int(regions.offsets[group + 1]))
        ceiling = steps / unit
        try:
            return _rounded(
                alone, continuous[cells], promise.of(cells), beta=min(beta, ceiling), ceiling=ceiling, policy=policy
            )
        except RefusedError:
            return None

    for group in above:
        if surest[group] <= level:
            break
        if held_to(group, level) is None:
            impossible, possible = level, surest[group]
            while possible - impossible > 1:
                middle = (impossible + possible) // 2
                impossible, possible = (middle, possible) if held_to(group, middle) is None else (impossible, middle)
            level = possible
    result = chance.copy()
    for group in above:
        found = held_to(group, level) if surest[group] > level else None
        if found is not None:
            result[regions.offsets[group] : regions.offsets[group + 1]] = found
    return result


def _refused(
    regions: Regions,
    beta: FloatArray,
    promise: Fidelity,
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
        needs = _needs(regions.take(worst), beta[worst], promise, policy)
        named = [f"{', '.join(regions.group_values[i])}: {of}" for i, of in zip(worst, needs, strict=True)]
        private = _listed("Groups that bind, with the ceiling each would need:", named, len(beta))
    own = " or a ceiling of its own" if regions.protection.own_ceilings else ""
    return RefusedError(
        f"a maximum confidence of {policy.max_confidence:g}{own} cannot be reached {promised} "
        f"with {policy.group_rates} group rates",
        hint=f"{widen}, raise max_confidence{own}, or choose the other group_rates; the dossier shows which "
        "groups bind and how far. Move in coarse steps: how far depends on the true decisions.",
        private=private,
    )


def _refused_for_whole_numbers(regions: Regions, average: FloatArray, policy: OptimalPolicy) -> RefusedError:
    worst = np.argsort(-average, kind="stable")[:_NAMED]
    return RefusedError(
        f"a reader who knows that numbers of people are whole numbers would be surer than {policy.max_confidence:g}",
        hint="Take mechanism: calibrated, which holds for such readers too; or lower the fidelity, raise "
        "max_confidence, or have the report state it (whole_numbers: state). The dossier shows in which groups.",
        private=_listed(
            "Groups in which such a reader is too sure, and about how sure:",
            [f"{', '.join(regions.group_values[i])}: {_coarse(average[i])}" for i in worst],
            len(average),
        ),
    )


def _needs(regions: Regions, beta: FloatArray, promise: Fidelity, policy: OptimalPolicy) -> Iterator[str]:
    """The ceiling that each group would need; where ceilings differ, that of the protected set that binds."""
    if not regions.protection.own_ceilings:
        yield from (f"needs {_coarse(least)}" for least in beta)
        return
    groups = regions.groups.with_rates(policy.group_rates)
    lower, upper = allowed_ranges(groups.decision, promise, policy.digits)
    _, binding = optimal(groups, lower, upper, exact=policy.group_rates == "exact")
    for group, (least, position) in enumerate(zip(beta, binding[:, 0], strict=True)):
        label = list(regions.protection.labelled(regions.take(np.array([group])).region_values))[position]
        factor = regions.protection.factor(label)
        yield f"needs {_coarse(least * factor)} for {label.attribute}: {label.name}"


def _listed(heading: str, lines: list[str], count: int) -> str:
    more = [f"  and {count - _NAMED} more"] if count > _NAMED else []
    return "\n".join([heading, *(f"  {line}" for line in lines), *more])


def _coarse(beta: float) -> str:
    return f"{min(1.0, np.ceil(beta * 20 - SAME_VALUE) / 20):.2f}"
