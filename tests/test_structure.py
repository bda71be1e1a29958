"""The structure the design demands: who may import whom, and files that are generated are current."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import jsonschema
import pytest
import yaml

from atr.report.schemas import schemas
from tests.helpers import series
from tests.helpers.paths import EXAMPLES, ROOT

ORDER = (
    "errors", "files", "periods", "protected", "groups", "outcomes", "fidelity", "confidence", "leakage", "mechanism",
    "influence", "surrogate", "tradeoff", "shown", "ranges", "hierarchies", "programme", "store", "warehouse",
    "parquet", "ingest", "regions", "announcement", "coarsening", "allowed", "fairness", "individual_kernels",
    "individual", "measures", "report", "ledger", "dossier_charts", "dossier", "run", "review", "schemas", "cli",
)  # fmt: skip
"""A module imports only from those before it; the few types that fidelity takes from groups included."""


def _imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def test_the_library_never_imports_prefect_and_only_the_command_imports_flows() -> None:
    for path in {*(ROOT / "atr").rglob("*.py")} - {*(ROOT / "atr" / "flows").glob("*.py")}:
        found = _imports(path)
        assert "prefect" not in {name.split(".")[0] for name in found}, path
        assert not any(name.startswith("atr.flows") for name in found) or path.name == "cli.py", path


@pytest.mark.parametrize("module", ORDER)
def test_data_flows_one_way(module: str) -> None:
    package = ROOT / "atr" / module
    paths = list(package.rglob("*.py")) if package.is_dir() else [package.with_suffix(".py")]
    known = set(ORDER)
    for path in paths:
        if not path.is_file():
            continue
        parts = {name.split(".")[1] for name in _imports(path) if name.startswith("atr.")} & known
        later = {p for p in parts if ORDER.index(p) > ORDER.index(module)}
        assert not later, f"{path.relative_to(ROOT)} imports {sorted(later)}"


@pytest.mark.parametrize("name", ["programme.schema.json", "report.schema.json"])
def test_the_schemas_are_current(name: str) -> None:
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == schemas()[name], "run `make schemas`"


@pytest.mark.usefixtures("quick")
def test_what_is_written_fits_the_schemas(tmp_path: Path) -> None:
    outcome = series.publish(series.write_series(tmp_path, series.card(2)))
    report = json.loads((outcome.documents / "report.json").read_text())
    jsonschema.validate(report, json.loads(schemas()["report.schema.json"]))
    for example in EXAMPLES.iterdir():
        content = yaml.safe_load((example / "programme.yaml").read_text())
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
