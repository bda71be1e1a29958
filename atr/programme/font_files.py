"""The fonts that a programme supplies, for characters that no bundled font has."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from atr.errors import ProgrammeError

_ENDINGS = (".ttf", ".otf", ".woff2")


@dataclass(frozen=True, slots=True)
class FontFile:
    """A font.

    Parameters
    ----------
    path
        The file.
    sha256
        Of its bytes, in hexadecimal digits.
    weights
        The lightest and the boldest weight it has, from 1 to 1000; they differ in a variable font.
    slanted
        Whether it is an italic or oblique.
    characters
        The code points that it draws.
    """

    path: Path
    sha256: str
    weights: tuple[float, float]
    slanted: bool
    characters: frozenset[int]

    def nearest(self, weight: int) -> float:
        """The weight that it has nearest to one."""
        least, most = self.weights
        return min(max(weight, least), most)


def read_fonts(folder: Path, where: str) -> tuple[FontFile, ...]:
    """Read what the fonts of a folder are.

    Parameters
    ----------
    folder
        Its files that end in .ttf, .otf or .woff2 are fonts; others are not read.
    where
        What names it, for errors.

    Returns
    -------
    The fonts, by file name.

    Raises
    ------
    ProgrammeError
        If there is no such folder, or no font in it, or a file is none.
    """
    if not folder.is_dir():
        raise ProgrammeError(f"there is no such folder: {folder}", where=where)
    paths = [path for path in sorted(folder.iterdir()) if path.suffix.lower() in _ENDINGS]
    if not paths:
        hint = "Put a font file there, or remove this line."
        raise ProgrammeError(f"{folder} has no file that ends in {', '.join(_ENDINGS)}", where=where, hint=hint)
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> FontFile:
    from fontTools.ttLib import TTFont

    try:
        content = path.read_bytes()
        font = TTFont(io.BytesIO(content), lazy=True)
        own = font["OS/2"].usWeightClass
        axes = {axis.axisTag: (axis.minValue, axis.maxValue) for axis in font["fvar"].axes} if "fvar" in font else {}
        slanted = bool(font["OS/2"].fsSelection & 1 or font["post"].italicAngle)
        characters = frozenset(font.getBestCmap())
    except Exception as error:  # whatever a broken font makes of its reader
        raise ProgrammeError(
            f"cannot be read as a font ({type(error).__name__}: {error})",
            where=str(path),
            hint="Replace the file by an unbroken one, or remove it from the folder.",
        ) from None
    return FontFile(path, hashlib.sha256(content).hexdigest(), axes.get("wght", (own, own)), slanted, characters)
