"""What is announced of a group: the cell of the public partition that holds its rule."""

from __future__ import annotations

from dataclasses import dataclass

from atr.core.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False, slots=True)
class Cell:
    """Limits of the chances of a group's regions, and what readers make of them. Public, but for being a group's own.

    Attributes
    ----------
    lower, upper
        (m,) limits of the chance of the positive outcome, in steps of the grid; 0 and ``steps`` where nothing is told.
    expected
        (m,) people with the positive outcome that a reader of the uniform model expects.
    confidence
        The largest over all readers.
    by_reader
        The largest of each reader: uniform, extreme, alike, and earlier where a reader of earlier reports has a rule
        left.
    of_sets
        (sets,) the largest of each protected set over all readers.
    rules
        How many rules are left.
    steps
        Of the grid, from chance 0 to 1.
    stopped_by_earlier
        A reader of earlier reports is above the ceiling by numbers of people and rates alone: nothing was cut.
    """

    lower: IntArray
    upper: IntArray
    expected: FloatArray
    confidence: float
    by_reader: dict[str, float]
    of_sets: FloatArray
    rules: float
    steps: int
    stopped_by_earlier: bool = False

    @property
    def told(self) -> bool:
        """Whether any chance has limits."""
        return bool((self.lower > 0).any() or (self.upper < self.steps).any())
