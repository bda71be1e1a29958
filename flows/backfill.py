"""Backfill: the reports of all past periods of a log, one after the other."""

from __future__ import annotations

from typing import Annotated

from prefect import flow
from pydantic import Field

from atr import run as steps
from atr.errors import PeriodError
from atr.programme import load
from atr.regions import periods as periods_of
from atr.warehouse import Warehouse, hold
from flows.publish import ProgrammePath, publish


@flow(name="backfill")
def backfill(
    programme: ProgrammePath,
    first: Annotated[str | int | None, Field(description="Label of the first period; by default the log's.")] = None,
    last: Annotated[str | int | None, Field(description="Label of the last period; by default the log's.")] = None,
) -> list[str]:
    """Leave a draft for every period of the log from ``first`` to ``last``."""
    loaded = load(programme)
    with hold(loaded.store_path):
        steps.load_log(programme)
        with Warehouse.open(loaded) as warehouse:
            labels = [period.label for period, _ in periods_of(warehouse, loaded.period.every)]
    wanted = (labels[0] if first is None else str(first), labels[-1] if last is None else str(last))
    for label in wanted:
        if label not in labels:
            raise PeriodError(f"'{label}' is no period of this log", hint=f"Its periods are {', '.join(labels)}.")
    start, end = (labels.index(label) for label in wanted)
    return [publish(programme, label).release.id for label in labels[start : end + 1]]
