"""Review: suspend until a person has read the draft and its dossier, then publish or reject it."""

from __future__ import annotations

import ssl
from typing import Annotated, Literal

import httpx
from prefect import flow, runtime
from prefect.artifacts import create_markdown_artifact
from prefect.flow_runs import suspend_flow_run
from prefect.input import RunInput
from prefect.settings import get_current_settings
from pydantic import Field

from atr.cli import kind_of
from atr.dossier import review as reviewing
from atr.dossier.sign_off import POINTS
from atr.errors import ReviewError
from atr.flows.programmes import permitted
from atr.flows.publish import ProgrammePath
from atr.programme import load
from atr.records.model import CHANNEL

A_WEEK = 7 * 24 * 3600
_NOT_BLANK = r"\S\s*\S"


class Decision(RunInput):
    """What the reviewer decided, about which report."""

    decision: Literal["publish", "reject"]
    reviewer: str = Field(pattern=_NOT_BLANK, description="Your name; it goes into the ledger.")
    comment: str = Field(pattern=_NOT_BLANK, description="Why; it goes into the ledger.")
    report_sha256: str = Field(
        min_length=8, description="The SHA-256 that the report you read prints, or its beginning."
    )
    despite_overlap: bool = Field(
        default=False, description="Publish although a published report tells of the same people in another way."
    )
    replaces: bool = Field(
        default=False, description="Publish although a published version has other numbers: it is withdrawn."
    )


@flow(name="review", flow_run_name="review {period}")
def review(
    programme: ProgrammePath,
    period: str | int,
    records: Annotated[bool, Field(description="Whether it is about released records, not about a report.")] = False,
) -> str:
    """Ask a person about the draft of a period and carry out the answer.

    All of it runs anew when the run is resumed, the question to the server included.
    """
    require_credentials()
    loaded, kind = load(permitted(programme)), kind_of(records=records)
    found = reviewing.waiting(loaded, str(period), kind=kind)
    draft, documents, dossier, overlapping, replaced, *_ = found
    shared = f"\n\nPublished already, and of the same people: {', '.join(overlapping)}." if overlapping else ""
    shared += f"\n\nVersion {replaced} is published with other numbers." if replaced else ""
    shared += f"\n\nBeside {', '.join(found.beside)}: their bounds do not add up to one." if found.beside else ""
    hashed = CHANNEL if records else "report.json"
    points = "\n".join(f"- {point}" for point in POINTS[kind].values())
    create_markdown_artifact(
        key="review-request",
        markdown=f"Read `{documents}` and `{dossier}`, then resume this run with your decision.\n\n"
        f"SHA-256 of {hashed}: `{draft.report_sha256}`{shared}\n\n"
        f"Whoever publishes it confirms, and the ledger keeps:\n\n{points}",
    )
    answer = suspend_flow_run(wait_for_input=Decision, timeout=A_WEEK, key="publish-review")
    release, folder = reviewing.review(
        loaded,
        str(period),
        approve=answer.decision == "publish",
        name=answer.reviewer,
        comment=answer.comment,
        report_sha256=answer.report_sha256,
        despite_overlap=answer.despite_overlap,
        replaces=answer.replaces,
        kind=kind,
    )
    return f"{release.id} {release.state}: {folder}"


def require_credentials() -> None:
    """Ask the server about this run as anybody could, without credentials.

    Raises
    ------
    ReviewError
        Unless it refuses: else anybody who reaches it could decide, under any name.
    """
    api = get_current_settings().api
    try:
        known = ssl.create_default_context(cafile=api.ssl_cert_file) if api.ssl_cert_file else True
        trusted = False if api.tls_insecure_skip_verify else known
        answer = httpx.get(f"{api.url}/flow_runs/{runtime.flow_run.id}", verify=trusted, timeout=30)
        refused = answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
    except (httpx.HTTPError, httpx.InvalidURL, OSError):
        refused = False
    if not refused:
        raise ReviewError(
            "no decision is taken here: the Prefect server demands no credentials, or cannot be asked whether it does",
            hint="Use `atr review`.",
        )
