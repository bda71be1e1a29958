"""What the programme says of its system and its words is in report.json as it was written, and nothing else is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from atr.schemas import schemas
from atr.verify import verify
from tests.helpers import forging, series

FORMS = {"one": "loan", "other": "loans"}
BY_LANGUAGE = {"en": FORMS, "de": {"one": "Kredit", "other": "Kredite"}}
REGISTER = ("owner", "supplier", "legal_basis", "inputs", "accuracy", "complaints", "alternatives", "risks")


def _report(folder: Path, content: dict[str, Any]) -> dict[str, Any]:
    with series.quick():
        documents = series.publish(series.write_series(folder, series.card(2), content=content)).documents
    assert verify(documents) == []
    report: dict[str, Any] = json.loads((documents / "report.json").read_text(encoding="utf-8"))
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    return report


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return _report(tmp_path_factory.mktemp("bare"), series.programme())


def _worded() -> dict[str, Any]:
    content = series.programme() | {
        "title": "eBay-Kredite, iOS only",
        "place": "Ghent",
        "decision_noun": BY_LANGUAGE,
        "person_noun": FORMS,
    }
    content["system"] |= {key: f"the {key}, in words" for key in REGISTER}
    content["log"]["outcome_phrases"] = {"approved": FORMS}
    content["attributes"]["public"] |= {
        "title": "pH of GENDER",
        "used_by_system": True,
        "group_phrase": {"en": "{value}", "de": {"women": "Frauen"}},
    }
    return content


def test_what_is_said_stands_in_the_report_as_written(tmp_path: Path) -> None:
    report = _report(tmp_path, _worded())
    programme, (public, secret) = report["programme"], report["attributes"]
    assert {key: programme["system"][key] for key in REGISTER} == {key: f"the {key}, in words" for key in REGISTER}
    assert (programme["title"], public["title"], programme["place"]) == (
        "eBay-Kredite, iOS only",
        "pH of GENDER",
        "Ghent",
    )
    assert (programme["decision_noun"], programme["person_noun"]) == (BY_LANGUAGE, {"en": FORMS})
    assert programme["outcome_phrases"] == {"en": {"approved": FORMS}}
    assert public["group_phrases"] == {"en": {"men": "men", "women": "women"}, "de": {"women": "Frauen"}}
    assert (public["used_by_system"], secret["used_by_system"]) == ("yes", "unknown")


def test_words_and_register_change_no_number(bare: dict[str, Any], tmp_path: Path) -> None:
    worded = _report(tmp_path, _worded())
    assert {key: worded[key] for key in worded if key not in ("programme", "attributes")} == {
        key: bare[key] for key in bare if key not in ("programme", "attributes")
    }


def test_what_is_not_said_is_not_in_the_report(bare: dict[str, Any]) -> None:
    assert set(bare["programme"]) == {"name", "title", "language", "publisher", "system"}
    assert not set(bare["programme"]["system"]) & set(REGISTER)
    assert {attribute["used_by_system"] for attribute in bare["attributes"]} == {"unknown"}


def test_a_report_from_before_these_fields_verifies(bare: dict[str, Any], tmp_path: Path) -> None:
    before = [{k: v for k, v in a.items() if k != "used_by_system"} for a in bare["attributes"]]
    assert verify(forging.write(tmp_path / "r.json", bare | {"attributes": before})) == []


def test_bins_are_shown_with_their_unit(tmp_path: Path) -> None:
    content = series.programme()
    content["attributes"]["secret"] |= {"bins": [1000, 20000], "unit": "EUR"}
    path = series.write_series(tmp_path, {}, content=content)
    rows = (
        (f"{i}", "2024-12-06", ("women", "men")[i % 2], (500, 1000, 50000)[i % 3], "yes" if i % 5 else "no")
        for i in range(240)
    )
    series.write_rows(tmp_path / "log.csv", ["id", "day", "public", "secret", "result"], rows)
    with series.quick():
        report = json.loads((series.publish(path).documents / "report.json").read_text(encoding="utf-8"))
    secret = report["attributes"][1]
    assert secret["unit"] == "EUR"
    assert secret["values"] == ["below 1,000 EUR", "1,000 to below 20,000 EUR", "20,000 EUR and more"]
    assert report["groups"][0]["regions"][0]["sensitive"] == {"secret": "below 1,000 EUR"}
