"""Each comparison of fairness.csv in a sentence, with why its verdict is what it is."""

from __future__ import annotations

from typing import Any

import pytest

from atr.documents.text import wording
from atr.documents.text.comparisons import sentence
from atr.programme import Policy
from atr.report.comparisons import ComparisonFormatter
from tests.helpers import sample
from tests.helpers.judged import judged, judged_class

COMPAS = sample.compas()


def said(**changes: Any) -> str:
    return sentence(judged(**changes), COMPAS).replace(wording.NBSP, " ")


PARITY: dict[str, Any] = {"measure": "statistical_parity", "outcome": None, "value": 0.051, "range": (0.051, 0.051)}


RATIO = "“low” was the outcome {} times as often for Other as for Caucasian (83 % of people against 69 %)."
APART = "The shares of “low” for Other and Caucasian are 5.1 percentage points apart (83 % and 69 %)."


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({}, f"{RATIO.format('1.205')} The four-fifths rule allows 0.8 to 1.25: met."),
        (
            {"threshold": 0.85},
            f"{RATIO.format('1.205')} The line of the p%-rule at 0.85 is 1/0.85: not met. "
            "About 30 more decisions “low” for Caucasian would reach it.",
        ),
        (
            {"value": 0.7, "range": (0.6, 0.75)},
            f"{RATIO.format('0.700')} The true figure lies between 0.600 and 0.750; the line of the four-fifths rule "
            "is 0.8: not met. About 10 more decisions “low” for Other would reach it.",
        ),
        (
            {"value": 1.0, "range": (0.9, 1.2)},
            f"{RATIO.format('1.000')} The true figure lies between 0.900 and 1.200; the four-fifths rule allows 0.8 to "
            "1.25: met.",
        ),
        (
            {"value": 0.78, "range": (0.76, 0.84)},
            f"{RATIO.format('0.780')} The true figure lies between 0.760 and 0.840; that includes 0.8, where the "
            "four-fifths rule draws its line: it cannot be told from a report this private.",
        ),
        (
            {"value": 1.0, "range": (0.5, 1.5)},
            f"{RATIO.format('1.000')} The true figure lies between 0.500 and 1.500; that includes 0.8 and 1.25, where "
            "the four-fifths rule draws its line: it cannot be told from a report this private.",
        ),
        (
            {"value": 0.7, "range": (0.6, 0.75), "people": (45, 1685)},
            f"{RATIO.format('0.700')} The true figure lies between 0.600 and 0.750. One of the two groups does not "
            "have the 50 people that a verdict needs: too few people.",
        ),
        (
            {"threshold": None, "outcome": "raised"},
            "“raised” was the outcome 1.205 times as often for Other as for Caucasian (83 % of people against 69 %).",
        ),
        (
            {"value": None, "range": (0.5, None), "rates": (0.5, 0.0)},
            "As announced, “low” was never the outcome for Caucasian, so the two cannot be put in proportion (50 % of "
            "people for Other, 0 % for Caucasian). The true figure is 0.500 or more; nothing limits it from above; "
            "that includes 0.8 and 1.25, where the four-fifths rule draws its line: it cannot be told from a report "
            "this private.",
        ),
        (
            {"value": None, "range": (None, None), "rates": (0.5, 0.0)},
            "As announced, “low” was never the outcome for Caucasian, so the two cannot be put in proportion (50 % of "
            "people for Other, 0 % for Caucasian). The line of the four-fifths rule is 1.25: not met. About 675 more "
            "decisions “low” for Caucasian would reach it.",
        ),
        ({**PARITY, "threshold": 0.05}, f"{APART} The limit is 5 points: not met."),
        ({**PARITY, "threshold": 0.06}, f"{APART} The limit is 6 points: met."),
        (
            {
                **PARITY, "measure": "conditional_statistical_parity", "condition": {"charge": "felony"},
                "range": (0.0, 0.2), "threshold": 0.01,
            },
            f"Charge: felony. {APART} The true distance lies between 0.0 and 20.0; that includes the limit of 1 point: "
            "it cannot be told from a report this private.",
        ),
    ],
)  # fmt: skip
def test_sentences(changes: dict[str, Any], text: str) -> None:
    assert said(**changes) == text


def test_classes_are_summed_up_in_a_sentence() -> None:
    how = ComparisonFormatter(Policy())
    classes = [judged_class("a", 0.1, (100, 200), 0.02), judged_class("b", 0.02, (300, 300), 0.02),
               judged_class("c", 0.5, (45, 900))]  # fmt: skip
    worst, small = how.overall("worst_class", classes), how.overall("worst_class", classes[2:])
    assert sentence(worst, COMPAS).replace(wording.NBSP, " ") == (
        "Over 2 classes of people alike in what may count, Other and Caucasian are at most 10.0 percentage points "
        "apart (in the class “Charge: a”); 1 more class has fewer than 50 people of one of them and is not counted. "
        "The true distance lies between 8.0 and 12.0; the limit is 5 points: not met."
    )
    assert sentence(small, COMPAS).endswith("No class has the 50 people that a verdict needs: too few people.")
