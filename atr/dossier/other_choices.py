"""What other choices of step and ceiling would tell: for how many comparisons a verdict. Private."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from atr.core.announcement import Announcement
from atr.core.arrays import usable_cores
from atr.core.regions import Regions
from atr.core.tolerances import GRID_TOLERANCE
from atr.dossier.finer_groups import Counted
from atr.mechanisms import mechanism_of
from atr.programme import Programme, variants
from atr.report.build import measure
from atr.report.comparisons import ComparisonFormatter
from atr.warehouse import coarsening
from atr.warehouse.counting import regions_of_rows
from atr.warehouse.shares import Shares

MOST_GROUPS = 100
"""A choice that announces more groups is not tried: all of them together would take longer than the run."""
_SMALLEST_STEP, _LARGEST_STEP = 0.01, 0.5

Remember = Callable[[Regions], Regions]


@dataclass(frozen=True, slots=True)
class OtherChoice:
    """What a choice tells.

    Parameters
    ----------
    name
        The key of the policy and its value; empty for what is drafted.
    announced
        The share of people who are announced with their own group, in words.
    with_limits, rates_only
        Groups of which limits are told, and those that show their rate only.
    verdicts, lines
        Comparisons of groups for which a verdict is told, and those that have a line.
    """

    name: str
    announced: str
    with_limits: int
    rates_only: int
    verdicts: int
    lines: int


def other_choices(
    programme: Programme, regions: Regions, announcement: Announcement, counted: Counted, remember: Remember
) -> tuple[OtherChoice, ...]:
    """Announce a period at steps and ceilings near those of the policy.

    Parameters
    ----------
    programme
        The series.
    regions, announcement
        Of the period, with the status of every group; and what is announced.
    counted
        The outcomes of every region of the log, before groups joined.
    remember
        Adds to decision regions what was told of them before.

    Returns
    -------
    What is drafted, then one entry for each choice; none where the mechanism has no step, or nothing else was tried.
    """
    step = mechanism_of(programme.policy).terms(programme.policy).step
    if step is None:
        return ()
    tried: list[tuple[str, Programme, Regions]] = []
    for near in _near(step, outcomes=len(regions.outcomes)):
        tried.append((f"step {near:g}", variants.with_policy(programme, step=near), regions))
    for ceiling in variants.nearby_ceilings(programme):
        changed = variants.with_ceiling(programme, ceiling)
        values, counts = zip(*counted, strict=True)
        again = regions_of_rows(values, np.array(counts), programme=changed, outcomes=regions.outcomes)
        tried.append((f"max_confidence {ceiling:g}", changed, remember(coarsening.reported(again, changed))))
    tried = [choice for choice in tried if len(choice[2].announced) <= MOST_GROUPS]

    def told(choice: tuple[str, Programme, Regions]) -> OtherChoice:
        name, changed, again = choice
        policy, mechanism, chosen = changed.policy, mechanism_of(changed.policy), again.take(again.announced)
        announced = mechanism.announce(chosen, mechanism.solve(chosen, policy), policy)
        return _told(name, changed, again, Announcement.of(again, announced, policy))

    with ThreadPoolExecutor(usable_cores()) as pool:
        others = [*pool.map(told, tried)]
    return (_told("", programme, regions, announcement), *others) if others else ()


def _near(step: float, *, outcomes: int) -> list[float]:
    """Twice the step, and half of it too for two outcomes, where it costs little; as far as a policy may have these."""
    near = (value for value in (step / 2, 2 * step)[outcomes > 2 :] if _SMALLEST_STEP <= value <= _LARGEST_STEP)
    return [value for value in near if abs(1 / value - round(1 / value)) < GRID_TOLERANCE]


def _told(name: str, programme: Programme, regions: Regions, announcement: Announcement) -> OtherChoice:
    entries = ComparisonFormatter(programme.policy).entries(measure(announcement, programme))
    verdicts = [entry.verdict for entry in entries if entry.verdict is not None]
    return OtherChoice(
        name=name,
        announced=Shares.of(regions).percent(),
        with_limits=int(announcement.ruled.sum()),
        rates_only=int((~announcement.ruled).sum()),
        verdicts=sum(verdict != "cannot_tell" for verdict in verdicts),
        lines=len(verdicts),
    )
