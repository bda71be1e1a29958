"""Whether the rows of a file can have come of the channel that is stated."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
from scipy import optimize, stats

from atr.core.arrays import FloatArray, IntArray
from atr.records.model import FILES, GroupChannel, PublicRecords
from atr.verify.finding import Finding

FALSE_ALARM = 1e-6
"""The chance that a file as stated is found false, at most: shared by what follows and all that is tested with it."""
_CELLS, _SUMS, _TOGETHER, _CLOSE = (FALSE_ALARM * share for share in (0.8, 0.1, 0.099, 0.001))
_FAR = 4.0
"""Standard errors: sums that are closer to what is expected are not looked at."""


def findings(counts: IntArray, records: PublicRecords) -> Iterator[Finding]:
    """Give what is further from its total than chance would bring it, in one group, in several, in all together.

    Every row is drawn on its own, so the rows with a value are a sum of two binomial numbers: of rows that had it and
    stay, and of others that come to it. By the best channel, which is not told, the same are expected and they vary
    less: as many rows leave a value as come to it, at most those of the Markov channel with this α.

    Parameters
    ----------
    counts
        (g, y) rows of each group with each value.
    records
        What is stated.

    Returns
    -------
    A finding for each; of sums, only where no group alone is found.
    """
    expected = np.array([group.totals for group in records.groups])
    chances = np.array([_chances(found, group) for found, group in zip(counts, records.groups, strict=True)])
    free = len(records.values) - (len(records.values) == 2)  # of two values, one follows from the other
    there = np.count_nonzero(expected, axis=1)
    tests = np.maximum(there - (there == 2), 1)
    in_cells = _CELLS * expected.sum(axis=1) / expected.sum() / tests  # more for groups in which more could be moved
    off = [
        Finding(f"groups[{g}].totals", _apart(counts[g, y], expected[g, y], records.values[y]))
        for g, y in np.argwhere(chances < in_cells[:, None]).tolist()
    ]
    yield from off or chain(_sums(counts, expected, records), _together(chances, expected, records, free))
    if records.channel == "markov" and _too_close(counts, records):
        yield Finding(FILES[0], "has the totals of before more exactly than chance would: was anything altered?")


def _apart(found: int, expected: int, value: object) -> str:
    return f"{found} rows have “{value}”, {expected} are expected: more apart than chance"


def _chances(found: IntArray, group: GroupChannel) -> FloatArray:
    """(y,) twice the chance of rows as far as these on their side, exactly; no smaller than a uniform number."""
    chances = np.ones(len(found))
    for y, (rows, total) in enumerate(zip(found.tolist(), group.totals, strict=True)):
        drawn = group.alpha * total / group.people
        stays = 1 - group.alpha + drawn
        if rows == total or group.alpha == 0 or total in (0, group.people):
            chances[y] = rows == total
            continue
        reach = 9 * np.sqrt(total * stays * (1 - stays)) + 40
        kept = np.arange(max(0, int(total * stays - reach)), min(total, int(total * stays + reach)) + 1)
        more, others = rows > total, group.people - total
        beyond = stats.binom.sf(rows - kept - 1, others, drawn) if more else stats.binom.cdf(rows - kept, others, drawn)
        chances[y] = min(1.0, 2 * float(stats.binom.pmf(kept, total, stays) @ beyond))
    return chances


def _sums(counts: IntArray, expected: IntArray, records: PublicRecords) -> Iterator[Finding]:
    """Groups that share a value of an attribute, and all, by Chernoff's bound."""
    sets = {"all groups": np.ones(len(counts), dtype=bool)}
    for name, value in {pair for group in records.groups for pair in group.values.items()}:
        sets[f"{name} {value}"] = np.array([group.values.get(name) == value for group in records.groups])
    variance = np.array([group.markov_variance for group in records.groups])
    for named, inside in sorted(sets.items()):
        rows, totals = counts[inside].sum(axis=0), expected[inside].sum(axis=0)
        far = np.abs(rows - totals) > _FAR * np.sqrt(variance[inside].sum(axis=0))
        groups = [group for group, there in zip(records.groups, inside.tolist(), strict=True) if there]
        for y in np.flatnonzero(far).tolist():
            if _chernoff(int(rows[y]), y, groups) < _SUMS / (len(sets) * len(records.values)):
                yield Finding(FILES[0], f"{named}: {_apart(rows[y], totals[y], records.values[y])}")


def _chernoff(rows: int, y: int, groups: list[GroupChannel]) -> float:
    """Bound twice the chance that groups together have so many rows with a value, or are further off."""
    totals, people, alpha = np.array([(group.totals[y], group.people, group.alpha) for group in groups]).T
    drawn = alpha * totals / people
    of, chance = np.r_[totals, people - totals], np.r_[1 - alpha + drawn, drawn]
    least = optimize.minimize_scalar(
        lambda s: float(of @ np.log1p(chance * np.expm1(s)) - s * rows),
        bounds=(0, 30) if rows > totals.sum() else (-30, 0),
        method="bounded",
        options={"xatol": 1e-6},
    )
    return float(2 * np.exp(min(0.0, least.fun)))


def _together(chances: FloatArray, expected: IntArray, records: PublicRecords, free: int) -> Iterator[Finding]:
    """The squares of all groups: a chance as a squared standard normal deviation is no larger than one."""
    drawn = np.array([[0 < total < g.people and g.alpha > 0 for total in g.totals] for g in records.groups])
    for y in range(free):
        squares = stats.chi2.isf(chances[drawn[:, y], y], 1)
        if len(squares) and stats.chi2.sf(squares.sum(), len(squares)) < _TOGETHER / free:
            yield Finding(
                FILES[0],
                f"rows with “{records.values[y]}”: all {len(expected)} groups together are further from their totals "
                "than chance brings them",
            )


def _too_close(counts: IntArray, records: PublicRecords) -> bool:
    """Whether one value of every group is closer to its total than chance brings it."""
    closeness = []
    for found, group in zip(counts, records.groups, strict=True):
        variance = group.markov_variance
        y = int(variance.argmax())
        if variance[y] >= 4:
            closeness.append(((found[y] - group.totals[y]) ** 2 + 1 / 12) / variance[y])
    return bool(closeness) and float(stats.chi2.cdf(sum(closeness), len(closeness))) < _CLOSE
