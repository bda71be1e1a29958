"""Times in turn, memory in a process of its own, and the machine both were taken on."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]


class Timing(NamedTuple):
    """Median seconds, and the medians of the ratios to the baseline of the same round: of time, of processor time."""

    seconds: float
    ratio: float
    processor_ratio: float


def in_turn(cases: dict[str, Callable[[], Any]], *, rounds: int) -> dict[str, Timing]:
    """Run all cases once a round, the first being the baseline; a first round is not counted.

    The machine's speed drifts; a ratio within one round does not drift with it.
    """
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in cases}
    for _ in range(rounds + 1):
        for name, run in cases.items():
            start, used = time.perf_counter(), time.process_time()
            run()
            taken[name].append((time.perf_counter() - start, time.process_time() - used))
    baseline = next(iter(taken.values()))[1:]

    def timing(times: list[tuple[float, float]]) -> Timing:
        pairs = list(zip(times, baseline, strict=True))
        return Timing(
            statistics.median(t for t, _ in times),
            statistics.median(t / b for (t, _), (b, _) in pairs),
            statistics.median(t / b for (_, t), (_, b) in pairs),
        )

    return {name: timing(times[1:]) for name, times in taken.items()}


def in_a_child(code: str, *arguments: str, **environment: str) -> dict[str, float]:
    """Run Python code in a fresh process; it prints one JSON object."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def machine() -> dict[str, str]:
    """Describe the machine and the versions, without anything that names it."""
    model, memory = platform.processor() or platform.machine(), 0.0
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line.split(":", 1)[1].strip() for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0] if names else model
    if hasattr(os, "sysconf"):
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = {name: importlib.metadata.version(name) for name in ("numpy", "numba", "llvmlite", "scipy")}
    return {
        "processors": f"{processors} × {model}",
        "memory": f"{memory:.0f} GiB",
        "load before": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
    }
