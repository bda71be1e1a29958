"""Releases of a series, made by hand: as many of each group have the positive outcome as are named."""

from __future__ import annotations

from atr.report import model, series
from tests.helpers import sample

SAMPLE = model.SamplingInfo(coverage="sample", alpha=0.05)


def release(year: int, **rates: float) -> model.PublicReport:
    """A release in which as many of each group had the positive outcome."""
    group = sample.attribute("group", "group", tuple(rates), protected=True)
    income = sample.attribute("income", "income", ("low", "high"), role="sensitive")
    people = {"few": 30}
    counts = {((who,), own): (people.get(who, 500), rate) for who, rate in rates.items() for own in ("low", "high")}
    period = model.PeriodInfo(label=str(year), start=f"{year}-01-01", end=f"{year + 1}-01-01", timezone=None)
    made = sample.report((group, income), counts, ceiling=1.0, references={"group": "men"}, period=period)
    return made.model_copy(update={"policy": made.policy.model_copy(update={"sampling": SAMPLE})})


def after(*reports: model.PublicReport) -> model.PublicReport:
    """The last of the releases with those before it."""
    *before, last = reports
    found = series.series(last, [(report, f"{i:064x}") for i, report in enumerate(before)])
    return last.model_copy(update={"series": found})
