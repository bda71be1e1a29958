"""Numbers of people as a report prints them: rounded, and adding up."""

from __future__ import annotations

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import BoolArray, IntArray
from atr.core.publication import open_total, rounded_total
from atr.report import model


def is_rounded(people: model.Population, rounding: int) -> bool:
    """Tell whether people are a multiple above 0, or "under" it."""
    if isinstance(people, model.Below):
        return people.below == rounding > 1
    return people >= rounding and people % rounding == 0


def adds_up(group: model.Group, report: model.PublicReport) -> bool:
    """Tell whether regions add up to their group, each "under" a number of people standing for none up to it."""
    rounding, total = report.policy.population_rounding, group.population or 0
    told = [region.population for region in group.regions if isinstance(region.population, int)]
    few = len(group.regions) - len(told)
    if not group.regions:
        return is_rounded(total, rounding)
    return is_rounded(total, rounding) and sum(told) <= total <= max(sum(told) + few * rounding, rounding)


def open_sum(members: BoolArray, least: IntArray, most: IntArray, shown: Announcement) -> tuple[int, int]:
    """Give the smallest and largest number of people in some regions.

    Parameters
    ----------
    members
        (n,) which regions.
    least, most
        (n,) smallest and largest numbers of people of each; where these are the same, so are their sums.
    shown
        The printed numbers, of groups too.
    """
    whole = np.logical_and.reduceat(members, shown.offsets[:-1])
    if (least == most).all() or not whole.any():
        return int(least[members].sum()), int(most[members].sum())
    groups = np.array([open_total(total, shown.rounding) for total in shown.group_people[whole].tolist()])
    parts = members & ~np.repeat(whole, np.diff(shown.offsets))
    return int(groups[:, 0].sum() + least[parts].sum()), int(groups[:, 1].sum() + most[parts].sum())


def printed_sum(people: tuple[int, int], *, rounding: int) -> tuple[int, int]:
    """Give the smallest and largest number that is printed for people between two numbers."""
    least, most = rounded_total(np.array(people), rounding=rounding).tolist()
    return least, most
