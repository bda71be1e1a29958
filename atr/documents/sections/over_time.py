"""Over time: the rates of the releases of a series, and which changes can be told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from atr.documents.charts.over_time import Moment, TimeRow, TimeWords, over_time
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import headline
from atr.report.model import RateChange, SeriesGroup, SeriesRelease

TITLE = later("Over time")
ROWS, TOLD = 6, 12
"""Groups that the chart shows at most, and rows of the table of changes."""
REASONS = {
    "different_times": later("numbers of different versions"),
    "too_few_people": later("too few people"),
    "ranges_overlap": later("cannot be told"),
    "left_out": later("people left out could undo it"),
    "could_be_chance": later("could be chance"),
}


def context(words: Words) -> Mapping[str, Any] | None:
    """``finding``, the chart of an attribute and the changes since the release before; None of the first release."""
    releases, shown = words.report.series, figure(words)
    if shown is None:
        return None
    changes = list(releases[-1].changes)
    return {
        "finding": _finding(words, releases, changes),
        "figure": shown,
        "changes": [_change(words, change, releases) for change in sorted(changes, key=lambda c: not c.told)[:TOLD]],
        "before": releases[-2].period,
        "left": max(0, len(changes) - TOLD),
        "skipped": bool(releases[-1].skipped),
    }


def _attribute(words: Words, releases: Sequence[SeriesRelease]) -> str | None:
    """The attribute of the headline where releases have it, or else that of most of them."""
    found = Counter(of.attribute for release in releases for of in release.attributes)
    first = headline(words.report).attribute
    return first if first in found else next((name for name, _ in found.most_common(1)), None)


def _finding(words: Words, releases: Sequence[SeriesRelease], changes: Sequence[RateChange]) -> str:
    before, told = releases[-2].period, [change for change in changes if change.told]
    if not told:
        return words.say("Since {period}, no change of a group can be told.", period=before)
    first = max(told, key=lambda change: abs(change.change))
    group = words.compared(first.attribute, first.group)
    then, now = _rates(words, releases, first)
    said = words.language.raised(
        words.say(
            "{group}: {now} in 100 {did}, against {then} in 100 in {period}.",
            group=group,
            now=now,
            then=then,
            period=before,
            did=words.did(words.report.positive),
        )
    )
    if len(told) == 1:
        return said
    more = words.say_n("{n} other change can be told.", "{n} other changes can be told.", len(told) - 1)
    return f"{said} {more}"


def _rates(words: Words, releases: Sequence[SeriesRelease], change: RateChange) -> tuple[str, str]:
    then, now = (_of(release, change.attribute).get(change.group) for release in releases[-2:])
    return tuple("" if of is None else words.language.points(of.rate) for of in (then, now))  # type: ignore[return-value]


def _of(release: SeriesRelease, attribute: str) -> dict[str, SeriesGroup]:
    return {group.group: group for of in release.attributes if of.attribute == attribute for group in of.groups}


def figure(words: Words) -> Mapping[str, Any] | None:
    """The rates of the releases by one attribute: ``title``, ``sub`` and ``chart``; None of the first release."""
    releases = words.report.series
    attribute = _attribute(words, releases) if len(releases) > 1 else None
    if attribute is None:
        return None
    by_release = [_of(release, attribute) for release in releases]
    people = Counter[str]()
    for of in by_release:
        for label, group in of.items():
            people[label] += group.people
    told = {
        (i, c.group)
        for i, release in enumerate(releases)
        for c in release.changes
        if c.told and c.attribute == attribute
    }
    rows = []
    for label, _ in people.most_common(ROWS):
        moments = tuple(
            None if label not in of else Moment(of[label].rate, of[label].interval, of[label].range, (i, label) in told)
            for i, of in enumerate(by_release)
        )
        last = next((m for m in reversed(moments) if m is not None), None)
        rows.append(TimeRow(label, "" if last is None else words.language.points(last.rate), moments))
    said = [
        f"{row.label}: "
        + ", ".join(
            words.say("{period} {number}", period=release.period, number=words.language.points(m.rate))
            for release, m in zip(releases, row.moments, strict=True)
            if m is not None
        )
        for row in rows
    ]
    shown = [m for row in rows for m in row.moments if m is not None]
    chart = TimeWords(
        alt="; ".join(said),
        periods=tuple(release.period for release in releases),
        interval=words.say("how far chance could move it") if any(m.interval for m in shown) else "",
        range=words.say("the true number is in it") if any(m.range for m in shown) else "",
        told=words.say("a change that can be told") if told else "",
    )
    return {
        "title": words.say("By {attributes}, release by release", attributes=words.titles([attribute])),
        "sub": words.language.raised(words.say("how many in 100 {did}", did=words.did(words.report.positive))),
        "chart": over_time(rows, chart),
    }


def _change(words: Words, change: RateChange, releases: Sequence[SeriesRelease]) -> Mapping[str, str]:
    then, now = _rates(words, releases, change)
    amount = words.language.points(abs(change.change))
    told = words.say("{n} more", n=amount) if change.change > 0 else words.say("{n} fewer", n=amount)
    if change.change == 0:
        told = words.say("no difference")
    return {
        "label": change.group,
        "then": then,
        "now": now,
        "told": told if change.told else words.say(REASONS[change.reason or "could_be_chance"]),
    }
