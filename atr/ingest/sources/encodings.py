"""Texts that are not UTF-8: written anew as UTF-8, and which encoding they may be in."""

from __future__ import annotations

import codecs
import re
from typing import IO

from atr.errors import IngestError

UNCERTAIN = "latin-1"
"""Reads every byte, where nothing tells what it means."""
_CHUNK = 1 << 20
_MARKS = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_SAMPLE = 1 << 16
_NOT_CP1252 = b"\x81\x8d\x8f\x90\x9d"
"""Bytes that cp1252 has no letters for."""


def recode(stream: IO[bytes], copy: IO[bytes], encoding: str, where: str) -> None:
    """Write a text anew in UTF-8.

    Parameters
    ----------
    stream, copy
        The text, and what it is written to; both are at their beginning afterwards.
    encoding
        Of the text, as Python names it.
    where
        What messages call it.

    Raises
    ------
    IngestError
        If a byte does not fit the encoding, with its line and column.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    line, column = 1, 1
    while True:
        state, chunk = decoder.getstate(), stream.read(_CHUNK)
        try:
            text, wrong = decoder.decode(chunk, final=not chunk), False
        except UnicodeError as error:
            sound = error.start - len(state[0]) if isinstance(error, UnicodeDecodeError) else 0
            decoder.setstate(state)
            text, wrong = decoder.decode(chunk[: max(sound, 0)]), True
        copy.write(text.encode("utf-8", errors="replace"))
        breaks = text.count("\n") or text.count("\r")
        line += breaks
        column = len(text) - max(text.rfind("\n"), text.rfind("\r")) if breaks else column + len(text)
        if wrong:
            raise IngestError(
                f"cannot be read as {encoding}",
                where=f"{where}, line {line}, column {column}",
                hint="log.encoding names how the file is written; leave it out for UTF-8.",
            )
        if not chunk:
            break
    copy.flush()
    for file in (stream, copy):
        file.seek(0)


def likely(stream: IO[bytes]) -> str | None:
    """Tell the encoding that a text is likely in.

    Parameters
    ----------
    stream
        The text; it is read from its beginning.

    Returns
    -------
    As Python names it; None for UTF-8, also where some bytes are damaged.
    """
    stream.seek(0)
    begins = stream.read(_SAMPLE)
    for mark, encoding in _MARKS.items():
        if begins.startswith(mark):
            return encoding
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        if len(begins) > 1 and begins[offset::2].count(0) > len(begins) / 4 > 4 * begins[1 - offset :: 2].count(0):
            return encoding
    stream.seek(0)
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    strange, letters, others = False, 0, 0
    while chunk := stream.read(_CHUNK):
        strange |= len(chunk.translate(None, _NOT_CP1252)) < len(chunk)
        text = decoder.decode(chunk)
        wrong = len(re.findall("[\udc80-\udcff]", text))
        others += wrong
        letters += len(re.findall("[\x80-\U0010ffff]", text)) - wrong
    if others <= letters:
        return None
    return UNCERTAIN if strange else "cp1252"
