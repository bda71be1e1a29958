"""One run of a deployment, in a process of its own: started by the worker, and ended with it.

Prefect's engine would run whatever file the deployment names, after whatever steps it names; this one runs a flow of
this package, about a programme that is served.
"""

from __future__ import annotations

import os
import runpy
import sys
import threading
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.states import Cancelled

from atr.flows import guard, programmes


def main() -> None:
    """Run the flow that the worker names, for the run that Prefect's variables name.

    The arguments are the file of the programmes that are served, and the name of the flow.
    """
    served, flow = sys.argv[1:]
    guard.keep_to_own_code()
    programmes.restrict(Path(served))
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    os.environ["PREFECT__FLOW_ENTRYPOINT"] = f"atr.flows.{flow}.{flow}"
    sys.argv[1:] = []
    try:
        runpy.run_module("prefect.engine", run_name="__main__")
    finally:
        _end_cancelling(os.environ["PREFECT__FLOW_RUN_ID"])


def _end_cancelling(run: str) -> None:
    """Show a run as cancelled that was to be before it began: Prefect leaves it so, and it would keep its slot."""
    with get_client(sync_client=True) as client:
        state = client.read_flow_run(UUID(run)).state
        if state is not None and state.is_cancelling():
            client.set_flow_run_state(run, Cancelled(), force=True)


def _end_with_the_worker() -> None:
    """End at once when the worker is gone: nobody would be told how the run ends, and it holds the series."""
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main()
