"""Where Prefect runs: whose secret it keeps, which settings of the surroundings it obeys, what is served."""

from __future__ import annotations

import json
import os
import socket
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from atr.errors import EnvironmentFault, ProgrammeError
from atr.flows import environment, programmes
from atr.flows.serve import serve
from tests.helpers import command, series


@pytest.fixture(autouse=True)
def _surroundings() -> Iterator[None]:
    """What a test, or what it calls, sets in the environment is put back."""
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def test_a_secret_is_made_once_and_is_its_owners_alone(tmp_path: Path) -> None:
    os.umask(0)
    first = environment.authentication(tmp_path)
    assert environment.authentication(tmp_path) == first
    assert first != environment.authentication(tmp_path.parent)
    assert first.startswith("atr:")
    assert len(first) > 40
    assert stat.S_IMODE((tmp_path / environment.AUTH).stat().st_mode) == 0o600


def test_commands_that_start_at_once_know_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(environment.authentication, [tmp_path] * 8))) == 1
    assert [path.name for path in tmp_path.iterdir()] == [environment.AUTH]


@pytest.mark.parametrize("planted", ["readable", "empty", "binary", "link", "dangling"])
def test_a_secret_that_others_know_is_not_used(tmp_path: Path, planted: str) -> None:
    path, other = tmp_path / environment.AUTH, tmp_path / "other"
    if planted in ("link", "dangling"):
        path.symlink_to(other)
    if planted != "dangling":
        path.write_bytes({"empty": b"", "binary": b"atr:\xff"}.get(planted, b"atr:known"))
        path.chmod(0o600)
    path.chmod(0o644) if planted == "readable" else None
    with pytest.raises(EnvironmentFault, match=environment.AUTH):
        environment.authentication(tmp_path)
    assert planted != "dangling" or not other.exists()


@pytest.mark.parametrize("planted", ["writable", "link", "file"])
def test_a_folder_that_others_laid_ready_is_not_used(tmp_path: Path, planted: str) -> None:
    home = tmp_path / "home"
    if planted == "writable":
        home.mkdir()
        home.chmod(0o777)
    elif planted == "link":
        home.symlink_to(tmp_path)
    else:
        home.write_text("")
    with pytest.raises(EnvironmentFault, match=str(home)):
        environment.prepare(home)
    assert not (home / environment.AUTH).exists()


@pytest.mark.parametrize("own", [True, False])
def test_settings_for_another_server_are_not_obeyed(tmp_path: Path, own: bool) -> None:
    elsewhere = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_PROFILE", "SSL_CERT_FILE", "https_proxy")
    for name in (*elsewhere, "PREFECT_API_AUTH_STRING", "PREFECT_WORKER_QUERY_SECONDS"):
        os.environ[name] = "http://127.0.0.1:9"
    environment.prepare(tmp_path / "home", own=own)
    assert not set(elsewhere) & set(os.environ)
    assert os.environ["PREFECT_API_AUTH_STRING"] == environment.authentication(tmp_path / "home")
    assert ("PREFECT_WORKER_QUERY_SECONDS" in os.environ) is not own
    assert stat.S_IMODE((tmp_path / "home").stat().st_mode) == 0o700


@pytest.mark.long
def test_a_server_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:9/api")
    path = series.write_series(tmp_path, series.card(2))
    done = command.python("-m", "atr.flows", "publish", path, "--json")
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["kind"], error["where"]) == (4, "EnvironmentFault", "http://127.0.0.1:9/api")
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "var").exists()


def test_what_deployments_and_their_schedules_name_is_served(tmp_path: Path) -> None:
    path = tmp_path / "prefect.yaml"
    path.write_text("""
deployments:
  - {name: a, parameters: {programme: a.yaml}, schedules: [{cron: x, parameters: {programme: b.yaml}}, {cron: y}]}
  - {name: c, parameters: {programme: a.yaml, period: 2013}}
  - {name: d}
""")
    assert programmes.declared(path) == ["a.yaml", "b.yaml"]
    path.write_text("")
    assert programmes.declared(path) == []
    for wrong in ("deployments: [a]", "a: [", "deployments: {a: b}", "- a", "a: 2013-99-99"):
        path.write_text(wrong)
        with pytest.raises(ProgrammeError, match="cannot be read as deployments"):
            programmes.declared(path)


def test_what_is_served_is_listed_by_real_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = series.write_series(tmp_path / "real", series.card(2))
    (tmp_path / "link").symlink_to(path.parent)
    monkeypatch.chdir(tmp_path)
    programmes.serve_only(["link", "real/programme.yaml"], tmp_path / "list")
    assert (tmp_path / "list").read_text().count(str(path)) == (tmp_path / "list").read_text().count(".yaml") == 1
    assert programmes.permitted("link") == str(path), "a person's own run is about any programme"


def test_a_server_says_what_keeps_it_from_starting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = tmp_path / "home"
    with pytest.raises(ProgrammeError, match=r"nothing to serve: prefect\.yaml is not here"):
        serve([], port=0, home=home)
    (tmp_path / "prefect.yaml").write_text("name: mine")
    with pytest.raises(ProgrammeError, match=r"nothing to serve: prefect\.yaml names no programme"):
        serve([], port=0, home=home)
    with pytest.raises(ProgrammeError, match="no such file"):
        serve([tmp_path / "none.yaml"], port=0, home=home)
    assert not home.exists()
    path = series.write_series(tmp_path, series.card(2))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EnvironmentFault, match=f"port {port} cannot be used"):
            serve([path], port=port, home=home)
    assert not home.exists()
