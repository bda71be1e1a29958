"""What a person sees of a run: the step, how much of it is done, and for how long."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TextIO, TypeVar

from rich.console import Console
from rich.progress import MofNCompleteColumn, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars

from atr.ingest import Reading
from atr.pipeline import DOING, run_each
from atr.warehouse.run import Batch, Run

T = TypeVar("T")


class Progress(Bars):
    """Runs the steps of :func:`atr.pipeline.publish` and tells of each: live on a terminal, else a line a step."""

    def __init__(self, stream: TextIO) -> None:
        console = Console(file=stream)
        super().__init__(
            SpinnerColumn(finished_text="✓"),
            TextColumn("{task.description}"),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def step(self, function: Callable[..., T], *arguments: Any) -> T:
        """Run a step."""
        task = self._begin(function, total=1)
        done = function(*arguments)
        if isinstance(done, Reading):
            self.console.print(done.told, markup=False, highlight=False)
        self.advance(task)
        return done

    def map(self, function: Callable[[Run, Batch], None], run: Run, batches: Sequence[Batch]) -> None:
        """Run a step for each batch."""
        task = self._begin(function, total=len(batches))

        def one(run: Run, batch: Batch) -> None:
            function(run, batch)
            self.advance(task)

        run_each(one, run, batches)

    def _begin(self, function: Callable[..., Any], *, total: int) -> TaskID:
        doing = DOING[function.__name__]
        if self.disable:
            self.console.print(f"{doing} …", markup=False, highlight=False)
        return self.add_task(doing, total=total)
