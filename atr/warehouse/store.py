"""The private store of a programme: its folder, its files, and the one run that may work in it."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import filelock

from atr.errors import EnvironmentFault
from atr.programme.periods import now
from atr.warehouse.files import read_json, write_json

PATIENCE = 5.0
"""Seconds that a run waits for another one of the same series."""


@contextmanager
def hold(store: Path, *, wait: float = PATIENCE, clock: Callable[[], datetime] = now) -> Iterator[None]:
    """Be the only run on a programme.

    Parameters
    ----------
    store
        The programme's private folder.
    wait
        Seconds to wait for another run to end.
    clock
        Gives the present moment, which others are told.

    Raises
    ------
    EnvironmentFault
        If another run holds the programme for longer: it names that run. Also if the store cannot be used.
    """
    private_folder(store)
    holder = store / "writer.json"
    with locked(store / "writer.lock", wait, store, lambda: f"working on this programme: {_describe(holder)}"):
        with os_faults(store):
            me = {
                "pid": os.getpid(),
                "host": socket.gethostname(),
                "command": shlex.join(sys.argv),
                "since": clock().isoformat(timespec="seconds"),
            }
            write_json(holder, me)
        try:
            yield
        finally:
            with os_faults(store):
                holder.unlink(missing_ok=True)


@contextmanager
def locked(lock: Path, wait: float, where: Path, doing: Callable[[], str]) -> Iterator[None]:
    """Be the only run that has a lock.

    Parameters
    ----------
    lock
        Its file.
    wait
        Seconds to wait for another run to end.
    where, doing
        What is locked, and what the other run is doing, for the message.

    Raises
    ------
    EnvironmentFault
        If another run has it for longer, or the lock cannot be used.
    """
    with os_faults(where):
        try:
            held = filelock.FileLock(lock, timeout=wait, mode=0o600).acquire()
        except filelock.Timeout:
            hint = "Wait until it has ended, then start this one again."
            raise EnvironmentFault(f"another run is {doing()}", where=str(where), hint=hint) from None
    with held:
        yield


def missing_folders(path: Path) -> list[Path]:
    """Give a folder and those above it that are not there yet, the innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def remove_made(folders: Sequence[Path]) -> None:
    """Remove a folder with all in it, and of those above it what is empty then: see :func:`missing_folders`."""
    if folders:
        shutil.rmtree(folders[0], ignore_errors=True)
    for folder in folders[1:]:
        with suppress(OSError):  # another programme uses it by now
            folder.rmdir()


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter, and its parents as usual.

    Raises
    ------
    EnvironmentFault
        If the operating system refuses it.
    """
    with os_faults(path):
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(0o700)


def private_files(path: Path) -> None:
    """Let only the owner read a file and what stands beside it under the same name, such as its ``.wal``.

    Raises
    ------
    EnvironmentFault
        If the operating system refuses it.
    """
    with os_faults(path):
        for file in path.parent.glob(f"{path.name}*"):
            with suppress(FileNotFoundError):  # another thread has just been done with it
                file.chmod(0o600)


@contextmanager
def os_faults(path: Path) -> Iterator[None]:
    """Turn an error of the operating system inside into a fault of the environment.

    Parameters
    ----------
    path
        What is used, for the message.

    Raises
    ------
    EnvironmentFault
        If there is an OSError.
    """
    try:
        yield
    except OSError as error:
        raise EnvironmentFault(
            f"cannot be used ({error.strerror or error})",
            where=str(path),
            hint="Look at the free space and the permissions of the store.",
        ) from error


def _describe(holder: Path) -> str:
    try:
        found = read_json(holder)
        return f"process {found['pid']} on {found['host']}, `{found['command']}`, since {found['since']}"
    except (OSError, ValueError, KeyError):
        return "its process is not known"
