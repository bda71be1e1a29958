"""What goes with the outcome: how far it moves with each attribute, and what part of a gap goes with each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from atr.documents.charts.bars import BarRow, BarWords, bars
from atr.documents.charts.svg import Drawing
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import headline
from atr.report.model import Influence
from atr.report.rounding import nearest

TITLE = later("What goes with the outcome")
MOST = 10
"""Attributes that a chart shows at most."""


def context(words: Words) -> Mapping[str, Any] | None:
    """``finding``, a chart of ``moves`` and one of the ``gap`` of the headline; None where nothing was measured."""
    single = sorted((i for i in words.report.influence if len(i.inputs) == 1), key=lambda i: -i.value)
    if len(single) < 2:
        return None
    gap = _gap(words, single)
    return {
        "finding": words.language.raised(_finding(words, single)),
        "moves": _moves(words, single[:MOST], half=gap is not None),
        "gap": gap,
        "every": _every(words),
        "read": _read(words),
    }


def _in_hundred(words: Words, share: float) -> str:
    n = int(nearest(100 * abs(share), 0))
    return words.language.number(n) if n or not share else words.say("less than 1")


def _finding(words: Words, single: Sequence[Influence]) -> str:
    first = single[0]
    if first.value == 0:
        return words.say("The outcome goes with none of the attributes.")
    known = {"attribute": words.titles(first.inputs), "n": _in_hundred(words, first.value), "people": words.people}
    said = words.say(
        "The outcome goes with {attribute} most: {people} alike in all else but {attribute} differ by {n} in 100 on "
        "average.",
        **known,
    )
    if single[1].value == first.value:
        said = words.say(
            "The outcome goes with {attribute} as much as with any other: {people} alike in all else but {attribute} "
            "differ by {n} in 100 on average.",
            **known,
        )
    return said


def _moves(words: Words, single: Sequence[Influence], *, half: bool) -> Mapping[str, Any]:
    rows = [
        BarRow(words.titles(i.inputs), 100 * i.value, words.language.points(i.value, decimals=1), strong=i is single[0])
        for i in single
    ]
    return {
        "title": _furthest(words, single),
        "sub": words.say(
            "In 100 who {did}, on average over {people} and the values that others have who are announced.",
            did=words.did(words.report.positive),
            people=words.people,
        ),
        "chart": _drawn(words, rows, half=half),
    }


def _furthest(words: Words, single: Sequence[Influence]) -> str:
    most = [words.titles(i.inputs) for i in single if i.value == single[0].value]
    if not single[0].value:
        return words.say("No {people} are apart who differ in one attribute alone", people=words.people)
    attributes = words.listed(most, last="or")
    return words.say(
        "Furthest apart are {people} who differ in {attributes} alone", people=words.people, attributes=attributes
    )


def _gap(words: Words, single: Sequence[Influence]) -> Mapping[str, Any] | None:
    """What part of the headline's gap goes with each attribute."""
    found = headline(words.report)
    if found.attribute is None or found.groups is None or found.id != "gap":
        return None
    parts = {
        i.inputs: of.disparity
        for i in single
        for of in i.groups
        if of.attribute == found.attribute and of.group == found.groups[0] and of.disparity is not None
    }
    if not parts:
        return None
    group, reference = (words.compared(found.attribute, label) for label in found.groups)
    rows = [
        BarRow(words.titles(inputs), 100 * part, words.language.points(part, decimals=1))
        for inputs, part in sorted(parts.items(), key=lambda of: -abs(of[1]))[:MOST]
    ]
    largest = max(rows, key=lambda row: row.value)
    title = (
        words.say(
            "The difference between {group} and {reference} goes with none of the attributes alone",
            group=group,
            reference=reference,
        )
        if largest.value <= 0
        else words.say(
            "Were {attribute} drawn at random, {group} and {reference} would be {n} in 100 nearer",
            attribute=largest.label,
            n=_in_hundred(words, largest.value / 100),
            group=group,
            reference=reference,
        )
    )
    return {
        "title": words.language.raised(title),
        "sub": words.say(
            "By how many in 100 the difference would shrink if the attribute were drawn at random; below 0, grow."
        ),
        "chart": _drawn(words, rows, half=True),
    }


def _drawn(words: Words, rows: Sequence[BarRow], *, half: bool) -> Drawing:
    said = "; ".join(words.say("{label}: {number}", label=row.label, number=row.text) for row in rows)
    return bars(rows, BarWords(said, words.say("Attribute")), number=words.language.number, half=half)


def _every(words: Words) -> str:
    names = len(words.report.attributes)
    whole = next((i for i in words.report.influence if len(i.inputs) == names), None)
    if whole is None:
        return ""
    return words.say(
        "Two {people} picked at random differ by {n} in 100 on average.",
        people=words.people,
        n=_in_hundred(words, whole.value),
    )


def _read(words: Words) -> str:
    """Which attributes the system is said to read: of the others nothing is said by these figures."""
    used = [a.name for a in words.report.attributes if a.used_by_system == "yes"]
    if not used:
        return words.say("That an outcome goes with an attribute does not say that the system reads it.")
    return words.say(
        "The system reads {attributes}. That an outcome goes with another attribute does not say that it reads it too.",
        attributes=words.titles(used),
    )
