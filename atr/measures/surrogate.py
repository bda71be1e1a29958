"""A small decision tree that stands for many announced rules, as an aid for readers.

A regression tree (Breiman, Friedman, Olshen and Stone, *Classification and Regression Trees*, 1984) fitted to the
announced chances, each weighing as many people as it is of. The values of an input are put in the order of their
average chance first: the best parting of them in two is then a cut in that order (Fisher, *On Grouping for Maximum
Homogeneity*, JASA 53 (1958)), which holds for the first question and is a good guide for the later ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from atr.core.arrays import BoolArray, FloatArray
from atr.measures.influence import Rules, rates

DEPTH = 3
"""Questions asked of a person at most."""
LEAST_GAIN = 0.005
"""Of the variance of the chances a question must explain."""
LEAST_PEOPLE = 0.01
"""Of the people a leaf must hold."""


@dataclass(frozen=True)
class Tree:
    """A leaf, or a question with two trees below it.

    Parameters
    ----------
    of
        The column of the input that is asked for; None in a leaf.
    values
        The values of it, by position, that lead to ``yes``: of the two sides the one with fewer values.
    yes, no
        Where people go who have one of the values, and the others.
    """

    of: int | None = None
    values: tuple[int, ...] = ()
    yes: Tree | None = None
    no: Tree | None = None


@dataclass(frozen=True)
class Agreement:
    """How near the chances of a tree are to the announced ones.

    Parameters
    ----------
    mean
        Average absolute difference over people.
    largest
        The largest absolute difference.
    explained
        R² weighted by people: the share of the variance of the announced chances that the tree's explain. None where
        the announced chances are all the same.
    """

    mean: float
    largest: float
    explained: float | None


def fit(rules: Rules) -> Tree:
    """Fit the tree to announced rules; the same rules give the same tree.

    Parameters
    ----------
    rules
        The announced rules.

    Returns
    -------
    At most ``DEPTH`` questions deep; a single leaf where all chances are the same.
    """
    spread = variance(rules)
    if spread <= 0:
        return Tree()
    from sklearn.tree import DecisionTreeRegressor

    ranks = _ranks(rules)
    tree = DecisionTreeRegressor(
        max_depth=DEPTH,
        min_weight_fraction_leaf=LEAST_PEOPLE,
        min_impurity_decrease=LEAST_GAIN * spread,
        random_state=0,
    ).fit(ranks, rules.chance, sample_weight=rules.people)
    found = tree.tree_

    def below(node: int, inside: BoolArray) -> Tree:
        column = int(found.feature[node])
        if found.children_left[node] < 0:
            return Tree()
        left = inside & (ranks[:, column] <= found.threshold[node])
        sides = ((left, int(found.children_left[node])), (inside & ~left, int(found.children_right[node])))
        named = [(tuple(np.unique(rules.values[side, column]).tolist()), child, side) for side, child in sides]
        (values, *yes), (_, *no) = sorted(named, key=lambda of: (len(of[0]), of[0]))
        return Tree(column, values, below(*yes), below(*no))

    return below(0, np.ones(len(rules.people), dtype=bool))


def _ranks(rules: Rules) -> FloatArray:
    """(n, k) for each region and input the place of its value in the order of average chances, ties as they stand."""
    places = [np.argsort(np.argsort(rates(rules, i), kind="stable"), kind="stable") for i in range(rules.inputs)]
    return np.column_stack([place[rules.values[:, i]] for i, place in enumerate(places)]).astype(np.float64)


def agreement(rules: Rules, chance: FloatArray) -> Agreement:
    """Compare other chances with the announced ones.

    Parameters
    ----------
    rules
        The announced rules.
    chance
        (n,) the other chances, in the same unit.
    """
    apart = np.abs(rules.chance - chance)
    spread = variance(rules)
    left = float((rules.people * apart**2).sum()) / rules.total
    return Agreement(
        mean=float((rules.people * apart).sum()) / rules.total,
        largest=float(apart.max()),
        explained=1 - left / spread if spread > 0 else None,
    )


def variance(rules: Rules) -> float:
    """Give the variance of the announced chances over people; exactly 0 where they are all the same."""
    if (rules.chance == rules.chance[0]).all():
        return 0.0
    mean = float((rules.people * rules.chance).sum()) / rules.total
    return float((rules.people * (rules.chance - mean) ** 2).sum()) / rules.total
