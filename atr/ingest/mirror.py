"""The files that the warehouse mirrors, held against those of the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from atr.ingest.sources import natural
from atr.ingest.sources.base import Part
from atr.warehouse.connection import Warehouse


@dataclass(frozen=True)
class File:
    """A file as the warehouse holds it: its number, name, key and state; see :class:`atr.ingest.sources.base.Part`."""

    file: int
    name: str
    key: str | None
    state: str | None


@dataclass(frozen=True)
class Plan:
    """What is to be done so that the warehouse mirrors the log.

    Parameters
    ----------
    known, files
        The files that the warehouse held, and is to hold.
    to_read
        The parts that are to be read, each with the number of its file.
    leaving, moved
        The numbers of files whose rows are to leave, and of those that have another name now.
    """

    known: tuple[File, ...]
    files: tuple[File, ...]
    to_read: tuple[tuple[Part, int], ...]
    leaving: frozenset[int]
    moved: frozenset[int]

    @property
    def new(self) -> frozenset[int]:
        """The numbers of the files that are to be read."""
        return frozenset(file for _, file in self.to_read)

    @property
    def changes(self) -> tuple[int, int, int]:
        """How many files are new, changed, that is with other content under the same name, and gone."""
        read = {part.name for part, _ in self.to_read}
        left = {known.name for known in self.known if known.file in self.leaving}
        return len(read - left), len(read & left), len(left - read)


def plan(warehouse: Warehouse, found: Sequence[Part], *, keep: bool) -> Plan:
    """Hold the parts of a log against the files that the warehouse mirrors.

    A file is known by its content, whatever it is called now; it is not hashed if nothing about it changed.

    Parameters
    ----------
    warehouse
        With a mirror.
    found
        The parts of the log.
    keep
        Whether rows of files that are gone, or replaced, stay.
    """
    known = tuple(File(*row) for row in warehouse.query("SELECT file, name, key, state FROM files ORDER BY file"))
    named = {file.name: file for file in known}
    states = {part.name: part.state() for part in found}
    keys: dict[str, str | None] = {}
    for part in found:
        before, state = named.get(part.name), states[part.name]
        keys[part.name] = before.key if before and state and before.state == state else part.key()
    stay: dict[int, Part] = {
        named[part.name].file: part
        for part in found
        if part.name in named and keys[part.name] and named[part.name].key == keys[part.name]
    }
    in_place, elsewhere = {part.name for part in stay.values()}, defaultdict[str | None, list[int]](list)
    for file in known:
        if file.file not in stay:
            elsewhere[file.key].append(file.file)
    moved: set[int] = set()
    to_read: list[tuple[Part, int]] = []
    for part in (part for part in found if part.name not in in_place):
        if keys[part.name] and elsewhere[keys[part.name]]:
            moved.add(file_number := elsewhere[keys[part.name]].pop())
            stay[file_number] = part
        else:
            to_read.append((part, max([*stay, *(file.file for file in known), 0]) + len(to_read) + 1))
    leaving = frozenset(file.file for file in known if file.file not in stay and not keep)
    files = [
        File(file.file, stay[file.file].name, file.key, states[stay[file.file].name]) if file.file in stay else file
        for file in known
        if file.file not in leaving
    ]
    files += [File(number, part.name, keys[part.name], states[part.name]) for part, number in to_read]
    return Plan(known, tuple(files), tuple(to_read), leaving, frozenset(moved))


def write_files(warehouse: Warehouse, plan: Plan) -> None:
    """Write down the files that the warehouse holds now, and the place of each in the order of the log."""
    if plan.files == plan.known:
        return
    names = sorted({file.name for file in (*plan.files, *plan.known)}, key=natural)
    places = {name: place for place, name in enumerate(names)}
    warehouse.connection.execute("DELETE FROM files")
    warehouse.connection.executemany(
        "INSERT INTO files VALUES ($1, $2, $3, $4, $5)",
        [[file.file, file.name, file.key, file.state, places[file.name]] for file in plan.files],
    )
