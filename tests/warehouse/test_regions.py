"""Decision regions: what is counted, how it is shown and ordered, and over which days."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from atr.core.display_text import printable
from atr.core.regions import Regions
from atr.errors import PeriodError
from atr.ingest import ingest
from atr.programme import Programme, load
from atr.programme.periods import ALL, parse
from atr.warehouse import counting as regions
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import aggregate, decided_span, unknown
from tests.helpers.paths import ROOT

COMPAS = ROOT / "examples" / "compas"
Rows = list[tuple[str | None, ...]]


def programme(folder: Path, attributes: dict[str, Any], **log: Any) -> Programme:
    data = {
        "programme": "small",
        "title": "Small",
        "publisher": {"name": "P", "contact": "p@example.org"},
        "system": {"name": "S"},
        "log": {"source": "log.csv", "decided_at": "day", "outcome": "outcome", "positive": "yes"} | log,
        "attributes": attributes,
        "period": {"every": "quarter", "timezone": "Europe/Berlin"},
    }
    if data["log"]["decided_at"] is None:  # type: ignore[index]
        del data["log"]["decided_at"]  # type: ignore[attr-defined]
        data["period"] = {"every": "all"}
    (folder / "programme.yaml").write_text(yaml.safe_dump(data, allow_unicode=True, sort_keys=False), encoding="utf-8")
    return load(folder / "programme.yaml")


def counted(made: Programme, rows: Rows, label: str = "all") -> Regions:
    pd.DataFrame(rows, columns=["day", "outcome", *made.attributes]).to_csv(made.path.parent / "log.csv", index=False)
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        return aggregate(warehouse, made, parse(label))


def cells(found: Regions) -> dict[tuple[str, ...], list[int]]:
    group = np.repeat(np.arange(len(found.group_values)), np.diff(found.offsets))
    return {
        (*found.group_values[g], *values): counts
        for g, values, counts in zip(group, found.region_values, found.counts.tolist(), strict=True)
    }


SEX_INCOME = {"sex": {"role": "public"}, "income": {"role": "sensitive"}}


def test_people_are_counted_by_region_and_outcome(tmp_path: Path) -> None:
    found = counted(
        programme(tmp_path, SEX_INCOME),
        [
            ("2013-01-01", "no", "m", "low"),
            ("2013-01-01", "yes", "f", "low"),
            ("2013-01-01", "yes", "f", "high"),
            ("2013-01-01", "no", "f", "high"),
            ("2013-01-01", "yes", "f", "high"),
        ],
    )
    assert found.public == ("sex",)
    assert found.sensitive == ("income",)
    assert found.outcomes == ("yes", "no")
    assert found.group_values == (("f",), ("m",))
    assert found.region_values == (("high",), ("low",), ("low",))
    assert found.counts.tolist() == [[2, 1], [1, 0], [0, 1]]
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.counts.dtype == found.offsets.dtype == np.int64
    assert found.group_population.tolist() == [4, 1]


def test_values_come_declared_first_and_unknown_last(tmp_path: Path) -> None:
    shown = {"b": "Z", "unknown": "unknown", "a": "A"}
    made = programme(
        tmp_path,
        {
            "sex": {"role": "public", "values": shown},
            "income": {"role": "sensitive", "bins": [1, 10], "labels": ["small", "medium", "big"]},
        },
    )
    sexes = ["a", "b", "é", "z", "", "B", "unknown", "漢"]
    incomes = ["10", "", "0", "1"]
    rows: Rows = [("2013-01-01", "yes" if s < "f" else "no", s, i) for s in sexes for i in incomes]
    found = counted(made, rows)
    assert found.group_values == (("Z",), ("A",), ("B",), ("z",), ("é",), ("漢",), ("unknown",))
    assert found.region_values[:4] == (("small",), ("medium",), ("big",), ("unknown",))
    assert found.population[-4:].tolist() == [2, 2, 2, 2]


def test_the_order_does_not_depend_on_what_is_counted(tmp_path: Path) -> None:
    made = programme(tmp_path, SEX_INCOME)
    rows: Rows = [("2013-01-01", "yes" if i % 3 else "no", "fm"[i % 2], str("xyz"[i % 3])) for i in range(12)]
    one, other = counted(made, rows), counted(made, [*rows[::-1], *[rows[3]] * 50])
    assert (one.group_values, one.region_values) == (other.group_values, other.region_values)


def test_raw_values_shown_alike_are_one_value(tmp_path: Path) -> None:
    attributes = {
        "sex": {"role": "public", "values": {"f": "woman", "F": "woman", "m": "man"}},
        "income": {"role": "sensitive"},
    }
    rows: Rows = [
        ("2013-01-01", "yes", "f", "a\u202eb"),
        ("2013-01-01", "no", "F", "a\u200eb"),
        ("2013-01-01", "no", "woman", "a\u202eb"),
    ]
    assert cells(counted(programme(tmp_path, attributes), rows)) == {("woman", "ab"): [1, 2]}


def test_control_characters_are_made_visible_when_counted() -> None:
    text = "".join(map(chr, [*range(0x3000), *range(0xE000, 0x10000), 0x10FFFF]))
    with Warehouse.in_memory() as warehouse:
        ((shown,),) = warehouse.query(
            "SELECT regexp_replace($1, $2, $3, 'g')", [text, regions.CONTROL.pattern, printable("\0")]
        )
    assert shown == printable(text)


@pytest.mark.parametrize(
    ("number", "shown"),
    [
        ("-1e9", "below 0.1"),
        ("0.09999999999999999", "below 0.1"),
        ("0.1", "0.1 to below 0.3"),
        ("1e-1", "0.1 to below 0.3"),
        ("0.10000000000000001", "0.1 to below 0.3"),
        ("0.29999999999999998", "0.3 to below 9,007,199,254,740,992"),
        ("0.29999999999999993", "0.1 to below 0.3"),
        ("9007199254740991", "0.3 to below 9,007,199,254,740,992"),
        ("9007199254740992", "9,007,199,254,740,992 and more"),
        ("1e308", "9,007,199,254,740,992 and more"),
        ("-0.0", "below 0.1"),
    ],
)
def test_numbers_fall_into_bins_exactly(tmp_path: Path, number: str, shown: str) -> None:
    made = programme(
        tmp_path, {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [0.1, 0.3, 9007199254740992]}}
    )
    with Warehouse.in_memory() as warehouse:
        (tmp_path / "log.csv").write_text(
            f"day,outcome,sex,income\n2013-01-01,yes,f,{number}\n2013-01-01,no,m,{number}\n"
        )
        ingest(warehouse, made)
        assert set(aggregate(warehouse, made, ALL).region_values) == {(shown,)}


def test_outcomes_are_grouped_with_the_positive_one_first(tmp_path: Path) -> None:
    made = programme(
        tmp_path, SEX_INCOME, outcomes={"refused": ["no", "later"], "granted": ["yes", "partly"]}, positive="granted"
    )
    rows: Rows = [("2013-01-01", outcome, "f", "x") for outcome in ("yes", "partly", "no", "later", "no")]
    found = counted(made, rows)
    assert found.outcomes == ("granted", "refused")
    assert found.counts.tolist() == [[2, 3]]


def test_an_outcome_that_a_period_lacks_is_still_an_outcome(tmp_path: Path) -> None:
    rows: Rows = [("2013-01-01", "yes", "f", "x"), ("2013-04-01", "no", "f", "x")]
    found = counted(programme(tmp_path, SEX_INCOME), rows, "2013-Q1")
    assert found.outcomes == ("yes", "no")
    assert found.counts.tolist() == [[1, 0]]


def test_a_period_is_the_days_from_its_start_to_before_its_end(tmp_path: Path) -> None:
    made = programme(tmp_path, SEX_INCOME)
    days = ["2013-03-31", "2013-04-01", "2013-06-30", "2013-06-30T22:30Z", "2013-07-01", "2014-12-31"]
    rows: Rows = [(day, "yes" if i else "no", "f", day[:10]) for i, day in enumerate(days)]
    found = counted(made, rows, "2013-Q2")
    assert found.region_values == (("2013-04-01",), ("2013-06-30",))
    assert found.population.tolist() == [1, 1]
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert decided_span(warehouse) == (date(2013, 3, 31), date(2014, 12, 31))
        found_periods = [(period.label, n) for period, n in regions.periods(warehouse, "quarter")]
        assert found_periods == [("2013-Q1", 1), ("2013-Q2", 2), ("2013-Q3", 2), ("2014-Q4", 1)]
        assert [(p.label, n) for p, n in regions.periods(warehouse, "year")] == [("2013", 5), ("2014", 1)]
        assert next((p.label, n) for p, n in regions.periods(warehouse, "month")) == ("2013-03", 1)
        assert regions.periods(warehouse, "all") == [(ALL, 6)]
        with pytest.raises(PeriodError, match=r"no decisions in 2015(.|\n)*covers 2013-03-31 to 2014-12-31"):
            aggregate(warehouse, made, parse("2015"))


def test_a_log_without_dates_has_one_period(tmp_path: Path) -> None:
    made = programme(tmp_path, SEX_INCOME, decided_at=None)
    found = counted(made, [("never", "yes", "f", "x"), ("never", "no", "m", "y")])
    assert found.population.tolist() == [1, 1]
    with Warehouse.in_memory() as warehouse:
        ingest(warehouse, made)
        assert regions.periods(warehouse, "all") == [(ALL, 2)]
        for ask in (lambda: aggregate(warehouse, made, parse("2013")), lambda: regions.periods(warehouse, "year")):
            with pytest.raises(PeriodError, match="no dates"):
                ask()


def test_unknown_values_are_counted_for_each_attribute(tmp_path: Path) -> None:
    made = programme(
        tmp_path,
        {
            "sex": {"role": "public", "values": {"f": "f", "?": "unknown"}},
            "age": {"role": "public"},
            "income": {"role": "sensitive", "bins": [5]},
        },
    )
    rows: Rows = [
        ("2013-01-01", "yes", "f", "old", ""),
        ("2013-01-01", "no", "?", "unknown", "7"),
        ("2013-01-01", "no", "", "", ""),
        ("2013-04-01", "no", "", "", ""),
    ]
    found = counted(made, rows, "2013-Q1")
    assert unknown(found, made) == {"sex": 2, "age": 2, "income": 2}
    assert found.population[[v[0] == "unknown" for v in found.region_values]].sum() == 2


def test_hostile_names_and_values_are_only_text(tmp_path: Path) -> None:
    evil = ["<script>alert('1')</script>", "'); DROP TABLE decisions; --", '"', "$1", "{{ 7 * 7 }}", "\\", "%s", "a\nb"]
    made = programme(
        tmp_path,
        {
            "Sex": {"role": "public"},
            "sex": {"role": "public", "values": {text: text[::-1] for text in evil if "\n" not in text}},
            'a"; DROP TABLE decisions; --': {"role": "public"},
            "年 収": {"role": "sensitive"},
        },
    )
    rows: Rows = [("2013-01-01", "yes" if i % 2 else "no", text, text, text, text) for i, text in enumerate(evil)]
    found = cells(counted(made, rows))
    assert set(found) == {(t, t if "\n" in t else t[::-1], t, t) for t in evil}


def test_five_hundred_groups(tmp_path: Path) -> None:
    made = programme(tmp_path, {"zip": {"role": "public"}, "kind": {"role": "public"}, "income": {"role": "sensitive"}})
    rows: Rows = [
        ("2013-01-01", "yes" if (i * j) % 3 else "no", f"0{i:03}", "ab"[i % 2] + k, "xyz"[j % 3])
        for i in range(250)
        for k in "cd"
        for j in range(6)
    ]
    found = counted(made, rows)
    assert len(found.group_values) == 500
    assert found.group_values == tuple(sorted(found.group_values))
    assert (np.diff(found.offsets) == 3).all()
    assert found.counts.sum() == len(rows)


def test_compas_is_what_pandas_counts(tmp_path: Path) -> None:
    made = load(COMPAS / "programme.yaml")
    log = pd.read_csv(COMPAS / "compas_decisions.csv", keep_default_na=False)
    log["when"] = pd.to_datetime(log.compas_screening_date)
    log["prior"] = pd.cut(
        log.priors_count, [-1, 0, 3, 10, 999], labels=["none", "1 to 3", "4 to 10", "over 10"]
    ).astype(str)
    log["age"] = log.age_cat.map({"Less than 25": "under 25", "25 - 45": "25 to 45", "Greater than 45": "over 45"})
    log["charge"] = log.c_charge_degree.map({"F": "felony", "M": "misdemeanour"})
    log["low"] = log.score_text == "Low"
    with Warehouse.in_memory() as warehouse:
        accounting = ingest(warehouse, made).accounting
        assert (accounting.decisions, accounting.quarantined) == (len(log), 0)
        for label, mask in {
            "all": log.when.notna(),
            "2013": log.when.dt.year == 2013,
            "2014-Q1": (log.when >= "2014-01-01") & (log.when < "2014-04-01"),
            "2013-02": (log.when >= "2013-02-01") & (log.when < "2013-03-01"),
        }.items():
            found = cells(aggregate(warehouse, made, parse(label)))
            plain = log[mask].groupby(["age", "race", "sex", "charge", "prior"]).low.agg(["sum", "count"])
            assert found == {key: [int(s), int(n - s)] for key, s, n in plain.itertuples()}
