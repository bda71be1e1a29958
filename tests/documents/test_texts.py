"""What the documents claim: true of the numbers, and plain."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest

from atr.documents.html import report_html
from atr.documents.sections import fairness as parity
from atr.documents.sections import glance, provenance, rules
from atr.documents.text import wording
from atr.documents.text.comparisons import sentence
from atr.programme import Policy
from atr.report import sampling
from atr.report.comparisons import ComparisonFormatter
from atr.report.model import Fairness, FidelityInfo, PublicReport
from atr.report.notes import fidelity_notes
from tests.helpers import note_texts, sample

COMPAS = sample.compas()


def entry(**changes: Any) -> Fairness:
    known: dict[str, Any] = {
        "measure": "p_percent_rule", "attribute": "race", "groups": ("Other", "Caucasian"), "reference": "Caucasian",
        "outcome": "low", "value": 1.205, "range": (1.205, 1.205), "threshold": 0.8, "verdict": "met",
        "people": (135, 1685), "rates": (0.83, 0.69),
    }  # fmt: skip
    return Fairness(**{**known, **changes})


def judged(minimum: int = 50, **changes: Any) -> Fairness:
    """A comparison with its verdict, reason and shortfall."""
    policy = Policy(minimum_group_size=minimum, population_rounding=5)
    return ComparisonFormatter(policy).judged(entry(**changes))


def said(**changes: Any) -> str:
    return in_words(judged(**changes))


def in_words(found: Fairness) -> str:
    return sentence(found, COMPAS).replace(wording.NBSP, " ")


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


def _class(charge: str, value: float, people: tuple[int, int], spread: float = 0.0) -> Fairness:
    return judged(
        measure="conditional_statistical_parity", outcome=None, condition={"charge": charge}, value=value,
        range=(value - spread, value + spread), threshold=0.05, people=people,
    )  # fmt: skip


def test_parity_over_classes_follows_from_their_figures() -> None:
    how = ComparisonFormatter(Policy())
    classes = [_class("a", 0.1, (100, 200), 0.02), _class("b", 0.02, (300, 300), 0.02), _class("c", 0.5, (45, 900))]
    worst, mean = how.overall("worst_class", classes), how.overall("mean_over_classes", classes)
    assert (worst.value, worst.range, worst.verdict, worst.condition) == (0.1, (0.08, 0.12), "not_met", {})
    assert (mean.value, mean.range, mean.verdict) == (0.047, (0.026, 0.067), "cannot_tell")
    assert mean.people == (400, 500)
    assert mean.classes == (2, 3)
    assert (worst.worst_condition, mean.worst_condition) == ({"charge": "a"}, {})
    assert in_words(worst) == (
        "Over 2 classes of people alike in what may count, Other and Caucasian are at most 10.0 percentage points "
        "apart (in the class “Charge: a”); 1 more class has fewer than 50 people of one of them and is not counted. "
        "The true distance lies between 8.0 and 12.0; the limit is 5 points: not met."
    )
    small = how.overall("worst_class", classes[2:])
    assert (small.value, small.verdict, small.reason) == (0.5, "cannot_tell", "too_few_people")
    assert in_words(small).endswith("No class has the 50 people that a verdict needs: too few people.")


@pytest.mark.parametrize("people", [(135, 1685), (1000, 40)])
@pytest.mark.parametrize("value", [0.0, 0.2, 0.5, 0.79, 1.3, 3.0, None])
def test_the_shortfall_takes_the_ratio_to_the_line(value: float | None, people: tuple[int, int]) -> None:
    """As many more favourable decisions as are named put the group below the line on it, but for rounding."""
    a = 0.6 if value is None or value > 1 else 0.6 * value
    b = 0.6 if value is not None and value < 1 else 0.0 if value is None else 0.6 / value
    found = judged(minimum=1, value=value, range=(value, value), rates=(a, b), people=people)
    assert found.verdict == "not_met"
    assert found.shortfall is not None
    n, m = people
    more = found.shortfall
    at_line = (a + more / n) / b if a < b else a / (b + more / m)
    assert at_line == pytest.approx(0.8 if a < b else 1.25, abs=5 / min(people) / 0.3)


@pytest.mark.parametrize(
    ("counts", "text"),
    [
        ((1, 0, 0), "The one comparison of a group with its reference group meets the four-fifths rule."),
        ((0, 1, 0), "The one comparison of a group with its reference group does not meet the four-fifths rule."),
        ((0, 0, 1), "Whether the one comparison of a group with its reference group meets the four-fifths rule cannot "
         "be told from a report this private."),
        ((3, 0, 0), "All 3 comparisons of a group with its reference group meet the four-fifths rule."),
        ((0, 2, 0), "None of the 2 comparisons of a group with its reference group meets the four-fifths rule."),
        ((0, 0, 4), "For none of the 4 comparisons of a group with its reference group can it be told from a report "
         "this private whether it meets the four-fifths rule."),
        ((3, 1, 0), "Of 4 comparisons of a group with its reference group, 3 meet the four-fifths rule and 1 does "
         "not."),
        ((1, 1, 2), "Of 4 comparisons of a group with its reference group, 1 meets the four-fifths rule, 1 does not "
         "and for 2 it cannot be told from a report this private."),
        ((0, 2, 1), "Of 3 comparisons of a group with its reference group, 2 do not meet the four-fifths rule and for "
         "1 it cannot be told from a report this private."),
    ],
)  # fmt: skip
def test_fairness_at_a_glance(counts: tuple[int, int, int], text: str) -> None:
    found = Counter(met=counts[0], not_met=counts[1], cannot_tell=counts[2])
    assert glance.fairness(found, "four-fifths rule") == text


def with_policy(report: PublicReport, **changes: Any) -> PublicReport:
    return report.model_copy(update={"policy": report.policy.model_copy(update=changes)})


@pytest.mark.parametrize(
    ("minimum", "rounding", "text"),
    [
        (1, 1, ""),
        (50, 1, "The number used is rounded to the nearest 50, the other numbers are exact; the number read is what "
         "the others as printed add up to."),
        (50, 5, "The number used is rounded to the nearest 50, the other numbers to the nearest 5; the number read is "
         "what the others as printed add up to. Where there is a row at all, at least 5 are printed."),
        (5, 10, "Every number is rounded to the nearest 10; the number read is what the others as printed add up to. "
         "Where there is a row at all, at least 10 are printed."),
    ],
)  # fmt: skip
def test_rounding_of_rows(reports: dict[str, PublicReport], minimum: int, rounding: int, text: str) -> None:
    report = with_policy(reports["compas"], minimum_group_size=minimum, population_rounding=rounding)
    page = report_html(report, sha256="")
    found = re.findall(r'<p class="remark">((?:Every number|The number used).*?)</p>', page)
    assert found == [text] * bool(text)


def test_the_account_of_rows_is_that_of_the_whole_log(reports: dict[str, PublicReport]) -> None:
    html = report_html(reports["compas"], sha256="")
    assert "rows of every period, not only of this report’s period." in html
    assert "What became of the rows of the decision log, all periods together" in html
    assert "may not add up" not in html
    whole = reports["compas"].model_copy(
        update={"period": reports["compas"].period.model_copy(update={"start": None, "end": None})}
    )
    assert "every period" not in report_html(whole, sha256="")


def test_a_share_that_was_rounded_to_nothing(reports: dict[str, PublicReport]) -> None:
    quality = reports["compas"].data_quality.model_copy(update={"unknown": {"race": 0.0, "sex": 0.02}})
    html = report_html(reports["compas"].model_copy(update={"data_quality": quality}), sha256="")
    assert "race, less than 0.5\N{NO-BREAK SPACE}%; sex, 2\N{NO-BREAK SPACE}%." in html


def test_the_date_is_that_of_the_document(reports: dict[str, PublicReport]) -> None:
    html = report_html(reports["compas"], sha256="")
    assert "version 1, dated 12 February 2014" in html
    assert "published 12 February 2014" not in html


@pytest.mark.parametrize("name", ["compas", "one", "tall"])
@pytest.mark.parametrize("rates", ["exact", "free"])
@pytest.mark.parametrize("objective", ["privacy", "fidelity"])
def test_notes_have_no_straight_apostrophes(
    reports: dict[str, PublicReport], name: str, rates: str, objective: str
) -> None:
    report = with_policy(reports[name], group_rates=rates, objective=objective)
    for words in note_texts.titled(report.model_copy(update={"notes": fidelity_notes(report)})).values():
        assert not {"'", '"'} & {*"".join(words)}


def test_numbers_of_people_are_said_to_add_up(reports: dict[str, PublicReport]) -> None:
    html = report_html(reports["compas"], sha256="")
    assert "groups to the nearest 5, the rules of a group so that they add up to it" in html
    assert "those of groups to the nearest 5, those of a group’s rules so that they add up to it" in html
    exact = report_html(with_policy(reports["compas"], population_rounding=1), sha256="")
    assert "so that they add up to it" not in exact


def test_who_is_left_out(reports: dict[str, PublicReport]) -> None:
    text = note_texts.by_id(reports["compas"])["missing"]
    assert "count only in the number of decisions and of rows, rounded to the nearest 50" in text
    assert "and in the share of decisions that are in announced groups" in text
    assert text.endswith("No other figure of this report contains them.")
    everybody = note_texts.by_id(reports["one"])["missing"]
    assert everybody == "Nobody: every group is announced."


def test_what_figures_are_computed_from(reports: dict[str, PublicReport]) -> None:
    def text(report: PublicReport) -> str:
        return re.sub(r"\s+", " ", report_html(report, sha256=""))

    assert "everything else in this report is computed from what it prints" not in text(reports["compas"])
    assert "computed from these rounded chances and from the exact numbers of people; only then" in text(
        reports["compas"]
    )
    exact = with_policy(reports["compas"], population_rounding=1)
    assert "computed from these rounded chances and from the numbers of people as printed." in text(exact)


def test_a_protected_attribute_without_a_comparison(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    females = tuple(g for g in report.groups if g.public["sex"] == "Female")
    rest = tuple(e for e in report.fairness if e.attribute != "sex")
    one = report.model_copy(update={"groups": females, "fairness": rest})
    html = report_html(one, sha256="")
    assert "Nobody is compared by sex: only “Female” is announced." in html
    assert "By race" in html
    neither = report_html(one.model_copy(update={"fairness": ()}), sha256="")
    assert "No groups of people are compared in this report. Nobody is compared by sex" in neither
    assert "no attribute to compare them by" not in neither


def test_relative_fidelity(reports: dict[str, PublicReport]) -> None:
    info = FidelityInfo(kind="alpha", level=0.8, largest_change=None)
    report = with_policy(reports["compas"], fidelity={"alpha": 0.8}).model_copy(update={"fidelity": info})
    html = report_html(report, sha256="")
    assert "× 0.8 to 1.25" in html
    assert "α-fidelity, with α = 0.8" in html
    assert "α-fidelity 0.8." in note_texts.by_id(report)["altered"]
    exact = FidelityInfo(kind="alpha", level=1.0, largest_change=None)
    assert ">exact</p>" in report_html(report.model_copy(update={"fidelity": exact}), sha256="")


def test_figures_that_are_all_exact_say_so_once() -> None:
    exact, ranged = sample.compas(spread=0.0), sample.compas(spread=0.04)
    assert all(p["exact"] for p in parity.protected(exact))
    assert not any(p["exact"] for p in parity.protected(ranged))
    assert '<span class="small">exact</span></th>' in report_html(exact, sha256="")
    assert '<span class="small">with range</span></th>' in report_html(ranged, sha256="")


def test_the_glance_does_not_read_rosier_than_the_tables(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    counts = [sum(e.verdict == v for e in report.fairness) for v in ("met", "not_met", "cannot_tell")]
    (told,) = re.findall(r"Of all [^.]* verdicts in this report[^.]*", report_html(report, sha256=""))
    assert f"Of all {sum(counts):,} verdicts" in told
    assert [int(n) for n in re.findall(r"([0-9,]+) (?:is |are )?“", told)] == counts


def test_who_chose_each_setting_is_printed(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    seen = report.policy.model_copy(
        update={
            "sampling": sampling.sampling_info("sample", 0.1),
            "four_fifths_origin": "a law",
            "parity_tolerance_origin": "us",
        }
    )
    told = {what: of for what, *of in provenance.choices(report.model_copy(update={"policy": seen}))}
    ours, kept = "chosen by the publisher", "the software’s default, which the publisher kept"
    assert told["What may count"] == ["Charge", ours]
    assert told["Line of ratios (four-fifths rule)"] == ["0.8 to 1.25", "a law"]
    assert told["Line of parity"] == ["at most 0.05", "us"]
    assert told["Level of intervals and tests"] == [f"90{wording.NBSP}% (alpha 0.1)", ours]
    assert told["The decisions are taken for"] == ["a sample of more such decisions", kept]
    assert told["Tolerance"] == ["at most 0 beyond the distance", kept]
    assert told["Distance in prior offences"] == ["steps of its order, weight 1", ours]
    assert told["Distance in race"] == ["alike or not, weight 0", kept]
    html = report_html(report, sha256="")
    assert all(f">{what}</th><td>{setting}</td>" in html for what, setting, _ in provenance.choices(report))
    assert provenance.choices(reports["none"].model_copy(update={"compared": ()})) == []


def glossary(report: PublicReport) -> list[str]:
    """The terms that a report explains."""
    page = report_html(report, sha256="")
    table = page[page.index('<table class="glossary">') :]
    return re.findall('<tr><th scope="row">(.*?)</th>', table[: table.index("</table>")])


def test_the_glossary_explains_the_words_of_the_report(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    terms = glossary(report)
    assert terms == sorted(terms, key=str.lower)
    assert {"Range, guaranteed", "Met, not met, cannot be told", "Minimum uncertainty, γ"} <= set(terms)
    assert not {"Intersection", "p value", "Sampling interval", "Class, worst class"} & set(terms)
    both = report.compared[0].model_copy(update={"attributes": ("sex", "race")})
    over = report.fairness[0].model_copy(update={"summary": "worst_class"})
    policy = report.policy.model_copy(update={"sampling": sampling.sampling_info("sample", 0.05)})
    fuller = report.model_copy(update={"compared": (both,), "policy": policy})
    fuller = fuller.model_copy(update={"fairness": (*sampling.with_sampling(fuller), over)})
    assert {"Intersection", "p value", "Sampling interval", "Class, worst class"} <= set(glossary(fuller))


def test_chance_means_a_probability_and_nothing_else(reports: dict[str, PublicReport]) -> None:
    report = reports["compas"]
    policy = report.policy.model_copy(update={"sampling": sampling.sampling_info("sample", 0.05)})
    seen = report.model_copy(update={"policy": policy})
    seen = seen.model_copy(update={"fairness": sampling.with_sampling(seen)})
    html = report_html(seen, sha256="")
    assert not re.findall(r"chance alone|by chance|(?:of|to|than|out) chance\b", html)
    assert "sampling alone" in html
    assert "Smallest group announced" not in html


def test_groups_of_one_name_but_other_values_stand_apart() -> None:
    """“x, y” with “z” and “x” with “y, z” are named alike, and are not the same people."""
    public = [
        sample.attribute("a", "first", ("x, y", "x")),
        sample.attribute("b", "second", ("z", "y, z")),
        sample.attribute("c", "third", ("k", "l", "m")),
    ]
    counts = {
        ((a, b, c), level): (60, 0.5)
        for a, b in (("x, y", "z"), ("x", "y, z"))
        for c in "klm"
        for level in ("low", "high")
    }
    report = sample.report((*public, sample.attribute("level", "level", ("low", "high"), role="sensitive")), counts)
    blocks = rules.context(report)["blocks"]
    assert [block.heading for block in blocks] == ["x, y, z", "x, y, z"]
    assert [[row.label for row in block.rows] for block in blocks] == [["k", "l", "m"]] * 2
