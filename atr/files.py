"""Files that are written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a file in one step."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


def write_json(path: Path, content: Any) -> None:
    """Write a file of JSON in one step."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def read_json(path: Path) -> Any:
    """What :func:`write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def put_folder(source: Path, target: Path) -> None:
    """Put a copy of a folder in the place of another; what was there is gone only once the copy is whole.

    May be repeated after it was interrupted anywhere.
    """
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new, old = target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")
    if old.exists() and not target.exists():
        old.rename(target)
    shutil.rmtree(new, ignore_errors=True)
    shutil.copytree(source, new)
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.rename(old)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)
