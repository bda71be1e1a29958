"""The choices behind the fairness figures, and whose they are: what an auditor asks first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from atr.documents import fairness as parity
from atr.documents import individual
from atr.programme import (
    BY_PUBLISHER,
    DEFAULT_KEPT,
    AttributeDistance,
    FairnessPolicy,
    IndividualPolicy,
    Log,
    Policy,
    chosen_by,
)
from atr.report import wording
from atr.report.model import PublicReport
from atr.report.sampling import level

_BY_RULE = {
    "named": BY_PUBLISHER,
    "highest": "by rule: the highest rate of the favourable outcome",
    "largest": "by rule: the largest group",
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen, and by whom or after which rule."""

    what: str
    setting: str
    origin: str


def choices(report: PublicReport) -> tuple[Choice, ...]:
    """Who is compared, what may count, lines, sampling and the declared distance, as far as figures rest on them."""
    return (*_groups(report), *_sampling(report), *_individual(report))


def _groups(report: PublicReport) -> Iterator[Choice]:
    policy = report.policy
    if not report.compared:
        return
    yield Choice("Compared by", "; ".join(wording.raised(by.title) for by in report.compared), BY_PUBLISHER)
    for by in report.compared:
        if by.reference is not None:
            yield Choice(f"Reference by {by.title}", by.reference, _BY_RULE[by.chosen or "named"])
    legitimate = [wording.raised(a.title) for a in report.attributes if a.legitimate]
    yield Choice("What may count", "; ".join(legitimate) or "nothing is declared", BY_PUBLISHER)
    line = policy.four_fifths
    allowed = f"{wording.number(line)} to {wording.inverse(line)}"
    yield Choice(f"Line of ratios ({wording.rule_name(parity.rule(report))})", allowed, policy.four_fifths_origin)
    yield Choice("Line of parity", f"at most {wording.number(policy.parity_tolerance)}", policy.parity_tolerance_origin)
    fewest = wording.count(policy.minimum_group_size, "person", "people")
    yield Choice(
        "Fewest people for a verdict", fewest, chosen_by(Policy, "minimum_group_size", policy.minimum_group_size)
    )


def _sampling(report: PublicReport) -> Iterator[Choice]:
    info = report.policy.sampling
    if info is None:
        return
    whole = "all decisions there are to tell of" if info.coverage == "whole" else "a sample of more such decisions"
    yield Choice("The decisions are taken for", whole, chosen_by(Log, "coverage", info.coverage))
    if info.alpha is not None:
        yield Choice(
            "Level of intervals and tests",
            f"{level(report)} (alpha {wording.number(info.alpha)})",
            chosen_by(FairnessPolicy, "alpha", info.alpha),
        )


def _individual(report: PublicReport) -> Iterator[Choice]:
    policy = report.policy.individual
    if policy is None:
        return
    names = "; ".join(wording.raised(individual.NAMES[measure]) for measure in policy.measures)
    yield Choice(
        "Like people alike: distance of outcomes", names, chosen_by(IndividualPolicy, "measures", policy.measures)
    )
    for a in report.attributes:
        of = policy.distances[a.name]
        setting = f"{individual.KINDS[of.kind]}, weight {wording.number(of.weight)}"
        default = AttributeDistance().kind == of.kind and of.weight == (0 if a.protected else 1)
        yield Choice(f"Distance in {a.title}", setting, DEFAULT_KEPT if default else BY_PUBLISHER)
    yield Choice(
        "Tolerance",
        f"at most {wording.number(policy.tolerance)} beyond the distance",
        chosen_by(IndividualPolicy, "tolerance", policy.tolerance),
    )
