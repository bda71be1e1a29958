"""Numbers are written as they are, never rounded again."""

from __future__ import annotations

import doctest
import html
import re
from types import ModuleType

import pytest

from atr.documents.html import report_html
from atr.documents.text import promise, sampling, wording
from atr.report import privacy, rounding
from atr.report.model import FidelityInfo, PeriodInfo
from tests.helpers import sample


@pytest.mark.parametrize("module", [privacy, rounding, sampling, wording])
def test_examples_in_docstrings(module: ModuleType) -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        ("2013-01-01", "2014-01-01", "1 January to 31 December 2013"),
        ("2014-02-01", "2014-03-01", "1 to 28 February 2014"),
        ("2013-12-31", "2014-01-01", "31 December 2013"),
        ("2013-12-01", "2014-02-01", "1 December 2013 to 31 January 2014"),
        (None, None, ""),
    ],
)
def test_period_in_words(start: str | None, end: str | None, words: str) -> None:
    assert wording.period(PeriodInfo(label="x", start=start, end=end, timezone=None)) == words


@pytest.mark.parametrize(
    ("kind", "level", "change", "part"),
    [
        ("delta", 0.9, 0.1, "by more than 10 percentage points"),
        ("delta", 0.9, 0.1005, "by more than 10.05 percentage points"),
        ("delta", 0.99, 0.01, "by more than 1 percentage point."),
        ("delta", 1.0, 0.0, "to its last printed digit"),
        ("alpha", 0.8, None, "less than 0.8 times, or more than 1.25 times, the true one"),
        ("ranges", None, None, "within the printed limits"),
    ],
)
def test_promise(kind: str, level: float | None, change: float | None, part: str) -> None:
    info = FidelityInfo(kind=kind, level=level, largest_change=change)  # type: ignore[arg-type]
    assert part in promise.promise(info)


@pytest.mark.parametrize("share", [0.001, 0.29, 0.57, 0.58, 0.676, 0.999, 1.0, 0.0])
def test_percent_is_exact(share: float) -> None:
    assert float(wording.points(share)) == pytest.approx(100 * share, abs=1e-9)
    assert len(wording.points(share)) <= 4


def test_titles_stand_in_sentences_as_written() -> None:
    public = sample.attribute("citizenship", "German citizenship", ("yes", "no"), protected=True)
    secret = sample.attribute("cnp", "CNP status", ("a", "b"), role="sensitive")
    chances = {"yes": (0.6, 0.4), "no": (0.3, 0.5)}
    counts = {((who,), level): (100, x) for who, both in chances.items() for level, x in zip("ab", both, strict=True)}
    report = sample.report((public, secret), counts)
    text = " ".join(html.unescape(re.sub(r"<[^>]*>", " ", report_html(report, sha256="f" * 64))).split())
    assert "By German citizenship" in text
    assert "sure of a person’s CNP status" in text
    assert "german" not in text
    assert "cNP" not in text


def test_headings_raise_the_first_letter() -> None:
    assert wording.class_name({"age": "25 to 45"}, {"age": "age"}) == "Age: 25 to 45"
    assert wording.raised(wording.rule_name(None)) == "p%-rule"


def test_headings_leave_names_with_a_capital_inside() -> None:
    titles = ["iPhone owner", "eGFR", "éducation", "years in McDonald’s", "p% rule", ""]
    assert [wording.raised(title) for title in titles] == [
        "iPhone owner", "eGFR", "Éducation", "Years in McDonald’s", "p% rule", ""
    ]  # fmt: skip
