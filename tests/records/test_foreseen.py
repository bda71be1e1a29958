"""What check says of records is what is released, and it names what decides."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import atr
from atr.errors import ProgrammeError
from tests.helpers import records as helper
from tests.helpers import series
from tests.helpers.command import atr as command


def _programme(folder: Path, counts: dict[tuple[str, str], tuple[int, int]], **sanitise: Any) -> Path:
    """Records of a small series, without what its secret tells."""
    content = series.programme(minimum_group_size=10)
    content["sanitise"] = {"column": "result", "hide": ["secret"]} | sanitise
    return series.write_series(folder, counts, content=content)


COUNTS = {
    ("men", "s"): (100, 60), ("men", "t"): (100, 40), ("women", "s"): (50, 45), ("women", "t"): (50, 5),
}  # fmt: skip


@pytest.mark.parametrize("by", ["release", "group"])
def test_check_foresees_what_is_released(by: str, tmp_path: Path) -> None:
    path = _programme(tmp_path, COUNTS, max_log_lift=0.3, max_ldp=9.0, alpha_by=by)
    (foreseen,) = atr.check(path).records
    assert {p.name for p in tmp_path.iterdir()} == {"log.csv", "programme.yaml"}
    records = atr.release_records(path, "2024").records
    assert (foreseen.period, foreseen.rows) == ("2024", records.people)
    assert foreseen.altered == pytest.approx(records.loss, abs=1e-6)
    alphas = {group.group: group.alpha for group in foreseen.groups}
    assert alphas == {tuple(group.values.values()): group.alpha for group in records.groups}
    assert (foreseen.decided_by, foreseen.groups[0].group) == ("max_log_lift", ("women",))


def test_check_names_the_bound_that_decides(tmp_path: Path) -> None:
    for bounds, decided in (
        ({"max_log_lift": 9.0, "max_ldp": 0.2}, "max_ldp"),
        ({"max_log_lift": 9.0, "max_ldp": 9.0}, None),
        ({"alpha": 0.4}, None),
    ):
        (foreseen,) = atr.check(_programme(tmp_path, COUNTS, **bounds)).records
        assert foreseen.decided_by == decided


def test_check_says_it_in_words(tmp_path: Path) -> None:
    path = _programme(tmp_path, COUNTS, max_log_lift=0.3, alpha_by="group")
    first, second, women, men = atr.check(path).records_table()
    assert first.startswith("records of 2024: 300 rows in 2 groups; about ")
    assert second == "  max_log_lift decides. In 2024 these groups need the largest alpha:"
    assert women.startswith("    women (100 people): ")
    assert "in 100 values drawn anew" in women
    assert men.startswith("    men (200 people): ")


def test_check_gives_records_to_machines(tmp_path: Path) -> None:
    done = command("check", _programme(tmp_path, COUNTS, max_log_lift=0.3), "--json")
    (of,) = json.loads(done.stdout)["records"]
    assert (of["rows"], of["decided_by"], len(of["groups"])) == (300, "max_log_lift", 2)
    assert "records of 2024: 300 rows" in done.stderr


def test_check_counts_pooled_groups(tmp_path: Path) -> None:
    counts = COUNTS | {("few", "s"): (4, 2), ("fewer", "t"): (3, 1)}
    (foreseen,) = atr.check(_programme(tmp_path, counts, max_log_lift=0.3)).records
    assert [(of.pooled, of.people) for of in foreseen.groups] == [(True, 107), (False, 200)]
    assert "307 rows in 2 groups, 1 of them pooled" in foreseen.said()[0]


def test_check_remarks_a_period_without_records(tmp_path: Path) -> None:
    content = series.programme(minimum_group_size=10) | {"period": {"every": "year", "timezone": "UTC"}}
    content["sanitise"] = {"column": "result", "hide": ["secret"], "max_log_lift": 0.3}
    path = series.write_series(tmp_path, COUNTS, content=content)
    log = (tmp_path / "log.csv").read_text()
    early = [f"x{i},2023-12-06,men,s,{'yes' if i % 2 else 'no'}\n" for i in range(5)]
    (tmp_path / "log.csv").write_text(log + "".join(early))
    found = atr.check(path)
    assert [of.period for of in found.records] == ["2024"]
    assert any(of.startswith("sanitise: no records of 2023 can be released: fewer than 10") for of in found.remarks)


def test_no_part_sanitise_foresees_nothing(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, COUNTS)
    assert atr.check(path).records == ()
    assert "sanitise" not in yaml.safe_load(path.read_text())
    with pytest.raises(ProgrammeError, match="releases no records"):
        atr.release_records(path)


def test_the_scores_are_foreseen_by_quarter(tmp_path: Path) -> None:
    found = atr.check(helper.compas(tmp_path, **helper.SCORE)).records
    assert [of.period for of in found][:2] == ["2013-Q1", "2013-Q2"]
    assert found[0].rows == 1722
    assert len(found[0].groups) > 5


def test_check_names_the_period_of_its_table(tmp_path: Path) -> None:
    path = _programme(tmp_path, COUNTS, max_log_lift=0.3)
    done = command("check", path)
    assert "In 2024 these groups need the largest alpha" in done.stderr
    assert done.stderr.rstrip().endswith(f"atr sanitise {path} --period 2024")


def test_check_says_what_has_no_bound(tmp_path: Path) -> None:
    (found,) = atr.check(helper.compas(tmp_path, **helper.NO_RACE, within="none")).records[-1].remarks
    assert found.startswith("sensitive, and not in sanitise.hide: priors_count")


def test_check_says_what_rows_tell_whatever_the_column(tmp_path: Path) -> None:
    counts = {("men", "s"): (100, 60), ("women", "t"): (50, 45)}
    (foreseen,) = atr.check(_programme(tmp_path, counts, max_ldp=1.0)).records
    (remark,) = foreseen.remarks
    assert remark.startswith("each value of public goes with one value of secret")


def test_check_says_that_there_is_nothing_to_hide(tmp_path: Path) -> None:
    counts = {("men", "s"): (100, 60), ("women", "s"): (50, 45)}
    (foreseen,) = atr.check(_programme(tmp_path, counts, max_ldp=1.0)).records
    assert foreseen.remarks == ("everybody has one value of secret: there is nothing that the column could hide",)


@pytest.mark.parametrize(
    ("sanitise", "message"),
    [
        ({"alpha": 1.0}, "is at most 0.999"),
        ({"alpha": 0.5, "alpha_by": "group"}, "is for bounds"),
        ({"max_ldp": 1.0, "channel": "best", "reader_knows_x": "never", "distance": "squared"}, "is for numbers"),
    ],
)
def test_what_has_no_meaning_is_refused(sanitise: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(ProgrammeError, match=message):
        atr.check(_programme(tmp_path, COUNTS, **sanitise))


def test_a_seed_that_is_a_folder_is_said_to_be_one(tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    with pytest.raises(ProgrammeError, match="is a folder"):
        atr.release_records(_programme(tmp_path, COUNTS, max_ldp=1.0, seed="seeds"))
