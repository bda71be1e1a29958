"""Messages can be translated: all are found, none is put together, and every language keeps what they hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from string import Formatter

import pytest
from babel.messages.catalog import Message
from babel.messages.pofile import read_po, write_po

from atr.core.display_text import UNDRAWN
from atr.documents.catalogue import SAYING, messages, renew
from atr.documents.html import ReportPage
from atr.documents.note import contents
from atr.documents.text import language
from atr.report.model import Beside, PublicReport
from tests.helpers import drawn_reports, limits_sample, released, sample
from tests.helpers.page_text import visible
from tests.helpers.paths import ROOT

LANGUAGES = sorted(language.FOLDER.glob("*/report.po"))
EVERY = [message for message in messages() if message.id]
GREEK = str.maketrans(dict.fromkeys("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "ω"))
KEPT = re.compile(r"(\{[^}]*\}|<[^>]*>|&[a-z]+;)")
"""What stays in a translation as it is: values, marks and entities."""
NAMES = {
    *("report", "json", "pdf", "csv", "announced", "rules", "fairness", "influence"),
    *("records", "parquet", "channel", "note", "html"),
    *("atr", "SHA", "docs", "mechanism", "md", "CGP", "DSZ", "BFOS"),
}
"""Files, references, and what has one name in every language."""


def texts(message: Message) -> tuple[str, ...]:
    return message.id if isinstance(message.id, tuple) else (message.id,)


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.fixture
def pseudo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A language in which every message is in Greek letters, and nothing else is."""
    catalogue = messages()
    catalogue.locale = "el"  # type: ignore[assignment]
    for message in catalogue:
        if message.id:
            said = tuple(
                "".join(part if KEPT.match(part) else part.translate(GREEK) for part in KEPT.split(text))
                for text in texts(message)
            )
            message.string = said if isinstance(message.id, tuple) else said[0]
    (tmp_path / "el").mkdir()
    with (tmp_path / "el" / "report.po").open("wb") as file:
        write_po(file, catalogue)
    monkeypatch.setattr(language, "FOLDER", tmp_path)


def supplied(report: PublicReport) -> set[str]:
    """The words of a report that its programme and its log gave."""
    of_programme = [report.programme.model_dump_json(), report.period.label, *report.outcomes]
    of_attributes = [text for a in report.attributes for text in (a.name, a.title, *a.values, *a.sets, *a.coarse)]
    return {*re.findall("[A-Za-z]{2,}", " ".join([*of_programme, *of_attributes]))}


SHAPES = {
    "compas": lambda: sample.alike(sample.compas(spread=0.04), measures=("total_variation", "relative")),
    "limits": limits_sample.compas,
    "none": sample.none_announced,
    "one": lambda: sample.grid((1,), 3),
    **{kind: lambda kind=kind: drawn_reports.drawn(kind, 0) for kind in drawn_reports.KINDS},
}


@pytest.mark.usefixtures("pseudo")
@pytest.mark.parametrize("name", [n if n in ("none", "calibrated") else pytest.param(n, marks=pytest.mark.long)
                                  for n in SHAPES])  # fmt: skip
def test_every_text_of_a_report_is_a_message(name: str) -> None:
    report = SHAPES[name]()
    greek = report.model_copy(update={"programme": report.programme.model_copy(update={"language": "el"})})
    html = ReportPage(greek, "0" * 64).paper
    page = visible(re.sub('<div class="references">.*?</div>', "", html, flags=re.DOTALL))
    assert "ω" in page
    assert {*re.findall("[A-Za-z]{2,}", page)} - supplied(report) - NAMES == set()


@pytest.mark.usefixtures("pseudo")
@pytest.mark.parametrize("channel", ["markov", "best"])
def test_every_text_of_a_note_is_a_message(channel: str) -> None:
    beside = (Beside(kind="report", programme="compas", period="2013"),)
    records = released.records(language="el", channel=channel, beside=beside)
    page = visible(re.sub("[0-9a-f]{64}", "", contents(records)["note.html"].decode()))
    assert "ω" in page
    assert {*re.findall("[A-Za-z]{2,}", page)} - {*re.findall("[A-Za-z]{2,}", records.to_json())} - NAMES == set()


def test_every_message_is_found() -> None:
    known = {text for message in EVERY for text in texts(message)}
    for path in sorted((ROOT / "atr" / "documents").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not node.args:
                continue
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in SAYING:
                assert not isinstance(node.args[0], ast.JoinedStr | ast.BinOp), ast.unparse(node)
                if isinstance(node.args[0], ast.Constant):
                    assert node.args[0].value in known


@pytest.mark.parametrize(
    "path",
    sorted(path for folder in ("report", "records") for path in (ROOT / "templates" / folder).rglob("*.jinja")),
    ids=lambda path: path.stem,
)
def test_templates_say_messages_alone(path: Path) -> None:
    text = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    text = re.sub(r"<style.*?</style>|<[^>]*>", " ", text, flags=re.DOTALL)
    assert not {*re.findall("[A-Za-z]{2,}", text)} - NAMES


def test_messages_are_written_as_print_is() -> None:
    for message in EVERY:
        for text in texts(message):
            bare = re.sub("<[^>]*>", "", text)
            assert not {"'", '"', "—"} & {*bare}, text
            assert bare == bare.strip(), text
            assert not UNDRAWN.search(text), text


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.parent.name)
def test_translations_keep_values_and_marks(path: Path) -> None:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.name)
    for message in catalogue:
        said = message.string if isinstance(message.string, tuple) else (message.string,)
        for text in said if message.id else ():
            wanted = set.union(*map(fields, texts(message)))
            assert not text or wanted - {"n"} <= fields(text) <= wanted, text
            assert not text or sorted(re.findall("<[a-z/]+", text)) == sorted(
                re.findall("<[a-z/]+", texts(message)[-1])
            )
            assert not {"'", '"', "—"} & {*re.sub("<[^>]*>", "", text)}, text


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.parent.name)
def test_no_message_is_without_a_translation(path: Path) -> None:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.parent.name)
    said = {message.id for message in catalogue if message.id and not message.fuzzy and all(
        message.string if isinstance(message.string, tuple) else (message.string,))}  # fmt: skip
    missing = [message.id for message in EVERY if message.id not in said]
    assert missing == []


def test_a_catalogue_is_renewed_and_keeps_what_is_translated(tmp_path: Path) -> None:
    path = tmp_path / "de" / "report.po"
    path.parent.mkdir()
    path.write_text(
        'msgid "People"\nmsgstr "Menschen"\n\nmsgid "nobody says this"\nmsgstr "niemand"\n', encoding="utf-8"
    )
    renew(path)
    with path.open("rb") as file:
        found = {message.id: message.string for message in read_po(file, locale="de") if message.id}
    assert found["People"] == "Menschen"
    assert found.keys() == {message.id for message in EVERY}


def test_a_language_from_right_to_left_turns_the_page(pseudo: None) -> None:
    (language.FOLDER / "el").rename(language.FOLDER / "he")
    report = sample.none_announced()
    hebrew = report.model_copy(update={"programme": report.programme.model_copy(update={"language": "he"})})
    assert 'lang="he" dir="rtl">' in ReportPage(hebrew, "").screen
    assert '<html lang="en" dir="ltr">' in ReportPage(report, "").screen
