"""The tables of sampling uncertainty: one per protected attribute, of the comparisons that are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atr.documents.fairness import Compared, Protected
from atr.measures.sampling import EXPECTED, FEW
from atr.report.model import Fairness, PublicReport
from atr.report.sampling import alpha_of, is_of_two_groups, level, p_words, tests
from atr.report.wording import between, class_name, count, number, points


@dataclass(frozen=True, slots=True)
class Row:
    """A group with its intervals as printed; a reference has that of its rate only."""

    label: str
    people: int
    rate: str
    ratio: str = ""
    difference: str = ""
    p: str = ""
    adjusted: str = ""
    beyond_sampling: bool = False
    reference: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of everybody (no heading), or of people alike in what may count."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """The sampling uncertainty of the comparisons by one attribute."""

    title: str
    parts: tuple[Part, ...]


def tables(report: PublicReport, compared: Sequence[Protected]) -> dict[str, Table]:
    """For each protected attribute, what sampling alone could make of the comparisons that are printed."""
    found = {}
    for p in compared:
        entries = [e for e in report.fairness if e.attribute == p.name and e.sampling and e.reference in e.groups]
        parts = tuple(_parts(report, p, entries))
        if parts:
            of = f" of “{report.positive}” alone" if len(report.outcomes) > 2 else ""
            about = f"Seen as a sample: {level(report)} intervals and tests{of} by {p.title}, against {p.reference}"
            found[p.name] = Table(about, parts)
    return found


def _parts(report: PublicReport, p: Protected, entries: Sequence[Fairness]) -> Iterator[Part]:
    titles = {a.name: a.title for a in report.attributes}
    ratios = {_other(e): e for e in entries if e.measure == "p_percent_rule" and e.outcome == report.positive}
    parities: dict[str, dict[str, Fairness]] = {}
    for e in entries:
        if e.measure in ("statistical_parity", "conditional_statistical_parity"):
            heading = class_name(e.condition, titles)
            parities.setdefault(heading, {})[_other(e)] = e
    for heading, rows in [("", p.rows), *((c.heading, c.rows) for c in p.classes)]:
        inside, own = parities.get(heading, {}), {} if heading else ratios
        made = [_row(row, own.get(row.label), inside.get(row.label), report) for row in rows if not row.reference]
        place = next((i for i, row in enumerate(rows) if row.reference), None)
        base = next(iter((*own.values(), *inside.values())), None)
        if place is not None and base is not None:
            made.insert(place, _reference_row(rows[place], base))
        if any(made):
            yield Part(heading, tuple(row for row in made if row))


def _row(row: Compared, ratio: Fairness | None, difference: Fairness | None, report: PublicReport) -> Row | None:
    entry = ratio or difference
    if entry is None or entry.sampling is None:
        return None
    digits = min(report.policy.digits, 3)
    ends = ("", "")
    if difference is not None and difference.sampling is not None:
        low, high = difference.sampling.interval
        ends = points(low, decimals=max(digits - 2, 0)), points(high or 0.0, decimals=max(digits - 2, 0))
    return Row(
        label=row.label,
        people=row.people,
        rate=_rate(entry, row.label),
        ratio="" if ratio is None or ratio.sampling is None else between(ratio.sampling.interval, decimals=digits),
        difference=f"{ends[0]} to {ends[1]}" if ends[0] else "",
        p=p_words(entry.sampling.p_value, sign=""),
        adjusted=p_words(entry.sampling.adjusted_p_value, sign=""),
        beyond_sampling=entry.sampling.significant,
    )


def _reference_row(row: Compared, entry: Fairness) -> Row:
    return Row(label=row.label, people=row.people, rate=_rate(entry, row.label), reference=True)


def _rate(entry: Fairness, who: str) -> str:
    """The interval of the rate of one of the groups, in percent; of the outcome the entry is of."""
    if entry.sampling is None:
        return ""
    low, high = entry.sampling.rates[entry.groups.index(who)]
    return f"{points(low, decimals=1)} to {points(high, decimals=1)}"


def _other(entry: Fairness) -> str:
    return entry.groups[0] if entry.groups[1] == entry.reference else entry.groups[1]


def introduction(report: PublicReport) -> str:
    """What the section on fairness says of sampling; empty where the report says nothing of it."""
    info = report.policy.sampling
    if info is None or not any(map(is_of_two_groups, report.fairness)):
        return ""
    if info.coverage == "whole":
        return (
            "The publisher states that the log holds all decisions that the report is to tell of, and no sample of "
            "them; so nothing is said of what sampling alone could give."
        )
    over_classes = (
        " Figures over all classes have no interval and no test: the largest of several figures, or their mean, has no "
        "simple one. Those of the single classes have, as far as tables show these, and all in fairness.csv."
        if any(entry.summary for entry in report.fairness)
        else ""
    )
    return (
        "A different question is what sampling alone could give. If the decisions are seen as a sample, of more "
        f"decisions made in the same way, another sample would have had other figures. The {level(report)} intervals "
        f"in the tables headed “Seen as a sample” are made so that, of many such samples, about {level(report)} have "
        "an interval that holds the figure of all those decisions; the p values say how surprising so large a "
        "difference would be if groups fared alike. Both take the announced figures as they are and have no part in "
        "the ranges and verdicts, which are about how far the figures may have been altered. An interval is of one "
        "figure; adjusted p values are for all tests of the report together, and so call fewer differences more than "
        f"sampling alone could make.{over_classes}"
    )


def method(report: PublicReport) -> str:
    """How intervals and tests are made, for the section on the method; empty where there are none."""
    alpha = alpha_of(report)
    if alpha is None or not any(map(is_of_two_groups, report.fairness)):
        return ""
    asked = tests(report)
    several = (
        " Of several outcomes the distance has no simple interval: that of the favourable outcome’s shares is given."
        if len(report.outcomes) > 2
        else ""
    )
    return (
        "Intervals and tests of the decisions seen as a sample are computed from the printed numbers alone: how many "
        "people had an outcome is their printed number times the printed chance, added up, as far as the printed rate "
        f"allows, and rounded to a whole number. Intervals have the level {level(report)} each: of rates by Wilson, of "
        "differences by Newcombe’s hybrid score method (1998, method 10), of ratios by Koopman’s score method (1984). "
        "An interval that would miss the printed figure, because that is computed from exact numbers of people, is "
        f"widened to hold it.{several} The test is Fisher’s exact test where some cell of the table of two groups is "
        f"expected to hold fewer than {EXPECTED} people, and the table has at most {FEW:,}; else "
        "the two-proportion score test; both two-sided. The ratio and the difference of one pair ask the same question "
        f"and share a test. P values are adjusted by Holm’s method for the {count(asked, 'test')} of this report, so "
        "that the probability of calling any difference more than sampling, if there is none, is at most "
        f"{number(alpha)}; they are rounded up. The computations are those of the libraries SciPy and statsmodels."
    )
