"""What a run came to, for the person at the terminal and for machines."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from atr.core.display_text import counted
from atr.terminal import result, say

if TYPE_CHECKING:
    from atr.pipeline import Draft
    from atr.records_pipeline import RecordsDraft
    from atr.warehouse.kept_releases import Wait

RECORDS = " (records)"
"""Ends the names of records in the register."""


def show_draft(draft: Draft, programme: Path, *, as_json: bool) -> None:
    """Say what a run came to, and where its documents are."""
    release, announced = draft.release, draft.report.coverage.groups.announced
    if not draft.new:
        say(f"{release.period} has nothing new to say: version {release.version} ({release.state}) stays.")
    else:
        say(f"The draft of {release.period}, version {release.version}, waits for review. Read the dossier, then:")
        replaces = " --replaces" if draft.replaces else ""
        say(f"  atr review {programme} {release.period} --approve{replaces} --name … --comment …")
    show_waits(draft.waits)
    if not announced:
        say("It announces no group: each is too small, or known too well before any report. It says so, and no more.")
    say(f"People: {draft.shares}.")
    if draft.shares.announced_share < 1 / 2:
        say(f"  {draft.advice}." if draft.advice else f"  What would announce more: atr check {programme}")
    if draft.overlapping:
        say(
            f"There are reports of periods that share days with {release.period}: {', '.join(draft.overlapping)}. "
            "Publish one or the other: whoever has both can subtract one from the other."
        )
    dossier = draft.dossier / "dossier.html"
    files = [draft.documents / name for name in ("report.html", "report.pdf", "report.json")]
    content = {
        "period": release.period, "version": release.version, "state": release.state, "new": draft.new,
        "groups_announced": announced, **draft.shares.counts(), "advice": draft.advice,
        "overlapping": list(draft.overlapping), "documents": str(draft.documents), "dossier": str(dossier),
        "report_sha256": release.report_sha256,
    }  # fmt: skip
    result(content, [str(path) for path in (*files, dossier)], as_json=as_json)


def show_waits(waits: Sequence[Wait]) -> None:
    """Say which groups have changed and are printed as they were."""
    if waits:
        say("These groups have changed, but count as in the version before (docs/upgrading.md, Versions of a period):")
    for group in waits:
        say(f"  {group.said()}.")


def show_records(draft: RecordsDraft, programme: Path, *, as_json: bool) -> None:
    """Say what the release of records came to, and where its files are."""
    from atr.dossier.records import said_of_both

    release, records = draft.release, draft.records
    if not draft.new:
        say(f"{release.period} has nothing new to say: version {release.version} ({release.state}) stays.")
    else:
        say(f"The draft of the records of {release.period}, version {release.version}, waits for review:")
        replaces = " --replaces" if draft.replaces else ""
        say(f"  atr review {programme} {release.period} --records --approve{replaces} --name … --comment …")
    least = min(group.alpha for group in records.groups)
    alpha = f"{records.alpha:g}" if least == records.alpha else f"{least:g} to {records.alpha:g} by group"
    rows, groups = counted(records.people, "row"), counted(len(records.groups), "group")
    altered = f"{records.loss:.1%} of the values are expected to be altered"
    say(f"{rows} in {groups}; alpha is {alpha}, and {altered}.")
    if draft.waits:
        say("Too few people changed in these groups for a new version: all records wait until there are more.")
    for group in draft.waits:
        say(f"  {group.said()}.")
    if draft.changed is not None and any(draft.changed):
        say(f"A version of {release.period} is published. {said_of_both(draft.changed)}")
    show_beside((*draft.overlapping, *draft.beside))
    paths = [*(draft.documents / name for name in ("note.html", "note.pdf", "records.csv")),
             draft.dossier / "dossier.html"]  # fmt: skip
    content = {
        "period": release.period, "version": release.version, "state": release.state, "new": draft.new,
        "rows": records.people, "alpha": records.alpha,
        "overlapping": list(draft.overlapping), "beside": list(draft.beside), "documents": str(draft.documents),
        "changed": draft.changed and draft.changed._asdict(), "waits": [of.said() for of in draft.waits],
        "dossier": str(draft.dossier), "channel_sha256": release.report_sha256,
    }  # fmt: skip
    result(content, [str(path) for path in paths], as_json=as_json)


def show_beside(releases: Sequence[str]) -> None:
    """Say which other releases tell of the same people."""
    from atr.documents.text.beside import ADDS_UP

    if releases:
        names = (
            f"the records of {of.removesuffix(RECORDS)}" if of.endswith(RECORDS) else f"the report of {of}"
            for of in releases
        )
        say(f"Of the same people there is published: {', '.join(names)}. {ADDS_UP}")
