"""Many searches: what :func:`sluice.sweep` returns, and how it is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _sluice
from ._errors import Interrupted, NoMappingError, mistake
from ._options import texts_by_name
from ._progress import OnProgress, native
from ._rows import made
from ._specs import Request, Settings, Spec, SpecLike, Training, _setting_text, given_a_map, setting_value, training_texts

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ._cluster import Client

__all__ = ["SweepResult", "SweepRun", "Vary"]

#: ``{"arch.Buffer.size": "16KiB..1MiB:x2", "M": [256, 512]}``, or the same as texts ``NAME=VALUES``.
Vary = Union[Map[str, Any], Sequence[str], str]
#: One of them, or several, each of which is tried.
OneOrMore = Union[SpecLike, Sequence[SpecLike]]


@dataclass(frozen=True)
class SweepRun:
    """What the search of one point found; numbers are those of its best mapping."""

    settings: dict[str, str]  #: what varies, as it was given
    numbers: dict[str, float]  #: those settings that are numbers, in SI units and bits
    workload: str
    architecture: str
    status: str  #: ``ok`` or ``no_mapping``
    energy_j: float | None
    latency_s: float | None
    edp_js: float | None
    leak_energy_j: float | None
    operations_per_s: float | None
    operations_per_j: float | None
    power_w: float | None
    area_m2: float | None  #: of the machine
    operations: float
    guarantee: str
    bound: float | None  #: that no mapping's first objective is below
    mapper: str
    ended_by: str | None  #: ``budget``, ``memory``, ``templates``; None: its end
    reason: str | None  #: why there is no mapping
    seconds: float
    mappings_evaluated: float
    mapping: Spec | None  #: the best one: for ``evaluate``, with ``set=run.settings``


class SweepResult:
    """What :func:`sluice.sweep` returns: a run for each point, in the order of the points.

    Iterates over the runs, and prints as the table of the command line.
    """

    def __init__(self, parts: dict[str, Any], database: str | None, is_interrupted: bool) -> None:
        #: The document ``sluice.sweep/1`` (docs/sweeps.md).
        self.document: dict[str, Any] = json.loads(parts["document"])
        #: The table of the command line.
        self.summary: str = parts["summary"]
        #: The SQLite file that has the runs; None: none was named.
        self.database = database
        #: Names of what varies.
        self.varied: tuple[str, ...] = tuple(self.document["varied"])
        #: The column that is minimised: ``edp_js``, ``energy_j`` or ``latency_s``.
        self.objective: str = parts["objective"]
        #: How many points there are; fewer runs where the sweep was interrupted.
        self.n_points: int = self.document["points"]
        self.is_interrupted = is_interrupted
        self._csv: str = parts["csv"]
        self.runs: tuple[SweepRun, ...] = tuple(
            made(SweepRun, row, mapping=Spec(text, "mapping") if text else None)
            for row, text in zip(self.document["runs"], parts["mappings"])
        )

    @property
    def best(self) -> SweepRun:
        """The run with the least objective, of a sweep of one workload.

        :raises NoMappingError: where no point has a mapping
        :raises SpecError: where there are several workloads: their objectives do not compare
        """
        best = self.best_by_workload
        if not best:
            reasons = [run.reason for run in self.runs if run.reason]
            raise NoMappingError(reasons[0] if reasons else "no point was searched")
        if len(best) > 1:
            raise mistake(
                f"the objectives of {len(best)} workloads do not compare: {', '.join(best)}",
                "best_by_workload has the best run of each",
            )
        return next(iter(best.values()))

    @property
    def best_by_workload(self) -> dict[str, SweepRun]:
        """The run with the least objective of each workload that has a mapping."""
        return {row["workload"]: self.runs[row["run"]] for row in self.document["best"]}

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self.runs)

    def __getitem__(self, index: int) -> SweepRun:
        return self.runs[index]

    def __bool__(self) -> bool:
        return any(run.status == "ok" for run in self.runs)

    def frame(self) -> pd.DataFrame:
        """A row for each run: what varies, then the columns of the CSV."""
        from . import _frames

        rows = []
        for row in self.document["runs"]:
            settings = {name: row["settings"].get(name) for name in self.varied}
            rows.append({**settings, **{key: value for key, value in row.items() if key not in ("settings", "numbers")}})
        frame: pd.DataFrame = _frames.pandas().DataFrame(rows)
        return frame

    def plot(self, x: Optional[str] = None, y: Optional[str] = None, ax: Optional[Axes] = None) -> Axes:
        """One column over another, with a line for each combination of what else varies.

        :param x: default: the first that varies
        :param y: default: the objective
        """
        from . import _plots

        return _plots.sweep(self, x, y, ax)

    def to_csv(self, file: str | os.PathLike[str]) -> None:
        """Writes what ``--csv`` of the command line writes."""
        with open(file, "w", encoding="utf-8", newline="") as out:
            out.write(self._csv)

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<sluice.SweepResult {len(self.runs)} of {self.n_points} runs over {', '.join(self.varied) or 'nothing'}>"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_sweep(self)


def _grid(vary: Optional[Vary]) -> list[tuple[str, list[str]]]:
    """Names with the values that they take.

    >>> _grid({"M": "64..256:x2", "arch.Buffer.size": ["1 KiB", 4096]})
    [('M', ['64', '128', '256']), ('arch.Buffer.size', ['1 KiB', '4096'])]
    >>> _grid("M=1,2")
    [('M', ['1', '2'])]
    """
    if vary is None:
        return []
    if isinstance(vary, str):
        vary = [vary]
    if not isinstance(vary, Map):
        pairs = [text.partition("=") for text in vary]
        for name, equals, values in pairs:
            if not name or not equals:
                raise mistake(f"`{name}{equals}{values}` varies nothing", "write NAME=VALUES")
        fields: Sequence[tuple[str, Any]] = [(name, values) for name, _, values in pairs]
    else:
        fields = list(vary.items())
    for name, values in fields:
        if isinstance(values, Map):
            raise given_a_map(name, values, "what varies is a text, or a list of values")
    grid = [
        (name, _sluice.varied_values(values, f"{name}={values}"))
        if isinstance(values, str)
        else (name, [_setting_text(value) for value in (values if hasattr(values, "__iter__") else [values])])
        for name, values in fields
    ]
    for name, points in grid:
        if not points:
            raise mistake(f"`{name}` has no values", "write some: {NAME: [1, 2]}")
    return grid


def varied_text(vary: Optional[Vary]) -> str:
    """Of what varies one field alone.

    >>> varied_text({"M": [64, 128]}), varied_text("M=64..256:x2")
    ('M=64,128', 'M=64..256:x2')
    """
    if isinstance(vary, str):
        return vary
    fields = _grid(vary)
    if len(fields) > 1:
        raise mistake(f"bounds vary one field, not {len(fields)}: {', '.join(name for name, _ in fields)}",
                      "call it for each value of the others")
    return "".join(f"{name}={','.join(values)}" for name, values in fields)


def _many(specs: OneOrMore) -> list[SpecLike]:
    return list(specs) if isinstance(specs, (list, tuple)) else [specs]  # type: ignore[list-item]


def search_points(
    workload: OneOrMore,
    arch: Optional[OneOrMore],
    specs: Sequence[SpecLike],
    *,
    vary: Optional[Vary],
    points: Sequence[Map[str, Any]],
    output: str | os.PathLike[str] | None,
    jobs: Optional[int],
    client: Optional[Client],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    ert: str | os.PathLike[str] | None,
    on_progress: Optional[OnProgress],
    options: Map[str, Any],
) -> SweepResult:
    texts = texts_by_name(options, "a sweep", "search the points one by one: sluice.map in a loop")
    if jobs is not None and jobs < 1:
        raise mistake(f"jobs={jobs}: there must be one at least")
    request = Request([], {}, [], training, "" if ert is None else os.fspath(ert))

    def names_of(items: Sequence[SpecLike]) -> list[str]:
        begin = len(request.names)
        for item in items:
            request.add(item)
        return request.names[begin:]

    workloads = names_of(_many(workload))
    architectures = names_of([] if arch is None else _many(arch))
    files = names_of([*specs, *([] if constraints is None else [constraints])])
    if not isinstance(workload, (list, tuple)):  # of sluice.load: several files that say one thing
        workloads, files = workloads[:1], workloads[1:] + files
    request.set(settings)
    file = None if output is None else os.fspath(output)
    plan = _sluice.sweep(
        workloads=workloads,
        architectures=architectures,
        files=files,
        texts=request.texts,
        assignments=request.assignments,
        training=training_texts(request.training),
        energy_file=request.energy_file,
        grid=_grid(vary),
        points=[[(name, setting_value(name, value)) for name, value in point.items()] for point in points],
        options=texts,
        database=file or "",
    )
    if client is None:
        is_interrupted = plan.run(jobs or os.cpu_count() or 1, native(on_progress))
    else:
        from ._cluster import run_on

        is_interrupted = run_on(client, plan, int(texts.get("threads", 1)), on_progress, file)
    result = SweepResult(plan.parts(), file, is_interrupted)
    if is_interrupted:
        raise Interrupted(result)
    return result
