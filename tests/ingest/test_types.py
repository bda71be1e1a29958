"""Types of Parquet files: read exactly, or refused by column and type."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atr.errors import IngestError, ProgrammeError, RefusedError
from atr.warehouse.connection import Warehouse
from tests.helpers.logs import account, decisions, programme

MOMENT = datetime(2013, 12, 31, 23, 30, 0, 123456)
IDENTITY = "0a8bcf4a-6a3c-4d6e-9a3e-2f6f5d6a7b8c"
TYPES: dict[str, tuple[pa.DataType, Any, str]] = {
    "bool": (pa.bool_(), True, "true"),
    "int8": (pa.int8(), -128, "-128"),
    "int64": (pa.int64(), 2**63 - 1, "9223372036854775807"),
    "uint64": (pa.uint64(), 2**64 - 1, "18446744073709551615"),
    "float16": (pa.float16(), 0.5, "0.5"),
    "float32": (pa.float32(), 0.1, "0.1"),
    "float64": (pa.float64(), 1e16, "1e+16"),
    "minus zero": (pa.float64(), -0.0, "0"),
    "decimal": (pa.decimal128(38, 9), Decimal("99999999999999999999999999999.5"), "99999999999999999999999999999.5"),
    "whole decimal": (pa.decimal128(9, 2), Decimal("100.00"), "100"),
    "short decimal in long form": (pa.decimal256(20, 2), Decimal("5.25"), "5.25"),
    "text": (pa.string(), "漢字😀", "漢字😀"),
    "large text": (pa.large_string(), "5.0", "5.0"),
    "dictionary": (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    "date": (pa.date32(), date(2013, 12, 31), "2013-12-31"),
    "date of 64 bits": (pa.date64(), date(2013, 12, 31), "2013-12-31"),
    "time in milliseconds": (pa.time32("ms"), time(12, 30, 0, 123000), "12:30:00.123"),
    "time in microseconds": (pa.time64("us"), time(12, 30, 0, 123456), "12:30:00.123456"),
    "seconds": (pa.timestamp("s"), MOMENT.replace(microsecond=0), "2013-12-31 23:30:00"),
    "microseconds": (pa.timestamp("us"), MOMENT, "2013-12-31 23:30:00.123456"),
    "nanoseconds": (pa.timestamp("ns"), 1_388_532_600_123_456_789, "2013-12-31 23:30:00.123456789"),
    "with a zone": (pa.timestamp("us", "Asia/Tokyo"), MOMENT.replace(tzinfo=UTC), "2013-12-31 23:30:00.123456+00"),
    "uuid": (pa.uuid(), UUID(IDENTITY).bytes, IDENTITY),
    "nothing": (pa.null(), None, ""),
}  # fmt: skip


def write(folder: Path, columns: dict[str, Any], **options: Any) -> None:
    """A log of two rows with some columns other than usual."""
    usual = {"id": [0, 1], "day": ["2013-01-01"] * 2, "income": [5, 5], "outcome": ["yes", "no"]}
    pq.write_table(pa.table(usual | columns), folder / "log.parquet", **options)


def read(folder: Path, columns: dict[str, Any]) -> None:
    write(folder, {"sex": ["f", "m"], **columns})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(folder, {"source": "log.parquet"}, attributes=ATTRIBUTES))


ATTRIBUTES = {"sex": {"role": "public", "values": {"a": "a"}}, "income": {"role": "sensitive", "bins": [10]}}


def test_types_of_parquet_are_read_exactly(tmp_path: Path) -> None:
    attributes = {name: {"role": "sensitive" if i else "public", "values": {"a": "a"}} for i, name in enumerate(TYPES)}
    write(tmp_path, {name: pa.array([value, None], type) for name, (type, value, _) in TYPES.items()})
    made = programme(tmp_path, {"source": "log.parquet"}, attributes=attributes)
    with Warehouse.in_memory() as warehouse:
        account(warehouse, made)
        found = decisions(warehouse, ", ".join(f"a{i}" for i in range(len(TYPES))))
    assert found == [tuple(text or None for _, _, text in TYPES.values()), (None,) * len(TYPES)]


@pytest.mark.parametrize(
    ("type", "value", "named"),
    [
        (pa.list_(pa.string()), ["f"], r"VARCHAR\[\]"),
        (pa.struct([("a", pa.int8())]), {"a": 1}, "STRUCT"),
        (pa.map_(pa.string(), pa.int8()), [("a", 1)], "MAP"),
        (pa.binary(), b"f", "BLOB"),
        (pa.binary(3), b"abc", "BLOB"),
        (pa.decimal256(39, 1), Decimal("0.5"), "decimals of 39 digits"),
        (pa.time64("ns"), 45_000_123_456_789, "times in nanoseconds"),
        (pa.timestamp("ns", "UTC"), 1_388_532_600_123_456_789, "timestamps with a zone in nanoseconds"),
    ],
)
def test_a_type_without_plain_values_is_refused(tmp_path: Path, type: pa.DataType, value: Any, named: str) -> None:
    with pytest.raises(IngestError, match=rf"column 'sex' holds {named}.* not plain values .* \(attributes.sex\)"):
        read(tmp_path, {"sex": pa.array([value, None], type)})


@pytest.mark.parametrize(
    ("value", "text"),
    [("TIME WITH TIME ZONE '12:30:00+02'", "10:30:00+00"), ("'101'::BIT", "101"), ("INTERVAL 1 DAY", None)],
)
def test_types_that_only_duckdb_writes(tmp_path: Path, value: str, text: str | None) -> None:
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT 1 AS id, DATE '2013-01-01' AS day, {value} AS sex, 5 AS income, o AS outcome "
            f"FROM (VALUES ('yes'), ('no')) AS t(o)) TO '{tmp_path / 'log.parquet'}'"
        )
    made = programme(tmp_path, {"source": "log.parquet", "id": None, "repeats": True}, attributes=ATTRIBUTES)
    with Warehouse.in_memory() as warehouse:
        if text is None:
            with pytest.raises(IngestError, match="holds INTERVAL, not plain values"):
                account(warehouse, made)
        else:
            account(warehouse, made)
            assert decisions(warehouse, "a0") == [(text,), (text,)]


def test_days_of_timestamps_in_nanoseconds_are_exact(tmp_path: Path) -> None:
    moments = pa.array([1_388_532_600_123_456_789, 1_388_532_600_999_999_999], pa.timestamp("ns", "Asia/Tokyo"))
    write(tmp_path, {"day": moments, "sex": ["f", "f"]})
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(tmp_path, {"source": "log.parquet"}))
        assert decisions(warehouse, "decided_on") == [(date(2014, 1, 1),)] * 2


def test_timestamps_whose_zone_nobody_knows_are_refused(tmp_path: Path) -> None:
    write(tmp_path, {"day": pa.array([MOMENT] * 2), "sex": ["f", "f"]}, use_deprecated_int96_timestamps=True)
    with Warehouse.in_memory() as warehouse, pytest.raises(IngestError, match="column 'day' holds INT96 timestamps"):
        account(warehouse, programme(tmp_path, {"source": "log.parquet"}))


def test_moments_may_be_ids_and_outcomes(tmp_path: Path) -> None:
    days = pa.array([date(2013, 1, 1), date(2013, 1, 2)])
    write(tmp_path, {"id": days, "outcome": days.cast(pa.timestamp("us")), "sex": ["f"] * 2})
    outcomes = {"outcomes": {"yes": ["2013-01-01 00:00:00"], "no": ["2013-01-02 00:00:00"]}}
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(tmp_path, {"source": "log.parquet"} | outcomes))
        assert decisions(warehouse, "id, outcome") == [(f"2013-01-0{i}", f"2013-01-0{i} 00:00:00") for i in (1, 2)]


@pytest.mark.parametrize("name", ["float16", "float32", "float64", "minus zero"])
def test_rounded_numbers_are_no_ids(tmp_path: Path, name: str) -> None:
    type, value, _ = TYPES[name]
    with pytest.raises(IngestError, match=r"column 'id' holds \w+, which is rounded and cannot be an id"):
        read(tmp_path, {"id": pa.array([value, 2.0], type)})


@pytest.mark.long
@pytest.mark.parametrize("column", ["id", "day", "income", "outcome", "sex"])
@pytest.mark.parametrize("name", TYPES)
def test_every_type_in_every_place_is_read_or_refused(tmp_path: Path, name: str, column: str) -> None:
    type, value, _ = TYPES[name]
    with suppress(IngestError, ProgrammeError, RefusedError):
        read(tmp_path, {column: pa.array([value, None], type)})
