"""Reading a programme file, and the files that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import ValidationError

from atr.errors import ProgrammeError
from atr.programme.faults import Loc, Place, in_words, parse
from atr.programme.font_files import read_fonts
from atr.programme.hierarchies import read_hierarchy
from atr.programme.region_files import read_regions, read_text
from atr.programme.series import Programme


def load(path: str | Path | Programme) -> Programme:
    """Read and validate a programme file, and the files of ranges, hierarchies, side information and fonts it names.

    Parameters
    ----------
    path
        The YAML file, or its folder. A programme is given back as it is.

    Returns
    -------
    The programme, which knows the folder that its paths are relative to.

    Raises
    ------
    ProgrammeError
        Naming the line and the key of every fault found.
    """
    if isinstance(path, Programme):
        return path
    path = located(path)
    text, sha256 = read_text(path)
    data, places = parse(text, path)
    try:
        programme = Programme.model_validate(data, context={"language": data.get("language", "en")})
    except ValidationError as error:
        raise in_words(error, places, path) from None
    programme._path, programme._sha256 = path.resolve(), sha256
    _read_named_files(programme, places)
    return programme


def located(path: str | Path) -> Path:
    """Give the path of a programme file from its own path, or from its folder.

    Parameters
    ----------
    path
        The file, or a folder with a ``programme.yaml``.

    Returns
    -------
    The path of the file, which need not exist.

    Raises
    ------
    ProgrammeError
        If the machine cannot have such a path.
    """
    try:
        return Path(path, "programme.yaml") if Path(path).is_dir() else Path(path)
    except (OSError, ValueError) as error:
        raise ProgrammeError(f"cannot be read ({error})", where=str(path)[:200]) from None


def _read_named_files(programme: Programme, places: Mapping[Loc, Place]) -> None:
    """Read the files that a programme names, and let its hash cover them."""
    regions = (*programme.names(role="public"), *programme.names(role="sensitive"))
    read: list[str] = []

    def existing(name: str, *keys: str) -> Path:
        path = programme._resolve(name)
        if not path.is_file():
            raise ProgrammeError(f"there is no such file: {path}", where=place(*keys))
        return path

    def place(*keys: str) -> str:
        return f"{programme.path}, line {places[keys][0]}, {'.'.join(keys)}"

    for name, attribute in programme.attributes.items():
        if attribute.hierarchy is not None:
            file = existing(attribute.hierarchy, "attributes", name, "hierarchy")
            attribute._coarser = read_hierarchy(file, attribute.categories)
            read.append(attribute._coarser.sha256)
    for of_regions in programme.policy.files:
        of_regions.table = read_regions(existing(of_regions.path, "policy", *of_regions.keys), regions, of_regions)
        read.append(of_regions.table.sha256)
    if programme.fonts is not None:
        programme._font_files = read_fonts(programme._resolve(programme.fonts), place("fonts"))
        read += [font.sha256 for font in programme._font_files]
    for sha256 in read:
        programme._sha256 = hashlib.sha256(f"{programme._sha256} {sha256}".encode()).hexdigest()
