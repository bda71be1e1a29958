"""Two groups compared among everybody, and among people who are otherwise alike."""

from __future__ import annotations

from typing import Literal

from atr.report.model.base import Difference, Frozen, People, Sparse

AlikeFinding = Literal["higher", "lower", "none", "could_be_chance", "cannot_be_told", "different_times"]
"""What can be told of a difference: that the group has the outcome more or less often than the reference, or that there
is no difference; else why nothing can."""


class AlikeDifference(Frozen):
    """The rate of the positive outcome in a group less that in the reference, among people alike in some attributes.

    A class of people with the same values of ``alike_in`` counts as often as it has people of the group with fewer;
    ``people`` are those of the group and of the reference in classes that have some of both. ``range`` is of the true
    difference, ``interval`` that range with what chance can add at each end, there only where the log is a sample and
    the numbers are of one time. ``cannot_be_told`` where the range has differences of both signs, ``could_be_chance``
    where only the interval has, or its end is 0.
    """

    alike_in: tuple[str, ...]
    people: tuple[People, People]
    difference: Difference
    range: tuple[Difference, Difference]
    interval: Sparse[tuple[Difference, Difference] | None] = None
    finding: AlikeFinding


class AlikeClass(Frozen):
    """The same differences among the people with the same other public values, which are ``condition``."""

    condition: dict[str, str]
    public: AlikeDifference
    situation: Sparse[AlikeDifference | None] = None


class Alike(Frozen):
    """How much of the gap between a group and its reference remains among people who are otherwise alike.

    ``groups`` are the group and the reference by ``attribute``, or by the ``attributes`` of an intersection. Of
    ``everybody``; of people with the same other ``public`` attributes; and of people in the same ``situation``: with
    the same sensitive ones as well. Left out where nobody is known to be alike, ``public`` too where there is no other
    public attribute. ``classes`` are those of people with the same other public attributes, in the order of the report.
    """

    attribute: str
    attributes: Sparse[tuple[str, ...]] = ()
    groups: tuple[str, str]
    everybody: AlikeDifference
    public: Sparse[AlikeDifference | None] = None
    situation: Sparse[AlikeDifference | None] = None
    classes: Sparse[tuple[AlikeClass, ...]] = ()
