"""The log in the programme file: where the decisions are, and what their columns mean."""

from __future__ import annotations

import re
from itertools import chain
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, StrictBool, Tag, field_validator, model_validator

from atr.core.fields import FaultAtError, Part, RawText, Share, Text, how_written, refuse
from atr.programme.measures import distinct
from atr.programme.words import Forms, PerLanguage, in_languages

MOST_OUTCOMES = 8
"""More make no readable report, and fairness looks at every set of outcomes."""
FORM = ("delimiter", "encoding", "decimal", "thousands", "date_format")
"""The keys of the log that say how files are written."""
EPOCHS = {"epoch_seconds": 6, "epoch_milliseconds": 3}
"""What ``log.date_format`` may say instead of a format, and how many decimals of it are microseconds."""
_DIRECTIVES = "YymbBdaAHIMSpfz%"
"""What a format may hold after ``%``: each means the same for everybody who reads it."""


_AN_ADDRESS = (
    "is the address of a database, which does not belong into a programme: put it into an environment variable, and "
    "name that, as in {database: CREDIT_DB, table: decisions}"
)


class Database(Part):
    """A table or a query of a database."""

    database: Text
    """A DuckDB or SQLite file (with a dot or a slash in it), or the name of an environment variable that holds the
    address of a PostgreSQL or MySQL database."""
    table: Text | None = None
    query: Text | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Database:
        if (self.table is None) == (self.query is None):
            raise FaultAtError("table", "a database needs either a table or a query")
        return self

    @field_validator("database")
    @classmethod
    def _no_address(cls, database: str) -> str:
        if "://" in database or re.search(r"\w\s*=", database):
            raise ValueError(_AN_ADDRESS)
        return database

    @property
    def variable(self) -> str | None:
        """The environment variable that has the address; None: the database is a file."""
        return self.database if re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", self.database) else None


def _kind_of_source(value: Any) -> str:
    return "[list]" if isinstance(value, list | tuple) else how_written(value)


_Source = Annotated[
    Annotated[Text, Tag("[plain]")]
    | Annotated[Annotated[tuple[Text, ...], Field(min_length=1)], Tag("[list]")]
    | Annotated[Database, Tag("[keys]")],
    Discriminator(_kind_of_source),
]


class Log(Part):
    """Where the decisions are and what their columns mean."""

    source: _Source
    delimiter: str | None = None
    encoding: Text | None = None
    decimal: Literal[".", ","] | None = None
    thousands: Literal[".", ",", " ", "'"] | None = None
    date_format: Text | None = None
    missing: tuple[RawText, ...] = ("",)
    id: Text | None = None
    revision: Text | None = None
    decided_at: Text | None = None
    outcome: Text
    outcomes: (
        Annotated[
            dict[Text, Annotated[tuple[RawText, ...], Field(min_length=1)]],
            Field(min_length=2, max_length=MOST_OUTCOMES),
        ]
        | None
    ) = None
    positive: Text
    outcome_phrases: PerLanguage[dict[Text, Forms]] | None = None
    counts: Text | None = None
    keep: StrictBool = False
    repeats: StrictBool = False
    max_quarantined: Share = 0.01
    coverage: Literal["sample", "whole"] = "sample"

    @field_validator("source")
    @classmethod
    def _no_address(cls, source: str | tuple[str, ...] | Database) -> str | tuple[str, ...] | Database:
        for text in () if isinstance(source, Database) else (source,) if isinstance(source, str) else source:
            scheme, found, rest = text.partition("://")
            if found and scheme != "s3":
                raise ValueError(_AN_ADDRESS if "sql" in scheme else "is an address that is not read: s3:// is")
            if found and re.search(r"\?[\w.-]+=", rest):
                raise ValueError("holds a setting, which does not belong into a programme: see AWS_ACCESS_KEY_ID")
            if found and "@" in rest.partition("/")[0]:
                raise ValueError("holds a password, which does not belong into a programme: see AWS_ACCESS_KEY_ID")
        return source

    @field_validator("delimiter")
    @classmethod
    def _parts_fields(cls, delimiter: str | None) -> str | None:
        if delimiter is not None and (len(delimiter) != 1 or delimiter.isalnum() or delimiter in '"\r\n\0\\'):
            raise ValueError("cannot stand between fields; write it as in ';', or \"\\t\" for tabs")
        return delimiter

    @field_validator("encoding")
    @classmethod
    def _of_texts(cls, encoding: str | None) -> str | None:
        try:
            known = encoding is None or "a;1\n".encode(encoding).decode(encoding) == "a;1\n"
        except (LookupError, ValueError):
            known = False
        if not known:
            raise ValueError("is no encoding of texts; write it as in cp1252, latin-1, utf-16")
        return encoding

    @field_validator("date_format")
    @classmethod
    def _names_a_day(cls, form: str | None) -> str | None:
        if form is None or form in EPOCHS:
            return form
        form = re.sub("(?<!%)Z$", "%z", form)  # as it stands, it means UTC
        found = re.findall("%(.?)", form, flags=re.DOTALL)
        unknown = [f"'%{directive}'" for directive in found if directive not in [*_DIRECTIVES]]
        if unknown:
            known = ", ".join(f"%{directive}" for directive in _DIRECTIVES)
            raise ValueError(f"{unknown[0]} is unknown; there are {known}, and the words {' and '.join(EPOCHS)}")
        if "d" not in found or not {"Y", "y"} & {*found} or not {"m", "b", "B"} & {*found}:
            raise ValueError("a format needs the day, the month and the year, as in %d.%m.%Y")
        if ("I" in found) != ("p" in found) or {"I", "H"} <= {*found}:
            raise ValueError("hours are written %H (0 to 23), or %I (1 to 12) with %p (AM or PM)")
        return form

    @field_validator("outcomes")
    @classmethod
    def _disjoint(cls, outcomes: dict[str, tuple[str, ...]] | None) -> dict[str, tuple[str, ...]] | None:
        distinct(tuple(chain.from_iterable((outcomes or {}).values())))
        return outcomes

    @model_validator(mode="after")
    def _consistent(self) -> Log:
        without_id = "is for rows of one decision: name their id in log.id"
        refuse(
            (
                self.outcomes is not None and self.positive not in self.outcomes,
                f"'{self.positive}' is not one of the outcomes ({', '.join(self.outcomes or ())})",
                "positive",
            ),
            *(
                (
                    self.outcomes is not None and outcome not in self.outcomes,
                    f"'{outcome}' is not one of the outcomes ({', '.join(self.outcomes or ())})",
                    "outcome_phrases",
                )
                for outcome in chain.from_iterable(in_languages(self.outcome_phrases, "").values())
            ),
            (
                self.thousands is not None and self.thousands == (self.decimal or "."),
                "is the decimal sign too (a point, if log.decimal names no other)",
                "thousands",
            ),
            (self.revision is not None and self.id is None, without_id, "revision"),
            (
                self.counts is not None and (self.id is not None or self.keep),
                "a log of counts has neither ids nor files to keep",
                "counts",
            ),
            (
                self.keep and isinstance(self.source, Database),
                "is for files that are deleted after reading: a database is read anew in every run",
                "keep",
            ),
        )
        return self

    @property
    def sources(self) -> tuple[str, ...]:
        """Files, folders and patterns of them, or a database with its table or query."""
        if isinstance(self.source, Database):
            return (f"{self.source.database}: {self.source.table or self.source.query}",)
        return (self.source,) if isinstance(self.source, str) else self.source

    @property
    def in_files(self) -> bool:
        """Whether the sources are paths, or addresses of objects, and no server's."""
        return not isinstance(self.source, Database) or self.source.variable is None

    @property
    def form(self) -> dict[str, str | None]:
        """How files are written: all keys that say it, None where the usual form is meant."""
        return {name: getattr(self, name) for name in FORM}
