"""The page on released records: its code runs, and every number in its text is computed here."""

from __future__ import annotations

import doctest
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import atr
from atr import ingest, sanitise
from atr.programme import Programme, ReleasedRecords, load
from atr.programme.periods import ALL, parse
from atr.records.foreseen import Foreseen, foresee
from atr.warehouse.connection import Warehouse
from tests.helpers import records as helper
from tests.helpers.paths import EXAMPLES, ROOT

pytestmark = pytest.mark.long

PAGE = ROOT / "docs" / "sanitised-records.md"
WRITTEN = PAGE.read_text(encoding="utf-8")
TEXT = " ".join(re.sub(r"^ {4}.*\n", "", WRITTEN, flags=re.M).split())
BUNDLED = {
    "scores, hiding prior offences": "compas/programme.yaml",
    "scores, hiding race": "compas/without-race.yaml",
    "mortgages, hiding the debt ratio": "mortgage/programme.yaml",
}
NAMES = ("2101.09689",)
"""Numbers that nothing computes."""


def foreseen(programme: Programme, *changes: dict[str, Any]) -> Iterator[Foreseen]:
    """What is released of 2013, or of all, with other keys of ``sanitise``."""
    assert programme.sanitise is not None
    given = programme.sanitise.model_dump(exclude_none=True)
    with Warehouse.in_memory(programme) as warehouse:
        ingest.ingest(warehouse, programme)
        for changed in changes:
            other = programme.model_copy(update={"sanitise": ReleasedRecords(**(given | changed))})
            yield foresee(warehouse, other, ALL if programme.period.every == "all" else parse("2013"))


def markdown(rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def channels() -> str:
    rows = [["", "log-lift at most", "rows", "groups", "alpha", "altered, Markov", "altered, best"]]
    for title, name in BUNDLED.items():
        programme = load(EXAMPLES / name)
        markov, best = foreseen(programme, {}, {"channel": "best", "reader_knows_x": "never"})
        alphas = [group.alpha for group in markov.groups]
        assert alphas == [group.alpha for group in best.groups]
        assert programme.sanitise is not None
        rows.append([
            title, f"{programme.sanitise.max_log_lift} nats", f"{markov.rows:,}", str(len(markov.groups)),
            f"{min(alphas):.2f} to {max(alphas):.2f}", percent(markov.altered), percent(best.altered),
        ])  # fmt: skip
    return markdown(rows)


def bounds() -> str:
    programme = load(EXAMPLES / "compas" / "programme.yaml")
    rows = [["log-lift at most", "alpha by release", "altered", "alpha by group", "altered", "within none", "altered"]]
    for bound in (0.5, 0.69, 1.0):
        ways: list[dict[str, Any]] = [{"alpha_by": "release"}, {"alpha_by": "group"}, {"within": "none"}]
        row = [f"{bound} nats"]
        for found in foreseen(programme, *(way | {"max_log_lift": bound} for way in ways)):
            alphas = sorted({group.alpha for group in found.groups})
            row += [" to ".join(f"{alpha:.2f}" for alpha in {alphas[0]: 0, alphas[-1]: 0}), percent(found.altered)]
        rows.append(row)
    return markdown(rows)


TABLES = {"channels": channels, "bounds": bounds}


def sentences() -> Iterator[str]:
    bound = 0.69
    assert bound < math.log(2)
    most, least = math.ceil(math.exp(bound) * 100) / 100, math.floor(math.exp(-bound) * 100) / 100
    yield f"At {bound} nats he is at most {most:.2f} times as sure as before, and at least {least:.2f} times."
    log = pd.read_csv(EXAMPLES / "compas" / "compas_decisions.csv")
    log = log[log.compas_screening_date.str.startswith("2013")]
    score = log.decile_score.astype(float)
    moved = score.groupby(log.race).transform(sanitise.quantile_map, target=score) - score
    assert (moved != 0).mean() == pytest.approx(0.75, abs=0.01)
    yield f"scores move by {moved.abs().mean():.2f} points on average, three in four of them"
    joint = pd.crosstab(log.race, score, normalize=True)
    anew = sanitise.loss(joint, sanitise.markov(joint, 1.0), "ordinal")
    yield f"Drawing every score anew would cost {anew:.2f} points."
    assert log.race.value_counts().min() == 13


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of the bundled records of 2013."""
    path = helper.example(tmp_path_factory.mktemp("page"), "compas/programme.yaml")
    return atr.release_records(path, "2013").documents


def test_the_code_runs_as_it_stands(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    found = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8", globs={"folder": released})
    assert (found.failed, found.attempted > 30) == (0, True)


def test_some_groups_had_nobody_with_a_value() -> None:
    """So the smallest α is e^-b there, at least."""
    (found,) = foreseen(load(EXAMPLES / "compas" / "programme.yaml"), {})
    floor = math.exp(-0.69)
    assert sum(group.least_alpha == pytest.approx(floor) for group in found.groups) > 1
    assert found.groups[0].least_alpha > 0.9


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_are_current(name: str) -> None:
    assert TABLES[name]() in WRITTEN


def test_the_page_says_what_is_computed() -> None:
    assert [sentence for sentence in sentences() if TEXT.count(sentence) != 1] == []


def test_no_other_number_is_on_the_page() -> None:
    rest = re.sub(r"^\|.*\n", "", WRITTEN, flags=re.M)
    rest = " ".join(re.sub(r"^ {4}.*\n", "", rest, flags=re.M).split())
    for known in (*sentences(), *NAMES):
        rest = rest.replace(known, "")
    assert re.findall(r".{0,40}(?:\d[.,]\d|\d ?%).{0,20}", rest) == []


def test_the_page_is_short() -> None:
    assert len(WRITTEN.splitlines()) <= 250


def test_files_of_the_page_are_there(released: Path) -> None:
    assert {"records.csv", "records.parquet", "channel.json", "manifest.json"} <= {p.name for p in released.iterdir()}
