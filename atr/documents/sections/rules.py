"""Announced decision rules: groups as rows, sensitive values as columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from atr.documents.text.phrases import group_name
from atr.documents.text.wording import percent_decimals, points, raised
from atr.report.model import AttributeInfo, Group, Population, PublicReport, Region

MAX_GROUPS = 200
"""Groups printed; the others are in the annex."""
MAX_ROWS = 600
"""Regions printed where every region has a row of its own."""
MAX_COLUMNS = 8
MAX_NAMED = 40
"""Groups withheld by name that are listed."""
_MAX_HEADER = 130

_Values = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """What is told of a chance, in percent, its shade, 0 to 20, and what a reader expects where limits are told."""

    text: str
    shade: int | None = None
    expected: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row: a group, or a region where regions have rows of their own; a cell is None where nobody is in it.

    There are no cells where the rate of a group is all that is told.
    """

    label: str
    status: str
    people: Population
    rate: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True, slots=True)
class Block:
    """Rows under one heading row; ``group`` where they are the regions of one."""

    heading: str
    rows: Sequence[Row]
    group: Row | None = None


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template; ``wide``: sensitive values are columns, else every region has a row."""
    public = [a for a in report.attributes if a.role == "public"]
    hidden = [a for a in report.attributes if a.role == "sensitive"]
    announced = report.announced_groups
    columns = _columns(announced, hidden)
    labels = [" · ".join(values) for values in columns]
    wide = len(columns) <= MAX_COLUMNS and sum(map(len, labels)) <= _MAX_HEADER
    groups = _most_people(announced, MAX_GROUPS if wide else max(1, min(MAX_GROUPS, MAX_ROWS // max(1, len(columns)))))
    across = max(public, key=lambda a: len({g.public.get(a.name) for g in groups}), default=None)
    if wide:
        blocks = _wide(report, [g for g in groups if g.status != "rest"], across, columns)
        blocks += _together(report, [g for g in groups if g.status == "rest"], columns)
    else:
        blocks = [_tall(report, group, columns) for group in groups]
    column_title = " and ".join(a.title for a in hidden)
    return {
        "wide": wide,
        "limits": report.fidelity.kind == "limits",
        "row_title": raised(across.title) if across else "",
        "column_title": column_title,
        "columns": labels,
        "blocks": blocks,
        "shown": len(groups),
        "announced": len(announced),
        "nobody": any(cell is None for b in blocks for r in b.rows for cell in r.cells),
        "statuses": {group.status for group in groups},
        "example": _example(report, blocks, labels if wide else None, column_title),
        "withheld": [name_of(g, public) for g in report.withheld_groups[:MAX_NAMED]],
        "more_withheld": len(report.withheld_groups[MAX_NAMED:]),
    }


def name_of(group: Group, public: Iterable[AttributeInfo]) -> str:
    """The name of a QID group: its public values, in the order of the attributes."""
    return ", ".join(group.public[a.name] for a in public if a.name in group.public)


def _columns(groups: Iterable[Group], hidden: Sequence[AttributeInfo]) -> list[_Values]:
    occurring = {tuple(r.sensitive[a.name] for a in hidden) for g in groups for r in g.regions}
    order = [{value: i for i, value in enumerate(a.values)} for a in hidden]
    return sorted(occurring, key=lambda c: [(o.get(v, len(o)), v) for o, v in zip(order, c, strict=True)])


def _most_people(groups: Sequence[Group], limit: int) -> list[Group]:
    largest = sorted(range(len(groups)), key=lambda i: -(groups[i].population or 0))[:limit]
    return [groups[i] for i in sorted(largest)]


def _regions(report: PublicReport, group: Group) -> dict[_Values, Region]:
    hidden = [a.name for a in report.attributes if a.role == "sensitive"]
    return {tuple(region.sensitive[name] for name in hidden): region for region in group.regions}


def _cell(report: PublicReport, group: Group, region: Region | None) -> Cell | None:
    if region is None:
        return None
    chance = None if region.announced is None else region.announced[report.positive]
    digits = group.digits or report.policy.digits
    printed = "" if chance is None else points(chance, decimals=percent_decimals(digits))
    shade = None if chance is None else round(chance * 20)
    if report.fidelity.kind != "limits":
        return Cell(printed, shade)
    if region.limits is None:
        return Cell("not told")
    return Cell(" to ".join(points(end) for end in region.limits[report.positive]), shade, printed)


def _row(report: PublicReport, group: Group, label: str, cells: Sequence[Cell | None] = ()) -> Row:
    rate = "" if group.rate is None else points(group.rate[report.positive])
    return Row(label, group.status, group.population or 0, rate, cells)


def _wide(
    report: PublicReport, groups: Iterable[Group], across: AttributeInfo | None, columns: Sequence[_Values]
) -> list[Block]:
    """The groups alike in all public attributes but ``across`` stand together."""
    others = [a for a in report.attributes if a.role == "public" and a is not across]
    by = [*others, *([across] if across else [])]
    ranks: Mapping[str, Mapping[str, int]] = {a.name: {v: i for i, v in enumerate(a.values)} for a in by}

    def place(group: Group) -> list[int]:
        return [rank.get(group.public.get(name, ""), len(rank)) for name, rank in ranks.items()]

    def row(group: Group) -> Row:
        label = group.public.get(across.name, "") if across else ""
        return _row(report, group, label, _cells(report, group, columns))

    together = groupby(sorted(groups, key=place), key=lambda group: [group.public.get(a.name) for a in others])
    in_blocks = (list(members) for _, members in together)
    return [Block(name_of(members[0], others), [row(group) for group in members]) for members in in_blocks]


def _together(report: PublicReport, rest: Iterable[Group], columns: Iterable[_Values]) -> list[Block]:
    """The groups of people whose own groups could not be announced."""
    rows = [_row(report, g, group_name(g, report), _cells(report, g, columns)) for g in rest]
    return [Block("People of groups that are not shown on their own", rows)] if rows else []


def _cells(report: PublicReport, group: Group, columns: Iterable[_Values]) -> list[Cell | None]:
    regions = _regions(report, group)
    return [_cell(report, group, regions.get(c)) for c in columns] if regions else []


def _tall(report: PublicReport, group: Group, columns: Iterable[_Values]) -> Block:
    """A group whose regions have a row each."""
    regions = _regions(report, group)
    rows = [
        Row(" · ".join(c), group.status, regions[c].population, "", [_cell(report, group, regions[c])])
        for c in columns
        if c in regions
    ]
    remark = f" ({group.status.replace('_', ' ')})" if group.status not in ("announced", "rest") else ""
    name = group_name(group, report) + remark
    return Block(name, rows, _row(report, group, name))


def _example(report: PublicReport, blocks: Iterable[Block], columns: Sequence[str] | None, title: str) -> str:
    """How to read the table of rules: by its first chance, or by the limits of the most populous region."""
    if report.fidelity.kind == "limits":
        return _example_of_limits(report, title)
    rows = ((block, row) for block in blocks for row in block.rows if row.status != "flattened")
    for block, row in rows:
        for column, cell in zip(columns or [row.label], row.cells, strict=True):
            if cell is not None:
                who = ", ".join(filter(None, (block.heading, row.label if columns else "")))
                return (
                    f"The first chance is for people described as “{who}” and, in {title}, “{column}”: of 100 of them, "
                    f"about {cell.text} had the outcome “{report.positive}”, as announced."
                )
    return ""


def _example_of_limits(report: PublicReport, title: str) -> str:
    told = [(group, region) for group in report.announced_groups for region in group.regions if region.limits]
    if not told:
        return ""
    group, region = max(told, key=lambda pair: pair[1].people)
    low, high = (points(end) for end in (region.limits or {})[report.positive])
    return (
        f"The row with most people: of 100 people described as “{group_name(group, report)}” and, in {title}, "
        f"“{' · '.join(region.sensitive.values())}”, between {low} and {high} had the outcome “{report.positive}”."
    )
