"""The secret seed of released values: drawn once, and the same for every release.

A second draw of the same rows would let a reader average the noise away. So each row has its draw by the seed, the
column and the row, whatever else is released, when, and by which programme that shares the seed and tells rows apart
alike.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from atr.errors import ProgrammeError, RefusedError
from atr.programme import Programme
from atr.warehouse.files import create_once
from atr.warehouse.layout import Layout
from atr.warehouse.register import Entry, Register
from atr.warehouse.store import os_faults

BYTES = 32


def seed_of(programme: Programme) -> bytes:
    """Read the seed of a programme, or draw one from the operating system where there is none yet.

    Raises
    ------
    ProgrammeError
        If the file holds no seed.
    EnvironmentFault
        If it cannot be used.
    """
    path = programme.seed_path
    with os_faults(path):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists():
            create_once(path, secrets.token_hex(BYTES).encode())
    return read_seed(path)


def seed_if_any(programme: Programme) -> bytes:
    """Read the seed of a programme, and draw none: where there is none yet, it is empty.

    Raises
    ------
    ProgrammeError
        If the file holds no seed.
    EnvironmentFault
        If it cannot be used.
    """
    path = programme.seed_path
    with os_faults(path):
        there = path.exists()
    return read_seed(path) if there else b""


def read_seed(path: Path) -> bytes:
    """Read a file of a seed.

    Raises
    ------
    ProgrammeError
        If it is a folder, or does not hold 64 hexadecimal digits.
    """
    if path.is_dir():
        raise ProgrammeError("is a folder: the seed is a file", where=str(path), hint="Name a file as sanitise.seed.")
    with os_faults(path):
        text = path.read_bytes().strip()
    if re.fullmatch(rb"[0-9a-f]{%d}" % (2 * BYTES), text) is None:
        raise ProgrammeError(
            f"holds no seed: that is {2 * BYTES} hexadecimal digits",
            where=str(path),
            hint="Put back the file from a copy. Without it, records of the same rows must not be released again.",
        )
    return bytes.fromhex(text.decode())


def fingerprint(seed: bytes, layout: Layout) -> str:
    """Give what tells draws apart and says nothing of them: the seed, and what rows are told apart by.

    That is the id, or without one all that a row says, as it was read.
    """
    read = (layout.decided_at, layout.timezone, layout.outcome, layout.missing, sorted(layout.attributes.items()))
    return hmac.digest(seed, f"fingerprint {layout.id or read}".encode(), "sha256").hex()[:16]


def require_same_draws(register: Register, entry: Entry, programme: Programme) -> None:
    """Check that the rows of records that were ever published have the same draws again.

    Raises
    ------
    RefusedError
        If they have others.
    """
    others = [
        other.named(register.store)
        for other in register.entries
        if (other.kind, other.column) == (entry.kind, entry.column)
        and other.log.shares(entry.log)
        and other.days.overlaps(entry.days)
        and other.seed not in ("", entry.seed)
    ]
    if others:
        raise RefusedError(
            f"records of the same rows were released with another seed, or rows told apart by other columns "
            f"({', '.join(dict.fromkeys(others))}): whoever has two draws of a row can average the noise away",
            where=str(programme.seed_path),
            hint="Put that seed back, or name its file as sanitise.seed. Rows are told apart by log.id, or without one "
            "by all attributes: keep these as they were.",
        )


def key_of(seed: bytes, column: str) -> str:
    """Give the key of the draws of one column, in hexadecimal digits that do not overfill a block of SHA-256."""
    return hmac.digest(seed, b"column " + column.encode(), hashlib.sha256).hex()[:32]
