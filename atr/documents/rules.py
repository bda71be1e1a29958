"""What the tables of announced rules print: groups as rows, sensitive values as columns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from atr.report.model import AttributeInfo, Group, PublicReport, Region
from atr.report.wording import percent_decimals, points, raised

MAX_GROUPS = 200
"""Groups printed; the others are in the annex."""
MAX_ROWS = 600
"""Regions printed where every region has a row of its own."""
MAX_COLUMNS = 8
_MAX_HEADER = 130
_MAX_NAMED = 40


@dataclass(frozen=True, slots=True)
class Cell:
    """A printed chance in percent and its shade, 0 to 20; None where nobody is in the region."""

    text: str
    shade: int


@dataclass(frozen=True, slots=True)
class RuleRow:
    """A group in the table, or a region where regions have rows of their own."""

    label: str
    remark: str
    people: int
    rate: str
    cells: tuple[Cell | None, ...]
    flattened: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """Rows under one heading row."""

    heading: str
    people: int | None
    rate: str
    rows: tuple[RuleRow, ...]


@dataclass(frozen=True, slots=True)
class Rules:
    """The announced rules as printed."""

    wide: bool
    """Whether sensitive values are columns; else every region has a row."""
    row_title: str
    heading_title: str
    column_title: str
    columns: tuple[str, ...]
    blocks: tuple[Block, ...]
    shown: int
    announced: int
    nobody: bool
    """Whether a cell of the table has nobody in it."""
    named: tuple[str, ...]
    """Groups withheld by name, as many as are listed."""
    unnamed: int
    """Groups withheld by name that the list has no room for."""
    remarks: tuple[str, ...]


def rules(report: PublicReport) -> Rules:
    """The announced rules of a report, ready to print."""
    public = [a for a in report.attributes if a.role == "public"]
    hidden = [a for a in report.attributes if a.role == "sensitive"]
    announced = report.announced_groups
    columns = _columns(announced, hidden)
    labels = tuple(" · ".join(c) for c in columns)
    wide = len(columns) <= MAX_COLUMNS and sum(map(len, labels)) <= _MAX_HEADER
    groups = _most_people(announced, MAX_GROUPS if wide else max(1, min(MAX_GROUPS, MAX_ROWS // max(1, len(columns)))))
    row = max(public, key=lambda a: len({g.public.get(a.name) for g in groups}), default=None)
    others = [a for a in public if a is not row]
    digits = percent_decimals(report.policy.digits)
    if wide:
        blocks = _wide(groups, row, others, hidden, columns, report.positive, digits)
    else:
        blocks = tuple(_block(g, public, hidden, columns, report.positive, digits) for g in groups)
    withheld = [name_of(g, public) for g in report.withheld_groups]
    return Rules(
        wide=wide,
        row_title=raised(row.title) if row else "",
        heading_title=", ".join(raised(a.title) for a in (others if wide else public)),
        column_title=" and ".join(a.title for a in hidden),
        columns=labels,
        blocks=blocks,
        shown=len(groups),
        announced=len(announced),
        nobody=any(cell is None for b in blocks for r in b.rows for cell in r.cells),
        named=tuple(withheld[:_MAX_NAMED]),
        unnamed=len(withheld[_MAX_NAMED:]),
        remarks=tuple(dict.fromkeys(remark for g in groups for remark in _remarks(g))),
    )


def name_of(group: Group, public: Iterable[AttributeInfo]) -> str:
    """A QID group by its public values, in the order of the attributes."""
    return ", ".join(group.public[a.name] for a in public if a.name in group.public)


def _columns(groups: Iterable[Group], hidden: list[AttributeInfo]) -> list[tuple[str, ...]]:
    occurring = {_values(r, hidden) for g in groups for r in g.regions}
    order = [{value: i for i, value in enumerate(a.values)} for a in hidden]
    return sorted(occurring, key=lambda c: [(o.get(v, len(o)), v) for o, v in zip(order, c, strict=True)])


def _most_people(groups: tuple[Group, ...], limit: int) -> list[Group]:
    largest = sorted(range(len(groups)), key=lambda i: (-(groups[i].population or 0), i))[:limit]
    return [groups[i] for i in sorted(largest)]


def _values(region: Region, hidden: list[AttributeInfo]) -> tuple[str, ...]:
    return tuple(region.sensitive.get(a.name, "") for a in hidden)


def _cell(region: Region | None, positive: str, digits: int) -> Cell | None:
    if region is None:
        return None
    chance = region.announced[positive]
    return Cell(points(chance, decimals=digits), min(20, max(0, round(chance * 20))))


def _rate(group: Group, positive: str) -> str:
    return "" if group.rate is None else points(group.rate[positive])


def _remarks(group: Group) -> tuple[str, ...]:
    """What sets a group's row apart from those announced as they are."""
    return () if group.status == "announced" else (group.status,)


def _remark(group: Group) -> str:
    return ", ".join(_remarks(group))


def _wide(
    groups: list[Group],
    row: AttributeInfo | None,
    others: list[AttributeInfo],
    hidden: list[AttributeInfo],
    columns: list[tuple[str, ...]],
    positive: str,
    digits: int,
) -> tuple[Block, ...]:
    rank = {a.name: {v: i for i, v in enumerate(a.values)} for a in [*others, *([row] if row else [])]}

    def key(group: Group) -> list[int]:
        return [ranks.get(group.public.get(name, ""), len(ranks)) for name, ranks in rank.items()]

    blocks = []
    for heading, members in groupby(sorted(groups, key=key), key=lambda g: name_of(g, others)):
        rows = []
        for group in members:
            found = {_values(r, hidden): r for r in group.regions}
            rows.append(
                RuleRow(
                    group.public.get(row.name, "") if row else "",
                    _remark(group),
                    group.population or 0,
                    _rate(group, positive),
                    tuple(_cell(found.get(c), positive, digits) for c in columns),
                    group.status == "flattened",
                )
            )
        blocks.append(Block(heading, None, "", tuple(rows)))
    return tuple(blocks)


def _block(
    group: Group,
    public: list[AttributeInfo],
    hidden: list[AttributeInfo],
    columns: list[tuple[str, ...]],
    positive: str,
    digits: int,
) -> Block:
    found = {_values(r, hidden): r for r in group.regions}
    rows = tuple(
        RuleRow(
            " · ".join(c),
            "",
            found[c].population,
            "",
            (_cell(found[c], positive, digits),),
            group.status == "flattened",
        )
        for c in columns
        if c in found
    )
    remark = f" ({_remark(group)})" if _remark(group) else ""
    return Block(name_of(group, public) + remark, group.population, _rate(group, positive), rows)
