"""Fairness: one block per protected attribute, always in the order of its values."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from atr.core.comparison_rows import joined
from atr.core.display_text import ANY
from atr.documents.charts.rows import Chart, Mark, row_chart
from atr.documents.comparisons import (
    CONDITIONAL,
    PARITY,
    RATIO,
    Class,
    Compared,
    Measured,
    Who,
    by_group,
    common_decimals,
    measured,
    other,
    rule,
    same_people,
    values_of,
)
from atr.documents.sections import individual, sampling
from atr.documents.sections.rules import MAX_GROUPS
from atr.documents.text import changes, origins, wording
from atr.documents.text.comparisons import said, sentence
from atr.documents.text.phrases import titles
from atr.documents.text.sampling import level
from atr.documents.text.wording import between, class_name, inverse, listed, named, number, points
from atr.measures import MEASURES
from atr.report import empty_categories
from atr.report.model import ComparedBy, Fairness, PublicReport
from atr.report.sampling import is_of_two_groups

MAX_PAIRS = 15
MAX_CONDITIONAL = 40
MAX_MARKS = 20
"""Lines of a chart: more do not fit a page with its heading."""
MAX_SENTENCES = 20
MAX_SAME = 5
"""Groups of people met before that a sentence names."""
MAX_SENTENCES_OF_INTERSECTION = 3
_CHOSEN = {"named": "", "highest": ": highest rate", "largest": ": largest group"}
_SUMMARIES = {"worst_class": "worst class", "mean_over_classes": "mean"}

_Place = Callable[[str], tuple[list[int], str]]
"""Where a group stands among the others: as the values of its attributes are ordered, then by name."""


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template; ``parts`` are an id and a heading for each part."""
    compared, like, of_ratios = protected(report), individual.alike(report), rule(report)
    parts = [(f"fairness-{i}", f"By {p['title']}") for i, p in enumerate(compared, start=1)]
    parts += [("individual", "Like people alike")] * bool(like)
    parts += [("since", "Since the last report")] * (report.changes is not None)
    distances = report.policy.individual and report.policy.individual.distances
    by_law = of_ratios is not None and origins.of_four_fifths(report.policy) == origins.FOUR_FIFTHS
    highest = all(by.reference is None or by.chosen == "highest" for by in report.compared)
    return {
        "parts": parts,
        "protected": compared,
        "not_compared": not_compared(report),
        "too_many": empty_categories.too_many,
        "listed": empty_categories.LISTED,
        "rule": wording.rule_name(of_ratios),
        "ratio_line": of_ratios.threshold if of_ratios else None,
        "parity_line": any(e.threshold is not None and e.measure in (PARITY, CONDITIONAL) for e in report.fairness),
        "not_as_law_compares": by_law and not highest,
        "too_few": any(e.reason == "too_few_people" and e.pair is None for e in report.fairness),
        "legend": legend,
        "level": level(report),
        "sampled": report.policy.sampling is not None and any(map(is_of_two_groups, report.fairness)),
        "individual": like,
        "no_difference": [a.title for a in report.attributes if distances and not distances[a.name].weight],
        "origins": origins,
        "said": said,
        "changes": changes,
        "max_changes": MAX_SENTENCES,
    }


def protected(report: PublicReport) -> list[dict[str, Any]]:
    """The tables, chart and sentences of each attribute and intersection that groups were compared by."""
    regions_of = same_people(report)
    entries = {by.attribute: [e for e in report.fairness if e.attribute == by.attribute] for by in report.compared}
    found = []
    for by in report.compared:
        if entries[by.attribute]:
            block = _block(report, by, entries[by.attribute])
            shown = [Class("", block["rows"]), *block["classes"]]
            block["sample"] = sampling.table(report, by, entries[by.attribute], shown)
            block["met_before"] = met_before(report, by, regions_of)
            found.append(block)
    return found


def _block(report: PublicReport, by: ComparedBy, entries: list[Fairness]) -> dict[str, Any]:
    place, several = _in_order(report, by), len(by.attributes) > 1
    shown = {
        name: [e for e in entries if e.measure == name and e.outcome in (None, report.positive)]
        for name, measure in MEASURES.items()
        if not measure.conditional
    }
    all_shown = [e for found in shown.values() for e in found]
    decimals = _decimals(report, all_shown)
    of_groups = {name: by_group(found) for name, found in shown.items()}
    ratio, parity = of_groups[RATIO], of_groups[PARITY]
    rows = _with_reference(
        [
            _row(e, who, {name: measured(found.get(who), decimals) for name, found in of_groups.items()})
            for who, e in by_group(all_shown).items()
        ],
        all_shown,
        place,
    )
    first = next(iter(ratio.values()), None)
    told = _furthest(ratio, most=MAX_SENTENCES_OF_INTERSECTION if several else MAX_SENTENCES)
    pairs = _pairs(shown, place, decimals)
    return {
        "by": by,
        "title": titles(report, by.attributes),
        "reference": entries[0].reference,
        "chosen": _CHOSEN[by.chosen or "named"],
        "rule": wording.raised(wording.rule_name(first)),
        "tolerance": next((e.threshold for e in parity.values()), None),
        "chart": _chart(report, by, ratio, rows, decimals) if first else None,
        "rows": _most_people(rows, MAX_GROUPS),
        "groups_in_all": len(rows),
        "others": () if several else _others(report, entries, place, decimals),
        "sentences": [_told(report, ratio[r.label], parity.get(r.label)) for r in rows if r.label in told],
        "sentences_in_all": len(ratio),
        "pairs": pairs if len(pairs) <= MAX_PAIRS and not several else (),
        "pairs_in_all": len(pairs),
        "exact": all(e.range == (e.value, e.value) and e.reason != "different_times" for e in all_shown),
        **_conditional(report, by, entries, place, room=len(rows) <= MAX_MARKS),
    }


# --- the chart


def _chart(
    report: PublicReport,
    by: ComparedBy,
    ratio: Mapping[str, Fairness],
    rows: Sequence[Compared],
    decimals: int,
) -> Chart:
    marks = []
    for row in _most_people(rows, MAX_MARKS):
        e = ratio.get(row.label)
        if row.reference:
            marks.append(Mark(row.label, "reference", "reference", ring=1.0))
        elif e is not None:
            marks.append(_mark(e, row, decimals, level(report)))
    reference, threshold = next((r.label for r in rows if r.reference), ""), next(iter(ratio.values())).threshold
    most = f": the {MAX_MARKS} groups with most people" if len(rows) > MAX_MARKS else ""
    label = "" if threshold is None else f"rule met from {number(threshold)} to {inverse(threshold)}"
    return row_chart(
        marks,
        title=f"Ratio of rates of “{report.positive}” by {titles(report, by.attributes)}, against {reference}{most}",
        description=f"{legend(level(report))}{f' Dashed lines: {label}.' if label else ''}",
        base=1.0,
        lines=sorted({threshold, 1 / threshold}) if threshold else (),
        line_label=label,
    )


def _mark(e: Fairness, row: Compared, decimals: int, level: str) -> Mark:
    """A ratio as a dot, the range of the true one as a bar, the interval of a sample."""
    nothing = e.value is None and e.range == (None, None)
    interval = e.sampling.interval if e.sampling else None
    text = f"{wording.VERDICTS[e.verdict][0] if e.verdict else ''} {row.figures[RATIO].value}".strip()
    known = [] if e.range == (e.value, e.value) else [between(e.range, decimals=decimals)]
    known += [f"{level} as a sample {between(interval, decimals=decimals)}"] if interval else []
    words = f"{text} ({', '.join(known)})" if known else text
    return Mark(row.label, text, words, bar=None if nothing else e.range, dot=e.value, interval=interval)


def legend(level: str, *, exact: bool = False) -> str:
    """Explain the marks of the chart of ratios; no range is drawn where figures are exact."""
    sample = f"; thin line with end caps: {level} interval if the decisions are seen as a sample" if level else ""
    bar = "" if exact else f"; {'thick bar' if level else 'bar'}: range of the true one"
    return f"Dot: announced ratio{', which is exact' if exact else ''}{bar}{sample}; ring: reference."


# --- sentences


def met_before(report: PublicReport, by: ComparedBy, people: Mapping[Who, frozenset[int]]) -> str:
    """Name the groups of a grouping that are the same people as a group of an earlier grouping.

    Parameters
    ----------
    report
        The report.
    by
        The grouping.
    people
        The regions of each group, from :func:`~atr.documents.comparisons.same_people`.

    Returns
    -------
    At most :data:`MAX_SAME` groups, each with the earlier one; empty where there is none.
    """
    names = [b.attribute for b in report.compared]
    earlier = names[: names.index(by.attribute)]
    first: dict[frozenset[int], str] = {}
    for (attribute, group), regions in people.items():
        if attribute in earlier:
            first.setdefault(regions, group)
    same = [
        f"“{group}” (as “{first[of]}”)".replace('"', "")
        for (a, group), of in people.items()
        if a == by.attribute and of in first
    ]
    return listed(same, most=MAX_SAME)


def not_compared(report: PublicReport) -> list[tuple[ComparedBy, str]]:
    """The attributes and intersections without a comparison.

    Returns
    -------
    Each with who the only group is, within a sentence; empty where there are none or several.
    """
    compared = {e.attribute for e in report.fairness}
    return [(by, _only_group(report, by)) for by in report.compared if by.attribute not in compared]


def _only_group(report: PublicReport, by: ComparedBy) -> str:
    found = values_of(report, by)
    groups = {values for values in found if ANY not in values}
    if len(groups) != 1:
        return ""
    (values,) = groups
    together = next((row.values for row in by.rows if row.label == joined(values)), ())
    if len(by.attributes) == 1 and len(together) > 1:
        return f"{named(together)} are shown as one group"
    return f"only “{', '.join(values)}” is {'announced' if len(groups) == len(set(found)) else 'shown on its own'}"


def _told(report: PublicReport, ratio: Fairness, parity: Fairness | None) -> str:
    """The sentences on a ratio; on parity too, where that is of several outcomes and not of the same two rates."""
    if len(report.outcomes) == 2 or parity is None or parity.reason in ("too_few_people", "different_times"):
        return said(ratio, report)
    return f"{said(ratio, report)} {sentence(parity, report)}"


def _furthest(ratio: Mapping[str, Fairness], *, most: int) -> set[str]:
    """The groups whose ratios are furthest from 1; those without a ratio come first."""
    distance = {v: math.inf if not e.value else abs(math.log(e.value)) for v, e in ratio.items()}
    return set(sorted(ratio, key=lambda v: -distance[v])[:most])


# --- tables


def _in_order(report: PublicReport, by: ComparedBy) -> _Place:
    together = {row.label: row.values[0] for each in report.compared for row in each.rows}
    ranks = [
        {v: i for i, v in enumerate(a.values)} for name in by.attributes for a in report.attributes if a.name == name
    ]
    alone = [tuple(values[name] for name in by.attributes) for values, _, _ in report.announced_regions]
    parts = {joined(values): values for values in (*alone, *values_of(report, by))}

    def place(label: str) -> tuple[list[int], str]:
        values = [together.get(v, v) for v in parts.get(label, ())]
        return [rank.get(v, len(rank)) for rank, v in zip(ranks, values, strict=False)], label

    return place


def _row(e: Fairness, who: str, figures: Mapping[str, Measured]) -> Compared:
    side = e.groups.index(who)
    return Compared(who, e.people[side], points(e.rates[side]), figures, reference=who == e.reference)


def _with_reference(rows: Sequence[Compared], entries: Sequence[Fairness], place: _Place) -> tuple[Compared, ...]:
    """The rows of groups, and that of the reference of their comparisons, in order."""
    reference = [_row(e, e.reference, {}) for e in entries[:1]]
    return tuple(sorted((*rows, *reference), key=lambda row: place(row.label)))


def _most_people(rows: Sequence[Compared], limit: int) -> list[Compared]:
    kept = {row.label for row in sorted(rows, key=lambda row: (not row.reference, -row.people))[:limit]}
    return [row for row in rows if row.label in kept]


def _others(report: PublicReport, entries: Sequence[Fairness], place: _Place, decimals: int) -> tuple[Class, ...]:
    """The ratios of other outcomes than the favourable one, if there are several and not too many."""
    found = []
    for outcome in (o for o in report.outcomes if o != report.positive and len(report.outcomes) > 2):
        of = [e for e in entries if (e.measure, e.outcome) == (RATIO, outcome) and e.reference in e.groups]
        if of:
            rows = _with_reference([_row(e, other(e), {RATIO: measured(e, decimals)}) for e in of], of, place)
            found.append(Class(f"“{outcome}”", rows))
    return tuple(found) if sum(len(of.rows) for of in found) <= MAX_CONDITIONAL else ()


def _pairs(shown: Mapping[str, Sequence[Fairness]], place: _Place, decimals: int) -> tuple[Compared, ...]:
    """Every two groups of which neither is the reference."""
    of_pairs = {name: {e.groups: e for e in es if e.reference not in e.groups} for name, es in shown.items()}
    pairs = {pair for found in of_pairs.values() for pair in found}
    return tuple(
        Compared(
            " against ".join(pair),
            figures={name: measured(found.get(pair), decimals) for name, found in of_pairs.items()},
        )
        for pair in sorted(pairs, key=lambda pair: (place(pair[1]), place(pair[0])))
    )


def _decimals(report: PublicReport, entries: Iterable[Fairness]) -> int:
    return common_decimals([x for e in entries for x in (e.value, *e.range)], least=min(report.policy.digits, 3))


# --- people alike in what may count


def _conditional(
    report: PublicReport, by: ComparedBy, entries: Sequence[Fairness], place: _Place, *, room: bool
) -> dict[str, Any]:
    """The comparisons within classes and over all of them; ``room``: whether there is room for the latter."""
    found = [e for e in entries if e.measure == CONDITIONAL and e.reference in e.groups]
    inside = [e for e in found if e.summary is None]
    classes = _classes(report, inside, place)
    over = _overall(report, [e for e in found if e.summary], place, _decimals(report, found))
    shown = len(inside) <= MAX_CONDITIONAL and len(by.attributes) == 1
    alike = [a.title for a in report.attributes if a.legitimate and a.name not in by.attributes]
    legal = {a.name for a in report.attributes if a.legitimate and a.role == "public"}
    return {
        "classes": classes if shown else (),
        "overall": over if room and len(classes) > 1 else (),
        "classes_in_all": len(classes),
        "conditional": len(inside),
        "alike_in": listed(alike),
        "unclassed": any(by.attributes[0] in g.public and not legal <= set(g.public) for g in report.rest_groups),
        "uncounted": any(kept < in_all for kept, in_all in (e.classes or (1, 1) for e in found)),
    }


def _classes(report: PublicReport, inside: Sequence[Fairness], place: _Place) -> tuple[Class, ...]:
    decimals, named = _decimals(report, inside), {a.name: a.title for a in report.attributes}
    ranks = {(a.name, v): i for a in report.attributes for i, v in enumerate(a.values)}
    by_class: dict[tuple[tuple[str, str], ...], list[Fairness]] = {}
    for e in inside:
        by_class.setdefault(tuple(e.condition.items()), []).append(e)
    return tuple(
        Class(
            class_name(dict(condition), named),
            _with_reference([_row(e, other(e), {CONDITIONAL: measured(e, decimals)}) for e in members], members, place),
            dict(condition),
        )
        for condition, members in sorted(
            by_class.items(), key=lambda item: [(ranks.get(part, math.inf), part[1]) for part in item[0]]
        )
    )


def _overall(report: PublicReport, over: Sequence[Fairness], place: _Place, decimals: int) -> list[Compared]:
    """The rows over all classes: of each group that of the worst class, then the mean; that of the reference."""
    if not over:
        return []
    named = {a.name: a.title for a in report.attributes}
    # The rates of all classes together are in the table of rates, and are not what is compared here.
    base = max(over, key=lambda e: e.people[e.groups.index(e.reference)])  # the one with most classes counted
    rows = [(place(base.reference), False, replace(_row(base, base.reference, {}), rate=""))]
    for e in over:
        label = f"{other(e)}: {_SUMMARIES[e.summary or '']}"
        label += f" ({class_name(e.worst_condition, named)})" if e.worst_condition else ""
        if e.classes and e.classes[0] < e.classes[1]:
            label += f", {e.classes[0]:,} of {e.classes[1]:,} classes"
        row = replace(_row(e, other(e), {CONDITIONAL: measured(e, decimals)}), label=label, rate="")
        rows.append((place(other(e)), e.summary != "worst_class", row))
    return [row for *_, row in sorted(rows, key=lambda row: row[:2])]
