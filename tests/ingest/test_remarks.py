"""What is no mistake in a log, but likely not meant, is told with numbers, and changes nothing."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from atr.errors import IngestError
from atr.ingest import remarks
from atr.ingest.value_remarks import Values, value_remarks
from atr.log_check import check
from atr.warehouse.connection import Warehouse
from tests.helpers.logs import HEADER, account, decisions, programme, write
from tests.helpers.small_fonts import write_font

SEX = {"sex": {"role": "public"}, "income": {"role": "sensitive", "bins": [10]}}
TODAY = date(2014, 1, 1)


def told(
    folder: Path,
    sexes: Sequence[str],
    outcomes: Sequence[str] = ("yes", "no"),
    log: dict[str, Any] | None = None,
    **sex: Any,
) -> list[str]:
    """The remarks on a log in which these values, and these outcomes, stand one after the other."""
    rows = (f"{i},2013-01-{i % 28 + 1:02d},{value},5,{outcomes[i % len(outcomes)]}\n" for i, value in enumerate(sexes))
    write(folder, HEADER + "".join(rows))
    made = programme(folder, log, attributes=SEX | {"sex": {"role": "public"} | sex})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        kept = [value for value in sexes if value.strip()]
        assert sorted(value for (value,) in decisions(warehouse, "a0") if value) == sorted(v.strip() for v in kept)
        return remarks(warehouse, made, TODAY)


@pytest.mark.parametrize(
    ("sexes", "remark"),
    [
        (["Female"] * 6 + ["female"] * 2 + ["Male"],
         "2 of 8 decisions say 'female', 6 'Female': these differ only in letter case, and are counted apart"),
        (["STRASSE", "straße", "x"], "1 of 2 decisions say 'STRASSE', 1 'straße': these differ only in letter case"),
        (["a", "\uff41", "b"], "1 of 2 decisions say 'a', 1 '\uff41': these look alike"),
        (["b", "b\u200d", "c"], "1 of 2 decisions say 'b', 1 'b\\u200d': these look alike"),
        (["x  y", "x y", "c"], "1 of 2 decisions say 'x  y', 1 'x y': these look alike"),
        (["1", "1.0", "x"], "1 of 2 decisions say '1', 1 '1.0': these are the same number"),
        (["01", "1", "x"], "1 of 2 decisions say '01', 1 '1': these are the same number"),
        (["f", "NA", "m", "n/a", "NA"], "'NA' (2), 'n/a' (1) may mean that there is no value, and are counted"),
        (["f", "nan", "m"], "'nan' (1) may mean that there is no value, and is counted as any other"),
        (["f", "-", "m"], "'-' (1) may mean"),
        (["f", "Unknown", "m"], "'Unknown' (1) may mean"),
        (["f", "k. A.", "m"], "'k. A.' (1) may mean"),
        (["Stra\u00dfe f\u00fcr", "Stra\u00dfe fu\u0308r", "m"],
         "1 of 2 decisions say 'Stra\\xdfe fu\\u0308r', 1 'Stra\\xdfe f\\xfcr': these look alike"),
        (["Frau", "Fr\u0430u", "m"], "words have letters of several scripts, which may look alike: "
         "'Fr\u0430u' (Fr\\u0430u)"),
        (["f", "日本", "m"], "no font of the reports has '日', '本', as in '日本': they may be printed as boxes; "
         "name such values otherwise in attributes.sex.values, or name a folder with a font that has them in fonts"),
        (["f", "m\u0304\u0330", "m"], "no font of the reports has U+0330"),
        (["f", "y" * 90, "m"], "a value has 90 letters"),
        (["f", "a\ufffeb", "m"], "'a\\ufffeb' has characters that cannot be printed"),
        ([" f", "f", "m\u00a0", "m"], "whitespace or unseen characters were removed in 2 rows"),
    ],
)  # fmt: skip
def test_values_not_meant_as_they_stand_are_told(tmp_path: Path, sexes: list[str], remark: str) -> None:
    found = told(tmp_path, sexes)
    assert [text for text in found if text.startswith(f"attributes.sex: {remark}")], found
    assert len(found) == 1 + ("\uff41" in remark), found


def test_characters_of_bundled_and_supplied_fonts_are_not_told(tmp_path: Path) -> None:
    assert told(tmp_path, ["नारी", "אישה", "امرأة", "γυναίκα"]) == told(tmp_path, ["f", "m", "d", "e"])
    made = programme(tmp_path, attributes=SEX)
    assert [made.undrawn(text) for text in ("日本", "a日")] == [["日", "本"], ["日"]]
    write_font(tmp_path / "fonts" / "kanji.ttf", "日")
    assert programme(tmp_path, attributes=SEX, fonts="fonts").undrawn("日本") == ["本"]


def test_characters_without_a_font_in_the_programme_are_told(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,f,5,yes\n2,2013-01-02,m,5,no\n")
    made = programme(tmp_path, attributes=SEX | {"sex": {"role": "public", "title": "性"}})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert remarks(warehouse, made, TODAY) == [
            "attributes.sex: no font of the reports has '性', as in '性': they may be printed as boxes; name a folder "
            "with a font that has them in fonts"
        ]


@pytest.mark.parametrize(
    ("outcomes", "log", "remark"),
    [
        (
            ["yes", "no", "Yes"],
            {},
            "log.outcome: 3 of 6 decisions say 'Yes', 3 'yes': these differ",
        ),
        (["yes", "no", "yes "], {}, "log.outcome: whitespace or unseen characters were removed in 3 rows"),
        (["yes", "no", "N/A"], {}, "log.outcome: 'N/A' (3) may mean"),
        (["yes", "no", "oui"], {"outcomes": {"yes": ["yes", "oui"], "no": ["no", "No"]}}, None),
        (["yes", "no", "Yes"], {"outcomes": {"yes": ["yes", "Yes"], "no": ["no"]}}, None),
    ],
)
def test_outcomes_not_meant_are_told_as_well(
    tmp_path: Path, outcomes: list[str], log: dict[str, Any], remark: str | None
) -> None:
    found = told(tmp_path, ["f", "m", "x"] * 3, outcomes, log)
    assert [text[: len(remark or "")] for text in found] == ([remark] if remark else []), found


def test_cleaned_cells_are_told_of_any_number_of_columns(tmp_path: Path) -> None:
    names = [f"x{i}" for i in range(70)]
    for n, columns in enumerate((names[:20], names[:31], names[:58], names[:59], names[:60], names)):
        folder = tmp_path / str(n)
        header = ",".join(["id", "day", "outcome", *columns])
        rows = ["1,2013-01-01,yes," + ",".join(f"{name} " for name in columns), "2 ,2013-01-02,no" + "," * len(columns)]
        write(folder, "\n".join([header, *rows]))
        roles = ["sensitive", *["public"] * len(columns)]
        made = programme(folder, attributes={name: {"role": role} for name, role in zip(columns, roles, strict=False)})
        with Warehouse.in_memory() as warehouse:
            account(warehouse, made)
            assert decisions(warehouse, "a0, id") == [("x0", "1"), (None, "2")]
            found = [text.partition(":") for text in remarks(warehouse, made, TODAY)]
        told = {key: rest for key, _, rest in found if "were removed" in rest}
        own = [*(f"attributes.{name}" for name in columns), "log.id"]
        own = own if len(columns) <= 60 else [*own[:61], "further columns"]
        assert [*told] == own
        assert told[own[-1]].endswith("in 2 rows" if len(columns) > 60 else "in 1 row")


def test_cleaned_cells_are_told_whatever_order_attributes_have(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01, f,5,yes\n2,2013-01-02,m,6,no\n")
    for order in (SEX, dict(reversed(SEX.items()))):
        with Warehouse.open(made := programme(tmp_path, attributes=order)) as warehouse:
            account(warehouse, made)
            told = "attributes.sex: whitespace or unseen characters were removed in 1 row"
            assert remarks(warehouse, made, TODAY) == [told]


def test_values_named_and_absent_are_looked_for_quickly() -> None:
    counts = {f"a value of many, number {i}": 1 for i in range(10_000)}
    start = time.process_time()
    found = value_remarks(Values("k", "k.values", counts, {f"value of many, number {i}x": "v" for i in range(500)}))
    assert time.process_time() - start < 1
    assert [text for text in found if "value of many, number 0x' occurs nowhere" in text]


@pytest.mark.parametrize(
    ("sexes", "values", "found"),
    [
        (["f", "F", "m"], {"f": "women", "F": "women", "m": "men"}, []),
        (["f", "NA", "m"], {"f": "women", "NA": "Namibia", "m": "men"}, []),
        (["f", "x", "m", "x"], {"f": "women", "m": "men"},
         ["attributes.sex.values: does not name 'x' (2), which the log has"]),
        (["women", "men"], {"Women": "women", "men": "men"},
         ["attributes.sex.values: 'Women' occurs nowhere in the log, which has 'women'"]),
        (["1", "1.0", "0"], {"1": "women", "0": "men"},
         ["attributes.sex: 1 of 2 decisions say '1', 1 '1.0': these are the same number, and are counted apart; see "
          "attributes.sex.values"]),
        (["a", "b"], {"a": "X", "b": "x"},
         ["attributes.sex: 1 of 2 decisions say 'X', 1 'x': these differ only in letter case, and are counted apart; "
          "see attributes.sex.values"]),
    ],
)  # fmt: skip
def test_what_the_programme_names_is_held_against_the_log(
    tmp_path: Path, sexes: list[str], values: dict[str, str], found: list[str]
) -> None:
    assert told(tmp_path, sexes, values=values) == found


def test_a_phrase_of_a_value_that_nobody_has_is_told(tmp_path: Path) -> None:
    phrases = {"Femal": "women", "Male": "men"}
    said = "attributes.sex.group_phrase: no report can show 'Femal'; did you mean 'Female'?"
    assert said in told(tmp_path, ["Female", "Male"], group_phrase=phrases)
    assert told(tmp_path, ["Female", "Male"], group_phrase={"Female": "women", "Male": "men"}) == []


def test_what_a_programme_declares_missing_is_none(tmp_path: Path) -> None:
    write(tmp_path, HEADER + "1,2013-01-01,NA,5,yes\n2,2013-01-01,f,5,no\n3,2013-01-01,unknown,5,no\n")
    made = programme(tmp_path, {"missing": ["", "NA"]})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert remarks(warehouse, made, TODAY) == ["attributes.sex: 33 % of the decisions have no value (1 of 3)"]


def test_dates_not_meant_are_told(tmp_path: Path) -> None:
    rows = [f"{i},2013-{i % 12 + 1:02d}-05,f,5,{'no' if i % 2 else 'yes'}" for i in range(400)]
    write(tmp_path, HEADER + "\n".join([*rows, "x,2099-12-31,f,5,no", "y,1900-01-01,f,5,no", "z,2014-02-03,f,5,no"]))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made := programme(tmp_path))
        assert remarks(warehouse, made, TODAY) == [
            "log.decided_at: 2 decisions are dated 1900-01-01, 2099-12-31, far from the others (2013-01-05 to "
            "2014-02-03): a placeholder?",
            "log.decided_at: 1 decision is dated 2014-02-03, after today, which is 2014-01-01",
        ]


@pytest.mark.parametrize("revised", [False, True])
def test_ids_with_rows_that_differ_are_told_with_their_files(tmp_path: Path, revised: bool) -> None:
    head = "id,day,sex,income,outcome,revised\n"
    a = [f"{i},2013-01-01,f,5,{'no' if i % 2 else 'yes'},{9 if revised else 1}" for i in range(20)]
    b = [row.replace(",5,", ",50,").replace(",9", ",2") for row in a[:12]]
    write(tmp_path, head + "\n".join([*a, "19,2013-01-01,m,5,no,10"]), "a.csv")
    write(tmp_path, head + "\n".join([*b, a[15]]), "b.csv")
    made = programme(tmp_path, {"source": "*.csv"} | ({"revision": "revised"} if revised else {}))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        several, pair = sorted(remarks(warehouse, made, TODAY)[-2:])
    first, counts = ("b.csv", "a.csv") if revised else ("a.csv", "b.csv")
    last = "the highest revision" if revised else "the last"
    assert several == f"log.id: 1 id stands in a.csv several times, with different values: {last} counts"
    assert pair == f"log.id: 12 ids stand in {first} and {counts} with different values: {counts} counts"


def test_an_id_that_is_not_of_a_decision_is_told(tmp_path: Path) -> None:
    rows = [f"c{i % 10},2013-01-01,f,{i},{'no' if i % 2 else 'yes'}" for i in range(20)]
    write(tmp_path, HEADER + "\n".join(rows))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made := programme(tmp_path))
        found = remarks(warehouse, made, TODAY)
    assert found[0] == ("log.id: 10 of 20 rows replaced an earlier one of the same id; is it the id of a decision?")


def test_values_that_nobody_announced_has_are_told(tmp_path: Path) -> None:
    rows = [
        f"{i},2013-{1 + i % 4 * 3:02d}-01,{'f' if i % 40 else 'x'},{i % 20},{'no' if i % 3 else 'yes'}"
        for i in range(800)
    ]
    write(tmp_path, HEADER + "\n".join(rows))
    protected = {"sex": {"role": "public", "protected": True}}
    policy = {"minimum_group_size": 10, "max_confidence": 0.9}
    found = check(programme(tmp_path, attributes=SEX | protected, policy=policy)).remarks
    assert found == ("attributes.sex: no group that is announced has 'x' in 2013-Q1 (20 people there)",)


def test_values_are_told_with_the_periods_they_are_absent_in(tmp_path: Path) -> None:
    rows = "".join(
        f"{year}.{i},{year}-01-01,{'f' if i % 40 else 'x'},{i % 20},{'no' if i % 3 else 'yes'}\n"
        for year in range(2001, 2007)
        for i in range(400 if year < 2004 else 20)
    )
    write(tmp_path, HEADER + rows)
    protected = {"sex": {"role": "public", "protected": True}}
    policy = {"minimum_group_size": 10, "max_confidence": 0.9}
    period = {"every": "year", "timezone": "UTC"}
    found = check(programme(tmp_path, attributes=SEX | protected, policy=policy, period=period))
    assert found.next.startswith("`atr publish` without --period takes 2005")
    told = "attributes.sex: no group that is announced has 'x' in 6 of 6 periods (33 people there), 'f' in 3 of 6 "
    assert found.remarks == (told + "periods (57 people there)",)


def test_rows_that_nobody_can_use_are_told_with_their_texts(tmp_path: Path) -> None:
    rows = [f"{i},2013-01-{i % 28 + 1:02d},f,5,{'no' if i % 2 else 'yes'}" for i in range(40)]
    write(
        tmp_path, HEADER + "\n".join([*rows, "a,2013-01-01,f,5,Yes", "b,2013-01-01,f,5,maybe", "c,2013-01-01,f,5,Yes"])
    )
    write(tmp_path, HEADER + "\n".join(["d,31 May,f,5,yes", "e,2013-01-01,f,five,no"]), "other.csv")
    write(tmp_path, HEADER, "third.csv")
    made = programme(tmp_path, {"source": "*.csv", "outcomes": {"yes": ["yes"], "no": ["no"]}})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert remarks(warehouse, made, TODAY) == [
            "log.source: third.csv has no rows",
            "log.source: quarantined, outcome that the programme does not name: 3 rows, first log.csv, line 42: "
            "'Yes' (2), 'maybe' (1); 'Yes' differs from 'yes' only in letter case",
            "log.source: quarantined, date that cannot be read: 1 row, first other.csv, line 2: '31 May' (1)",
            "log.source: quarantined, no number in 'income' (attributes.income.bins): 1 row, first other.csv, line 3: "
            "'five' (1)",
        ]


def test_periods_without_decisions_are_told(tmp_path: Path) -> None:
    days = ("2012-01-05", "2012-02-05", "2012-08-05", "2013-01-05")
    write(tmp_path, HEADER + "".join(f"{day},{day},f,5,{'no' if i else 'yes'}\n" for i, day in enumerate(days)))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made := programme(tmp_path))
        gap = "log.decided_at: the log has no decisions in 2012-Q2, 2012-Q4, between others"
        assert remarks(warehouse, made, TODAY) == [gap]
        released = "INSERT INTO releases SELECT $1, 1, 'published', '', '', '', '', '', '', '', [], 'report'"
        for label in ("2011", "2012-Q2", "2012-Q3"):
            warehouse.connection.execute(released, [label])
        lost = "log.decided_at: the log has no decisions any more in 2011, 2012-Q2, which are published"
        assert remarks(warehouse, made, TODAY) == [gap, lost]


def test_missing_values_are_told_from_one_in_a_hundred(tmp_path: Path) -> None:
    rows = [f"{i},2013-01-01,{'f' if i else ''},{i if i > 3 else ''},{'no' if i % 2 else 'yes'}\n" for i in range(200)]
    write(tmp_path, HEADER + "".join(rows))
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made := programme(tmp_path))
        assert remarks(warehouse, made, TODAY) == ["attributes.income: 2 % of the decisions have no value (4 of 200)"]


def test_ids_in_other_letters_are_told(tmp_path: Path) -> None:
    write(
        tmp_path,
        HEADER + "".join(f"{c}{i},2013-01-01,f,5,{'no' if i % 2 else 'yes'}\n" for c in "aA" for i in range(9)),
    )
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made := programme(tmp_path))
        told = "log.id: 9 ids differ from others only in letter case, as 'A0' and 'a0': these are counted apart"
        assert remarks(warehouse, made, TODAY) == [told]


def _without_ids(folder: Path, first: int, last: int, times: int = 1, name: str = "log.csv") -> None:
    rows = [f"2013-01-{i % 28 + 1:02d},f,{i},{'no' if i % 2 else 'yes'}" for i in range(first, last)]
    write(folder, HEADER.removeprefix("id,") + "\n".join(rows * times), name)


def test_files_joined_to_themselves_or_overlapping_are_told(tmp_path: Path) -> None:
    _without_ids(tmp_path, 0, 90, 3, "a.csv")
    _without_ids(tmp_path, 200, 300, name="b.csv")
    _without_ids(tmp_path, 260, 360, name="c.csv")
    _without_ids(tmp_path, 350, 450, name="d.csv")
    made = programme(tmp_path, {"source": "*.csv", "id": None})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        assert remarks(warehouse, made, TODAY) == [
            "log.source: every row of a.csv stands there 3 times, or a multiple of that: was it joined to itself?",
            "log.source: 40 decisions stand equally often in b.csv and c.csv: are they the same?",
        ]
        assert remarks(warehouse, programme(tmp_path, {"id": None, "repeats": True}), TODAY) == []


def test_a_file_without_dates_joined_to_itself_is_told(tmp_path: Path) -> None:
    _without_ids(tmp_path, 0, 90, 2)
    made = programme(tmp_path, {"id": None, "decided_at": None}, period={"every": "all"})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        (told,) = remarks(warehouse, made, TODAY)
    assert told.startswith("log.source: every row of log.csv stands there 2 times")


def test_a_cumulative_export_of_few_days_is_refused(tmp_path: Path) -> None:
    rows = [f"2013-01-01,{'fm'[i % 2]},{i * i % 7},{'no' if i % 3 else 'yes'}" for i in range(100)]
    for name, some in (("mid.csv", rows[:50]), ("end.csv", rows)):
        write(tmp_path, HEADER.removeprefix("id,") + "\n".join(some), name)
    with (
        Warehouse.in_memory() as warehouse,
        pytest.raises(IngestError, match=r"mid.csv: 50 of its 50 decisions stand in"),
    ):
        account(warehouse, programme(tmp_path, {"source": "*.csv", "id": None}))


@pytest.mark.parametrize("order", [("old.csv", "all.csv"), ("all.csv", "old.csv")])
def test_a_cumulative_export_without_dates_is_refused(tmp_path: Path, order: tuple[str, str]) -> None:
    made = programme(tmp_path, {"source": "*.csv", "id": None, "decided_at": None}, period={"every": "all"})
    with Warehouse.open(made) as warehouse:
        for i, name in enumerate(order):
            _without_ids(tmp_path, 0, 100 if name == "all.csv" else 60, name=name)
            if i == 0:
                account(warehouse, made)
        with pytest.raises(IngestError, match=r"old.csv: 60 of its 60 decisions stand in all.csv too"):
            account(warehouse, made)
        _without_ids(tmp_path, 59, 119, name="old.csv")
        assert account(warehouse, made).decisions == 160
