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
    first: Annotated[str | None, Field(description="Label of the first period; left out: the log's first.")] = None,
    last: Annotated[str | None, Field(description="Label of the last period; left out: the log's last.")] = None,
) -> list[str]:
    """Leave a draft for every period of the log from ``first`` to ``last``."""
    loaded = load(programme)
    with hold(loaded.store_path):
        steps.load_log(programme)
        with Warehouse.open(loaded) as warehouse:
            labels = [period.label for period, _ in periods_of(warehouse, loaded.period.every)]
    for label in (first, last):
        if label is not None and label not in labels:
            raise PeriodError(
                f"'{label}' is no period of this log", hint=f"Its periods are {labels[0]} to {labels[-1]}."
            )
    start = labels.index(first) if first else 0
    end = labels.index(last) + 1 if last else len(labels)
    made = []
    for label in labels[start:end]:
        made.append(publish(programme, label).release.id)
    return made
