"""The compiled loops: degenerate and very large groups, and what must not change a number."""

from __future__ import annotations

import ast
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atr.core.fidelity import Alpha, Delta, Ranges
from atr.core.groups import Groups
from atr.errors import RefusedError
from atr.measures import compile, individual_kernels
from atr.mechanisms.optimal import closed_form, kernels, least_distorted, optimal_privacy, round_announcement, solve
from tests.helpers.paths import ROOT
from tests.helpers.single_groups import (
    confidence,
    exact_closed_form,
    groups,
    lp_distortion,
    one,
)

RATES = ("exact", "free")


@st.composite
def degenerate(draw):
    """Draw one group: one region, equal populations or nine orders of magnitude, decisions all alike or any."""
    m = draw(st.sampled_from([1, 1, 2, 3, 5, 8]))
    share = st.sampled_from([0.0, 1.0, 0.5, 1e-12, 1 - 1e-12]) | st.floats(0, 1)
    people = draw(
        st.sampled_from(
            [st.just(7.0), st.sampled_from([1.0, 1e9]), st.floats(0, 9).map(lambda e: 10.0**e), st.just(1e-9)]
        )
    )
    p = draw(st.lists(people, min_size=m, max_size=m))
    d = draw(st.lists(share, min_size=m, max_size=m) | share.map(lambda value: [value] * m))
    return Groups(p, d, [0, m])


extremes = st.sampled_from([Delta(0), Delta(1), Alpha(1e-9), Alpha(1), Delta(0.9), Alpha(0.5)])


@given(degenerate(), extremes, st.sampled_from(RATES))
def test_degenerate_groups(drawn, fidelity, rates):
    p, d = one(drawn)
    expected = dict(
        zip(
            ("free", "exact"),
            exact_closed_form(p, *(ends[:, 0] for ends in fidelity.allowed(drawn.decision)), d),
            strict=True,
        )
    )
    best = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates)
    # Where nearly nobody gets an outcome, a chance near 1 has few digits for what remains.
    rest = [total / p.sum() for total in (p @ d, p @ (1 - d)) if total > 0]
    slack = 1e-9 + 1e-14 / max(min(rest), 1e-14)
    assert best.beta.item() == pytest.approx(expected[rates], abs=slack)
    if best.beta.item() == best.limits[0, 1]:
        assert solve(drawn, fidelity=fidelity, group_rates=rates).announced[:, 0].tolist() == d.tolist()
    if fidelity in (Delta(1), Alpha(1)):
        assert best.beta.item() == pytest.approx(best.limits[0, 1], abs=slack)
    if fidelity == Delta(0) and rates == "free":
        assert best.beta.item() == pytest.approx(min(best.limits[0]), abs=slack)
    if len(p) == 1:
        assert best.beta.item() == 1


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("spread", [0, 4])
def test_more_than_ten_thousand_sensitive_values(rates, spread):
    rng = np.random.default_rng(3)
    m = 20_000
    p, d = 10 ** rng.uniform(0, spread, m), rng.random(m) ** 8
    p[0], d[0] = p.max() * 3, 1
    drawn = Groups(p, d, [0, m])
    fidelity = Delta(0.9)
    best = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates)
    sums = np.sort(p * np.minimum(1, d + 0.1))[::-1].cumsum()
    tails = np.append(sums[-1] - sums[:-1], 0)
    if rates == "exact":
        crowding = ((1 - tails / (p @ d)) / np.arange(1, m + 1)).max()
        known = max(p.max() / p.sum(), (p * np.maximum(d - 0.1, 0)).max() / (p @ d), crowding)
        assert best.beta.item() == pytest.approx(known, abs=1e-9)
    x = least_distorted(drawn, beta=best.beta, fidelity=fidelity, group_rates=rates)[:, 0]
    assert confidence(p, x) <= best.beta.item() + 1e-9
    assert (np.abs(x - d) <= 0.1 + 1e-12).all()
    shuffled = rng.permutation(m)
    other = Groups(p[shuffled], d[shuffled], [0, m])
    assert optimal_privacy(other, fidelity=fidelity, group_rates=rates).beta.item() == best.beta.item()
    again = least_distorted(other, beta=best.beta, fidelity=fidelity, group_rates=rates)[:, 0]
    assert again.tolist() == x[shuffled].tolist()


def _many(count, seed=11):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, count)
    sizes[count // 2] = 900
    n = sizes.sum()
    p = rng.integers(1, 900, n)
    return Groups(p, np.round(rng.random(n) ** 3 * p) / p, np.append(0, np.cumsum(sizes)))


@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("digits", [None, 3])
def test_neither_blocks_nor_threads_change_a_bit(monkeypatch, rates, digits):
    drawn = _many(600)
    options = {"fidelity": Delta(0.9), "group_rates": rates, "digits": digits}

    def results():
        best = optimal_privacy(drawn, **options)
        x = least_distorted(drawn, beta=np.maximum(best.beta, 0.5), **options)
        return [best.beta, best.limits, x]

    alone = results()
    for block, threads in ((1, 1), (64, 1), (64, 4), (300, 3)):
        monkeypatch.setattr(closed_form, "BLOCK", block)
        monkeypatch.setattr(closed_form, "usable_cores", lambda threads=threads: threads)
        for one_way, other in zip(alone, results(), strict=True):
            assert one_way.tobytes() == other.tobytes()


@pytest.mark.parametrize("count", [2, 4])
def test_ranges_must_be_as_many_as_regions(count):
    with pytest.raises(ValueError, match="there are ranges"):
        optimal_privacy(Groups([12, 5, 3], [0, 0, 1], [0, 3]), fidelity=Ranges(np.zeros(count), np.ones(count)))


def test_ranges_of_every_region_stay_with_it_in_blocks(monkeypatch):
    drawn = _many(200)
    d, rng = drawn.decision[:, 0], np.random.default_rng(2)
    fidelity = Ranges(d * rng.random(len(d)), d + (1 - d) * rng.random(len(d)))
    together = solve(drawn, fidelity=fidelity)
    monkeypatch.setattr(closed_form, "BLOCK", 50)
    apart = solve(drawn, fidelity=fidelity)
    assert together.announced.tolist() == apart.announced.tolist()
    assert (together.announced[:, 0] >= fidelity.lower[:, 0] - 1e-12).all()


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(closed_form, "BLOCK", 64)
    monkeypatch.setattr(closed_form, "usable_cores", lambda: 2)
    drawn = _many(600)
    nothing = np.zeros(len(drawn.population))
    with pytest.raises(ValueError, match="outside its range"):
        optimal_privacy(drawn, fidelity=Ranges(nothing, nothing))


@given(groups(regions=40), st.sampled_from([Delta(0.8), Delta(0.5), Alpha(0.5)]), st.sampled_from(RATES))
def test_none_of_a_wider_group_is_less_distorted(drawn, fidelity, rates):
    p, d = one(drawn)
    beta = optimal_privacy(drawn, fidelity=fidelity, group_rates=rates).beta.item() * 1.02
    x = least_distorted(drawn, beta=beta, fidelity=fidelity, group_rates=rates)[:, 0]
    lower, upper = (ends[:, 0] for ends in fidelity.allowed(drawn.decision))
    reference = lp_distortion(p, d, lower, upper, beta - 1e-7, exact=rates == "exact")
    assert reference is not None
    assert p @ np.abs(x - d) / p.sum() <= reference + 1e-6


def test_of_equally_cheap_totals_the_nearest_is_taken():
    # At β = ½ moving the total costs what it saves: any total from 10 to 14 is as cheap.
    tied = Groups([8, 8, 8], [0.875, 0.25, 0.125], [0, 3])
    x = least_distorted(tied, beta=0.5, fidelity=Delta(0.2), group_rates="free")[:, 0]
    assert tied.population @ x == pytest.approx(10, abs=1e-9)


@pytest.mark.parametrize("rates", RATES)
def test_no_confidence_at_all_is_refused(rates):
    drawn = Groups([12, 5, 3], [0, 0, 1], [0, 3])
    with pytest.raises(RefusedError):
        least_distorted(drawn, beta=0, fidelity=Delta(0.9), group_rates=rates)


@given(
    st.lists(st.tuples(st.integers(2, 400), st.integers(0, 999).map(lambda k: k + 0.5)), min_size=2, max_size=6),
    st.integers(0, 2**32),
)
def test_noise_does_not_tip_exact_halves(cells, seed):
    p, halves = np.array([c[0] for c in cells]), np.array([c[1] for c in cells]) / 1000
    drawn = Groups(p, halves, [0, len(p)])
    options = {"fidelity": Delta(0.9), "digits": 3, "beta": 1.0, "ceiling": 1.0, "published_population": p}
    noise = np.random.default_rng(seed).uniform(-1e-12, 1e-12, len(p))
    quiet, loud = (np.column_stack([x, 1 - x]) for x in (halves, halves + noise))
    told = [round_announcement(drawn, x, group_rates="free", **options).tolist() for x in (quiet, loud)]
    assert told[0] == told[1]


@given(st.lists(st.sampled_from([0.0, 1.0, 0.1, 1 / 3, 0.0004, 0.9996]) | st.floats(0, 1), min_size=1), st.floats(0, 1))
def test_compiled_ranges_are_those_of_the_fidelity(chances, level):
    d = np.array(chances)
    lower, upper = np.empty_like(d), np.empty_like(d)
    for digits in (None, 1, 3):
        kernels.within_reach(d, 1.0 - level, lower, upper)
        if digits is not None:
            kernels.shrink_to_grid(d, 10.0**digits, lower, upper)
        expected = closed_form.allowed_ranges(np.column_stack([d, 1 - d]), Delta(level), digits)
        assert lower.tolist() == expected[0][:, 0].tolist()
        assert upper.tolist() == expected[1][:, 0].tolist()


def test_set_up_compiles_all_that_is_ever_called():
    compile.main()
    for decision in ([0, 0, 1], [[1, 0], [1, 0], [0, 1]]):
        drawn = Groups([12, 5, 3], decision, np.array([0, 3], dtype=np.int32))
        for rates in RATES:
            for fidelity in (Delta(0.9), Alpha(0.9), Ranges([0, 0, 0], [1, 1, 1])):
                solve(drawn, fidelity=fidelity, group_rates=rates, digits=2)
                least_distorted(drawn, beta=[1], fidelity=fidelity, group_rates=rates)
    for module in (kernels, individual_kernels):
        for kernel in (value for value in vars(module).values() if hasattr(value, "signatures")):
            assert len(kernel.signatures) <= 1 or kernel.__name__.startswith("_"), kernel


def _constants_from_elsewhere(text: str) -> set[str]:
    """The names that compiled functions of a module use of what it imports from other modules."""
    tree = ast.parse(text)
    imported = {
        name.asname or name.name: node.module or ""
        for node in tree.body
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for name in node.names
    }
    compiled = [
        node
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and any(ast.unparse(d) == "compiled" for d in node.decorator_list)
    ]
    body = [name.id for node in compiled for part in node.body for name in ast.walk(part) if isinstance(name, ast.Name)]
    return set(body) & set(imported)


def test_kernels_use_no_constants_of_other_files():
    """Numba's cache of a function notices an edit of its own file only."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "atr").rglob("*.py")]
    with_kernels = [text for text in sources if "\n@compiled\n" in text]
    assert len(with_kernels) == 5
    assert [_constants_from_elsewhere(text) for text in with_kernels] == [set()] * 5
    frozen = "from atr.core.tolerances import EDGE\n@compiled\ndef kernel(x):\n    return x + EDGE\n"
    assert _constants_from_elsewhere(frozen) == {"EDGE"}


def test_the_compiler_is_loaded_only_to_compute():
    code = "import sys, atr.mechanisms.optimal, atr.core.announcement, atr.cli; sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_without_any_place_for_a_cache_it_still_runs():
    code = """
import numba.core.caching as caching
def nowhere(*_): raise OSError("read-only")
caching._CacheLocator.ensure_cache_path = nowhere
from atr.core.fidelity import Delta
from atr.core import Groups
from atr.mechanisms.optimal import optimal_privacy
from atr.mechanisms.optimal.kernels import free_rates
card = Groups([12, 5, 3], [0, 0, 1], [0, 3])
print(round(optimal_privacy(card, fidelity=Delta(0.9), group_rates="free").overall, 9), free_rates.stats.cache_path)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0.675", "None"]
