"""Whether a programme fits what was ingested."""

from __future__ import annotations

from atr.core.display_text import printable
from atr.errors import IngestError, ProgrammeError
from atr.programme import MOST_OUTCOMES, Programme
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import displayed, raw_values
from atr.warehouse.layout import OUTCOME


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


def _check_outcomes(warehouse: Warehouse, programme: Programme) -> None:
    log, where = programme.log, f"{programme.path}, log"
    raws = raw_values(warehouse, OUTCOME, None if log.outcomes is not None else 50)
    named = f"The outcomes in the log: {', '.join(printable(raw) for raw in raws[:50])}"
    if log.outcomes is None and len(raws) > MOST_OUTCOMES:
        raise ProgrammeError(
            f"the log has {'50 or more' if len(raws) == 50 else len(raws)} outcomes; a report tells of {MOST_OUTCOMES} "
            "at most",
            where=f"{where}.outcomes",
            hint="Group them, as in outcomes: {granted: [yes, partly], refused: [no]}.",
            private=named,
        )
    grouped = {raw: name for name, group in (log.outcomes or {}).items() for raw in group}
    occurring = {printable(raw) if log.outcomes is None else grouped.get(raw) for raw in raws} - {None}
    for file in (file for file in programme.policy.files if file.beyond_two and len(occurring) > 2):
        hint = f"{file.beyond_two.capitalize()}, or group the outcomes into two."
        raise ProgrammeError(f"a {file.kind} is for two outcomes", where=f"{programme.path}, policy", hint=hint)
    if log.positive not in occurring:
        raise ProgrammeError("this outcome never occurs in the log", where=f"{where}.positive", private=named)
    if len(occurring) == 1:
        raise ProgrammeError(
            "the log has one outcome only, so there is nothing to report on",
            where=f"{where}.{'outcome' if log.outcomes is None else 'outcomes'}",
        )
