"""Verify: a true report passes, and no number in it can be changed by one in its last digit unnoticed."""

from __future__ import annotations

import copy
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from atr.report import model
from atr.report.verify import VerifyError, verify
from tests import series

pytestmark = pytest.mark.usefixtures("quick")

RECOMPUTED = ("privacy", "fidelity", "coverage", "groups", "fairness")
"""The parts whose numbers follow from others; the rest is guarded by the checksum alone."""


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list):
        for i, inner in enumerate(value):
            yield from _leaves(inner, (*path, i))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path


def _changed(content: dict[str, Any], path: tuple[Any, ...], step: float) -> dict[str, Any]:
    changed = copy.deepcopy(content)
    at: Any = changed
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = round(at[path[-1]] + step, 9)
    return changed


def _found(path: Path) -> bool:
    """Whether a changed report is refused: by a finding, or because it is no report any more."""
    try:
        return bool(verify(path))
    except VerifyError:
        return True


def _step(path: tuple[Any, ...], value: float) -> float:
    if isinstance(value, int):
        return 1
    return 0.01 if "rate" in path or "rates" in path or "announced_share" in path else 0.001


def _value(content: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        content = content[key]
    return content


def _write(path: Path, content: dict[str, Any], *, forged: bool) -> Path:
    if forged:
        content["provenance"]["checksum"] = model.checksum(content)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


@pytest.fixture(params=["exact", "free"])
def published(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """A report with exact populations."""
    path = series.write_series(tmp_path / "s", series.card(10), group_rates=request.param, population_rounding=1)
    content: dict[str, Any] = json.loads((series.publish(path).documents / "report.json").read_text())
    return content


def test_a_true_report_passes(published: dict[str, Any], tmp_path: Path) -> None:
    assert verify(_write(tmp_path / "r.json", published, forged=False)) == []


def test_any_changed_number_is_found(published: dict[str, Any], tmp_path: Path) -> None:
    for path in _leaves(published):
        for sign in (1, -1):
            changed = _changed(published, path, sign * _step(path, _value(published, path)))
            assert _found(_write(tmp_path / "r.json", changed, forged=False)), path


def test_a_changed_number_that_follows_from_others_is_found_though_the_checksum_was_renewed(
    published: dict[str, Any], tmp_path: Path
) -> None:
    for path in _leaves({key: published[key] for key in RECOMPUTED}):
        if path in (
            ("coverage", "decisions"),
            ("coverage", "announced_share"),
            ("coverage", "groups", "withheld_for_size"),
        ):
            continue
        for sign in (1, -1):
            changed = _changed(published, path, sign * _step(path, _value(published, path)))
            assert _found(_write(tmp_path / "r.json", changed, forged=True)), (path, sign)


def test_a_changed_verdict_or_sentence_is_found(published: dict[str, Any], tmp_path: Path) -> None:
    verdict = "not_met" if published["fairness"][0]["verdict"] == "met" else "met"
    for field, other in (("verdict", verdict), ("sentence", "All is well.")):
        changed = copy.deepcopy(published)
        changed["fairness"][0][field] = other
        assert verify(_write(tmp_path / "r.json", changed, forged=True))
    changed = copy.deepcopy(published)
    changed["fairness"].pop()
    assert verify(_write(tmp_path / "r.json", changed, forged=True))


@pytest.mark.parametrize("rates", ["exact", "free"])
def test_rounded_populations_leave_room_but_not_for_everything(tmp_path: Path, rates: str) -> None:
    counts = {key: (people + 3, approvals + 1) for key, (people, approvals) in series.card(34).items()}
    outcome = series.publish(series.write_series(tmp_path / "s", counts, group_rates=rates))
    content = json.loads((outcome.documents / "report.json").read_text())
    assert verify(_write(tmp_path / "r.json", content, forged=False)) == []
    for path, step in (
        (("privacy", "max_confidence"), -0.01),
        (("privacy", "max_confidence"), 0.02),
        (("privacy", "prior_confidence"), 0.02),
        (("groups", 0, "rate", "approved"), 0.03),
        (("fairness", 0, "value"), 0.1),
        (("fairness", 2, "value"), 0.05),
        (("groups", 0, "regions", 0, "population"), 50),
        (("groups", 0, "population"), 30),
    ):
        assert verify(_write(tmp_path / "r.json", _changed(content, path, step), forged=True)), path


def test_with_the_exact_populations_every_digit_is_checked_again(tmp_path: Path) -> None:
    counts = {key: (people + 3, approvals + 1) for key, (people, approvals) in series.card(34).items()}
    outcome = series.publish(series.write_series(tmp_path / "s", counts))
    content = json.loads((outcome.documents / "report.json").read_text())
    population = tmp_path / "population.csv"
    with population.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["public", "secret", "population"])
        writer.writerows([*key, people] for key, (people, _) in counts.items())
    report = _write(tmp_path / "r.json", content, forged=False)
    assert verify(report, population=population) == []
    changed = _changed(content, ("fairness", 2, "value"), 0.001)
    assert verify(_write(tmp_path / "r.json", changed, forged=True), population=population)
    population.write_text("public,secret,population\n")
    with pytest.raises(VerifyError, match="no row for the region"):
        verify(_write(tmp_path / "r.json", content, forged=False), population=population)


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", '{"schema": "atr-report/2"}', "\x00", '{"a": NaN}'])
def test_what_is_no_report_is_said_to_be_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(VerifyError) as caught:
        verify(path)
    assert caught.value.exit_code == 1


def test_a_hostile_report_does_not_crash(published: dict[str, Any], tmp_path: Path) -> None:
    def change(content: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
        changed = copy.deepcopy(content)
        at: Any = changed
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value
        return changed

    for path in _leaves(published):
        for value in (0, -1, 10**18, 0.5):
            try:
                assert isinstance(
                    verify(_write(tmp_path / "r.json", change(published, path, value), forged=True)), list
                )
            except VerifyError:
                continue
