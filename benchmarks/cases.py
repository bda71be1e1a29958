"""What is measured, and what it should stay below."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np

from atr.core.fidelity import Delta
from atr.core.groups import Groups
from atr.mechanisms.optimal import closed_form, optimal_privacy, round_announcement, rounding, solve
from benchmarks.arrays import Arrays, many_groups, one_group
from benchmarks.measure import Timing, in_a_child, in_turn
from benchmarks.programmes import optimal_privacy_by_bisection

DELTA = Delta(0.9)


class Row(NamedTuple):
    """One line of the table: a measurement, what it is compared with, and the target, where there is one."""

    what: str
    measured: str
    baseline: str
    ratio: float
    shared_out: float | None = None
    target: str = ""
    met: bool | None = None


def one_pass(arrays: Arrays) -> Callable[[], float]:
    """The baseline: read every array once."""
    return lambda: float(sum(array.sum() for array in arrays))


def large(regions: int = 10_000_000, rounds: int = 11) -> Iterator[Row]:
    """Optimal privacy and announcements of a million groups, against one pass over the same arrays."""
    arrays = many_groups(regions)
    groups = Groups(*arrays)
    shares = {
        rates: float(np.mean(solution.limits[:, 1] > solution.target * (1 + 1e-9)))
        for rates in ("free", "exact")
        for solution in [solve(groups, fidelity=DELTA, group_rates=rates)]
    }
    taken = in_turn(
        {
            "pass": one_pass(arrays),
            "free": lambda: optimal_privacy(groups, fidelity=DELTA, group_rates="free"),
            "exact": lambda: optimal_privacy(groups, fidelity=DELTA, group_rates="exact"),
            "on a grid": lambda: optimal_privacy(groups, fidelity=DELTA, group_rates="exact", digits=3),
            "announced free": lambda: solve(groups, fidelity=DELTA, group_rates="free"),
            "announced exact": lambda: solve(groups, fidelity=DELTA, group_rates="exact"),
            "groups": lambda: Groups(*arrays),
        },
        rounds=rounds,
    )
    size = f"{len(groups):,} groups, {len(groups.population):,} regions"
    base = f"one pass, {_time(taken['pass'])}"

    def row(what: str, name: str, limit: float | None = None) -> Row:
        t = taken[name]
        target = f"≤ {limit:g}" if limit else ""
        met = None if limit is None else t.ratio <= limit
        shared_out = None if name == "groups" else t.processor_ratio / closed_form.usable_cores()
        return Row(f"{what}, {size}", _time(t), base, t.ratio, shared_out, target, met)

    yield row("β*, free rates", "free", 5)
    yield row("β*, exact rates", "exact")
    yield row("β*, exact rates, three digits", "on a grid")
    yield row(f"β* and announcements, free rates, {shares['free']:.0%} perturbed", "announced free", 40)
    yield row(f"β* and announcements, exact rates, {shares['exact']:.0%} perturbed", "announced exact", 40)
    yield row("Groups, copied and validated", "groups")


def growth(rounds: int = 9) -> Iterator[Row]:
    """Time per region from 10^4 to 10^7 regions, by one thread and by all."""
    for label, threads in (("one thread", 1), ("all threads", closed_form.usable_cores())):
        sized = {f"{n:.0e}": Groups(*many_groups(n)) for n in (10_000, 100_000, 1_000_000, 10_000_000)}

        def run(groups: Groups) -> Callable[[], Any]:
            # A small case is repeated, so that a round takes about as long for all.
            repeats = max(1, 1_000_000 // len(groups.population))
            return lambda: [optimal_privacy(groups, fidelity=DELTA, group_rates="free") for _ in range(repeats)]

        with patch.object(closed_form, "usable_cores", lambda threads=threads: threads):
            taken = in_turn({name: run(groups) for name, groups in sized.items()}, rounds=rounds)
        per_region = {
            name: taken[name].seconds / max(1, 1_000_000 // len(groups.population)) / len(groups.population) * 1e9
            for name, groups in sized.items()
        }
        spread = max(per_region.values()) / min(per_region.values())
        told = ", ".join(f"{value:.1f}" for value in per_region.values())
        yield Row(
            f"β*, free rates, 10⁴, 10⁵, 10⁶, 10⁷ regions, {label}",
            f"{told} ns a region",
            "fastest of them",
            spread,
            None,
            "≤ 2" if threads == 1 else "",
            spread <= 2 if threads == 1 else None,
        )


def against_programmes() -> Iterator[Row]:
    """One group against bisection over linear programmes."""
    many = 200
    kinds = product(((1_000, 5, 10_000), (10_000, 3, 30_000)), ("uniform", "log-normal", "equal"))
    for (regions, rounds, target), spread in kinds:
        arrays = one_group(regions, spread)
        groups = Groups(*arrays)
        lower, upper = (ends[:, 0] for ends in DELTA.allowed(groups.decision))
        found = []

        def bisect(arrays=arrays, lower=lower, upper=upper, found=found) -> None:
            found.append(optimal_privacy_by_bisection(arrays.population, lower, upper))

        def closed(groups=groups, many=many) -> list[Any]:
            return [optimal_privacy(groups, fidelity=DELTA, group_rates="free") for _ in range(many)]

        taken = in_turn({"closed": closed, "programmes": bisect}, rounds=rounds)
        beta = closed()[0].beta.item()
        apart = abs(beta - found[-1])
        faster = taken["programmes"].ratio * many
        yield Row(
            f"β*, free rates, one group of {regions:,} sensitive values, {spread}, β* apart by {apart:.0e}",
            f"{taken['closed'].seconds / many * 1e6:.0f} µs",
            f"bisection over programmes, {_time(taken['programmes'])}",
            1 / faster,
            None,
            f"≤ 1/{target:,}",
            faster >= target and apart <= 1e-6,
        )


_PEAK = """
import json, resource, sys
import numpy as np
from atr.measures.compile import main
from atr.core.fidelity import Delta
from atr.core import Groups
from atr.mechanisms.optimal import solve
main()
arrays = [np.load(path) for path in sys.argv[2:]]
if sys.argv[1] != "none":
    solve(Groups(*arrays), fidelity=Delta(0.9), group_rates=sys.argv[1])
try:  # what getrusage tells includes the parent process
    lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
    peak = int(lines["VmHWM"].split()[0])
except OSError:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"peak": peak * 1024}))
"""


def memory(regions: int = 10_000_000) -> Iterator[Row]:
    """Peak memory of a solution above the input arrays, Groups and its copies included."""
    arrays = many_groups(regions)
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, f"{name}.npy")) for name in arrays._fields]
        for path, array in zip(paths, arrays, strict=True):
            np.save(path, array)
        before = in_a_child(_PEAK, "none", *paths)["peak"]
        for rates in ("free", "exact"):
            ratio = (in_a_child(_PEAK, rates, *paths)["peak"] - before) / arrays.bytes
            yield Row(
                f"Peak memory of Groups and solve, {rates} rates, {arrays.offsets[-1]:,} regions",
                f"{ratio * arrays.bytes / 2**20:.0f} MiB above the input",
                f"input arrays, {arrays.bytes / 2**20:.0f} MiB",
                ratio,
                None,
                "≤ 6",
                ratio <= 6,
            )


_START = """
import json, time
start = time.perf_counter()
import numpy, scipy.optimize
libraries = time.perf_counter()
import atr.mechanisms.optimal
package = time.perf_counter()
import numba
compiler = time.perf_counter()
from atr.measures.compile import main
main()
first = time.perf_counter()
main()
second = time.perf_counter()
print(json.dumps({"libraries": libraries - start, "package": package - libraries, "numba": compiler - package,
                  "first": first - compiler, "second": second - first}))
"""


def start_up() -> Iterator[Row]:
    """What a small report pays once, in a fresh process, with kernels on disk and without."""
    with tempfile.TemporaryDirectory() as folder:
        cold = in_a_child(_START, NUMBA_CACHE_DIR=folder)
        runs = [in_a_child(_START, NUMBA_CACHE_DIR=folder) for _ in range(5)]
    warm = {name: float(np.median([run[name] for run in runs])) for name in cold}
    libraries = f"importing NumPy and SciPy, {warm['libraries']:.2f} s"
    for what, seconds in (
        ("Importing atr.mechanisms.optimal, which leaves out Numba", warm["package"]),
        ("Importing Numba, at the first computation", warm["numba"]),
        ("First use of every kernel, from disk", warm["first"]),
        ("First use of every kernel, compiled", cold["first"]),
        ("Second use of every kernel", warm["second"]),
    ):
        yield Row(what, f"{seconds:.3f} s", libraries, seconds / warm["libraries"])


def rounded(regions: int = 2_000) -> Iterator[Row]:
    """Rounding: all groups at once, and the integer programmes of those that miss a promise that way."""
    for label, arrays, ceiling in (
        ("no group perturbed", many_groups(regions * 500), 1.0),
        ("half of the groups perturbed", many_groups(regions), None),
    ):
        positives = np.round(arrays.population * arrays.decision)
        groups = Groups(arrays.population, positives / arrays.population, arrays.offsets)
        solution = solve(groups, fidelity=DELTA, digits=3)
        beta = solution.target if ceiling is None else ceiling
        x = solution.announced if ceiling is None else groups.decision
        repaired: list[int] = []
        settle = rounding.settled

        def counted(*given: Any, settle=settle, repaired=repaired, **options: Any) -> Any:
            repaired.append(1)
            return settle(*given, **options)

        def run(groups=groups, x=x, beta=beta) -> None:
            round_announcement(
                groups,
                x,
                fidelity=DELTA,
                digits=3,
                beta=beta,
                ceiling=1.0,
                published_population=groups.population,
            )

        with patch.object(rounding, "settled", counted):
            run()
        count = len(repaired)
        taken = in_turn({"pass": one_pass(arrays), "rounded": run}, rounds=3)
        t = taken["rounded"]
        each = f", {t.seconds / count * 1e3:.0f} ms each" if count else ""
        yield Row(
            f"Rounding {len(groups):,} groups, {label}; {count} settled by integer programmes{each}",
            _time(t),
            f"one pass, {taken['pass'].seconds * 1e6:.0f} µs",
            t.ratio,
        )


def _time(timing: Timing) -> str:
    return f"{timing.seconds * 1e3:.1f} ms" if timing.seconds < 1 else f"{timing.seconds:.1f} s"
