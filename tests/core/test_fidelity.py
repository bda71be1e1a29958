"""Allowed ranges keep the promise for every outcome; believed ranges hold every truth they may come from."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.fidelity import Alpha, Delta, Ranges, ladder

counts = st.builds(lambda some, rest: some / (some + rest), st.integers(0, 99), st.integers(1, 99))
chances = st.sampled_from([0.0, 0.5, 1.0, 0.1, 0.3]) | st.floats(0, 1) | counts
levels = st.one_of(st.sampled_from([1.0, 0.9995, 0.999, 0.99, 0.9, 0.5]), st.floats(0.01, 1))


def two(positive):
    """The mapping of two outcomes with these chances of the positive one."""
    return np.column_stack([positive, 1 - np.asarray(positive, dtype=float)])


def of_positive(ends):
    return [end[:, 0].tolist() for end in ends]


@st.composite
def promises(draw):
    kind = draw(st.sampled_from([Delta, Alpha, Ranges]))
    d = draw(chances)
    if kind is Ranges:
        return Ranges([draw(st.floats(0, d))], [draw(st.floats(d, 1))]), d
    return kind(draw(levels)), d


@st.composite
def outcome_promises(draw):
    if draw(st.booleans()):
        promise, d = draw(promises())
        return promise, two([d])
    people = np.array(draw(st.lists(st.integers(0, 99), min_size=3, max_size=4).filter(any)))
    D = (people / people.sum())[None]
    kind = draw(st.sampled_from([Delta, Alpha, Ranges]))
    if kind is Ranges:
        down, up = (np.array(draw(st.lists(st.floats(0, 1), min_size=D.size, max_size=D.size))) for _ in range(2))
        return Ranges(D * down, D + (1 - D) * up), D
    return kind(draw(levels)), D


def test_delta_binds_within_the_unit_interval():
    lo, hi = of_positive(Delta(0.9).allowed(two([0, 0.5, 1])))
    assert lo == pytest.approx([0, 0.4, 0.9])
    assert hi == pytest.approx([0.1, 0.6, 1])


def test_alpha_binds_for_both_outcomes():
    lo, hi = of_positive(Alpha(0.5).allowed(two([0, 0.1, 0.9, 1])))
    assert lo == pytest.approx([0, 0.05, 0.8, 1])
    assert hi == pytest.approx([0, 0.2, 0.95, 1])


def test_ranges_of_two_outcomes_are_tightened():
    lo, hi = of_positive(Ranges([[0.1, 0.2]], [[0.9, 0.6]]).allowed([[0.5, 0.5]]))
    assert (lo, hi) == (pytest.approx([0.4]), pytest.approx([0.8]))


def test_float_noise_does_not_cost_a_grid_step():
    ends = Delta(0.9).allowed_on_grid(two([0, 0.3, 1]), digits=3)
    assert of_positive(ends) == [[0, 200, 900], [100, 400, 1000]]


def test_what_is_left_of_nothing_is_rounding():
    ends = Delta(1).allowed_on_grid(two([0, 1 / 3, 0.5, 1]), digits=3)
    assert of_positive(ends) == [[0, 333, 500, 1000], [0, 334, 500, 1000]]
    lower, upper = of_positive(Delta(1).believed(two([0, 0.333, 1]), digits=3))
    assert lower == pytest.approx([0, 0.332, 0.999])
    assert upper == pytest.approx([0.001, 0.334, 1])


def test_delta_is_believed_as_promised_on_a_finer_grid():
    lower, upper = of_positive(Delta(0.9).believed(two([0.02, 0.5, 0.95]), digits=3))
    assert lower == pytest.approx([0, 0.4, 0.85])
    assert upper == pytest.approx([0.12, 0.6, 1])


def test_ranges_are_believed_outwards_to_the_grid():
    promise = Ranges([0.57, 0, 0.3331, 1], [0.58, 5e-324, 0.3332, 1])
    lower, upper = of_positive(promise.believed(two([0.57, 0, 0.333, 1]), digits=3))
    assert (lower, upper) == ([0.57, 0, 0.333, 1], [0.58, 0, 0.334, 1])


@given(promises())
def test_both_outcomes_keep_the_promise(case):
    promise, d = case
    lo, hi = (ends[0, 0] for ends in promise.allowed(two([d])))
    assert 0 <= lo <= d <= hi <= 1
    for x in (lo, hi):
        for truth, told in ((d, x), (1 - d, 1 - x)):
            if isinstance(promise, Delta):
                assert abs(told - truth) <= 1 - promise.level + 1e-12
            elif isinstance(promise, Alpha):
                assert promise.level * truth - 1e-12 <= told <= truth / promise.level + 1e-12


@given(promises(), st.integers(0, 4))
def test_two_outcomes_have_mirrored_ranges(case, digits):
    promise, d = case
    for lower, upper in (promise.allowed(two([d])), promise.believed(np.round(two([d]), digits), digits=digits)):
        assert lower[:, 1] == pytest.approx(1 - upper[:, 0])
        assert upper[:, 1] == pytest.approx(1 - lower[:, 0])
    lo, hi = promise.allowed_on_grid(two([d]), digits=digits)
    assert (lo[:, 0] == 10**digits - hi[:, 1]).all()


@given(promises(), st.integers(1, 6), st.floats(0, 1))
def test_what_a_reader_believes_holds_what_is_announced(case, digits, where):
    promise, d = case
    lo, hi = (int(ends[0, 0]) for ends in promise.allowed_on_grid(two([d]), digits=digits))
    announced = (lo + round(where * (hi - lo))) / 10**digits
    lower, upper = (ends[0, 0] for ends in promise.believed(two([announced]), digits=digits))
    assert 0 <= lower <= announced + 1e-12
    assert announced - 1e-12 <= upper <= 1
    for end in (lower, 1 - upper):
        assert end == 0 or end > 1e-16, "no ratio of rates is beyond all numbers"


@given(promises(), st.integers(0, 4))
def test_grid_values_keep_the_promise_or_are_rounded(case, digits):
    promise, d = case
    lo, hi = (ends[0, 0] for ends in promise.allowed(two([d])))
    step = 10.0**-digits
    for value in (ends[0, 0] * step for ends in promise.allowed_on_grid(two([d]), digits=digits)):
        assert lo - 2e-9 * step <= value <= hi + 2e-9 * step or abs(value - d) <= step


@given(outcome_promises(), st.integers(0, 4), st.floats(0, 1))
def test_the_truth_is_allowed_and_believed(case, digits, where):
    promise, D = case
    lower, upper = promise.allowed(D)
    assert ((lower <= D + 1e-15) & (upper >= D - 1e-15) & (lower >= 0) & (upper <= 1)).all()
    lo, hi = promise.allowed_on_grid(D, digits=digits)
    assert ((lo >= 0) & (lo <= hi) & (hi <= 10**digits)).all()
    assert lo.sum() <= 10**digits <= hi.sum()
    announced = lo.copy()
    for a in (range(D.size), reversed(range(D.size)))[where > 0.5]:
        announced[0, a] += min(hi[0, a] - lo[0, a], 10**digits - announced.sum())
    believed = promise.believed(announced / 10**digits, digits=digits)
    slack = 2e-9 * 10.0**-digits + 1e-12
    if isinstance(promise, Alpha):
        slack /= promise.level
    assert (believed[0] - slack <= D).all()
    assert (believed[1] + slack >= D).all()


def test_a_region_without_grid_values_is_within_rounding():
    lo, hi = Delta(0.9996).allowed_on_grid([[1 / 3, 1 / 3, 1 / 3]], digits=3)
    assert (lo.tolist(), hi.tolist()) == ([[333] * 3], [[334] * 3])
    lo, hi = Alpha(0.5).allowed_on_grid([[0, 0.2, 0.8]], digits=3)
    assert (lo.tolist(), hi.tolist()) == ([[0, 100, 400]], [[0, 400, 1000]])


@pytest.mark.parametrize(
    ("promise", "kind", "level", "positive", "change"),
    [
        (Delta(0.9), "delta", 0.9, None, 0.1),
        (Delta(0.9999), "delta", 0.9999, None, 0.001),
        (Alpha(0.8), "alpha", 0.8, None, None),
        (Ranges([0.1, 0.05], [0.4, 0.7]), "ranges", None, [[0.1, 0.4], [0.05, 0.7]], None),
    ],
)
def test_a_promise_says_what_it_is(promise, kind, level, positive, change):
    assert (promise.kind, promise.level, promise.largest_change(3)) == (kind, level, change)
    limits = promise.limits
    assert limits is None if positive is None else limits[:, 0].tolist() == positive


def test_some_regions_keep_their_ranges():
    part = Ranges([0.1, 0.05, 0], [0.4, 0.7, 1]).of(slice(1, 3))
    assert part.limits[:, 0].tolist() == [[0.05, 0.7], [0, 1]]
    assert Delta(0.9).of(slice(1, 3)) == Delta(0.9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Delta(-0.1),
        lambda: Delta(1.1),
        lambda: Delta(float("nan")),
        lambda: Alpha(0),
        lambda: Alpha(1.5),
        lambda: Ranges([0.5], [0.4]),
        lambda: Ranges([-0.1], [0.4]),
        lambda: Ranges([0.1, 0.2], [0.4]),
        lambda: Ranges([[0.6, 0.6]], [[1, 1]]),
        lambda: Ranges([0.1], [0.4]).allowed(two([0.5])),
        lambda: Ranges([0.1], [0.4]).allowed(two([0.2, 0.2])),
        lambda: Ranges([[0.5, 0.4, 0.3]], [[1, 1, 1]]),
        lambda: Ranges([[0, 0, 0]], [[0.2, 0.2, 0.2]]),
        lambda: Ranges([[0, 0, 0]], [[1, 1, 0.2]]).allowed([[0, 0.5, 0.5]]),
        lambda: Ranges([[0, 0, 0]], [[1, 1, 1]]).allowed([[0, 0, 0.5, 0.5]]),
        lambda: Delta(0.9).allowed([0.2]),
        lambda: Delta(0.9).allowed([[1.2, -0.2]]),
        lambda: Delta(0.9).allowed_on_grid([[0.2, 0.3, 0.5]], digits=-1),
    ],
)
def test_what_cannot_be_promised_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_the_ladder_ends_at_the_floor():
    assert [step.level for step in ladder(Delta(0.8))] == [0.99, 0.95, 0.9, 0.85, 0.8]
    assert [step.level for step in ladder(Alpha(0.88))] == [0.99, 0.95, 0.9, 0.88]
    assert ladder(Delta(1)) == (Delta(1),)
    assert ladder(Delta(0))[-2:] == (Delta(0.05), Delta(0))
    ranges = Ranges([0], [1])
    assert ladder(ranges) == (ranges,)
