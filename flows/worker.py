"""The worker of `atr serve`: it runs the flows of this package only, whatever a run or a deployment asks for."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import prefect.workers.process
from prefect import flow
from prefect.client.orchestration import get_client
from prefect.client.schemas import filters
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import State, StateType
from prefect.states import Crashed
from prefect.utilities.processutils import command_to_string
from prefect.workers.process import ProcessJobConfiguration, ProcessWorker

from atr.errors import RefusedError
from atr.flows.programmes import SERVED

POOL = "atr"
"""The work pool of all deployments."""
FLOWS = ("publish", "backfill", "review")
"""Each is the function of that name in the module of that name."""
_NO_VARIABLES = {
    "job_configuration": {"env": {}},
    "variables": {"type": "object", "properties": {}, "additionalProperties": False},
}


class FixedConfiguration(ProcessJobConfiguration):
    """How a run is started: by one command, in the worker's own environment and working folder."""

    def prepare_for_flow_run(
        self, flow_run: Any, deployment: Any = None, flow: Any = None, *more: Any, **named: Any
    ) -> None:
        """Set what the worker starts for a run.

        Raises
        ------
        RefusedError
            If it is of another flow, or asks for another environment.
        """
        if flow is None or flow.name not in FLOWS:
            raise RefusedError("the run is of no flow that is served here")
        if flow_run.job_variables or (deployment is not None and deployment.job_variables):
            raise RefusedError("the run has job variables, which are not obeyed here")
        served = Path(os.environ["PREFECT_HOME"], SERVED)
        self.command = command_to_string([sys.executable, "-P", "-m", "atr.flows.engine", str(served), flow.name])
        self.env = {}
        self.working_dir = Path.cwd()
        super().prepare_for_flow_run(flow_run, deployment, flow, *more, **named)


@flow
def _without_hooks() -> None:
    """What the worker is given to look for hooks in: a deployment can name any file of the machine for that."""


async def _no_hooks(*_: Any, **__: Any) -> Any:
    return _without_hooks


prefect.workers.process.load_flow_from_flow_run = _no_hooks  # type: ignore[attr-defined]


async def make_pool() -> None:
    """Make the work pool, or set it back to what it is: without variables."""
    async with get_client() as client:
        pool = WorkPoolCreate(name=POOL, type=ProcessWorker.type, base_job_template=_NO_VARIABLES)
        await client.create_work_pool(pool, overwrite=True)


async def end_lost_runs(*, also_waiting: bool) -> None:
    """Show as crashed what was running when the server before this one ended: nothing runs any more.

    Else such a run would hold the one slot of its deployment for ever.

    Parameters
    ----------
    also_waiting
        Whether what waits for its time or for a decision is not to be trusted either.
    """
    lost = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
    if also_waiting:
        lost += [StateType.SCHEDULED, StateType.PAUSED]
    state: State[None] = Crashed(message="The server ended while this was under way, or before it could begin.")
    async with get_client() as client:
        flows = filters.FlowRunFilter(state=filters.FlowRunFilterState(type=filters.FlowRunFilterStateType(any_=lost)))
        tasks = filters.TaskRunFilter(state=filters.TaskRunFilterState(type=filters.TaskRunFilterStateType(any_=lost)))
        while flow_runs := await client.read_flow_runs(flow_run_filter=flows):
            for run in flow_runs:
                await client.set_flow_run_state(run.id, state, force=True)
        while task_runs := await client.read_task_runs(task_run_filter=tasks):
            for task in task_runs:
                await client.set_task_run_state(task.id, state, force=True)


async def work() -> None:
    """Run what is due, until a signal to stop."""
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if task is not None and signal.getsignal(sent) != signal.SIG_IGN:
            loop.add_signal_handler(sent, task.cancel)
    with suppress(asyncio.CancelledError):
        worker = ProcessWorker(POOL, name="local")
        worker.job_configuration = FixedConfiguration
        await worker.start()
