"""Where nothing is altered, fairness is what Fairlearn finds in the decisions themselves, and everybody is counted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations
from math import isnan
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
import yaml
from fairlearn.metrics import MetricFrame, count, selection_rate

from atr import ingest
from atr.core.announcement import Announcement
from atr.core.display_text import UNKNOWN
from atr.measures.group_fairness import Comparison
from atr.programme import Programme, load
from atr.programme.periods import ALL
from atr.report import build, model
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse
from tests.helpers import series, whole
from tests.helpers.paths import EXAMPLES

DIGITS = 6
GRID = 10.0**-DIGITS
"""By so much a printed chance may be off, and with it a rate that is put together from several."""
COMPAS, THREE, MORTGAGE = "compas/programme.yaml", "compas/three-outcomes.yaml", "mortgage/programme.yaml"
COMPARED = [
    *((COMPAS, (name,)) for name in ("sex", "age_cat", "race")),
    *((THREE, (name,)) for name in ("sex", "race")),
    *((MORTGAGE, (name,)) for name in ("race", "sex")),
]
"""What people are compared by in which bundled programme; of an intersection, its attributes."""
CLASSES = {
    COMPAS: [("c_charge_degree",), ("c_charge_degree", "priors_count")],
    THREE: [("c_charge_degree",)],
    MORTGAGE: [("debt_ratio",)],
}
"""Within which classes they are."""
COMPARED_WITHIN = [(example, by, within) for example, by in COMPARED for within in CLASSES[example]]


@dataclass(frozen=True)
class Unaltered:
    """What atr makes of a log where the true rules are announced."""

    programme: Programme
    log: pd.DataFrame
    announced: Announcement
    comparisons: list[Comparison]
    report: model.PublicReport


@cache
def unaltered(example: str, within: tuple[str, ...] | None = None) -> Unaltered:
    """A bundled log through the pipeline, with everybody announced, exact, and nothing moved or rounded away."""
    within = within or CLASSES[example][0]
    programme = _programme(example, within)
    found, announced = _announced(example)
    report = whole.report(programme, found, announced)
    return Unaltered(programme, _read(programme), announced, build.measure(announced, programme), report)


@cache
def _announced(example: str) -> tuple[regions.Regions, Announcement]:
    """The same for all classes: what is legitimate changes nothing that is announced."""
    programme = _programme(example, ())
    with Warehouse.in_memory() as warehouse:
        ingest.ingest(warehouse, programme)
        found = regions.aggregate(warehouse, programme, ALL)
    return found, whole.announced(programme, found)


def _programme(example: str, within: tuple[str, ...]) -> Programme:
    path = EXAMPLES / example
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["policy"] |= series.OPTIMAL | {
        "fidelity": {"delta": 1.0},
        "max_confidence": 1.0,
        "minimum_group_size": 1,
        "population_rounding": 1,
        "digits": DIGITS,
    }
    compared = {name for of, by in COMPARED if of == example for name in by}
    for name, attribute in content["attributes"].items():
        attribute |= {"protected": name in compared, "legitimate": name in within}
    content["log"]["source"] = str(path.parent / content["log"]["source"])
    with TemporaryDirectory() as folder:
        changed = Path(folder) / "programme.yaml"
        changed.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
        return load(changed)


def _read(programme: Programme) -> pd.DataFrame:
    """The log as pandas reads it, with the names that a report shows."""
    log = programme.log
    rows = pd.read_csv(programme.path.parent / log.source, dtype=str, keep_default_na=False)
    shown = pd.DataFrame()
    for name, attribute in programme.attributes.items():
        if attribute.bins is not None:
            edges = [-np.inf, *attribute.bins, np.inf]
            cut = pd.cut(rows[name].astype(float), edges, right=False, labels=list(attribute.labels or ()))
            shown[name] = cut.astype(str)
        else:
            shown[name] = rows[name].replace(attribute.values or {}).replace("", UNKNOWN)
    raw = {value: outcome for outcome, values in (log.outcomes or {}).items() for value in values}
    return shown.assign(outcome=rows[log.outcome].map(raw))


def _frame(of: Unaltered, by: tuple[str, ...], within: tuple[str, ...] = ()) -> MetricFrame:
    """What Fairlearn finds: the rate of every outcome in every group, and the people."""
    outcomes = of.announced.outcomes
    decided = of.log.outcome.map(outcomes.index)
    rates = {outcome: partial(selection_rate, pos_label=number) for number, outcome in enumerate(outcomes)}
    return MetricFrame(
        metrics={**rates, "people": count},
        y_true=decided,
        y_pred=decided,
        sensitive_features=of.log[list(by)],
        control_features=of.log[list(within)] if within else None,
    )


def _groups(frame: pd.DataFrame) -> dict[str, pd.Series]:
    """The rates and people of every group that there is, by the name that a report gives it."""
    present = frame[frame.people > 0]
    return {", ".join(key if isinstance(key, tuple) else (key,)): row for key, row in present.iterrows()}


def _printed(
    of: Unaltered, by: tuple[str, ...], measure: str, within: tuple[str, ...] = ()
) -> list[tuple[model.Fairness, Comparison]]:
    """The entries of a report, each with the numbers that it was rounded from."""
    exact = {(c.measure, c.groups, c.condition, c.outcome): c for c in of.comparisons}
    return [
        (entry, exact[entry.measure, entry.groups, tuple(entry.condition.items()), entry.outcome])
        for entry in of.report.fairness
        if (entry.measure, entry.attribute, tuple(entry.condition)) == (measure, " and ".join(by), within)
    ]


def _reference(of: Unaltered, by: tuple[str, ...]) -> str:
    """The group that is named in the programme, or else the one with the highest rate."""
    named = of.programme.attributes[by[0]].reference if len(by) == 1 else None
    if named is not None:
        return of.programme.attributes[by[0]].shown(named)
    groups = _groups(_frame(of, by).by_group)
    return max(
        (name for name in groups if UNKNOWN not in name), key=lambda name: groups[name][of.announced.outcomes[0]]
    )


def _apart(a: pd.Series, b: pd.Series, outcomes: tuple[str, ...]) -> float:
    """The distance of two groups' outcomes: half of what the rates differ by, all together."""
    return float(sum(abs(a[outcome] - b[outcome]) for outcome in outcomes)) / 2


def _every_pair(found: list[tuple[model.Fairness, Comparison]], groups: dict[str, pd.Series], reference: str) -> None:
    assert len(found) == len(groups) * (len(groups) - 1) / 2
    assert {frozenset(entry.groups) for entry, _ in found} == {frozenset(pair) for pair in combinations(groups, 2)}
    assert all(entry.groups[1] == reference for entry, _ in found if reference in entry.groups)


def _same_people_and_rates(
    entry: model.Fairness, exact: Comparison, groups: dict[str, pd.Series], outcome: str, *, off: float
) -> None:
    pair = [groups[name] for name in entry.groups]
    assert entry.people == tuple(row.people for row in pair)
    assert exact.rates == pytest.approx([row[outcome] for row in pair], abs=off, rel=0)
    assert entry.rates == pytest.approx([row[outcome] for row in pair], abs=0.005 + off, rel=0)


@pytest.mark.parametrize("example", [COMPAS, THREE, MORTGAGE])
def test_everybody_is_counted_with_the_outcome_they_had(example: str) -> None:
    of = unaltered(example)
    public, sensitive = of.programme.names(role="public"), of.programme.names(role="sensitive")
    counted = of.log.groupby([*public, *sensitive]).outcome.value_counts().unstack(fill_value=0)
    values = build.columns(of.announced, of.programme)
    found = pd.MultiIndex.from_arrays([values[name] for name in (*public, *sensitive)])
    assert found.is_unique
    assert {*found} == {*counted.index}
    people = counted.loc[found, list(of.announced.outcomes)].to_numpy()
    with_outcome = of.announced.people[:, None] * of.announced.chance / 10**DIGITS
    assert np.rint(with_outcome).astype(int).tolist() == people.tolist()
    assert of.announced.published.tolist() == of.announced.people.tolist() == people.sum(axis=1).tolist()
    assert of.report.coverage.decisions == len(of.log)
    assert of.report.coverage.announced_share == 1
    whole.verifies(of.report, of.announced)


@pytest.mark.parametrize(("example", "by"), COMPARED, ids=str)
def test_rates_ratios_and_differences_are_those_of_fairlearn(example: str, by: tuple[str, ...]) -> None:
    of = unaltered(example)
    frame = _frame(of, by)
    groups, outcomes = _groups(frame.by_group), of.announced.outcomes
    reference = _reference(of, by)

    ratios = _printed(of, by, "p_percent_rule")
    for outcome in outcomes:
        of_outcome = [(entry, exact) for entry, exact in ratios if entry.outcome == outcome]
        _every_pair(of_outcome, groups, reference)
        for entry, exact in of_outcome:
            _same_people_and_rates(entry, exact, groups, outcome, off=1e-12)
            a, b = (groups[name][outcome] for name in entry.groups)
            if b == 0:
                assert (entry.value == 1) if a == 0 else (entry.value is None and isnan(exact.value))
                continue
            assert exact.value == pytest.approx(a / b, rel=1e-12)
            assert entry.value == pytest.approx(a / b, abs=GRID / 2 * 1.001, rel=0)
            assert entry.range == (entry.value, entry.value)

    differences = _printed(of, by, "statistical_parity")
    _every_pair(differences, groups, reference)
    for entry, exact in differences:
        _same_people_and_rates(entry, exact, groups, outcomes[0], off=1e-12)
        expected = _apart(*(groups[name] for name in entry.groups), outcomes)
        assert exact.value == pytest.approx(expected, abs=1e-12)
        assert entry.value == pytest.approx(expected, abs=GRID / 2 * 1.001, rel=0)

    widest = max(abs(exact.rates[0] - exact.rates[1]) for _, exact in differences)
    assert widest == pytest.approx(frame.difference()[outcomes[0]])
    smallest = min(min(c.value, 1 / c.value) for entry, c in ratios if entry.outcome == outcomes[0])
    assert smallest == pytest.approx(frame.ratio()[outcomes[0]])


@pytest.mark.parametrize(("example", "by", "within"), COMPARED_WITHIN, ids=str)
def test_differences_within_classes_are_those_of_fairlearn(
    example: str, by: tuple[str, ...], within: tuple[str, ...]
) -> None:
    of = unaltered(example, within)
    frame = _frame(of, by, within).by_group
    outcomes = of.announced.outcomes
    # Within classes of a sensitive attribute rates are put together from rounded chances, else of whole groups.
    off = GRID if set(within) & set(of.programme.names(role="sensitive")) else 1e-12
    entries, reference = _printed(of, by, "conditional_statistical_parity", within), _reference(of, by)
    classes = {tuple(entry.condition.values()) for entry, _ in entries}
    for values in classes:
        groups = _groups(frame.loc[values])
        inside = [found for found in entries if tuple(found[0].condition.values()) == values]
        _every_pair(inside, groups, reference)
        for entry, exact in inside:
            _same_people_and_rates(entry, exact, groups, outcomes[0], off=off)
            expected = _apart(*(groups[name] for name in entry.groups), outcomes)
            assert exact.value == pytest.approx(expected, abs=2 * off, rel=0)
            assert entry.value == pytest.approx(expected, abs=GRID / 2 * 1.001 + 2 * off, rel=0)
    with_pairs = frame.people.gt(0).groupby(list(within)).sum() > 1
    assert classes == {key if isinstance(key, tuple) else (key,) for key in with_pairs.index[with_pairs]}
