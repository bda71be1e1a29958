"""Rates over time: what a report says of the releases before it, and what verify finds in it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from atr.dossier import review
from atr.errors import VerifyError
from atr.programme import Programme, load
from atr.report import model, series
from atr.verify import verify
from atr.verify.population_bounds import PopulationBounds
from atr.warehouse.counting import regions_of_rows
from tests.helpers import sample, whole
from tests.helpers import series as logs

SAMPLE = model.SamplingInfo(coverage="sample", alpha=0.05)
NOISE = 1e-9


def _report(year: int, women: float, men: float = 0.6, *, people: int = 500, **known: Any) -> model.PublicReport:
    sex = sample.attribute("sex", "sex", ("women", "men"), protected=True)
    income = sample.attribute("income", "income", ("low", "high"), role="sensitive")
    rates = {"women": women, "men": men}
    counts = {((who,), own): (people, rate) for who, rate in rates.items() for own in ("low", "high")}
    period = model.PeriodInfo(label=str(year), start=f"{year}-01-01", end=f"{year + 1}-01-01", timezone=None)
    made = sample.report(
        (sex, income), counts, ceiling=1.0, **{"references": {"sex": "men"}, "period": period, **known}
    )
    return made.model_copy(update={"policy": made.policy.model_copy(update={"sampling": SAMPLE})})


def _series(*reports: model.PublicReport) -> tuple[model.SeriesRelease, ...]:
    *before, last = reports
    return series.series(last, [(report, f"{i:064x}") for i, report in enumerate(before)])


def _of(release: model.SeriesRelease, group: str) -> model.RateChange:
    return next(change for change in release.changes if change.group == group)


def test_the_first_release_has_no_series() -> None:
    first = _report(2020, 0.3)
    assert _series(first) == ()
    assert "series" not in json.loads(first.to_json())
    assert list(series.problems(first)) == []


def test_the_report_comes_last_and_is_not_hashed() -> None:
    found = _series(_report(2020, 0.3), _report(2021, 0.4))
    assert [(of.period, of.sha256) for of in found] == [("2020", "0" * 64), ("2021", None)]
    rates = [[(g.group, g.people, g.rate) for g in by.groups] for of in found for by in of.attributes]
    assert rates == [[("women", 1000, 0.3), ("men", 1000, 0.6)], [("women", 1000, 0.4), ("men", 1000, 0.6)]]
    for group in found[-1].attributes[0].groups:
        low, high = group.interval or (1, 0)
        assert low < group.rate < high
        assert group.range is None


def test_at_most_twelve_releases_are_shown() -> None:
    found = _series(*(_report(year, 0.3) for year in range(2000, 2020)))
    assert [of.period for of in found] == [str(year) for year in range(2008, 2020)]
    assert found[0].changes == ()


def test_a_change_is_told_beyond_ranges_and_sampling() -> None:
    told, chance, rounding = (
        _of(_series(_report(2020, 0.3), _report(2021, x))[-1], "women") for x in (0.4, 0.33, 0.31)
    )
    assert (told.told, told.reason, told.change) == (True, None, 0.1)
    assert (told.adjusted_p_value or 1) <= 0.05
    assert (chance.told, chance.reason, chance.change) == (False, "could_be_chance", 0.03)
    assert (rounding.told, rounding.reason) == (False, "ranges_overlap")


def test_the_whole_log_is_judged_by_ranges_alone() -> None:
    before, now = (
        made.model_copy(update={"policy": made.policy.model_copy(update={"sampling": None})})
        for made in (_report(2020, 0.3), _report(2021, 0.33))
    )
    found = _series(before, now)[-1]
    assert _of(found, "women").told
    assert not _of(found, "men").told
    assert _of(found, "women").p_value is None
    assert found.attributes[0].groups[0].interval is None


def test_few_people_tell_no_change() -> None:
    reports = [_report(year, rate, people=30) for year, rate in ((2020, 0.0), (2021, 0.9))]
    least = [
        report.model_copy(update={"policy": report.policy.model_copy(update={"minimum_group_size": 80})})
        for report in reports
    ]
    assert [_of(_series(*of)[-1], "women").reason for of in (reports, least)] == [None, "too_few_people"]


def test_people_left_out_can_undo_a_change() -> None:
    def some(made: model.PublicReport, left_out: int) -> model.PublicReport:
        (by,) = made.compared
        row = model.ComparedRow(label="women", values=("women",), left_out=left_out)
        return made.model_copy(update={"compared": (by.model_copy(update={"rows": (row,)}),)})

    for left_out, reason in ((20, None), (400, "left_out")):
        found = _series(some(_report(2020, 0.3), left_out), _report(2021, 0.4))
        assert _of(found[-1], "women").reason == reason
        assert found[0].attributes[0].groups[0].left_out == left_out


@pytest.mark.parametrize(
    ("before", "skipped"),
    [
        (
            _report(2020, 0.3, outcomes=("mild", "harsh")),
            [model.NotCompared(reason="outcome_changed", previous="mild", now="low")],
        ),
        (
            _report(2020, 0.3, references={"sex": "women"}),
            [model.NotCompared(reason="reference_changed", attribute="sex", previous="women", now="men")],
        ),
        (sample.none_announced(), [model.NotCompared(reason="not_compared_then", attribute="sex")]),
    ],
)
def test_what_cannot_be_compared_has_its_reason(before: model.PublicReport, skipped: list[model.NotCompared]) -> None:
    found = _series(before, _report(2021, 0.4))[-1]
    assert list(found.skipped) == skipped
    assert bool(found.changes) == (skipped[0].reason == "reference_changed")


def test_groups_that_come_and_go_are_named() -> None:
    few, many = (sample.grid((n, 2), 2, people=400, ceiling=1.0) for n in (3, 5))
    for before, now, reason in ((few, many, "no_earlier_figure"), (many, few, "no_figure_now")):
        skipped = {of.reason: of.groups for of in _series(before, now)[-1].skipped}
        assert [len(skipped[name]) for name in skipped if name == reason] == [2]


def test_a_series_that_contradicts_itself_is_found() -> None:
    reports = [_report(2020, 0.3), _report(2021, 0.4), _report(2022, 0.45)]
    found = _series(*reports)
    report = reports[-1].model_copy(update={"series": found})
    assert list(series.problems(report)) == []
    assert series.again(report) == found
    reordered, alone = (found[1], found[0], found[2]), found[-1:]
    unhashed = (found[0].model_copy(update={"sha256": None}), *found[1:])
    for wrong in (reordered, alone, unhashed):
        assert list(series.problems(report.model_copy(update={"series": wrong})))


def test_older_reports_without_a_series_are_read(tmp_path: Path) -> None:
    old = _report(2020, 0.3)
    (tmp_path / "report.json").write_text(old.to_json(), encoding="utf-8")
    assert model.read(tmp_path / "report.json") == old


# --- ranges of rates


CALIBRATED = logs.programme(mechanism="calibrated", minimum_group_size=10, max_confidence=0.8)
CALIBRATED["attributes"]["secret"]["protected"] = True


@pytest.fixture(scope="module", params=[1, 5])
def programme(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Programme:
    content = copy.deepcopy(CALIBRATED)
    content["policy"]["population_rounding"] = request.param
    path = tmp_path_factory.mktemp("calibrated") / "programme.yaml"
    path.write_text(yaml.safe_dump(content))
    return load(path)


@given(data=st.data())
def test_the_true_rate_lies_in_the_printed_range(programme: Programme, data: st.DataObject) -> None:
    """Of a sensitive attribute; and in the bounds that verify finds in its own way."""
    sizes = st.lists(st.integers(8, 25), min_size=3, max_size=3)
    groups = [np.array(data.draw(sizes)) for _ in range(data.draw(st.integers(1, 3)))]
    favourable = [np.array([data.draw(st.integers(0, n)) for n in people.tolist()]) for people in groups]
    counts = np.concatenate([np.column_stack([x, n - x]) for x, n in zip(favourable, groups, strict=True)])
    rows = [(f"group {g}", f"r{s}") for g in range(len(groups)) for s in range(3)]
    regions = regions_of_rows(rows, counts, programme=programme, outcomes=("approved", "refused"))
    made = whole.report(programme, regions, whole.announced(programme, regions))
    bounds = PopulationBounds.of(made, None)
    release = series.release(made, sha256=None, alpha=0.05)
    assert {by.attribute for by in release.attributes} >= ({"secret"} if any(g.regions for g in made.groups) else set())
    for by in release.attributes:
        for group in by.groups:
            members = bounds.people_by((by.attribute,))[group.group]
            if by.attribute == "public":
                assert group.range is None
                continue
            told = [rows[i] for i in _told(made, group.group, rows)]
            inside = np.array([row in told for row in rows])
            true = counts[inside, 0].sum() / counts[inside].sum()
            low, high = group.range or (1, 0)
            assert low - NOISE <= true <= high + NOISE
            if programme.policy.population_rounding > 1:
                found = bounds.rate(members, bounds.events[0])
                assert low >= min(found.low[0] - 0.001, group.rate)
                assert high <= max(found.high[1] + 0.001, group.rate)


def _told(made: model.PublicReport, who: str, rows: Sequence[tuple[str, str]]) -> Iterator[int]:
    groups = {group.public.get("public") for group in made.announced_groups if group.regions}
    return (i for i, (group, secret) in enumerate(rows) if secret == who and group in groups)


# --- from published files


@pytest.fixture
def three_years(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    path = logs.write_series(folder, logs.card(10), population_rounding=1)
    (folder / "log.csv").unlink()
    for name, times in (("2022", 1.0), ("2023", 0.5), ("2024", 0.5)):
        log = folder / f"log-{name}.csv"
        counts = {key: (n, int(x * times)) for key, (n, x) in logs.card(10).items()}
        logs.write_log(log, counts, day=f"{name}-12-06")
        log.write_text(log.read_text().replace("\n0", f"\n{name}"))
    content = yaml.safe_load(path.read_text())
    content["log"]["source"] = "log-*.csv"
    path.write_text(yaml.safe_dump(content))
    return path


def _published(path: Path, period: str) -> Path:
    logs.publish(path, period)
    return review.review(load(path), period, approve=True, name="R. Viewer", comment="read it")[1]


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_published_releases_are_shown_and_verified(three_years: Path, tmp_path: Path) -> None:
    first, second, third = (_published(three_years, period) for period in ("2022", "2023", "2024"))
    content = json.loads((third / "report.json").read_text())
    assert [of["period"] for of in content["series"]] == ["2022", "2023", "2024"]
    assert [len([c for c in of["changes"] if c["told"]]) for of in content["series"]] == [0, 2, 0]
    assert verify(third) == verify(third, previous=second) == verify(third, previous=[first, second]) == []
    with pytest.raises(VerifyError, match="not among the earlier"):
        without = {key: value for key, value in content.items() if key != "changes"}
        verify(_write(tmp_path, without), previous=third)

    def finds(change: Any, *previous: Path) -> bool:
        forged = copy.deepcopy(content)
        change(forged["series"])
        return bool(verify(_write(tmp_path, forged), previous=previous))

    def rate(release: int, group: int) -> Any:
        return lambda found: found[release]["attributes"][0]["groups"][group].update(rate=0.5)

    assert finds(rate(2, 0))
    assert finds(rate(0, 0))
    assert finds(lambda found: found[1]["changes"][0].update(told=False, reason="ranges_overlap"))
    assert finds(lambda found: found[1]["skipped"].append({"reason": "not_compared_now", "attribute": "public"}))
    assert finds(lambda found: found.pop(1))
    assert finds(lambda found: found[0].update(period="2030"))

    def other_people(found: Any) -> None:  # agrees with itself, not with what was published
        found[0]["attributes"][0]["groups"][0]["people"] += 5

    assert not finds(other_people)
    assert not finds(other_people, second)
    assert finds(other_people, first, second)


@pytest.mark.usefixtures("quick")
def test_replaced_and_changed_reports_are_not_shown(three_years: Path) -> None:
    first = _published(three_years, "2022")
    _published(three_years, "2023")
    (first / "report.json").write_text("{}")
    third = logs.publish(three_years, "2024")
    assert [of.period for of in third.report.series] == ["2023", "2024"]
    assert verify(third.documents) == []


def _write(folder: Path, content: dict[str, Any]) -> Path:
    path = folder / "r.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path
