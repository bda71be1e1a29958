"""The fidelity notes: what a reader has to know of every figure, and for whom the guarantee holds.

Which of them a report has follows from its numbers; the page of trust and annex D have the words.
"""

from __future__ import annotations

from typing import Any

from atr.core.announced import WHOLE_NUMBERS
from atr.report.model import Note, PublicReport

CORRECTIONS_WAIT = "corrections_wait"


def fidelity_notes(report: PublicReport) -> tuple[Note, ...]:
    """The fidelity notes of a report whose numbers are complete, in order."""
    policy, counts, privacy = report.policy, report.coverage.groups, report.privacy
    by_limits, ruled = report.fidelity.kind == "limits", any(group.regions for group in report.announced_groups)
    confidences = {"max_confidence": privacy.max_confidence, "prior_confidence": privacy.prior_confidence}
    whole_numbers = {name: sure for name, sure in privacy.readers.items() if name.startswith(WHOLE_NUMBERS)}
    rate_only, flattened, rest = report.rate_only_groups, report.flattened_groups, report.rest_groups
    notes: list[tuple[object, str, dict[str, Any]]] = [
        (ruled, "limits" if by_limits else "altered", {}),
        (rate_only, "rate_only", {"groups": len(rate_only)}),
        (flattened, "flattened", {"groups": len(flattened)}),
        (rest, "rest", {"groups": len(rest), "joined": sum(group.joined or 0 for group in rest)}),
        (report.coarsened_groups, "coarsened", {"groups": counts.coarsened, "merged": counts.merged}),
        (counts.announced, "rates", {"group_rates": policy.group_rates}),
        (counts.announced, "ranges", {}),
        (ruled, "guarantee", {name: sure for name, sure in confidences.items() if sure is not None}),
        (ruled, "not_covered", {}),
        (ruled and not by_limits, "exact", {}),
        (WHOLE_NUMBERS in whole_numbers, WHOLE_NUMBERS, whole_numbers),
        (by_limits and counts.announced, "earlier", {}),
        (by_limits and counts.announced, "sizes", {}),
        (counts.announced, "rounding", {"digits": policy.digits, "population_rounding": policy.population_rounding}),
        (counts.announced and not by_limits, "side_information", {"side_information": policy.side_information}),
        (report.data_quality.corrections_wait, CORRECTIONS_WAIT, {}),
        (
            True,
            "missing",
            {
                "withheld_for_size": counts.withheld_for_size,
                "withheld": counts.withheld,
                "minimum_group_size": policy.minimum_group_size,
            },
        ),
        (True, "notice", {}),
    ]
    return tuple(Note(id=id, values=values) for holds, id, values in notes if holds)
