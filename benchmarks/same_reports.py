"""Whether the reports of all bundled programmes say the same numbers as those of another revision.

``python -m benchmarks.same_reports REVISION`` publishes every period of every bundled programme, and the year 2013 of
COMPAS, with the code of that revision and with this one, and compares all numbers of ``report.json``. It ends with code
1 if one moved, but for ranges of measures of three and more outcomes that became wider by at most 0.0003, which it
counts. Then it publishes COMPAS 2013 three times with each code in turn, and gives the ratio of the times.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
PROGRAMMES = ("compas/programme.yaml", "compas/three-outcomes.yaml", "mortgage/programme.yaml", "card/programme.yaml")
FURTHER = {"compas/programme.yaml": ("2013",), "compas/three-outcomes.yaml": ("2013",)}
WIDER = 0.0003

Number = float | None


def main(revision: str) -> int:
    """Compare, print what moved, and give the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        trees = {name: Path(folder, name) for name in ("before", "after")}
        for name, asked in (("before", revision), ("after", "HEAD")):
            archive = subprocess.run(["git", "archive", asked], cwd=ROOT, capture_output=True, check=True).stdout
            with tarfile.open(fileobj=BytesIO(archive)) as packed:
                packed.extractall(trees[name], filter="fully_trusted")
        with ThreadPoolExecutor(len(PROGRAMMES)) as pool:
            moved = sum(pool.map(lambda programme: _moved(programme, trees), PROGRAMMES))
        seconds = {name: [] for name in trees}
        for _ in range(3):
            for name, tree in trees.items():
                shutil.rmtree(tree / "examples/compas/var")
                start = time.perf_counter()
                _report(tree, "compas/programme.yaml", "2013")
                seconds[name].append(time.perf_counter() - start)
        before, after = (median(times) for times in seconds.values())
        print(f"atr publish, COMPAS 2013: {after:.1f} s, {before:.1f} s before; ratio {after / before:.2f}")
        return 1 if moved else 0


def _moved(programme: str, trees: dict[str, Path]) -> int:
    """How many numbers of a programme's reports moved."""
    checked = _atr(trees["after"], "check", f"examples/{programme}")
    moved = 0
    for period in (*(found["period"] for found in checked["periods"]), *FURTHER.get(programme, ())):
        before, after = (dict(_numbers(_report(tree, programme, period))) for tree in trees.values())
        several = len([path for path in before if path.startswith("/coverage/rate/")]) > 2
        wider = 0
        for path in sorted(before.keys() | after.keys()):
            old, new = before.get(path), after.get(path)
            if old == new:
                continue
            if several and "/range/" in path and old is not None and new is not None and abs(old - new) <= WIDER:
                wider += 1
            else:
                moved += 1
                print(f"{programme} {period} {path}: {old} before, {new} now")
        print(
            f"{programme} {period}: {len(before):,} numbers, {wider} ends of ranges wider by at most {WIDER}",
            flush=True,
        )
    return moved


def _report(tree: Path, programme: str, period: str) -> Any:
    published = _atr(tree, "publish", f"examples/{programme}", "--period", period)
    return json.loads((Path(published["documents"]) / "report.json").read_text(encoding="utf-8"))


def _atr(tree: Path, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", "atr", *arguments, "--json"],
        cwd=tree, env={**os.environ, "PYTHONPATH": str(tree)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(f"{tree.name}: atr {' '.join(arguments)} ended with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def _numbers(content: Any, path: str = "") -> Iterator[tuple[str, Number]]:
    """Every number of a report, by where it stands; what is not stated is None."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield from _numbers(value, f"{path}/{key}")
    elif isinstance(content, list):
        for i, value in enumerate(content):
            yield from _numbers(value, f"{path}/{i}")
    elif content is None or (isinstance(content, int | float) and not isinstance(content, bool)):
        yield path, content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
