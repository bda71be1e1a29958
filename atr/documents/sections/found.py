"""What was found: a headline made from the numbers, one chart, and what to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents import groups
from atr.documents.charts.rates import RateRow, RateWords, rates
from atr.documents.charts.svg import Drawing
from atr.documents.groups import GroupRow, Lines
from atr.documents.text import headline as headlines
from atr.documents.text import missing, promise
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import Headline, headline
from atr.report.model import ComparedBy, Fairness

TITLE = later("What we found")
MOST = 6
"""Groups that the chart shows at most."""


def context(words: Words) -> Mapping[str, Any] | None:
    """The ``finding``, the ``figure`` where groups are compared, and three short texts."""
    found = headline(words.report)
    by = _compared(words, found)
    figure = None if by is None else _figure(words, by, found)
    return {
        "finding": headlines.said(words, found) if words.report.announced_groups else _nothing(words),
        "figure": figure,
        "missing": _missing(words),
        "altered": _altered(words, found),
        "not_measured": words.say(
            "Whether the {decisions} were right, why rates differ, and what became of people.",
            decisions=words.decision_noun,
        ),
    }


def _compared(words: Words, found: Headline) -> ComparedBy | None:
    """What the chart is by: that of the gap, or else the first attribute by which several groups are compared."""
    by = [by for by in words.report.compared if groups.rows(words, by)]
    return next((b for b in by if b.attribute == found.attribute), by[0] if by else None)


def _nothing(words: Words) -> str:
    return words.say("No rule is announced for this period: none could be shown without telling too much about people.")


def _figure(words: Words, by: ComparedBy, found: Headline) -> Mapping[str, Any]:
    every = groups.rows(words, by)
    lines = groups.lines_of(by, every)
    rows = _first(every, {*(found.groups or ()), by.reference})
    return {
        "title": words.language.raised(_title(words, by, every)),
        "sub": _sub(words, by, every),
        "chart": _chart(words, by, rows, lines),
        "line": _lines(words, by, lines),
        "more": len(every) - len(rows),
    }


def _first(rows: list[GroupRow], kept: set[str | None]) -> list[GroupRow]:
    """As many groups as there is room for: those that must be there, then those of most people."""
    most = sorted(rows, key=lambda row: (row.label not in kept, -row.people))[:MOST]
    return [row for row in rows if row in most]


def _title(words: Words, by: ComparedBy, rows: list[GroupRow]) -> str:
    """What the chart shows of the group with most people that has a verdict."""
    judged = [row for row in rows if row.entry and row.entry.verdict]
    if not judged or by.reference is None:
        return words.say(
            "{decisions} by {attributes}", decisions=words.decision_noun, attributes=words.titles(by.attributes)
        )
    row = max(judged, key=lambda row: row.people)
    entry, reference = row.entry, next(r.who for r in rows if r.label == by.reference)
    assert entry is not None
    known = {"group": row.who, "reference": reference, "did": words.did(words.report.positive)}
    if entry.reason == "too_few_people":
        return words.say("Too few {group} for a verdict", **known)
    if entry.verdict == "cannot_tell" or entry.threshold is None:
        return words.say("Whether {group} and {reference} {did} about equally often cannot be told", **known)
    told = _verdict(words, entry, entry.threshold, known)
    return words.say("{finding}; chance could change this", finding=told) if groups.chance_could_turn(entry) else told


def _verdict(words: Words, entry: Fairness, threshold: float, known: dict[str, str]) -> str:
    """On which side of its line a ratio lies."""
    known = known | {
        "share": words.language.number(threshold),
        "inverse": promise.inverse(words, threshold),
    }
    fifths = threshold == groups.FOUR_FIFTHS
    if entry.verdict == "met":
        if fifths:
            return words.say(
                "{group} {did} at least four fifths as often as {reference}, and at most five fourths", **known
            )
        return words.say("{group} {did} between {share} and {inverse} times as often as {reference}", **known)
    if entry.value is None or entry.value > 1:
        return words.say("{group} {did} more than {inverse} times as often as {reference}", **known)
    if fifths:
        return words.say("{group} {did} less than four fifths as often as {reference}", **known)
    return words.say("{group} {did} less than {share} times as often as {reference}", **known)


def _sub(words: Words, by: ComparedBy, rows: list[GroupRow]) -> str:
    attributes, did = words.titles(by.attributes), words.did(words.report.positive)
    said = [
        words.say(
            "How many in 100 {people} {did}, the favourable outcome, by {attributes}.",
            people=words.people,
            did=did,
            attributes=attributes,
        )
    ]
    if any(row.interval for row in rows):
        said.append(
            words.say(
                "Line through a dot: how far chance could move it, {level} times in 100.",
                level=words.level,
            )
        )
    if any(row.range for row in rows):
        said.append(words.say("Band: the true number is in it."))
    return " ".join(said)


def _chart(words: Words, by: ComparedBy, rows: list[GroupRow], lines: Lines | None) -> Drawing:
    language = words.language
    drawn = [
        RateRow(
            label=row.label,
            people=language.number(row.people),
            rate=row.rate,
            text=language.points(row.rate),
            verdict=groups.verdict(words, row, by),
            kind=row.kind,
            interval=row.interval,
            range=row.range,
        )
        for row in rows
    ]
    said = [
        words.say("{group}: {n} in 100, {verdict}", group=row.label, n=row.text, verdict=row.verdict)
        if row.verdict
        else words.say("{group}: {n} in 100", group=row.label, n=row.text)
        for row in drawn
    ]
    label, head = words.titles(by.attributes), words.say("Verdict") if lines else ""
    chart = RateWords("; ".join(said), label, words.say("People"), head, _names(words, lines) if lines else "")
    return rates(drawn, chart, lines=lines.at if lines else ())


def _names(words: Words, lines: Lines) -> str:
    """What the lines are called, with where they lie."""
    first, *second = (words.language.number(round(100 * at)) for at in lines.at)
    if second:
        of = words.say("four-fifths lines") if lines.four_fifths else words.say("lines")
        return words.say("{lines}: {n} and {m}", lines=of, n=first, m=second[0])
    if lines.four_fifths:
        return words.say("four-fifths line: {n}", n=first)
    return words.say("line at {share}: {n}", share=words.language.number(lines.share), n=first)


def _lines(words: Words, by: ComparedBy, lines: Lines | None) -> str:
    if lines is None or by.reference is None:
        return ""
    n, *second = (words.language.number(round(100 * at)) for at in lines.at)
    known = {"share": words.language.number(lines.share), "reference": words.compared(by.attribute, by.reference)}
    said = [
        words.say(
            "The four-fifths line is a yardstick from US employment law: four fifths of the rate of {reference}, "
            "{n} in 100.",
            n=n,
            **known,
        )
        if lines.four_fifths
        else words.say("The line is {share} times the rate of {reference}, {n} in 100.", n=n, **known)
    ]
    if second:
        known = {"inverse": promise.inverse(words, lines.share), "m": second[0]}
        said.append(words.say("The second line is {inverse} times that rate, {m} in 100.", **known))
    return " ".join(said)


def _missing(words: Words) -> str:
    return " ".join([missing.counted(words), *missing.left_out(words), *missing.together(words)][:3])


def _altered(words: Words, found: Headline) -> str:
    report, language = words.report, words.language
    if not any(group.regions for group in report.announced_groups):
        if not report.announced_groups or report.policy.group_rates != "exact":
            return words.say("No rules are told.")
        return words.say("Rates are true. No rules are told.")
    sensitive = words.sensitive
    rates_true = report.policy.group_rates == "exact"
    if report.fidelity.kind == "limits":
        said = words.say(
            "Rates are true. Figures by {sensitive} are told as limits, to protect people.", sensitive=sensitive
        )
    elif report.fidelity.largest_change == 0:
        said = words.say("Nothing: numbers are shown as they are.")
    elif report.fidelity.largest_change is not None:
        change = language.points(report.fidelity.largest_change)
        said = (
            words.say(
                "Rates are true. Figures by {sensitive} may be off by at most {n} in 100.",
                sensitive=sensitive,
                n=change,
            )
            if rates_true
            else words.say("Figures may be off by at most {n} in 100, to protect people.", n=change)
        )
    else:
        said = words.say("Figures may be altered within limits set beforehand, to protect people.")
    remains = found.remains
    if remains is None or remains.bounds is None or remains.id in ("none_told", "not_told", "reversed"):
        return said
    low, high = (language.number(round(100 * end)) for end in remains.bounds)
    if low == high:
        return said
    message = (
        later("What remains is between {low} and {high} % of the difference.")
        if not words.level
        else later("What remains is, chance aside, between {low} and {high} % of the difference.")
    )
    return f"{said} {words.say(message, low=low, high=high)}"
