"""Linear reduction: every rule is shrunk towards its group's rate until a reader can be no surer than β.

Everything is said in lifts. The lift of outcome a in a set V of regions of a QID group T is D_a(V) / D̄_a - 1: how
much more often than in the whole group, where the rate is D̄_a. A reader's confidence in V after a is then
π (1 + lift) with π = P(V) / P(T), and shrinking D to D̄ + t (D - D̄) multiplies every lift by t. So

    confidence at most β   ⇔   t · lift_a(V) ≤ β/π - 1   for all outcomes a and protected sets V.

With D = D̄ + r u, u the most extreme rule in its direction, r is minus the smallest lift of any region (the first
chance to reach 0 ends the line), and the safe limit along u is r_C = min(1, r · min (β/π - 1) / lift over the
positive lifts).

**The smallest safe limit over all directions** depends on P, D̄ and β alone:

    min over a, V of  (β/π - 1) / (min(1/π, 1/D̄_a) - 1)
    =  min over a, V of  D̄_a (β - π) / (min(π, D̄_a) - π D̄_a),

the outcomes and sets without lift (D̄_a = 0 or 1, π = 1) left out. It is the same for any number of outcomes and for
sets that overlap. *Proof.* The minimum over directions and the minimum over (a, V) may be exchanged, so one (a, V) is
enough: how large can its lift be at r = 1? The rules with the group's rates are the tables Σ_V p D_a with row sums
P(x) and column sums P(T) D̄_a, where the block of V and a holds at most the smaller of its margins, P(V) and
P(T) D̄_a; a table that fills the rows of V and the column a first (the north-west corner rule, for any number of
other columns) attains it. So the largest lift of all rules is min(1/π, 1/D̄_a) - 1. A positive lift grows along its
direction, so the largest is attained at r = 1. ∎
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from atr.groups import FloatArray, Groups, IntArray
from atr.protected import ProtectedSets

Reader = Literal["face_value", "informed"]
BoolArray = NDArray[np.bool_]

# A lift that should be 0 is smaller than this.
_NOISE = 1e-12
# A group's rate has rounding errors that depend on the true rules; what is public must not depend on them.
_PUBLIC_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False, slots=True)
class LinearSolution:
    """A linear reduction. ``announced``, ``flattened``, ``pooled``, ``beta`` and ``target`` may be made public.

    Attributes
    ----------
    announced
        (n, outcomes) probability: the announced mapping, before rounding.
    flattened
        (g,) groups that announce their rate for every region; decided from populations, rates and β alone.
    pooled
        (g,) groups whose announcement stands for every rule of a part of its direction, as anyone can see from it.
        All others announce the true decisions.
    beta
        (g,) confidence of a reader who takes the announcement at face value; at most ``target``, except where
        populations alone give more.
    target
        β, the confidence the announcement was held to.
    reader
        For whom it was made.
    limits
        (g, 2) [β_min, C*]: confidence before any report, and after announcing the true decisions. Private.
    r
        (g,) how extreme the true rule is along its direction: 0 constant, 1 as extreme as can be. Private.
    safe_limit
        (g,) r_C: the most extreme rule in that direction that can be announced as it is. Private.
    """

    announced: FloatArray
    flattened: BoolArray
    pooled: BoolArray
    beta: FloatArray
    target: float
    reader: Reader
    limits: FloatArray
    r: FloatArray
    safe_limit: FloatArray

    @property
    def beta_min(self) -> FloatArray:
        """(g,) confidence before any report."""
        return self.limits[:, 0]

    @property
    def overall(self) -> float:
        """The largest confidence of any group."""
        return float(self.beta.max())


def linear_reduction(groups: Groups, *, max_confidence: float, reader: Reader = "face_value") -> LinearSolution:
    """Shrink every group's rules towards its rate, as far as β and the reader demand. Group rates stay exact.

    For a reader who takes the announcement at face value, a rule beyond the safe limit r_C of its direction is
    announced at r_C. A reader who knows the mechanism would guess beyond it. For him every rule with
    r > 2 r_C - 1 is announced at r_C: he learns that r lies in (2 r_C - 1, 1] and, if to him it is equally likely
    to be anywhere there, expects r_C. That needs r_C ≥ ½; a group where some direction has less is flattened,
    whatever its rules are.

    Parameters
    ----------
    groups
        Populations (n,), true decisions (n, outcomes), and protected sets with the factors their ceilings are
        multiplied by, or None for every region on its own. Confidences are divided by the factors.
    max_confidence
        β, in (0, 1]. A group in which populations alone give more is flattened.
    reader
        ``face_value``, or ``informed``: knows the mechanism, and holds it equally likely for a rule to lie
        anywhere between the group's rate and the most extreme rule of its direction.

    Returns
    -------
    LinearSolution

    Raises
    ------
    ValueError
        If β is out of range.

    References
    ----------
    After Ding, Liu, Farokhi, *A Linear Reduction Method for Local Differential Privacy and Log-lift*
    (arXiv 2101.09689); the closed form of the limit, the pooling and the flattening are this library's.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> linear_reduction(card, max_confidence=0.675).announced[:, 1].round(4)
    array([0.0574, 0.0574, 0.675 , 0.0625, 0.4792, 0.8958])
    >>> informed = linear_reduction(card, max_confidence=0.75, reader="informed")
    >>> informed.flattened, informed.announced[:3, 1]
    (array([ True, False]), array([0.15, 0.15, 0.15]))
    """
    if not 0 < max_confidence <= 1:
        raise ValueError(f"max_confidence must be above 0 and at most 1, not {max_confidence}")
    p, D, starts = groups.population, groups.decision, groups.offsets[:-1]
    sets = groups.sets or ProtectedSets.regions(groups.offsets)
    region = np.repeat(np.arange(len(starts)), np.diff(groups.offsets))
    total = np.add.reduceat(p, starts)
    rate = np.add.reduceat(p[:, None] * D, starts) / total[:, None]
    people = sets.sums(p)
    share = people / total[sets.group_of_set]
    lift = _lift(D, rate[region])
    set_lift = _lift(sets.sums(p[:, None] * D) / people[:, None], rate[sets.group_of_set])

    r = np.maximum.reduceat(-lift.min(axis=1), starts)
    constant = r <= _NOISE
    room = (max_confidence * sets.factors / share - 1)[:, None]
    stretch = _smallest(np.maximum(room, 0), set_lift, sets.group_of_set, len(starts))
    safe = np.multiply(r, stretch, out=np.ones_like(r), where=~constant & np.isfinite(stretch))
    safe = np.where(safe >= 1 - _NOISE, 1.0, safe)

    beta_min = _largest(share / sets.factors, sets.group_of_set, len(starts))
    flattened = beta_min > max_confidence + _NOISE
    if reader == "informed":
        flattened |= only_the_rate(groups, rate, max_confidence=max_confidence)
        pooled = ~flattened & (safe < 1) & (r > 2 * safe - 1)
    else:
        pooled = ~flattened & (safe < 1) & (r >= safe)
    factor = np.where(pooled, stretch, 1.0)
    factor[flattened | constant] = 0.0
    announced = np.clip(rate[region] * (1 + factor[region, None] * lift), 0.0, 1.0)
    announced = np.where((pooled | flattened | constant)[region, None], announced, D)

    def confidence(factor: FloatArray) -> FloatArray:
        shares = np.minimum(share * (1 + factor[sets.group_of_set] * set_lift.max(axis=1)), 1.0)
        return _largest(shares / sets.factors, sets.group_of_set, len(starts))

    return LinearSolution(
        announced=announced,
        flattened=flattened,
        pooled=pooled,
        beta=confidence(factor),
        target=max_confidence,
        reader=reader,
        limits=np.column_stack([beta_min, confidence(np.ones(len(starts)))]),
        r=np.where(constant, 0.0, r),
        safe_limit=safe,
    )


def smallest_safe_limit(groups: Groups, rate: ArrayLike, *, max_confidence: float) -> FloatArray:
    """Give the smallest safe limit r_C over all directions a group's rules could have.

    Parameters
    ----------
    groups
        Of which only the populations and the protected sets are read.
    rate
        (g, outcomes) rate of every group, D̄.
    max_confidence
        β.

    Returns
    -------
    (g,) number, at most 1; below 0 where populations alone give more than β.

    References
    ----------
    The proof is at the head of this module.

    Examples
    --------
    >>> card = Groups([12, 5, 3, 9, 7, 4], [0, 0, 1, 0, 0.5, 1], [0, 3, 6])
    >>> smallest_safe_limit(card, [[0.85, 0.15], [0.625, 0.375]], max_confidence=0.75)
    array([0.375     , 0.54545455])
    """
    sets = groups.sets or ProtectedSets.regions(groups.offsets)
    total = np.add.reduceat(groups.population, groups.offsets[:-1])
    share = sets.sums(groups.population) / total[sets.group_of_set]
    return smallest_safe_limit_of(share, rate, sets, max_confidence=max_confidence)


def smallest_safe_limit_of(
    share: ArrayLike, rate: ArrayLike, sets: ProtectedSets, *, max_confidence: float
) -> FloatArray:
    """Give the same from the (v,) shares π of each set in its group.

    It falls with every π and does not fall with a rate, but for rates of 0, which bind nothing: so its ends for shares
    and rates between bounds are those at the ends.

    Examples
    --------
    >>> sets = ProtectedSets.regions([0, 2])
    >>> smallest_safe_limit_of([0.6, 0.4], [[0.8, 0.2]], sets, max_confidence=0.75)
    array([0.375])
    """
    mean = np.asarray(rate, dtype=np.float64)
    pi = np.asarray(share, dtype=np.float64)[:, None]
    D = mean[sets.group_of_set]
    highest = np.minimum(1 / pi, np.divide(1, D, out=np.ones_like(D), where=D > 0)) - 1
    limit = _smallest(max_confidence * sets.factors[:, None] / pi - 1, highest, sets.group_of_set, len(mean))
    return np.minimum(limit, 1.0)


def only_the_rate(groups: Groups, rate: ArrayLike, *, max_confidence: float) -> BoolArray:
    """Tell of which groups (g,) an informed reader may be told the rate only: some direction has a safe limit below ½.

    Parameters and the reason are those of :func:`smallest_safe_limit` and :func:`linear_reduction`.
    """
    return too_extreme(smallest_safe_limit(groups, rate, max_confidence=max_confidence))


def too_extreme(smallest: FloatArray) -> BoolArray:
    """Tell which smallest safe limits (g,) leave an informed reader the rate only."""
    below: BoolArray = smallest < 0.5 - _PUBLIC_TOLERANCE
    return below


def believed_range(
    population: ArrayLike,
    announced: ArrayLike,
    offsets: ArrayLike,
    *,
    pooled: ArrayLike,
    flattened: ArrayLike,
    reader: Reader = "face_value",
    slack: float = 0.0,
    rate: ArrayLike | None = None,
    rate_slack: ArrayLike = 0.0,
) -> tuple[FloatArray, FloatArray]:
    """Give the range of the true decisions that an announcement leaves open to someone who knows the mechanism.

    A flattened group leaves everything open. One that is not pooled announces the true decisions. A pooled one
    announces D̄ + r̃ u and stands for D̄ + r u with r from r̃ (``face_value``) or from 2 r̃ - 1 (``informed``) to 1.

    Parameters
    ----------
    population
        (n,) people, or shares of people.
    announced
        (n, outcomes) probability, as announced or as printed.
    offsets
        (g + 1,) positions of the groups.
    pooled
        (g,) groups whose announcement stands for other rules too; with printed numbers also those that
        :func:`atr.mechanism.linear_rounding.round_linear` had to move.
    flattened
        (g,) groups that announce their rate only.
    reader
        For whom the announcement was made.
    slack
        By how much a given number may differ from the one announced; for printed numbers 10^-digits.
    rate
        (g, outcomes) rates, D̄, where they are known otherwise than from populations and the numbers announced.
    rate_slack
        By how much such a rate may differ from the true one; (g, outcomes) where that is not the same for all.

    Returns
    -------
    Smallest and largest probability, (n, outcomes) each. For pooled groups the lower end of the open interval
    is included.

    Examples
    --------
    >>> women = Groups([12, 5, 3], [0, 0, 1], [0, 3])
    >>> told = linear_reduction(women, max_confidence=0.8, reader="informed")
    >>> lower, upper = believed_range(women.population, told.announced, women.offsets, pooled=told.pooled,
    ...                               flattened=told.flattened, reader=told.reader)
    >>> lower[:, 1].round(3), upper[:, 1].round(3)
    (array([0. , 0. , 0.6]), array([0.071, 0.071, 1.   ]))
    """
    p, x = np.asarray(population, dtype=np.float64), np.asarray(announced, dtype=np.float64)
    o = np.asarray(offsets, dtype=np.int64)
    region = np.repeat(np.arange(len(o) - 1), np.diff(o))
    # The rate of printed numbers is as far off as they are.
    if rate is None:
        rate, rate_slack = np.add.reduceat(p[:, None] * x, o[:-1]) / np.add.reduceat(p, o[:-1])[:, None], slack
    off = np.broadcast_to(np.asarray(rate_slack, dtype=np.float64), np.shape(rate))[region]
    mean = np.asarray(rate, dtype=np.float64)[region]
    away, wide = x - mean, slack + off
    highest = mean + off
    lost = np.divide(-away - wide, highest, out=np.zeros_like(away), where=highest > 0)
    extreme = np.maximum.reduceat(lost.max(axis=1), o[:-1])
    known = extreme > _NOISE
    most = np.divide(1, extreme, out=np.ones_like(extreme), where=known)
    least = np.maximum(0, 2 - most) if reader == "informed" else np.ones_like(most)
    most, least = most[region, None], least[region, None]
    low = mean - off + np.minimum(least * (away - wide), most * (away - wide))
    high = mean + off + np.maximum(least * (away + wide), most * (away + wide))

    stands_for_more = np.asarray(pooled, dtype=bool)
    open_ = np.asarray(flattened, dtype=bool) | (stands_for_more & ~known)
    narrow = ~stands_for_more[region, None]
    low, high = np.where(narrow, x - slack, low), np.where(narrow, x + slack, high)
    low, high = np.where(open_[region, None], 0.0, low), np.where(open_[region, None], 1.0, high)
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def _lift(D: FloatArray, rate: FloatArray) -> FloatArray:
    """D_a / D̄_a - 1; 0 for an outcome nobody in the group gets."""
    lift: FloatArray = np.divide(D, rate, out=np.ones_like(D), where=rate > 0) - 1
    return lift


def _smallest(room: FloatArray, lift: FloatArray, group: IntArray, g: int) -> FloatArray:
    """Give the smallest room / lift (g,) of any set and outcome with a positive lift; infinite where there is none."""
    ratio = np.divide(room, lift, out=np.full_like(lift, np.inf), where=lift > _NOISE)
    smallest = np.full(g, np.inf)
    np.minimum.at(smallest, group, ratio.min(axis=1))
    return smallest


def _largest(values: FloatArray, group: IntArray, g: int) -> FloatArray:
    largest = np.zeros(g)
    np.maximum.at(largest, group, values)
    return largest
