"""Group fairness in a whole report: intersections, references, small groups, values nobody announced has."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atr.core.announcement import Announcement
from atr.core.regions import Regions
from atr.documents import csv as annex
from atr.errors import VerifyError
from atr.measures import MEASURES
from atr.measures import group_fairness as fairness
from atr.measures.parity import PARITY
from atr.programme import Programme
from atr.report import empty_categories as absent
from atr.report import model
from atr.report.comparisons import ComparisonFormatter
from atr.verify.comparisons import contradictions
from atr.verify.statements import findings
from tests.helpers import forging, series, whole
from tests.helpers.tables import tables, text

RACES, SEXES, LEVELS, CHARGES = ("a", "b, c", "d", "unknown"), ("women", "men"), ("low", "mid", "high"), ("x", "y")


def _programme(**changes: Any) -> Programme:
    content = series.programme(minimum_group_size=30, max_confidence=0.95, population_rounding=5)
    content["attributes"] = {
        "race": {
            "role": "public", "protected": True, "title": "race",
            "values": {"a": "a", "b": "b, c", "d": "d", "z": "nobody has it", "e": "all too few"},
        },
        "sex": {"role": "public", "protected": True, "title": "sex", "reference": "men"},
        "charge": {"role": "public", "legitimate": True, "title": "charge"},
        "level": {"role": "sensitive", "protected": True, "title": "level", "reference": {"by": "largest"}},
    }  # fmt: skip
    content["fairness"] = {"intersections": [["race", "sex"], ["sex", "level"]]}
    content["policy"] |= changes
    return Programme.model_validate(content)


def _regions(programme: Programme, races: tuple[str, ...]) -> Regions:
    rng = np.random.default_rng(5)
    groups, rows = [], []
    for race in races:
        for sex in SEXES:
            for charge in CHARGES:
                few = race not in RACES
                groups.append(((race, sex, charge), len(LEVELS)))
                for level in LEVELS:
                    people = int(rng.integers(3, 6)) if few else int(rng.integers(20, 60))
                    if race == "d" and not few:
                        people //= 2
                    yes = int(rng.integers(0, people + 1))
                    rows.append(((level,), (yes, people - yes)))
    return Regions(
        public=("race", "sex", "charge"),
        protection=programme.protection,
        outcomes=("approved", "refused"),
        group_values=tuple(values for values, _ in groups),
        region_values=tuple(values for values, _ in rows),
        counts=np.array([counts for _, counts in rows], dtype=np.int64),
        offsets=np.cumsum([0, *(size for _, size in groups)], dtype=np.int64),
    )


@cache
def _made(
    rates: str = "exact", minimum: int = 30, races: tuple[str, ...] = (*RACES, "all too few", "only in the log")
) -> tuple[model.PublicReport, Announcement, list[str]]:
    programme = _programme(group_rates=rates, minimum_group_size=minimum)
    regions = _regions(programme, races)
    solved = whole.solved(programme, regions)
    announced = whole.announced(programme, regions, solved)
    report = whole.report(programme, regions, announced)
    failed = whole.failed_checks(programme, regions, solved, announced, report)
    return report, announced, [check.name for check in failed if "accounted" not in check.name]


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_a_report_with_intersections_bears_itself_out(rates: str) -> None:
    report, announced, failed = _made(rates)
    whole.verifies(report, announced)
    assert failed == []


def test_intersections_have_every_measure_under_a_readable_name() -> None:
    report, _, _ = _made()
    entries = [e for e in report.fairness if e.attribute == "race and sex"]
    assert {e.attributes for e in entries} == {("race", "sex")}
    assert {e.measure for e in entries} == {
        "p_percent_rule", "statistical_parity", "conditional_statistical_parity"
    }  # fmt: skip
    assert {e.summary for e in entries} == {None, "worst_class", "mean_over_classes"}
    assert '"b, c", women' in {who for e in entries for who in e.groups}
    by = {by.attribute: by for by in report.compared}
    assert by["sex"].chosen == "named"
    assert by["race"].chosen == by["race and sex"].chosen == "highest"
    assert by["level"].chosen == by["sex and level"].chosen == "largest"
    shares: dict[str, int] = {}
    for group in report.announced_groups:
        for region in group.regions:
            who = f"{group.public['sex']}, {region.sensitive['level']}"
            shares[who] = shares.get(who, 0) + region.population
    assert by["sex and level"].reference == max(shares, key=lambda who: shares[who])
    assert not any("unknown" in e.reference for e in report.fairness)
    assert any("unknown" in who for e in entries for who in e.groups)


RATE_DIFFERENCE = dataclasses.replace(PARITY, name="rate_difference", by_outcome=True)
"""A measure that the product does not have."""


@pytest.mark.parametrize("rates", ["exact", pytest.param("free", marks=pytest.mark.long)])
def test_a_registered_measure_is_reported_and_verified(rates: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MEASURES, RATE_DIFFERENCE.name, RATE_DIFFERENCE)
    report, announced, failed = _made.__wrapped__(rates)
    found = [e for e in report.fairness if e.measure == RATE_DIFFERENCE.name]
    parities = {(e.attribute, e.groups): e for e in report.fairness if e.measure == PARITY.name}
    assert {e.outcome for e in found} == set(report.outcomes)
    for e in found:  # of two outcomes, either differs by as much as all together
        parity = parities[e.attribute, e.groups]
        assert (e.value, e.range) == (parity.value, parity.range)
        assert e.verdict == (parity.verdict if e.outcome == report.positive else None)
    whole.verifies(report, announced)
    assert failed == []


def test_values_that_nobody_shown_has_are_named() -> None:
    """Declared or not: who looks for a figure about them learns that there is none."""
    report, _, _ = _made()
    by = {by.attribute: by.absent for by in report.compared}
    assert by == {
        "race": ("nobody has it", "all too few", "only in the log"), "sex": (), "level": (), "sex and level": (),
        "race and sex": tuple(
            f"{race}, {sex}" for race in ("nobody has it", "all too few", "only in the log") for sex in ("men", "women")
        ),
    }  # fmt: skip
    told = text(report, "comparisons")
    assert "Nobody announced has these: “nobody has it”, “all too few” and “only in the log”." in told
    assert "“only in the log, men” and “only in the log, women”." in told


def _small(
    *cells: tuple[str, str, int, int], declared: tuple[str, ...] = ()
) -> tuple[model.PublicReport, Announcement]:
    """A report on race and sex: so many people and approvals each."""
    content = json.loads(_programme(minimum_group_size=30).model_dump_json(by_alias=True))
    content["attributes"]["race"] |= {"values": {race: race for race in ("a", "b", *declared)}, "reference": "a"}
    content["attributes"]["level"] = {"role": "sensitive", "title": "level"}
    content["fairness"]["intersections"] = [["race", "sex"]]
    programme = Programme.model_validate(content)
    regions = Regions(
        public=("race", "sex", "charge"),
        protection=programme.protection,
        outcomes=("approved", "refused"),
        group_values=tuple((race, sex, "x") for race, sex, *_ in cells),
        region_values=(("low",), ("high",)) * len(cells),
        counts=np.array([(yes, n - yes) for *_, n, yes in cells for _ in range(2)], dtype=np.int64),
        offsets=np.arange(0, 2 * len(cells) + 1, 2, dtype=np.int64),
    )
    announced = whole.announced(programme, regions)
    return whole.report(programme, regions, announced), announced


ALIKE = (("a", "women", 50, 30), ("a", "men", 60, 40), ("b", "men", 60, 20))


def test_combinations_nobody_has_are_named_and_lists_cut() -> None:
    report, announced = _small(*ALIKE, declared=tuple(f"race {i:02}" for i in range(12)))
    whole.verifies(report, announced)
    (absent,) = (by.absent for by in report.compared if len(by.attributes) > 1)
    assert len(absent) == 14 * 2 - 3
    assert absent[0] == "b, women"
    assert "and 17 others." in text(report, "comparisons")
    for forged in (absent[1:], (*absent, "b, men"), ("b, men", *absent[1:])):
        compared = tuple(
            by.model_copy(update={"absent": forged}) if len(by.attributes) > 1 else by for by in report.compared
        )
        assert list(findings(report.model_copy(update={"compared": compared})))


def test_combinations_too_many_to_list_are_said_not_listed() -> None:
    report, _ = _small(*ALIKE)
    longer = tuple(
        a.model_copy(update={"values": (*a.values, *(f"{a.name} {i}" for i in range(10**5)))})
        for a in report.attributes
    )
    by = report.compared[-1].model_copy(
        update={"attributes": ("race", "sex", "charge", "level"), "attribute": "race and sex and charge and level"}
    )
    many = report.model_copy(update={"attributes": longer, "compared": (*report.compared[:-1], by)})
    assert absent.compared(many)[-1].absent == ()
    assert "not listed: there are more than 1,000" in text(many, "comparisons")
    assert list(findings(many)), "no report is so: it ends at once all the same"


def test_groups_of_the_same_people_are_said_to_be() -> None:
    """Nobody of race b but men: “b” and “b, men” are the same people, the second against men of race a."""
    report, _ = _small(*ALIKE)
    verdicts = {(e.attribute, e.groups[0]): e.verdict for e in report.fairness if e.threshold and e.is_ratio}
    assert verdicts["race", "b"] == verdicts["race and sex", "b, men"] == "not_met"
    assert "The same people as in a table above: “a, women” (as “women”) and “b, men” (as “b”)." in text(
        report, "comparisons"
    )


def test_the_worst_class_is_named_where_it_is_counted() -> None:
    report, _, _ = _made()
    worst = [e for e in report.fairness if e.summary == "worst_class"]
    assert worst
    for e in worst:
        (value,) = {
            c.value for c in report.fairness
            if c.groups == e.groups and c.attribute == e.attribute and c.condition == e.worst_condition
            and c.measure == e.measure and c.summary is None
        }  # fmt: skip
        assert value == e.value
    labels = {row[0].split(";")[0] for rows in tables(report, "comparisons").values() for row in rows}
    assert {label for label in labels if ": largest" in label} == {
        f"{who}: largest (charge: {e.worst_condition['charge']})"
        for e in worst for who in e.groups if who != e.reference and e.reference in e.groups
    }  # fmt: skip
    told = text(report, "comparisons")
    assert "A class is everybody alike in what may count, as the publisher states: charge." in told
    assert told.count("Figures over all classes have no simple interval") == 1


def test_a_group_of_too_few_people_is_listed_without_a_verdict() -> None:
    report, _, _ = _made(minimum=140)
    small = [e for e in report.fairness if e.threshold is not None and not e.summary and min(e.people) < 140]
    assert small
    assert {(e.verdict, e.reason, e.shortfall) for e in small} == {("cannot_tell", "too_few_people", None)}
    verdicts = {row[-1] for rows in tables(report, "comparisons").values() for row in rows}
    assert "too few people" in verdicts
    assert "Too few people: fewer than 140 in one of the two groups." in text(report, "comparisons")
    rows = list(csv.DictReader(io.StringIO(annex.fairness(report).decode(), newline="")))
    assert [row["reason"] for row in rows] == [e.reason or "" for e in report.fairness]
    assert [row["summary"] for row in rows] == [e.summary or "" for e in report.fairness]
    assert [row["shortfall"] for row in rows] == [
        "" if e.shortfall is None else str(e.shortfall) for e in report.fairness
    ]


def test_every_attribute_and_intersection_has_a_table() -> None:
    report, _, _ = _made()
    found = {label.split(",")[0]: rows for label, rows in tables(report, "comparisons").items()}
    assert list(found)[:5] == ["By race", "By sex", "By level", "By race and sex", "By sex and level"]
    (_, _, *rows) = found["By race and sex"]
    labels = [row[0] for row in rows[: next(i for i, row in enumerate(rows) if len(row) == 1)]]
    assert sorted(labels[:2]) == ["a, men", "a, women"]
    assert labels[-1].startswith("unknown")


@pytest.mark.long
def test_every_change_of_what_is_compared_is_found() -> None:
    report, announced, _ = _made(races=RACES[:2], minimum=140)
    content = json.loads(report.to_json())
    kinds: dict[tuple[Any, ...], int] = {}
    for i, e in enumerate(content["fairness"]):
        kinds.setdefault((e["measure"], e.get("summary"), e.get("reason")), i)
    assert len(kinds) == 6
    parts = [("compared",), *(("fairness", i) for i in kinds.values())]
    for path in (path for part in parts for path in forging.nodes(forging.value_at(content, part), part)):
        old = forging.value_at(content, path)
        if isinstance(old, dict | list):
            continue
        new = old + 1 if isinstance(old, int | float) else "high" if old != "high" else "low"
        changed = forging.with_value(content, path, new)
        try:
            forged = model.PublicReport.model_validate(changed)
        except (ValueError, VerifyError):
            continue
        if path[-1] == "chosen" and old == "named":
            continue
        assert list(findings(forged, population=announced.people)), path


@pytest.mark.parametrize(
    "change",
    [
        lambda r: r["compared"].pop(0),
        lambda r: r["compared"].append(r["compared"][-1]),
        lambda r: r["compared"][0].update(absent=[]),
        lambda r: r["compared"][3].update(attributes=["race", "shoe size"]),
        lambda r: r["compared"][3].update(attributes=[]),
        lambda r: r["compared"][1].update(reference=None, chosen=None),
        lambda r: r["compared"][1].update(reference="women"),
        lambda r: r["compared"][2].update(reference="nobody"),
        lambda r: r["compared"].clear(),
        lambda r: [e.pop("shortfall", None) for e in r["fairness"]],
        lambda r: [e.update(shortfall=e.get("shortfall", 0) + 5) for e in r["fairness"]],
    ],
)
def test_a_forged_comparison_is_found_with_rounded_populations(change: Any) -> None:
    report, _, _ = _made(races=(*RACES[:2], "all too few"))
    content = json.loads(report.to_json())
    change(content)
    assert list(findings(model.PublicReport.model_validate(content)))


@pytest.mark.parametrize("measure", ["p_percent_rule", "statistical_parity"])
def test_contradicting_figures_are_found_despite_rounding(measure: str) -> None:
    report, _, _ = _made()
    how = ComparisonFormatter(report.policy)
    exact = [
        i for i, e in enumerate(report.fairness)
        if e.measure == measure and e.outcome in (None, "approved") and e.range == (e.value, e.value) and e.value
        and e.attribute in ("race", "sex") and not e.condition and not e.summary
    ]  # fmt: skip
    assert len(exact) > 2
    for i in exact:
        value = round((report.fairness[i].value or 0) + 0.03, 3)
        forged = how.judged(report.fairness[i].model_copy(update={"value": value, "range": (value, value)}))
        found = contradictions(
            report.model_copy(update={"fairness": (*report.fairness[:i], forged, *report.fairness[i + 1 :])})
        )
        assert [f.where for f in found] == [f"fairness, {forged.attribute}"]
    assert not list(contradictions(report))


def test_rounding_alone_gives_no_verdict() -> None:
    """A ratio of 0.7996 is not met, and would be printed as 0.8, which is."""
    of_two = fairness.Comparison(
        measure="p_percent_rule", by=fairness.GroupingSpec(("sex",)), groups=("women", "men"), reference="men",
        condition=(),
        outcome="approved", value=0.7996, range=(0.7996, 0.7996), threshold=0.8, people=(990, 800), rates=(0.4, 0.5),
    )  # fmt: skip
    how = ComparisonFormatter(_programme().policy)
    entry = how.entry(of_two)
    assert (entry.value, entry.range, entry.verdict) == (0.8, (0.799, 0.8), "cannot_tell")
    clear = how.entry(dataclasses.replace(of_two, value=0.8004, range=(0.8004, 0.8004)))
    assert (clear.value, clear.range, clear.verdict) == (0.8, (0.8, 0.8), "met")


def test_what_intersections_are_called_is_no_attribute() -> None:
    content = json.loads(_programme().model_dump_json(by_alias=True))
    content["attributes"]["race and sex"] = content["attributes"]["charge"]
    with pytest.raises(ValueError, match="is what an intersection is called"):
        Programme.model_validate(content)


def test_two_pairs_of_values_never_share_a_name(tmp_path: Path) -> None:
    values = ("a", "b", "a, b", '"a', 'b"', "", ", ")
    pairs = [(x, y) for x in values for y in values]
    assert len({fairness.joined(pair) for pair in pairs}) == len(pairs)


def test_figures_that_follow_are_always_recomputed() -> None:
    report, _, _ = _made("exact")
    other = report.model_copy(update={"provenance": report.provenance.model_copy(update={"atr": "0.0.9"})})
    assert list(findings(other)) == [], "whichever version made it"
    first, *rest = other.influence
    forged = [
        {"influence": (first.model_copy(update={"value": 0.0}), *rest)},
        {"influence": ()},
        {"surrogate": None},
        {"surrogate": other.surrogate and other.surrogate.model_copy(update={"explained": 1.0})},
        {"policy": other.policy.model_copy(update={"sampling": None})},
    ]
    for change in forged:
        assert list(findings(other.model_copy(update=change))), change
