"""Numbers of different times in one report: what is printed as the version before did, beside what is printed anew.

Whoever has both versions sees which is which, so a report says of each group of which version its numbers are, and no
comparison across versions is judged or called exact.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cache

from atr.core.arrays import Values
from atr.core.comparison_rows import joined
from atr.report import reader_view
from atr.report.comparisons import ComparisonFormatter, in_classes
from atr.report.model import Fairness, PublicReport

DIFFERENT_TIMES = "different_times"
"""Why a comparison has no verdict."""


def with_times(report: PublicReport) -> tuple[Fairness, ...]:
    """Take back what a report claims of comparisons across versions.

    Returns
    -------
    The comparisons, in order. Individual fairness is of all groups.
    """
    told = [group.as_of for group in report.announced_groups for _ in group.told]
    if len(set(told)) < 2:
        return _judged(report)
    alone, labels = reader_view.columns(report), reader_view.labels(report)

    @cache
    def versions(conditions: Values, by: Values) -> dict[tuple[Values, str], set[int | None]]:
        """The versions of the numbers of everybody with the same values of some attributes."""
        found = defaultdict(set)
        columns = alone if conditions else labels
        given = zip(*(alone[name] for name in conditions), strict=True) if conditions else [()] * len(told)
        who = zip(*(columns[name] for name in by), strict=True)
        for condition, values, version in zip(given, who, told, strict=True):
            found[condition, joined(values)].add(version)
        return found

    def across(entry: Fairness) -> bool:
        if entry.pair is not None:
            return True
        of = versions(tuple(entry.condition), entry.attributes or (entry.attribute,))
        condition = tuple(entry.condition.values())
        return len(set().union(*(of.get((condition, who), ()) for who in entry.groups))) > 1

    return tuple(_not_judged(entry) if across(entry) else entry for entry in _judged(report))


def at_one_time(report: PublicReport) -> PublicReport:
    """The report as if its numbers were of one time; individual fairness and samples are to be computed anew."""
    groups = tuple(group.model_copy(update={"as_of": None}) for group in report.groups)
    return report.model_copy(update={"groups": groups, "fairness": _judged(report)})


def _not_judged(entry: Fairness) -> Fairness:
    verdict = None if entry.verdict is None else "cannot_tell"
    said = {"verdict": verdict, "reason": DIFFERENT_TIMES, "shortfall": None, "sampling": None}
    return entry.model_copy(update=said)


def _judged(report: PublicReport) -> tuple[Fairness, ...]:
    """The comparisons with their verdicts by the printed numbers, whatever versions these are of."""
    how, classes = ComparisonFormatter(report.policy), in_classes(report.fairness)

    def again(entry: Fairness) -> Fairness:
        if entry.reason != DIFFERENT_TIMES or entry.pair is not None:
            return entry
        if entry.summary is None:
            return how.judged(entry)
        return how.overall(entry.summary, classes.get((entry.attribute, entry.groups), [entry]))

    return tuple(map(again, report.fairness))
