"""The rules: panels of limits by the steps of the sensitive attributes, where most people are."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from atr.core.display_text import ANY
from atr.documents.charts.panels import Panel, Panels, PanelWords, Rule, panels
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.report.headline import headline
from atr.report.model import Region
from atr.report.rounding import down
from atr.report.situations import Situations, limits_of, situations

TITLE = later("The rules")
PANELS, SERIES, STEPS = 6, 3, 8
"""What a page shows at most: panels, groups in each, and steps of the sensitive attributes."""


def context(words: Words) -> Mapping[str, Any] | None:
    """``finding``, ``beside`` and the panels; None where no rule of a group is told."""
    told = [(group, region) for group in words.report.announced_groups for region in group.regions]
    if not told:
        return None
    first = _first(words)
    shown = _panels(words, first)
    if shown is None and first is None:
        return None
    return {
        "finding": words.language.raised(_finding(words, first)),
        "beside": "" if first is None else words.language.raised(_beside(words, first)),
        "title": words.language.raised(_title(words, first)),
        "sub": _sub(words),
        "shown": shown,
    }


def _first(words: Words) -> Situations | None:
    """The rules of the groups of the headline, or of those with most people in situations that both have."""
    found = headline(words.report)
    told = [of for of in situations(words.report) if of.told]
    same = [of for of in told if of.attribute == found.attribute and of.groups == found.groups]
    return next(iter([*same, *sorted(told, key=_people, reverse=True)]), None)


def _people(of: Situations) -> int:
    return sum(of.most_people.people) if of.most_people else 0


def _names(words: Words, of: Situations) -> dict[str, str]:
    group, reference = (words.compared(of.attribute, label) for label in of.groups)
    return {"group": group, "reference": reference, "did": words.did(words.report.positive)}


def _finding(words: Words, of: Situations | None) -> str:
    if of is None or of.most_people is None:
        return words.say("No two groups have rules that are told in the same situation.")
    pair = of.most_people
    (a, b), (c, d) = pair.limits
    told = {key: words.language.points(end) for key, end in zip("abcd", (a, b, c, d), strict=True)}
    who = words.who(list(pair.situation), list(pair.situation.values()))
    if (a, c) == (b, d):
        message = later("Among {who}, {a} in 100 {group} {did}, and {c} in 100 {reference}.")
    else:
        message = later(
            "Among {who}, between {a} and {b} in 100 {group} {did}, and between {c} and {d} in 100 {reference}."
        )
    said = words.say(message, who=who, **told, **_names(words, of))
    return said if b <= c or d <= a else " ".join([said, words.say("These limits overlap.")])


def _beside(words: Words, of: Situations) -> str:
    n, names = words.language.number, _names(words, of)
    return words.say_n(
        "Limits of both groups are told in {n} situation: in {below} those for {group} lie below those for "
        "{reference}, in {above} above, in {overlap} they overlap.",
        "Limits of both groups are told in {n} situations: in {below} those for {group} lie below those for "
        "{reference}, in {above} above, in {overlap} they overlap.",
        of.told,
        below=n(of.below),
        above=n(of.above),
        overlap=n(of.overlap),
        **names,
    )


def _title(words: Words, of: Situations | None) -> str:
    if of is None:
        return words.say("The rules of the groups with most {people}", people=words.people)
    names = _names(words, of)
    if of.below and not of.above:
        return words.say("In no situation do limits for {group} lie above those for {reference}", **names)
    if not of.above and not of.below:
        return words.say("In no situation do limits for {group} and {reference} lie apart", **names)
    if of.above and not of.below:
        return words.say("In no situation do limits for {group} lie below those for {reference}", **names)
    told, below = words.language.number(of.told), words.language.number(of.below)
    return words.say(
        "In {below} of {told} situations limits for {group} lie below those for {reference}",
        below=below,
        told=told,
        **names,
    )


def _sub(words: Words) -> str:
    did, sensitive = words.did(words.report.positive), words.sensitive
    if words.report.fidelity.kind == "limits":
        return words.say(
            "How many in 100 {did}, by {sensitive}. Band: the true number is in it. Dot: the number to expect; its "
            "area: {people}.",
            did=did,
            sensitive=sensitive,
            people=words.people,
        )
    if any(limits_of(region, words.report) for group in words.report.announced_groups for region in group.regions):
        return words.say(
            "How many in 100 {did}, by {sensitive}. Band: the true number is in it. Dot: the number as announced; its "
            "area: {people}.",
            did=did,
            sensitive=sensitive,
            people=words.people,
        )
    return words.say(
        "How many in 100 {did}, by {sensitive}. Area of a dot: {people}.",
        did=did,
        sensitive=sensitive,
        people=words.people,
    )


@dataclass(frozen=True)
class _Drawn:
    """What the panels are of: by the other public values, and the value of the main attribute, the steps with rules."""

    main: str | None
    series: list[str]
    steps: list[tuple[str, ...]]
    rules: Mapping[tuple[str, ...], Mapping[str, Mapping[tuple[str, ...], Region]]]


def _panels(words: Words, first: Situations | None) -> Mapping[str, Any] | None:
    drawn = _drawn(words, first)
    most = sorted(drawn.rules, key=lambda key: -_size(drawn, key))[:PANELS]
    keys = [key for key in drawn.rules if key in most]
    if not keys or not drawn.series:
        return None
    shown: Panels = panels([_panel(words, drawn, key) for key in keys], _words(words, drawn))
    regions = [r for key in keys for label in drawn.series for r in drawn.rules[key].get(label, {}).values()]
    told = [r for r in regions if r.limits is not None or words.report.fidelity.kind != "limits"]
    share = sum(r.people for r in told) / max(1, sum(r.people for r in regions))
    return {
        "legend": shown.legend,
        "panels": shown.panels,
        "told": ""
        if len(told) == len(regions)
        else words.say(
            "Rules are told for {n} in 100 of the {people} in these panels. Not told: people are too few, or limits "
            "would tell too much about them.",
            n=words.language.points(down(share, 2)),
            people=words.people,
        ),
    }


def _drawn(words: Words, first: Situations | None) -> _Drawn:
    report = words.report
    public = [a.name for a in report.attributes if a.role == "public"]
    hidden = [a for a in report.attributes if a.role == "sensitive"]
    main = first.attribute if first and first.attribute in public else None
    others = [name for name in public if name != main]
    rules: dict[tuple[str, ...], dict[str, dict[tuple[str, ...], Region]]] = defaultdict(lambda: defaultdict(dict))
    people, steps = Counter[str](), Counter[tuple[str, ...]]()
    for group in report.announced_groups:
        if list(group.public) != public or group.status == "coarsened":
            continue
        label = group.public[main] if main else ""
        for region in group.regions:
            step = tuple(region.sensitive.get(a.name, ANY) for a in hidden)
            rules[tuple(group.public[name] for name in others)][label][step] = region
            people[label] += region.people
            steps[step] += region.people
    pair = set(first.groups) if first else set()
    series = sorted(
        people,
        key=lambda label: (
            label not in pair,
            first.groups.index(label) if first and label in pair else 0,
            -people[label],
        ),
    )
    kept = {step for step, _ in steps.most_common(STEPS)}
    order = [step for step in product(*(a.values for a in hidden)) if step in kept]
    return _Drawn(main, series[:SERIES], order, rules)


def _size(drawn: _Drawn, key: tuple[str, ...]) -> int:
    return sum(r.people for label in drawn.series for r in drawn.rules[key].get(label, {}).values())


def _panel(words: Words, drawn: _Drawn, key: tuple[str, ...]) -> Panel:
    title = ", ".join(key) or words.say("Everybody")
    rows = [
        tuple(_rule(words, drawn.rules[key].get(label, {}).get(step)) for step in drawn.steps) for label in drawn.series
    ]
    said = []
    for label, row in zip(drawn.series, rows, strict=True):
        parts = [
            f"{', '.join(step)}: {_said(words, rule)}"
            for step, rule in zip(drawn.steps, row, strict=True)
            if rule is not None
        ]
        if parts:
            said.append(f"{label}: {'; '.join(parts)}" if label else "; ".join(parts))
    return Panel(title, f"{title}. {'. '.join(said)}", tuple(rows))


def _rule(words: Words, region: Region | None) -> Rule | None:
    if region is None:
        return None
    report, few = words.report, region.people < words.report.policy.minimum_group_size
    expected = None if region.announced is None else 100 * region.announced[report.positive]
    limits = limits_of(region, report)
    if limits is not None:
        return Rule(region.people, (100 * limits[0], 100 * limits[1]), expected, few)
    told = None if expected is None or report.fidelity.kind == "limits" else expected
    return Rule(region.people, None if told is None else (told, told), told, few)


def _said(words: Words, rule: Rule) -> str:
    if rule.limits is None:
        return words.say("not told")
    low, high = (words.language.number(round(end, 4)) for end in rule.limits)
    return low if low == high else words.say("{low} to {high}", low=low, high=high)


def _words(words: Words, drawn: _Drawn) -> PanelWords:
    n = words.language.number
    few = words.report.policy.minimum_group_size
    sizes = tuple((size, words.persons(size)) for size in (200, 50))
    return PanelWords(
        series=tuple(label or words.say("everybody") for label in drawn.series),
        steps=tuple(", ".join(step) for step in drawn.steps),
        not_told=words.say("not told"),
        sizes=sizes,
        legend_alt=words.say(
            "Legend: {series}", series=words.listed(label or words.say("everybody") for label in drawn.series)
        ),
        few=words.say("under {n}", n=n(few)),
    )
