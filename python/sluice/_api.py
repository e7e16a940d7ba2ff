"""The commands of the command line as functions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from . import _sluice
from ._bounds import BoundsResult
from ._errors import Diagnostic, Interrupted, diagnostics_from, mistake
from ._execution import ExecutionResult
from ._extensions import Extension, LatencyPolicy, Problem
from ._options import option_texts
from ._progress import OnProgress, native
from ._result import MappingResult, Result
from ._specs import (
    Arch,
    Mapping,
    Request,
    Settings,
    Spec,
    SpecLike,
    Specs,
    Training,
    Workload,
    _loaded,
)
from ._yaml import yaml_text

#: A mapping, one of a result, or a file with mappings.
MappingLike = Union[Mapping, MappingResult, str, "os.PathLike[str]"]


def _request(
    specs: Sequence[SpecLike],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
) -> Request:
    named = [*specs] if constraints is None else [*specs, constraints]
    return Request.of(named, settings, training)


def search(
    specs: Sequence[SpecLike],
    *,
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    extensions: Iterable[Extension],
    on_progress: Optional[OnProgress],
    options: Map[str, Any],
) -> Result:
    texts, given = option_texts(options)
    loaded = _loaded(_request(specs, settings, constraints, training), [*extensions, *given])
    parts = _sluice.map(loaded, texts, native(on_progress))
    result = Result(parts)
    if parts["is_interrupted"]:
        raise Interrupted(result)
    return result


def search_bounds(
    specs: Sequence[SpecLike],
    *,
    vary: Optional[str],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    options: Map[str, Any],
) -> BoundsResult:
    texts, _ = option_texts(options)
    parts = _sluice.bounds(_loaded(_request(specs, settings, constraints, training)), texts, vary or "")
    if parts["is_interrupted"]:
        raise KeyboardInterrupt
    return BoundsResult(parts)


def _as_mappings(given: MappingLike | Sequence[MappingLike], specs: Sequence[SpecLike]) -> Optional[SpecLike]:
    """One spec with all of them."""
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(items) == 1 and isinstance(items[0], (str, os.PathLike)):
        return items[0]
    mappings: list[Mapping] = []
    for item in items:
        if isinstance(item, MappingResult):
            mappings.append(item.mapping)
        elif isinstance(item, Mapping):
            mappings.append(item)
        elif isinstance(item, (str, os.PathLike)):
            mappings += Specs(Request.of([*specs, item])).mappings
        else:
            raise TypeError(f"a mapping is a sluice.Mapping, one of a result, or a file, not {type(item).__name__}")
    if len(mappings) == 1:
        return mappings[0]
    return Spec(yaml_text({"mappings": [mapping._section() for mapping in mappings]}), "mappings")


def _with_mappings(
    specs: Sequence[SpecLike],
    mapping: MappingLike | Sequence[MappingLike] | None,
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training] = None,
) -> Request:
    request = _request(specs, settings, constraints, training)
    if mapping is not None:
        found = _as_mappings(mapping, [Specs(request)] if isinstance(mapping, (list, tuple)) else specs)
        assert found is not None
        request.add(found)
    return request


def evaluate(
    workload: SpecLike,
    arch: SpecLike | None = None,
    mapping: MappingLike | Sequence[MappingLike] | None = None,
    *specs: SpecLike,
    latency: str | LatencyPolicy = "overlap",
    set: Optional[Settings] = None,
    constraints: Optional[SpecLike] = None,
    training: Optional[Training] = None,
    extensions: Iterable[Extension] = (),
) -> Result:
    """Prices mappings, or says everything that is illegal about them.

    :param mapping: a :class:`Mapping`, one of a :class:`Result`, a file, or several of them
    :param latency: the latency policy (docs/model.md)
    :return: a result of status ``ok``, ``illegal`` or ``unpriced``

    >>> import sluice as sl
    >>> found = sl.map("matmul", "simple", objective="energy", threads=1)
    >>> sl.evaluate("matmul", "simple", found.best).best.energy_j == found.best.energy_j
    True
    """
    named = [workload, *([] if arch is None else [arch]), *specs]
    request = _with_mappings(named, mapping, set, constraints, training)
    given = [latency] if isinstance(latency, LatencyPolicy) else []
    policy = latency.name if isinstance(latency, LatencyPolicy) else latency
    return Result(_sluice.evaluate(_loaded(request, [*extensions, *given]), policy))


def execute(
    workload: SpecLike,
    arch: SpecLike | None = None,
    mapping: MappingLike | Sequence[MappingLike] | None = None,
    *specs: SpecLike,
    seed: int = 0,
    inputs: Optional[Map[str, Any]] = None,
    values: bool = False,
    set: Optional[Settings] = None,
    on_progress: Optional[OnProgress] = None,
) -> ExecutionResult:
    """Runs mappings of small shapes step by step, with numbers, and compares with the model.

    :param seed: of the input numbers: whole numbers from -2 to 3
    :param inputs: numbers of inputs instead: nested lists or arrays by tensor
    :param values: whether to keep the numbers of all tensors, in ``result[0].values``

    >>> import sluice as sl
    >>> small = {"M": 2, "N": 2, "K": 2}
    >>> found = sl.map("matmul", "simple", set=small, threads=1)
    >>> run = sl.execute("matmul", "simple", found.best, set=small, values=True,
    ...                  inputs={"A": [[1, 2], [3, 4]], "W": [[1, 0], [0, 1]]})
    >>> bool(run), run[0].values["Z"]
    (True, [[1.0, 2.0], [3.0, 4.0]])
    """
    named = [workload, *([] if arch is None else [arch]), *specs]
    request = _with_mappings(named, mapping, set, None)
    numbers = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in (inputs or {}).items()}
    text = json.dumps(numbers) if numbers else ""
    return ExecutionResult(_sluice.execute(_loaded(request), seed, text, values, native(on_progress)))


def problem(
    workload: SpecLike,
    arch: SpecLike | None = None,
    *specs: SpecLike,
    latency: str | LatencyPolicy = "overlap",
    set: Optional[Settings] = None,
    training: Optional[Training] = None,
    extensions: Iterable[Extension] = (),
) -> Problem:
    """A workload on an architecture, to price many mappings of: ``problem.totals(mapping)``."""
    named = [workload, *([] if arch is None else [arch]), *specs]
    given = [latency] if isinstance(latency, LatencyPolicy) else []
    policy = latency.name if isinstance(latency, LatencyPolicy) else latency
    loaded = _loaded(Request.of(named, set, training), [*extensions, *given])
    return Problem(_sluice.problem(loaded, policy))


def check(*specs: SpecLike, set: Optional[Settings] = None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with specs and their mappings; empty where nothing is.

    >>> import sluice as sl
    >>> [d.hint for d in sl.check("matmul", sl.Spec("mapper: {max_fused_lops: 1}"))]
    ["did you mean 'max_fused_loops'?"]
    """
    request = Request.of(specs, set)
    rows = json.loads(_sluice.check(request.names, request.texts, request.assignments))
    return diagnostics_from(rows)


@dataclass(frozen=True)
class Imported:
    """Another tool's specs as Sluice specs; what the input does not have is None."""

    format: str
    workload: Workload | None
    arch: Arch | None
    mapping: Spec | None
    constraints: Spec | None
    notes: tuple[Diagnostic, ...]  #: what has no counterpart

    @property
    def specs(self) -> tuple[Spec, ...]:
        """All parts, as arguments of ``map`` or ``evaluate``."""
        parts = (self.workload, self.arch, self.mapping, self.constraints)
        return tuple(part for part in parts if part is not None)


def import_(
    *files: str | os.PathLike[str], ert: str | os.PathLike[str] | None = None, set: Optional[Settings] = None
) -> Imported:
    """Reads specs of Timeloop or AccelForge, or a table of layers (docs/importing.md).

    :param ert: energies per action: Accelergy's ERT, or a map component → action → energy
    """
    request = Request.of((), set)
    row = json.loads(
        _sluice.import_files(
            [os.fspath(file) for file in files],
            request.assignments,
            "" if ert is None else os.fspath(ert),
            sys.executable or "python3",
        )
    )
    return Imported(
        format=row["format"],
        workload=Workload.from_yaml(row["workload"]) if row["workload"] else None,
        arch=Arch.from_yaml(row["arch"]) if row["arch"] else None,
        mapping=Spec(row["mapping"], "mapping") if row["mapping"] else None,
        constraints=Spec(row["constraints"], "constraints") if row["constraints"] else None,
        notes=diagnostics_from(row["notes"]),
    )


def list_(kind: str) -> dict[str, str]:
    """Names of one kind, with a sentence each: ``workloads``, ``architectures``, ``networks``, …

    >>> import sluice as sl
    >>> "tpu_v4i" in sl.list_("architectures")
    True
    """
    if kind not in _sluice.list_kinds():
        raise mistake(f"there is no list of `{kind}`", f"kinds: {', '.join(_sluice.list_kinds())}")
    lines = [line.split(None, 1) for line in _sluice.list_names(kind).splitlines()]
    return {words[0]: words[1] if len(words) > 1 else "" for words in lines}
