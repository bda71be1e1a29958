"""Small report series made on the spot: a programme file and a log in a folder."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr import pipeline as steps


@contextmanager
def quick() -> Iterator[None]:
    """No PDF is laid out, no curve has many points that are linear programmes, and other choices are tried for a few
    groups only: for tests of other numbers."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("render", "note"):
            patch.setattr(f"atr.documents.{module}.pdf", lambda html, **_: b"%PDF of " + str(len(html)).encode())
        patch.setattr("atr.dossier.curves.FEW_LEVELS", (0.5, 1.0))
        patch.setattr("atr.dossier.other_choices.MOST_GROUPS", 4)
        yield


CARD = {
    # [CGP] section 8: women and men with income below 100k, 100k to 200k, above 200k: (people, approvals)
    ("women", "below 100k"): (12, 0),
    ("women", "100k to 200k"): (5, 0),
    ("women", "above 200k"): (3, 3),
    ("men", "below 100k"): (9, 0),
    ("men", "100k to 200k"): (7, 3.5),
    ("men", "above 200k"): (4, 4),
}


def card(times: int) -> dict[tuple[str, str], tuple[int, int]]:
    """Section 8 with so many times the people (an even number)."""
    return {key: (int(n * times), int(k * times)) for key, (n, k) in CARD.items()}


def one_group(population: Sequence[int], approvals: Sequence[int]) -> dict[tuple[str, str], tuple[int, int]]:
    """A single QID group with the sensitive values r0, r1, …"""
    return {("all", f"r{i}"): pair for i, pair in enumerate(zip(population, approvals, strict=True))}


OPTIMAL = {"mechanism": "optimal", "whole_numbers": "state"}
"""The policy of the founding paper's mechanism, whose reader takes chances at face value."""


def write_log(path: Path, counts: Mapping[tuple[str, str], tuple[int, int]], *, day: str = "2024-12-06") -> None:
    """A log with exactly these people and approvals."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "day", "public", "secret", "result"])
        n = 0
        for (public, secret), (people, approvals) in counts.items():
            for i in range(people):
                n += 1
                writer.writerow([f"{n:06d}", day, public, secret, "yes" if i < approvals else "no"])


def programme(**policy: Any) -> dict[str, Any]:
    """The programme of a log written by :func:`write_log`."""
    return {
        "programme": "test-series",
        "title": "A test series",
        "publisher": {"name": "Tester", "contact": "tester@example.org"},
        "system": {"name": "System", "purpose": "It decides.", "appeal": "Write to us."},
        "log": {
            "source": "log.csv",
            "id": "id",
            "decided_at": "day",
            "outcome": "result",
            "outcomes": {"approved": ["yes"], "refused": ["no"]},
            "positive": "approved",
        },
        "attributes": {
            "public": {"role": "public", "protected": True, "title": "public"},
            "secret": {"role": "sensitive", "title": "secret"},
        },
        "policy": (OPTIMAL if policy.get("mechanism", "optimal") == "optimal" else {})
        | {"minimum_group_size": 10, "max_confidence": 0.95, **policy},
        "period": {"every": "year", "timezone": "UTC"},
    }


def write_series(
    folder: Path,
    counts: Mapping[tuple[str, str], tuple[int, int]],
    *,
    content: dict[str, Any] | None = None,
    **policy: Any,
) -> Path:
    """A programme file and its log; returns the programme file."""
    folder.mkdir(parents=True, exist_ok=True)
    write_log(folder / "log.csv", counts)
    path = folder / "programme.yaml"
    path.write_text(
        yaml.safe_dump(content or programme(**policy), allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    return path


def write_ranges(path: Path, ranges: Mapping[tuple[str, str], tuple[float, float]]) -> None:
    """A file of ranges for a log written by :func:`write_log`, sensitive values first: its columns have no order."""
    rows = [(secret, lower, upper, public) for (public, secret), (lower, upper) in ranges.items()]
    write_rows(path, ["secret", "lower", "upper", "public"], rows)


def publish(path: Path, period: str | None = None) -> steps.Draft:
    """The whole pipeline in this process."""
    return steps.publish(path, period)


def files(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def write_rows(path: Path, header: Iterable[str], rows: Iterable[Iterable[Any]]) -> None:
    """Any CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)
