"""By protected attribute: the rates of everybody, with what chance could make of them, and a verdict in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from atr.core.display_text import UNKNOWN
from atr.documents import groups
from atr.documents.charts.rates import RateRow, strip, strip_axis
from atr.documents.groups import GroupRow, Lines
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.model import ComparedBy
from atr.report.rounding import down, up

TITLE = later("By group")
ROOM = 24
"""Groups that fit the page."""
FEWEST = 2


def context(words: Words) -> Mapping[str, Any] | None:
    """The ``heading``, ``finding``, ``adverse`` and ``tables``, a table an attribute; None where nobody is compared."""
    compared = {
        by.attribute: (by, rows) for by in words.report.compared if len(rows := groups.rows(words, by)) >= FEWEST
    }
    if not compared:
        return None
    single = [by.attribute for by, _ in compared.values() if len(by.attributes) == 1]
    room, tables, below = ROOM, [], []
    for by, rows in compared.values():
        shown = _first(rows, by, max(room, FEWEST + 1))
        room -= len(shown) + 2
        below += shown
        tables.append(_table(words, by, shown, left=len(rows) - len(shown)))
        if room <= FEWEST:
            break
    return {
        "heading": words.say("By {attributes}", attributes=words.titles(single)),
        "finding": words.language.raised(_finding(words, below)),
        "adverse": _adverse(words, *next(iter(compared.values()))),
        "tables": tables,
        "second_line": any(table["second_line"] for table in tables),
        "more": len(compared) - len(tables),
        "chance": any(row.interval for _, rows in compared.values() for row in rows),
        "level": words.level,
    }


def _first(rows: list[GroupRow], by: ComparedBy, room: int) -> list[GroupRow]:
    """As many groups as there is room for, the reference and those of most people, in order."""
    most = sorted(rows, key=lambda row: (row.label != by.reference, -row.people))[:room]
    return [row for row in rows if row in most]


def _finding(words: Words, rows: list[GroupRow]) -> str:
    """Which groups have the lowest and the highest rate, of those with people enough and a rate that is told."""
    told = [row for row in rows if _is_told(words, row)]
    if not told:
        return words.say("The groups have too few {people}, or their rates are not told.", people=words.people)
    low, high = min(row.rate for row in told), max(row.rate for row in told)
    did, language = words.did(words.report.positive), words.language
    if low == high:
        return words.say(
            "{n} in 100 {did} in every group with enough {people}.",
            n=language.points(low),
            did=did,
            people=words.people,
        )
    least, most = ([row.who for row in told if row.rate == end] for end in (low, high))
    message = (
        later("{n} in 100 {least} {did}, the fewest of the groups below, and {m} in 100 {most}, the most.")
        if len(told) == len(rows)
        else later(
            "{n} in 100 {least} {did}, the fewest of the groups below with enough {people} and a rate that is told, "
            "and {m} in 100 {most}, the most."
        )
    )
    return words.say(
        message,
        people=words.people,
        n=language.points(low),
        least=language.listed(least, most=2),
        did=did,
        m=language.points(high),
        most=language.listed(most, most=2),
    )


def _is_told(words: Words, row: GroupRow) -> bool:
    enough = row.people >= words.report.policy.minimum_group_size and (row.entry is None or row.entry.reason is None)
    return enough and row.range is None and row.label != UNKNOWN


def _adverse(words: Words, by: ComparedBy, rows: list[GroupRow]) -> str:
    """How many had another outcome than the favourable one, in the group of most people and its reference."""
    report, say = words.report, words.say
    others = [words.did(outcome) for outcome in report.outcomes if outcome != report.positive]
    did = words.language.listed(others, last="or")
    reference = next((row for row in rows if row.label == by.reference), None)
    told = [row for row in rows if row is not reference and _is_told(words, row)]
    row = max(told, key=lambda row: row.people, default=None)
    if reference is None or row is None or not _is_told(words, reference):
        return say("The others {did}.", did=did)
    known = {"did": did, "group": row.who, "reference": reference.who}
    n, m = (words.language.points(round(1 - r.rate, 2)) for r in (row, reference))
    return say("The others {did}: {n} in 100 {group}, {m} in 100 {reference}.", n=n, m=m, **known)


def _table(words: Words, by: ComparedBy, rows: list[GroupRow], *, left: int) -> Mapping[str, Any]:
    lines = groups.lines_of(by, rows)
    attributes = words.titles(by.attributes)
    caption = words.say("By {attributes}", attributes=attributes)
    if by.left_out:
        people = words.persons(by.left_out)
        caption = words.say(
            "By {attributes}, without {people} who may not be shown by it", attributes=attributes, people=people
        )
    head = _verdict_head(words, lines)
    return {
        "caption": caption,
        "head": head,
        "axis": strip_axis(words.say("From 0 to 100 in 100")),
        "rows": [_row(words, by, row, lines) for row in rows],
        "reference": "" if by.reference is None else words.compared(by.attribute, by.reference),
        "left": left,
        "second_line": lines is not None and len(lines.at) > 1,
    }


def _verdict_head(words: Words, lines: Lines | None) -> str:
    if lines is None:
        return words.say("Verdict")
    if lines.four_fifths:
        return words.say("Four-fifths line")
    return words.say("Line at {share}", share=words.language.number(lines.share))


def _row(words: Words, by: ComparedBy, row: GroupRow, lines: Lines | None) -> Mapping[str, Any]:
    language, entry = words.language, row.entry
    number = language.points(row.rate)
    told = groups.verdict(words, row, by)
    ratio = "" if entry is None or entry.value is None else language.number(entry.value, decimals=2)
    if entry is None and row.label == by.reference:
        ratio = language.number(1)
    interval = ""
    if entry is not None and entry.sampling is not None:
        interval = _between(words, entry.sampling.interval)
    drawn = RateRow(row.label, "", row.rate, number, told, row.kind, row.interval, row.range)
    alt = _alt(words, row, number)
    return {
        "label": row.label,
        "bad": row.kind == "not_met",
        "verdict": told,
        "people": language.number(row.people),
        "rate": number if row.range is None else _in_hundred(words, row.range),
        "strip": Markup(strip(drawn, alt, lines=lines.at if lines else ())),  # noqa: S704
        "ratio": ratio,
        "range": "" if entry is None or entry.range == (entry.value, entry.value) else _between(words, entry.range),
        "interval": interval,
    }


def _alt(words: Words, row: GroupRow, number: str) -> str:
    if row.interval is None:
        return words.say("{n} in 100", n=number)
    low, high = (words.language.points(end) for end in row.interval)
    return words.say("{n} in 100; by chance {low} to {high}", n=number, low=low, high=high)


def _between(words: Words, ends: tuple[float | None, float | None]) -> str:
    """The range of a ratio, rounded outwards."""
    low, high = (
        None if end is None else words.language.number(outwards(end, 2), decimals=2)
        for outwards, end in zip((down, up), ends, strict=True)
    )
    return (
        words.say("{low} or more", low=low) if high is None else words.say("{low} to {high}", low=low or 0, high=high)
    )


def _in_hundred(words: Words, ends: tuple[float, float]) -> str:
    """The range of a rate, rounded outwards."""
    low, high = (words.language.points(end) for end in (down(ends[0], 2), up(ends[1], 2)))
    return words.say("{low} to {high}", low=low, high=high)
