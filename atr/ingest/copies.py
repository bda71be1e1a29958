"""Decisions that stand in a log once more, and would be counted twice."""

# ruff: noqa: S608 - what is put into the SQL is made here: column names and numbers of files
from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import gcd, inf

from atr.errors import IngestError
from atr.ingest.precedence import among
from atr.ingest.sums import NUMBER_ID, ROUNDED_ID
from atr.warehouse.connection import Warehouse

_HEAD = 20
"""Fewer rows are alike by chance."""
_PART = 0.3
"""Of the smaller of two files, a smaller share of equal rows is not told."""


def refuse_copies(warehouse: Warehouse) -> None:
    """Refuse a file that another one repeats: without ids nobody can tell whether these are the same decisions.

    With dates, a file repeats another of which more than half the rows stand equally often in it, day included;
    without, one that has the same rows, or more; and in any case one that begins with them.

    Parameters
    ----------
    warehouse
        In a transaction, with the sums of all files made.

    Raises
    ------
    IngestError
        If one does, with the names of both.
    """
    layout = warehouse.layout()
    new = {file for (file,) in warehouse.query("SELECT file FROM files WHERE NOT compared")}
    if not new:
        return
    warehouse.connection.execute("UPDATE files SET compared = true")
    spans = warehouse.query("SELECT file, min(day), max(day), sum(decisions) FROM days GROUP BY file ORDER BY file")
    close = {
        pair
        for file, first, last, _ in spans
        for other, other_first, other_last, _ in spans
        for pair in [(file, other)]
        if file != other
        and {file, other} & new
        and (layout.decided_at is None or (first <= other_last and other_first <= last))
    }
    if not close:
        return
    share = 0.5 if layout.decided_at is not None else 1 - 1e-9
    found = _shared(warehouse, close)
    rows = {file: n for file, _, _, n in spans}
    files = {file: (place, name) for file, name, place in warehouse.query("SELECT file, name, place FROM files")}
    copies = [
        (same / rows[file], files[file], files[other][1], same, rows[file])
        for file, other, same in [*found, *_begun(warehouse, close, rows)]
        if (file, other) in close
        and same > share * rows[file]
        and (layout.decided_at is not None or rows[file] == rows[other] or _HEAD <= rows[file] < rows[other])
    ]
    if copies:  # the file that is contained in the other, whichever was read first
        _, (_, name), other, same, of = max(copies)
        if name == other:
            raise IngestError(
                f"{same:,} of its {of:,} decisions stand equally often in what the file was before, which is kept",
                where=name,
                hint="Without ids nobody can tell which are the same: leave files as they are and give further "
                "decisions in files of their own, or name the column of ids in log.id.",
            )
        raise IngestError(
            f"{same:,} of its {of:,} decisions stand {'' if same == of else 'equally often '}in {other} too, and the "
            "log has no ids: are they the same?",
            where=name,
            hint="Remove this file if the other one repeats it, name the column of ids in log.id, or say repeats: true "
            "under log if they are different decisions.",
        )


def _shared(warehouse: Warehouse, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Two files each of some pairs, and how many decisions stand equally often in both."""
    layout = warehouse.layout()
    return warehouse.query(
        f"""
        WITH contents AS (
            SELECT file, hash({layout.content}) AS content, {layout.people} AS n
            FROM decisions WHERE {among({file for pair in pairs for file in pair})} GROUP BY ALL)
        SELECT a.file, b.file, sum(a.n)::BIGINT
        FROM contents AS a JOIN contents AS b ON a.content = b.content AND a.n = b.n AND a.file <> b.file
        GROUP BY ALL ORDER BY 3 DESC, 1, 2
        """
    )


def _begun(
    warehouse: Warehouse, close: set[tuple[int, int]], rows: Mapping[int, int]
) -> Iterator[tuple[int, int, int]]:
    """Files with whose rows others begin, in their order: those, and how many rows they share."""
    layout, these = warehouse.layout(), among({file for pair in close for file in pair})
    heads = warehouse.query(
        f"SELECT file, hash(arg_min(hash({layout.content}), line, {_HEAD})) FROM decisions WHERE {these} "
        "GROUP BY file ORDER BY file"
    )
    alike = [(a, b) for a, one in heads for b, other in heads if one == other and (a, b) in close]
    for file, other in (pair for pair in alike if _HEAD <= rows[pair[0]] < rows[pair[1]]):
        ordered = (
            f"SELECT row_number() OVER (ORDER BY line) AS number, hash({layout.content}) AS content FROM decisions"
        )
        ((same,),) = warehouse.query(
            f"SELECT count(*) FROM ({ordered} WHERE file = $1) "
            f"JOIN ({ordered} WHERE file = $2) USING (number, content)",
            [file, other],
        )
        if same == rows[file]:
            yield file, other, same


def repeated(warehouse: Warehouse) -> Iterator[str]:
    """Tell which files of a log without ids are likely joined to themselves, or, of one with dates, overlap in part.

    Parameters
    ----------
    warehouse
        With the log ingested. Rows are looked at only of files whose sums leave it possible.

    Yields
    ------
    Sentences without a full stop.
    """
    layout = warehouse.layout()
    names = dict(warehouse.query("SELECT file, name FROM files"))
    sums = "SELECT file, decisions FROM days UNION ALL SELECT file, decisions FROM cells"
    for file, of in warehouse.query(f"SELECT file, list(DISTINCT decisions) FROM ({sums}) GROUP BY file ORDER BY file"):
        if gcd(*of) > 1:
            each = f"SELECT count(*) AS n FROM decisions WHERE file = $1 GROUP BY hash({layout.content})"
            ((different, counts),) = warehouse.query(f"SELECT count(*), list(DISTINCT n) FROM ({each})", [file])
            if different >= _HEAD and (times := gcd(*counts)) > 1:
                joined = f"every row of {names[file]} stands there {times} times, or a multiple of that"
                yield f"log.source: {joined}: was it joined to itself?"
    near = warehouse.query(
        """
        WITH rows AS (SELECT file, sum(decisions) AS rows FROM days GROUP BY file)
        SELECT a.file, b.file, least(any_value(r.rows), any_value(s.rows))::BIGINT AS fewer
        FROM days AS a JOIN days AS b ON a.day = b.day AND a.file < b.file
        JOIN rows AS r ON r.file = a.file JOIN rows AS s ON s.file = b.file
        GROUP BY ALL HAVING sum(least(a.decisions, b.decisions)) >= $1 * fewer ORDER BY 1, 2
        """,
        [_PART],
    )
    fewer = {(a, b): n for a, b, n in near}
    shared = _shared(warehouse, fewer) if fewer else []
    told = [(a, b, n) for a, b, n in shared if n >= _HEAD and n >= _PART * fewer.get((a, b), inf)]
    for a, b, n in told[:5]:
        yield f"log.source: {n:,} decisions stand equally often in {names[a]} and {names[b]}: are they the same?"
    if told[5:]:
        yield f"log.source: {len(told) - 5:,} further pairs of files share decisions"


def refuse_other_spellings(warehouse: Warehouse) -> None:
    """Refuse ids that are rounded, or of which some are those of others as a program writes numbers.

    As in 1.00E+11; and in 7.0, +7, 007 or, with the log's signs, 1,007.

    Parameters
    ----------
    warehouse
        In a transaction, with a log that has ids.

    Raises
    ------
    IngestError
        If there are any, with the files.
    """
    ((shortest, longest, rounded),) = warehouse.query("SELECT min(shortest), max(longest), bool_or(rounded) FROM spelt")
    if rounded:
        ((name, ids, example),) = warehouse.query(
            f"SELECT name, count(DISTINCT id), min(id) FROM decisions JOIN files USING (file) WHERE {ROUNDED_ID} "
            "GROUP BY name ORDER BY 2 DESC, 1 LIMIT 1"
        )
        raise IngestError(
            f"{ids:,} {'id is' if ids == 1 else 'ids are'} rounded, as in 1.00E+11, which may stand for many",
            where=name,
            hint=_AS_TEXTS,
            private=f"As {example!r}.",
        )
    other_length = "SELECT 1 FROM decisions WHERE length(id_number::VARCHAR) <> $1 LIMIT 1"
    if longest is None or (shortest == longest and not warehouse.query(other_length, [longest])):
        return  # all have zeros in front
    form = warehouse.layout().form
    decimal = form["decimal"] or "."
    between = {form["thousands"] or ("." if decimal == "," else ","), " ", "\u00a0", "\u202f", "''"} - {decimal}
    sign, point = f"[{''.join(sorted(between))}]", f"[{decimal}]"
    shape = f"[+-]?([0-9]+|[0-9]{{1,3}}({sign}[0-9]{{3}})+)({point}0+)?"
    plain = f"regexp_replace(regexp_replace(id_text, '{point}0+$', ''), '{sign}|^[+]', '', 'g')"
    plain = f"regexp_replace(regexp_replace({plain}, '^(-?)0+([0-9])', '\\1\\2'), '^-0$', '0')"
    found = warehouse.query(
        f"""
        WITH spelt AS (
            SELECT file, id, {plain} AS plain FROM decisions
            WHERE {NUMBER_ID} AND regexp_full_match(id_text, '{shape}')),
        alike AS (
            SELECT s.file, o.file AS other, s.id, o.id AS other_id
            FROM spelt AS s JOIN decisions AS o ON o.id = s.plain AND o.id <> s.id
            UNION ALL
            SELECT s.file, o.file, s.id, o.id FROM spelt AS s JOIN spelt AS o ON o.plain = s.plain AND o.id < s.id)
        SELECT a.name, b.name, count(DISTINCT id), min(id), min_by(other_id, id) FROM alike
        JOIN files AS a USING (file) JOIN files AS b ON b.file = other GROUP BY ALL ORDER BY 3 DESC, 1, 2 LIMIT 1
        """
    )
    for name, other, ids, spelt, other_id in found:
        where = "others of the same file" if name == other else f"those of {other}"
        raise IngestError(
            f"{ids:,} {'id is a number that is' if ids == 1 else 'ids are numbers that are'} written otherwise, as in "
            f"7.0, 007 or 1,007: are they the same decisions as {where}?",
            where=name,
            hint=f"{_AS_TEXTS} If they are other decisions, write a letter in front of the ids.",
            private=f"As {spelt!r} and {other_id!r}.",
        )


_AS_TEXTS = "A program that took the column for numbers wrote this file, such as Excel: export the ids anew as texts."
