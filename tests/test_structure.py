"""How the tests are written, and that files which are generated are current; `make lint` sees to the imports of atr."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml

import atr
from atr.schemas import schemas
from tests.helpers import records as helper
from tests.helpers import series
from tests.helpers.paths import EXAMPLES, ROOT, TESTS

MODULES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("*.py"))}
LONGEST_NAME = 59
"""Letters of a test's name."""


def _private(name: str) -> bool:
    """Whether a dotted name has a private part of atr's."""
    return name.startswith("atr.") and any(p.startswith("_") and not p.endswith("__") for p in name.split("."))


def _strings(node: ast.AST) -> list[str]:
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def _imported(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The local name and the full name of everything that a module imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.asname or alias.name, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((alias.asname or alias.name, f"{node.module}.{alias.name}") for alias in node.names)


def _used(tree: ast.AST) -> Iterator[str]:
    """The full names of what a module takes of another one by a dot, imports, or patches by a text."""
    known = dict(_imported(tree))
    yield from known.values()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in known:
            yield f"{known[node.value.id]}.{node.attr}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            yield from _strings(node)
            first, *rest = node.args
            if isinstance(first, ast.Name) and first.id in known and rest:
                yield from (f"{known[first.id]}.{name}" for name in _strings(rest[0]))


def _assigned(tree: ast.AST) -> Iterator[str]:
    """The private attributes that a module gives to anything but its own objects."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and node.attr.startswith("_"):
            name = ast.unparse(node)
            if not name.startswith("self."):
                yield name


def _found(names: Callable[[Path, ast.Module], Iterable[str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}: {name}" for path, tree in MODULES.items() for name in names(path, tree)]


def test_a_test_is_named_by_a_behaviour_in_few_letters() -> None:
    def long(_: Path, tree: ast.Module) -> Iterator[str]:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_") and len(node.name) > LONGEST_NAME:
                yield node.name

    assert _found(long) == []


def test_no_test_module_is_imported() -> None:
    def tests(_: Path, tree: ast.Module) -> list[str]:
        names = [name for _, name in _imported(tree)]
        return [n for n in names if n.startswith("tests.") and re.search(r"\.(test_|conftest)", n)]

    assert _found(tests) == []


def test_no_private_name_is_used_or_patched() -> None:
    assert _found(lambda _, tree: sorted({*filter(_private, _used(tree)), *_assigned(tree)})) == []


def test_only_tests_of_the_flows_know_prefect() -> None:
    def prefect(path: Path, tree: ast.Module) -> list[str]:
        mine = path.parent.name == "flows" or path.name == "served.py"
        return [] if mine else [name for _, name in _imported(tree) if re.match(r"prefect\b|atr\.flows", name)]

    assert _found(prefect) == []


@pytest.mark.parametrize("name", ["programme.schema.json", "report.schema.json", "channel.schema.json"])
def test_the_schemas_are_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == schemas()[name], "run `make schemas`"


@pytest.mark.usefixtures("quick")
def test_what_is_written_fits_the_schemas(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(2)))
    report = json.loads((outcome.documents / "report.json").read_text())
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    records = atr.release_records(helper.compas(tmp_path / "records", **helper.SCORE), "2013-Q1")
    channel = json.loads((records.documents / "channel.json").read_text())
    jsonschema.validate(channel, json.loads(schemas()["channel.schema.json"]))
    for example in EXAMPLES.glob("*/*.yaml"):
        content = yaml.safe_load(example.read_text())
        jsonschema.validate(content, json.loads(schemas()["programme.schema.json"]))


@pytest.mark.xdist_group("structure")
def test_the_tests_of_a_group_share_a_worker(request: pytest.FixtureRequest) -> None:
    """Else what they share, a run with Prefect or the laid out documents, is made once by every worker."""
    grouped = request.config.getoption("loadgroup", default=False)
    assert not grouped or request.node.nodeid.endswith("@structure")


def test_no_test_is_named_by_the_content_of_a_file(request: pytest.FixtureRequest) -> None:
    """Else workers that start in different seconds find different tests, where a file holds the time."""
    names = [item.nodeid for item in request.session.items]
    assert [name for name in names if "\\x1f\\x8b" in name or len(name) > 250] == []


def test_no_module_is_long() -> None:
    paths = (path for folder in ("atr", "flows") for path in (ROOT / folder).rglob("*.py"))
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    assert {path: lines for path, lines in lengths.items() if lines > 400} == {}
