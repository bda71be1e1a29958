"""Programmes that release records of the bundled scores, and their files as an outsider reads them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from tests.helpers.paths import EXAMPLES

SCORE = {"column": "score_text", "hide": ["priors_count"], "max_log_lift": 0.5}
"""The score, without telling of prior offences."""
NO_RACE = {"column": "score_text", "hide": ["race"], "max_log_lift": 0.25}
"""The score, in a file without race."""
SEED = "5eed" * 16


def compas(folder: Path, *, seed: str | None = SEED, **sanitise: Any) -> Path:
    """The programme of the bundled scores with a part ``sanitise``, in a folder of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(EXAMPLES / "compas" / "compas_decisions.csv", folder)
    content = yaml.safe_load((EXAMPLES / "compas" / "programme.yaml").read_text(encoding="utf-8"))
    path = folder / "programme.yaml"
    path.write_text(yaml.safe_dump(content | {"sanitise": sanitise}, sort_keys=False), encoding="utf-8")
    if seed is not None:
        (folder / "var").mkdir(exist_ok=True)
        (folder / "var" / "records.seed").write_text(seed, encoding="utf-8")
    return path


def example(folder: Path, name: str) -> Path:
    """A bundled programme such as compas/programme.yaml, in a folder of its own."""
    source = EXAMPLES / name
    shutil.copytree(source.parent, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("var", "site"))
    (folder / "var").mkdir()
    (folder / "var" / "records.seed").write_text(SEED, encoding="utf-8")
    return folder / source.name


def rows(folder: Path) -> pd.DataFrame:
    """The released file; what the people of a pool do not share is an empty text."""
    return pd.read_csv(folder / "records.csv", dtype=str, keep_default_na=False)
