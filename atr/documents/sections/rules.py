"""Announced decision rules: groups as rows, sensitive values as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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

    There are no cells where the rate of a group is all that is told. ``as_of`` as of :class:`~atr.report.model.Group`.
    """

    label: str
    status: str
    people: Population
    rate: str
    cells: Sequence[Cell | None]
    as_of: int | None = None


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
    blocks = list(_wide(report, groups, across, columns)) if wide else [_tall(report, g, columns) for g in groups]
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
        "withheld": [group_name(g, report) for g in report.withheld_groups[:MAX_NAMED]],
        "more_withheld": len(report.withheld_groups[MAX_NAMED:]),
    }


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


def _cell(report: PublicReport, group: Group, region: Region) -> Cell:
    limits = report.fidelity.kind == "limits"
    if limits and region.limits is None:
        return Cell("not told")
    printed, shade = "", None
    if region.announced is not None:
        chance, digits = region.announced[report.positive], group.digits or report.policy.digits
        printed, shade = points(chance, decimals=percent_decimals(digits)), round(chance * 20)
    if limits and region.limits is not None:
        return Cell(" to ".join(map(points, region.limits[report.positive])), shade, printed)
    return Cell(printed, shade)


def _row(report: PublicReport, group: Group, label: str, columns: Iterable[_Values] = ()) -> Row:
    """A group with a cell for each column; with none where only its rate is told."""
    regions = _regions(report, group)
    cells = [_cell(report, group, regions[c]) if c in regions else None for c in columns] if regions else []
    rate = "" if group.rate is None else points(group.rate[report.positive])
    return Row(label, group.status, group.population or 0, rate, cells, group.as_of)


def _wide(
    report: PublicReport, groups: Sequence[Group], across: AttributeInfo | None, columns: Sequence[_Values]
) -> Iterator[Block]:
    """The groups alike in all public attributes but ``across`` stand together, rest groups at the end."""
    others = [a for a in report.attributes if a.role == "public" and a is not across]
    by = [*others, *([across] if across else [])]
    ranks: Mapping[str, Mapping[str, int]] = {a.name: {v: i for i, v in enumerate(a.values)} for a in by}

    def place(group: Group) -> list[int]:
        return [rank.get(group.public.get(name, ""), len(rank)) for name, rank in ranks.items()]

    def shared(group: Group) -> list[str]:
        return [group.public.get(a.name, "") for a in others]

    for values, members in groupby(sorted((g for g in groups if g.status != "rest"), key=place), key=shared):
        labels = ((g, g.public.get(across.name, "") if across else "") for g in members)
        yield Block(", ".join(filter(None, values)), [_row(report, g, label, columns) for g, label in labels])
    rest = [_row(report, g, group_name(g, report), columns) for g in groups if g.status == "rest"]
    if rest:
        yield Block("People of groups that are not shown on their own", rest)


def _tall(report: PublicReport, group: Group, columns: Sequence[_Values]) -> Block:
    """A group whose regions have a row each."""
    rows = [
        Row(" · ".join(values), group.status, region.population, "", [_cell(report, group, region)])
        for values, region in sorted(_regions(report, group).items(), key=lambda item: columns.index(item[0]))
    ]
    remark = f" ({group.status.replace('_', ' ')})" if group.status not in ("announced", "rest") else ""
    name = group_name(group, report) + remark
    return Block(name, rows, _row(report, group, name))


def _example(report: PublicReport, blocks: Iterable[Block], columns: Sequence[str] | None, title: str) -> str:
    """How to read the table of rules: by its first chance, or by the limits of the most populous region."""
    if report.fidelity.kind == "limits":
        told = [(group, region) for group in report.announced_groups for region in group.regions if region.limits]
        if not told:
            return ""
        group, region = max(told, key=lambda pair: pair[1].people)
        low, high = (points(end) for end in (region.limits or {})[report.positive])
        return (
            f"The row with most people: of 100 people described as “{group_name(group, report)}” and, in {title}, "
            f"“{' · '.join(region.sensitive.values())}”, between {low} and {high} had the outcome “{report.positive}”."
        )
    for block, row in [(b, r) for b in blocks for r in b.rows if r.cells]:
        for column, cell in zip(columns or [row.label], row.cells, strict=True):
            if cell is not None:
                who = ", ".join(filter(None, (block.heading, row.label if columns else "")))
                return (
                    f"The first chance is for people described as “{who}” and, in {title}, “{column}”: of 100 of them, "
                    f"about {cell.text} had the outcome “{report.positive}”, as announced."
                )
    return ""
