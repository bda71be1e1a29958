"""What goes with the outcome: the largest share is the largest, and numbers are those of influence.csv."""

from __future__ import annotations

import csv
import io
import re

import pytest

from atr.documents import csv as annex
from atr.report.headline import headline
from atr.report.model import PublicReport
from tests.helpers import drawn_reports, sample
from tests.helpers.pages import has, in_hundred, view, whole

COMPAS = sample.compas()
SHAPES = {"compas": COMPAS, **{kind: drawn_reports.drawn(kind, 2) for kind in drawn_reports.KINDS}}


def published(report: PublicReport, measure: str) -> dict[str, float]:
    """Figures of single attributes by their titles, from influence.csv."""
    titles = {a.name: a.title for a in report.attributes}
    found = csv.DictReader(io.StringIO(annex.influence(report).decode(), newline=""))
    return {
        titles[row["inputs"]]: float(row["figure"])
        for row in found
        if row["measure"] == measure and row["inputs"] in titles and row["outcome"] in ("", report.positive)
    }


def bars(figure: dict[str, object]) -> dict[str, float]:
    """The bars of a chart from its text alternative."""
    alt = re.search('aria-label="([^"]*)"', str(figure["chart"].wide))  # type: ignore[attr-defined]
    assert alt is not None
    return {label: float(n.replace("−", "-")) for label, n in (part.rsplit(": ", 1) for part in alt[1].split("; "))}


def with_influence(report: PublicReport, **values: float) -> PublicReport:
    """The report with other influences of single attributes."""
    changed = tuple(
        i.model_copy(update={"value": values[i.inputs[0]]}) if len(i.inputs) == 1 and i.inputs[0] in values else i
        for i in report.influence
    )
    return report.model_copy(update={"influence": changed})


@pytest.mark.parametrize("name", SHAPES)
def test_the_largest_is_told_first(name: str) -> None:
    report = SHAPES[name]
    shown = view(report, "shares")
    figures = published(report, "influence")
    largest = max(figures.values())
    said = shown["finding"]
    assert any(f"goes with {title} most" in said or f"goes with {title} as much" in said
               for title, value in figures.items() if value == largest)  # fmt: skip
    assert in_hundred(said) == [whole(largest)]
    assert all((title in shown["moves"]["title"]) == (value == largest) for title, value in figures.items())
    drawn = bars(shown["moves"])
    assert drawn == {title: pytest.approx(100 * value, abs=1e-9) for title, value in figures.items()}
    assert list(drawn.values()) == sorted(drawn.values(), reverse=True)


@pytest.mark.parametrize("name", SHAPES)
def test_the_part_of_a_gap_is_that_of_its_headline(name: str) -> None:
    report = SHAPES[name]
    found, gap = headline(report), view(report, "shares")["gap"]
    if found.id != "gap" or found.groups is None:
        assert gap is None
        return
    parts = {
        title: of.disparity
        for i in report.influence
        if len(i.inputs) == 1
        for title in [next(a.title for a in report.attributes if a.name == i.inputs[0])]
        for of in i.groups
        if (of.attribute, of.group) == (found.attribute, found.groups[0]) and of.disparity is not None
    }
    if gap is None:
        assert not parts
        return
    assert bars(gap) == {title: pytest.approx(100 * part, abs=1e-9) for title, part in parts.items()}
    largest = max(parts, key=lambda title: parts[title])
    if parts[largest] > 0:
        assert gap["title"].startswith(f"Were {largest} drawn at random")
        assert in_hundred(gap["title"]) == [whole(parts[largest])]
    else:
        assert "goes with none of the attributes alone" in gap["title"]


def test_a_gap_that_would_only_grow_goes_with_none() -> None:
    def part(report: PublicReport, **parts: float) -> str:
        changed = tuple(
            i.model_copy(
                update={
                    "groups": tuple(g.model_copy(update={"disparity": parts.get(i.inputs[0], -0.01)}) for g in i.groups)
                }
            )
            for i in report.influence
        )
        return str(view(report.model_copy(update={"influence": changed}), "shares")["gap"]["title"])

    assert "goes with none of the attributes alone" in part(COMPAS, race=-0.2)
    assert part(COMPAS, race=-0.2, sex=0.04).startswith("Were sex drawn at random")
    assert "would be less than 1 in 100 nearer" in part(COMPAS, sex=0.004)


def test_two_that_go_as_far_are_not_called_the_most() -> None:
    tied = with_influence(COMPAS, priors_count=0.2, age_cat=0.2)
    assert "as much as with any other" in view(tied, "shares")["finding"]
    assert " or " in view(tied, "shares")["moves"]["title"]
    small = with_influence(COMPAS, **{a.name: 0.003 for a in COMPAS.attributes})
    assert "differ by less than 1 in 100 on average" in view(small, "shares")["finding"]
    none = with_influence(COMPAS, **{a.name: 0.0 for a in COMPAS.attributes})
    assert view(none, "shares")["finding"] == "The outcome goes with none of the attributes."
    assert view(none, "shares")["moves"]["title"].startswith("No people are apart")


def test_only_what_the_system_reads_is_said_to_be_read() -> None:
    assert "does not say that the system reads it" in view(COMPAS, "shares")["read"]
    reads = {"age_cat": "yes"}
    used = tuple(a.model_copy(update={"used_by_system": reads.get(a.name, "no")}) for a in COMPAS.attributes)
    assert view(COMPAS.model_copy(update={"attributes": used}), "shares")["read"].startswith("The system reads age. ")


def test_all_attributes_together_are_two_people_at_random() -> None:
    every = next(i for i in COMPAS.influence if len(i.inputs) == len(COMPAS.attributes))
    assert in_hundred(view(COMPAS, "shares")["every"]) == [whole(every.value)]


def test_nothing_measured_has_no_page() -> None:
    assert not has(sample.none_announced(), "shares")
    assert not has(COMPAS.model_copy(update={"influence": ()}), "shares")
