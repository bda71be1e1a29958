"""Small logs, and the programme that reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from atr.ingest import Accounting, ingest
from atr.programme import Programme, load
from atr.warehouse.connection import Warehouse

HEADER = "id,day,sex,income,outcome\n"
GOOD = "1,2013-01-01,f,5,yes\n2,2013-01-02,m,10,no\n"
MANY = "".join(f"7{i},2013-01-01,f,5,perhaps {i}\n" for i in range(8))
"""More outcomes than a report can tell of."""


def programme(folder: Path, log: dict[str, Any] | None = None, **parts: Any) -> Programme:
    """The programme of these tests, in a folder, with some keys other than usual (None: left out)."""
    keys: dict[str, Any] = {
        "source": "log.csv", "id": "id", "decided_at": "day", "outcome": "outcome", "positive": "yes",
        "max_quarantined": 1.0,
    }  # fmt: skip
    keys |= log or {}
    data = {
        "programme": "small",
        "title": "Small",
        "publisher": {"name": "P", "contact": "p@example.org"},
        "system": {"name": "S"},
        "log": {key: value for key, value in keys.items() if value is not None},
        "attributes": {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [10]}},
        "period": {"every": "quarter", "timezone": "Europe/Berlin"},
        "store": "private",
    } | parts
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return load(path)


def write(folder: Path, text: str | bytes, name: str = "log.csv") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def account(warehouse: Warehouse, programme: Programme) -> Accounting:
    """Read the log, and account for every row."""
    return ingest(warehouse, programme).accounting


def decisions(warehouse: Warehouse, columns: str = "id, decided_on, outcome, a0, a1") -> list[tuple[Any, ...]]:
    return warehouse.query(f"SELECT {columns} FROM decisions ORDER BY id, file, line")


def quarantine(warehouse: Warehouse) -> list[tuple[Any, ...]]:
    quarantined = "FROM log_rows JOIN meanings USING (fate) WHERE fate > 2"
    return warehouse.query(f"SELECT line, meaning {quarantined} ORDER BY file, line")


def balanced(found: Accounting) -> bool:
    parts = found.decisions + found.duplicates + found.corrections + found.quarantined
    return found.rows_read == parts and sum(found.reasons.values()) == found.quarantined
