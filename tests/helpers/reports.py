"""Reports of several shapes, and their documents, made when first asked for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from atr.documents.render import contents
from atr.report.model import PublicReport
from tests.helpers import limits_sample, sample

Documents = Callable[[str], dict[str, bytes]]


def shapes() -> dict[str, PublicReport]:
    """Reports of several shapes by name."""
    long = "Persons with a rather long description that goes on, {kind} {i}"
    return {
        "compas": sample.alike(sample.compas(spread=0.04), measures=("total_variation", "relative")),
        "unbounded": sample.compas(spread=0.7),
        "long": sample.grid((3, 4), 4, name=long),
        "many": sample.alike(sample.grid((4, 4, 5), 4), tolerance=1.0),
        "beyond": sample.grid((6, 5, 8), 3),
        "places": sample.grid((60,), 2, name="a place with quite a long name, {i}"),
        "tall": sample.grid((1, 2), 12, people=600),
        "one": sample.grid((1,), 3),
        "limits": limits_sample.compas(),
        "none": sample.none_announced(),
        "hostile": sample.alike(sample.hostile()),
    }


def maker(reports: dict[str, PublicReport]) -> Documents:
    """The files of a report, made when first asked for; a record in WeasyPrint's log is a failure."""
    made: dict[str, dict[str, bytes]] = {}

    def make(name: str) -> dict[str, bytes]:
        if name not in made:
            with silent():
                made[name] = contents(reports[name])
        return made[name]

    return make


class _Fail(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        pytest.fail(f"WeasyPrint logged: {record.getMessage()}")


@contextmanager
def silent() -> Iterator[None]:
    """WeasyPrint's log must stay empty inside."""
    handler = _Fail(logging.WARNING)
    logging.getLogger("weasyprint").addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger("weasyprint").removeHandler(handler)
