"""How much each input of a decision moves the announced chances: quantitative input influence, exactly.

Measures are those of Datta, Sen and Zick, *Algorithmic Transparency via Quantitative Input Influence*, IEEE Symposium
on Security and Privacy 2016 [DSZ]: an input, or a set S of inputs, is cut off from the rest of a person by being drawn
anew from all people, X becoming X(-S)U(S), and the influence is what that does to a quantity of interest. Inputs of a
set are drawn together, as people have them, independently of the inputs that stay (as the authors' own code does).

Combinations that nobody has were not announced, and have no chance. So a person's inputs S are drawn among the values
that exist together with the person's other inputs, each as often as people have it; there always are the person's own.
How many draws from all people would have existed is the *covered* share.

Nothing is sampled: people who share all inputs outside S form a fibre, and whatever is drawn for one of them is in it,
so sums over the regions of a fibre say all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np

from atr.core.arrays import FloatArray, IntArray

SHAPLEY_UP_TO = 12
"""Inputs for which Shapley values are computed: each more doubles the subsets to look at."""


@dataclass(frozen=True)
class Rules:
    """Announced rules as numbers.

    Parameters
    ----------
    values
        (n, k) for each decision region and input the position of its value, from 0; no two rows alike.
    people
        (n,) people of each region, more than 0.
    chance
        (n,) announced chance of the outcome of interest, in any unit; results are in the same. In whole numbers, such
        as thousandths, sums are exact up to 2**53.
    """

    values: IntArray
    people: FloatArray
    chance: FloatArray

    @property
    def inputs(self) -> int:
        """How many inputs there are."""
        return int(self.values.shape[1])

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """For each input, how many values it has."""
        return tuple((self.values.max(axis=0) + 1).tolist())

    @cached_property
    def total(self) -> float:
        """How many people there are."""
        return float(self.people.sum())

    @cached_property
    def by_chance(self) -> Rules:
        """The same rules, smallest chance first."""
        order = np.argsort(self.chance, kind="stable")
        return Rules(self.values[order], self.people[order], self.chance[order])

    def alike(self, inputs: Sequence[int]) -> IntArray:
        """Number regions so that those alike in these inputs share a number: (n,), below 4 n + 64."""
        label, kinds = np.zeros(len(self.people), dtype=np.int64), 1
        for i in inputs:
            label, kinds = label * self.sizes[i] + self.values[:, i], kinds * self.sizes[i]
            if kinds > 4 * len(label) + 64:
                known, label = np.unique(label, return_inverse=True)
                kinds = len(known)
        return label


@dataclass(frozen=True)
class Influence:
    """What drawing some inputs anew does.

    Parameters
    ----------
    change
        The average of |chance of a person as she is - chance of the person with the inputs drawn|, over people and
        draws. [DSZ] average unary QII, section III: there of the actual outcome of a rule that is all or nothing, whose
        probability to become another one this is; between other chances it is the least such probability.
    rate
        The influence on the rate of everybody: the average chance of people as they are, less that with the inputs
        drawn. [DSZ] group outcomes, section III, of the group of all; ups and downs cancel.
    rates
        For each input of ``by``, (values,) the same of the people with each value.
    covered
        Share of draws from all people that are combinations which exist.
    """

    change: float
    rate: float
    rates: tuple[FloatArray, ...]
    covered: float


def influence(rules: Rules, inputs: Sequence[int], *, by: Sequence[int] = ()) -> Influence:
    """Give the influence of an input, or of several together.

    Parameters
    ----------
    rules
        The announced rules.
    inputs
        Columns of the inputs that are drawn.
    by
        Columns of the inputs that part people into groups.

    Returns
    -------
    Influences in the unit of the chances.

    References
    ----------
    [DSZ] section III.
    """
    others = [i for i in range(rules.inputs) if i not in set(inputs)]
    ordered = rules.by_chance
    change, chance, covered = _drawn(ordered, ordered.alike(list(inputs)), ordered.alike(others))
    rate = overall(ordered) - overall(ordered, chance)
    return Influence(change, rate, tuple(rates(ordered, i) - rates(ordered, i, chance) for i in by), covered)


def overall(rules: Rules, chance: FloatArray | None = None) -> float:
    """Give the average chance of everybody, in the unit of the chances.

    Parameters
    ----------
    rules
        The announced rules.
    chance
        (n,) other chances than the announced ones.
    """
    return float((rules.people * (rules.chance if chance is None else chance)).sum()) / rules.total


def rates(rules: Rules, by: int, chance: FloatArray | None = None) -> FloatArray:
    """Give the average chance of the people with each value of an input.

    Parameters
    ----------
    rules
        The announced rules.
    by
        The column of the input.
    chance
        (n,) other chances than the announced ones.

    Returns
    -------
    (values,) in the unit of the chances; 0 where nobody has the value.
    """
    column, size = rules.values[:, by], rules.sizes[by]
    people = np.bincount(column, rules.people, size)
    return np.bincount(column, rules.people * (rules.chance if chance is None else chance), size) / np.where(
        people > 0, people, 1
    )


def _drawn(rules: Rules, inside: IntArray, fibre: IntArray) -> tuple[float, FloatArray, float]:
    """The average absolute change, (n,) the expected chance of each region, and the covered share.

    Of rules in the order of their chances. A region of a fibre is drawn as often as people have its inputs S.
    """
    order = _sorted(fibre)
    weight = np.bincount(inside, rules.people).astype(np.float64)[inside][order]
    chance, people = rules.chance[order], rules.people[order]
    label = fibre[order]
    first = np.flatnonzero(np.append(True, label[1:] != label[:-1]))
    sizes = np.diff(np.append(first, len(label)))

    def inside_fibre(amount: FloatArray) -> tuple[FloatArray, FloatArray]:
        """(n,) sums up to each region of a fibre, and over the whole fibre."""
        summed = np.cumsum(amount)
        before, whole = (summed - amount)[first], np.add.reduceat(amount, first)
        return summed - np.repeat(before, sizes), np.repeat(whole, sizes)

    below, weights = inside_fibre(weight)
    sum_below, sums = inside_fibre(weight * chance)
    apart = (chance * (2 * below - weights) + sums - 2 * sum_below) / weights
    expected = np.empty_like(chance)
    expected[order] = sums / weights
    return float((people * apart).sum()) / rules.total, expected, float((people * weights).sum()) / rules.total**2


def _sorted(label: IntArray) -> IntArray:
    """(n,) the order by label, those alike as they stand; two passes over 16 bits each are fast for NumPy."""
    low = np.argsort((label & 0xFFFF).astype(np.uint16), kind="stable")
    if int(label.max(initial=0)) < 2**16:
        return low
    return low[np.argsort((label[low] >> 16).astype(np.uint16), kind="stable")]


def of_subsets(rules: Rules, *, by: Sequence[int] = ()) -> FloatArray:
    """Give the influence of every subset of the inputs.

    Parameters
    ----------
    rules
        The announced rules.
    by
        Columns of the inputs that part people into groups.

    Returns
    -------
    (2**k, 2 + values of ``by``): row S has the average absolute change, then the influence on the rate of everybody
    and of every group, for the subset whose inputs are the bits of S that are set; row 0 is 0.

    Raises
    ------
    ValueError
        For more than ``SHAPLEY_UP_TO`` inputs.
    """
    k = rules.inputs
    if k > SHAPLEY_UP_TO:
        raise ValueError(f"{k} inputs have too many subsets; up to {SHAPLEY_UP_TO} can be done")
    worth = np.zeros((2**k, 2 + sum(rules.sizes[i] for i in by)))
    for subset in range(1, 2**k):
        found = influence(rules, [i for i in range(k) if subset >> i & 1], by=by)
        worth[subset] = np.concatenate([[found.change, found.rate], *found.rates])
    return worth


def shapley(worth: FloatArray) -> FloatArray:
    """Give Shapley values: what each input adds to the influence, averaged over all orders of drawing inputs.

    They add up to the influence of all inputs together.

    Parameters
    ----------
    worth
        (2**k, m) m quantities of every subset, as :func:`of_subsets` gives them.

    Returns
    -------
    (k, m) in the units of the quantities.

    References
    ----------
    Shapley, *A Value for n-Person Games*, 1953; of influences: [DSZ] section V.
    """
    k = (len(worth) - 1).bit_length()
    subsets = np.arange(2**k)
    sizes = np.bitwise_count(subsets)
    share = np.array([factorial(s) * factorial(k - s - 1) / factorial(k) for s in range(k)])
    result = np.zeros((k, worth.shape[1]))
    for i in range(k):
        without = subsets[(subsets >> i & 1) == 0]
        result[i] = share[sizes[without]] @ (worth[without | 1 << i] - worth[without])
    return result


def partial_dependence(rules: Rules, of: int) -> tuple[FloatArray, FloatArray]:
    """Give the average chance if everybody had one value of an input (partial dependence).

    People whose other inputs were not announced with the value are left out of its average.

    Parameters
    ----------
    rules
        The announced rules.
    of
        The column of the input.

    Returns
    -------
    (values,) the average chance for each value of the input, nan where nobody has it, and (values,) the share of
    people it is of.

    References
    ----------
    Friedman, *Greedy Function Approximation*, Annals of Statistics 29 (2001), section 8.2.
    """
    fibre = rules.alike([i for i in range(rules.inputs) if i != of])
    return _average(rules, of, rules.chance, np.bincount(fibre, rules.people)[fibre])


def against(rules: Rules, of: int, base: int) -> tuple[FloatArray, FloatArray]:
    """Give the difference in partial dependence between each value of an input and one other, for the same people.

    Averages of :func:`partial_dependence` can be of different people, and differ for that reason alone. Here both are
    of the people whose other inputs were announced with either value.

    Parameters
    ----------
    rules
        The announced rules.
    of
        The column of the input.
    base
        The value that the others are compared with.

    Returns
    -------
    (values,) the average of the chance with the value less that with ``base``, nan where no people are shared, and
    (values,) the share of people it is of.
    """
    fibre, column = rules.alike([i for i in range(rules.inputs) if i != of]), rules.values[:, of]
    known = np.full(int(fibre.max()) + 1, np.nan)
    known[fibre[column == base]] = rules.chance[column == base]
    apart = rules.chance - known[fibre]
    people = np.where(np.isnan(apart), 0.0, np.bincount(fibre, rules.people)[fibre])
    return _average(rules, of, np.nan_to_num(apart), people)


def _average(rules: Rules, of: int, chance: FloatArray, people: IntArray | FloatArray) -> tuple[FloatArray, FloatArray]:
    """(values,) the average of (n,) chances by the value of an input, over (n,) people, and the share of all people."""
    column, size = rules.values[:, of], rules.sizes[of]
    covered = np.bincount(column, people, size)
    with np.errstate(invalid="ignore"):
        return np.bincount(column, people * chance, size) / covered, covered / rules.total
