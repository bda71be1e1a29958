"""What is found false in a report, and the two ways to look for it: checks, and what follows beside what is stated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from atr.errors import VerifyError


@dataclass(frozen=True)
class Finding:
    """A statement that the printed numbers do not bear out.

    Parameters
    ----------
    where
        The part of the report.
    problem
        What is wrong with it.
    """

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"


def failed(*checks: tuple[bool, str, str]) -> Iterator[Finding]:
    """Give a finding for each check that does not hold.

    Parameters
    ----------
    checks
        Whether it holds, the part of the report, and the problem if it does not.
    """
    return (Finding(where, problem) for holds, where, problem in checks if not holds)


def either(low: float, high: float) -> str:
    """Write one number, or two ends where they differ."""
    return f"{low}" if low >= high else f"{low} to {high}"


def between(where: str, stated: float | None, low: float, high: float) -> Iterator[Finding]:
    """Give a finding if a number is not stated, or does not lie between two ends."""
    if stated is None or not low <= stated <= high:
        yield Finding(where, f"{stated} is stated, {either(low, high)} follows from the printed numbers")


def differences(where: str, stated: Any, follows: Any) -> Iterator[Finding]:
    """Give a finding for each place where two values of the report's model differ.

    Parameters
    ----------
    where
        The part of the report that is compared.
    stated, follows
        A model, a number or text, or mappings and tuples of them: as printed, and as recomputed.

    Returns
    -------
    A finding for each difference, with the path of keys and positions that leads to it.
    """
    stated, follows = both = [dict(part) if isinstance(part, BaseModel) else part for part in (stated, follows)]
    if all(isinstance(part, dict) for part in both):
        for key in follows | stated:
            yield from differences(f"{where}.{key}", stated.get(key), follows.get(key))
    elif all(isinstance(part, tuple) for part in both) and len(stated) == len(follows):
        for i, (one, other) in enumerate(zip(stated, follows, strict=True)):
            yield from differences(f"{where}[{i}]", one, other)
    elif stated == follows:
        return
    elif all(isinstance(part, tuple) for part in both):
        yield Finding(where, f"has {len(stated):,} entries, {len(follows):,} follow")
    else:
        yield Finding(where, f"is stated as {stated}, {follows} follows")


@contextmanager
def reading(path: Path, named: str) -> Iterator[None]:
    """Tell what is wrong with a file that cannot be read as what it should be, such as "atr-report/2 report"."""
    try:
        yield
    except FileNotFoundError:
        raise VerifyError("there is no such file", where=str(path)) from None
    except ValidationError as error:
        first = error.errors()[0]
        raise VerifyError(
            f"this is no {named}: {'.'.join(map(str, first['loc']))}: {first['msg']}", where=str(path)
        ) from None
    except (OSError, ValueError, RecursionError) as error:
        raise VerifyError(f"cannot be read as JSON ({error})", where=str(path)) from None
