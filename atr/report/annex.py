"""The machine-readable annex: the report as JSON, its rules and its fairness figures as CSV.

CSV files are UTF-8 without a byte order mark, rows end in CR LF (RFC 4180), fractions lie between 0 and 1. Text that a
spreadsheet would take for a formula has an apostrophe in front.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from atr.programme import printable
from atr.ranges import ENDS
from atr.report.model import Group, PublicReport
from atr.report.wording import decimals_of

_FORMULA = re.compile(r"^[=@\t\r]|^[+\-].*[(|!]", re.DOTALL)

Row = Sequence[str]


def report_json(report: PublicReport) -> bytes:
    """``report.json``."""
    return report.to_json().encode()


def announced_rules(report: PublicReport) -> bytes:
    """``announced_rules.csv``: one row per region of an announced group, one per group withheld by name.

    Where each region has limits of its own, they are the last two columns, empty for flattened groups. By the linear
    mechanism the last column tells whether a group is pooled, likewise.
    """
    public = [a.name for a in report.attributes if a.role == "public"]
    hidden = [a.name for a in report.attributes if a.role == "sensitive"]
    limits, linear = report.fidelity.kind == "ranges", report.fidelity.kind == "linear"
    head = [
        "group", "status", *(f"public.{n}" for n in public), "group_population",
        *(f"rate.{o}" for o in report.outcomes), *(f"sensitive.{n}" for n in hidden), "population",
        *(f"announced.{o}" for o in report.outcomes), *(ENDS if limits else ()),
        *(("pooled",) if linear else ()),
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
            if linear:
                chances.append("" if group.pooled is None else str(group.pooled).lower())
            yield [*common, *(region.sensitive.get(n, "") for n in hidden), _whole(region.population), *chances]

    return _csv(head, (row for group in report.groups for row in rows(group)))


def fairness(report: PublicReport) -> bytes:
    """``fairness.csv``: one row per comparison; an empty end of a range is not bounded.

    Parity over all classes has the conditions empty, and its kind as ``summary``.
    """
    conditions = list(dict.fromkeys(name for e in report.fairness for name in e.condition))
    head = [
        "measure", "attribute", "group_a", "group_b", "reference", *(f"condition.{n}" for n in conditions), "summary",
        "classes", "classes_in_all", "outcome", "value", "range_low", "range_high", "threshold", "verdict", "reason",
        "shortfall", "people_a", "people_b", "rate_a", "rate_b",
        "sentence",
    ]  # fmt: skip
    digits = report.policy.digits
    rows = (
        [
            e.measure, e.attribute, *e.groups, e.reference, *(e.condition.get(n, "") for n in conditions),
            e.summary or "", *(_whole(n) for n in e.classes or (None, None)), e.outcome or "",
            *(fraction(x, digits=digits) for x in (e.value, *e.range, e.threshold)), e.verdict or "",
            e.reason or "", _whole(e.shortfall),
            *(_whole(n) for n in e.people), *(fraction(r, digits=digits) for r in e.rates), e.sentence,
        ]
        for e in report.fairness
    )  # fmt: skip
    return _csv(head, rows)


def fraction(value: float | None, *, digits: int) -> str:
    """A fraction with the policy's digits; a number that was published with more keeps them. None is empty.

    >>> fraction(0.5, digits=3), fraction(None, digits=3)
    ('0.500', '')
    """
    return "" if value is None else f"{value:.{max(digits, decimals_of(value))}f}"


def safe(text: str) -> str:
    """A text that no spreadsheet runs.

    >>> safe("=1+1"), safe("-"), safe("+cmd|'/c calc'!A1")
    ("'=1+1", '-', "'+cmd|'/c calc'!A1")
    """
    return printable(f"'{text}" if _FORMULA.search(text) else text)


def _whole(value: int | None) -> str:
    return "" if value is None else str(value)


def _csv(head: Row, rows: Iterable[Row]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow([safe(name) for name in head])
    writer.writerows([safe(cell) for cell in row] for row in rows)
    return out.getvalue().encode()
