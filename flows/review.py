"""Review: suspend until a person has read the draft and its dossier, then publish or reject it."""

from __future__ import annotations

from typing import Literal

from prefect import flow
from prefect.artifacts import create_markdown_artifact
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from pydantic import Field

from atr import review as reviewing
from atr.programme import load
from atr.store import hold
from flows.publish import ProgrammePath

A_WEEK = 7 * 24 * 3600


class Decision(RunInput):
    """What the reviewer decided, about which report."""

    decision: Literal["publish", "reject"]
    reviewer: str = Field(min_length=2, description="Your name; it goes into the ledger.")
    comment: str = Field(min_length=2, description="Why; it goes into the ledger.")
    report_sha256: str = Field(
        min_length=8, description="The SHA-256 that the report you read prints, or its beginning."
    )
    despite_overlap: bool = Field(
        default=False, description="Publish although a published report of another period tells of some of these days."
    )


@flow(name="review", flow_run_name="review {period}")
def review(programme: ProgrammePath, period: str | int) -> str:
    """Ask a person about the draft of a period and carry out the answer."""
    loaded = load(programme)
    draft, documents, dossier, overlapping = reviewing.waiting(loaded, str(period))
    shared = f"\n\nPublished already, and of some of the same days: {', '.join(overlapping)}." if overlapping else ""
    create_markdown_artifact(
        key="review-request",
        markdown=f"Read `{documents}` and `{dossier}`, then resume this run with your decision.\n\n"
        f"SHA-256 of report.json: `{draft.report_sha256}`{shared}",
    )
    answer = suspend_flow_run(wait_for_input=Decision, timeout=A_WEEK, key="publish-review")
    who = {"name": answer.reviewer, "comment": answer.comment, "report_sha256": answer.report_sha256}
    with hold(loaded.store_path):
        if answer.decision == "publish":
            release, folder = reviewing.approve(loaded, str(period), **who, despite_overlap=answer.despite_overlap)
        else:
            release, folder = reviewing.reject(loaded, str(period), **who)
    return f"{release.id} {release.state}: {folder}"
