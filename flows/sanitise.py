"""Sanitise as a flow: the steps of :func:`atr.records_pipeline.release_records` as tasks."""

from __future__ import annotations

from prefect import flow
from prefect.artifacts import create_table_artifact

from atr.flows.programmes import permitted
from atr.flows.publish import PeriodLabel, ProgrammePath, patience, run_name, run_task, scheduled_day, show_links
from atr.programme import load
from atr.records.model import CHANNEL, FILES
from atr.records_pipeline import RecordsDraft, release_records


@flow(name="sanitise", flow_run_name=run_name)
def sanitise(programme: ProgrammePath, period: PeriodLabel = None) -> RecordsDraft:
    """Make the released records of a period and leave them as a draft that waits for review."""
    loaded = load(permitted(programme))
    draft = release_records(
        loaded,
        None if period is None else str(period),
        ended_by=scheduled_day(loaded),
        step=run_task,
        patience=patience(),
    )
    _show(draft)
    return draft


def _show(draft: RecordsDraft) -> None:
    """Leave what is publishable in Prefect's UI."""
    records = draft.records
    bounds = ", ".join(f"{name} {bound:g}" for name, bound in records.bounds.items())
    create_table_artifact(
        key="records-summary",
        table=[
            {"figure": "period", "value": records.period.label},
            {"figure": "version", "value": str(records.version)},
            {"figure": "rows", "value": f"{records.people:,}"},
            {"figure": "groups", "value": str(len(records.groups))},
            {"figure": "of these pooled", "value": str(sum(group.pooled for group in records.groups))},
            {"figure": "column", "value": records.column},
            {"figure": "hidden", "value": ", ".join(records.hidden)},
            {"figure": "bounds", "value": bounds or "none; alpha is the programme's"},
            {"figure": "largest alpha", "value": f"{records.alpha:g}"},
            {"figure": "values expected to be altered", "value": f"{records.loss:.1%}"},
        ],
        description="The draft of released records at a glance.",
    )
    show_links(draft.documents, "note.html", "note.pdf", *FILES, CHANNEL)
