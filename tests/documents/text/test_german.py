"""A report in German: its sentences, and that nothing in it stays English."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from atr.documents.catalogue import messages
from atr.documents.sections import found, groups
from atr.documents.text.language import Language
from atr.documents.text.words import Words
from atr.programme.reading import load
from atr.report.build import programme_info
from atr.report.model import PeriodInfo, PublicReport
from tests.helpers import limits_sample, sample
from tests.helpers.german import in_german, in_words_of
from tests.helpers.page_text import read
from tests.helpers.paths import EXAMPLES

GERMAN = Language.of("de")
FEWEST = 3
"""Words of a part of a message that would be English on a page."""


@pytest.fixture(scope="module")
def compas() -> Words:
    return Words.of(in_words_of("compas/programme.yaml", sample.compas()))


def test_the_headline_begins_with_the_group(compas: Words) -> None:
    view = found.context(compas)
    assert view is not None
    said = r"Afroamerikanische \S+: \d+ von 100 wurden niedrig eingestuft; weiße \S+: \d+ von 100\."
    assert re.match(said, view["finding"]), view["finding"]


@pytest.mark.parametrize("example", ["card", "compas", "mortgage"])
def test_bundled_programmes_may_be_set_to_german(example: str, tmp_path: Path) -> None:
    """By one word in the file; the card example has words in its own language alone."""
    text = (EXAMPLES / example / "programme.yaml").read_text(encoding="utf-8")
    (tmp_path / "programme.yaml").write_text(text.replace("language: en", "language: de"), encoding="utf-8")
    info = programme_info(load(tmp_path / "programme.yaml"))
    assert info.language == "de"
    assert (
        info.decision_noun["de"].other
        == {"card": "applications", "compas": "Einstufungen", "mortgage": "Anträge"}[example]
    )


def test_groups_are_named_by_german_phrases(compas: Words) -> None:
    assert compas.who(["race", "sex"], ["African-American", "Female"]) == "afroamerikanische Frauen"
    assert compas.who(["race"], ["Caucasian"]) == "weiße Personen"
    assert (compas.decisions(1), compas.decisions(5100)) == ("1 Einstufung", "5.100 Einstufungen")
    view = groups.context(compas)
    assert view is not None
    assert view["heading"] == "Nach sex und race"


def test_numbers_days_and_lists_are_written_in_german() -> None:
    assert (GERMAN.number(1234.5), GERMAN.points(0.675), GERMAN.percent(0.05)) == ("1.234,5", "67,5", "5\xa0%")
    year = PeriodInfo(label="2013", start="2013-01-01", end="2014-01-01", timezone=None)
    assert (GERMAN.day("2026-11-30"), GERMAN.period(year)) == ("30. November 2026", "1. Januar bis 31. Dezember 2013")
    assert GERMAN.listed(["a", "b", "c"], last="or", most=1) == "a oder 2 weitere"
    assert GERMAN.named(["low", "raised"]) == "„low“ und „raised“"


@pytest.mark.long
def test_no_sentence_of_a_report_stays_english(reports: dict[str, PublicReport]) -> None:
    english = _english()
    for name, report in {"limits": limits_sample.compas(), **reports}.items():
        text = read(in_german(report))[0]
        assert [part for part in english if part in text] == [], name


def _english() -> list[str]:
    """What stands between the places of the messages, where it is long enough to be told from supplied words."""
    parts = set()
    for message in messages():
        for text in [message.id] if isinstance(message.id, str) else message.id or ():
            plain = re.sub(r"<[^>]*>|\{\w*\}", "|", text)
            parts |= {part.strip() for part in plain.split("|") if len(re.findall(r"[A-Za-z]{2,}", part)) >= FEWEST}
    names = {"29 CFR 1607.4(D), the four-fifths rule of the US Uniform Guidelines on Employee Selection Procedures"}
    return sorted(parts - names)
