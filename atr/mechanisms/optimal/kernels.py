"""The mechanism's loops over QID groups, compiled by Numba.

Every kernel takes regions laid out group after group: ``p`` population (its unit cancels), ``d`` true decision,
``lo`` and ``hi`` allowed range of the announced one, each (n,), and ``offsets`` (g + 1,) the positions of the groups,
counted from anywhere: the first group starts with the first region. It works in ``room`` (n,) and fills the arrays
named last. The two that make ranges take regions alone.

Sums are compensated, which leaves them exact but for the last rounding: what a group gets depends neither on the order
of its regions nor on the groups around it. A cached kernel knows its own file only: whatever it calls stays in here.
"""

from __future__ import annotations

import math

import numpy as np

from atr.core.arrays import BoolArray as Marks
from atr.core.arrays import FloatArray as Row
from atr.core.arrays import IntArray
from atr.core.compiled import compiled

# Relative: two ways to compute the same confidence differ by less.
TOLERANCE = 1e-12
# Relative error a comparison of sums must bear.
_NOISE = 1e-14
# Largest share of a group's people, or of a confidence, that an announcement may miss by rounding errors.
_MISSED = 1e-6
# Part of a grid step by which a chance may differ from its grid value.
_GRID_TOLERANCE = 1e-9


@compiled
def within_reach(d: Row, reach: float, lo: Row, hi: Row) -> None:
    """Fill in the ranges of δ-fidelity, as :class:`atr.core.fidelity.Delta` has them."""
    for k in range(len(d)):
        lo[k], hi[k] = max(d[k] - reach, 0.0), min(d[k] + reach, 1.0)


@compiled
def shrink_to_grid(d: Row, scale: float, lo: Row, hi: Row) -> None:
    """Shrink ranges to multiples of 1/scale, as :meth:`atr.core.fidelity.Fidelity.allowed_on_grid`, but around d."""
    for k in range(len(d)):
        first, last = math.ceil(lo[k] * scale - _GRID_TOLERANCE), math.floor(hi[k] * scale + _GRID_TOLERANCE)
        if first > last:
            first, last = math.floor(d[k] * scale + _GRID_TOLERANCE), math.ceil(d[k] * scale - _GRID_TOLERANCE)
        lo[k], hi[k] = min(first / scale, d[k]), max(last / scale, d[k])


@compiled
def free_rates(p: Row, d: Row, lo: Row, hi: Row, offsets: IntArray, room: Row, bounds: Row) -> None:
    """Give [β_min, C*, β_0, β_1, β_p, β*] (g, 6) when group rates may move.

    β* is the largest of β_min, β_0, β_1 and β_p (Chen, Golubchik, Pal, Theorem 1). β_min is missing there: no
    announcement pushes a reader below what the populations alone tell.
    """
    for i in range(len(bounds)):
        first, end = _span(offsets, i)
        S, s, t, largest, most_1, most_0, M1, M0 = _totals(p, d, lo, hi, first, end)
        room_1 = room_0 = carry_1 = carry_0 = 0.0
        for k in range(first, end):
            room_1, carry_1 = _add(room_1, carry_1, min(p[k] * hi[k], M1))
            room_0, carry_0 = _add(room_0, carry_0, min(p[k] * (1 - lo[k]), M0))
        known, true = _share(largest, S), max(_share(most_1, s), _share(most_0, t))
        beta_0, beta_1 = _share(M0, room_0 + carry_0), _share(M1, room_1 + carry_1)
        beta_p = _share(M1 + M0, S)
        bounds[i, 0], bounds[i, 1], bounds[i, 2], bounds[i, 3], bounds[i, 4] = known, true, beta_0, beta_1, beta_p
        # The true decisions are always allowed: rounding errors aside, β* is at most C*.
        bounds[i, 5] = min(max(known, beta_0, beta_1, beta_p), true)


@compiled
def exact_rates(p: Row, d: Row, lo: Row, hi: Row, offsets: IntArray, room: Row, bounds: Row) -> None:
    """Give [β_min, C*, β*] (g, 3) when every group's totals stay s = Σpd and t = Σp(1-d).

    Confidence β needs p ≤ βΣp, M1 ≤ βs, M0 ≤ βt, and room for the totals: s ≤ Σ min(p·hi, βs), t ≤ Σ min(p(1-lo), βt).
    """
    for i in range(len(bounds)):
        first, end = _span(offsets, i)
        S, s, t, largest, most_1, most_0, M1, M0 = _totals(p, d, lo, hi, first, end)
        known, true = _share(largest, S), max(_share(most_1, s), _share(most_0, t))
        beta = max(known, _share(M1, s), _share(M0, t))
        if beta < true:
            for k in range(first, end):
                room[k - first] = p[k] * hi[k]
            beta = _crowding(room[: end - first], s, beta)
            for k in range(first, end):
                room[k - first] = p[k] * (1 - lo[k])
            beta = _crowding(room[: end - first], t, beta)
        bounds[i, 0], bounds[i, 1], bounds[i, 2] = known, true, min(beta, true)


@compiled
def nearest(
    p: Row, d: Row, lo: Row, hi: Row, offsets: IntArray, room: Row, x: Row, beta: Row, missed: Marks, free: bool
) -> None:
    """Make a mapping x (n,), so far d, the least distorted of confidence at most β (g,); tell which groups miss it.

    Distortion is Σp|x - d|, the expected number of people whose announced chance is moved.
    """
    for i in range(len(beta)):
        first, end = _span(offsets, i)
        missed[i] = False
        if _confidence(p, d, first, end) <= beta[i] * (1 + TOLERANCE):
            continue
        S, s, t, _, _, _, M1, M0 = _totals(p, d, lo, hi, first, end)
        q, rule, lower, upper = p[first:end], d[first:end], lo[first:end], hi[first:end]
        if free:
            s = _cheapest_total(q, rule, lower, upper, S, s, M1, M0, beta[i])
            t = S - s
        _least_distorted(q, rule, lower, upper, s, t, beta[i], room, x[first:end])
        told = _totals(p, x, x, x, first, end)[1]
        missed[i] = not (abs(told - s) <= _MISSED * S and _confidence(p, x, first, end) <= beta[i] + _MISSED)


@compiled
def _span(offsets: IntArray, i: int) -> tuple[int, int]:
    """Give where a group starts and ends among the regions at hand."""
    return offsets[i] - offsets[0], offsets[i + 1] - offsets[0]


@compiled
def _add(total: float, carry: float, value: float) -> tuple[float, float]:
    """Add a value to a sum in two parts, total and carry, without rounding error (Knuth's TwoSum)."""
    new = total + value
    part = new - total
    return new, carry + ((total - (new - part)) + (value - part))


@compiled
def _share(part: float, whole: float) -> float:
    return min(part / whole, 1.0) if whole > 0 else 0.0


@compiled
def _confidence(p: Row, x: Row, first: int, end: int) -> float:
    """Give the maximum confidence of one group's mapping. An outcome nobody gets counts as 0."""
    _, s, t, _, most_1, most_0, _, _ = _totals(p, x, x, x, first, end)
    return max(_share(most_1, s), _share(most_0, t))


@compiled
def _totals(
    p: Row, d: Row, lo: Row, hi: Row, first: int, end: int
) -> tuple[float, float, float, float, float, float, float, float]:
    """Give Σp, Σpd, Σp(1-d), and the largest p, pd, p(1-d), p·lo and p(1-hi) of one group."""
    S = s = t = carry = carry_1 = carry_0 = 0.0
    largest = most_1 = most_0 = M1 = M0 = 0.0
    for k in range(first, end):
        v, w = p[k] * d[k], p[k] * (1 - d[k])
        S, carry = _add(S, carry, p[k])
        s, carry_1 = _add(s, carry_1, v)
        t, carry_0 = _add(t, carry_0, w)
        largest, most_1, most_0 = max(largest, p[k]), max(most_1, v), max(most_0, w)
        M1, M0 = max(M1, p[k] * lo[k]), max(M0, p[k] * (1 - hi[k]))
    return S + carry, s + carry_1, t + carry_0, largest, most_1, most_0, M1, M0


@compiled
def _crowding(room: Row, total: float, beta: float) -> float:
    """Give the smallest β, not below the one given, with Σ min(room, β·total) ≥ total.

    Newton's method from below on a concave function, exact after finitely many steps: with the c regions at their
    limit, β is (1 - tail_c/total)/c. At most about log(m) + 53 steps; most groups take one or two.
    """
    before = len(room) + 1
    while total > 0:
        limit, tail, carry, c = beta * total, 0.0, 0.0, 0
        for v in room:
            if v >= limit:
                c += 1
            else:
                tail, carry = _add(tail, carry, v)
        if c == 0 or c >= before:
            break
        needed = (1 - (tail + carry) / total) / c
        if needed <= beta:
            break
        beta, before = needed, c
    return beta


@compiled
def _largest_total(room: Row, beta: float) -> float:
    """Give the largest s with Σ min(room, βs) ≥ s, by Newton's method from above: s is tail_c/(1 - cβ)."""
    s = np.inf
    while True:
        limit, tail, carry, c = beta * s, 0.0, 0.0, 0
        for v in room:
            if v >= limit:
                c += 1
            else:
                tail, carry = _add(tail, carry, v)
        left = 1 - c * beta
        # Near β = 1/c the quotient is all rounding error: there is room for s, then.
        if tail + carry >= s * (left - _NOISE):
            return s
        s = (tail + carry) / left


@compiled
def _water_level(p: Row, room: Row, amount: float) -> float:
    """Give the y with Σp·min(room, y) = amount, or one above the largest room where it is not enough."""
    y, before = 0.0, len(p) + 1
    while True:
        full, carry, still, carry_still, c = amount, 0.0, 0.0, 0.0, 0
        for k in range(len(p)):
            if room[k] > y:
                still, carry_still = _add(still, carry_still, p[k])
                c += 1
            elif room[k] > 0:
                full, carry = _add(full, carry, -p[k] * room[k])
        if c == 0 or c >= before:
            return y
        y, before = max(y, (full + carry) / (still + carry_still)), c


@compiled
def _least_distorted(p: Row, d: Row, lo: Row, hi: Row, s: float, t: float, beta: float, room: Row, x: Row) -> None:
    """Fill in the mapping x (m,) of one group nearest to d with Σpx = s, Σp(1-x) = t and confidence at most β.

    Regions beyond a limit go to it; what the total still needs is one equal shift of all regions with room
    (every unit of it costs the same, wherever it goes).
    """
    held, carry = 0.0, 0.0
    for k in range(len(p)):
        # Where one outcome is nobody's, no limit of the other binds but by its rounding error.
        lower = max(lo[k], 1 - beta * t / p[k]) if s > 0 else lo[k]
        upper = min(hi[k], beta * s / p[k]) if t > 0 else hi[k]
        x[k] = min(max(d[k], lower), upper)
        held, carry = _add(held, carry, p[k] * x[k])
    rest = (s - held) - carry
    for k in range(len(p)):
        lower = max(lo[k], 1 - beta * t / p[k]) if s > 0 else lo[k]
        upper = min(hi[k], beta * s / p[k]) if t > 0 else hi[k]
        room[k] = max(upper - x[k], 0.0) if rest > 0 else max(x[k] - lower, 0.0)
    shift = _water_level(p, room[: len(p)], abs(rest))
    for k in range(len(p)):
        x[k] += min(room[k], shift) if rest > 0 else -min(room[k], shift)


@compiled
def _cheapest_total(
    p: Row, d: Row, lo: Row, hi: Row, S: float, true: float, M1: float, M0: float, beta: float
) -> float:
    """Give the attainable total s = Σpx of one group at which its least distorted mapping is cheapest.

    β must be attainable: at least β* with free rates.
    """
    people_1, people_0 = np.empty(len(p)), np.empty(len(p))
    for k in range(len(p)):
        people_1[k], people_0[k] = p[k] * hi[k], p[k] * (1 - lo[k])
    # Where β is just attainable, rounding errors must not leave room for less than what is needed.
    room_1, room_0 = max(_largest_total(people_1, beta), M1 / beta), max(_largest_total(people_0, beta), M0 / beta)
    first, last = max(M1 / beta, S - room_0), min(S - M0 / beta, room_1)
    if first > last:
        first = last = (first + last) / 2
    start = min(max(true, first), last)
    for k in range(len(p)):
        people_1[k], people_0[k] = p[k] * d[k], p[k] * (1 - d[k])
    s = _cheapest_from(people_1, people_0, S, true, start, last, beta)
    if s == start:
        t = _cheapest_from(people_0, people_1, S, S - true, S - start, S - first, beta)
        s = max(first, S - t) if t > S - start else start
    # A total that is 0 or S but for rounding errors is exactly that, where an outcome may be empty.
    if M1 == 0 and s <= TOLERANCE * S:
        return 0.0
    return S if M0 == 0 and S - s <= TOLERANCE * S else s


@compiled
def _from(values: Row, least: float) -> Row:
    """Give the values from the least on, in ascending order."""
    chosen, c = np.empty(len(values)), 0
    for v in values:
        if v >= least:
            chosen[c], c = v, c + 1
    return np.sort(chosen[:c])


@compiled
def _cheapest_from(people_1: Row, people_0: Row, S: float, true: float, s: float, last: float, beta: float) -> float:
    """Raise the total from s, at most to the last, while that costs less.

    With down = Σ(pd - βs)⁺, up = Σ(p(1-d) - β(S-s))⁺ and Δ = s - Σpd, clipping to the limits costs down + up and
    the remaining shift |Δ + down - up|: together max(2·down + Δ, 2·up - Δ), which is convex and piecewise linear
    in s. It bends where a region reaches a limit, and where the two parts meet.
    """
    leaving, joining = _from(people_1, beta * s), _from(people_0, beta * (S - last))[::-1]
    down = up = carry_1 = carry_0 = 0.0
    i = j = 0
    for v in leaving:
        down, carry_1 = _add(down, carry_1, v)
    while j < len(joining) and joining[j] > beta * (S - s):
        up, carry_0 = _add(up, carry_0, joining[j])
        j += 1
    while s < last:
        above_1, above_0 = len(leaving) - i, j
        falling = 2 * (down + carry_1 - above_1 * beta * s) + (s - true)
        rising = 2 * (up + carry_0 - above_0 * beta * (S - s)) - (s - true)
        slope, other = 1 - 2 * beta * above_1, 2 * beta * above_0 - 1
        apart = abs(falling - rising)
        if rising > falling:
            slope, other = other, slope
        if apart <= _NOISE * S:
            slope = other = max(slope, other)
        if slope >= -TOLERANCE:
            return s
        leaves = leaving[i] / beta if i < len(leaving) else np.inf
        joins = S - joining[j] / beta if j < len(joining) else np.inf
        bend = min(leaves, joins, last)
        if other > slope and s + apart / (other - slope) < bend:
            s += apart / (other - slope)
            if other >= -TOLERANCE:
                return s
            slope = other
            # Past the meeting point the other part is the larger one, up to the next bend.
        s = max(s, bend)
        if leaves <= joins and i < len(leaving):
            down, carry_1 = _add(down, carry_1, -leaving[i])
            i += 1
        elif j < len(joining):
            up, carry_0 = _add(up, carry_0, joining[j])
            j += 1
    return min(s, last)
