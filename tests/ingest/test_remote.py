"""Objects of S3: found, fetched once, and read as files of every kind."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import boto3
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from moto.server import ThreadedMotoServer

from atr import ingest as ingestion
from atr.errors import AtrError, EnvironmentFault, IngestError
from atr.ingest.sources import remote
from atr.warehouse.connection import Warehouse
from tests.helpers.logs import GOOD, HEADER, account, decisions, programme, write
from tests.helpers.servers import free_port

SECRET = "s3cret-of-these-tests"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with patch.dict("os.environ", {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": SECRET}):
        moto = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        moto.start()
        host, port = moto.get_host_and_port()
        yield f"http://{host}:{port}"
        moto.stop()


@pytest.fixture
def bucket(server: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty bucket, ``logs-of-atr``, and the environment that leads to it."""
    environment = {"ACCESS_KEY_ID": "key", "SECRET_ACCESS_KEY": SECRET, "ENDPOINT_URL": server, "REGION": "us-east-1"}
    for name, value in environment.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    made = boto3.resource("s3", endpoint_url=server, region_name="us-east-1").Bucket("logs-of-atr")
    made.create()
    made.objects.all().delete()
    return made


def line(n: int, outcome: str = "yes") -> str:
    return f"{n},2013-01-0{n},f,5,{outcome}\n"


def read(folder: Path, source: Any) -> list[tuple[Any, ...]]:
    with Warehouse.in_memory() as warehouse:
        account(warehouse, programme(folder, {"source": source}))
        return decisions(warehouse, "id, outcome")


def test_the_form_of_an_object_is_told_as_that_of_a_file(tmp_path: Path, bucket: Any) -> None:
    bucket.put_object(Key="log.csv", Body=(HEADER + line(1).replace("-", "/").replace("f", "é")).encode("utf-16"))
    with pytest.raises(IngestError, match='encoding: utf-16\n  date_format: "%Y/%m/%d"') as caught:
        read(tmp_path, "s3://logs-of-atr/log.csv")
    assert caught.value.where == "s3://logs-of-atr/log.csv"


def test_objects_of_all_kinds_are_one_log(tmp_path: Path, bucket: Any) -> None:
    table = pa.table({"id": [3], "day": ["2013-01-03"], "sex": ["f"], "income": [5], "outcome": ["no"]})
    pq.write_table(table, tmp_path / "3.parquet")
    objects = {
        "in/1 ü+&=[x].csv": (HEADER + line(1)).encode(),
        "in/2.csv.gz": gzip.compress((HEADER + line(2)).encode()),
        "in/3.parquet": (tmp_path / "3.parquet").read_bytes(),
        "in/4.jsonl": b'{"id": 4, "day": "2013-01-04", "sex": "f", "income": 5, "outcome": "yes"}\n',
        "in/sex=m/5.csv": b"id,day,income,outcome\n5,2013-01-05,5,no\n",
        "in/_SUCCESS": b"",
        "in/deeper/": b"",
        "in/_tmp/0/8.csv": (HEADER + line(8)).encode(),
        "other.csv": (HEADER + line(6)).encode(),
    }
    for name, content in objects.items():
        bucket.put_object(Key=name, Body=content)
    every = [("1", "yes"), ("2", "yes"), ("3", "no"), ("4", "yes"), ("5", "no")]
    write(tmp_path, HEADER + line(7))
    assert read(tmp_path, "s3://logs-of-atr/in/") == every
    assert read(tmp_path, ["s3://logs-of-atr/in/*.csv*", "s3://logs-of-atr/in/3.parquet"]) == every[:3]
    assert read(tmp_path, ["s3://logs-of-atr/in/3*", "s3://logs-of-atr/**/_tmp/**"]) == [("3", "no"), ("8", "yes")]
    assert read(tmp_path, ["s3://logs-of-atr/in/", "log.csv"]) == [*every, ("7", "yes")]


def test_an_object_that_is_as_it_was_is_not_fetched(
    tmp_path: Path, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    query = remote.ask
    monkeypatch.setattr(remote, "ask", lambda *given: [asked.append(given[2]), query(*given)][1])
    now = [datetime.now(UTC)]
    monkeypatch.setattr(remote, "datetime", type("clock", (), {"now": lambda _: now[0]}))
    bucket.put_object(Key="1.csv", Body=(HEADER + GOOD).encode())
    made = programme(tmp_path, {"source": "s3://logs-of-atr/*.csv"})

    def fetched(warehouse: Warehouse) -> tuple[int, int]:
        asked.clear()
        found = ingestion.ingest(warehouse, made).accounting.decisions
        return found, sum("content" in sql for sql in asked)

    with Warehouse.open(made) as warehouse:
        assert fetched(warehouse) == (2, 2)
        assert fetched(warehouse) == (2, 1)  # written just now: looked at, and found to be the same
        now[0] += timedelta(hours=1)
        assert fetched(warehouse) == (2, 1)
        assert fetched(warehouse) == (2, 0)
        bucket.put_object(Key="1.csv", Body=(HEADER + GOOD + line(3)).encode())
        bucket.put_object(Key="2.csv", Body=(HEADER + line(4)).encode())
        assert fetched(warehouse)[0] == 4
        bucket.delete_objects(Delete={"Objects": [{"Key": "2.csv"}]})
        assert fetched(warehouse)[0] == 3
    assert not [path for path in made.store_path.rglob("*") if path.suffix == ".csv"]


@pytest.mark.parametrize(
    ("source", "changed", "kind", "message"),
    [
        ("s3://logs-of-atr/none.csv", {}, IngestError, "no object s3://logs-of-atr/none.csv"),
        ("s3://logs-of-atr/none*", {}, IngestError, r"no object s3://logs-of-atr/none\*"),
        ("s3://no-such-bucket/*", {}, IngestError, "no object s3://no-such-bucket"),
        ("s3://logs-of-atr/*", {"AWS_ENDPOINT_URL": None}, EnvironmentFault, "cannot be fetched from the server"),
        ("s3://logs-of-atr/bad.csv", {}, IngestError, "^s3://logs-of-atr/bad.csv: there is no column 'id'"),
    ],
)
def test_a_fault_names_the_object_and_no_secret(
    tmp_path: Path, bucket: Any, source: str, changed: dict[str, Any], kind: type[AtrError], message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    for name in changed:
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    bucket.put_object(Key="bad.csv", Body=b"a,b\n1,2\n")
    with pytest.raises(kind, match=message) as caught:
        read(tmp_path, source)
    assert SECRET not in str(caught.value) + caught.value.private + repr(caught.value.__context__)
