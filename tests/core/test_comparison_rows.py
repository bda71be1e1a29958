"""Who is in which row of a comparison: values that meet in a rest group form one, or say whom they leave out."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from atr.core.comparison_rows import Row, rows

RACES = ["Asian", "Caucasian", "Hispanic", "Native", "Other"]


def test_values_that_meet_are_one_row_with_their_own_groups() -> None:
    found = rows(
        ["Caucasian", "Hispanic", "Other", "Other", ""],
        [(), (), (), (), ("Asian", "Native", "Other")],
        [1750, 460, 130, 100, 85],
        RACES,
    )
    assert found.of_groups == (1, 2, 0, 0, 0)
    assert found.rows == (Row(("Asian", "Native", "Other")), Row(("Caucasian",)), Row(("Hispanic",)))
    assert found.labels == ("Caucasian", "Hispanic", *["Asian, Native, Other"] * 3)
    assert found.called("Native") == "Asian, Native, Other"
    assert found.called("unknown") == "unknown"
    assert found.left_out == 0


def test_large_values_keep_rows_without_mixed_groups() -> None:
    found = rows(["women", "men", ""], [(), (), ("women", "men")], [900, 4125, 85], ["women", "men"])
    assert found.of_groups == (0, 1, -1)
    assert found.rows == (Row(("women",), left_out=85), Row(("men",), left_out=85))
    assert found.left_out == 85


def test_a_row_of_small_values_has_some_people_of_a_large_one() -> None:
    found = rows(["Caucasian", "Other", ""], [(), (), ("Asian", "Caucasian", "Other")], [1750, 60, 85], RACES)
    assert found.rows == (Row(("Asian", "Other"), some=("Caucasian",)), Row(("Caucasian",), left_out=85))
    assert found.left_out == 0


def test_one_small_value_makes_no_row_with_people_of_others() -> None:
    found = rows(["Caucasian", "Hispanic", ""], [(), (), ("Caucasian", "Hispanic")], [1750, 60, 85], RACES)
    assert found.of_groups == (0, 1, -1)
    assert [row.left_out for row in found.rows] == [85, 85]


def test_groups_that_share_a_value_chain_into_one_row() -> None:
    found = rows(
        ["Asian", "", "", ""],
        [(), ("Asian", "Native"), ("Hispanic", "Other"), ("Native", "Hispanic")],
        [40, 60, 60, 60],
        RACES,
    )
    assert found.rows == (Row(("Asian", "Hispanic", "Native", "Other")),)
    assert found.of_groups == (0, 0, 0, 0)


def test_values_of_their_own_stay_comparable() -> None:
    """Were all one row, there would be nothing to compare."""
    found = rows(["a", "b", ""], [(), (), ("a", "b", "c")], [150, 80, 90], ["a", "b", "c"])
    assert found.rows == (Row(("a",), left_out=90), Row(("b",), left_out=90))
    assert (found.of_groups, found.left_out) == ((0, 1, -1), 90)


def test_what_is_not_told_is_in_no_row() -> None:
    assert rows(["a", ""], [(), ()], [50, 60], ["a"]).of_groups == (0, -1)


@given(
    groups=st.lists(
        st.tuples(st.sampled_from(RACES) | st.sets(st.sampled_from(RACES), min_size=2), st.integers(1, 400)),
        min_size=1,
        max_size=8,
    )
)
def test_everybody_is_in_one_row_or_counted_as_left_out(groups: list[tuple[str | set[str], int]]) -> None:
    values = [of if isinstance(of, str) else "" for of, _ in groups]
    mixed = [() if isinstance(of, str) else tuple(sorted(of)) for of, _ in groups]
    people = [n for _, n in groups]
    found = rows(values, mixed, people, RACES)
    assert found.left_out == sum(n for row, n in zip(found.of_groups, people, strict=True) if row < 0)
    for value, meeting, row in zip(values, mixed, found.of_groups, strict=True):
        if value:
            assert value in found.rows[row].values
        elif row >= 0:
            assert {*meeting} <= {*found.rows[row].values, *found.rows[row].some}
    told = [value for row in found.rows for value in row.values]
    assert len(told) == len({*told})
