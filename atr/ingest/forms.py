"""How a part of a log is written, told from what it holds: the keys of ``log`` to add, and what only people know."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and parameter marks
from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import product
from typing import Any

import duckdb

from atr.core.display_text import NOT_MEANT
from atr.errors import IngestError
from atr.ingest.days import moments
from atr.ingest.numbers import number
from atr.ingest.sources import parts, written
from atr.ingest.sources.base import Column, Part, Relation
from atr.ingest.sources.csv import DELIMITERS
from atr.ingest.sources.encodings import UNCERTAIN
from atr.programme import Programme
from atr.programme.log import EPOCHS, FORM
from atr.warehouse.connection import Parameters, Warehouse
from atr.warehouse.layout import Layout

_DAYS = (
    "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d", "%Y.%m.%d", "%Y%m%d", "%Y-%m-%d",
    "%d.%m.%y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y",
    "%d %b %Y", "%d-%b-%Y", "%d-%b-%y", "%d%b%Y", "%b %d, %Y", "%d %B %Y", "%B %d, %Y", "%d. %b %Y", "%d. %B %Y",
)  # fmt: skip
_CLOCKS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f", "%I:%M %p", "%I:%M:%S %p", "%H%M%S")
_TIMES = ("", *(f"{between}{clock}" for between in (" ", "T", ", ", "") for clock in _CLOCKS))
_ZONES, _ZONE = ("", "%z", " %z"), r"(Z|[+-]\d\d:?(\d\d)?)$"
_NUMBERS = (
    (None, None), (",", None), (None, ","), (",", "."), (None, " "), (",", " "), (None, "'"), (",", "'"),
)  # fmt: skip
"""Decimal sign and sign of thousands, as keys of the log; the simplest first."""
_EARLIEST, _LATEST = ((datetime(year, 1, 1, tzinfo=UTC)).timestamp() * 1e6 for year in (1900, 2100))
_EARLIEST_EPOCH = datetime(1980, 1, 1, tzinfo=UTC).timestamp() * 1e6
"""Microseconds since 1970: what lies further off is no date of that form."""
_FITTING = 0.9
"""A form that fewer of the texts are in is not that of the log."""
_SAMPLE = 20_000
"""Rows."""
_TRIED = 20
"""Dates that Python tries all forms on, before DuckDB tries what is left on all dates."""
_LIKE_THOUSANDS = r"[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+"


@dataclass
class _Form:
    """What is to be said under ``log``: keys, and choices that only people can make, with the reason."""

    keys: dict[str, str] = field(default_factory=dict)
    choices: list[tuple[list[dict[str, str]], str]] = field(default_factory=list)
    besides: str = ""


def refuse_other_form(warehouse: Warehouse, programme: Programme, part: Part) -> None:
    """Refuse a part that is written in another form than ``log`` says, if it can be told in which.

    Parameters
    ----------
    warehouse
        In a transaction.
    programme, part
        The part of its log. It could not be read, too many of its rows are faulty, or it can be read in several ways.

    Raises
    ------
    IngestError
        With all keys to add; what is ambiguous is asked.
    """
    found = _form(warehouse, programme, part)
    if not (found.keys or found.choices or found.besides):
        return
    given = [key for key in FORM if programme.log.form[key] is not None]
    lines = [f"{'Change' if given else 'Add'} under log:"] if found.keys else []
    lines += [f"  {_pair(*item)}" for item in found.keys.items()]
    for choice, reason in found.choices:
        either = " or ".join(", ".join(_pair(*item) for item in keys.items()) for keys in choice)
        lines.append(f"{'Also give' if found.keys else 'Under log, give'} either {either}: {reason}.")
    form = "the form that log describes" if given else "the usual form"
    others = warehouse.query(
        "SELECT name FROM files WHERE name <> $1 AND file IN (SELECT file FROM log_rows WHERE fate = 0) ORDER BY place "
        "LIMIT 1",
        [part.name],
    )
    lines += [
        f"A form holds for all files of a log, and {other} was read in {form}: if the two differ, write one of them "
        "anew in the form of the other."
        for (other,) in others
    ]
    what = f"is not in {form}" if found.keys else "can be read in several ways"
    raise IngestError(what, where=part.where, hint="\n".join([*lines, *filter(None, [found.besides])]))


def refuse_ambiguous_numbers(
    warehouse: Warehouse, programme: Programme, part: Part, relation: Relation, file: int
) -> None:
    """Refuse a CSV file whose numbers with points all look like 1.234: these may be thousands.

    Parameters
    ----------
    warehouse, programme, part
        As in :func:`refuse_other_form`.
    relation, file
        The part as it is open, and its number; its rows were read.

    Raises
    ------
    IngestError
        If only people know what the points are; it asks.
    """
    log, texts = programme.log, _number_texts(programme, relation)
    if relation.kind != "CSV" or log.decimal or log.thousands or not texts:
        return

    def points(rows: str) -> tuple[int, int]:
        """How many texts look like thousands, and how many have a point that is none of theirs."""
        p = Parameters(relation.parameters)
        columns = ", ".join(f"{text} AS t{i}" for i, text in enumerate(texts))
        each = ", ".join(f"regexp_replace(t{i}, {p.mark(NOT_MEANT)}, '', 'g')" for i in range(len(texts)))
        like = f"regexp_full_match(text, {p.mark(_LIKE_THOUSANDS)})"
        read = f"{number('text', None, None)} IS NOT NULL"
        ((alike, others),) = _ask(
            warehouse,
            f"""SELECT count(*) FILTER ({like}), count(*) FILTER ({read} AND NOT {like})
            FROM (SELECT unnest([{each}]) AS text FROM (SELECT {columns} FROM {relation.sql} {rows}))
            WHERE contains(text, '.')""",
            p,
        )
        return alike, others

    alike, others = points(f"LIMIT {_SAMPLE}")
    layout = warehouse.layout()
    wholes = " AND ".join(f"coalesce({c} = floor({c}), true)" for c in map(layout.column, _with_bins(programme)))
    if not others and (
        alike or warehouse.query(f"SELECT 1 FROM log_rows WHERE file = $1 AND NOT ({wholes}) LIMIT 1", [file])
    ):
        alike, others = points("")
    if alike and not others:
        refuse_other_form(warehouse, programme, part)


def _ask(warehouse: Warehouse, sql: str, p: Parameters) -> list[tuple[Any, ...]]:
    """Run a statement that may not need all parameters of a relation."""
    used = {str(i): value for i, value in enumerate(p, 1) if re.search(rf"\${i}\b", sql)}
    return warehouse.connection.execute(sql, used).fetchall()


def _pair(key: str, value: str) -> str:
    return f"{key}: {value if key == 'encoding' or value in EPOCHS else json.dumps(value, ensure_ascii=False)}"


def _form(warehouse: Warehouse, programme: Programme, part: Part) -> _Form:
    found, needed = _Form(), Layout.of(programme).keys
    with suppress(IngestError):
        found.keys |= written(part, programme, warehouse, needed)
    trial = programme.model_copy(update={"log": programme.log.model_copy(update=found.keys)})
    same = next((other for other in parts(trial) if other.name == part.name), part)
    # A DuckDB of its own: what it fails at is no fault of the reading.
    with Warehouse.in_memory() as apart:
        apart.path = warehouse.path
        try:
            with same.open(apart, needed) as relation:
                if relation is not None:
                    _look_at_dates(apart, programme, relation, found)
                    _look_at_numbers(apart, programme, relation, found)
        except IngestError as error:
            found.besides = f"Besides, {error.message}." if found.keys else ""
        except duckdb.Error:
            pass
    if found.keys.get("encoding") == UNCERTAIN:
        del found.keys["encoding"]
        reason = "it is not UTF-8, and its bytes do not tell; look at its letters"
        found.choices.append(([{"encoding": name} for name in ("cp850", "cp1250", "latin-1", "shift_jis")], reason))
    if list(found.keys) == ["delimiter"] and not found.choices and programme.log.delimiter is None:
        delimiter = found.keys.pop("delimiter")
        if delimiter not in DELIMITERS:
            found.keys["delimiter"] = delimiter
    return found


def _texts(warehouse: Warehouse, relation: Relation, programme: Programme, texts: Sequence[str]) -> int:
    """Make the temporary table ``texts``, of the different texts in some columns and how often each is there."""
    p = Parameters(relation.parameters)
    each = ", ".join(f"regexp_replace({text}, {p.mark(NOT_MEANT)}, '', 'g')" for text in texts)
    present = f"NOT IN ({p.marks(programme.log.missing)})" if programme.log.missing else "IS NOT NULL"
    _ask(
        warehouse,
        f"""CREATE OR REPLACE TEMP TABLE texts AS SELECT text, count(*) AS n
        FROM (SELECT unnest([{each}]) AS text FROM {relation.sql}) WHERE text {present} AND text <> '' GROUP BY text""",
        p,
    )
    ((rows,),) = warehouse.query("SELECT coalesce(sum(n), 0)::BIGINT FROM texts")
    return int(rows)


def _look_at_dates(warehouse: Warehouse, programme: Programme, relation: Relation, found: _Form) -> None:
    log = programme.log
    column = relation.columns.get(log.decided_at or "")
    if column is None or column.type != "VARCHAR":
        return
    rows = _texts(warehouse, relation, programme, [column.text])
    if not rows or _unread_dates(warehouse, log.date_format) <= (1 - _FITTING) * rows:
        return
    some = [text for (text,) in warehouse.query("SELECT text FROM texts ORDER BY hash(text) LIMIT $1", [_TRIED])]
    unread = {form: _unread_dates(warehouse, form) for form in [None, *EPOCHS, *_possible(some)]}
    fewest = min(unread.values())
    different: dict[str, str | None] = {}
    for form in (form for form, n in unread.items() if n == fewest):
        different.setdefault(re.sub("[^mdbBYy%]", "", str(form)).replace("b", "B"), form)
    forms = list(different.values())
    if fewest > (1 - _FITTING) * rows:
        return
    if None in forms:
        found.besides = "Leave out log.date_format: the dates are in the usual form." if log.date_format else ""
    elif len(forms) == 1:
        found.keys["date_format"] = str(forms[0])
    else:
        reason = "every date can be read in each of these ways"
        found.choices.append(([{"date_format": str(form)} for form in forms], reason))


def _possible(texts: list[str]) -> list[str]:
    """The forms that most of some dates are in, by Python's reckoning."""

    signs = {re.sub(r"[0-9]+|[^\W\d_]{2,}", "", re.sub(zone, "", text)) for text in texts for zone in ("$", _ZONE)}

    def fits(text: str, form: str) -> bool:
        try:
            datetime.strptime(text, form)
        except ValueError:
            return False
        return True

    forms = ["".join(parts) for parts in product(_DAYS, _TIMES, _ZONES) if parts[1] or not parts[2]]
    forms = [form for form in forms if re.sub("%.", "", form) in signs]
    return [form for form in forms if 2 * sum(fits(text, form) for text in texts) >= len(texts)]


def _unread_dates(warehouse: Warehouse, form: str | None) -> int:
    """In how many rows the date, in the table ``texts``, cannot be read in a form."""
    p = Parameters()
    rows = "(SELECT text AS moment, n FROM texts)"
    for step in moments("moment", Column("moment", "moment"), form, p):
        rows = f"(SELECT *, {', '.join(f'{sql} AS {name}' for name, sql in step.items())} FROM {rows})"
    read = "moment_us IS NOT NULL"
    if form is not None:
        read += f" AND moment_us BETWEEN {_EARLIEST_EPOCH if form in EPOCHS else _EARLIEST:.0f} AND {_LATEST:.0f}"
    ((unread,),) = warehouse.query(f"SELECT coalesce(sum(n) FILTER (NOT ({read})), 0)::BIGINT FROM {rows}", p)
    return int(unread)


def _with_bins(programme: Programme) -> list[str]:
    return [name for name, attribute in programme.attributes.items() if attribute.bins is not None]


def _number_texts(programme: Programme, relation: Relation) -> list[str]:
    columns = [relation.columns[name] for name in _with_bins(programme)]
    return [column.text for column in columns if column.type == "VARCHAR"]


def _look_at_numbers(warehouse: Warehouse, programme: Programme, relation: Relation, found: _Form) -> None:
    texts, log = _number_texts(programme, relation), programme.log
    if not texts:
        return
    given = (log.decimal, log.thousands)
    signs = list(dict.fromkeys([given, *_NUMBERS]))
    rows = _texts(warehouse, relation, programme, texts)
    read = ", ".join(f"{number('text', *pair)} AS n{i}" for i, pair in enumerate(signs))
    unread = ", ".join(f"coalesce(sum(n) FILTER (n{i} IS NULL), 0)::BIGINT" for i in range(len(signs)))
    (counts,) = warehouse.query(f"SELECT {unread} FROM (SELECT n, {read} FROM texts)")
    fewest = min(counts)
    best = [i for i, count in enumerate(counts) if count == fewest]
    if not rows or fewest > (1 - _FITTING) * rows or (0 in best and any(given)):
        return
    different: list[int] = []
    for i in best:
        others = [f"coalesce(bool_or(n{i} <> n{j}), false)" for j in different]
        if not others or all(*warehouse.query(f"SELECT {', '.join(others)} FROM (SELECT {read} FROM texts)")):
            different.append(i)
    ways = [dict(zip(("decimal", "thousands"), signs[i], strict=True)) for i in different]
    keys = [{key: sign for key, sign in way.items() if sign is not None} for way in ways]
    if len(keys) == 1:
        found.keys |= keys[0] or ({"decimal": "."} if any(given) else {})
    else:
        reason = "the numbers look like 1.234 or 1,234, and can be read with a decimal sign or with thousands"
        found.choices.append(([way or {"decimal": "."} for way in keys], reason))
