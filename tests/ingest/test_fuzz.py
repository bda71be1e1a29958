"""Damaged files of every kind, and damaged programmes: each is read, or refused in words, and none hangs."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import time
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.programme import load
from atr.warehouse.connection import Warehouse
from tests.helpers import excel
from tests.helpers.logs import HEADER, account, balanced, programme

MINUTES = float(os.environ.get("ATR_FUZZ_MINUTES", "3"))
"""For all kinds together, where long tests are run."""
A_HANG = 30.0
"""Seconds."""

ROWS = [
    (str(i), f"2025-0{1 + i % 9}-1{i % 9}", "fmx"[i % 3], str(i * 1.5), "yes" if i % 4 else "no") for i in range(40)
]
PLAIN = (HEADER + "".join(",".join(row) + "\n" for row in ROWS)).encode()
OBJECTS = [dict(zip(HEADER.strip().split(","), row, strict=True)) for row in ROWS]
LINES = "\n".join(
    json.dumps({**row, "income": float(row["income"]), "more": [1, {"a": None}]}) for row in OBJECTS
).encode()
ARRAY = json.dumps(OBJECTS, indent=1).encode()
TOKENS = [
    *(sign.encode() for sign in ',;\t|"\'\n\r\0{}[]:=.-+#&*!<>/\\ eE0'),
    b"\r\n", b'""', b'",', b"\xff", b"\xfe", b"\xe9", "\ufeff".encode(), "\u202e".encode(), b"\\ud800", b"\\u0000",
    b"null", b"true", b"NaN", b"1e999", b"9007199254740993", b"-0", b"sep=;\n", b"2025-13-45", b"31.12.2025",
    b"99999999999999999999", b"</c>", b"<f>", b't="e"', b't="s"', b'r="XFD1048576"', b"&amp;", b"&x;", b"]]>",
]  # fmt: skip

Damage = Callable[[random.Random], bytes]


def damaged(content: bytes, chance: random.Random) -> bytes:
    """The content with one to some faults: bytes changed, left out, repeated, or cut off."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        at, end = sorted(chance.randrange(len(found) + 1) for _ in range(2))
        end = min(end, at + chance.choice((1, 4, 64, len(found))))
        match chance.randrange(6):
            case 0:
                found[at:at] = chance.choice(TOKENS)
            case 1:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 2:
                del found[at:end]
            case 3:
                found[at:at] = found[at:end] * chance.choice((1, 2, 50))
            case 4:
                found[at : at + 4] = chance.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"))
            case 5 if chance.random() < 0.3:
                del found[at:]
    return bytes(found[:100_000])


def parquet() -> bytes:
    table = pa.table(
        {
            "id": pa.array([int(row[0]) for row in ROWS]),
            "day": pa.array([date(2025, 1, 1 + i % 28) for i in range(40)]),
            "sex": pa.array([row[2] for row in ROWS]).dictionary_encode(),
            "income": pa.array([float(row[3]) for row in ROWS]),
            "outcome": [row[4] for row in ROWS],
        }
    )
    written = io.BytesIO()
    pq.write_table(table, written)
    return written.getvalue()


def workbook() -> bytes:
    cells = [list(map(excel.text, HEADER.strip().split(",")))]
    for i, row in enumerate(ROWS):
        day = excel.number(str(45_658 + i), excel.DAY)
        cells.append([excel.number(row[0]), day, excel.text(row[2]), excel.number(row[3]), excel.text(row[4])])
    return excel.workbook(Log="".join(excel.row(i, row) for i, row in enumerate(cells, 1)))


def repacked(content: bytes, chance: random.Random) -> bytes:
    """A zip file with one part damaged."""
    written = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as parts, zipfile.ZipFile(written, "w") as copy:
        names = parts.namelist()
        chosen = chance.choice(names)
        for name in names:
            part = parts.read(name)
            copy.writestr(name, damaged(part, chance) if name == chosen or name.endswith("sheet1.xml") else part)
    return written.getvalue()


PARQUET, EXCEL = parquet(), workbook()
KINDS: dict[str, Damage] = {
    "log.csv": lambda chance: damaged(PLAIN, chance),
    "windows.csv": lambda chance: damaged(PLAIN.replace(b"\n", b"\r\n").replace(b",m,", b',"m",'), chance),
    "utf-16.csv": lambda chance: damaged(PLAIN.decode().replace(",", ";").encode("utf-16"), chance),
    "log.csv.gz": lambda chance: damaged(gzip.compress(PLAIN, mtime=0), chance),
    "log.csv.zst": lambda chance: damaged(zstandard.compress(PLAIN) + zstandard.compress(PLAIN), chance),
    "log.jsonl": lambda chance: damaged(LINES, chance),
    "log.jsonl.gz": lambda chance: gzip.compress(damaged(LINES, chance), 1),
    "log.json": lambda chance: damaged(ARRAY, chance),
    "log.parquet": lambda chance: damaged(PARQUET, chance),
    "log.xlsx": lambda chance: damaged(EXCEL, chance),
    "parts.xlsx": lambda chance: repacked(EXCEL, chance),
}


def survives(make: Callable[[], None], told: str) -> None:
    """Only errors of the input come out, and soon."""
    since = time.monotonic()
    try:
        make()
    except (IngestError, ProgrammeError, RefusedError):
        pass
    except BaseException as error:  # also those that no code expects
        raise RuntimeError(told) from error
    if time.monotonic() - since > A_HANG:
        raise RuntimeError(f"{told} takes long")


def fuzz(folder: Path, name: str, seconds: float, cases: int) -> None:
    made = programme(folder, {"source": name, "max_quarantined": 0.5})
    damage, log, until = KINDS[name], folder / name, time.monotonic() + seconds
    for seed in range(cases):
        if time.monotonic() > until:
            break
        log.write_bytes(damage(random.Random(seed)))

        def read() -> None:
            with Warehouse.in_memory() as warehouse:
                assert balanced(account(warehouse, made))

        survives(read, f"{name}, seed {seed}")


def fuzz_programme(folder: Path, seconds: float, cases: int) -> None:
    made = programme(folder, {"decimal": ".", "date_format": "%Y-%m-%d", "source": ["log.csv"], "revision": None})
    (folder / "log.csv").write_bytes(PLAIN)
    content, until = made.path.read_bytes(), time.monotonic() + seconds
    for seed in range(cases):
        if time.monotonic() > until:
            break
        made.path.write_bytes(damaged(content, random.Random(seed)))

        def read() -> None:
            found = load(made.path)
            with Warehouse.in_memory() as warehouse:
                assert balanced(account(warehouse, found))

        survives(read, f"programme, seed {seed}")


@pytest.mark.parametrize("name", KINDS)
def test_some_damaged_files_are_survived(tmp_path: Path, name: str) -> None:
    fuzz(tmp_path, name, seconds=0.5, cases=5)


@pytest.mark.long
@pytest.mark.parametrize("name", KINDS)
def test_many_damaged_files_are_survived(tmp_path: Path, name: str) -> None:
    fuzz(tmp_path, name, seconds=60 * MINUTES / (len(KINDS) + 1), cases=1_000_000)


def test_some_damaged_programmes_are_survived(tmp_path: Path) -> None:
    fuzz_programme(tmp_path, seconds=0.5, cases=5)


@pytest.mark.long
def test_many_damaged_programmes_are_survived(tmp_path: Path) -> None:
    fuzz_programme(tmp_path, seconds=60 * MINUTES / (len(KINDS) + 1), cases=1_000_000)
