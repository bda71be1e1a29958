"""The machine-readable annex: the report as JSON, its rules, its fairness figures and influences as CSV.

CSV files are UTF-8 without a byte order mark, rows end in CR LF (RFC 4180), fractions lie between 0 and 1. Text that a
spreadsheet would take for a formula has an apostrophe in front, also where it would split the cell.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from atr.core.display_text import printable
from atr.programme import OWN_POPULATION
from atr.programme.region_files import ENDS
from atr.report.model import Group, Influence, Pair, PublicReport, Sampling
from atr.report.sampling import said
from atr.report.wording import decimals_of

_CELL = re.compile(
    r"""^(?=[\t\r]) | (?:^|(?<=[;\t\r\n]))
        (?=[\s"\ufeff\u200b-\u200d\u2060]* (?:[=@＝＠] | [+\-＋－−].*?[(|!（｜！]))""",
    re.DOTALL | re.VERBOSE,
)
"""Where a spreadsheet would begin a cell with a formula: it may split at semicolons and tabs too, whatever the quotes
say, passes over spaces and what cannot be seen, and takes full-width operators for others. "+" and "-" alone are text.
"""

Row = Sequence[str]
SAMPLING = (
    "sample_low", "sample_high", "sample_rate_a_low", "sample_rate_a_high", "sample_rate_b_low", "sample_rate_b_high",
    "p_value", "adjusted_p_value", "significant", "sample_outcome",
)  # fmt: skip
"""The columns of what sampling alone could make of a comparison."""


def report_json(report: PublicReport) -> bytes:
    """``report.json``."""
    return report.to_json().encode()


def announced_rules(report: PublicReport) -> bytes:
    """``announced_rules.csv``: one row per region of an announced group, one per group withheld by name.

    Where each region has limits of its own, they are the last two columns, empty for flattened groups. Where side
    information is declared, the last column is the number of people known from it.
    """
    public = [a.name for a in report.attributes if a.role == "public"]
    hidden = [a.name for a in report.attributes if a.role == "sensitive"]
    limits = report.fidelity.kind == "ranges"
    known = report.policy.side_information != OWN_POPULATION
    head = [
        "group", "status", *(f"public.{n}" for n in public), "group_population",
        *(f"rate.{o}" for o in report.outcomes), *(f"sensitive.{n}" for n in hidden), "population",
        *(f"announced.{o}" for o in report.outcomes), *(ENDS if limits else ()),
        *(("known",) if known else ()),
    ]  # fmt: skip
    digits = report.policy.digits

    def rows(group: Group) -> Iterable[Row]:
        common = [group.id, group.status, *(group.public.get(n, "") for n in public), _whole(group.population)]
        common += [fraction(group.rate[o], digits=digits) if group.rate else "" for o in report.outcomes]
        if not group.regions:
            yield [*common, *[""] * (len(head) - len(common))]
        for region in group.regions:
            chances = [fraction(region.announced[o], digits=digits) for o in report.outcomes]
            chances += [fraction(end, digits=digits) for end in (region.allowed or (None, None) if limits else ())]
            if known:
                chances.append(_whole(region.known))
            yield [*common, *(region.sensitive.get(n, "") for n in hidden), _whole(region.population), *chances]

    return _csv(head, (row for group in report.groups for row in rows(group)))


def fairness(report: PublicReport) -> bytes:
    """``fairness.csv``: one row per comparison; an empty end of a range is not bounded.

    Parity over all classes has the conditions empty, and its kind as ``summary``. Where the decisions are seen as a
    sample, the columns before the sentence tell what sampling could make of each. Where individual fairness is
    measured, the last columns are of it: by which distance outcomes are compared, how far those of the pair are apart
    (empty where that is infinite), how far its records are, the share of people in a pair beyond the tolerance, and how
    many people the regions that are compared have at least (empty: all regions are compared).
    """
    sampled = any(e.sampling for e in report.fairness)
    conditions = list(dict.fromkeys(name for e in report.fairness for name in e.condition))
    head = [
        "measure", "attribute", "group_a", "group_b", "reference", *(f"condition.{n}" for n in conditions), "summary",
        "classes", "classes_in_all", "outcome", "value", "range_low", "range_high", "threshold", "verdict", "reason",
        "shortfall", "people_a", "people_b", "rate_a", "rate_b", *(SAMPLING if sampled else ()), "sentence",
    ]  # fmt: skip
    pairs = ("distance", "outcomes_apart", "records_apart", "people_involved", "least_people")
    individual = any(e.pair for e in report.fairness)
    head += pairs if individual else ()
    digits = report.policy.digits

    def of_pair(pair: Pair | None) -> Row:
        if pair is None:
            return [""] * len(pairs)
        numbers = pair.outcomes_apart, pair.records_apart, pair.people_involved
        return [pair.distance, *(fraction(x, digits=digits) for x in numbers), _whole(pair.least_people)]

    rows = (
        [
            e.measure, e.attribute, *e.groups, e.reference, *(e.condition.get(n, "") for n in conditions),
            e.summary or "", *(_whole(n) for n in e.classes or (None, None)), e.outcome or "",
            *(fraction(x, digits=digits) for x in (e.value, *e.range, e.threshold)), e.verdict or "",
            e.reason or "", _whole(e.shortfall),
            *(_whole(n) for n in e.people), *(fraction(r, digits=digits) for r in e.rates),
            *(_sampling(e.sampling, digits=digits) if sampled else ()), said(e),
            *(of_pair(e.pair) if individual else ()),
        ]
        for e in report.fairness
    )  # fmt: skip
    return _csv(head, rows)


def influence(report: PublicReport) -> bytes:
    """``influence.csv``: one row per figure; ``inputs`` are those drawn anew, joined by " + ".

    Measures are ``influence`` and ``shapley_value`` (everybody), ``influence_on_rate`` and ``shapley_value_of_rate``
    (everybody, or people whose ``attribute`` has the ``value``), ``influence_on_disparity`` (these and the people with
    the value ``against``), ``partial_dependence`` (everybody, if their ``attribute`` had the ``value``) and
    ``partial_dependence_difference`` (less that of the value ``against``, of the same people). The ``outcome`` is the
    favourable one, but for ``influence`` where there are several.
    """
    head = ["measure", "inputs", "attribute", "value", "figure", "covered", "against", "outcome"]
    digits = report.policy.digits
    references = {e.attribute: e.reference for e in report.fairness}

    def rows(e: Influence) -> Iterable[Row]:
        def row(
            measure: str,
            figure: float | None,
            of: tuple[str, str] = ("", ""),
            *,
            covered: float | None = None,
            against: str | None = None,
            outcome: str = report.positive,
        ) -> Row:
            numbers = (fraction(x, digits=digits) for x in (figure, covered))
            return [measure, " + ".join(e.inputs), *of, *numbers, against or "", outcome]

        yield row("influence", e.value, covered=e.covered)
        for name, figure in e.outcomes.items():
            yield row("influence", figure, covered=e.covered, outcome=name)
        if e.shapley is not None:
            yield row("shapley_value", e.shapley)
        yield row("influence_on_rate", e.rate)
        if e.rate_shapley is not None:
            yield row("shapley_value_of_rate", e.rate_shapley)
        for g in e.groups:
            of = g.attribute, g.group
            yield row("influence_on_rate", g.value, of)
            if g.shapley is not None:
                yield row("shapley_value_of_rate", g.shapley, of)
            if g.disparity is not None:
                yield row("influence_on_disparity", g.disparity, of, against=references.get(g.attribute))
        for d in e.dependence:
            of = e.inputs[0], d.value
            yield row("partial_dependence", d.chance, of, covered=d.covered)
            if d.difference is not None:
                yield row("partial_dependence_difference", d.difference, of, covered=d.shared, against=e.against)

    return _csv(head, (row for e in report.influence for row in rows(e)))


def fraction(value: float | None, *, digits: int) -> str:
    """A fraction with the policy's digits; a number that was published with more keeps them. None is empty.

    >>> fraction(0.5, digits=3), fraction(None, digits=3)
    ('0.500', '')
    """
    return "" if value is None else f"{value:.{max(digits, decimals_of(value))}f}"


def safe(text: str) -> str:
    """A text that no spreadsheet runs.

    >>> safe("=1+1"), safe("-"), safe("+cmd|'/c calc'!A1"), safe("a; =1")
    ("'=1+1", '-', "'+cmd|'/c calc'!A1", "a;' =1")
    """
    return printable(_CELL.sub("'", text))


def _sampling(found: Sampling | None, *, digits: int) -> Row:
    if found is None:
        return [""] * len(SAMPLING)
    figures = *found.interval, *found.rates[0], *found.rates[1], found.p_value, found.adjusted_p_value
    return [*(fraction(x, digits=digits) for x in figures), str(found.significant).lower(), found.outcome or ""]


def _whole(value: int | None) -> str:
    return "" if value is None else str(value)


def _csv(head: Row, rows: Iterable[Row]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(name) for name in head])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue().encode()
