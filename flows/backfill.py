"""Backfill: the reports of all past periods of a log, one after the other."""

from __future__ import annotations

from typing import Annotated, Any

from prefect import flow
from prefect.states import Completed
from pydantic import Field

from atr import pipeline as steps
from atr.errors import PeriodError, RefusedError
from atr.flows.programmes import permitted
from atr.flows.publish import PATIENCE, ProgrammePath, publish
from atr.programme import load
from atr.programme.periods import complete_periods, today
from atr.warehouse.connection import Warehouse
from atr.warehouse.counting import decided_span
from atr.warehouse.counting import periods as periods_of
from atr.warehouse.store import hold


@flow(name="backfill", flow_run_name="backfill {programme}")
def backfill(
    programme: ProgrammePath,
    first: Annotated[str | int | None, Field(description="Label of the first period; by default the log's.")] = None,
    last: Annotated[
        str | int | None, Field(description="Label of the last period; by default the last complete one.")
    ] = None,
) -> Any:
    """Leave a draft for every period of the log from ``first`` to ``last``; a refused period does not end it."""
    programme = permitted(programme)
    loaded = load(programme)
    with hold(loaded.store_path, wait=PATIENCE):
        steps.load_log(programme)
        with Warehouse.open(loaded) as warehouse:
            every = loaded.period.every
            found = [period for period, _ in periods_of(warehouse, every)]
            complete = found
            if every != "all":
                over = complete_periods(*decided_span(warehouse), every, today=today(loaded.period.timezone))
                complete = [period for period in found if period in over]
    labels = [period.label for period in found]
    if last is None and not complete:
        raise PeriodError(f"no {every} of this log is over", hint=f"Name the last, of {', '.join(labels)}.")
    ends = (labels[0] if first is None else str(first), complete[-1].label if last is None else str(last))
    for label in ends:
        if label not in labels:
            raise PeriodError(f"'{label}' is no period of this log", hint=f"Its periods are {', '.join(labels)}.")
    start, end = (labels.index(label) for label in ends)
    if start > end:
        raise PeriodError(f"{ends[0]} comes after {ends[1]}", hint="Give the earlier period as `first`.")
    refused = []
    for label in labels[start : end + 1]:
        try:
            publish(programme, label)
        except RefusedError:
            refused.append(label)
    if refused:
        return Completed(name="CompletedWithGaps", message=f"refused: {', '.join(refused)}; see their dossiers")
    return labels[start : end + 1]
