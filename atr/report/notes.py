"""The fidelity notes: what a reader has to know of every figure, and for whom the guarantee holds.

Which of them a report has follows from its numbers; the templates ``report/notes/`` have the words.
"""

from __future__ import annotations

from collections.abc import Iterator

from atr.report.model import Note, PublicReport

CORRECTIONS_WAIT = "corrections_wait"


def fidelity_notes(report: PublicReport) -> tuple[Note, ...]:
    """The fidelity notes of a report whose numbers are complete, in order."""
    return tuple(_notes(report))


def _notes(report: PublicReport) -> Iterator[Note]:
    policy, counts, privacy = report.policy, report.coverage.groups, report.privacy
    by_limits, ruled = report.fidelity.kind == "limits", any(group.regions for group in report.announced_groups)
    if ruled:
        yield Note(id="limits" if by_limits else "altered")
    if report.rate_only_groups:
        yield Note(id="rate_only", values={"groups": len(report.rate_only_groups)})
    if report.flattened_groups:
        yield Note(id="flattened", values={"groups": len(report.flattened_groups)})
    if report.rest_groups:
        joined = sum(group.joined or 0 for group in report.rest_groups)
        yield Note(id="rest", values={"groups": len(report.rest_groups), "joined": joined})
    if report.coarsened_groups:
        yield Note(id="coarsened", values={"groups": counts.coarsened, "merged": counts.merged})
    if counts.announced:
        yield Note(id="rates", values={"group_rates": policy.group_rates})
        yield Note(id="ranges")
    if ruled:
        confidences = {"max_confidence": privacy.max_confidence, "prior_confidence": privacy.prior_confidence}
        yield Note(id="guarantee", values={name: sure for name, sure in confidences.items() if sure is not None})
        yield Note(id="not_covered")
        if not by_limits:
            yield Note(id="exact")
    if "whole_numbers" in privacy.readers:
        whole = {name: sure for name, sure in privacy.readers.items() if name.startswith("whole_numbers")}
        yield Note(id="whole_numbers", values=whole)
    if by_limits and counts.announced:
        yield Note(id="earlier")
        yield Note(id="sizes")
    if counts.announced:
        yield Note(id="rounding", values={"digits": policy.digits, "population_rounding": policy.population_rounding})
        if not by_limits:
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
