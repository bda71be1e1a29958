"""The tables that mirror a log, and the part of a programme that decides what they hold."""

from __future__ import annotations

from itertools import chain
from typing import Literal

from pydantic import BaseModel

from atr.programme import Programme
from atr.programme.periods import rules_of

MIRROR = """
CREATE TABLE mirror (layout VARCHAR NOT NULL);
CREATE TABLE files (
    file INTEGER NOT NULL, name VARCHAR NOT NULL, key VARCHAR, state VARCHAR, compared BOOLEAN NOT NULL,
    place INTEGER NOT NULL);
CREATE TABLE log_rows (
    file INTEGER NOT NULL, line BIGINT NOT NULL, fate USMALLINT NOT NULL, id_number BIGINT, id_text VARCHAR,
    id VARCHAR GENERATED ALWAYS AS (coalesce(id_text, id_number::VARCHAR)) VIRTUAL,
    id_hash UBIGINT GENERATED ALWAYS AS (hash(id_number, id_text)) VIRTUAL,
    decided_on DATE, outcome VARCHAR, {columns}, cleaned BIGINT NOT NULL, raw VARCHAR);
CREATE VIEW decisions AS SELECT * FROM log_rows WHERE fate = 0;
CREATE TABLE meanings (fate USMALLINT NOT NULL, meaning VARCHAR NOT NULL);
INSERT INTO meanings VALUES (0, 'decision'), (1, 'duplicate'), (2, 'correction');
CREATE TABLE fates (file INTEGER NOT NULL, fate VARCHAR NOT NULL, rows BIGINT NOT NULL);
CREATE TABLE cleaned (file INTEGER NOT NULL, bits BIGINT NOT NULL, rows BIGINT NOT NULL);
CREATE TABLE conflicts (earlier INTEGER NOT NULL, counts INTEGER NOT NULL, ids BIGINT NOT NULL);
CREATE TABLE cells (file INTEGER NOT NULL, name VARCHAR NOT NULL, raw VARCHAR, decisions BIGINT NOT NULL);
CREATE TABLE spelt (file INTEGER NOT NULL, shortest BIGINT, longest BIGINT, rounded BOOLEAN NOT NULL);
CREATE TABLE days (file INTEGER NOT NULL, day DATE, decisions BIGINT NOT NULL);
"""
"""The log as it was read. ``log_rows`` has every row of every file with its ``fate``, which ``meanings`` says in words:
it is a decision, a duplicate or a correction (an earlier row of an id that another row counts for), or why it is
quarantined; ``raw`` is what it said then. An ``id`` written as programs write whole numbers is kept as one, which takes
half the time of texts. ``files`` has what each file was, and its ``place`` in the order of the log.
The other tables are sums over these two, made again for the files that change, so that a run with nothing new to read
looks at no row: rows by ``fate``, rows of which the cells with these ``bits`` were cleaned, ids with rows that differ,
decisions by the texts of their outcome and attributes, how long texts are that are ids and may be numbers, and whether
some are rounded, and decisions by day."""

LAST_BIT = 62
"""Of ``cleaned``: all cells of a row from this one on share it."""
USABLE = ("decision", "duplicate", "correction")
"""The fates of rows that are not quarantined, by number."""
OUTCOME = ""
"""What ``cells`` calls the outcome, which is no attribute."""


class Layout(BaseModel, frozen=True):
    """The part of a programme that decides what rows become. With another layout the whole log is read again.

    Bins, display names and the grouping of outcomes are not in it: they are applied when decisions are counted.
    """

    made_by: Literal[2] = 2
    """Grows when the same log would be read in another way."""
    id: str | None
    revision: str | None
    decided_at: str | None
    timezone: str | None
    rules: str | None
    """Of the time zone; with other rules a decision may be on another day. None where rows are kept that cannot be read
    again: their days stay."""
    outcome: str
    outcomes: tuple[str, ...] | None
    counts: str | None
    missing: tuple[str, ...]
    form: dict[str, str | None]
    """How files are written; see :attr:`atr.programme.series.Log.form`."""
    attributes: dict[str, bool]
    """Name to whether it is a number. The attribute at position ``i`` is the column ``ai``."""

    @classmethod
    def of(cls, programme: Programme) -> Layout:
        """Give the layout that a programme asks for."""
        log, timezone = programme.log, programme.period.timezone
        return cls(
            id=log.id,
            revision=log.revision,
            decided_at=log.decided_at,
            timezone=timezone,
            rules=None if timezone is None or log.decided_at is None or log.keep else rules_of(timezone),
            outcome=log.outcome,
            outcomes=None if log.outcomes is None else tuple(sorted(chain.from_iterable(log.outcomes.values()))),
            counts=log.counts,
            missing=tuple(sorted(set(log.missing))),
            form=log.form,
            attributes={name: a.bins is not None for name, a in programme.attributes.items()},
        )

    @property
    def keys(self) -> dict[str, str]:
        """The columns a log must have, and the programme's keys that name them."""
        log = {name: getattr(self, name) for name in ("id", "revision", "decided_at", "outcome", "counts")}
        named = {column: f"log.{name}" for name, column in log.items() if column is not None}
        return named | {name: f"attributes.{name}" for name in self.attributes}

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of ``log_rows`` that hold the attributes."""
        return tuple(f"a{i}" for i in range(len(self.attributes)))

    @property
    def tables(self) -> str:
        """SQL that makes the tables, empty."""
        numbers = self.attributes.values()
        columns = {c: "DOUBLE" if number else "VARCHAR" for c, number in zip(self.columns, numbers, strict=True)}
        columns |= {"revision": "DECIMAL(38, 9)", "revised_as": "VARCHAR"} if self.revision is not None else {}
        columns |= {"people": "BIGINT NOT NULL"} if self.counts is not None else {}
        return MIRROR.format(columns=", ".join(f"{name} {type}" for name, type in columns.items()))

    @property
    def people(self) -> str:
        """SQL of how many decisions some rows stand for."""
        return "count(*)" if self.counts is None else "sum(people)"

    @property
    def content(self) -> str:
        """SQL of all that a row says of a decision."""
        return f"struct_pack({', '.join(f'{c} := {c}' for c in ('decided_on', 'outcome', *self.columns))})"

    @property
    def texts(self) -> dict[str, str]:
        """The outcome and the attributes that are no numbers, and their columns of ``log_rows``."""
        columns = zip(self.attributes.items(), self.columns, strict=True)
        return {OUTCOME: "outcome"} | {name: column for (name, number), column in columns if not number}

    def column(self, attribute: str) -> str:
        """The column that holds an attribute."""
        return f"a{list(self.attributes).index(attribute)}"
