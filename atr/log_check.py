"""What a log holds for a programme, found without writing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from atr.core.regions import DisclosureStatus, Regions
from atr.errors import AtrError, PeriodError, ProgrammeError, RefusedError
from atr.ingest import Accounting, ingest, not_announced, remarks
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load
from atr.programme import periods as _periods
from atr.records.foreseen import Foreseen, foresee
from atr.warehouse import coarsening, counting
from atr.warehouse.advice import advise
from atr.warehouse.connection import Warehouse
from atr.warehouse.reportable import chosen
from atr.warehouse.shares import Shares, percent

_COUNTED = (DisclosureStatus.FLATTENED, DisclosureStatus.TOO_SMALL, DisclosureStatus.PRIOR_TOO_SURE)

_HEADS = {
    "decisions": "decisions",
    "announced": "groups announced",
    "flattened": "of these flattened",
    "too_small": "too small",
    "prior_too_sure": "prior too sure",
    "people_announced": "people announced",
    "people_told_roughly": "told roughly",
    "people_left_out": "left out",
}


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a log holds for a programme.

    Parameters
    ----------
    accounting
        What becomes of its rows.
    periods
        A row a period: ``period``, ``decisions``, and how many QID groups are ``announced``, of these ``flattened``,
        ``too_small``, and ``prior_too_sure`` (prior knowledge alone exceeds the ceiling); then how many people would
        be told of, and how: ``people_announced``, ``people_told_roughly``, ``people_left_out``, as :class:`Shares`.
    next
        Which period is published if none is named, or why none is, as a sentence.
    remarks
        What deserves a look, as sentences without a full stop.
    advice
        Which values are too common for their ceiling, and which changes of the programme would bring much, likewise.
    records
        Where the programme releases records, what they would be of each period.
    """

    accounting: Accounting
    periods: pd.DataFrame
    next: str
    remarks: tuple[str, ...]
    advice: tuple[str, ...]
    records: tuple[Foreseen, ...] = ()

    def records_table(self) -> list[str]:
        """Say what records each period would release, with the groups that need most of the last one."""
        return [line for of in self.records[:-1] for line in of.said()[:1]] + [
            line for of in self.records[-1:] for line in of.said()
        ]

    def table(self) -> list[str]:
        """Lay out what each period would announce, line by line."""
        heads = {name: head for name, head in _HEADS.items() if name != "flattened" or self.periods[name].any()}
        lines = [f"{'period':<10}" + "".join(f"  {head:>10}" for head in heads.values())]
        for row in self.periods.to_dict("records"):
            cells = [percent(row[name], row["decisions"]) if "people" in name else f"{row[name]:,}" for name in heads]
            widths = [max(10, len(head)) for head in heads.values()]
            padded = (f"  {cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
            lines.append(f"{row['period']:<10}{''.join(padded)}")
        return lines


def check(programme: Programme | str | Path) -> LogCheck:
    """Check a programme against its log, without writing anything.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.

    Returns
    -------
    What becomes of the log's rows, how many groups and people each period would announce, what deserves a look, what
    would bring more, and what records would be released.

    Raises
    ------
    AtrError
        If the programme is wrong, the log cannot be read or does not fit it, or no records can be released of the
        period that is taken if none is named, or of any.
    """
    programme = load(programme)
    with Warehouse.in_memory(programme) as warehouse:
        accounting = ingest(warehouse, programme).accounting
        found = remarks(warehouse, programme)
        today = _periods.today(programme.period.timezone)
        label = None
        try:
            label = chosen(warehouse, programme, today=today).label
            next_one = f"`atr publish` without --period takes {label}."
        except PeriodError as error:
            next_one = f"`atr publish` needs a --period: {error.message}."
        rows, by_period, shares = [], dict[str, Regions](), dict[str, Shares]()
        reported = dict[str, tuple[Regions, Regions]]()
        for period, decisions in counting.periods(warehouse, programme.period.every):
            counted = counting.aggregate(warehouse, programme, period)
            regions = coarsening.reported(counted, programme)
            mechanism_of(programme.policy).check_programme(regions.take(regions.announced), programme.policy)
            groups = {status.name.lower(): len(regions.with_status(status)) for status in _COUNTED}
            row = {"period": period.label, "decisions": decisions, "announced": len(regions.printed)}
            by_period[period.label], shares[period.label] = counted, Shares.of(regions)
            reported[period.label] = counted, regions
            rows.append(row | groups | shares[period.label].counts())
        records = _records(warehouse, programme, label, found)
    found += not_announced(reported, programme)
    if not any(row["announced"] for row in rows):
        found.append(
            "policy: no period announces a group: every one is smaller than minimum_group_size, or known too well "
            "before any report for max_confidence"
        )
    advice = tuple(advise(by_period, shares, programme))
    return LogCheck(accounting, pd.DataFrame(rows), next_one, tuple(found), advice, records)


def _records(warehouse: Warehouse, programme: Programme, label: str | None, remarks: list[str]) -> tuple[Foreseen, ...]:
    """Foresee the records of every period; which cannot be released is remarked, or raised as `atr sanitise` does."""
    foreseen, refused = [], dict[str, AtrError]()
    if programme.sanitise is None:
        return ()
    for period, _ in counting.periods(warehouse, programme.period.every):
        try:
            foreseen.append(foresee(warehouse, programme, period))
        except (ProgrammeError, RefusedError) as error:
            refused[period.label] = error
    if label in refused or not foreseen:
        raise refused.get(label or "") or next(iter(refused.values()))
    remarks += [f"sanitise: no records of {of} can be released: {error.message}" for of, error in refused.items()]
    return tuple(foreseen)
