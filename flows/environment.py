"""How Prefect runs for atr: on this machine only, under the programme's store, without telemetry."""

from __future__ import annotations

import os
from pathlib import Path

SETTINGS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
    "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "atr",
    "PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW": "ignore",
    "OMP_NUM_THREADS": "1",
}


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
    for name in ("PREFECT_API_URL", "PREFECT_API_KEY", "PREFECT_PROFILE", "PREFECT_API_AUTH_STRING"):
        os.environ.pop(name, None)
    os.environ.update(SETTINGS)
    os.environ["PREFECT_HOME"] = str(home)
    if api_url is not None:
        os.environ["PREFECT_API_URL"] = api_url
    for name in ("NO_PROXY", "no_proxy"):  # a server of this machine is not asked for by way of another
        os.environ[name] = ",".join(filter(None, [os.environ.get(name), "127.0.0.1"]))
    if quiet:
        os.environ.pop("PREFECT_LOGGING_EXTRA_LOGGERS")
        os.environ["PREFECT_LOGGING_LEVEL"] = "CRITICAL"
        os.environ["PREFECT_SERVER_LOGGING_LEVEL"] = "CRITICAL"
