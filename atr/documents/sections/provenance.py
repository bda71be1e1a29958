"""Provenance: policy and software, and the choices behind the fairness figures, which an auditor asks for first."""

from __future__ import annotations

from typing import Any

from atr.documents.comparisons import rule
from atr.documents.sections import individual
from atr.documents.text import origins, phrases, wording
from atr.documents.text.origins import BY_PUBLISHER, DEFAULT_KEPT, chosen_by
from atr.documents.text.sampling import level
from atr.documents.text.wording import number, raised
from atr.programme import FairnessPolicy, IndividualPolicy, Log, Policy
from atr.report import model
from atr.report.model import PublicReport

_BY_RULE = {
    "named": BY_PUBLISHER,
    "highest": "by rule: the highest rate of the favourable outcome",
    "largest": "by rule: the largest group",
}

Choice = tuple[str, str, str]
"""The name of a choice, its setting, and who chose it or the rule that did."""


def context(report: PublicReport) -> dict[str, Any]:
    """The variables of the template."""
    binding = next((phrases.group_name(g, report) for g in report.groups if g.id == report.privacy.binding_group), "")
    return {"choices": choices(report), "binding_group": binding}


def choices(report: PublicReport) -> list[Choice]:
    """The choices that the fairness figures depend on: groups, lines, sampling, and the declared distance.

    Returns
    -------
    For each its name, its setting, and who chose it or the rule that did.
    """
    sampled, alike = report.policy.sampling, report.policy.individual
    return [
        *(_groups(report) if report.compared else ()),
        *(_sampling(sampled, level(report)) if sampled else ()),
        *(_individual(report, alike) if alike else ()),
    ]


def _groups(report: PublicReport) -> list[Choice]:
    policy, compared = report.policy, report.compared
    fewest = policy.minimum_group_size
    legitimate = "; ".join(raised(a.title) for a in report.attributes if a.legitimate)
    ratios = f"{number(policy.four_fifths)} to {wording.inverse(policy.four_fifths)}"
    return [
        ("Compared by", "; ".join(raised(phrases.titles(report, by.attributes)) for by in compared), BY_PUBLISHER),
        *(
            (f"Reference by {phrases.titles(report, by.attributes)}", by.reference, _BY_RULE[by.chosen or "named"])
            for by in compared
            if by.reference
        ),
        ("What may count", legitimate or "nothing is declared", BY_PUBLISHER),
        (f"Line of ratios ({wording.rule_name(rule(report))})", ratios, origins.of_four_fifths(policy)),
        ("Line of parity", f"at most {number(policy.parity_tolerance)}", origins.of_parity_tolerance(policy)),
        (
            "Fewest people for a verdict",
            wording.count(fewest, "person", "people"),
            chosen_by(Policy, "minimum_group_size", fewest),
        ),
    ]


def _sampling(info: model.SamplingInfo, level: str) -> list[Choice]:
    whole = "all decisions there are to tell of" if info.coverage == "whole" else "a sample of more such decisions"
    taken = ("The decisions are taken for", whole, chosen_by(Log, "coverage", info.coverage))
    if info.alpha is None:
        return [taken]
    alpha = f"{level} (alpha {number(info.alpha)})"
    return [taken, ("Level of intervals and tests", alpha, chosen_by(FairnessPolicy, "alpha", info.alpha))]


def _individual(report: PublicReport, policy: model.IndividualPolicy) -> list[Choice]:
    names = "; ".join(raised(individual.NAMES[measure]) for measure in policy.measures)
    distances = ((a, policy.distances[a.name]) for a in report.attributes)
    return [
        ("Like people alike: distance of outcomes", names, chosen_by(IndividualPolicy, "measures", policy.measures)),
        *(
            (
                f"Distance in {a.title}",
                f"{individual.KINDS[of.kind]}, weight {number(of.weight)}",
                DEFAULT_KEPT if (of.kind, of.weight) == ("nominal", 0 if a.protected else 1) else BY_PUBLISHER,
            )
            for a, of in distances
        ),
        (
            "Tolerance",
            f"at most {number(policy.tolerance)} beyond the distance",
            chosen_by(IndividualPolicy, "tolerance", policy.tolerance),
        ),
    ]
