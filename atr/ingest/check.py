"""Whether a programme fits what was ingested."""

# ruff: noqa: S608 - what is put into the SQL is made here: positional column names and parameter marks
from __future__ import annotations

import difflib
import unicodedata

from atr.core.display_text import CONTROL, UNKNOWN, printable
from atr.errors import IngestError, ProgrammeError
from atr.programme import MOST_OUTCOMES, Programme
from atr.warehouse.connection import Warehouse

_LONG = 80
"""More letters are long for a table."""
_MANY = 0.1
"""A larger share of corrections is rarely meant."""


def check_log(warehouse: Warehouse, programme: Programme) -> None:
    """Hold the programme against all that was ingested.

    Raises
    ------
    ProgrammeError
        If an outcome never occurs, too many are not grouped, a number has no bins, or a reference is nobody's.
    IngestError
        If the log has no decisions.
    """
    layout = warehouse.layout()
    if not warehouse.query("SELECT 1 FROM decisions LIMIT 1"):
        raise IngestError("the log has no decisions", where=f"{programme.path}, log.source")
    _check_outcomes(warehouse, programme)
    for name, attribute in programme.attributes.items():
        column, where = layout.column(name), f"{programme.path}, attributes.{name}"
        if attribute.bins is None and attribute.values is None:
            ((numeric,),) = warehouse.query(
                f"""
                SELECT bool_and(regexp_full_match(raw, $1))
                FROM (SELECT DISTINCT {column} AS raw FROM decisions WHERE {column} IS NOT NULL)
                """,
                [r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?"],
            )
            if numeric:
                raise ProgrammeError(
                    "every value in the log is a number: give bins, or list its values",
                    where=where,
                    hint='As in bins: [1, 4, 11], or values: {"0": no, "1": yes}.',
                )
        if isinstance(attribute.reference, str) and not _occurs(warehouse, programme, name, attribute.reference):
            found = warehouse.query(f"SELECT DISTINCT {column} FROM decisions WHERE {column} IS NOT NULL LIMIT 20")
            has = ", ".join(sorted({printable(str(raw)) for (raw,) in found}))
            raise ProgrammeError(
                f"the reference '{attribute.reference}' occurs nowhere in the log",
                where=f"{where}.reference",
                hint=f"Is one of the log's values missing in {name}.values?" if attribute.values else "",
                private=f"The log has {has}.",
            )


def remarks(warehouse: Warehouse, programme: Programme) -> list[str]:
    """What is no mistake, but likely not meant: values that readers cannot tell apart, cannot see, or have no room for,
    ranges and rows of hierarchies for values that occur nowhere, and hierarchies that nothing is done with.

    For the person at the keyboard: they quote values of the log.
    """
    found = []
    ((corrections, rows),) = warehouse.query("SELECT sum(corrections), sum(rows_read) FROM ingestions")
    if corrections > _MANY * rows:
        found.append(
            f"log.id: {corrections:,} of {rows:,} rows replaced an earlier one of the same id; is it the id of a "
            "decision?"
        )
    for name, attribute in programme.attributes.items():
        if attribute.bins is not None:
            found += _without_use(programme, name, [*attribute.categories, UNKNOWN])
            continue
        rows = warehouse.query(
            f"SELECT DISTINCT {warehouse.layout().column(name)} FROM decisions ORDER BY 1 LIMIT 10000"
        )
        raws = [raw for (raw,) in rows if raw is not None]
        shown = sorted({attribute.shown(raw) for raw in raws})
        found += _without_use(programme, name, [*shown, UNKNOWN])
        found += _misspelt(name, attribute.values or {}, raws)
        alike: dict[str, list[str]] = {}
        for value in shown:
            alike.setdefault(" ".join(unicodedata.normalize("NFKC", value).split()), []).append(value)
        for values in alike.values():
            if len(values) > 1:
                found.append(
                    f"attributes.{name}: {', '.join(map(repr, values))} look alike and are counted apart; see `values`"
                )
        odd = [raw for raw in raws if raw not in (attribute.values or {}) and CONTROL.search(raw)]
        if odd:
            found.append(f"attributes.{name}: {min(odd)!a} has characters that cannot be printed")
        longest = max(shown, key=len, default="")
        if len(longest) > _LONG:
            found.append(f"attributes.{name}: a value has {len(longest)} letters, '{longest[:30]}…'; see `values`")
    return found


def _misspelt(attribute: str, values: dict[str, str], raws: list[str]) -> list[str]:
    """Declared values that occur nowhere, where the log has some that are not declared."""
    others = [raw for raw in raws if raw not in values]
    found = []
    for value in values:
        near = [] if value in raws else difflib.get_close_matches(value.casefold(), map(str.casefold, others), n=1)
        like = next((raw for raw in others if raw.casefold() in near), None)
        if like is not None:
            found.append(f"attributes.{attribute}.values: {value!r} occurs nowhere in the log, which has {like!r}")
    return found


def _without_use(programme: Programme, attribute: str, shown: list[str]) -> list[str]:
    """What further files say of an attribute that no report can use."""
    found = []
    hierarchy, key = programme.attributes[attribute].coarser, f"attributes.{attribute}.hierarchy"
    coarsens = programme.policy.unattainable == "coarsen"
    if hierarchy is not None:
        if not coarsens:
            found.append(f"{key}: is used only with policy.unattainable: coarsen")
        found += _strangers(key, "", set(hierarchy.coarser), shown)
    table = programme.policy.fidelity.table
    if table is not None:
        place = table.attributes.index(attribute)
        coarse = hierarchy.coarse if hierarchy is not None and coarsens else ()
        named = {values[place] for values in table.rows}
        found += _strangers("policy.fidelity.ranges", f" in '{attribute}'", named, [*shown, *coarse])
    return found


def _strangers(key: str, where: str, named: set[str], shown: list[str]) -> list[str]:
    """The first of the values that a file names and no report can show."""
    strangers = sorted(named - set(shown))
    if not strangers:
        return []
    near = difflib.get_close_matches(strangers[0].casefold(), [value.casefold() for value in shown], n=1)
    hint = next((f"; did you mean {value!r}?" for value in shown if value.casefold() in near), "")
    return [f"{key}: no report can show {strangers[0]!r}{where}{hint}"]


def check_number_of_outcomes(warehouse: Warehouse, programme: Programme) -> list[str]:
    """The part of :func:`check_log` that no further file can mend.

    Returns
    -------
    The outcomes in the log, up to 50.

    Raises
    ------
    ProgrammeError
        If more outcomes than a report can tell of are not grouped.
    """
    raws = [raw for (raw,) in warehouse.query("SELECT DISTINCT outcome FROM decisions ORDER BY outcome LIMIT 50")]
    if programme.log.outcomes is None and len(raws) > MOST_OUTCOMES:
        raise ProgrammeError(
            f"the log has {'50 or more' if len(raws) == 50 else len(raws)} outcomes; a report tells of {MOST_OUTCOMES} "
            "at most",
            where=f"{programme.path}, log.outcomes",
            hint="Group them, as in outcomes: {granted: [yes, partly], refused: [no]}.",
            private=_named(raws),
        )
    return raws


def _named(raws: list[str]) -> str:
    return f"The outcomes in the log: {', '.join(printable(raw) for raw in raws)}"


def _check_outcomes(warehouse: Warehouse, programme: Programme) -> None:
    log, where = programme.log, f"{programme.path}, log"
    raws = check_number_of_outcomes(warehouse, programme)
    if log.outcomes is None:
        occurring = {printable(raw) for raw in raws}
    else:
        occurring = {name for name, group in log.outcomes.items() if set(group) & set(raws)}
    if programme.policy.fidelity.kind == "ranges" and len(occurring) > 2:
        hint = "Use delta or alpha, or group the outcomes into two."
        raise ProgrammeError("a file of ranges is for two outcomes", where=f"{programme.path}, policy", hint=hint)
    if log.positive not in occurring:
        raise ProgrammeError("this outcome never occurs in the log", where=f"{where}.positive", private=_named(raws))
    if len(occurring) == 1:
        raise ProgrammeError(
            "the log has one outcome only, so there is nothing to report on",
            where=f"{where}.{'outcome' if log.outcomes is None else 'outcomes'}",
        )


def _occurs(warehouse: Warehouse, programme: Programme, name: str, reference: str) -> bool:
    attribute, column = programme.attributes[name], warehouse.layout().column(name)
    if attribute.bins is not None:
        i = attribute.categories.index(reference)
        low, high = (float("-inf"), *attribute.bins)[i], (*attribute.bins, float("inf"))[i]
        sql = f"SELECT 1 FROM decisions WHERE {column} >= $1 AND {column} < $2 LIMIT 1"
        return bool(warehouse.query(sql, [low, high]))
    shown = attribute.shown(reference)
    raws = warehouse.query(f"SELECT DISTINCT {column} FROM decisions WHERE {column} IS NOT NULL")
    return any(attribute.shown(raw) == shown for (raw,) in raws)
