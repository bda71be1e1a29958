"""The programme file: what it accepts, and one clear message with line and key for every fault."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
import yaml
from pydantic import TypeAdapter, ValidationError

from atr.core.policy import Policy
from atr.errors import ProgrammeError
from atr.mechanisms.calibrated.policy import CalibratedPolicy
from atr.programme import json_schema, load
from atr.programme.series import policy_of
from tests.helpers.paths import EXAMPLES

TEXT = """\
programme: loans
title: Loans
publisher: {name: A, contact: a@example.org}
system: {name: B}
log:
  source: log.csv
  decided_at: day
  outcome: result
  outcomes: {granted: [yes_], denied: [no_]}
  positive: granted
attributes:
  sex: {role: public, protected: true}
  income:
    role: sensitive
    bins: [1, 2]
    labels: [a, b, c]
policy:
  mechanism: optimal
  fidelity: {delta: 0.9}
period: {every: month, timezone: Europe/Berlin}
"""


def _load(tmp_path: Path, text: str) -> Any:
    path = tmp_path / "p.yaml"
    path.write_text(text, encoding="utf-8")
    return load(path)


@pytest.mark.parametrize("name", ["compas", "card"])
def test_the_bundled_programmes_are_valid(name: str) -> None:
    assert load(EXAMPLES / name).programme == name


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    programme = _load(tmp_path, TEXT + "store: private\n")
    assert programme.store_path == tmp_path / "private"
    assert programme.site_path == tmp_path / "site" / "loans"


FAULTS = [
    # what is replaced, by what, the line it is on, what the message names
    ("title: Loans", "title: Loans\ntitel: x", 3, ["titel", "did you mean 'title'"]),
    ("  outcome: result", "  outcome: result\n  postive: x", 9, ["log.postive", "did you mean 'positive'"]),
    ("bins: [1, 2]", "bins: [2, 1]", 15, ["attributes.income.bins", "rise"]),
    ("bins: [1, 2]", "bins: [1, .nan]", 15, ["attributes.income.bins", "rise"]),
    ("bins: [1, 2]", "bins: [1, .inf]", 15, ["attributes.income.bins", "rise"]),
    ("bins: [1, 2]", "bins: [1, 1]", 15, ["attributes.income.bins", "rise"]),
    ("bins: [1, 2]", "bins: 4", 15, ["attributes.income.bins", "must be a list", "not 4"]),
    ("labels: [a, b, c]", "labels: [a, b]", 16, ["attributes.income.labels", "3 bins", "not 2"]),
    ("labels: [a, b, c]", "labels: [a, b, a]", 16, ["attributes.income.labels", "same label"]),
    ("{granted: [yes_], denied: [no_]}", "{granted: [yes_]}", 9, ["log.outcomes", "needs 2 at least, and has 1"]),
    ("{granted: [yes_], denied: [no_]}", "{granted: [yes], denied: [no_]}", 9, ["yes must be in quotes"]),
    ("{granted: [yes_], denied: [no_]}", "{yes: [yes_], denied: [no_]}", 9, ["yes must be in quotes"]),
    ("{granted: [yes_], denied: [no_]}", "{granted: [1], denied: [no_]}", 9, ['"1"', "quotes"]),
    ("{granted: [yes_], denied: [no_]}", "{granted: [a], denied: [a]}", 9, ["log.outcomes", "'a' stands there twice"]),
    ("{granted: [yes_], denied: [no_]}", "{granted: [], denied: [no_]}", 9, ["log.outcomes.granted", "has no value"]),
    (
        "{granted: [yes_], denied: [no_]}",
        "{granted: [z], a: [a], b: [b], c: [c], d: [d], e: [e], f: [f], g: [g], h: [h]}",
        9,
        ["log.outcomes", "may have 8 at most"],
    ),
    ("{granted: [yes_], denied: [no_]}", "{granted: [a], denied: [b], c: [c, a]}", 9, ["'a' stands there twice"]),
    ("positive: granted", "positive: given", 10, ["log.positive", "'given'", "granted, denied"]),
    ("positive: granted", "positive: yes", 10, ["log.positive", "yes must be in quotes"]),
    ("positive: granted", "positive:", 10, ["log.positive"]),
    ("  source: log.csv\n", "", 5, ["log.source", "missing"]),
    ("source: log.csv", "source: postgresql://host/table", 6, ["log.source", "environment variable"]),
    ("role: public", "role: open", 12, ["attributes.sex.role", "'public' or 'sensitive'"]),
    ("  sex: {role: public, protected: true}", "  sex: {protected: true}", 12, ["attributes.sex.role", "missing"]),
    ("protected: true", 'protected: "yes"', 12, ["attributes.sex.protected"]),
    ("  sex: {role: public, protected: true}\n", "", 11, ["no attribute has the role public"]),
    ("  income:", "  result: {role: public}\n  income:", 13, ["'result'", "outcome"]),
    ("labels: [a, b, c]", "labels: [a, b, c]\n    sets: {x: [a, z]}", 17, ["income.sets.x", "'z' is not one of"]),
    ("labels: [a, b, c]", "labels: [a, b, c]\n    sets: {a: [b, c]}", 17, ["income.sets.a", "name of a value"]),
    ("labels: [a, b, c]", "labels: [a, b, c]\n    sets: {x: []}", 17, ["income.sets.x"]),
    ("protected: true}", "reference: x}", 12, ["attributes.sex.reference", "protected"]),
    ("protected: true}", "protected: true, values: {a: A}, reference: B}", 12, ["reference", "'B'", "A"]),
    ("protected: true}", "hierarchy: file.csv}", 12, ["attributes.sex.hierarchy", "no such file", "file.csv"]),
    ("labels: [a, b, c]", "labels: [a, b, c]\n    hierarchy: x.csv", 17, ["income.hierarchy", "of a public attribute"]),
    ("protected: true}", "sets: {x: [a]}}", 12, ["sets", "of a sensitive attribute"]),
    ("{delta: 0.9}", "{delta: 0.9, alpha: 0.9}", 19, ["policy.fidelity", "exactly one"]),
    ("{delta: 0.9}", "{delta: 1.2}", 19, ["policy.fidelity.delta", "must be at most 1, not 1.2"]),
    ("{delta: 0.9}", "{alpha: 0}", 19, ["policy.fidelity.alpha", "must be above 0, not 0"]),
    ("{delta: 0.9}", "{delta: 0.9, ranges: file.csv}", 19, ["policy.fidelity", "exactly one"]),
    ("{delta: 0.9}", "{}", 19, ["policy.fidelity", "exactly one"]),
    ("{delta: 0.9}", "{ranges: 0.9}", 19, ["policy.fidelity.ranges", '"0.9"', "quotes"]),
    ("{delta: 0.9}", "{ranges: file.csv}", 19, ["policy.fidelity.ranges", "no such file", "file.csv"]),
    ("mechanism: optimal", "mechanism: magic", 18, ["policy.mechanism", "'magic' is not one of"]),
    (
        "  fidelity: {delta: 0.9}",
        "  unattainable: coarsen",
        19,
        ["policy.unattainable", "needs a public attribute with a hierarchy"],
    ),
    ("  fidelity: {delta: 0.9}", "  side_information: census.csv", 19, ["side_information", "no such file"]),
    (
        "  fidelity: {delta: 0.9}",
        "  side_information: {file: census.csv, title: population}",
        19,
        ["policy.side_information", "another title"],
    ),
    ("  fidelity: {delta: 0.9}", "  minimum_group_size: 0", 19, ["minimum_group_size", "must be at least 1, not 0"]),
    ("  fidelity: {delta: 0.9}", "  fidelity: {delta: 0,9}", 19, ["policy.fidelity", "with a point, as in 0.9"]),
    ("  fidelity: {delta: 0.9}", "  digits: 3.5", 19, ["policy.digits"]),
    ("  fidelity: {delta: 0.9}", "  digits: 7", 19, ["policy.digits", "must be at most 6, not 7"]),
    ("  fidelity: {delta: 0.9}", "  max_confidence: -0.5", 19, ["policy.max_confidence", "must be above 0, not -0.5"]),
    *(
        ("period: {", f"fairness: {{individual: {keys}}}\nperiod: {{", 20, ["fairness.individual", *named])
        for keys, named in (
            ("{distances: {age: {}}}", [".distances.age", "'age' is not one of the attributes (sex, income)"]),
            ("{distances: {sex: {kind: numeric}}}", [".distances.sex.kind", "middles of bins"]),
            ("{distances: {sex: {kind: ordinal}}}", [".distances.sex.kind", "needs an order"]),
            ("{distances: {sex: {kind: cyclic}}}", [".distances.sex.kind", "'nominal', 'ordinal' or 'numeric'"]),
            ("{distances: {sex: {weight: -1}}}", [".distances.sex.weight", "must be at least 0, not -1"]),
            ("{distances: {sex: {weight: .inf}}}", [".distances.sex.weight", "must be at most 1000"]),
            ("{distances: {sex: {weight: .nan}}}", [".distances.sex.weight", "must be"]),
            ("{distances: {sex: {wieght: 1}}}", [".distances.sex.wieght", "did you mean 'weight'"]),
            ("{measures: []}", [".measures", "at least one measure"]),
            ("{measures: [relative, relative]}", [".measures", "'relative' stands there twice"]),
            ("{measures: [euclidean]}", [".measures", "'total_variation' or 'relative'"]),
            ("{tolerance: 2}", [".tolerance", "must be at most 1, not 2"]),
            ("{tolerence: 0}", [".tolerence", "did you mean 'tolerance'"]),
        )
    ),
    ("period: {every", "fairness: {intersections: [[sex]]}\nperiod: {every", 20, ["fairness.intersections.0"]),
    (
        "period: {every",
        "fairness: {intersections: [[sex, age]]}\nperiod: {every",
        20,
        ["fairness.intersections", "'age' is not one of the attributes"],
    ),
    (
        "period: {every",
        "fairness: {intersections: [[sex, sex]]}\nperiod: {every",
        20,
        ["fairness.intersections", "'sex' stands there twice"],
    ),
    (
        "period: {every",
        "fairness: {intersections: [[sex, income], [income, sex]]}\nperiod: {every",
        20,
        ["fairness.intersections", "'income, sex' stands there twice"],
    ),
    ("protected: true}", "protected: true, reference: {by: lowest}}", 12, ["reference.by", "'highest' or 'largest'"]),
    ("protected: true}", "protected: true, reference: {by: highest, of: x}}", 12, ["reference.of", "are by"]),
    ("every: month", "every: week", 20, ["period.every"]),
    ("Europe/Berlin", "Berlin", 20, ["period.timezone", "no time zone"]),
    (
        "period:",
        "influence: {sets: [[sex, incme]]}\nperiod:",
        20,
        ["influence.sets", "'incme' is not one of the attributes (sex, income)"],
    ),
    ("period:", "influence: {sets: [[sex]]}\nperiod:", 20, ["influence.sets", "needs 2 at least"]),
    ("period:", "influence: {sets: [[sex, sex]]}\nperiod:", 20, ["influence.sets", "'sex' stands there twice"]),
    (
        "period:",
        "influence: {sets: [[sex, income], [income, sex]]}\nperiod:",
        20,
        ["influence.sets", "'income, sex' stands there twice"],
    ),
    ("period:", "influence: {sets: [sex]}\nperiod:", 20, ["influence.sets.0", "must be a list", "not 'sex'"]),
    ("period:", "influence: {set: [[sex, income]]}\nperiod:", 20, ["influence.set", "did you mean 'sets'"]),
    ("  decided_at: day\n", "", 5, ["log", "needs decided_at"]),
    ("programme: loans", "programme: My Loans", 1, ["programme", "lower-case"]),
    ("title: Loans", "title: Loans\nlanguage: fr", 3, ["language", "'fr' is not one of 'en' or 'de'"]),
    ("title: Loans", "title: Loans\ntitle: Loans", 3, ["'title' stands twice"]),
    ("title: Loans", "title: [Loans", 3, ["not valid YAML"]),
    ("title: Loans", "title: Loans\nsite: var/loans/site", 3, ["site", "public"]),
    ("title: Loans", "title: Loans\nstore: site/loans/x", 3, ["store", "private"]),
    ("system: {name: B}", "system: {name: B, version: 2013}", 4, ["system.version", '"2013"', "quotes"]),
    ("system: {name: B}", "system: {name: B, version: 2013-01-01}", 4, ["system.version", "quotes"]),
]


@pytest.mark.parametrize(("old", "new", "line", "named"), FAULTS, ids=[f"{f[1][:40]}" for f in FAULTS])
def test_a_fault_is_named_with_its_line(tmp_path: Path, old: str, new: str, line: int, named: list[str]) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, TEXT.replace(old, new))
    message = str(caught.value)
    assert f"line {line}" in message
    assert "p.yaml" in message
    for part in named:
        assert part in message
    assert caught.value.exit_code == 1


@pytest.mark.parametrize("lines", ["mechanism: linear", "reader: informed", "mechanism: linear\n  reader: informed"])
def test_what_was_withdrawn_is_told_in_one_message(tmp_path: Path, lines: str) -> None:
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, TEXT.replace("  mechanism: optimal\n", "").replace("{delta: 0.9}", "{delta: 0.9}\n  " + lines))
    assert str(caught.value).endswith(
        f"line 19, policy.{lines.split(':')[0]}: the linear mechanism and its informed reader were withdrawn: who "
        "knows that counts are whole numbers could be surer than they promised. Leave this line out"
    )


@pytest.mark.parametrize("mechanism", ["", "  mechanism: calibrated\n"])
def test_keys_of_the_optimal_mechanism_ask_for_it_by_name(tmp_path: Path, mechanism: str) -> None:
    lines = "fidelity: {delta: 0.9}\n  objective: privacy\n  group_rates: exact"
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, TEXT.replace("  mechanism: optimal\n", mechanism).replace("fidelity: {delta: 0.9}", lines))
    line = 19 if mechanism else 18
    assert str(caught.value).endswith(
        f"p.yaml, line {line}, policy.fidelity: needs mechanism: optimal. Name it under policy, or remove "
        "fidelity, objective, group_rates"
    )


@pytest.mark.parametrize("line", ["whole_numbers: state", "side_information: census.csv"])
def test_what_only_the_optimal_mechanism_knows_is_told(tmp_path: Path, line: str) -> None:
    text = TEXT.replace("  mechanism: optimal\n", "").replace("fidelity: {delta: 0.9}", line)
    with pytest.raises(ProgrammeError, match=f"line 18, policy.{line.split(':')[0]}: needs mechanism: optimal"):
        _load(tmp_path, text)


def test_a_policy_without_a_mechanism_is_calibrated(tmp_path: Path) -> None:
    bare = TEXT.replace("  mechanism: optimal\n", "")
    made = _load(tmp_path, bare.replace("  fidelity: {delta: 0.9}", "  step: 0.1"))
    assert made.policy == CalibratedPolicy(step=0.1)
    assert _load(tmp_path, bare.replace("policy:\n  fidelity: {delta: 0.9}\n", "")).policy == CalibratedPolicy()


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("step: 0.3", "step: must fit into 1 a whole number of times"),
        ("step: 0.001", "step: must be at least 0.01, not 0.001"),
        ("least: 0", "least: must be at least 1, not 0"),
        ("lest: 3", "lest: unknown key; did you mean 'least'?"),
    ],
)
def test_faults_of_the_calibrated_policy(tmp_path: Path, key: str, said: str) -> None:
    text = TEXT.replace("mechanism: optimal", "mechanism: calibrated").replace("fidelity: {delta: 0.9}", key)
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, text)
    assert f"line 19, policy.{said}" in str(caught.value)


def test_all_faults_are_told_at_once(tmp_path: Path) -> None:
    text = TEXT.replace("role: public", "role: open").replace("every: month", "every: week")
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, text)
    first, *mistakes = str(caught.value).splitlines()
    assert first.endswith("p.yaml: 2 mistakes")
    assert [line.split(",")[0] for line in mistakes] == ["  line 12", "  line 20"]


def test_a_misspelt_key_is_one_mistake(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, TEXT.replace("title: Loans", "titel: Loans"))
    assert str(caught.value).endswith("p.yaml, line 2, titel: unknown key; did you mean 'title'?")


WRONG: list[Any] = [[1], {"x": 1}, "text", 0.5, None, [{"x": []}]]


def _places(content: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for key in content if isinstance(content, dict) else range(len(content)) if isinstance(content, list) else ():
        yield from _places(content[key], (*path, key))


@pytest.mark.long
def test_a_value_of_a_wrong_kind_is_told_in_plain_words(tmp_path: Path) -> None:
    """Every key, with every kind of value: a message that speaks of the file, never of the program."""
    whole = yaml.safe_load(TEXT)
    whole["log"] |= {"id": "id", "missing": ["", "-"], "max_quarantined": 0.1}
    whole["attributes"]["sex"] |= {"values": {"a": "A", "b": "B"}, "reference": "A", "title": "Sex", "legitimate": True}
    whole["attributes"]["income"] |= {"sets": {"high": ["b", "c"]}, "unit": "EUR", "used_by_system": "no"}
    whole["attributes"]["sex"]["group_phrase"] = {"en": {"A": "women", "B": "men"}, "de": "{value}"}
    forms = {"one": "score", "other": "scores"}
    whole |= {"place": "here", "decision_noun": forms, "person_noun": {"en": forms}}
    whole["log"]["outcome_phrases"] = {"en": {"granted": forms}}
    whole["system"] |= {"owner": "A", "risks": "some"}
    whole["policy"] |= {"digits": 3, "objective": "privacy", "minimum_group_size": 50, "side_information": "population"}
    distances = {"income": {"kind": "numeric", "weight": 2.0}}
    individual = {"distances": distances, "measures": ["relative"], "tolerance": 0.1}
    whole["log"] |= {"coverage": "sample"}
    whole["influence"] = {"sets": [["sex", "income"]]}
    whole["fairness"] = {
        "four_fifths": 0.8,
        "alpha": 0.05,
        "individual": individual,
        "four_fifths_origin": "a law",
        "parity_tolerance": 0.05,
        "parity_tolerance_origin": "a policy",
        "intersections": [["sex", "income"]],
    }
    refused, program = 0, re.compile("[Ii]nput\\b|valid |instance|Policy|[Dd]ict|[Tt]uple|None|Errno|\\bstr")
    for path in _places(whole):
        for wrong in WRONG:
            changed = copy.deepcopy(whole)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = wrong
            try:
                _load(tmp_path, yaml.safe_dump(changed, sort_keys=False))
            except ProgrammeError as error:
                refused += 1
                said = str(error)
                assert not program.search(said), said
                assert "line " in said, said
    assert refused > 180


@pytest.mark.parametrize(
    ("text", "line", "found"),
    [("- a\n- b", 1, "a list"), ("# none\n[a]", 2, "a list"), ("just text", 1, "a single value")],
)
def test_a_file_without_keys_says_what_it_needs(tmp_path: Path, text: str, line: int, found: str) -> None:
    with pytest.raises(ProgrammeError) as caught:
        _load(tmp_path, text)
    assert str(caught.value).endswith(
        f"p.yaml, line {line}: must be keys with values, such as `programme: name`, not {found}"
    )


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_a_file_in_another_encoding_says_how_to_save_it(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "p.yaml").write_bytes(TEXT.replace("title: Loans", "title: Prêts").encode(encoding))
    with pytest.raises(ProgrammeError, match="is not UTF-8 text: save it as UTF-8"):
        load(tmp_path / "p.yaml")


@pytest.mark.parametrize("text", ["", "just text", "- a\n- b", "\x00", "{", "a: &x [*x]"])
def test_no_file_makes_a_traceback(tmp_path: Path, text: str) -> None:
    with pytest.raises(ProgrammeError):
        _load(tmp_path, text)


def test_a_missing_file_says_how_to_begin(tmp_path: Path) -> None:
    with pytest.raises(ProgrammeError, match="atr init"):
        load(tmp_path / "none.yaml")


def test_control_characters_are_made_visible(tmp_path: Path) -> None:
    programme = _load(tmp_path, TEXT.replace("title: Loans", 'title: "a\\u202Eb\\0c"'))
    assert programme.title == "a\ufffdb\ufffdc"


def test_the_schema_knows_every_key() -> None:
    known = json_schema()
    assert set(yaml.safe_load(TEXT)) <= set(known["properties"])


class _Announcing(Policy):
    mechanism: Literal["announcing"] = "announcing"
    step: int = 1


class _Hiding(Policy):
    mechanism: Literal["hiding"] = "hiding"


def test_a_policy_is_that_of_the_mechanism_it_names() -> None:
    several = TypeAdapter(policy_of([_Announcing, _Hiding]))
    assert several.validate_python({"mechanism": "announcing", "step": 3}) == _Announcing(step=3)
    with pytest.raises(ValidationError) as caught:
        several.validate_python({"mechanism": "hiding", "step": 3})
    assert [fault["loc"] for fault in caught.value.errors()] == [("hiding", "step")]
