"""The files that the warehouse mirrors, held against those of the log."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from atr.ingest.sources import natural
from atr.ingest.sources.base import Part
from atr.warehouse.connection import Warehouse


@dataclass(frozen=True)
class File:
    """A file as the warehouse holds it: its number, name, key and state; see :class:`atr.ingest.sources.base.Part`.

    ``compared`` says whether it was held against the others for copies.
    """

    file: int
    name: str
    key: str | None
    state: str | None
    compared: bool = False


class ToRead(NamedTuple):
    """A part that is to be read, the number of its file, and what it was before it was hashed."""

    part: Part
    file: int
    state: tuple[int, ...] | None


@dataclass(frozen=True)
class Plan:
    """What is to be done so that the warehouse mirrors the log.

    Parameters
    ----------
    known, files
        The files that the warehouse held, and is to hold, in the order of the log.
    parts
        The parts of the log, by the numbers of their files.
    to_read
        Those that are to be read.
    leaving, moved
        The numbers of files whose rows are to leave, and of those that have another name or place now.
    """

    known: tuple[File, ...]
    files: tuple[File, ...]
    parts: Mapping[int, Part]
    to_read: tuple[ToRead, ...]
    leaving: frozenset[int]
    moved: frozenset[int]

    @property
    def new(self) -> frozenset[int]:
        """The numbers of the files that are to be read."""
        return frozenset(read.file for read in self.to_read)

    @property
    def changes(self) -> tuple[int, int, int]:
        """How many files are new, changed, that is with other content under the same name, and gone."""
        read = {read.part.name for read in self.to_read}
        left = {known.name for known in self.known if known.file in self.leaving}
        return len(read - left), len(read & left), len(left - read)


def plan(warehouse: Warehouse, found: Sequence[Part], *, keep: bool) -> Plan:
    """Hold the parts of a log against the files that the warehouse mirrors.

    A file is known by its content, whatever it is called now; it is not hashed if nothing about it changed. Where rows
    of files that are gone stay and have no ids, equal content under another name is another file.

    Parameters
    ----------
    warehouse
        With a mirror.
    found
        The parts of the log.
    keep
        Whether rows of files that are gone, or replaced, stay. Of files of one name, that which is there comes last.
    """
    known = tuple(File(*row) for row in warehouse.query("SELECT * EXCLUDE (place) FROM files ORDER BY file"))
    before = {part.name: part.found() for part in found}
    states = {part.name: part.state() for part in found}
    named = {(file.name, file.state): file for file in known}
    keys: dict[str, str | None] = {}
    for part in found:
        same = named.get((part.name, states[part.name]))
        keys[part.name] = part.key() if same is None or same.state is None else same.key
    parts = _known_again(known, found, keys, across_names=not keep or warehouse.layout().id is not None)
    again = {part.name for part in parts.values()}
    first = max((file.file for file in known), default=0) + 1
    to_read = tuple(
        ToRead(part, number, before[part.name])
        for number, part in enumerate((part for part in found if part.name not in again), start=first)
    )
    leaving = frozenset(file.file for file in known if file.file not in parts and not keep)
    files = [
        replace(file, name=parts[file.file].name, state=states[parts[file.file].name]) if file.file in parts else file
        for file in known
        if file.file not in leaving
    ]
    parts |= {read.file: read.part for read in to_read}
    files += [File(read.file, read.part.name, keys[read.part.name], states[read.part.name]) for read in to_read]
    files.sort(key=lambda file: (natural(file.name), file.file in parts, file.file))
    moved = _moved(warehouse, files)
    return Plan(known, tuple(files), parts, to_read, leaving, moved)


def _known_again(
    known: Sequence[File], found: Sequence[Part], keys: Mapping[str, str | None], *, across_names: bool
) -> dict[int, Part]:
    """Find the files that are parts of the log again: by name and content, then by content."""
    numbers = defaultdict[tuple[str | None, str], list[int]](list)
    for file in known:
        numbers[file.name, file.key or ""].append(file.file)
    again: dict[int, Part] = {}
    for part in found:
        if keys[part.name] and (same := numbers[part.name, keys[part.name] or ""]):
            again[same.pop()] = part
    if not across_names:
        return again
    for file in known:
        if file.key and file.file not in again:
            numbers[None, file.key].append(file.file)
    in_place = {part.name for part in again.values()}
    for part in found:
        if part.name not in in_place and keys[part.name] and (same := numbers[None, keys[part.name] or ""]):
            again[same.pop()] = part
    return again


def _moved(warehouse: Warehouse, files: Sequence[File]) -> frozenset[int]:
    """Find the files that stand otherwise among the others than before; a superset, of no more than is likely."""
    rows = warehouse.query("SELECT file, name, place FROM files")
    places, names = {file: place for file, _, place in rows}, {file: name for file, name, _ in rows}
    there = [file for file in files if file.file in places]
    if [file.file for file in there] == sorted((file.file for file in there), key=places.__getitem__):
        return frozenset()
    of_name = Counter(file.name for file in there)
    return frozenset(file.file for file in there if names[file.file] != file.name or of_name[file.name] > 1)


def write_files(warehouse: Warehouse, files: Sequence[File]) -> None:
    """Write down the files that the warehouse holds now, in the order of the log."""
    warehouse.connection.execute("DELETE FROM files")
    rows = [[file.file, file.name, file.key, file.state, file.compared, place] for place, file in enumerate(files)]
    if rows:
        warehouse.connection.executemany("INSERT INTO files VALUES ($1, $2, $3, $4, $5, $6)", rows)
