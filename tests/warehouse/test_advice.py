"""How many people would be announced, which values are too common, and what other choices would bring."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from atr import pipeline
from atr.core.arrays import Values
from atr.core.regions import Regions
from atr.ingest import ingest
from atr.log_check import check
from atr.programme import Programme, load, variants
from atr.programme.periods import parse
from atr.warehouse import advice, coarsening
from atr.warehouse.advice import advise, left_out
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate, regions_of_rows
from atr.warehouse.shares import Shares
from tests.helpers import logs
from tests.helpers.paths import EXAMPLES

People = Mapping[Values, int]
"""By the values of sex, office and disability (or of what else a programme declares): people."""

PUBLIC = {"sex": {"role": "public"}, "office": {"role": "public"}}
DISABILITY = {"disability": {"role": "sensitive"}}
OFFICES = "".join(f"o{i},{'north' if i < 80 else 'south'},anywhere\n" for i in range(199))


def _programme(folder: Path, attributes: Any = None, **policy: Any) -> Programme:
    return logs.programme(folder, attributes=attributes or PUBLIC | DISABILITY, policy=policy)


def _counted(programme: Programme, people: Iterable[tuple[Values, int]], *, yes: int = 2) -> Regions:
    """Regions of so many people, of whom one in ``yes`` has the positive outcome."""
    values, sizes = zip(*((values, n) for values, n in people if n), strict=True)
    counts = np.array([[n // yes, n - n // yes] for n in sizes])
    return regions_of_rows(values, counts, programme=programme, outcomes=("yes", "no"))


def _spread(sex: str, offices: Iterable[int], people: int, kinds: str = "abc") -> dict[Values, int]:
    """People of some offices, as many of each kind."""
    return {(sex, f"o{i}", kind): people // len(kinds) for i in offices for kind in kinds}


# Women of office 0 are 1 % of all. Women are 80 %, in offices of 30; men are all of one kind, so that nothing is told.
SMALL_OFFICES = {
    **_spread("f", [0], 60), **_spread("f", range(1, 159), 30), **_spread("m", range(159, 199), 30, "a"),
}  # fmt: skip


def _advice(programme: Programme, people: People, label: str = "2013") -> list[str]:
    return _told({label: _counted(programme, people.items())}, programme)


def _told(periods: Mapping[str, Regions], programme: Programme) -> list[str]:
    shares = {label: Shares.of(coarsening.reported(regions, programme)) for label, regions in periods.items()}
    return [*advise(periods, shares, programme)]


def test_a_value_above_its_ceiling_is_named(tmp_path: Path) -> None:
    people = {("f", "o1", "none"): 85, ("f", "o1", "some"): 15}
    told = _advice(_programme(tmp_path), people)
    assert told[0] == "disability: 'none' is 85 % of the log, above the ceiling 0.75"
    assert not any("'some'" in text for text in told)
    just_above = {("f", "o1", "none"): 753, ("f", "o1", "some"): 247}
    assert "'none' is more than 75 % of the log" in _advice(_programme(tmp_path), just_above)[0]
    at_the_ceiling = {("f", "o1", "none"): 75, ("f", "o1", "some"): 25}
    assert not any("above" in text for text in _advice(_programme(tmp_path), at_the_ceiling))


def test_own_ceilings_of_values_and_sets_count(tmp_path: Path) -> None:
    own = {"disability": {"role": "sensitive", "title": "Disability", "max_confidence": 0.5,
                          "sets": {"any at all": {"values": ["deaf", "blind"], "max_confidence": 0.4}}}}  # fmt: skip
    people = {("f", "o1", "none"): 55, ("f", "o1", "deaf"): 25, ("f", "o1", "blind"): 20}
    first, second, *_ = _advice(_programme(tmp_path, PUBLIC | own), people)
    assert first == "Disability: 'none' is 55 % of the log, above the ceiling 0.5"
    assert second == "Disability: the set 'any at all' is 45 % of the log, above the ceiling 0.4"


def test_a_value_too_common_in_some_periods_only(tmp_path: Path) -> None:
    made = _programme(tmp_path)
    some = {"2013-Q1": 50, "2013-Q2": 80, "2013-Q3": 90}
    periods = {
        label: _counted(made, [(("f", "o1", "none"), n), (("f", "o1", "some"), 100 - n)]) for label, n in some.items()
    }
    told = _told(periods, made)
    assert "disability: 'none' is 90 % of 2013-Q3, above the ceiling 0.75, as in 1 more period" in told


def test_what_leaving_an_attribute_out_would_bring(tmp_path: Path) -> None:
    made = _programme(tmp_path)
    first, *others = _advice(made, SMALL_OFFICES)
    assert first == "without office: 80 % announced instead of 1 %"
    assert not any(text.startswith("without sex") for text in others)


def test_nothing_would_be_compared_by_a_protected_one(tmp_path: Path) -> None:
    attributes = PUBLIC | DISABILITY | {"office": {"role": "public", "protected": True, "title": "place of work"}}
    first, *_ = _advice(_programme(tmp_path, attributes), SMALL_OFFICES)
    assert first.startswith("without place of work: ")
    assert first.endswith(", but nothing compared by place of work")


def test_a_sensitive_attribute_that_is_too_common(tmp_path: Path) -> None:
    two = DISABILITY | {"income": {"role": "sensitive"}}
    people = {("f", f"o{i}", "none", kind): 30 for i in range(9) for kind in "abc"}
    people |= {("f", f"o{i}", "some", "a"): 1 for i in range(9)}
    common, first, *_ = _advice(_programme(tmp_path, PUBLIC | two), people)
    assert common == "disability: 'none' is 99 % of the log, above the ceiling 0.75"
    assert first == "without disability: 100 % announced instead of 0 %"


@pytest.mark.parametrize("unattainable", ["withhold", "flatten", "coarsen"])
def test_the_least_coarsening_that_does_is_told(tmp_path: Path, unattainable: str) -> None:
    (tmp_path / "offices.csv").write_text(OFFICES, encoding="utf-8")
    attributes = PUBLIC | DISABILITY | {"office": {"role": "public", "hierarchy": "offices.csv"}}
    first, *others = _advice(_programme(tmp_path, attributes, unattainable=unattainable), SMALL_OFFICES)
    assert first == "with office one level coarser: 80 % announced instead of 1 %"
    assert not any("office" in text for text in others)


def test_two_attributes_where_one_alone_brings_little(tmp_path: Path) -> None:
    attributes = PUBLIC | {"team": {"role": "public"}} | DISABILITY
    people = {("f", f"o{i}", f"t{i}", kind): 10 for i in range(9) for kind in "abc"}
    first, *_ = _advice(_programme(tmp_path, attributes), people)
    assert first == "without office and team: 100 % announced instead of 0 %"


def test_few_announced_is_never_passed_over(tmp_path: Path) -> None:
    people = _spread("f", [1], 30) | _spread("m", [2], 9)
    made = _programme(tmp_path, {"office": {"role": "public"}} | DISABILITY)
    (only,) = _advice(made, {values[1:]: n for values, n in people.items()})
    assert only.startswith("0 % of the people are announced, and leaving out attributes brings few more: take fewer")


def test_of_very_many_groups_no_change_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = _programme(tmp_path)
    monkeypatch.setattr(advice, "MOST_TRIED", (198, 10**9))
    (only,) = _advice(made, SMALL_OFFICES)
    assert only.startswith(
        "1 % of the people are announced, and there are too many groups or people to try changes: take fewer"
    )
    periods = {label: _counted(made, SMALL_OFFICES.items()) for label in ("2013-Q1", "2013-Q2")}
    monkeypatch.setattr(advice, "MOST_TRIED", (199, 10**9))
    first, *_ = _told(periods, made)
    assert first == "without office: 80 % announced instead of 1 %, in the last of 2 periods"


def test_longer_periods_may_bring_more(tmp_path: Path) -> None:
    made = _programme(tmp_path)
    quarter = _counted(made, (_spread("f", [1], 30) | _spread("m", [1], 18)).items())
    told = _told(dict.fromkeys(("2013-Q1", "2013-Q2", "2013-Q3", "2013-Q4"), quarter), made)
    assert "with period.every year: 100 % announced instead of 0 %" in told


def test_a_ceiling_under_which_more_are_announced(tmp_path: Path) -> None:
    attributes = PUBLIC | {"disability": {"role": "sensitive", "max_confidence": 0.72}}
    made = _programme(tmp_path, attributes, mechanism="optimal")
    people = _spread("f", [1], 90)
    for office, share in ((2, 71), (3, 76)):
        people |= {("f", f"o{office}", "a"): share, ("f", f"o{office}", "b"): 100 - share}
    of_ceilings = [text for text in _advice(made, people) if "max_confidence" in text]
    assert of_ceilings == [], "fewer would be announced at 0.7, and the value's own ceiling stays 0.72 at 0.8"
    assert variants.with_ceiling(made, 0.7).protection.own_ceilings == ()
    without_own = _programme(tmp_path, mechanism="optimal")
    assert _advice(without_own, people)[-1] == (
        "with max_confidence 0.8: 100 % announced instead of 66 %; decision regions: 7 instead of 5"
    )


def test_files_of_regions_leave_attributes_alone(tmp_path: Path) -> None:
    rows = [f"{','.join(values)},{n}" for values, n in SMALL_OFFICES.items()]
    (tmp_path / "census.csv").write_text("\n".join(["sex,office,disability,people", *rows]), encoding="utf-8")
    made = _programme(tmp_path, mechanism="optimal", side_information="census.csv")
    assert not any(text.startswith("without") for text in _advice(made, SMALL_OFFICES))


VALUES = st.tuples(st.sampled_from("fm"), st.sampled_from(["o1", "o2", "o3"]), st.sampled_from("abc"))
DRAWN = st.dictionaries(VALUES, st.integers(1, 120), min_size=1)


@settings(max_examples=30)
@given(DRAWN, st.sampled_from(["withhold", "flatten"]), st.sampled_from(["calibrated", "optimal"]))
def test_shares_add_up_and_know_no_decision(people: People, unattainable: str, mechanism: str) -> None:
    with TemporaryDirectory() as folder:
        made = _programme(Path(folder), unattainable=unattainable, mechanism=mechanism, minimum_group_size=20)
    counted, otherwise = (_counted(made, people.items(), yes=yes) for yes in (2, 200))
    reported = coarsening.reported(counted, made)
    shares = Shares.of(reported)
    assert shares.announced + shares.told_roughly + shares.left_out == shares.people == sum(people.values())
    assert shares.announced + shares.told_roughly == reported.group_population[reported.printed].sum()
    assert _told({"2013": counted}, made) == _told({"2013": otherwise}, made)


@pytest.mark.parametrize("name", ["age_cat", "race"])
def test_left_out_as_if_it_were_not_in_the_programme(tmp_path: Path, name: str) -> None:
    content = yaml.safe_load((EXAMPLES / "compas" / "programme.yaml").read_text(encoding="utf-8"))
    content["log"]["source"] = str(EXAMPLES / "compas" / "compas_decisions.csv")
    content["fairness"] = {}
    made = []
    for part in ("with", "without"):
        (tmp_path / f"{part}.yaml").write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        made.append(load(tmp_path / f"{part}.yaml"))
        content["attributes"].pop(name, None)
    of_period = []
    for programme in made:
        with Warehouse.in_memory() as warehouse:
            ingest(warehouse, programme)
            of_period.append(aggregate(warehouse, programme, parse("2013-Q3")))
    changed = variants.without(made[0], [name])
    mine = left_out(of_period[0], [name], changed)
    assert mine.values == of_period[1].values
    assert np.array_equal(mine.counts, of_period[1].counts)
    assert Shares.of(coarsening.reported(mine, changed)) == Shares.of(coarsening.reported(of_period[1], made[1]))


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(("example", "period"), [("card", "2021"), ("compas", "2014-Q2")])
def test_publish_tells_what_check_told(tmp_path: Path, example: str, period: str) -> None:
    content = yaml.safe_load((EXAMPLES / example / "programme.yaml").read_text(encoding="utf-8"))
    content["log"]["source"] = str(EXAMPLES / example / content["log"]["source"])
    content |= {"store": "store", "site": "site"}
    path = tmp_path / "programme.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    (row,) = (row for row in check(path).periods.to_dict("records") if row["period"] == period)
    draft = pipeline.publish(path, period)
    counts = draft.shares.counts()
    assert counts == {name: row[name] for name in counts}
    assert sum(counts.values()) == row["decisions"]
    assert ("announced instead of" in draft.advice) == (draft.shares.announced_share < 0.5)
