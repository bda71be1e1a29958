"""The worker of `atr serve`: it runs the flows of this package only, whatever a run or a deployment asks for."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
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
FLOWS = ("publish", "sanitise", "backfill", "review")
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


async def make_pool() -> None:
    """Make the work pool, or set it back to what it is: without variables."""
    async with get_client() as client:
        pool = WorkPoolCreate(name=POOL, type=ProcessWorker.type, base_job_template=_NO_VARIABLES)
        await client.create_work_pool(pool, overwrite=True)


async def end_lost_runs() -> None:
    """Show as crashed what was running when the server before this one ended: none of its runs is left.

    Else such a run would hold the one slot of its deployment for ever.
    """
    lost = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]
    state: State[None] = Crashed(message="The server ended while this was under way.")
    ours = filters.FlowFilter(name=filters.FlowFilterName(any_=[*FLOWS]))
    flows = filters.FlowRunFilter(state=filters.FlowRunFilterState(type=filters.FlowRunFilterStateType(any_=lost)))
    tasks = filters.TaskRunFilter(state=filters.TaskRunFilterState(type=filters.TaskRunFilterStateType(any_=lost)))
    async with get_client() as client:
        while flow_runs := await client.read_flow_runs(flow_filter=ours, flow_run_filter=flows):
            for run in flow_runs:
                try:
                    await client.set_flow_run_state(run.id, state, force=True)
                except httpx.HTTPStatusError:  # a slot that cannot be given back, say
                    await client.delete_flow_run(run.id)
        while task_runs := await client.read_task_runs(flow_filter=ours, task_run_filter=tasks):
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
