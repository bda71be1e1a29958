"""How Prefect runs for atr: on this machine only, in a private folder, behind a password, without telemetry."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from atr.errors import EnvironmentFault
from atr.warehouse.files import create_once
from atr.warehouse.store import os_faults

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_RESULTS_PERSIST_BY_DEFAULT": "false",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "atr",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "OMP_NUM_THREADS": "1",
}

AUTH = "auth"
"""The file in Prefect's own folder that holds the authentication string of its server."""
DATABASE = "prefect.db"
"""The server's database, in that folder too."""

_ELSEWHERE = ("PREFECT_API_", "PREFECT_CLIENT_", "PREFECT_CLOUD_", "PREFECT_PROFILE", "PREFECT_SERVER_DATABASE_")
"""How variables begin that name another server than that of this machine, and how it is reached."""
_OUTSIDE = ("SSL_CERT_FILE", "SSL_CERT_DIR", "SSLKEYLOGFILE")
"""Variables about the world outside this machine, besides proxies: nothing goes there."""


def configured() -> bool:
    """Whether a Prefect server is named for the flows of this process."""
    return bool(os.environ.get("PREFECT_API_URL"))


def prepare(home: Path, *, own: bool = False) -> None:
    """Set the environment for a server of this machine; to be called before anything imports Prefect.

    Parameters
    ----------
    home
        Prefect's own folder; made private.
    own
        Whether the server is Prefect's temporary one, of this command alone: then Prefect's settings of the
        surroundings are not for it, and its log stays off the terminal.

    Raises
    ------
    EnvironmentFault
        If the folder, or the authentication string in it, cannot be used.
    """
    own_folder(home)
    for name in list(os.environ):
        not_for_it = name.startswith("PREFECT_" if own else _ELSEWHERE) or name in _OUTSIDE
        if not_for_it or name.lower().endswith("_proxy"):
            os.environ.pop(name)
    os.environ.update(SETTINGS)
    os.environ["PREFECT_HOME"] = str(home)
    os.environ["PREFECT_API_AUTH_STRING"] = authentication(home)
    try:
        Path.home()
    except RuntimeError:  # a user without an entry in the password file; Prefect asks for the folder
        os.environ["HOME"] = str(home)
    if own:
        os.environ["PREFECT_SERVER_API_AUTH_STRING"] = os.environ["PREFECT_API_AUTH_STRING"]
        os.environ["PREFECT_SERVER_API_CORS_ALLOWED_ORIGINS"] = "http://127.0.0.1"
        os.environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{DATABASE}"
        os.environ["PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS"] = "300"  # it makes its database first
        os.environ.pop("PREFECT_LOGGING_EXTRA_LOGGERS")
        os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
        os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = "CRITICAL"


@contextmanager
def server_faults() -> Iterator[None]:
    """What Prefect's server does not do that it is asked for inside is a fault of the environment."""
    import httpx

    try:
        yield
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise EnvironmentFault(
            f"Prefect's server does not do what it should ({str(error).splitlines()[0]})",
            where=os.environ["PREFECT_API_URL"],
            hint="Look whether it runs, and whether PREFECT_API_AUTH_STRING is what it asks for.",
        ) from None


def own_folder(home: Path) -> None:
    """Make a folder for this user alone, or see that one is: in another's, files could be swapped or laid ready."""
    with os_faults(home):
        home.mkdir(parents=True, exist_ok=True, mode=0o700)
        found = home.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise EnvironmentFault(
            "is not this user's folder, or others may write in it",
            where=str(home),
            hint="Remove it, or name another one.",
        )
    home.chmod(0o700)


def authentication(home: Path) -> str:
    """The authentication string of a server, made at random where there is none.

    A database that is there already is put aside then: anybody could have written what is in it.

    Raises
    ------
    EnvironmentFault
        If its file belongs to somebody else or may be read by others.
    """
    path = home / AUTH
    with os_faults(path):
        if not os.path.lexists(path):
            for database in home.glob(f"{DATABASE}*"):
                database.replace(home / f"before-{database.name}")
            create_once(path, f"atr:{secrets.token_urlsafe(32)}\n".encode())
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            found = os.fstat(file.fileno())
            text = file.read().decode("ascii", errors="replace").strip()
    if found.st_uid != os.geteuid() or found.st_mode & 0o077 or not text.isascii() or ":" not in text:
        raise EnvironmentFault(
            "is no secret: it is empty, another user's, or others may read it",
            where=str(path),
            hint="Remove it, and a new one is made.",
        )
    return text
