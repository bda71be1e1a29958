"""Rest groups: who joins whom is decided from numbers of people alone, and everybody counts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from atr.core.arrays import IntArray, offsets_of
from atr.core.disclosure import disclosure_status
from atr.core.display_text import ANY
from atr.core.policy import Policy
from atr.core.protected import Protection
from atr.core.regions import DisclosureStatus, Regions
from atr.core.rest_groups import rest_groups

PUBLIC = ("sex", "age", "race")
POLICY = Policy(mechanism="calibrated", max_confidence=0.8, minimum_group_size=50, population_rounding=5)
Groups = dict[tuple[str, str, str], dict[str, tuple[int, int]]]


def _regions(groups: Groups) -> Regions:
    rows = [(group, secret, counts) for group, regions in groups.items() for secret, counts in regions.items()]
    return Regions(
        public=PUBLIC,
        protection=Protection(("secret",)),
        outcomes=("yes", "no"),
        group_values=tuple(groups),
        region_values=tuple((secret,) for _, secret, _ in rows),
        counts=np.array([counts for *_, counts in rows], dtype=np.int64).reshape(-1, 2),
        offsets=offsets_of(np.array([len(regions) for regions in groups.values()], dtype=np.int64)),
    )


def _joined(groups: Groups, fixed: dict[tuple[str, ...], tuple[str, ...]] | None = None) -> dict[str, set[str]]:
    """For each rest group, by its shared values, the groups in it; values joined by "/"."""
    found: dict[str, set[str]] = {}
    for part, whole in rest_groups(_regions(groups), ("sex", "race"), _status, fixed=fixed).items():
        found.setdefault("/".join(whole), set()).add("/".join(part))
    return found


def _status(regions: Regions) -> IntArray:
    return disclosure_status(regions, POLICY)


def _of(people: int) -> dict[str, tuple[int, int]]:
    """A group that only its size can keep from being announced."""
    half = people // 2
    return {"x": (half, 0), "y": (0, people - half)} if half else {"x": (people, 0)}


def test_those_alike_in_protected_attributes_join_first() -> None:
    groups: Groups = {
        ("women", "young", "a"): _of(30), ("women", "old", "a"): _of(30),
        ("men", "young", "b"): _of(30), ("men", "old", "b"): _of(20),
        ("men", "young", "a"): _of(500),
    }  # fmt: skip
    assert _joined(groups) == {
        "women//a": {"women/young/a", "women/old/a"},
        "men//b": {"men/young/b", "men/old/b"},
    }


def test_remainders_join_each_other_and_spoil_no_group() -> None:
    """The last declared protected attribute is dropped first: here, race."""
    groups: Groups = {
        ("women", "young", "a"): _of(60), ("women", "old", "a"): _of(20),
        ("women", "old", "b"): _of(40), ("men", "old", "c"): _of(70),
    }  # fmt: skip
    assert _joined(groups) == {"women/old/": {"women/old/a", "women/old/b"}}


def test_a_last_remainder_joins_the_rest_group_most_alike() -> None:
    groups: Groups = {
        ("women", "young", "a"): _of(30), ("women", "old", "a"): _of(30), ("men", "young", "b"): _of(30),
        ("men", "old", "b"): _of(40), ("men", "old", "c"): _of(3), ("men", "young", "a"): _of(100),
    }  # fmt: skip
    assert _joined(groups) == {
        "women//a": {"women/young/a", "women/old/a"},
        "men//": {"men/young/b", "men/old/b", "men/old/c"},
    }


def test_without_a_rest_group_the_smallest_alike_becomes_one() -> None:
    groups: Groups = {
        ("women", "young", "a"): _of(200), ("women", "old", "a"): _of(60), ("men", "young", "b"): _of(55),
        ("women", "young", "b"): _of(2),
    }  # fmt: skip
    assert _joined(groups) == {"/young/b": {"men/young/b", "women/young/b"}}


def test_a_group_known_too_well_joins_but_spoils_nobody() -> None:
    sure = {"x": (300, 0), "y": (5, 5)}
    groups: Groups = {
        ("women", "young", "a"): _of(30), ("women", "old", "a"): _of(30), ("women", "older", "a"): sure,
        ("men", "young", "b"): {"x": (60, 0), "y": (8, 0)}, ("men", "old", "b"): {"y": (30, 0)},
    }  # fmt: skip
    assert _joined(groups) == {
        "women//a": {"women/young/a", "women/old/a"},
        "men//b": {"men/young/b", "men/old/b"},
    }


def test_joining_goes_on_where_few_would_be_left_out() -> None:
    """Thirty people who tip every single group over the ceiling join two of them."""
    near = {"x": (76, 0), "y": (0, 24)}
    groups: Groups = {
        ("women", "young", "a"): near, ("men", "young", "a"): {"x": (91, 0), "y": (0, 29)},
        ("women", "old", "b"): {"x": (30, 0)},
    }  # fmt: skip
    assert _joined(groups) == {"//": {"women/young/a", "men/young/a", "women/old/b"}}


def test_what_joined_in_an_earlier_version_stays_joined() -> None:
    groups: Groups = {("women", "young", "a"): _of(80), ("women", "old", "a"): _of(90), ("men", "old", "a"): _of(60)}
    fixed = {("women", "young", "a"): ("women", ANY, "a"), ("women", "old", "a"): ("women", ANY, "a")}
    assert _joined(groups) == {}
    assert _joined(groups, fixed) == {"women//a": {"women/young/a", "women/old/a"}}


@st.composite
def _drawn(draw: st.DrawFn) -> Groups:
    keys = st.tuples(st.sampled_from("fm"), st.sampled_from("uvw"), st.sampled_from("abc"))
    people = st.integers(1, 6) | st.integers(0, 60)
    regions = st.dictionaries(st.sampled_from("xyz"), st.tuples(people, people).filter(any), min_size=1)
    return draw(st.dictionaries(keys, regions, min_size=1, max_size=12))


@given(groups=_drawn(), random=st.randoms(use_true_random=False))
def test_decisions_and_their_order_do_not_matter(groups: Groups, random: object) -> None:
    joined = _joined(groups)
    other = {key: {s: (sum(n), 0) for s, n in regions.items()} for key, regions in groups.items()}
    assert _joined(other) == joined


@given(groups=_drawn())
def test_nothing_small_is_left_where_it_can_join(groups: Groups) -> None:
    regions = _regions(groups)
    whole = rest_groups(regions, ("sex", "race"), _status)
    alone = dict(zip(regions.group_values, _status(regions).tolist(), strict=True))
    parts: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
    for key in groups:
        parts.setdefault(whole.get(key, key), []).append(key)
    united: Groups = {}
    for name, members in parts.items():
        secrets = {secret for key in members for secret in groups[key]}
        of = {s: [groups[key].get(s, (0, 0)) for key in members] for s in secrets}
        united[name] = {s: (sum(n for n, _ in counts), sum(n for _, n in counts)) for s, counts in of.items()}  # type: ignore[index]
        assert all(value == ANY or {key[i] for key in members} == {value} for i, value in enumerate(name))
    after = dict(zip(united, _status(_regions(united)).tolist(), strict=True))
    for name, members in parts.items():
        assert len(members) == 1 or after[name] == DisclosureStatus.ANNOUNCED
        if after[name] != DisclosureStatus.ANNOUNCED:
            assert alone[members[0]] == after[name]
