"""Figures beside those of the last published report: what is told, and what verify finds."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from atr.dossier import review
from atr.errors import VerifyError
from atr.programme import load
from atr.report import changes, model
from atr.verify import verify
from tests.helpers import sample, series
from tests.helpers.tables import tables, text

SHA = "a" * 64


def _report(women: float, men: float, *, spread: float = 0.0, **known: Any) -> model.PublicReport:
    sex = sample.attribute("sex", "sex", ("women", "men"), protected=True)
    income = sample.attribute("income", "income", ("low", "high"), role="sensitive")
    counts = {
        (("women",), "low"): (500, women), (("women",), "high"): (500, women),
        (("men",), "low"): (500, men), (("men",), "high"): (500, men),
    }  # fmt: skip
    known = {"references": {"sex": "men"}, **known}
    return sample.report((sex, income), counts, spread=spread, ceiling=1.0, **known)


def _earlier(women: float, men: float, **known: Any) -> model.PublicReport:
    period = model.PeriodInfo(label="2012", start="2012-01-01", end="2013-01-01", timezone=None)
    return _report(women, men, period=period, **known)


def _of(found: model.Changes, measure: str) -> model.Change:
    (entry,) = [c for c in found.entries if c.measure == measure]
    return entry


def _said(report: model.PublicReport, found: model.Changes) -> str:
    return text(report.model_copy(update={"changes": found}), "comparisons")


def _told(report: model.PublicReport, found: model.Changes) -> set[str]:
    rows = tables(report.model_copy(update={"changes": found}), "comparisons")["Beside the report on 2012, version 1"]
    return {row[-1] for row in rows[1:]}


def test_a_change_is_told_only_where_ranges_do_not_overlap() -> None:
    now = _report(0.3, 0.6)
    exact = changes.since(now, _earlier(0.45, 0.6), sha256=SHA)
    ratio = _of(exact, "p_percent_rule")
    assert (ratio.previous, ratio.value, ratio.change, ratio.flagged) == (0.75, 0.5, -0.25, True)
    assert _told(now, exact) == {"lower", "higher"}
    parity = _of(exact, "statistical_parity")
    assert (parity.previous, parity.value, parity.change, parity.flagged) == (0.15, 0.3, 0.15, True)
    blurred = changes.since(_report(0.3, 0.6, spread=0.1), _earlier(0.45, 0.6, spread=0.1), sha256=SHA)
    assert not any(entry.flagged for entry in blurred.entries)
    assert _told(now, blurred) == {"no change can be told"}


def test_rounding_of_exact_figures_is_no_change() -> None:
    """0.799 and 0.8 may both stand for 0.7995."""
    near, far = (changes.since(_report(0.8 * 0.5, 0.5), _earlier(x * 0.5, 0.5), sha256=SHA) for x in (0.799, 0.798))
    assert [_of(found, "p_percent_rule").flagged for found in (near, far)] == [False, True]
    assert [found.margin[0].flagged for found in (near, far)] == [False, True]


def test_the_margin_is_of_the_ratio_furthest_from_1() -> None:
    (margin,) = changes.since(_report(0.3, 0.6), _earlier(0.6, 0.3), sha256=SHA).margin
    assert (margin.previous, margin.value, margin.change) == (-0.3, -0.3, 0.0)  # 2 is as far from 1 as a half
    now = _report(0.54, 0.6)
    found = changes.since(now, _earlier(0.42, 0.6), sha256=SHA)
    (margin,) = found.margin
    assert (margin.previous, margin.value, margin.change, margin.flagged) == (-0.1, 0.1, 0.2, True)
    assert "0.100 within the line of 0.8; in the report before" in _said(now, found)
    assert "0.100 beyond the line of 0.8; changed." in _said(now, found)


def test_a_group_of_too_few_people_has_no_margin() -> None:
    now, before = (
        [e.model_copy(update={"reason": "too_few_people", "verdict": "cannot_tell"}) for e in made.fairness]
        for made in (_report(0.3, 0.6), _earlier(0.3, 0.6))
    )
    few, was_few = _report(0.3, 0.6), _earlier(0.3, 0.6)
    few = few.model_copy(update={"fairness": tuple(now)})
    was_few = was_few.model_copy(update={"fairness": tuple(before)})
    for report, previous in ((few, was_few), (few, _earlier(0.3, 0.6)), (_report(0.3, 0.6), was_few)):
        found = changes.since(report, previous, sha256=SHA)
        assert found.margin == ()
        assert len(found.entries) == 2


def test_a_ratio_that_does_not_exist_has_no_change() -> None:
    now, before = _report(0.3, 0.6), _earlier(0.3, 0.0)
    found = changes.since(now, before, sha256=SHA)
    ratio = _of(found, "p_percent_rule")
    assert (ratio.previous, ratio.change) == (None, None)
    assert found.margin[0].previous == -0.8
    assert list(changes.problems(now.model_copy(update={"changes": found}))) == []


def test_the_margin_is_told_whatever_the_reference_was() -> None:
    """The ratios have other bases, but the furthest of each report can be compared."""
    now = _report(0.3, 0.6)
    found = changes.since(now, _earlier(0.6, 0.6, references={"sex": "women"}), sha256=SHA)
    assert found.entries == ()
    assert [(m.previous, m.value, m.flagged) for m in found.margin] == [(0.2, -0.3, True)]
    assert "others were compared with women, and are now compared with men" in _said(now, found)
    assert list(changes.problems(now.model_copy(update={"changes": found}))) == []


@pytest.mark.parametrize(
    ("earlier", "text"),
    [
        (_earlier(0.3, 0.6, outcomes=("mild", "harsh")), "The favourable outcome was “mild” and is now “low”"),
        (sample.none_announced(), "nothing was compared then"),
    ],
)
def test_what_cannot_be_compared_is_said(earlier: model.PublicReport, text: str) -> None:
    now = _report(0.3, 0.6)
    found = changes.since(now, earlier, sha256=SHA)
    assert (found.entries, found.margin) == ((), ())
    assert text in _said(now, found)


def test_groups_without_a_counterpart_are_named() -> None:
    references = {"attribute_0": "value a 0"}
    now = sample.grid((8, 2), 2, people=400, ceiling=1.0, references=references)
    before = sample.grid((3, 2), 2, people=400, ceiling=1.0, references=references)
    found = changes.since(now, before, sha256=SHA)
    assert "no earlier figure: " in _said(now, found)
    assert len({c.groups for c in found.entries}) == 2


def _log(folder: Path, name: str, counts: dict[tuple[str, str], tuple[int, int]], *, day: str) -> None:
    path = folder / f"{name}.csv"
    series.write_log(path, counts, day=day)
    path.write_text(path.read_text().replace("\n0", f"\n{name}"))


@pytest.fixture
def two_years(tmp_path: Path) -> Path:
    folder = tmp_path / "s"
    path = series.write_series(folder, series.card(10), population_rounding=1)
    (folder / "log.csv").unlink()
    _log(folder, "log-a", series.card(10), day="2023-12-06")
    fewer = {key: (people, approved // 2) for key, (people, approved) in series.card(10).items()}
    _log(folder, "log-b", fewer, day="2024-12-06")
    content = yaml.safe_load(path.read_text())
    content["log"]["source"] = "log-*.csv"
    path.write_text(yaml.safe_dump(content))
    return path


def _content(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return content


def _write(path: Path, content: dict[str, Any]) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.usefixtures("quick")
def test_only_published_reports_are_compared_and_verified(two_years: Path, tmp_path: Path) -> None:
    programme = load(two_years)
    series.publish(two_years, "2023")
    first = series.publish(two_years, "2024")
    assert "changes" not in _content(first.documents)

    _, earlier = review.review(programme, "2023", approve=True, name="R. Viewer", comment="read it")
    second = series.publish(two_years, "2024")
    assert second.new
    assert second.release.version == first.release.version
    content = _content(second.documents)
    assert content["changes"]["period"] == "2023"
    assert all(entry["flagged"] for entry in content["changes"]["entries"])
    assert verify(second.documents) == verify(second.documents, previous=earlier) == []
    assert not series.publish(two_years, "2024").new

    forged = copy.deepcopy(content)
    entry = forged["changes"]["entries"][0]
    entry["previous"] = entry["previous_range"][0] = entry["previous_range"][1] = 0.123
    entry["change"] = round(entry["value"] - 0.123, 6)
    path = _write(tmp_path / "r.json", forged)
    assert any("changes.entries" in str(finding) for finding in verify(path, previous=earlier))

    def finds(change: Any) -> bool:
        forged = copy.deepcopy(content)
        change(forged["changes"])
        return bool(verify(_write(tmp_path / "r.json", forged), previous=earlier))

    for name in ("entries", "margin"):
        for key, value in content["changes"][name][0].items():
            if isinstance(value, float):
                assert finds(lambda c, n=name, k=key, v=value: c[n][0].update({k: round(v + 0.001, 6)})), (name, key)
        assert finds(lambda c, n=name: c[n][0].update(flagged=not c[n][0]["flagged"]))
        assert finds(lambda c, n=name: c[n].append(c[n][0]))
    assert finds(lambda c: c.update(period="2024"))
    assert finds(lambda c: c.update(period="then"))

    with pytest.raises(VerifyError, match="no earlier one"):
        verify(earlier, previous=second.documents)

    review.review(programme, "2024", approve=True, name="R. Viewer", comment="read it")
    with (earlier / "report.json").open("a") as file:
        file.write("\n")
    assert not series.publish(two_years, "2024").new, "what was published stays, whatever became of an earlier report"
