"""What readers make of limits of three outcomes, a second way: by convolving tables of whole numbers in two dimensions.

A rule is a table: how many people of each region got each outcome. Of one region it is two numbers, the people with the
first and with the second outcome; the rest have the third.
"""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np
from scipy.signal import convolve2d

from atr.core.arrays import FloatArray, IntArray
from atr.core.publication import CHANCE_DIGITS
from atr.core.tolerances import MISSED_STEPS
from atr.verify.limits import PrintedGroup, Reading
from atr.verify.reader_confidence import LOG_WEIGHTS, MODELS

MOST_PEOPLE = 200
"""Most people of a group whose tables are counted."""


def of_tables(group: PrintedGroup, steps: int) -> Reading | None:
    """Follow what readers of limits make of a group of exact people with three outcomes.

    Parameters
    ----------
    group
        The group.
    steps
        Of the grid of limits, from chance 0 to 1.

    Returns
    -------
    None where no numbers of people within the limits give the printed rates and chances.
    """
    everybody = int(group.least.sum())
    pairs = [np.array([a, b, everybody - a - b]) for a, b in product(group.totals(0), group.totals(1))]
    totals = [of for of in pairs if of[2] in group.totals(2)]
    limits, nothing = np.rint(group.limits * steps) / steps, np.broadcast_to([0.0, 1.0], group.limits.shape)
    found = _expected(group, "uniform", limits, totals)
    fits = [i for i, (expected, rules) in enumerate(found) if rules and _is_printed(group, expected)]
    totals = [totals[i] for i in fits]
    if not totals:
        return None

    def sure(model: str, of: FloatArray) -> FloatArray:
        both = zip(_expected(group, model, of, totals), totals, strict=True)
        shares = [_shares(group, expected, k) for (expected, _), k in both]
        return np.stack([np.min(shares, axis=0), np.max(shares, axis=0)], axis=1)

    return Reading(
        sure={model: sure(model, limits) for model in MODELS},
        prior=np.max([sure(model, nothing) for model in MODELS], axis=0),
        rules=np.array([found[i][1] for i in fits]),
    )


def _is_printed(group: PrintedGroup, expected: FloatArray) -> bool:
    """Tell whether printed chances are what readers expect, each rounded one way or the other."""
    if group.chance is None:
        return True
    off = np.abs(group.chance / 10**CHANCE_DIGITS - expected / group.least[:, None])
    return bool((off < 10.0**-group.digits).all())


def _shares(group: PrintedGroup, expected: FloatArray, totals: IntArray) -> FloatArray:
    """(sets,) how sure of each protected set, the largest over outcomes that anybody got."""
    got = totals > 0
    return np.asarray((group.sets @ expected[:, got] / totals[got]).max(axis=1))


def _expected(
    group: PrintedGroup, model: str, limits: FloatArray, totals: list[IntArray]
) -> list[tuple[FloatArray, float]]:
    """For each (3,) totals, (m, 3) people that a reader expects, and the weight of all rules."""
    tables = [_weights(model, n, of) for n, of in zip(group.least.tolist(), limits, strict=True)]
    rest = [reduce(convolve2d, tables[:s] + tables[s + 1 :], np.ones((1, 1))) for s in range(len(tables))]
    found = []
    for first, second, _ in totals:
        expected, weight = np.zeros((len(tables), 3)), 0.0
        for s, (table, others) in enumerate(zip(tables, rest, strict=True)):
            a, b = np.indices(table.shape)
            c, d = first - a, second - b
            inside = (c >= 0) & (d >= 0) & (c < others.shape[0]) & (d < others.shape[1])
            both = np.where(inside, table * others[np.where(inside, c, 0), np.where(inside, d, 0)], 0.0)
            weight = float(both.sum())
            if weight:
                one, two = float((both * a).sum()) / weight, float((both * b).sum()) / weight
                expected[s] = one, two, group.least[s] - one - two
        found.append((expected, weight))
    return found


def _weights(model: str, people: int, limits: FloatArray) -> FloatArray:
    """Give the weights of the tables of so many people within (3, 2) limits, the largest being 1."""
    counts = np.indices((people + 1, people + 1)).astype(np.float64)
    k = np.stack([*counts, people - counts.sum(axis=0)])
    lower, upper = limits.T[:, :, None, None]
    below = (upper >= 1) | (k < upper * people - MISSED_STEPS)
    inside = ((k >= lower * people - MISSED_STEPS) & below).all(axis=0) & (k[-1] >= 0)
    logs = LOG_WEIGHTS[model](np.maximum(k, 0)).sum(axis=0)
    if not inside.any():
        return np.zeros((1, 1))
    return np.where(inside, np.exp(np.where(inside, logs, 0.0) - logs[inside].max()), 0.0)
