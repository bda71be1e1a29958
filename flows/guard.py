"""What Prefect would do because a run, a deployment or a result in its database says so, and is not done here.

Whoever has the server's credentials may start a run of a served programme. These parts of Prefect would let him run
other code in its place, and write files elsewhere.
"""

from __future__ import annotations

from typing import Any, NoReturn

import prefect.serializers
import prefect.workers.process
from prefect import flow
from prefect._internal.result_records import ResultRecord
from prefect.results import ResultStore


def keep_to_own_code() -> None:
    """Look for hooks in no file that a deployment names, unpickle no result, import nothing that one names, store none.

    Called before anything is read from the server.
    """
    prefect.workers.process.load_flow_from_flow_run = _no_hooks  # type: ignore[attr-defined]
    ResultRecord.deserialize = ResultRecord.deserialize_from_result_and_metadata = _refuse  # type: ignore[method-assign]
    ResultStore.persist_result_record = _nothing  # type: ignore[method-assign]
    ResultStore.apersist_result_record = _nothing_later  # type: ignore[method-assign]
    serializers = prefect.serializers
    serializers.validate_picklelib = serializers.validate_compressionlib = _as_it_is  # type: ignore[attr-defined]


@flow
def _without_hooks() -> None:
    """A flow that has none."""


async def _no_hooks(*_: Any, **__: Any) -> Any:
    return _without_hooks


def _refuse(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError("no stored result is read here")


def _nothing(*_: Any, **__: Any) -> None:
    return None


async def _nothing_later(*_: Any, **__: Any) -> None:
    return None


def _as_it_is(value: str) -> str:
    return value
