"""What an outsider finds in released records: the stated channel, and no more of what is hidden than is stated."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import atr
from atr.programme import load
from atr.programme.periods import parse
from atr.records.model import GroupChannel, PublicRecords
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from tests.helpers import records as helper

KINDS: dict[str, dict[str, Any]] = {
    "score": helper.SCORE,
    "score by group": helper.SCORE | {"alpha_by": "group"},
    "no race": helper.NO_RACE,
    "no race, ldp": {"column": "score_text", "hide": ["race"], "max_ldp": 1.0},
    "numbers": {"column": "priors_count", "numeric": True, "hide": ["race"], "max_log_lift": 1.0},
    "alone": {"column": "score_text", "hide": ["race", "priors_count"], "within": "none", "max_log_lift": 0.3},
}


EXAMPLES = {"compas/programme.yaml": "2013", "compas/without-race.yaml": "2013", "mortgage/programme.yaml": "all"}
"""The bundled programmes, and the period that is released."""


@pytest.fixture(scope="module", params=[*KINDS, *(pytest.param(name, marks=pytest.mark.long) for name in EXAMPLES)])
def released(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The draft of a kind of records on the scores of 2013, or of a bundled programme; and the programme file."""
    folder = tmp_path_factory.mktemp("records")
    if request.param in EXAMPLES:
        path = helper.example(folder, request.param)
        return atr.release_records(path, EXAMPLES[request.param]), path
    path = helper.compas(folder, **KINDS[request.param])
    return atr.release_records(path, "2013"), path


def _log(path: Path) -> pd.DataFrame:
    """The decisions of the period as the log has them, in the words of the programme."""
    content = yaml.safe_load(path.read_text())
    of_log, attributes = content["log"], content["attributes"]
    log = pd.read_csv(path.parent / of_log["source"], dtype=str, keep_default_na=False)
    if "decided_at" in of_log:
        log = log[log[of_log["decided_at"]].str.startswith("2013")]
    shown = pd.DataFrame(
        {name: log[name].replace(of.get("values", {}) | {"": "unknown"}) for name, of in attributes.items()}
    )
    named = {raw: name for name, raws in of_log["outcomes"].items() for raw in raws}
    shown[of_log["outcome"]] = log[of_log["outcome"]].replace(named)
    return shown


def _in_group(frame: pd.DataFrame, group: GroupChannel, records: PublicRecords) -> pd.DataFrame:
    """The rows of people who share the values of a group and of no group that tells more."""

    def members(of: GroupChannel) -> pd.Series:
        return (frame[list(of.values)] == pd.Series(of.values)).all(axis=1) if of.values else frame.index == frame.index

    finer = [of for of in records.groups if group.values.items() < of.values.items()]
    inside = pd.Series(members(group), index=frame.index)
    for of in finer:
        inside &= ~members(of)
    return frame[inside]


def test_every_group_has_the_stated_channel(released: Any) -> None:
    draft, _ = released
    records, rows = draft.records, helper.rows(draft.documents)
    assert tuple(rows) == records.columns
    assert len(rows) == records.people == sum(group.people for group in records.groups)
    key = rows[list(records.attributes)].apply(tuple, axis=1) if records.attributes else pd.Series([()] * len(rows))
    released_of = rows[records.column].astype(float) if records.numeric else rows[records.column]
    for group in records.groups:
        of = released_of[key == tuple(group.values.get(name, "") for name in records.attributes)]
        assert len(of) == group.people
        found = np.array([(of == value).sum() for value in records.values])
        totals, drawn = np.array(group.totals), group.alpha * np.array(group.totals) / group.people
        stays = 1 - group.alpha + drawn
        variance = totals * stays * (1 - stays) + (group.people - totals) * drawn * (1 - drawn)
        assert (np.abs(found - totals) <= 6 * np.sqrt(variance) + 3).all()


def test_totals_are_those_of_the_log(released: Any) -> None:
    draft, path = released
    records, log = draft.records, _log(path)
    counts = log[records.column].astype(float) if records.numeric else log[records.column]
    expected = [(counts == value).sum() for value in records.values]
    assert np.sum([group.totals for group in records.groups], axis=0).tolist() == expected
    assert records.people == len(log)
    least = load(path).policy.minimum_group_size
    assert all(group.people >= least for group in records.groups)


def test_a_row_tells_no_more_than_the_stated_bounds(released: Any) -> None:
    """P(s|y) / P(s), from the log and the published channel: at most the log-lift, in every group, for every row."""
    draft, path = released
    records, log = draft.records, _log(path)
    bounds, frame = records.bounds, log.copy()
    programme = load(path)
    for name in records.hidden:
        if (bins := programme.attributes[name].bins) is not None:
            frame[name] = np.searchsorted(bins, frame[name].astype(float), side="right")
    assert records.groups
    for group in records.groups:
        of = _in_group(frame, group, records)
        if len(of) != group.people:
            continue  # a rest group of parts that cannot be told by what it shares
        column = of[records.column].astype(float) if records.numeric else of[records.column]
        given = pd.crosstab([of[name] for name in records.hidden], column)
        given = given.reindex(columns=list(records.values), fill_value=0).to_numpy(np.float64)
        after = given / given.sum(axis=1, keepdims=True) @ group.markov
        possible = np.array(group.totals) > 0
        lift = np.log(after[:, possible] / group.shares[possible])
        ldp = np.log(after.max(axis=0)[possible] / after.min(axis=0)[possible])
        assert np.abs(lift).max() <= bounds.get("max_log_lift", math.inf) + 1e-9
        assert ldp.max() <= bounds.get("max_ldp", math.inf) + 1e-9
        assert np.abs(lift).max() <= records.after.log_lift + 1e-9


def test_the_file_shows_nothing_hidden(released: Any) -> None:
    draft, _ = released
    records, rows = draft.records, helper.rows(draft.documents)
    assert not {*rows} & {*records.hidden, "id", "compas_screening_date"}
    ordered = rows[list(records.attributes)].apply(tuple, axis=1) if records.attributes else None
    if ordered is not None:
        assert (ordered != ordered.shift()).sum() == len(records.groups)  # by groups, not as in the log


def test_an_outsider_verifies_it(released: Any) -> None:
    draft, _ = released
    assert atr.verify(draft.documents) == []


def test_groups_are_those_of_the_log_by_public_values(tmp_path: Path) -> None:
    path = helper.compas(tmp_path, **helper.SCORE)
    records = atr.release_records(path, "2013").records
    with Warehouse.open(load(path), read_only=True) as warehouse:
        regions = aggregate(warehouse, load(path), parse("2013"))
    sizes = dict(zip(regions.group_values, regions.group_population.tolist(), strict=True))
    for group in records.groups:
        if not group.pooled:
            assert group.people == sizes[tuple(group.values[name] for name in records.attributes)]
