"""Comparisons of groups as they are printed, and what follows from their printed numbers: overall figures, verdicts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from atr.core.policy import Policy
from atr.core.publication import RATE_DIGITS
from atr.measures import MEASURES
from atr.measures import group_fairness as fairness
from atr.report.model import Fairness, PolicyInfo
from atr.report.rounding import bounds, down, nearest, printed_range, up

SUMMARIES: tuple[fairness.Summary, ...] = ("worst_class", "mean_over_classes")


@dataclass(frozen=True)
class ComparisonFormatter:
    """Rounds comparisons of groups and adds their verdicts.

    Parameters
    ----------
    policy
        Gives the digits, the smallest group (people) and the rounding of people.
    """

    policy: Policy | PolicyInfo

    def entries(self, found: Sequence[fairness.Comparison]) -> Iterator[Fairness]:
        """Format all comparisons of a report, with the overall figures of conditional parity after each attribute."""
        for _, of_one in groupby(found, key=lambda comparison: comparison.by):
            printed = [self.entry(comparison) for comparison in of_one]
            yield from printed
            for classes in in_classes(printed).values():
                yield from (self.overall(summary, classes) for summary in SUMMARIES)

    def entry(self, comparison: fairness.Comparison) -> Fairness:
        """Format one comparison.

        Returns
        -------
        Value and range to the policy's digits, the range rounded outwards; rates to the nearest percent.
        """
        digits, several = self.policy.digits, len(comparison.by.attributes) > 1
        measure, threshold = MEASURES[comparison.measure], comparison.threshold
        inside = printed_range(comparison.value, comparison.range, digits)
        true = measure.verdict(comparison.range, threshold)
        if inside[0] == inside[1] and measure.verdict(bounds(inside), threshold) != true:
            # Rounding alone would decide the verdict.
            inside = down(comparison.range[0], digits), up(comparison.range[1], digits)
        return self.judged(
            Fairness(
                measure=measure.name,
                attribute=comparison.by.name,
                attributes=comparison.by.attributes if several else (),
                groups=comparison.groups,
                reference=comparison.reference,
                condition=dict(comparison.condition),
                outcome=comparison.outcome,
                value=None if math.isnan(comparison.value) else nearest(comparison.value, digits),
                range=inside,
                threshold=threshold,
                verdict=None,
                people=comparison.people,
                rates=(nearest(comparison.rates[0], RATE_DIGITS), nearest(comparison.rates[1], RATE_DIGITS)),
            )
        )

    def overall(self, summary: fairness.Summary, classes: Sequence[Fairness]) -> Fairness:
        """Sum up the conditional parity of two groups over all classes, from the printed numbers of each class.

        Parameters
        ----------
        summary
            Whether the worst class counts, or the mean over classes by people.
        classes
            The printed comparisons of the two groups, one for each class.

        Returns
        -------
        The comparison over the classes that have people enough, with the range that the printed ranges allow.
        """
        kept = fairness.counted(classes, minimum=self.policy.minimum_group_size)
        value, inside = fairness.overall(
            summary,
            [e.value or 0.0 for e in kept],
            [(e.range[0] or 0.0, 1.0 if e.range[1] is None else e.range[1]) for e in kept],
            [sum(e.people) for e in kept],
        )
        exact = [e.range == (e.value, e.value) for e in kept]
        # What is called exact was rounded to a digit: its mean is off by as much, or shows in the others' range.
        if any(exact) and (summary == "mean_over_classes" or not all(exact)):
            inside = max(0.0, inside[0] - 10.0**-self.policy.digits), min(1.0, inside[1] + 10.0**-self.policy.digits)
        worst = max(kept, key=lambda e: e.value or 0.0).condition if summary == "worst_class" else {}
        a, b = (sum(e.people[i] for e in kept) for i in (0, 1))
        rates = [sum(e.people[i] * e.rates[i] for e in kept) / max(n, 1) for i, n in enumerate((a, b))]
        digits = self.policy.digits
        return self.judged(
            kept[0].model_copy(
                update={
                    "condition": {},
                    "sampling": None,
                    "summary": summary,
                    "classes": (len(kept), len(classes)),
                    "worst_condition": worst,
                    "value": nearest(value, digits),
                    "range": printed_range(value, inside, digits),
                    "people": (a, b),
                    "rates": (nearest(rates[0], RATE_DIGITS), nearest(rates[1], RATE_DIGITS)),
                }
            ),
            few=any(self._few(e) for e in kept),
            uncounted=len(kept) < len(classes),
        )

    def judged(self, entry: Fairness, *, few: bool = False, uncounted: bool = False) -> Fairness:
        """Add verdict, reason and shortfall to a comparison, from its printed numbers.

        Parameters
        ----------
        entry
            The comparison, rounded.
        few
            Whether it has too few people for a verdict, whatever its own number of people.
        uncounted
            Whether classes of too few people are left out of it: then no line is called met.
        """
        verdict = MEASURES[entry.measure].verdict(bounds(entry.range), entry.threshold)
        reason = "line_in_range" if verdict == "cannot_tell" else None
        if verdict is not None and (few or self._few(entry) or (uncounted and verdict == "met")):
            verdict, reason = "cannot_tell", "too_few_people"
        said = entry.model_copy(update={"verdict": verdict, "reason": reason, "shortfall": None})
        return said.model_copy(update={"shortfall": self._shortfall(said)})

    def _few(self, entry: Fairness) -> bool:
        return min(entry.people) < self.policy.minimum_group_size

    def _shortfall(self, entry: Fairness) -> int | None:
        """How many more people would need the outcome for a ratio to reach the line that it misses, rounded as people.

        (t − a/b)·b·n_a for a group of n_a people, and likewise for the base where the ratio is above 1/t.
        """
        if entry.verdict != "not_met" or not entry.is_ratio or entry.threshold is None:
            return None
        (n, m), (a, b), line, value = entry.people, entry.rates, entry.threshold, entry.value
        if value is None:
            missing = line * a * m
        elif value < 1:
            missing = (line - value) * b * n
        else:
            missing = (line - 1 / value) * a * m
        step = self.policy.population_rounding
        return max(step, int(nearest(missing / step, 0)) * step)


def in_classes(entries: Sequence[Fairness]) -> dict[tuple[str, tuple[str, str]], list[Fairness]]:
    """Group the comparisons within classes.

    Returns
    -------
    By attribute and pair of groups, the comparisons of the pair in order, one for each class.
    """
    found: dict[tuple[str, tuple[str, str]], list[Fairness]] = {}
    for e in entries:
        if e.condition and e.summary is None:
            found.setdefault((e.attribute, e.groups), []).append(e)
    return found
