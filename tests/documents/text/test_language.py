"""How a language writes numbers, lists and dates; numbers are never rounded again."""

from __future__ import annotations

import doctest
from types import ModuleType

import pytest

from atr.documents.text import language
from atr.documents.text.language import Language
from atr.report import privacy, rounding
from atr.report.model import PeriodInfo

ENGLISH, GERMAN = Language.of("en"), Language.of("de")


@pytest.mark.parametrize("module", [language, privacy, rounding])
def test_examples_in_docstrings(module: ModuleType) -> None:
    found = doctest.testmod(module)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize(
    ("start", "end", "words", "german"),
    [
        ("2013-01-01", "2014-01-01", "1 January to 31 December 2013", "1. Januar bis 31. Dezember 2013"),
        ("2014-02-01", "2014-03-01", "1 February to 28 February 2014", "1. Februar bis 28. Februar 2014"),
        ("2013-12-31", "2014-01-01", "31 December 2013", "31. Dezember 2013"),
        ("2013-12-01", "2014-02-01", "1 December 2013 to 31 January 2014", "1. Dezember 2013 bis 31. Januar 2014"),
        (None, None, "", ""),
    ],
)
def test_period_in_words(start: str | None, end: str | None, words: str, german: str) -> None:
    period = PeriodInfo(label="x", start=start, end=end, timezone=None)
    assert (ENGLISH.period(period), GERMAN.period(period)) == (words, german)


@pytest.mark.parametrize("share", [0.001, 0.29, 0.57, 0.58, 0.676, 0.999, 1.0, 0.0])
def test_points_are_exact(share: float) -> None:
    assert float(ENGLISH.points(share)) == pytest.approx(100 * share, abs=1e-9)
    assert len(ENGLISH.points(share)) <= 4
    assert GERMAN.points(share) == ENGLISH.points(share).replace(".", ",")


def test_a_tag_is_known_by_its_longest_part() -> None:
    assert [Language.of(tag).tag for tag in ("de-AT", "de", "en-US", "fr", "he")] == ["de", "de", "en", "en", "en"]
    assert Language.of("en-US").day("2014-02-12") == "February 12, 2014"
    assert ENGLISH.day("2014-02-12") == "12 February 2014"


def test_lists_end_in_a_word_and_may_be_cut() -> None:
    items = ["a", "b", "c", "d"]
    assert ENGLISH.listed(items) == "a, b, c and d"
    assert ENGLISH.listed(items, most=2) == "a, b and 2 others"
    assert GERMAN.listed(items, last="or") == "a, b, c oder d"
    assert ENGLISH.named(list("abcdefghijk")).endswith("“h” and 3 others")
    assert not ENGLISH.named(list("abcdefghi")).endswith("more")


def test_headings_leave_names_with_a_capital_inside() -> None:
    titles = ["iPhone owner", "eGFR", "éducation", "years in McDonald’s", "p% rule", ""]
    raised = ["iPhone owner", "eGFR", "Éducation", "Years in McDonald’s", "p% rule", ""]
    assert [Language.raised(title) for title in titles] == raised
