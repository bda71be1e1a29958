"""What is public of released records: ``channel.json``, the value that every document on them is rendered from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from atr.core.arrays import FloatArray, IntArray
from atr.programme.released import Bound
from atr.report.model import Beside, PeriodInfo, ProgrammeInfo
from atr.report.model.base import Frozen, People, Share, Sparse

SCHEMA: Literal["atr-records/1"] = "atr-records/1"
CHANNEL = "channel.json"
FILES = ("records.csv", "records.parquet")
NOTE, NOTE_PDF = "note.html", "note.pdf"
SPELLED_OUT = 20
"""The transition probabilities of up to so many values are written out; those of more follow from α and the totals."""

Value = str | float | None
"""Of the released column; None: a missing number."""
Nats = Annotated[float, Field(ge=0)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Told(Frozen):
    """What a column tells of what is hidden, in nats, rounded up; None where it is infinite.

    ``ldp`` and ``log_lift`` are of the group that is worst, ``mutual_information`` is the mean over people.
    """

    ldp: Nats | None
    log_lift: Nats | None
    mutual_information: Nats


class GroupChannel(Frozen):
    """How the column was altered for the people of one group.

    ``values`` are the public attributes that they share and that their rows have, ``pooled`` says whether the group was
    joined of smaller ones. ``totals`` are the people with each value of the column before, in the order of
    :attr:`PublicRecords.values`; each is what is expected of the file too. ``transition`` has the chance of each value
    released, by the value before.
    """

    values: dict[str, str]
    pooled: bool
    people: Annotated[int, Field(ge=1, le=10**12)]
    alpha: Share
    totals: tuple[People, ...]
    transition: Sparse[tuple[tuple[Share, ...], ...]] = ()

    @property
    def shares(self) -> FloatArray:
        """(x,) the share of each value."""
        return np.array(self.totals) / self.people

    @property
    def markov(self) -> FloatArray:
        """(x, y) P(Y|X): a value is drawn anew from those of the group with chance α."""
        return (1 - self.alpha) * np.eye(len(self.totals)) + self.alpha * self.shares

    @property
    def markov_variance(self) -> FloatArray:
        """(y,) the variance of the rows with each released value, which are drawn one by one by :attr:`markov`."""
        drawn = self.alpha * self.shares
        stays = 1 - self.alpha + drawn
        return self.people * (self.shares * stays * (1 - stays) + (1 - self.shares) * drawn * (1 - drawn))


class PublicRecords(Frozen):
    """What is said of released records.

    ``attributes`` are the columns that were not altered, ``hidden`` what the released column tells no more of than
    ``bounds`` (in nats), ``not_covered`` further sensitive attributes, of which nothing is promised. ``channel`` is
    ``best`` only where no reader is taken to know a person's own value; its transitions look at what is hidden and are
    not told. ``positive`` is the favourable outcome, where the column is the log's outcome. ``loss`` is the share of
    rows that are expected to be altered. ``sha256`` has the hashes of :data:`FILES`: that of ``channel.json`` stands
    for the rows too.
    """

    schema_: Annotated[Literal["atr-records/1"], Field(alias="schema")] = SCHEMA
    programme: ProgrammeInfo
    period: PeriodInfo
    version: Annotated[int, Field(ge=1)]
    date: str
    column: str
    numeric: bool
    attributes: tuple[str, ...]
    hidden: Annotated[tuple[str, ...], Field(min_length=1)]
    not_covered: tuple[str, ...]
    titles: dict[str, str]
    channel: Literal["markov", "best"]
    distance: Literal["hamming", "ordinal", "squared"]
    bounds: dict[Bound, Nats]
    values: Annotated[tuple[Value, ...], Field(min_length=1)]
    positive: Sparse[str | None] = None
    people: People
    groups: tuple[GroupChannel, ...]
    before: Told
    after: Told
    loss: Share
    beside: tuple[Beside, ...] = ()
    sha256: dict[str, Sha256]

    @property
    def alpha(self) -> float:
        """The largest α of any group."""
        return max(group.alpha for group in self.groups)

    @property
    def totals(self) -> IntArray:
        """(x,) the people with each value, and the rows that are expected to have it."""
        return np.asarray(np.sum([group.totals for group in self.groups], axis=0))

    @property
    def drawn_anew(self) -> float:
        """The share of rows that a Markov channel is expected to draw anew, with the same value or another."""
        return sum(group.alpha * group.people for group in self.groups) / self.people

    @property
    def standard_errors(self) -> FloatArray:
        """(y,) how far the rows with each value are typically from :attr:`totals`, in people.

        Of the best channel, which is not told, the most that it can be: no more than α P(x) (1 - P(x)) of the people of
        a group are expected to leave a value, and as many to come to it.
        """
        best = self.channel == "best"
        of_groups = [
            2 * group.alpha * np.array(group.totals) * (1 - group.shares) if best else group.markov_variance
            for group in self.groups
        ]
        return np.asarray(np.sqrt(np.sum(of_groups, axis=0)))

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the file."""
        return (*self.attributes, self.column)

    def to_json(self) -> str:
        """The text of ``channel.json``."""
        content = self.model_dump(mode="json", by_alias=True)
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def read(path: Path) -> PublicRecords:
    """Read a ``channel.json``.

    Raises
    ------
    ValueError
        If it is none.
    """
    return PublicRecords.model_validate_json(path.read_bytes(), strict=True)
