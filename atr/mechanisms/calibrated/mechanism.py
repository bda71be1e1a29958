"""The calibrated mechanism: limits of every chance by a public partition, and the chances that readers then expect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from atr.core.announced import Announced
from atr.core.arrays import FloatArray, IntArray, Values
from atr.core.fidelity import Fidelity, Limits
from atr.core.policy import Policy
from atr.core.protected import Protection
from atr.core.publication import CHANCE_DIGITS, printed_rates, published_population, stand_in
from atr.core.regions import Regions
from atr.core.tolerances import GRID_TOLERANCE
from atr.mechanisms.base import Mechanism, Terms
from atr.mechanisms.calibrated.ceilings import Ceilings
from atr.mechanisms.calibrated.digits import printed_chances
from atr.mechanisms.calibrated.group import announceable, may_be_told_anew, solve_group
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from atr.mechanisms.calibrated.readers import MODELS


class CalibratedMechanism(Mechanism[CalibratedPolicy]):
    """Tell between which limits every chance lies, as narrow as leaves all readers of three models unsure enough.

    The mathematics, and what it promises, is in ``docs/mechanism.md``, "The calibrated mechanism".
    """

    name: ClassVar[str] = "calibrated"
    policy: ClassVar[type[Policy]] = CalibratedPolicy
    prior_suffices: ClassVar[bool] = False

    def terms(self, policy: CalibratedPolicy) -> Terms:
        """Give what a report states of a policy."""
        return Terms(step=policy.step, least=policy.least)

    def announceable(
        self,
        people: IntArray,
        labels: Sequence[Values],
        protection: Protection,
        outcomes: int,
        policy: CalibratedPolicy,
    ) -> bool:
        """Tell whether numbers of people and rates, whatever these are, leave every reader below every ceiling."""
        return announceable(_ceilings(people, labels, protection, policy)[0], outcomes)

    def may_be_told_anew(self, group: Regions, policy: CalibratedPolicy) -> bool:
        """Tell whether numbers of people and rates alone leave whoever has a version before below every ceiling."""
        ceilings, _ = _ceilings(group.population, group.region_values, group.protection, policy)
        return group.versions is None or may_be_told_anew(group.counts, ceilings, group.versions.of_versions())

    def solve(self, regions: Regions, policy: CalibratedPolicy) -> pd.DataFrame:
        """Find the cell of every group that holds its rule, and the chances that are printed of it.

        Returns
        -------
        ``limits`` and ``chance`` of all regions of the group in one list each, and how sure readers are.
        """
        rows = [_solved(regions.take(np.array([group])), policy) for group in range(len(regions))]
        names = ("limits", "chance", "digits", "told", "rules", "held", "prior", *MODELS, "earlier")
        return pd.DataFrame(rows, columns=list(names))

    def announce(self, regions: Regions, solved: pd.DataFrame, policy: CalibratedPolicy) -> Announced:
        """Put the groups together: each was chosen on its own."""
        outcomes = len(regions.outcomes)
        limits, chance = (np.array([x for row in solved[name] for x in row]) for name in ("limits", "chance"))
        ends = limits.reshape(-1, outcomes, 2) / policy.steps
        digits, told = solved["digits"].to_numpy(dtype=np.int64), solved["told"].to_numpy(dtype=np.bool_)
        readers = solved[[*MODELS, "earlier"]].dropna(axis="columns", how="all").fillna(0.0)
        return Announced(
            chance=chance.reshape(-1, outcomes).astype(np.int64),
            group_digits=digits,
            promise=Limits.within(ends),
            readers={str(name): sure.to_numpy(dtype=np.float64) for name, sure in readers.items()},
            held=solved["held"].to_numpy(dtype=np.float64),
            prior=solved["prior"].to_numpy(dtype=np.float64),
            rate_only=~told,
            limits_only=told & (digits == 0),
            rules=solved["rules"].to_numpy(dtype=np.float64),
            rates_exact=True,
        )

    def columns(self, solved: pd.DataFrame, promise: Fidelity | None, policy: CalibratedPolicy) -> pd.DataFrame:
        """Give the confidence that numbers of people and rates alone allow: the smallest there can be."""
        return pd.DataFrame({"beta": solved["prior"].to_numpy(dtype=np.float64)})

    def promise(self, kind: str, level: float | None, limits: FloatArray | None = None) -> Fidelity | None:
        """Make a promise again from what a report says of it."""
        return Limits.within(limits) if kind == Limits.kind and limits is not None else None


def _ceilings(
    people: IntArray, labels: Sequence[Values], protection: Protection, policy: CalibratedPolicy
) -> tuple[Ceilings, FloatArray]:
    """Give the ceilings of the protected sets of a group, and (sets,) these as shares of the policy's."""
    labelled = protection.labelled(labels)
    factors = np.array([protection.factor(label) for label in labelled])
    return Ceilings.of(people, (policy.ceiling * factors).tolist(), list(labelled.values())), factors


def _solved(group: Regions, policy: CalibratedPolicy) -> dict[str, Any]:
    """The row of one group."""
    counts = group.counts
    ceilings, factors = _ceilings(group.population, group.region_values, group.protection, policy)
    reports = [] if group.earlier is None else list(group.earlier)
    earlier = [np.where(np.isnan(of), [0.0, 1.0], of) for of in reports if not np.isnan(of).all()]
    found = solve_group(
        counts,
        ceilings,
        steps=policy.steps,
        least=policy.least,
        earlier=earlier,
        previous=_on_grid(earlier[-1], policy.steps) if earlier else None,
        versions=[] if group.versions is None else group.versions.of_versions(),
    )
    if found is None:
        raise ValueError("a group that may not be announced was to be solved")
    published = published_population(group.population, group.offsets, rounding=policy.population_rounding)
    totals, printed = counts.sum(axis=0), None
    if found.told:
        printed = printed_chances(
            found.expected, found.limits, policy.steps, totals=totals, published=published, ceilings=ceilings
        )
    if printed is None:
        # What readers put in its place is made of printed numbers, so that they can compute every figure again.
        ends = np.round(found.limits / policy.steps, CHANCE_DIGITS)
        chance = np.array([stand_in(limits, printed_rates(totals / totals.sum())) for limits in ends])
    else:
        chance = printed.chance
    return {
        "limits": found.limits.ravel().tolist(),
        "chance": chance.ravel().tolist(),
        "digits": 0 if printed is None else printed.digits,
        "told": found.told,
        "rules": found.rules,
        "held": float((found.of_sets / factors).max()),
        "prior": found.prior,
        **found.by_reader,
    }


def _on_grid(chances: FloatArray, steps: int) -> IntArray:
    """The narrowest (m, outcomes, 2) limits of the grid around chances."""
    low, high = np.floor(chances[..., 0] * steps + GRID_TOLERANCE), np.ceil(chances[..., 1] * steps - GRID_TOLERANCE)
    return np.stack([low, high], axis=-1).astype(np.int64)
