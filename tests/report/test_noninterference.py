"""The public report of drawn groups depends on their cells alone, and who is in it on numbers of people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st

from atr.core.regions import Regions
from atr.programme import Programme, load
from atr.warehouse.coarsening import reported
from atr.warehouse.counting import regions_of_rows
from tests.helpers import series, whole
from tests.helpers.attacker import Attacker

CONTENT = series.programme() | {"policy": {"minimum_group_size": 6, "max_confidence": 0.75}}


@pytest.fixture(scope="module")
def programme(tmp_path_factory: pytest.TempPathFactory) -> Programme:
    path = tmp_path_factory.mktemp("calibrated") / "programme.yaml"
    path.write_text(yaml.safe_dump(CONTENT))
    return load(path)


def _drawn(data: st.DataObject, programme: Programme) -> list[np.ndarray]:
    """Groups of (m, 2) people by outcome: small, and announceable or too small."""
    groups = []
    for _ in range(data.draw(st.integers(1, 3))):
        people = np.array(data.draw(st.lists(st.integers(1, 14), min_size=2, max_size=4)))
        favourable = np.array([data.draw(st.integers(0, n)) for n in people.tolist()])
        small = people.sum() < programme.policy.minimum_group_size
        if small or _attacker(programme).announceable(people, 2):
            groups.append(np.column_stack([favourable, people - favourable]))
    assume(groups)
    return groups


def _attacker(programme: Programme) -> Attacker:
    return Attacker(programme.policy, programme.protection)  # type: ignore[arg-type]


def _regions(groups: list[np.ndarray], programme: Programme) -> Regions:
    rows = [(f"group {g}", f"r{s}") for g, counts in enumerate(groups) for s in range(len(counts))]
    made = regions_of_rows(rows, np.concatenate(groups), programme=programme, outcomes=("approved", "refused"))
    return reported(made, programme)


@given(data=st.data())
def test_a_report_is_that_of_every_rule_of_its_cells(programme: Programme, data: st.DataObject) -> None:
    """The cells are those of groups as they are announced: small ones may have become part of others."""
    regions = _regions(_drawn(data, programme), programme)
    attacker, twins = _attacker(programme), []
    for counts in np.split(regions.counts, regions.offsets[1:-1]):
        if attacker.announceable(counts.sum(axis=1), 2):
            twins.append(data.draw(st.sampled_from([*attacker.rules_left(counts, attacker.release(counts))])))
        else:
            twins.append(counts)
    other = replace(regions, counts=np.concatenate(twins))
    made = [whole.report(programme, of, whole.announced(programme, of)).to_json() for of in (regions, other)]
    assert made[0] == made[1]


@given(data=st.data())
def test_who_is_shown_depends_on_numbers_of_people(programme: Programme, data: st.DataObject) -> None:
    groups = _drawn(data, programme)
    others = [np.sort(counts, axis=1)[:, :: data.draw(st.sampled_from([1, -1]))] for counts in groups]
    one, other = (_regions(of, programme) for of in (groups, others))
    assert (one.group_values, one.joined, one.merged) == (other.group_values, other.joined, other.merged)
    assert one.status.tolist() == other.status.tolist()
