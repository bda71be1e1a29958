"""Publish as a flow: the steps of :func:`atr.pipeline.publish` as tasks, the QID groups solved side by side."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar

from prefect import flow, runtime, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import wait
from prefect.task_runners import ThreadPoolTaskRunner
from pydantic import Field

from atr import pipeline
from atr.core.arrays import usable_cores
from atr.documents.text import promise
from atr.documents.text.words import Words
from atr.errors import AtrError, EnvironmentFault
from atr.flows.programmes import permitted
from atr.pipeline import DOING, Draft
from atr.programme import Programme, load, periods
from atr.records_pipeline import draft_records
from atr.warehouse import store
from atr.warehouse.run import Batch, Run

T = TypeVar("T")

logger = logging.getLogger("atr.flows")

PATIENCE = 600.0
"""Seconds that a scheduled run waits for another run of the same series."""
RUNNER: Any = ThreadPoolTaskRunner(max_workers=max(2, usable_cores()))

ProgrammePath = Annotated[str, Field(description="Path of the programme file.")]
PeriodLabel = Annotated[
    str | int | None,  # `prefect deployment run -p period=2013` sends a number
    Field(description="Such as 2013, 2013-Q1 or 2013-05. Left out: the last period that is complete."),
]


def _may_pass(task: Any, run: Any, state: Any) -> bool:
    """Whether trying again can help: a disk or a share may come back, a wrong file will not."""
    try:
        state.result()
    except (EnvironmentFault, OSError):
        return True
    except Exception:
        return False
    return False


def _solve_name() -> str:
    return f"solve {runtime.task_run.parameters['batch'].name}"[:120]


def _task(function: Callable[..., Any]) -> Any:
    """A step as a task; those that touch the log or the store are repeated where the machine was at fault."""
    again = function in (pipeline.load_log, pipeline.begin, pipeline.aggregate, pipeline.register, draft_records)
    return task(
        name=function.__name__.replace("_", "-"),
        task_run_name=_solve_name if function is pipeline.solve else None,
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=2 if again else 0,
        retry_delay_seconds=[2.0, 10.0],
        retry_condition_fn=_may_pass if again else None,
    )(function)


def run_task(function: Callable[..., T], *arguments: Any) -> T:
    """Run a step as a task."""
    logger.info("%s …", DOING[function.__name__])
    done: T = _task(function)(*arguments)
    return done


def _map(function: Callable[[Run, Batch], None], run: Run, batches: Sequence[Batch]) -> None:
    logger.info("%s, in %d tasks …", DOING[function.__name__], len(batches))
    one = _task(function)
    futures = [one.submit(run, batch) for batch in batches]
    wait(futures)
    for future in futures:
        future.result()


def run_name() -> str:
    """The series and the period; where the programme cannot be loaded, which the run will say, its path."""
    given = runtime.flow_run.parameters
    try:
        series = load(permitted(given["programme"])).programme
    except AtrError:
        series = given["programme"]
    return f"{series} {given.get('period') or 'last period'}"


@flow(name="publish", flow_run_name=run_name, task_runner=RUNNER)
def publish(programme: ProgrammePath, period: PeriodLabel = None) -> Draft:
    """Make the report of a period and leave it as a draft that waits for review."""
    loaded = load(permitted(programme))
    draft = pipeline.publish(
        loaded,
        None if period is None else str(period),
        ended_by=scheduled_day(loaded),
        step=run_task,
        map=_map,
        patience=patience(),
    )
    _show(draft)
    return draft


def patience() -> float:
    """Seconds to wait for another run of the series: longer where nobody does."""
    return PATIENCE if runtime.deployment.id else store.PATIENCE


def scheduled_day(programme: Programme) -> date | None:
    """The day a scheduled run was meant for, where the programme is; None for a run that a person started."""
    if runtime.deployment.id is None or "auto-scheduled" not in (runtime.flow_run.tags or []):
        return None
    scheduled = runtime.flow_run.scheduled_start_time
    return periods.today(programme.period.timezone or "UTC", lambda: scheduled)


def _show(draft: Draft) -> None:
    """Leave what is publishable in Prefect's UI."""
    report = draft.report
    counts = report.coverage.groups
    verdicts = [entry.verdict for entry in report.fairness]
    create_table_artifact(
        key="run-summary",
        table=[
            {"figure": "period", "value": report.period.label},
            {"figure": "version", "value": str(report.version)},
            {"figure": "decisions", "value": f"{report.coverage.decisions:,}"},
            {"figure": "groups announced", "value": str(counts.announced)},
            {"figure": "groups withheld", "value": str(counts.withheld + counts.withheld_for_size)},
            {"figure": "fairness lines met", "value": str(verdicts.count("met"))},
            {"figure": "fairness lines not met", "value": str(verdicts.count("not_met"))},
            {"figure": "fairness lines that cannot be told", "value": str(verdicts.count("cannot_tell"))},
            {"figure": "rows quarantined", "value": str(report.data_quality.quarantined)},
        ],
        description="The draft at a glance.",
    )
    create_markdown_artifact(
        key="privacy-statement",
        markdown=" ".join(promise.privacy(Words.of(report))),
        description="What the report guarantees.",
    )
    show_links(draft.documents, "report.html", "report.pdf")


def show_links(folder: Path, *names: str) -> None:
    """Link files of a draft in Prefect's UI."""
    for name in names:
        create_link_artifact(key=name.replace(".", "-"), link=(folder / name).as_uri(), link_text=name)
