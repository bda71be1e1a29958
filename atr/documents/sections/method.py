"""The method: how the rules were made and measured, the notes on the figures, and the references."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atr.documents.sections import like_people, trust
from atr.documents.text import promise
from atr.documents.text.language import later
from atr.documents.text.words import Words
from atr.measures.sampling import EXPECTED, FEW
from atr.mechanisms.calibrated.group import EXACT_PEOPLE
from atr.programme import OWN_POPULATION
from atr.report.model import PublicReport
from atr.report.sampling import alpha_of, is_of_two_groups, tests

TITLE = later("Method")

_REFERENCES = {
    "CGP": (
        "Chien-Lun Chen, Leana Golubchik, Ranjan Pal",
        "Achieving Transparency Report Privacy in Linear Time",
        "arXiv 2104.00137",
    ),
    "DSZ": (
        "Anupam Datta, Shayak Sen, Yair Zick",
        "Algorithmic Transparency via Quantitative Input Influence",
        "IEEE Symposium on Security and Privacy, 2016",
    ),
    "S": ("Lloyd S. Shapley", "A Value for n-Person Games", "Contributions to the Theory of Games II, 1953"),
    "F": (
        "Jerome H. Friedman",
        "Greedy Function Approximation: A Gradient Boosting Machine",
        "Annals of Statistics 29, 2001",
    ),
    "BFOS": (
        "Leo Breiman, Jerome H. Friedman, Richard A. Olshen, Charles J. Stone",
        "Classification and Regression Trees",
        "1984",
    ),
}


def context(words: Words) -> Mapping[str, Any] | None:
    """The variables of the template; None where nothing is announced."""
    report = words.report
    if not report.announced_groups:
        return None
    readers = report.privacy.readers
    return {
        "notes": [note.id for note in report.notes if note.id not in trust.NOTES],
        "readers": {name: words.language.percent(sure) for name, sure in readers.items()},
        "steps": None if report.policy.step is None else words.language.number(round(1 / report.policy.step)),
        "exact_people": words.language.number(EXACT_PEOPLE),
        "tests": _tests(report),
        "expected": EXPECTED,
        "few": words.language.number(FEW),
        "own_population": report.policy.side_information == OWN_POPULATION,
        "ceilings": promise.ceilings(words),
        "coarse_values": words.language.named([value for a in report.attributes for value in a.coarse]),
        "tree": like_people.in_short(report) is not None,
        "references": {key: of for key, of in _REFERENCES.items() if _refers(report, key)},
        "figures_from_print": _from_print(words),
    }


def _tests(report: PublicReport) -> int:
    """The number of tests of a report; 0 where it is not seen as a sample."""
    sampled = alpha_of(report) is not None and any(map(is_of_two_groups, report.fairness))
    return tests(report) if sampled else 0


def _refers(report: PublicReport, key: str) -> bool:
    return key == "CGP" or bool(like_people.in_short(report) if key == "BFOS" else report.influence)


def _from_print(words: Words) -> str:
    """The figures that are computed from printed numbers, within a sentence."""
    report, say, of = words.report, words.say, words.report.fairness
    figures = (
        (say("figures over all classes"), any(e.summary for e in of)),
        (say("people alike"), report.alike),
        (say("yardsticks of leakage"), report.privacy.leakage),
        (say("influence"), report.influence),
        (say("shortfalls"), any(e.shortfall for e in of)),
        (say("sampling intervals and p values"), any(e.sampling for e in of)),
        (say("individual fairness"), any(e.pair for e in of)),
    )
    return words.listed(name for name, there in figures if there)
