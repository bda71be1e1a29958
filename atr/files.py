"""Files that are written whole or not at all, also where the power fails, and never through a link.

Whoever may write in a folder of the site could lay a link there; so a file is made anew (``O_EXCL``) beside the one it
replaces, and a link in the way is removed or refused, never followed.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

PRIVATE = 0o600
PUBLIC = 0o644


def sha256(path: Path) -> str:
    """The hash of a file's bytes."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def create(path: Path, content: bytes, *, mode: int = PRIVATE) -> None:
    """Make a file that is not there yet, with this mode whatever the umask.

    Raises
    ------
    FileExistsError
        If there is anything of that name, a link that leads nowhere included.
    """
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE), "wb") as file:
        os.fchmod(file.fileno(), mode)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def create_once(path: Path, content: bytes) -> None:
    """Make a file with this content, unless another process comes first; nobody sees half of it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    create(temporary, content)
    try:
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()


def write_text(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """Write a file in one step, in the place of one of that name."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.unlink(missing_ok=True)
    create(temporary, text.encode(), mode=mode)
    temporary.replace(path)
    _sync(path.parent)


def write_json(path: Path, content: Any) -> None:
    """Write a file of JSON in one step."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def read_json(path: Path) -> Any:
    """What :func:`write_json` wrote."""
    return json.loads(path.read_text(encoding="utf-8"))


def put_folder(source: Path, target: Path, *, mode: int = PRIVATE) -> None:
    """Put a copy of a folder of files in the place of another; what was there is gone only once the copy is whole.

    May be repeated after it was interrupted anywhere.

    Parameters
    ----------
    mode
        Of the files. Whoever may read them may enter the folder.
    """
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    new, old = _beside(target)
    if old.exists() and not target.exists():
        old.rename(target)
    _remove(new)
    new.mkdir(mode=0o700)
    for file in sorted(source.iterdir()):
        create(new / file.name, file.read_bytes(), mode=mode)
    _sync(new)
    _remove(old)
    if target.exists():
        target.rename(old)
    new.rename(target)
    target.chmod(mode | (mode & 0o444) >> 2)  # not before: what never becomes the target is nobody's to read
    _sync(target.parent)
    _remove(old)


def remove_folder(target: Path) -> bool:
    """Remove a folder and what an interrupted :func:`put_folder` left of it; returns whether there was anything."""
    there = [path for path in (target, *_beside(target)) if os.path.lexists(path)]
    for path in there:
        _remove(path)
    return bool(there)


def _beside(target: Path) -> tuple[Path, Path]:
    """Where a folder is while it is made, and where the one that it replaces."""
    return target.with_name(f".{target.name}.new"), target.with_name(f".{target.name}.old")


def _remove(path: Path) -> None:
    """Remove a folder and what is in it; of a link, only the link."""
    if path.is_symlink():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def _sync(folder: Path) -> None:
    """Let what was made or renamed in a folder outlast a power failure, where its file system can promise that."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
    finally:
        os.close(descriptor)
