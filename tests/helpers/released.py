"""Public records as a note is rendered from them, made by hand."""

from __future__ import annotations

from typing import Any

from atr.programme.reading import load
from atr.records.model import FILES, GroupChannel, PublicRecords, Told
from atr.report.build import programme_info
from atr.report.model import PeriodInfo
from tests.helpers.paths import EXAMPLES


def records(*, groups: int = 12, language: str = "en", **changes: Any) -> PublicRecords:
    """Records of the bundled scores, in so many groups of 60 to 700 people."""
    programme = programme_info(load(EXAMPLES / "compas")).model_copy(update={"language": language})
    of = tuple(
        GroupChannel(
            values={"sex": f"sex {g}", "age_group": f"{20 + g % 50} to {30 + g % 50}"},
            pooled=g % 5 == 4,
            people=people,
            alpha=0.372,
            totals=(people // 3, people - people // 3),
        )
        for g, people in ((g, 60 + 640 * g // groups) for g in range(groups))
    )
    people = sum(group.people for group in of)
    made = PublicRecords(
        programme=programme,
        period=PeriodInfo(label="2013", start="2013-01-01", end="2014-01-01", timezone="America/New_York"),
        version=1,
        date="2014-02-01",
        column="score_text",
        numeric=False,
        attributes=("sex", "age_group"),
        hidden=("priors_count",),
        not_covered=("race",),
        titles={"sex": "sex", "age_group": "age", "priors_count": "prior offences", "race": "race"},
        channel="markov",
        distance="hamming",
        bounds={"max_log_lift": 0.5},
        values=("low", "raised"),
        people=people,
        groups=of,
        before=Told(ldp=None, log_lift=None, mutual_information=0.081),
        after=Told(ldp=0.836, log_lift=0.499, mutual_information=0.02),
        loss=round(sum(g.people * g.alpha * (1 - float(g.shares @ g.shares)) for g in of) / people, 6),
        sha256=dict.fromkeys(FILES, 64 * "0"),
    )
    return made.model_copy(update=changes)
