"""How Prefect runs for atr: on this machine only, under the programme's store, without telemetry."""

from __future__ import annotations

import os
from pathlib import Path

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


_ELSEWHERE = ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_PROFILE", "PREFECT_API_AUTH_STRING")
"""Variables that name another server than that of this machine."""


def prepare(home: Path, *, api_url: str | None = None, quiet: bool = False) -> None:
    """Set the environment; to be called before anything imports Prefect.

    Parameters
    ----------
    home
        Prefect's own folder; made private.
    api_url
        The server to use; None where one is started for this command alone.
    quiet
        Whether Prefect's own log stays off the terminal.
    """
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.chmod(0o700)
    for name in list(os.environ):
        of_another_server = name in _ELSEWHERE or (api_url is None and name.startswith("PREFECT_"))
        if of_another_server or name.lower().endswith("_proxy"):  # nothing goes outside this machine
            os.environ.pop(name)
    os.environ.update(SETTINGS)
    os.environ["PREFECT_HOME"] = str(home)
    if api_url is not None:
        os.environ["PREFECT_API_URL"] = api_url
    else:
        os.environ["PREFECT_SERVER_DATABASE_CONNECTION_URL"] = f"sqlite+aiosqlite:///{home}/prefect.db"
    if quiet:
        os.environ.pop("PREFECT_LOGGING_EXTRA_LOGGERS")
        os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
        os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = "CRITICAL"
