"""What a measure of group fairness is: how far two groups of people are apart, and when that is too far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from atr.core.tolerances import SAME_FIGURE

Range = tuple[float, float]
"""Smallest and largest possible true value; an end that nothing bounds is infinite."""
Figure = tuple[float, Range]
"""A value as announced (nan where there is none), and the range of the true one."""
Verdict = Literal["met", "not_met", "cannot_tell"]


@dataclass(frozen=True)
class Rate:
    """How often some people have an event: ``value`` as announced, and the range of the true rate.

    ``people`` are rounded as they are printed.
    """

    people: int
    value: float
    range: Range


class Lines(Protocol):
    """The lines of a policy that measures are held to."""

    @property
    def four_fifths(self) -> float:
        """The smallest ratio that is allowed; its inverse is the largest."""

    @property
    def parity_tolerance(self) -> float:
        """The largest distance that is allowed."""


@dataclass(frozen=True)
class Measure:
    """A measure of group fairness; :data:`atr.measures.MEASURES` lists all there are.

    Parameters
    ----------
    name
        What it is called in a report.
    scale
        Whether its values are ratios (1: alike; none, or unbounded, over a rate of 0) or differences (0: alike).
    by_outcome
        Whether it is taken of each outcome on its own, with a line for the positive one alone; else of all together.
    conditional
        Whether groups are compared within each class of people who are alike in the legitimate attributes.
    line
        Gives the line of a policy that its values are held to.
    figure
        Compares a group with its base, by their rates of the same events: of one outcome, or of every event that tells
        two distributions apart. It gives a ratio, or a difference in probability, as announced, and the range of the
        true one.
    verdict
        Judges a range by a line: ``cannot_tell`` if the line is inside; None without a line.
    """

    name: str
    scale: Literal["ratio", "difference"]
    by_outcome: bool
    conditional: bool
    line: Callable[[Lines], float]
    figure: Callable[[Sequence[Rate], Sequence[Rate]], Figure]
    verdict: Callable[[Range, float | None], Verdict | None]


def at_most(inside: Range, line: float | None) -> Verdict | None:
    """Judge a range by the largest value that is allowed.

    Parameters
    ----------
    inside
        Smallest and largest possible true value.
    line
        The largest value that is allowed; None: there is no line.

    Returns
    -------
    ``cannot_tell`` if the line lies inside the range; None without a line.

    Examples
    --------
    >>> at_most((0.0, 0.05), 0.05), at_most((0.04, 0.06), 0.05), at_most((0.06, 0.1), 0.05)
    ('met', 'cannot_tell', 'not_met')
    """
    if line is None:
        return None
    low, high = inside
    if high <= line + SAME_FIGURE:
        return "met"
    return "not_met" if low > line + SAME_FIGURE else "cannot_tell"
