"""What a manager signs on: quotes, who is told of how closely, what is true, what changed, what tells more. Private."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from atr.core.arrays import IntArray, Values
from atr.core.comparison_rows import joined
from atr.core.display_text import ANY, UNKNOWN
from atr.documents import groups as compared
from atr.documents.sections import alike, found
from atr.documents.sections import groups as by_group
from atr.documents.text import headline as headlines
from atr.documents.text.language import Language
from atr.documents.text.words import Words
from atr.dossier.checks import TrueMeasure
from atr.dossier.everybody import Everybody, Told
from atr.dossier.groups import DossierGroup
from atr.dossier.other_choices import OtherChoice
from atr.measures import MEASURES
from atr.measures.base import Verdict
from atr.measures.ratio import P_PERCENT_RULE
from atr.programme import Programme
from atr.report import model
from atr.report.headline import headline

ENGLISH = Language.of("en")
WIDEST = 6
"""Regions that are named of those told only widely, the ones of most people."""
_STEPS = (1, 2, 4)
_POINTS = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Closeness:
    """How closely some people are told of, and why not more so."""

    how: str
    why: str
    people: int
    regions: int


@dataclass(frozen=True, slots=True)
class Wide:
    """A region that is told only widely, or not at all: its values, people, true chance, and what is told."""

    values: tuple[str, ...]
    people: int
    true: float
    told: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The people with each value of a protected attribute, by how the report tells of them."""

    attribute: str
    title: str
    rows: tuple[tuple[str, Mapping[Told, int]], ...]


@dataclass(frozen=True, slots=True)
class TrueRate:
    """A compared group as published, and with everybody counted, left out or not.

    ``rates``, ``ratios`` against the reference (None of itself, and where there is none), ``people`` and ``verdicts``
    are as published, then true; ``differs`` where a published verdict is another than the true one.
    """

    attribute: str
    group: str
    people: tuple[int, int]
    rates: tuple[float, float]
    ratios: tuple[float | None, float | None]
    verdicts: tuple[str, str]
    differs: bool


@dataclass(frozen=True, slots=True)
class TrueAlike:
    """How much more often one group had the positive outcome than another among people alike in some attributes.

    As ``published``, with its limits, and ``true``; None where nobody is alike.
    """

    groups: tuple[str, str]
    alike_in: tuple[str, ...]
    published: float
    limits: tuple[float, float]
    true: float | None


@dataclass(frozen=True, slots=True)
class Difference:
    """A figure in the report of the period before, in the version before, and now; empty where there is none."""

    name: str
    period_before: str
    version_before: str
    now: str


def quotes(words: Words) -> tuple[tuple[str, str], ...]:
    """Give the findings that readers will quote, each with where it stands, as the report says them."""
    views = [(words.say(module.TITLE), module.context(words)) for module in (found, by_group, alike)]
    return tuple((view.get("heading") or title, view["finding"]) for title, view in views if view is not None)


def closeness(groups: Sequence[DossierGroup], step: float | None) -> tuple[Closeness, ...]:
    """Count people by how closely the report tells of them, the closest first.

    Parameters
    ----------
    groups
        Every group of the period.
    step
        The step of limits; None where chances are announced.
    """
    found: dict[tuple[str, str], tuple[int, int]] = {}
    order: list[tuple[str, str]] = [*_kinds(step)]
    for group in groups:
        for cell in group.cells:
            if group.status != "announced":
                key = ("rate of the group only" if group.status != "withheld" else "left out", group.reason)
            elif step is not None:
                width = None if cell.limits is None else round((cell.limits[1] - cell.limits[0]) / step, 6)
                key = order[_place(width, _STEPS)]
            else:
                key = order[_place(None if cell.change is None else abs(100 * cell.change), _POINTS)]
            people, regions = found.get(key, (0, 0))
            found[key] = people + cell.population, regions + 1
    keys = [*(key for key in order if key in found), *sorted(key for key in found if key not in order)[::-1]]
    return tuple(Closeness(*key, *found[key]) for key in keys)


def _kinds(step: float | None) -> Iterator[tuple[str, str]]:
    if step is None:
        for most in _POINTS:
            yield f"chance moved by at most {ENGLISH.say_n('{n} point', '{n} points', most)}", ""
        yield f"chance moved by more than {_POINTS[-1]} points", "so that no reader is surer than the ceiling"
        yield "chance not printed", ""
        return
    for steps in _STEPS:
        yield f"limits up to {ENGLISH.points(round(steps * step, 6))} points apart", ""
    wide = ENGLISH.points(round(_STEPS[-1] * step, 6))
    yield f"limits more than {wide} points apart", "closer ones would make some reader surer than the ceiling"
    yield "no limits", "any would make some reader surer than the ceiling"


def _place(size: float | None, ends: Sequence[float]) -> int:
    return len(ends) + 1 if size is None else sum(size > end + 1e-9 for end in ends)


def widest(groups: Sequence[DossierGroup], step: float | None) -> tuple[Wide, ...]:
    """Name the regions of most people among those that are told only widely, or not at all, in groups that are told."""
    found = []
    for group in (group for group in groups if group.status == "announced"):
        for cell in group.cells:
            low, high = cell.limits or (0.0, 1.0)
            if step is None:
                wide, told = abs(cell.change or 0) > _POINTS[-1] / 100, f"{100 * (cell.announced or 0):.0f}"
            else:
                wide, told = high - low > _STEPS[-1] * step + 1e-9, f"{100 * low:.0f} to {100 * high:.0f}"
            if wide:
                told = "not told" if step is not None and cell.limits is None else told
                found.append(Wide((*group.values, *cell.values), cell.population, cell.true, told))
    return tuple(sorted(found, key=lambda of: -of.people)[:WIDEST])


def left_out(people: Everybody, programme: Programme) -> tuple[LeftOut, ...]:
    """Count the people of each protected value by how the report tells of them."""
    return tuple(
        LeftOut(
            name,
            programme.title_of(name),
            tuple((value if value != ANY else "not shown on their own", of) for value, of in told.items()),
        )
        for name in programme.names(protected=True)
        for told in [people.left_out(name)]
    )


def true_rates(people: Everybody, words: Words) -> tuple[TrueRate, ...]:
    """Set the rate of the positive outcome of every compared group beside the true one of everybody.

    Returns
    -------
    In the order of the report; groups of which nobody is found under their name are left out.
    """
    report, found = words.report, list[TrueRate]()
    singles = {by.attribute: by for by in report.compared if len(by.attributes) == 1}
    positive = report.outcomes.index(report.positive)
    for by in report.compared:
        columns = [_labels(people.column(name), singles.get(name)) for name in by.attributes]
        counts = people.by([joined(parts) for parts in zip(*columns, strict=True)])
        true = {label: _rate(of, positive) for label, of in counts.items()}
        found += (
            _true_rate(words, by, row, true, int(counts[row.label].sum()))
            for row in compared.rows(words, by)
            if row.label in true
        )
    return tuple(found)


def true_alike(people: Everybody, words: Words) -> tuple[TrueAlike, ...]:
    """Set the differences among people as alike as is known beside the true ones, in the order of the report."""
    report, found = words.report, list[TrueAlike]()
    singles = {by.attribute: by for by in report.compared if len(by.attributes) == 1}
    for of in report.alike:
        left = of.situation or of.public
        if left is not None:
            columns = [_labels(people.column(name), singles.get(name)) for name in of.attributes or (of.attribute,)]
            who = [joined(parts) for parts in zip(*columns, strict=True)]
            titles = tuple(words.attributes[name].title for name in left.alike_in)
            true = _apart(people, who, of.groups, left.alike_in, report.outcomes.index(report.positive))
            found.append(TrueAlike(of.groups, titles, left.difference, left.range, true))
    return tuple(found)


def _apart(
    people: Everybody, who: Sequence[str], groups: tuple[str, str], alike_in: Sequence[str], positive: int
) -> float | None:
    """The difference of two groups' rates over classes of people alike, by the people of the one with fewer there.

    Of people in groups of their own, as in the report.
    """
    classes: dict[Values, IntArray] = defaultdict(lambda: np.zeros((2, 2), dtype=np.int64))
    alike = zip(*(people.column(name) for name in alike_in), strict=True)
    for label, values, counts, told in zip(who, alike, people.counts, people.told, strict=True):
        if told == "own" and label in groups and UNKNOWN not in values:
            classes[values][groups.index(label)] += counts[positive], counts.sum()
    both = np.array([of for of in classes.values() if of[:, 1].all()]).reshape(-1, 2, 2)
    weight, rates = both[:, :, 1].min(axis=1), both[:, :, 0] / both[:, :, 1]
    return float(weight @ (rates[:, 0] - rates[:, 1]) / weight.sum()) if len(both) else None


def _labels(values: Sequence[str], by: model.ComparedBy | None) -> list[str]:
    rows = {} if by is None else {value: row.label for row in by.rows for value in row.values}
    return [rows.get(value, value) for value in values]


def _rate(counts: IntArray, positive: int) -> float:
    return float(counts[positive] / counts.sum())


def _true_rate(
    words: Words, by: model.ComparedBy, row: compared.GroupRow, true: Mapping[str, float], everybody: int
) -> TrueRate:
    entry, own, base = row.entry, true[row.label], true.get(by.reference or "")
    ratio = own / base if entry is not None and base else None
    verdict = ""
    if entry is not None and entry.threshold is not None and ratio is not None:
        verdict = said(P_PERCENT_RULE.verdict((ratio, ratio), entry.threshold))
    told = entry is not None and entry.verdict in ("met", "not_met")
    published = said(entry.verdict) if entry is not None and told else compared.verdict(words, row, by)
    return TrueRate(
        attribute=by.attribute,
        group=row.label,
        people=(row.people, everybody),
        rates=(row.rate, own),
        ratios=(None if entry is None else entry.value, ratio),
        verdicts=(published, verdict),
        differs=bool(told and verdict and verdict != published),
    )


def said(verdict: Verdict | None) -> str:
    """Write a verdict, as in "not met"."""
    return "cannot be told" if verdict == "cannot_tell" else (verdict or "").replace("_", " ")


def undecided(report: model.PublicReport, measures: Sequence[TrueMeasure]) -> dict[str, int]:
    """Count the comparisons whose verdict cannot be told, by what it would be with true figures."""
    found: dict[str, int] = {}
    for entry, measure in zip(report.fairness, measures, strict=True):
        if entry.verdict == "cannot_tell" and entry.measure in MEASURES and entry.reason == "line_in_range":
            of, true = MEASURES[entry.measure], measure.true
            verdict = None if true is None else of.verdict((true, true), entry.threshold)
            found[said(verdict) or "without a ratio"] = found.get(said(verdict) or "without a ratio", 0) + 1
    return found


def levers(choices: Sequence[OtherChoice]) -> tuple[str, ...]:
    """Say which other choices would tell more: the sentences of those that would, the best first."""
    if not choices:
        return ()
    drafted, *others = choices
    more = sorted((of for of in others if of.verdicts > drafted.verdicts), key=lambda of: -of.verdicts)
    return tuple(
        f"{called(of)} would decide "
        + ENGLISH.say_n("{n} more comparison", "{n} more comparisons", of.verdicts - drafted.verdicts)
        + (f", and announce {of.announced} of the people" if of.announced != drafted.announced else "")
        for of in more
    )


def called(choice: OtherChoice) -> str:
    """Write a choice as a manager knows it.

    >>> called(OtherChoice("max_confidence 0.8", "", 0, 0, 0, 0))
    'ceiling 0.8'
    """
    return choice.name.replace("max_confidence", "ceiling") or "as drafted"


def differences(
    period_before: model.PublicReport | None, version_before: model.PublicReport | None, now: model.PublicReport
) -> tuple[Difference, ...]:
    """Set the main figures of a report beside those of the ones before; an outcome is called as it was called then."""
    columns = [{} if of is None else _figures(of, now.positive) for of in (period_before, version_before, now)]
    names = dict.fromkeys(chain(*columns))
    return tuple(Difference(name, *(column.get(name, "") for column in columns)) for name in names)


def promised(report: model.PublicReport) -> str:
    """Say what is promised of every chance, in short."""
    kind, level, step = report.fidelity.kind, report.fidelity.level, report.fidelity.step
    if step is not None:
        return f"limits in steps of {step:g}"
    return "the declared ranges" if level is None else f"{kind} {level:g}"


def _figures(report: model.PublicReport, positive: str) -> dict[str, str]:
    number, quality, coverage = ENGLISH.number, report.data_quality, report.coverage
    sure, rate = report.privacy.max_confidence, (coverage.rate or {}).get(positive)
    verdicts = {"Lines met": "met", "Lines not met": "not_met", "Lines that cannot be told": "cannot_tell"}
    rows = {"read": quality.rows_read, "quarantined": quality.quarantined, "that repeat others": quality.duplicates}
    return (
        {"Headline": headlines.said(Words.of(report), headline(report))}
        | {"Decisions of the period, as printed": number(coverage.decisions)}
        | {"People announced": ENGLISH.percent(coverage.announced_share)}
        | {"Groups announced": number(coverage.groups.announced)}
        | {"Groups left out": number(coverage.groups.withheld_for_size + coverage.groups.withheld)}
        | {f"Share of “{positive}”": "" if rate is None else ENGLISH.percent(rate)}
        | {name: number(sum(e.verdict == verdict for e in report.fairness)) for name, verdict in verdicts.items()}
        | {"Highest confidence stated": "" if sure is None else ENGLISH.percent(sure), "Promise": promised(report)}
        | {f"Rows of the whole log {what}": number(n) for what, n in rows.items()}
        | {"Decisions of the whole log": number(quality.decisions), "Corrections": number(quality.corrections)}
    )
