"""What a log holds for a programme, found without writing anything."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from atr.core.regions import DisclosureStatus
from atr.ingest import Accounting, ingest, remarks
from atr.mechanisms import mechanism_of
from atr.programme import Programme, load
from atr.warehouse import coarsening, counting
from atr.warehouse.connection import Warehouse

_COUNTED = (DisclosureStatus.FLATTENED, DisclosureStatus.TOO_SMALL, DisclosureStatus.PRIOR_TOO_SURE)


@dataclass(frozen=True, slots=True)
class LogCheck:
    """What a log holds for a programme.

    Parameters
    ----------
    accounting
        What becomes of its rows.
    periods
        A row a period: ``period``, ``decisions``, and how many QID groups are ``announced``, of these ``flattened``,
        ``too_small``, and ``prior_too_sure`` (prior knowledge alone exceeds the ceiling).
    remarks
        What deserves a look, as sentences without a full stop.
    """

    accounting: Accounting
    periods: pd.DataFrame
    remarks: tuple[str, ...]


def check(programme: Programme | str | Path) -> LogCheck:
    """Check a programme against its log, without writing anything.

    Parameters
    ----------
    programme
        From :func:`atr.load`, or the path of its file.

    Returns
    -------
    What becomes of the log's rows, how many groups each period would announce, and what deserves a look.

    Raises
    ------
    AtrError
        If the programme is wrong, or the log cannot be read or does not fit it.
    """
    programme = load(programme)
    with Warehouse.in_memory() as warehouse:
        accounting = ingest(warehouse, programme)
        found = remarks(warehouse, programme)
        rows = []
        for period, decisions in counting.periods(warehouse, programme.period.every):
            regions = coarsening.aggregate(warehouse, programme, period)
            mechanism_of(programme.policy).check_programme(regions.take(regions.announced), programme.policy)
            counted = {status.name.lower(): len(regions.with_status(status)) for status in _COUNTED}
            rows.append({"period": period.label, "decisions": decisions, "announced": len(regions.printed)} | counted)
    if not any(row["announced"] for row in rows):
        found.append(
            "policy: no period announces a group: every one is smaller than minimum_group_size, or known too well "
            "before any report for max_confidence"
        )
    return LogCheck(accounting, pd.DataFrame(rows), tuple(found))
