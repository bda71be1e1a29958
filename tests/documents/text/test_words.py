"""What sentences call decisions, people, outcomes and groups: in the programme's words, or in general ones."""

from __future__ import annotations

from typing import Any

import pytest

from atr.core.comparison_rows import joined
from atr.documents.text.words import Words
from atr.report.model import AttributeInfo, Forms
from tests.helpers import drawn_reports, limits_sample, sample
from tests.helpers.sample import attribute


def _words(*attributes: AttributeInfo, **programme: Any) -> Words:
    report = sample.compas()
    said = report.programme.model_copy(update=programme)
    return Words.of(report.model_copy(update={"attributes": attributes or report.attributes, "programme": said}))


def _called(name: str, **phrases: str) -> AttributeInfo:
    spaced = {value.replace("_", " "): phrase for value, phrase in phrases.items()}
    return attribute(name, name, spaced).model_copy(update={"group_phrases": {"en": spaced}})


RACE = _called("race", Black="Black {people}", Other="{people} of other races")
SEX = _called("sex", Female="women")
AGE = _called("age", young="{people} under 25")
WORK = _called("work", none="unemployed")
DEFAULT = "people of the group “{}”"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"race": "Black"}, "Black people"),
        ({"sex": "Female"}, "women"),
        ({"race": "Black", "sex": "Female"}, "Black women"),
        ({"age": "young", "race": "Black", "sex": "Female"}, "Black women under 25"),
        ({"race": "Other", "sex": "Female"}, "women of other races"),
        ({"race": "Asian"}, DEFAULT.format("Asian")),
        ({"sex": "Female", "work": "none"}, DEFAULT.format("Female, none")),
        ({"race": "{people}"}, DEFAULT.format("{people}")),
    ],
)
def test_a_group_is_called_by_its_phrases_together(values: dict[str, str], said: str) -> None:
    assert _words(AGE, RACE, SEX, WORK).who(list(values), list(values.values())) == said


def test_nouns_are_those_of_the_programme() -> None:
    noun = {"en": {"one": "applicant", "other": "applicants"}}
    made = _words(RACE, person_noun=_forms(noun), decision_noun=_forms({"en": {"one": "score", "other": "scores"}}))
    assert (made.persons(1), made.persons(1200), made.decisions(2)) == ("1 applicant", "1,200 applicants", "2 scores")
    assert made.who(["race"], ["Black"]) == "Black applicants"
    assert (_words().persons(1), _words().decisions(1200)) == ("1 person", "1,200 decisions")


def test_an_outcome_without_a_phrase_is_quoted() -> None:
    made = _words(outcome_phrases={"en": _forms({"low": {"one": "was scored low", "other": "were scored low"}})})
    assert (made.did("low"), made.did("raised {x}")) == ("were scored low", "had the outcome “raised {x}”")


def _forms(of: dict[str, dict[str, str]]) -> Any:
    return {name: Forms(**forms) for name, forms in of.items()}


def test_groups_are_named_by_what_is_told_of_them() -> None:
    report = limits_sample.compas()
    words, (rest,) = Words.of(report), report.rest_groups
    assert words.group(rest) == "Female, Hispanic, age and charge not shown on their own"
    nobody = rest.model_copy(update={"public": {}})
    assert words.group(nobody) == "people with sex, age, race and charge not shown on their own"
    plain = report.announced_groups[0]
    assert words.group(plain) == ", ".join(plain.public.values())
    mixed = rest.model_copy(update={"public": {"sex": "Female"}, "mixed": {"race": ("Asian", "Other")}})
    assert words.group(mixed) == "Female; Asian or Other; age and charge not shown on their own"


def test_a_label_that_no_region_bears_names_its_values_once() -> None:
    """People are compared by an intersection, while by one of its attributes they are in a row of several values."""
    words = Words.of(drawn_reports.drawn("crossed", 2))
    by = next(by for by in words.report.compared if len(by.attributes) > 1)
    values = [words.attributes[name].values for name in by.attributes]
    absent = (*values[0][:-1], "Martian")
    changed = words.attributes[by.attributes[0]].model_copy(update={"values": absent})
    attributes = tuple(changed if a.name == changed.name else a for a in words.report.attributes)
    said = Words.of(words.report.model_copy(update={"attributes": attributes}))
    label = joined(("Martian", values[1][0]))
    assert said.compared(by.attribute, label) == DEFAULT.format(label)
    assert said.compared(by.attribute, "nobody of these") == DEFAULT.format("nobody of these")
