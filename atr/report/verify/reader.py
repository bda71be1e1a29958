"""What a report of the linear mechanism says of its groups, against what its printed numbers allow.

Printed numbers leave populations, rates and chances open, so each check takes the end that speaks for the report.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from atr.mechanism.linear import smallest_safe_limit_of, too_extreme
from atr.pooling import Pooling, rates_between
from atr.protected import ProtectedSets, floored
from atr.report.verify.finding import Finding
from atr.report.verify.printed import Bools, Floats, Ints, Printed

_NOISE = 1e-9


def of(printed: Printed) -> Iterator[Finding]:
    """Which groups cannot be what they are said to be before an informed reader."""
    told, announcement = printed.announcement.fidelity, printed.announcement
    if not isinstance(told, Pooling) or told.reader != "informed":
        return
    ceiling = float(floored(printed.report.policy.max_confidence, digits=announcement.digits))
    sets = announcement.sets or ProtectedSets.regions(announcement.offsets)
    people = printed.least, printed.most
    low, high = rates_between(printed.cells.chance, announcement.offsets, people, digits=announcement.group_digits)
    # An outcome that nobody gets binds nothing; one that hardly anybody gets binds most.
    rarest, commonest = np.where(low > 0, low, np.minimum(_NOISE, high)), np.where(low > 0, high, 0.0)
    fewest, most = (_share(*pair, sets, announcement.offsets) for pair in (people, people[::-1]))
    extreme = too_extreme(smallest_safe_limit_of(most, rarest, sets, max_confidence=ceiling))
    surely = too_extreme(smallest_safe_limit_of(fewest, commonest, sets, max_confidence=ceiling))
    mild = _may_be_mild(printed, high, sets, room=ceiling * sets.factors / fewest - 1, most=most)
    for i, group in enumerate(printed.report.announced_groups):
        if told.for_reader[i] and not extreme[i]:
            yield Finding(group.id, "is flattened, though every rule with its rates could be announced to this reader")
        if not announcement.flattened[i] and surely[i]:
            yield Finding(group.id, "is not flattened, though some rules with its rates must not be announced")
        if not announcement.flattened[i] and not told.pooled[i] and not mild[i]:
            yield Finding(group.id, "is not pooled, though its rule is more extreme than those announced as they are")


def _may_be_mild(printed: Printed, highest: Floats, sets: ProtectedSets, *, room: Floats, most: Floats) -> Bools:
    """(g,) whether some rule that prints like this one is not pooled: r is at most 2 r_C - 1.

    With r_C = r s, where s is by how much the rule could be stretched before the reader is too sure, that is
    r (2 s - 1) ≥ 1.
    """
    announcement, chance = printed.announcement, printed.cells.chance
    offsets, step = announcement.offsets, 10.0**-announcement.digits
    smallest, largest = np.maximum(chance - step, 0.0), np.minimum(chance + step, 1.0)
    rate = np.repeat(highest, np.diff(offsets), axis=0)
    left = np.divide(smallest, rate, out=np.ones_like(chance), where=rate > 0)
    r = np.minimum(np.maximum.reduceat(1 - left.min(axis=1), offsets[:-1]), 1.0)
    sure = _share(printed.least[:, None] * smallest, printed.most[:, None] * largest, sets, offsets)
    lift = sure / most[:, None] - 1
    stretch = np.divide(room[:, None], lift, out=np.full_like(lift, np.inf), where=lift > _NOISE)
    s = -sets.largest(-stretch.min(axis=1))
    mild: Bools = np.where(np.isfinite(s), r * (2 * s - 1), 1.0) >= 1 - _NOISE
    return mild


def _share(inside: Floats | Ints, outside: Floats | Ints, sets: ProtectedSets, offsets: Ints) -> Floats:
    """(v, …) the share of each set in its group, with these amounts (n, …) in it and those in the rest of the group."""
    own = sets.sums(inside)
    rest = np.add.reduceat(outside, offsets[:-1])[sets.group_of_set] - sets.sums(outside)
    share: Floats = np.divide(own, own + rest, out=np.zeros(own.shape), where=own + rest > 0)
    return share
