"""A programme that does not fit its log says so, and leaves nothing written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atr import ingest as ingestion
from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.ingest import Accounting
from atr.programme import load
from atr.programme.periods import ALL
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate
from tests.helpers import series
from tests.helpers.logs import GOOD, HEADER, MANY, account, decisions, programme, write


@pytest.mark.parametrize(
    ("rows", "log", "attributes", "message"),
    [
        ("1,2013-01-01,f,5,yes\n", {}, {}, "log.outcome: the log has one outcome only"),
        (
            "1,2013-01-01,f,5,yes\n",
            {"outcomes": {"yes": ["yes"], "no": ["no"]}},
            {},
            "log.outcomes: the log has one outcome only",
        ),
        (GOOD, {"positive": "granted"}, {}, "log.positive: this outcome never occurs"),
        (
            GOOD,
            {"positive": "ja", "outcomes": {"ja": ["oui"], "no": ["no", "yes"]}},
            {},
            "log.positive: this outcome never",
        ),
        (GOOD + MANY, {}, {}, r"10 outcomes.*\n?.*8 at most(.|\n)*Group them"),
        (
            GOOD.replace(",f,", ",0,").replace(",m,", ",1,"),
            {},
            {},
            "attributes.sex: every value in the log is a number: give bins",
        ),
        (
            GOOD,
            {},
            {"sex": {"role": "public", "protected": True, "reference": "x"}},
            "attributes.sex.reference: .*nowhere",
        ),
        (
            GOOD,
            {},
            {"income": {"role": "sensitive", "protected": True, "bins": [100], "reference": "100 and more"}},
            "reference",
        ),
    ],
)
def test_a_programme_that_does_not_fit_leaves_nothing(
    tmp_path: Path, rows: str, log: dict[str, Any], attributes: dict[str, Any], message: str
) -> None:
    write(tmp_path, HEADER + rows)
    usual = {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [10]}}
    made = programme(tmp_path, log, attributes=usual | attributes)
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match=message) as caught:
            account(warehouse, made)
        assert str(made.path) in caught.value.where
        assert "perhaps" not in str(caught.value)
        assert warehouse.layout_or_none() is None


def test_the_next_run_can_do_without_a_file_that_did_not_fit(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    with Warehouse.open(made) as warehouse:
        before = account(warehouse, made)
        bad = write(tmp_path, HEADER + MANY, "2.csv")
        write(tmp_path, HEADER + "8,2013-01-01,f,5,yes\n", "3.csv")
        for _ in range(2):
            with pytest.raises(ProgrammeError, match="10 outcomes"):
                account(warehouse, made)
            assert ingestion.accounting(warehouse) == before
            assert len(decisions(warehouse)) == 2
        bad.unlink()
        assert account(warehouse, made) == Accounting(3, 3, 0, 0, 0, 2, {})


def test_a_correction_that_ends_an_outcome_is_not_kept(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + GOOD, "1.csv")
    with Warehouse.open(made) as warehouse:
        before = account(warehouse, made)
        write(tmp_path, HEADER + GOOD.replace("yes", "no"), "2.csv")
        with pytest.raises(ProgrammeError, match="never occurs"):
            account(warehouse, made)
        assert ingestion.accounting(warehouse) == before
        assert decisions(warehouse, "outcome") == [("yes",), ("no",)]


def test_an_outcome_is_looked_for_among_all_texts(tmp_path: Path) -> None:
    texts = [f"{i:03d}" for i in range(120)]
    write(tmp_path, HEADER + "".join(f"{text},2013-01-01,f,5,{text}\n" for text in texts))
    made = programme(tmp_path, {"outcomes": {"no": texts[:100], "yes": texts[100:]}})
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, made).decisions == 120


def test_outcomes_may_be_spread_over_the_files_of_a_first_run(tmp_path: Path) -> None:
    made = programme(tmp_path, {"source": "*.csv"})
    write(tmp_path, HEADER + "1,2013-01-01,f,5,no\n", "1.csv")
    write(tmp_path, HEADER + "2,2013-01-01,f,5,no\n", "2.csv")
    with Warehouse.open(made) as warehouse:
        with pytest.raises(ProgrammeError, match="never occurs"):
            account(warehouse, made)
        assert warehouse.layout_or_none() is None
        write(tmp_path, HEADER + "3,2013-01-01,f,5,yes\n", "3.csv")
        assert account(warehouse, made).files == 3


def test_columns_that_do_not_fit_leave_an_empty_warehouse(tmp_path: Path) -> None:
    made = programme(tmp_path)
    write(tmp_path, HEADER + GOOD)
    with Warehouse.open(made) as warehouse:
        before, layout = account(warehouse, made), warehouse.layout()
        with pytest.raises(ProgrammeError, match="give bins"):
            account(
                warehouse,
                programme(tmp_path, attributes={"sex": {"role": "public"}, "income": {"role": "sensitive"}}),
            )
        assert warehouse.layout() == layout
        assert (account(warehouse, made), len(decisions(warehouse))) == (before, 2)


def test_a_column_that_is_empty_throughout_is_fine(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD.replace(",f,", ",,").replace(",m,", ",,").replace(",10,", ",,").replace(",5,", ",,"))
    made = programme(tmp_path)
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        found = aggregate(warehouse, made, ALL)
    assert (found.group_values, found.region_values, found.counts.tolist()) == (
        (("unknown",),),
        (("unknown",),),
        [[1, 1]],
    )


def test_codes_with_leading_zeros_are_not_numbers(tmp_path: Path) -> None:
    write(tmp_path, HEADER + GOOD.replace(",f,", ",01,").replace(",m,", ",10,"))
    with Warehouse.in_memory() as warehouse:
        assert account(warehouse, programme(tmp_path)).decisions == 2


def test_a_misspelt_outcome_is_named_privately(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    path.write_text(path.read_text().replace("- yes", "- yess").replace("- 'yes'", "- yess"))
    with pytest.raises(RefusedError) as refused, Warehouse.in_memory() as warehouse:
        account(warehouse, load(path))
    assert "'yes' (" in refused.value.private
    assert "'yes'" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ("1,in May,f,5,yes", "log.decided_at"),
        ("1,2013-05-31,f,five,yes", "give values, not bins"),
        ("1,2013-05-31,f,5,maybe", "log.outcomes"),
    ],
)
def test_a_refusal_says_what_to_do(tmp_path: Path, content: str, advice: str) -> None:
    write(tmp_path, f"id,day,sex,income,outcome\n{content}\n".encode())
    outcomes = {"outcomes": {"granted": ["yes"], "denied": ["no"]}, "positive": "granted"}
    made = programme(tmp_path, outcomes | {"max_quarantined": 0.1})
    with Warehouse.in_memory() as warehouse, pytest.raises(RefusedError) as refused:
        account(warehouse, made)
    assert advice in refused.value.hint
    texts = ("in May", "five", "maybe")
    assert refused.value.private.endswith(f": '{next(text for text in texts if text in content)}' (1)")


def test_an_excel_file_is_named_as_such(tmp_path: Path) -> None:
    write(tmp_path, b"PK\x03\x04 and more")
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="is a zip or Excel file"):
        account(warehouse, programme(tmp_path))
