"""Decisions from Prefect's pages: only where the server demands credentials."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from atr.dossier import review as reviewing
from atr.errors import ReviewError
from atr.flows.review import require_credentials, review
from atr.programme import load
from tests.helpers import series


@contextmanager
def answering(status: int) -> Iterator[list[str | None]]:
    """A server that answers every request alike; yields the credentials that were sent."""
    sent: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            sent.append(self.headers["Authorization"])
            self.send_response(status)
            self.send_header("Location", "/login")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            with temporary_settings({PREFECT_API_URL: f"http://127.0.0.1:{server.server_port}/api"}):
                yield sent
        finally:
            server.shutdown()


@pytest.mark.parametrize("status", [401, 403])
def test_a_server_that_refuses_a_stranger_may_tell_a_decision(status: int) -> None:
    with answering(status) as sent:
        require_credentials()
    assert sent == [None]


@pytest.mark.parametrize("status", [200, 204, 302, 404, 422, 500, 503])
def test_any_other_answer_means_no(status: int) -> None:
    with answering(status), pytest.raises(ReviewError, match="Use `atr review`"):
        require_credentials()


@pytest.mark.parametrize("address", ["http://127.0.0.1:9/api", None])
def test_no_answer_means_no(address: str | None) -> None:
    with temporary_settings({PREFECT_API_URL: address}), pytest.raises(ReviewError, match="Use `atr review`"):
        require_credentials()


@pytest.mark.usefixtures("quick")
def test_an_open_server_is_told_nothing_and_decides_nothing(tmp_path: Path) -> None:
    path = series.write_series(tmp_path, series.card(2))
    series.publish(path)
    with answering(200), pytest.raises(ReviewError, match="demands no credentials"):
        review.fn(str(path), "2024")
    assert [release.state for release in reviewing.releases(load(path))] == ["draft"]
