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
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

PRIVATE = 0o600
PUBLIC = 0o644


def sha256(path: Path) -> str:
    """Hash a file: SHA-256 in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def create(path: Path, content: bytes, *, mode: int = PRIVATE, folder: int | None = None) -> None:
    """Make a file that is not there yet, with this mode whatever the umask.

    Parameters
    ----------
    path, content
        The file and its bytes.
    mode
        Its permissions.
    folder
        The descriptor of the folder that a relative path is in.

    Raises
    ------
    FileExistsError
        If there is anything of that name, a link that leads nowhere included.
    """
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE, dir_fd=folder)
    with os.fdopen(made, "wb") as file:
        os.fchmod(made, mode)
        file.write(content)
        file.flush()
        os.fsync(made)


def create_once(path: Path, content: bytes) -> None:
    """Make a file with this content, unless another process comes first; nobody sees half of it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    create(temporary, content)
    try:
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        temporary.unlink()


def write_text(path: Path, text: str, *, mode: int = PRIVATE) -> None:
    """Write a text file in UTF-8 in one step, in place of one of that name."""
    new = f".{path.name}.new"
    with _opened(path.parent) as folder:
        _remove(new, folder)
        create(Path(new), text.encode(), mode=mode, folder=folder)
        os.replace(new, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def write_json(path: Path, content: Any) -> None:
    """Write a JSON file in one step, readable by its owner only."""
    write_text(path, json.dumps(content, ensure_ascii=False, indent=1))


def read_json(path: Path) -> Any:
    """Read a file of JSON in UTF-8."""
    return json.loads(path.read_text(encoding="utf-8"))


def put_folder(source: Path, target: Path, *, mode: int = PRIVATE) -> None:
    """Put a copy of a folder of files in place of another, which is gone only once the copy is whole.

    May be repeated after it was interrupted anywhere.

    Parameters
    ----------
    source
        A folder of files, without folders in it.
    target
        The folder to replace or to make.
    mode
        Permissions of the files. Whoever may read them may enter the folder.

    Raises
    ------
    FileExistsError
        If somebody else puts a folder in its place meanwhile.
    """
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    name, new, old = _names(target)
    with _opened(target.parent) as parent:
        if _there(old, parent) and not _there(name, parent):
            os.rename(old, name, src_dir_fd=parent, dst_dir_fd=parent)
        _remove(new, parent)
        os.mkdir(new, 0o700, dir_fd=parent)
        with _opened(Path(new), parent) as made:
            for file in sorted(source.iterdir()):
                create(Path(file.name), file.read_bytes(), mode=mode, folder=made)
            _remove(old, parent)
            if _there(name, parent):
                os.rename(name, old, src_dir_fd=parent, dst_dir_fd=parent)
            os.rename(new, name, src_dir_fd=parent, dst_dir_fd=parent)
            os.fchmod(made, mode | (mode & 0o444) >> 2)  # only now: what never takes its place is nobody's to read
            if not os.path.samestat(os.fstat(made), os.stat(name, dir_fd=parent, follow_symlinks=False)):
                raise FileExistsError(errno.EEXIST, "was put there by somebody else meanwhile", str(target))
        _remove(old, parent)


def remove_folder(target: Path) -> bool:
    """Remove a folder, and what an interrupted :func:`put_folder` left of it.

    Returns
    -------
    Whether there was anything.
    """
    if not target.parent.is_dir():
        return False
    with _opened(target.parent) as parent:
        there = [name for name in _names(target) if _there(name, parent)]
        for name in there:
            _remove(name, parent)
    return bool(there)


def _names(target: Path) -> tuple[str, str, str]:
    """The names of a folder, of its successor while that is made, and of its predecessor."""
    return target.name, f".{target.name}.new", f".{target.name}.old"


def _there(name: str, folder: int) -> bool:
    return name in os.listdir(folder)


def _remove(name: str, folder: int) -> None:
    """Remove a file or a folder and what is in it; of a link, only the link."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError:  # a folder
        shutil.rmtree(name, dir_fd=folder)


@contextmanager
def _opened(folder: Path, parent: int | None = None) -> Iterator[int]:
    """A folder that is no link, whatever takes its name meanwhile.

    What is made or renamed in it outlasts a power failure, where its file system can promise that.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=parent)
    try:
        yield descriptor
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP):
                raise
    finally:
        os.close(descriptor)
