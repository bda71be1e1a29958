"""What a programme says of its system and its inputs, and the words it gives for sentences."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import yaml

from atr.errors import ProgrammeError
from atr.programme import Programme, json_schema, load

TEXT = """\
programme: scores
title: Scores
publisher: {name: A, contact: a@example.org}
system: {name: B}
decision_noun: {one: score, other: scores}
person_noun:
  en: {one: person, other: people}
  de: {one: Person, other: Personen}
log:
  source: log.csv
  outcome: result
  outcomes: {low: [l], raised: [m, h]}
  positive: low
  outcome_phrases: {low: {one: was scored low, other: were scored low}}
attributes:
  race: {role: public, group_phrase: "{value} {people}"}
  sex: {role: public, values: {f: Female, m: Male}, group_phrase: {Female: women, m: men}}
  income: {role: sensitive, used_by_system: yes, bins: [1000, 25000], unit: EUR}
period: {every: all}
"""


def _load(folder: Path, text: str) -> Programme:
    path = folder / "p.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


@pytest.mark.parametrize(
    ("written", "read"),
    [("yes", "yes"), ("no", "no"), ("unknown", "unknown"), ("'yes'", "yes"), ("true", "yes"), ("No", "no")],
)
def test_use_by_the_system_is_yes_no_or_unknown(tmp_path: Path, written: str, read: str) -> None:
    text = TEXT.replace("used_by_system: yes", f"used_by_system: {written}")
    assert _load(tmp_path, text).attributes["income"].used_by_system == read
    jsonschema.validate(yaml.safe_load(text), json_schema())


def test_use_by_the_system_is_unknown_unless_told(tmp_path: Path) -> None:
    assert _load(tmp_path, TEXT).attributes["race"].used_by_system == "unknown"


def test_bins_are_named_with_separators_and_their_unit(tmp_path: Path) -> None:
    named = ("below 1,000 EUR", "1,000 to below 25,000 EUR", "25,000 EUR and more")
    assert _load(tmp_path, TEXT).attributes["income"].categories == named
    large = TEXT.replace("[1000, 25000], unit: EUR", "[-0.5, 1234567, 1234568.25]")
    assert _load(tmp_path, large).attributes["income"].categories == (
        "below -0.5",
        "-0.5 to below 1,234,567",
        "1,234,567 to below 1,234,568.25",
        "1,234,568.25 and more",
    )


def test_labels_of_bins_stay_as_they_are_written(tmp_path: Path) -> None:
    text = TEXT.replace("unit: EUR", "unit: EUR, labels: [little, 1000 to 25000, MUCH]")
    assert _load(tmp_path, text).attributes["income"].categories == ("little", "1000 to 25000", "MUCH")


def test_a_phrase_is_of_every_value_or_of_each(tmp_path: Path) -> None:
    attributes = _load(tmp_path, TEXT).attributes
    assert attributes["race"].group_phrases(["Asian", "unknown"]) == {"en": {"Asian": "Asian {people}"}}
    assert attributes["sex"].group_phrases(["Female", "Male", "unknown"]) == {"en": {"Female": "women", "Male": "men"}}
    assert attributes["income"].group_phrases(["below 1,000 EUR"]) == {}


def test_phrases_can_be_told_by_language(tmp_path: Path) -> None:
    phrase = 'group_phrase: {en: "{value} {people}", de: {Asian: "{people} aus Asien", unknown: "ohne Angabe"}}'
    text = TEXT.replace('group_phrase: "{value} {people}"', phrase)
    jsonschema.validate(yaml.safe_load(text), json_schema())
    assert _load(tmp_path, text).attributes["race"].group_phrases(["Asian", "White", "unknown"]) == {
        "en": {"Asian": "Asian {people}", "White": "White {people}"},
        "de": {"Asian": "{people} aus Asien", "unknown": "ohne Angabe"},
    }


NOUN, RACE, SEX = "{one: score, other: scores}", '"{value} {people}"', "{Female: women, m: men}"
USED = "used_by_system: yes"
FAULTS: list[tuple[str, str, str]] = [
    (NOUN, "score", "line 5, decision_noun: must be keys with values, not 'score'"),
    (NOUN, "{one: score}", "line 5, decision_noun.other: this key is missing"),
    (NOUN, "{one: score, others: scores}", "line 5, decision_noun.others: unknown key; did you mean 'other'?"),
    (NOUN, "{en: {one: score}}", "line 5, decision_noun.en.other: this key is missing"),
    (NOUN, f"{{en: {NOUN}, fr: {NOUN}}}", "line 5, decision_noun.fr: 'fr' is not one of 'en' or 'de'"),
    (NOUN, f"{{de: {NOUN}}}", "line 5, decision_noun: says nothing in en, the programme's language"),
    ("{low: {one", "{high: {one", "line 14, log.outcome_phrases: 'high' is not one of the outcomes (low, raised)"),
    ("{low: {one", "{low: {oen", "line 14, log.outcome_phrases.low.oen: unknown key; did you mean 'one'?"),
    (RACE, "women", 'line 16, attributes.race.group_phrase: a phrase for every value needs {value}, as in "{value} '),
    (RACE, '"{value} {persons}"', "line 16, attributes.race.group_phrase: {persons} stands for nothing: there are "),
    (RACE, '{de: "{value}"}', "line 16, attributes.race.group_phrase: says nothing in en, the programme's language"),
    (SEX, "{Femal: women}", "line 17, attributes.sex.group_phrase: 'Femal' is not one of its values (Female, Male)"),
    (SEX, '{f: "{x}"}', "line 17, attributes.sex.group_phrase.f: {x} stands for nothing: there are {value} and "),
    (USED, "used_by_system: often", "attributes.income.used_by_system: 'often' is not one of 'yes', 'no' or 'unknown'"),
    (", bins: [1000, 25000]", "", "line 18, attributes.income.unit: a unit is of bins, and there are none"),
    ("{name: B}", "{name: B, risk: x}", "line 4, system.risk: unknown key; did you mean 'risks'?"),
    ("{name: B}", "{name: B, legal_basis: 3}", 'line 4, system.legal_basis: 3 must be in quotes, as in "3"'),
]


@pytest.mark.parametrize(("old", "new", "said"), FAULTS, ids=[said[:40] for _, _, said in FAULTS])
def test_a_fault_of_the_words_is_told_with_its_line(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, TEXT.replace(old, new))
    assert said in str(caught.value)
    assert "mistakes" not in str(caught.value)
