"""The fidelity notes: what a reader has to know of every figure, and for whom the guarantee holds.

Which of them a report has follows from its numbers; :mod:`atr.documents.text.notes` has the words.
"""

from __future__ import annotations

from collections.abc import Iterator

from atr.report.model import Note, PublicReport

CORRECTIONS_WAIT = "corrections_wait"


def fidelity_notes(report: PublicReport) -> tuple[Note, ...]:
    """The fidelity notes of a report whose numbers are complete, in order."""
    return tuple(_notes(report))


def _notes(report: PublicReport) -> Iterator[Note]:
    policy, counts, privacy, flattened = report.policy, report.coverage.groups, report.privacy, report.flattened_groups
    promised = len(flattened) < len(report.announced_groups)
    if promised:
        yield Note(id="altered")
    if flattened:
        yield Note(id="flattened", values={"groups": len(flattened)})
    if report.coarsened_groups:
        yield Note(id="coarsened", values={"groups": counts.coarsened, "merged": counts.merged})
    if counts.announced:
        yield Note(id="rates", values={"group_rates": policy.group_rates})
        yield Note(id="ranges")
    if promised:
        confidences = {"max_confidence": privacy.max_confidence, "prior_confidence": privacy.prior_confidence}
        yield Note(id="guarantee", values={name: sure or 0.0 for name, sure in confidences.items()})
        yield Note(id="not_covered")
        yield Note(id="exact")
    if counts.announced:
        yield Note(id="rounding", values={"digits": policy.digits, "population_rounding": policy.population_rounding})
        yield Note(id="side_information", values={"side_information": policy.side_information})
    if report.data_quality.corrections_wait:
        yield Note(id=CORRECTIONS_WAIT)
    yield Note(
        id="missing",
        values={
            "withheld_for_size": counts.withheld_for_size,
            "withheld": counts.withheld,
            "minimum_group_size": policy.minimum_group_size,
        },
    )
    yield Note(id="notice")
