"""Publish: ingest → aggregate → solve each QID group → announce → measure → render → register a draft."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Annotated, Any, TypeVar
from zoneinfo import ZoneInfo

from prefect import flow, runtime, task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact
from prefect.cache_policies import NO_CACHE
from prefect.futures import wait
from prefect.task_runners import ThreadPoolTaskRunner
from pydantic import Field

from atr import pipeline as steps
from atr.errors import AtrError, EnvironmentFault, RefusedError
from atr.flows.programmes import permitted
from atr.pipeline import Batch, Outcome, Run
from atr.programme import Programme, load
from atr.report import model, wording
from atr.warehouse.store import hold

F = TypeVar("F", bound=Callable[..., Any])

logger = logging.getLogger("atr.flows")

PATIENCE = 600.0
"""Seconds that a scheduled run waits for another run of the same series."""
RUNNER: Any = ThreadPoolTaskRunner(max_workers=max(2, os.cpu_count() or 2))

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


def step(function: F, *, retries: int = 0) -> Any:
    """A task that runs one step; those that touch the log or the store are repeated where the machine was at fault."""
    return task(
        name=function.__name__.replace("_", "-"),
        cache_policy=NO_CACHE,
        persist_result=False,
        retries=retries,
        retry_delay_seconds=[2.0, 10.0],
        retry_condition_fn=_may_pass if retries else None,
    )(function)


def _solve_name() -> str:
    return f"solve {runtime.task_run.parameters['batch'].name}"[:120]


load_log = step(steps.load_log, retries=2)
begin = step(steps.begin, retries=2)
aggregate = step(steps.aggregate, retries=2)
solve = step(steps.solve).with_options(task_run_name=_solve_name)
announce = step(steps.announce)
measure = step(steps.measure)
render = step(steps.render)
register = step(steps.register, retries=2)


def _run_name() -> str:
    """The series and the period; where the programme cannot be loaded, which the run will say, its path."""
    given = runtime.flow_run.parameters
    try:
        series = load(permitted(given["programme"])).programme
    except AtrError:
        series = given["programme"]
    return f"{series} {given.get('period') or 'last period'}"


@flow(name="publish", flow_run_name=_run_name, task_runner=RUNNER)
def publish(programme: ProgrammePath, period: PeriodLabel = None) -> Outcome:
    """Make the report of a period and leave it as a draft that waits for review."""
    programme = permitted(programme)
    loaded = load(programme)
    with hold(loaded.store_path, wait=PATIENCE if runtime.deployment.id else 5):
        logger.info("Reading the log …")
        load_log(programme)
        label = None if period is None else str(period)
        run = begin(programme, label, ended_by=_scheduled_day(loaded))
        try:
            outcome = _report(run)
        except RefusedError as refusal:
            raise steps.refuse(run, refusal) from None
        except Exception:
            with suppress(Exception):
                steps.give_up(run)
            raise
    _show(outcome)
    return outcome


def _report(run: Run) -> Outcome:
    logger.info("Counting the decisions of %s …", run.period_label)
    batches: list[Batch] = aggregate(run)
    logger.info("Solving the QID groups, in %d tasks …", len(batches))
    solved = [solve.submit(run, batch) for batch in batches]
    wait(solved)
    for future in solved:
        future.result()
    logger.info("Choosing what to announce, and measuring fairness …")
    announce(run)
    measure(run)
    logger.info("Rendering the documents …")
    render(run)
    outcome: Outcome = register(run)
    return outcome


def _scheduled_day(programme: Programme) -> date | None:
    """The day a scheduled run was meant for, where the programme is; None for a run that a person started."""
    if runtime.deployment.id is None or "auto-scheduled" not in (runtime.flow_run.tags or []):
        return None
    zone = ZoneInfo(programme.period.timezone or "UTC")
    day: date = runtime.flow_run.scheduled_start_time.astimezone(zone).date()
    return day


def _show(outcome: Outcome) -> None:
    """Leave what is publishable in Prefect's UI."""
    report = model.read(outcome.documents / "report.json")
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
        key="privacy-statement", markdown=wording.guarantee(report), description="What the report guarantees."
    )
    for name in ("report.html", "report.pdf"):
        path: Path = outcome.documents / name
        create_link_artifact(key=name.replace(".", "-"), link=path.as_uri(), link_text=name)
