"""Backfill: the reports of all past periods of a log, one after the other."""

from __future__ import annotations

from typing import Annotated, Any

from prefect import flow
from prefect.states import Completed
from pydantic import Field

from atr.errors import RefusedError
from atr.flows.programmes import permitted
from atr.flows.publish import PATIENCE, ProgrammePath, publish
from atr.pipeline import past_periods
from atr.programme import load
from atr.warehouse.store import hold

GAPS = "CompletedWithGaps"
"""The state of a backfill some of whose periods were refused."""


@flow(name="backfill", flow_run_name="backfill {programme}")
def backfill(
    programme: ProgrammePath,
    first: Annotated[str | int | None, Field(description="Label of the first period; by default the log's.")] = None,
    last: Annotated[
        str | int | None, Field(description="Label of the last period; by default the last complete one.")
    ] = None,
) -> Any:
    """Leave a draft for every period of the log from ``first`` to ``last``; a refused period does not end it.

    Returns
    -------
    The labels of the periods by what came of them: ``drafts`` that wait, ``unchanged`` published ones, and ``refused``.
    """
    loaded = load(permitted(programme))
    with hold(loaded.store_path, wait=PATIENCE):
        labels = past_periods(loaded, *(None if end is None else str(end) for end in (first, last)))
    done: dict[str, list[str]] = {"drafts": [], "unchanged": [], "refused": []}
    for label in labels:
        try:
            draft = publish(str(loaded.path), label)
            done["drafts" if draft.release.state == "draft" else "unchanged"].append(label)
        except RefusedError:
            done["refused"].append(label)
    if done["refused"]:
        message = f"refused: {', '.join(done['refused'])}; see their dossiers"
        return Completed(name=GAPS, message=message, data=done)
    return done
