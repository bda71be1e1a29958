"""Releases as the site lists them."""

from __future__ import annotations

from atr.documents.site import IndexEntry
from atr.report.model import PeriodInfo
from tests.helpers.texts import HOSTILE

_SECOND = PeriodInfo(label="2013-Q2", start="2013-04-01", end="2013-07-01", timezone=None)
ENTRIES = (
    IndexEntry(_SECOND, 3, "2013-09-01", "1" * 64, finding=" ".join(HOSTILE)),
    IndexEntry(_SECOND, 2, "2013-08-01", "2" * 64, replaced_by=3, replaced_on="2013-09-03", finding="Taken back."),
    IndexEntry(_SECOND, 1, "2013-07-01", "4" * 64, replaced_by=2, replaced_on="2013-08-02", withdrawn=True),
    IndexEntry(PeriodInfo(label="all", start=None, end=None, timezone=None), 1, "2013-05-01", "3" * 64),
)
