"""The machine-readable annex: the report as JSON, its rules, its fairness figures and influences as CSV.

CSV files are UTF-8 without a byte order mark, rows end in CR LF (RFC 4180), fractions lie between 0 and 1. Text that a
spreadsheet would take for a formula has an apostrophe in front, also where it would split the cell.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from atr.core.display_text import spreadsheet_safe
from atr.mechanisms.optimal.policy import ENDS
from atr.programme import OWN_POPULATION
from atr.report.model import Population, PublicReport

Row = Mapping[str, object]
"""Cells by the names of their columns; what is missing or None is empty."""
SAMPLING = (
    "sample_low", "sample_high", "sample_rate_a_low", "sample_rate_a_high", "sample_rate_b_low", "sample_rate_b_high",
    "p_value", "adjusted_p_value", "significant", "sample_outcome",
)  # fmt: skip
"""The columns of what sampling alone could make of a comparison."""
PAIRS = ("distance", "outcomes_apart", "records_apart", "people_involved", "least_people")
"""The columns of individual fairness."""


def announced_rules(report: PublicReport) -> bytes:
    """The table ``announced_rules.csv``: one row per region of an announced group, one per group withheld by name.

    Chances and rates are fractions. Where each region has limits of its own, they are the last columns: of the positive
    outcome, or of every one of several; empty where nothing is told. Where side information is declared, the last
    column is the number of people known from it; where corrections wait, ``as_of`` is the version whose numbers these
    are.

    Returns
    -------
    The file.
    """
    public = [f"public.{a.name}" for a in report.attributes if a.role == "public"]
    hidden = [f"sensitive.{a.name}" for a in report.attributes if a.role == "sensitive"]
    told = report.outcomes if report.fidelity.kind == "limits" and len(report.outcomes) > 2 else (report.positive,)
    ends = {o: [f"{end}.{o}" for end in ENDS] if len(told) > 1 else ENDS for o in told}
    limited = [name for of in ends.values() for name in of] if report.fidelity.kind in ("limits", "ranges") else []
    known = report.policy.side_information != OWN_POPULATION
    head = [
        "group", "status", *public, "group_population", *(f"rate.{o}" for o in report.outcomes), *hidden, "population",
        *(f"announced.{o}" for o in report.outcomes), *limited, *(("known",) if known else ()),
        *(("as_of",) if report.data_quality.corrections_wait else ()),
    ]  # fmt: skip
    rows: list[Row] = []
    for group in report.groups:
        common: dict[str, object] = {"group": group.id, "status": group.status, "group_population": group.population}
        common |= {"as_of": group.as_of} | _columns("public", group.public) | _columns("rate", group.rate or {})
        regions = [
            {
                **common, **_columns("sensitive", region.sensitive), "population": _people(region.population),
                **_columns("announced", region.announced or {}),
                **{n: x for o, of in (region.limits or {}).items() for n, x in zip(ends.get(o, ()), of, strict=False)},
                "known": region.known,
            }
            for region in group.regions
        ]  # fmt: skip
        rows += regions or [common]
    return _csv(head, rows, report.policy.digits)


def fairness(report: PublicReport) -> bytes:
    """The table ``fairness.csv``: one row per comparison, as fractions; an empty end of a range is not bounded.

    Parity over all classes has no conditions, and its kind as ``summary``. Where the decisions are seen as a sample,
    the next columns are intervals and p values. Where individual fairness is measured, the last columns are the
    distance of outcomes, the distance of the pair's outcomes (empty where infinite), the distance of its records, the
    share of people in a pair beyond the tolerance, and the people of the smallest region that is compared (empty: all
    regions are).

    Returns
    -------
    The file.
    """
    sampled, paired = any(e.sampling for e in report.fairness), any(e.pair for e in report.fairness)
    conditions = list(dict.fromkeys(name for e in report.fairness for name in e.condition))
    head = [
        "measure", "attribute", "group_a", "group_b", "reference", *(f"condition.{n}" for n in conditions), "summary",
        "classes", "classes_in_all", "outcome", "value", "range_low", "range_high", "threshold", "verdict", "reason",
        "shortfall", "people_a", "people_b", "rate_a", "rate_b", *(SAMPLING if sampled else ()),
        *(PAIRS if paired else ()),
    ]  # fmt: skip
    same = (
        "measure", "attribute", "reference", "summary", "outcome", "value", "threshold", "verdict", "reason",
        "shortfall",
    )  # fmt: skip
    rows: list[Row] = []
    for e in report.fairness:
        row = {name: getattr(e, name) for name in same} | _columns("condition", e.condition)
        row["classes"], row["classes_in_all"] = e.classes or (None, None)
        printed = e.people if e.pair is None else [_people(n) for n in e.pair.people]
        for name, (first, second) in (("group", e.groups), ("people", printed), ("rate", e.rates)):
            row |= {f"{name}_a": first, f"{name}_b": second}
        row["range_low"], row["range_high"] = e.range
        if e.sampling:
            of = e.sampling
            figures = (
                *of.interval, *of.rates[0], *of.rates[1], of.p_value, of.adjusted_p_value, of.significant, of.outcome,
            )  # fmt: skip
            row |= zip(SAMPLING, figures, strict=True)
        if e.pair:
            row |= {name: getattr(e.pair, name) for name in PAIRS}
        rows.append(row)
    return _csv(head, rows, report.policy.digits)


def influence(report: PublicReport) -> bytes:
    """The table ``influence.csv``: one row per figure, as fractions; ``inputs`` are those redrawn, joined by " + ".

    Measures are ``influence`` and ``shapley_value`` (everybody), ``influence_on_rate`` and ``shapley_value_of_rate``
    (everybody, or people whose ``attribute`` has the ``value``), ``influence_on_disparity`` (these and the people with
    the value ``against``), ``partial_dependence`` (everybody, if their ``attribute`` had the ``value``) and
    ``partial_dependence_difference`` (less that of the value ``against``, of the same people). The ``outcome`` is the
    favourable one, except for ``influence`` where there are several.

    Returns
    -------
    The file.
    """
    head = ["measure", "inputs", "attribute", "value", "figure", "covered", "against", "outcome"]
    references = {e.attribute: e.reference for e in report.fairness}
    rows: list[Row] = []
    for e in report.influence:
        drawn = {"inputs": " + ".join(e.inputs), "outcome": report.positive}
        figures: list[Row] = [
            {"measure": "influence", "figure": e.value, "covered": e.covered},
            *(
                {"measure": "influence", "figure": e.outcomes[o], "covered": e.covered, "outcome": o}
                for o in e.outcomes
            ),
            {"measure": "shapley_value", "figure": e.shapley},
            {"measure": "influence_on_rate", "figure": e.rate},
            {"measure": "shapley_value_of_rate", "figure": e.rate_shapley},
        ]
        for g in e.groups:
            who = {"attribute": g.attribute, "value": g.group}
            figures += [
                {"measure": "influence_on_rate", "figure": g.value, **who},
                {"measure": "shapley_value_of_rate", "figure": g.shapley, **who},
                {
                    "measure": "influence_on_disparity", "figure": g.disparity, **who,
                    "against": references.get(g.attribute),
                },
            ]  # fmt: skip
        for d in e.dependence:
            who = {"attribute": e.inputs[0], "value": d.value}
            figures += [
                {"measure": "partial_dependence", "figure": d.chance, "covered": d.covered, **who},
                {
                    "measure": "partial_dependence_difference", "figure": d.difference, "covered": d.shared, **who,
                    "against": e.against,
                },
            ]  # fmt: skip
        rows += [{**drawn, **row} for row in figures if row["figure"] is not None]
    return _csv(head, rows, report.policy.digits)


def fraction(value: float | None, *, digits: int) -> str:
    """Write a fraction with the policy's digits, or more if it was published with more; None is empty.

    >>> fraction(0.5, digits=3), fraction(None, digits=3)
    ('0.500', '')
    """
    if value is None:
        return ""
    exact = Decimal(repr(value))
    return f"{exact:.{max(digits, -int(exact.normalize().as_tuple().exponent))}f}"


def _people(population: Population) -> int | str:
    return population if isinstance(population, int) else f"under {population.below}"


def _columns(prefix: str, values: Mapping[str, object]) -> dict[str, object]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def _cell(value: object, digits: int) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or isinstance(value, float):
        return fraction(value, digits=digits)
    return spreadsheet_safe(str(value))


def _csv(head: Sequence[str], rows: Iterable[Row], digits: int) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([spreadsheet_safe(name) for name in head])
    writer.writerows([_cell(row.get(name), digits) for name in head] for row in rows)
    return out.getvalue().encode()
