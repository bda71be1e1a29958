"""The secret seed of released values: drawn once, and the same for every release.

A second draw of the same rows would let a reader average the noise away. So each row has its draw by the seed, the
column and the row, whatever else is released, when, and by which programme that shares the seed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from pathlib import Path

from atr.errors import ProgrammeError
from atr.programme import Programme
from atr.warehouse.files import create_once
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


def read_seed(path: Path) -> bytes:
    """Read a file of a seed.

    Raises
    ------
    ProgrammeError
        If it does not hold 64 hexadecimal digits.
    """
    with os_faults(path):
        text = path.read_bytes().strip()
    if re.fullmatch(rb"[0-9a-f]{%d}" % (2 * BYTES), text) is None:
        raise ProgrammeError(
            f"holds no seed: that is {2 * BYTES} hexadecimal digits",
            where=str(path),
            hint="Put back the file from a copy. Without it, records of the same rows must not be released again.",
        )
    return bytes.fromhex(text.decode())


def fingerprint(seed: bytes) -> str:
    """Give what tells seeds apart and says nothing of them."""
    return hmac.digest(seed, b"fingerprint", "sha256").hex()[:16]


def key_of(seed: bytes, column: str) -> str:
    """Give the key of the draws of one column, in hexadecimal digits that do not overfill a block of SHA-256."""
    return hmac.digest(seed, b"column " + column.encode(), hashlib.sha256).hex()[:32]
