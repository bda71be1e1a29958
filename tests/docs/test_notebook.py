"""The notebook of the documentation runs, and shows what it gives."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.paths import EXAMPLES, ROOT

NOTEBOOK = ROOT / "docs" / "notebook.ipynb"


def _shown(source: str, names: dict[str, Any]) -> str | None:
    """Run a cell; the text of its last expression, if it ends in one."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return None if last is None else repr(eval(compile(ast.Expression(last.value), "cell", "eval"), names))


def test_the_notebook_gives_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(EXAMPLES / "card", tmp_path / "examples" / "card", ignore=shutil.ignore_patterns("var", "site"))
    monkeypatch.chdir(tmp_path)
    cells = [cell for cell in json.loads(NOTEBOOK.read_text())["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    for cell in cells:
        shown = _shown("".join(cell["source"]), names)
        outputs = [output["data"]["text/plain"] for output in cell["outputs"]]
        assert ["".join(lines) for lines in outputs] == ([] if shown is None else [shown]), cell["source"]
