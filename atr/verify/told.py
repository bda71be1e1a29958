"""What is told of a group of people: their number, and by status and mechanism chances, limits, or a rate only."""

from __future__ import annotations

import math
from collections.abc import Iterator

from atr.core.publication import CHANCE_DIGITS
from atr.core.tolerances import GRID_TOLERANCE
from atr.mechanisms.calibrated.digits import FEWEST
from atr.report import model
from atr.report.rounding import nearest
from atr.verify.finding import Finding, failed

GRIDS = range(2, 101)
"""Steps that a grid of limits can have."""


def is_rounded(people: model.Population, report: model.PublicReport) -> bool:
    """Tell whether people are a multiple above 0 of what they are rounded to, or "under" it."""
    rounding = report.policy.population_rounding
    if isinstance(people, model.Below):
        return people.below == rounding > 1
    return people >= rounding and people % rounding == 0


def adds_up(group: model.Group, report: model.PublicReport) -> bool:
    """Tell whether regions add up to their group, each "under" a number of people standing for none up to it."""
    rounding, total = report.policy.population_rounding, group.population or 0
    told = [region.population for region in group.regions if isinstance(region.population, int)]
    few = len(group.regions) - len(told)
    together = not group.regions or sum(told) <= total <= max(sum(told) + few * rounding, rounding)
    return is_rounded(total, report) and together


def policy(report: model.PublicReport) -> Iterator[Finding]:
    """Find what a policy states that its mechanism does not have, or fails to state."""
    stated, told = report.policy, report.fidelity.kind == "limits"
    ours, others = (stated.step, stated.least), (stated.objective, stated.fidelity, stated.whole_numbers)
    steps = 1 / stated.step if stated.step else 0.0
    return failed(
        (told == (stated.mechanism == "calibrated"), "fidelity.kind", "is not what the mechanism promises"),
        (all((x is not None) == told for x in ours), "policy", "has a grid of limits, or none, against its mechanism"),
        (all((x is None) == told for x in others), "policy", "has a promise, or none, against its mechanism"),
        (not told or stated.group_rates == "exact", "policy.group_rates", "are always exact with limits"),
        (not told or any(abs(steps - whole) <= GRID_TOLERANCE for whole in GRIDS), "policy.step", "divides no grid"),
        (not told or (stated.least or 0) >= 1, "policy.least", "leaves nobody in doubt"),
        (report.fidelity.step == stated.step, "fidelity.step", "is not that of the policy"),
        (not told or report.fidelity.level is None, "fidelity.level", "is stated, but limits are told"),
    )


def group(of: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    """Find where what is told of a group does not fit its status.

    Parameters
    ----------
    of
        A group whose numbers are printed.
    report
        The report.
    """
    told_apart, chances = report.fidelity.kind == "limits", [region.announced for region in of.regions]
    made = of.status in ("rest", "coarsened")  # of several groups of the log
    yield from failed(
        ((of.joined is not None) == made, f"{of.id}.joined", "is there, or missing, against its status"),
        (of.joined is None or of.joined >= 2, f"{of.id}.joined", "are not two groups or more"),
    )
    own = {
        a.name: a.values for a in report.attributes if a.protected and a.role == "public" and a.name not in of.public
    }
    fit = all(len(met) > 1 and tuple(v for v in own.get(name, ()) if v in met) == met for name, met in of.mixed.items())
    what = "are not values of the protected attributes that it does not share"
    yield from failed((fit and of.mixed.keys() == own.keys(), f"{of.id}.mixed", what))
    none = all(told is None for told in chances)
    allowed = [None] if none else range(FEWEST, CHANCE_DIGITS + 1) if told_apart else [report.policy.digits]
    if of.digits not in allowed:
        yield Finding(f"{of.id}.digits", "is not how its chances are printed")
        return
    told = [x for region in of.regions for x in (region.announced or {}).values()]
    shorter = of.digits is not None and all(nearest(x, of.digits - 1) == x for x in told)
    fewest = not told_apart or len(report.outcomes) > 2 or of.digits in (None, FEWEST) or not shorter
    yield from failed((fewest, f"{of.id}.digits", "are more than its chances need"))
    if told_apart and of.regions:
        yield from failed((any(region.limits for region in of.regions), of.id, "tells no limits, but shows regions"))
        for region in of.regions:
            yield from _limits(region, of, report)


def _limits(region: model.Region, of: model.Group, report: model.PublicReport) -> Iterator[Finding]:
    """Check limits: on the grid, of every outcome, of two outcomes the mirror of each other."""
    where, outcomes = f"{of.id}, {', '.join(region.sensitive.values())}.limits", report.outcomes
    if region.limits is None:
        return
    steps = min(round(1 / max(report.policy.step or 1, 1 / GRIDS[-1])), GRIDS[-1])
    ends = {name: [end * steps for end in limits] for name, limits in region.limits.items()}
    on_grid = all(
        limit == nearest(round(end) / steps, CHANCE_DIGITS)
        for name, limits in region.limits.items()
        for limit, end in zip(limits, ends[name], strict=True)
    )
    if set(ends) != set(outcomes) or not on_grid:
        yield Finding(where, "are not of every outcome, on the grid of the policy")
        return
    low, high = ({name: round(end[i]) for name, end in ends.items()} for i in (0, 1))
    positive, rest = report.positive, [name for name in outcomes if name != report.positive]
    mirrored = len(outcomes) > 2 or all(
        (low[o], high[o]) == (steps - high[positive], steps - low[positive]) for o in rest
    )
    yield from failed(
        (all(low[outcome] < high[outcome] for outcome in outcomes), where, "leave no chance between them"),
        (any((low[o], high[o]) != (0, steps) for o in outcomes), where, "tell nothing, and are not null"),
        (mirrored, where, "are not the mirror of each other"),
        (sum(low.values()) <= steps <= sum(high.values()), where, "hold no chances that add up to 1"),
    )
    unit = 10 ** (of.digits or 0)
    for outcome, chance in (region.announced or {}).items():
        least, most = math.floor(low[outcome] / steps * unit + GRID_TOLERANCE), high[outcome] / steps * unit
        if not least <= round(chance * unit) <= math.ceil(most - GRID_TOLERANCE):
            yield Finding(where, f"the announced chance of {outcome} lies outside its limits")
