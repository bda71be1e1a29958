"""Whoever has the code, exact numbers of people and rates and every earlier report, and writes down all rules."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from atr.core.protected import Protection
from atr.core.regions import Regions
from atr.mechanisms.calibrated.mechanism import CalibratedMechanism
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from tests.helpers.calibrated_oracle import READERS, all_rules, weights

MECHANISM = CalibratedMechanism()


@dataclass(frozen=True)
class Release:
    """What one report tells of a group: all that the mechanism gives out, and (m, outcomes, 2) limits as printed."""

    told: dict[str, Any]
    limits: np.ndarray

    @property
    def cut(self) -> bool:
        """Whether it has any limits."""
        return bool(self.told["told"])

    @property
    def stated(self) -> float:
        """The largest confidence that it states."""
        return max(self.told[name] for name in (*READERS, "earlier") if name in self.told)

    def holds(self, rules: np.ndarray) -> np.ndarray:
        """Which of (rules, m, outcomes) tables lie within the limits, both ends included."""
        people = rules.sum(axis=2, keepdims=True)
        low, high = self.limits[..., 0] * people, self.limits[..., 1] * people
        return ((low - 1e-6 <= rules) & (rules <= high + 1e-6)).all(axis=(1, 2))


@dataclass
class Attacker:
    """He follows one group of regions r0, r1, … from report to report; ``earlier`` are those that he has."""

    policy: CalibratedPolicy
    protection: Protection
    earlier: list[Release] = field(default_factory=list)

    def release(self, counts: np.ndarray) -> Release:
        """What would be published next of (m, outcomes) people."""
        m, outcomes = counts.shape
        before = [of.limits for of in self.earlier if of.cut]
        group = Regions(
            public=("public",),
            protection=self.protection,
            outcomes=tuple("pqr"[:outcomes]),
            group_values=(("all",),),
            region_values=self._labels(m),
            counts=counts,
            offsets=np.array([0, m]),
            earlier=np.array(before) if before else None,
        )
        (row,) = MECHANISM.solve(group, self.policy).to_dict("records")
        limits = np.array(row["limits"]).reshape(m, outcomes, 2) / self.policy.steps
        return Release({name: value for name, value in row.items() if value == value}, limits)

    def announceable(self, people: np.ndarray, outcomes: int) -> bool:
        """Whether the group may be announced."""
        return MECHANISM.announceable(people, self._labels(len(people)), self.protection, outcomes, self.policy)

    def rules_left(self, counts: np.ndarray, release: Release) -> np.ndarray:
        """(rules, m, outcomes) of which the code would publish what it did of ``counts``: all within the limits."""
        rules = all_rules(tuple(counts.sum(axis=1).tolist()), tuple(counts.sum(axis=0).tolist()))
        inside = rules[release.holds(rules)]
        return inside[[repr(self.release(rule).told) == repr(release.told) for rule in inside]]

    def views(self, rules: np.ndarray) -> Iterator[np.ndarray]:
        """The rules left to readers of the new report alone, with one earlier report, and with runs of the newest."""
        held = [of.holds(rules) for of in self.earlier if of.cut]
        runs = [np.all(held[first:], axis=0) for first in range(len(held) - 1)]
        yield from (rules, *(rules[view] for view in (*held, *runs) if view.any()))

    def confidences(self, rules: np.ndarray, reader: str) -> np.ndarray:
        """(sets,) how sure a reader of these rules is."""
        of = weights(reader, rules)
        expected, totals = (of[:, None, None] * rules).sum(axis=0) / of.sum(), rules[0].sum(axis=0)
        shares = expected[:, totals > 0].astype(np.float64) / totals[totals > 0]
        sets = self.protection.labelled(self._labels(rules.shape[1])).values()
        return np.array([shares[members].sum(axis=0).max() for members in sets])

    def ceilings(self, m: int) -> np.ndarray:
        """(sets,) what he may be told."""
        labelled = self.protection.labelled(self._labels(m))
        return self.policy.ceiling * np.array([self.protection.factor(label) for label in labelled])

    @staticmethod
    def _labels(m: int) -> tuple[tuple[str], ...]:
        return tuple((f"r{s}",) for s in range(m))
