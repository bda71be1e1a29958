"""Provenance: policy and software, and the choices behind the fairness figures, which an auditor asks for first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from atr.documents.comparisons import rule
from atr.documents.sections import individual
from atr.documents.sections.rules import name_of
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
from atr.report.wording import number, raised

_BY_RULE = {
    "named": BY_PUBLISHER,
    "highest": "by rule: the highest rate of the favourable outcome",
    "largest": "by rule: the largest group",
}

Choice = tuple[str, str, str]
"""What was chosen, the setting, and by whom or after which rule."""


def context(report: PublicReport) -> dict[str, Any]:
    """What the section prints."""
    public = [a for a in report.attributes if a.role == "public"]
    return {
        "choices": choices(report),
        "binding_group": next((name_of(g, public) for g in report.groups if g.id == report.privacy.binding_group), ""),
        "titles": {a.name: raised(a.title) for a in report.attributes},
        "own_ceilings": [
            (wording.under(report, name, of_set), ceiling)
            for a in report.attributes
            for name, of_set, ceiling in a.own_ceilings
        ],
        "under": wording.under,
    }


def choices(report: PublicReport) -> list[Choice]:
    """Who is compared, what may count, lines, sampling and the declared distance, as far as figures rest on them."""
    return [*_groups(report), *_sampling(report), *_individual(report)]


def _groups(report: PublicReport) -> Iterator[Choice]:
    policy = report.policy
    if not report.compared:
        return
    yield "Compared by", "; ".join(raised(by.title) for by in report.compared), BY_PUBLISHER
    for by in report.compared:
        if by.reference is not None:
            yield f"Reference by {by.title}", by.reference, _BY_RULE[by.chosen or "named"]
    legitimate = [raised(a.title) for a in report.attributes if a.legitimate]
    yield "What may count", "; ".join(legitimate) or "nothing is declared", BY_PUBLISHER
    allowed = f"{number(policy.four_fifths)} to {wording.inverse(policy.four_fifths)}"
    yield f"Line of ratios ({wording.rule_name(rule(report))})", allowed, policy.four_fifths_origin
    yield "Line of parity", f"at most {number(policy.parity_tolerance)}", policy.parity_tolerance_origin
    fewest = policy.minimum_group_size
    people = wording.count(fewest, "person", "people")
    yield "Fewest people for a verdict", people, chosen_by(Policy, "minimum_group_size", fewest)


def _sampling(report: PublicReport) -> Iterator[Choice]:
    info = report.policy.sampling
    if info is None:
        return
    whole = "all decisions there are to tell of" if info.coverage == "whole" else "a sample of more such decisions"
    yield "The decisions are taken for", whole, chosen_by(Log, "coverage", info.coverage)
    if info.alpha is not None:
        setting = f"{level(report)} (alpha {number(info.alpha)})"
        yield "Level of intervals and tests", setting, chosen_by(FairnessPolicy, "alpha", info.alpha)


def _individual(report: PublicReport) -> Iterator[Choice]:
    policy = report.policy.individual
    if policy is None:
        return
    names = "; ".join(raised(individual.NAMES[measure]) for measure in policy.measures)
    yield "Like people alike: distance of outcomes", names, chosen_by(IndividualPolicy, "measures", policy.measures)
    for a in report.attributes:
        of = policy.distances[a.name]
        setting = f"{individual.KINDS[of.kind]}, weight {number(of.weight)}"
        default = AttributeDistance().kind == of.kind and of.weight == (0 if a.protected else 1)
        yield f"Distance in {a.title}", setting, DEFAULT_KEPT if default else BY_PUBLISHER
    tolerance = f"at most {number(policy.tolerance)} beyond the distance"
    yield "Tolerance", tolerance, chosen_by(IndividualPolicy, "tolerance", policy.tolerance)
