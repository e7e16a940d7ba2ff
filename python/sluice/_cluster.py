"""The points of a sweep on the workers of a Dask cluster."""

from __future__ import annotations

import importlib
import time
from typing import Any, Optional, Protocol

from . import _sluice
from ._errors import SluiceError
from ._progress import OnProgress, Progress


class Client(Protocol):
    """What is used of a ``dask.distributed.Client``. Dask itself is imported where a client is given."""

    @property
    def asynchronous(self) -> Any: ...
    def submit(self, function: Any, /, *arguments: Any, pure: bool) -> Any: ...
    def cancel(self, futures: Any, /) -> Any: ...


def _distributed() -> Any:
    try:
        return importlib.import_module("distributed")  # type checkers need not look into Dask
    except ImportError as error:
        raise SluiceError("a cluster needs Dask: pip install distributed (or the extra sluice[dask])") from error


def search_point(inputs: str, donor: str, threads: int) -> str:
    """One point, on a worker."""
    return _sluice.search_point(inputs, donor, threads)


def _submit(client: Client, plan: _sluice.Sweep, threads: int) -> dict[Any, int]:
    """A task for each point that is missing. One that starts from another's mapping waits for it."""
    tasks: dict[int, Any] = {}
    for point, donor in plan.waiting():
        start = "" if donor is None else tasks[donor] if donor in tasks else plan.found(donor)
        tasks[point] = client.submit(search_point, plan.inputs(point), start, threads, pure=False)
    return {task: point for point, task in tasks.items()}


def run_on(
    client: Client, plan: _sluice.Sweep, threads: int, on_progress: Optional[OnProgress], file: Optional[str]
) -> bool:
    """Searches what the database does not have; each run is saved, by this process alone, as soon as it
    arrives. Whether Ctrl-C ended that."""
    distributed = _distributed()
    if not isinstance(client, distributed.Client) or client.asynchronous:
        raise TypeError(f"client must be a dask.distributed.Client that is not asynchronous, not {client!r}")
    begin = time.monotonic()
    tasks = _submit(client, plan, threads)
    n_done = plan.n_points - len(tasks)

    def tell() -> None:
        if on_progress is not None:
            text = f"{n_done} of {plan.n_points} runs"
            on_progress(Progress(time.monotonic() - begin, text, n_done / plan.n_points, None, None))

    tell()
    try:
        for task in distributed.as_completed(list(tasks)):
            try:
                run = task.result()
            except distributed.KilledWorker as error:
                kept = f"the runs that were saved are in {file}" if file else "no file was named to keep runs in"
                raise SluiceError(f"workers died searching the point {plan.settings(tasks[task])}: {error}; {kept}") from error
            plan.save(tasks[task], run)
            n_done += 1
            tell()
    except KeyboardInterrupt:
        return True
    finally:
        client.cancel(list(tasks))
    return False
