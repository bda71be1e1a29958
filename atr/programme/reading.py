"""Reading a programme file, and the files that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from atr.errors import ProgrammeError
from atr.programme.faults import Loc, Place, in_words, parse
from atr.programme.hierarchies import read as read_hierarchy
from atr.programme.ranges import read as read_ranges
from atr.programme.series import Programme
from atr.programme.side_information import read as read_side_information


def load(path: str | Path) -> Programme:
    """Read and validate a programme file, and the files of ranges, hierarchies and side information it names.

    Parameters
    ----------
    path
        The YAML file.

    Raises
    ------
    ProgrammeError
        Naming the line and the key of every fault found.
    """
    path = located(path)
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        raise ProgrammeError("there is no such file", where=str(path), hint="`atr init` writes an example.") from None
    except UnicodeDecodeError:
        raise ProgrammeError("is not UTF-8 text: save it as UTF-8", where=str(path)) from None
    except OSError as error:
        raise ProgrammeError(f"cannot be read ({error})", where=str(path)) from None
    data, places = parse(text, path)
    try:
        programme = Programme.model_validate(data)
        programme._path = path.resolve()
    except ValidationError as error:
        raise in_words(error, places, path) from None
    programme._sha256 = hashlib.sha256(content).hexdigest()
    for name, attribute in programme.attributes.items():
        if attribute.hierarchy is not None:
            _load_hierarchy(programme, name, where=_where(path, places, "attributes", name, "hierarchy"))
    if programme.policy.fidelity.ranges is not None:
        _load_ranges(programme, where=_where(path, places, "policy", "fidelity", "ranges"))
    if programme.policy.known_from is not None:
        _load_side_information(programme, where=_where(path, places, "policy", "side_information"))
    return programme


def located(path: str | Path) -> Path:
    """The programme file that its own path names, or that of its folder.

    Raises
    ------
    ProgrammeError
        If the machine cannot have such a path.
    """
    try:
        return Path(path, "programme.yaml") if Path(path).is_dir() else Path(path)
    except (OSError, ValueError) as error:
        raise ProgrammeError(f"cannot be read ({error})", where=str(path)[:200]) from None


def _where(path: Path, places: Mapping[Loc, Place], *loc: str) -> str:
    return f"{path}, line {places[loc][0]}, {'.'.join(loc)}"


def _load_hierarchy(programme: Programme, name: str, *, where: str) -> None:
    attribute = programme.attributes[name]
    found = read_hierarchy(_existing(programme, attribute.hierarchy or "", where=where))
    missing = [value for value in attribute.categories if value not in found.coarser]
    if missing:
        raise ProgrammeError(f"has no row for '{missing[0]}', a value of {name}", where=str(found.path))
    attribute._coarser = found
    _sign(programme, found.sha256)


def _load_ranges(programme: Programme, *, where: str) -> None:
    fidelity = programme.policy.fidelity
    path = _existing(programme, fidelity.ranges or "", where=where)
    fidelity._table = read_ranges(path, (*programme.names(role="public"), *programme.names(role="sensitive")))
    _sign(programme, fidelity._table.sha256)


def _load_side_information(programme: Programme, *, where: str) -> None:
    source = programme.policy.known_from
    if source is not None:
        path = _existing(programme, source.file, where=where)
        source._table = read_side_information(
            path, (*programme.names(role="public"), *programme.names(role="sensitive"))
        )
        _sign(programme, source._table.sha256)


def _existing(programme: Programme, name: str, *, where: str) -> Path:
    path = programme._resolve(name)
    if not path.is_file():
        raise ProgrammeError(f"there is no such file: {path}", where=where)
    return path


def _sign(programme: Programme, sha256: str) -> None:
    """Let the hash of the programme cover a file it names."""
    programme._sha256 = hashlib.sha256(f"{programme._sha256} {sha256}".encode()).hexdigest()
