"""Real servers on this machine, each started unprivileged, for itself alone, and stopped by its own process."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

PASSWORD = "s3cret-of-these-tests"
PG_DEBIAN = Path("/usr/lib/postgresql")


@dataclass(frozen=True)
class Server:
    """A database server: its port, and what runs SQL in it."""

    port: int
    client: tuple[str, ...]
    environment: dict[str, str]
    database: str

    def address(self, scheme: str) -> str:
        """The address of its database."""
        return f"{scheme}://atr:{PASSWORD}@127.0.0.1:{self.port}/{self.database}"

    def run(self, sql: str, database: str | None = None) -> None:
        """Run statements, in a database of the name, if one is named."""
        environment = os.environ | self.environment
        found = subprocess.run(
            [*self.client, database or self.database], input=sql, text=True, capture_output=True, env=environment
        )
        assert found.returncode == 0, found.stderr


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def program(name: str, package: str) -> str:
    """Where a program is. Without it the tests that need it say what to install; in CI they fail."""
    debian = sorted(PG_DEBIAN.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    found = str(debian[-1]) if debian else shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        missing = f"{name} is missing: install Debian's package {package}"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    return found


def _as_other(folder: Path, command: Sequence[str | Path]) -> list[str]:
    """A command, run by the owner of a folder where root would run it: no database server runs as root."""
    words = [str(word) for word in command]
    if os.getuid():
        return words
    owner = folder.stat().st_uid
    return ["setpriv", f"--reuid={owner}", f"--regid={folder.stat().st_gid}", "--clear-groups", *words]


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder of a short name, since a socket's path is short, of an unprivileged user."""
    with tempfile.TemporaryDirectory(prefix="atr-") as name:
        folder = Path(name)
        if not os.getuid():
            os.chown(folder, 65534, 65534)
        yield folder


@contextmanager
def _running(folder: Path, command: Sequence[str | Path], server: Server, ready: str) -> Iterator[Server]:
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(_as_other(folder, command), cwd=folder, stdout=output, stderr=output)
    try:
        for _ in range(400):
            assert process.poll() is None, log.read_text()
            try:
                server.run(ready)
            except AssertionError:
                time.sleep(0.05)
            else:
                break
        else:
            pytest.fail(log.read_text())
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server on 127.0.0.1 with the user ``atr`` and the database ``postgres``."""
    initdb, postgres, psql = (program(name, "postgresql") for name in ("initdb", "postgres", "psql"))
    with _folder() as folder:
        secret, data, port = folder / "secret", folder / "data", free_port()
        secret.write_text(PASSWORD)
        secret.chmod(0o644)
        made = [initdb, "-D", data, "-A", "scram-sha-256", "-U", "atr", f"--pwfile={secret}", "-N", "-E", "UTF8"]
        subprocess.run(_as_other(folder, [*made, "--no-locale"]), cwd=folder, check=True, capture_output=True)
        settings = {"listen_addresses": "127.0.0.1", "port": port, "fsync": "off", "unix_socket_directories": folder}
        command = [
            postgres,
            "-D",
            data,
            *(word for key, value in settings.items() for word in ("-c", f"{key}={value}")),
        ]
        client = (
            psql,
            "-X",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            "-h",
            "127.0.0.1",
            "-p",
            str(port),
            "-U",
            "atr",
            "postgres",
        )
        server = Server(port, client, {"PGPASSWORD": PASSWORD}, "postgres")
        with _running(folder, command, server, "SELECT 1") as running:
            yield running


@contextmanager
def mariadb() -> Iterator[Server]:
    """A MariaDB server on 127.0.0.1 with the user ``atr`` and the database ``logs``."""
    daemon, client = program("mariadbd", "mariadb-server-core"), program("mariadb", "mariadb-client-core")
    install = program("mariadb-install-db", "mariadb-server-core")
    with _folder() as folder:
        data, port, socket_path = folder / "data", free_port(), folder / "socket"
        init = folder / "init.sql"
        init.write_text(
            f"CREATE DATABASE logs;\nCREATE USER atr@'%' IDENTIFIED BY '{PASSWORD}';\nGRANT ALL ON *.* TO atr@'%';\n"
        )
        init.chmod(0o644)
        made = [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
        subprocess.run(
            _as_other(folder, [*made, "--skip-test-db", "--skip-name-resolve"]),
            cwd=folder, check=True, capture_output=True,
        )  # fmt: skip
        command = [
            daemon, "--no-defaults", f"--datadir={data}", f"--socket={socket_path}", f"--port={port}",
            "--bind-address=127.0.0.1", f"--init-file={init}", "--innodb-flush-log-at-trx-commit=0",
            "--skip-name-resolve", f"--pid-file={folder / 'pid'}",
        ]  # fmt: skip
        told = (
            client,
            "--no-defaults",
            "-h",
            "127.0.0.1",
            "-P",
            str(port),
            "-u",
            "atr",
            "--default-character-set=utf8mb4",
        )
        with _running(folder, command, Server(port, told, {"MYSQL_PWD": PASSWORD}, "logs"), "SELECT 1") as running:
            yield running
