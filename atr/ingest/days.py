"""On which day a decision was made."""

from __future__ import annotations

from dataclasses import dataclass

from atr.ingest.sources.base import Column
from atr.warehouse.connection import Parameters

MOMENT = (
    r"^(\d{4}-\d\d-\d\d)"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(:[0-5]\d(?:\.\d{1,9})?)? ?(Z|[+-](?:0\d|1[0-5])(?::?[0-5]\d)?)?)?$"
)
"""A day, or a day and a time, with or without a zone."""


@dataclass(frozen=True)
class Dating:
    """SQL of the day of a decision, in three steps, each of which may use the names of those before.

    Parameters
    ----------
    shape, day
        The parts of the text as ``shape``, and ``day`` as it is written.
    decided_on
        The day where the programme is; NULL if it cannot be read.
    without_zone
        Whether it is not known where the day is meant.
    """

    shape: str
    day: str
    decided_on: str
    without_zone: str


def dating(column: Column, timezone: str | None, p: Parameters) -> Dating:
    """Say how to find the day of a decision.

    Parameters
    ----------
    column
        That tells when; its text is ``moment`` where the SQL is used.
    timezone
        Of the programme, whose days are meant; None: UTC, and every moment must tell its zone.
    p
        The parameters of the statement.
    """
    return Dating(
        shape=f"regexp_extract(moment, '{MOMENT}', ['day', 'time', 'seconds', 'zone'])",
        day="TRY_CAST(shape.day AS DATE)",
        decided_on=f"""
            CASE WHEN day BETWEEN DATE '0001-01-02' AND DATE '9998-12-30' THEN
                CASE WHEN shape.zone <> '' THEN (
                    TRY_CAST(concat(shape.day, ' ', shape.time, if(shape.seconds = '', ':00', shape.seconds),
                                    replace(shape.zone, 'Z', '+00')) AS TIMESTAMPTZ)
                    AT TIME ZONE {p.mark(timezone or "UTC")})::DATE
                ELSE day END
            END""",
        without_zone="shape.zone = ''",
    )
