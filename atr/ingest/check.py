"""Whether a programme fits what was ingested."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable

from atr.core.display_text import CONTROL, UNKNOWN, printable
from atr.errors import IngestError, ProgrammeError
from atr.programme import MOST_OUTCOMES, Programme
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import displayed, raw_values
from atr.warehouse.layout import OUTCOME

_LONG = 80
"""More letters are long for a table."""
_MANY = 0.1
"""A larger share of corrections is rarely meant."""
_MOST_VALUES = 10_000
"""Of an attribute, as many are looked at."""


def check_log(warehouse: Warehouse, programme: Programme) -> None:
    """Check that the programme fits all that was ingested.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        What is held against it.

    Raises
    ------
    ProgrammeError
        If an outcome never occurs, too many are not grouped, a number has no bins, or a reference is nobody's.
    IngestError
        If the log has no decisions.
    """
    if not warehouse.query("SELECT 1 FROM days LIMIT 1"):
        raise IngestError("the log has no decisions", where=f"{programme.path}, log.source")
    _check_outcomes(warehouse, programme)
    for name, attribute in programme.attributes.items():
        where, named = f"{programme.path}, attributes.{name}", attribute.named_reference
        if attribute.bins is None and attribute.values is None:
            ((numeric,),) = warehouse.query(
                "SELECT bool_and(regexp_full_match(raw, $1)) FROM cells WHERE name = $2 AND raw IS NOT NULL",
                [r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", name],
            )
            if numeric:
                raise ProgrammeError(
                    "every value in the log is a number: give bins, or list its values",
                    where=where,
                    hint='As in bins: [1, 4, 11], or values: {"0": no, "1": yes}.',
                )
        if named is not None and named not in (shown := displayed(warehouse, programme, name)):
            raise ProgrammeError(
                f"the reference '{attribute.reference}' occurs nowhere in the log",
                where=f"{where}.reference",
                hint=f"Is one of the log's values missing in {name}.values?" if attribute.values else "",
                private=f"The log has {', '.join(shown[:20])}.",
            )


def remarks(warehouse: Warehouse, programme: Programme) -> list[str]:
    """Tell what is no mistake, but likely not meant.

    Such are values that readers cannot tell apart, cannot see, or have no room for; ranges and rows of hierarchies for
    values that occur nowhere; and hierarchies that nothing is done with.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        What is held against it.

    Returns
    -------
    Sentences without a full stop. For the person at the keyboard: they quote values of the log.
    """
    found = []
    ((corrections, rows),) = warehouse.query(
        "SELECT coalesce(sum(rows) FILTER (fate = 'correction'), 0), coalesce(sum(rows), 0) FROM fates"
    )
    if corrections > _MANY * rows:
        found.append(
            f"log.id: {corrections:,} of {rows:,} rows replaced an earlier one of the same id; is it the id of a "
            "decision?"
        )
    for name, attribute in programme.attributes.items():
        if attribute.bins is not None:
            found += _without_use(programme, name, [*attribute.categories, UNKNOWN])
        else:
            raws, named = raw_values(warehouse, name, _MOST_VALUES), attribute.values or {}
            shown, undeclared = sorted({*map(attribute.shown, raws)}), [raw for raw in raws if raw not in named]
            found += _without_use(programme, name, [*shown, UNKNOWN])
            found += _misspelt(name, named, undeclared, raws)
            found += _hard_to_read(name, shown, undeclared)
    return found


def _hard_to_read(attribute: str, shown: list[str], undeclared: list[str]) -> list[str]:
    """Values that readers cannot tell apart, cannot see, or have no room for."""
    alike: dict[str, list[str]] = {}
    for value in shown:
        alike.setdefault(" ".join(unicodedata.normalize("NFKC", value).split()), []).append(value)
    found = [
        f"attributes.{attribute}: {', '.join(map(repr, values))} look alike and are counted apart; see `values`"
        for values in alike.values()
        if len(values) > 1
    ]
    odd = [raw for raw in undeclared if CONTROL.search(raw)]
    if odd:
        found.append(f"attributes.{attribute}: {min(odd)!a} has characters that cannot be printed")
    longest = max(shown, key=len, default="")
    if len(longest) > _LONG:
        found.append(f"attributes.{attribute}: a value has {len(longest)} letters, '{longest[:30]}…'; see `values`")
    return found


def _misspelt(attribute: str, values: Iterable[str], undeclared: list[str], raws: list[str]) -> list[str]:
    """Declared values that occur nowhere, where the log has some like them that are not declared."""
    near = ((value, _nearest(value, undeclared)) for value in values if value not in raws)
    return [
        f"attributes.{attribute}.values: {value!r} occurs nowhere in the log, which has {like!r}"
        for value, like in near
        if like is not None
    ]


def _without_use(programme: Programme, attribute: str, shown: list[str]) -> list[str]:
    """What further files say of an attribute that no report can use."""
    found = []
    hierarchy, key = programme.attributes[attribute].coarser, f"attributes.{attribute}.hierarchy"
    coarsens = programme.policy.unattainable == "coarsen"
    if hierarchy is not None:
        if not coarsens:
            found.append(f"{key}: is used only with policy.unattainable: coarsen")
        found += _strangers(key, set(hierarchy.coarser), shown)
    coarse = hierarchy.coarse if hierarchy is not None and coarsens else ()
    for file in (file for file in programme.policy.files if file.fits_log):
        table = file.read()
        named = {values[table.attributes.index(attribute)] for values in table.rows}
        found += _strangers(".".join(("policy", *file.keys)), named, [*shown, *coarse], f" in '{attribute}'")
    return found


def _strangers(key: str, named: set[str], shown: list[str], where: str = "") -> list[str]:
    """The first of the values that a file names and no report can show."""
    strangers = sorted(named - set(shown))
    if not strangers:
        return []
    like = _nearest(strangers[0], shown)
    hint = "" if like is None else f"; did you mean {like!r}?"
    return [f"{key}: no report can show {strangers[0]!r}{where}{hint}"]


def _nearest(value: str, others: list[str]) -> str | None:
    """The value among others that this one is likely meant to be."""
    near = difflib.get_close_matches(value.casefold(), [other.casefold() for other in others], n=1)
    return next((other for other in others if other.casefold() in near), None)


def _few_outcomes(warehouse: Warehouse, programme: Programme) -> list[str]:
    """Check that the outcomes in the log are few enough for a report.

    Parameters
    ----------
    warehouse
        With the log ingested.
    programme
        What is held against it.

    Returns
    -------
    The outcomes in the log, up to 50.

    Raises
    ------
    ProgrammeError
        If more outcomes than a report can tell of are not grouped.
    """
    raws = raw_values(warehouse, OUTCOME, 50)
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
    raws = _few_outcomes(warehouse, programme)
    grouped = {raw: name for name, group in (log.outcomes or {}).items() for raw in group}
    occurring = {printable(raw) if log.outcomes is None else grouped.get(raw) for raw in raws} - {None}
    for file in (file for file in programme.policy.files if file.beyond_two and len(occurring) > 2):
        hint = f"{file.beyond_two.capitalize()}, or group the outcomes into two."
        raise ProgrammeError(f"a {file.kind} is for two outcomes", where=f"{programme.path}, policy", hint=hint)
    if log.positive not in occurring:
        raise ProgrammeError("this outcome never occurs in the log", where=f"{where}.positive", private=_named(raws))
    if len(occurring) == 1:
        raise ProgrammeError(
            "the log has one outcome only, so there is nothing to report on",
            where=f"{where}.{'outcome' if log.outcomes is None else 'outcomes'}",
        )
