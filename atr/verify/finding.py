"""What is found false in a report."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """A statement that the printed numbers do not bear out."""

    where: str
    problem: str

    def __str__(self) -> str:
        return f"{self.where}: {self.problem}"
