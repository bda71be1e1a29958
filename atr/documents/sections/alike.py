"""The same situation: how much of a gap remains among people who are otherwise alike."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from atr.documents.charts.gaps import GapRow, GapWords, gaps
from atr.documents.charts.svg import Drawing
from atr.documents.text import headline as headlines
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import compares_half, headline, remains
from atr.report.model import Alike, AlikeDifference
from atr.report.rounding import down, nearest, up

TITLE = later("The same situation")
PAIRS, CLASSES, ROWS = 4, 5, 8
"""Pairs that the first chart shows at most, situations that the second does, and rows of both together."""
_FINDINGS = {
    "none": later("no difference"),
    "could_be_chance": later("could be chance"),
    "cannot_be_told": later("cannot be told"),
    "different_times": later("different times"),
}


def context(words: Words) -> Mapping[str, Any] | None:
    """``finding``, charts of ``pairs`` and ``classes``, and how it is ``counted``; None where nobody is alike."""
    known = [of for of in words.report.alike if of.public or of.situation]
    if not known:
        return None
    found = headline(words.report)
    first = next((of for of in known if of.groups == found.groups and of.attribute == found.attribute), known[0])
    shown = sorted(known, key=lambda of: (of is not first, bool(of.attributes), -min(of.everybody.people)))[:PAIRS]
    pairs = [of for of in known if of in shown]
    return {
        "finding": words.language.raised(_finding(words, first)),
        "pairs": _pairs(words, pairs, first),
        "left": len(known) - len(pairs),
        "classes": _classes(words, first, min(CLASSES, ROWS - len(pairs))) if len(first.classes) > 1 else None,
        "counted": _counted(words, first),
        "everybody": _everybody(words, first),
        "chance": any(d.interval for d in _differences(pairs)),
    }


def _left(of: Alike) -> AlikeDifference:
    """What remains among people as alike as is known."""
    left = of.situation or of.public
    assert left is not None
    return left


def _differences(pairs: Iterable[Alike]) -> Iterable[AlikeDifference]:
    return (d for of in pairs for d in (of.everybody, of.public, of.situation) if d is not None)


def _finding(words: Words, of: Alike) -> str:
    left = _left(of)
    group, reference = _names(words, of)
    known = {"people": words.people, "attributes": words.titles(left.alike_in), "did": words.did(words.report.positive)}
    if not compares_half(of):
        message = later(
            "How {group} and {reference} compare among {people} alike in {attributes} cannot be told: fewer than half "
            "of a group have anybody alike."
        )
    elif left.finding in ("higher", "lower") and _is_wide(of):
        low, high = sorted(abs(end) for end in left.range)
        known |= {
            name: words.language.number(int(end)) for name, end in (("n", down(100 * low, 0)), ("m", up(100 * high, 0)))
        }
        message = (
            later("Among {people} alike in {attributes}, {n} to {m} fewer in 100 {group} than {reference} {did}.")
            if left.finding == "lower"
            else later("Among {people} alike in {attributes}, {n} to {m} more in 100 {group} than {reference} {did}.")
        )
    elif left.finding in ("higher", "lower"):
        known["n"] = _whole(words, left.difference)
        message = (
            later("Among {people} alike in {attributes}, {n} fewer in 100 {group} than {reference} {did}.")
            if left.finding == "lower"
            else later("Among {people} alike in {attributes}, {n} more in 100 {group} than {reference} {did}.")
        )
    elif left.finding == "none":
        message = later("Among {people} alike in {attributes}, {group} and {reference} {did} equally often.")
    elif left.finding == "could_be_chance":
        message = later(
            "Among {people} alike in {attributes}, no difference between {group} and {reference} can be told from "
            "chance."
        )
    else:
        message = later("Among {people} alike in {attributes}, whether {group} and {reference} differ cannot be told.")
    said = words.say(message, group=group, reference=reference, **known)
    return f"{said} {_of_everybody(words, of.everybody)}"


def _is_wide(of: Alike) -> bool:
    """Whether page 1 says that how much remains of the difference cannot be told."""
    if of.everybody.finding not in ("higher", "lower"):
        return False
    remaining = remains(of)
    return remaining is not None and remaining.id == "not_told"


def _in_hundred(words: Words, of: AlikeDifference) -> str:
    """A difference in whole people of 100, or why none is told."""
    if of.finding not in ("higher", "lower"):
        return words.say(_FINDINGS[of.finding])
    n = _whole(words, of.difference)
    return words.say("{n} fewer", n=n) if of.finding == "lower" else words.say("{n} more", n=n)


def _of_everybody(words: Words, of: AlikeDifference) -> str:
    if of.finding in ("higher", "lower"):
        return words.say("Among everybody it is {difference}.", difference=_in_hundred(words, of))
    if of.finding == "none":
        return words.say("Among everybody there is no difference.")
    if of.finding == "could_be_chance":
        return words.say("Among everybody the difference could be chance.")
    return words.say("Among everybody it cannot be told.")


def _whole(words: Words, difference: float) -> str:
    """A difference in whole people of 100; where that is nobody, with a decimal."""
    n = int(nearest(100 * abs(difference), 0))
    return words.language.number(n) if n else words.language.points(nearest(abs(difference), 3))


def _names(words: Words, of: Alike) -> tuple[str, str]:
    group, reference = (words.compared(of.attribute, label) for label in of.groups)
    return group, reference


def _pairs(words: Words, pairs: Sequence[Alike], first: Alike) -> Mapping[str, Any]:
    labels = [_pair(words, of) for of in pairs]
    rows = [
        _row(words, label, _left(of), ring=of.everybody, tick=of.public, note="; ".join(_ranges(words, _left(of))))
        for label, of in zip(labels, pairs, strict=True)
    ]
    remains = headline(words.report).remains
    return {
        "title": headlines.remains(words, remains)
        if remains and remains.id != "not_told"
        else words.say("Among people alike, and among everybody"),
        "chart": _chart(words, rows, map(_left, pairs), words.say("Who is compared"), ring=words.say("everybody")),
        "same": words.titles(_alike_in(first.public)),
        "starred": len({_alike_in(of.public) for of in pairs if of.public}) > 1,
    }


def _pair(words: Words, of: Alike) -> str:
    """The groups that are compared; where most people of one have nobody alike, how many of it are."""
    label, (n, m) = (
        words.listed(of.groups),
        min(zip(_left(of).people, of.everybody.people, strict=True), key=lambda people: people[0] / people[1]),
    )
    if 2 * n >= m:
        return label
    return words.say("{pair} ({n} of {m} compared)", pair=label, n=words.language.number(n), m=words.language.number(m))


def _alike_in(of: AlikeDifference | None) -> tuple[str, ...]:
    return of.alike_in if of else ()


def _row(
    words: Words,
    label: str,
    of: AlikeDifference,
    *,
    ring: AlikeDifference | None,
    tick: AlikeDifference | None,
    note: str,
) -> GapRow:
    exact = of.range[0] == of.range[1]
    return GapRow(
        label=label,
        finding=_told(words, of),
        note=note,
        told=of.finding in ("higher", "lower"),
        ring=None if ring is of else _points(ring),
        tick=None if tick is of else _points(tick),
        dot=_points(of),
        band=None if exact else _ends(of.range),
        line=_ends(of.interval),
    )


def _points(of: AlikeDifference | None) -> float | None:
    return None if of is None else 100 * of.difference


def _ends(of: tuple[float, float] | None) -> tuple[float, float] | None:
    return None if of is None else (100 * of[0], 100 * of[1])


def _told(words: Words, of: AlikeDifference) -> str:
    n = words.language.points(abs(of.difference), decimals=1)
    amount = words.say("{n} fewer", n=n) if of.difference < 0 else words.say("{n} more", n=n)
    if of.finding in ("higher", "lower"):
        return amount
    return words.say("{amount}: {finding}", amount=amount, finding=words.say(_FINDINGS[of.finding]))


def _ranges(words: Words, of: AlikeDifference) -> list[str]:
    """Its limits, and those that chance adds."""
    said = [] if of.range[0] == of.range[1] else [words.say("limits: {ends}", ends=_between(words, of.range))]
    if of.interval is not None:
        said.append(words.say("with chance: {ends}", ends=_between(words, of.interval)))
    return said


def _between(words: Words, ends: tuple[float, float]) -> str:
    low, high = ends
    a, b = (words.language.points(abs(end), decimals=1) for end in ends)
    if high <= 0:
        return words.say("{least} to {most} fewer", least=b, most=a)
    if low >= 0:
        return words.say("{least} to {most} more", least=a, most=b)
    return words.say("{least} fewer to {most} more", least=a, most=b)


def _chart(
    words: Words, rows: Sequence[GapRow], differences: Iterable[AlikeDifference], label: str, *, ring: str
) -> Drawing:
    did = words.did(words.report.positive)
    said = [
        f"{row.label}: {'; '.join([row.finding, *_ranges(words, of)])}"
        for row, of in zip(rows, differences, strict=True)
    ]
    sensitive = words.sensitive
    told = GapWords(
        alt=". ".join(said),
        label=label,
        finding=words.say("In the same situation"),
        fewer=words.say("fewer in 100 {did}", did=did),
        more=words.say("more"),
        ring=ring,
        tick=words.say("same public attributes") if any(row.tick is not None for row in rows) else "",
        dot=words.say("same {sensitive} as well", sensitive=sensitive),
        band=words.say("limits") if any(row.band for row in rows) else "",
        line=words.say("and chance") if any(row.line for row in rows) else "",
    )
    return gaps(rows, told, number=words.language.number)


def _classes(words: Words, first: Alike, most: int) -> Mapping[str, Any]:
    shown = sorted(first.classes, key=lambda of: -min(of.public.people))[:most]
    classes = [of for of in first.classes if of in shown]
    left = [of.situation or of.public for of in classes]
    rows = [
        _row(
            words,
            ", ".join(c.condition.values()),
            of,
            ring=c.public,
            tick=None,
            note=next(iter(_ranges(words, of)), ""),
        )
        for c, of in zip(classes, left, strict=True)
    ]
    largest = shown[0]
    who = words.who(list(largest.condition), list(largest.condition.values()))
    title = words.say(
        "{who}: {difference}", who=who, difference=_class_finding(words, largest.public, largest.situation)
    )
    group, reference = _names(words, first)
    return {
        "title": words.language.raised(title),
        "sub": words.language.raised(words.say("{group} and {reference}", group=group, reference=reference)),
        "chart": _chart(words, rows, left, words.say("Group"), ring=words.say("same public attributes")),
        "left": len(first.classes) - len(classes),
    }


def _class_finding(words: Words, public: AlikeDifference, situation: AlikeDifference | None) -> str:
    if situation is None:
        return _in_hundred(words, public)
    return words.say(
        "{public}; at the same {sensitive}, {situation}",
        public=_in_hundred(words, public),
        sensitive=words.sensitive,
        situation=_in_hundred(words, situation),
    )


def _counted(words: Words, of: Alike) -> str:
    left = _left(of)
    rest = [max(0, every - some) for every, some in zip(of.everybody.people, left.people, strict=True)]
    a, b, c, d = map(words.language.number, (*left.people, *rest))
    group, reference = _names(words, of)
    known = {"a": a, "b": b, "group": group, "reference": reference}
    if not any(rest):
        return words.say("Alike are all: {a} {group} and {b} {reference}.", **known)
    return words.say(
        "Alike are {a} {group} and {b} {reference}; the other {c} and {d} have nobody alike, or it is not told.",
        c=c,
        d=d,
        **known,
    )


def _everybody(words: Words, of: Alike) -> str:
    amount = _told(words, of.everybody)
    group, reference = _names(words, of)
    return words.say(
        "Among everybody, {group} and {reference}: {amount}.", group=group, reference=reference, amount=amount
    )
