"""The commands of the command line as functions."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _sluice
from ._bounds import BoundsResult
from ._errors import Diagnostic, Interrupted, diagnostics_from, mistake
from ._execution import ExecutionResult, numbers_json
from ._extensions import Extension, LatencyPolicy, Problem, checked
from ._options import option_texts
from ._progress import OnProgress, native
from ._result import MappingResult, Result
from ._rows import all_made
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
    _preformatted,
    training_texts,
)
from ._sweep import SweepResult, Vary, varied_text
from ._yaml import yaml_text

if TYPE_CHECKING:
    import pandas as pd

#: A file of this name.
FileName = Union[str, "os.PathLike[str]"]
#: A mapping, one of a result, or a file with mappings.
MappingLike = Union[Mapping, MappingResult, Spec, str, "os.PathLike[str]"]


def _request(
    specs: Sequence[SpecLike],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    ert: Optional[FileName],
) -> Request:
    named = [*specs] if constraints is None else [*specs, constraints]
    return Request.of(named, settings, training, ert)


def search(
    specs: Sequence[SpecLike],
    *,
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    ert: Optional[FileName],
    extensions: Iterable[Extension],
    on_progress: Optional[OnProgress],
    why: bool,
    options: Map[str, Any],
) -> Result:
    texts, given = option_texts(options)
    loaded = _loaded(_request(specs, settings, constraints, training, ert), [*checked(extensions), *given])
    parts = _sluice.map(loaded, texts, native(on_progress), why)
    result = Result(parts)
    if parts["is_interrupted"]:
        raise Interrupted(result)
    return result


def search_bounds(
    specs: Sequence[SpecLike],
    *,
    vary: Optional[Vary],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    ert: Optional[FileName],
    options: Map[str, Any],
) -> BoundsResult:
    texts, _ = option_texts(options)
    loaded = _loaded(_request(specs, settings, constraints, training, ert))
    parts = _sluice.bounds(loaded, texts, varied_text(vary))
    result = BoundsResult(parts)
    if parts["is_interrupted"]:
        raise Interrupted(result)
    return result


def _as_mappings(
    given: MappingLike | Sequence[MappingLike], specs: Sequence[SpecLike], extensions: Iterable[Extension]
) -> Optional[SpecLike]:
    """One spec with all of them."""
    items = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(items) == 1 and isinstance(items[0], (Spec, str, os.PathLike)):
        return items[0]
    mappings: list[Mapping] = []
    for item in items:
        if isinstance(item, MappingResult):
            mappings.append(item.mapping)
        elif isinstance(item, Mapping):
            mappings.append(item)
        elif isinstance(item, (Spec, str, os.PathLike)):
            mappings += Specs(Request.of([*specs, item]), extensions).mappings
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
    training: Optional[Training],
    ert: Optional[FileName],
    extensions: Sequence[Extension],
) -> Request:
    request = _request(specs, settings, constraints, training, ert)
    if mapping is not None:
        known = [Specs(request, extensions)] if isinstance(mapping, (list, tuple)) else specs
        found = _as_mappings(mapping, known, extensions)
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
    ert: Optional[FileName] = None,
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
    given = [*checked(extensions), *([latency] if isinstance(latency, LatencyPolicy) else [])]
    request = _with_mappings(named, mapping, set, constraints, training, ert, given)
    policy = latency.name if isinstance(latency, LatencyPolicy) else latency
    return Result(_sluice.evaluate(_loaded(request, given), policy))


def execute(
    workload: SpecLike,
    arch: SpecLike | None = None,
    mapping: MappingLike | Sequence[MappingLike] | None = None,
    *specs: SpecLike,
    seed: int = 0,
    inputs: Optional[Map[str, Any]] = None,
    values: bool = False,
    set: Optional[Settings] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    extensions: Iterable[Extension] = (),
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
    if not 0 <= seed < 2**64:
        raise mistake(f"seed={seed}: expected a whole number from 0 to 2^64 - 1")
    given = checked(extensions)
    request = _with_mappings(named, mapping, set, None, training, ert, given)
    text = json.dumps({name: numbers_json(value) for name, value in inputs.items()}) if inputs else ""
    return ExecutionResult(_sluice.execute(_loaded(request, given), seed, text, values, native(on_progress)))


def problem(
    workload: SpecLike,
    arch: SpecLike | None = None,
    *specs: SpecLike,
    latency: str | LatencyPolicy = "overlap",
    set: Optional[Settings] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
    extensions: Iterable[Extension] = (),
) -> Problem:
    """A workload on an architecture, to price many mappings of: ``problem.totals(mapping)``."""
    named = [workload, *([] if arch is None else [arch]), *specs]
    given = [*checked(extensions), *([latency] if isinstance(latency, LatencyPolicy) else [])]
    policy = latency.name if isinstance(latency, LatencyPolicy) else latency
    loaded = _loaded(Request.of(named, set, training, ert), given)
    return Problem(_sluice.problem(loaded, policy))


def check(
    *specs: SpecLike,
    set: Optional[Settings] = None,
    training: Optional[Training] = None,
    ert: Optional[FileName] = None,
) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with specs and their mappings; empty where nothing is.

    >>> import sluice as sl
    >>> [d.hint for d in sl.check("matmul", sl.Spec("mapper: {max_fused_lops: 1}"))]
    ["did you mean 'max_fused_loops'?"]
    """
    request = Request.of(specs, set, training, ert)
    rows = json.loads(
        _sluice.check(
            request.names,
            request.texts,
            request.assignments,
            training_texts(request.training),
            request.energy_file,
        )
    )
    return diagnostics_from(rows)


@dataclass(frozen=True)
class OperatorCount:
    """The nodes of an ONNX model that are of one operator."""

    type: str
    count: int  #: nodes
    einsums: int  #: that they have a part in
    operations: float  #: a multiply-add is one
    how: str  #: ``exact``, ``approximated`` or ``free``
    nodes: tuple[str, ...] = ()  #: of what is approximated
    reasons: tuple[str, ...] = ()  #: what about it


@dataclass(frozen=True)
class Imported:
    """Another tool's specs as Sluice specs; what the input does not have is None.

    Of an ONNX model also its counts (docs/onnx.md); prints as ``sluice import`` does.
    """

    format: str
    workload: Workload | None
    arch: Arch | None
    mapping: Spec | None
    constraints: Spec | None
    notes: tuple[Diagnostic, ...]  #: what has no counterpart
    document: dict[str, Any]  #: the schema ``sluice.import/1``
    summary: str
    inputs: dict[str, Any]  #: numbers of a model's constants, for ``execute(inputs=…)``

    @property
    def specs(self) -> tuple[Spec, ...]:
        """All parts, as arguments of ``map`` or ``evaluate``."""
        parts = (self.workload, self.arch, self.mapping, self.constraints)
        return tuple(part for part in parts if part is not None)

    @property
    def operators(self) -> tuple[OperatorCount, ...]:
        """Of an ONNX model: a row for each operator."""
        return all_made(OperatorCount, self.document.get("operators") or ())

    @property
    def macs(self) -> int | None:
        """Multiply-adds of an ONNX model's convolutions and matrix products."""
        return self.document.get("macs")

    @property
    def parameters(self) -> int | None:
        """Values of the constants that an ONNX model computes with."""
        return self.document.get("parameters")

    @property
    def activation_values(self) -> int | None:
        """Values of an ONNX model's inputs and of what its operators make."""
        return self.document.get("activation_values")

    def operators_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_rows(self.operators, OperatorCount)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.notes), self.summary.rstrip() or f"{self.format}: {', '.join(s.name for s in self.specs)}"])

    def __repr__(self) -> str:
        return f"<sluice.Imported {self.format}: {', '.join(spec.name for spec in self.specs)}>"

    def _repr_html_(self) -> str:
        return _preformatted(str(self))


def import_(
    *files: FileName, ert: Optional[FileName] = None, set: Optional[Settings] = None
) -> Imported:
    """Reads an ONNX model, specs of Timeloop or AccelForge, or a table of layers (docs/importing.md).

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
        document=row["document"],
        summary=row["summary"],
        inputs=json.loads(row["inputs"]) if row["inputs"] else {},
    )


#: A result, runs of a sweep, or the file or folder that has them.
Reported = Union[Result, SweepResult, str, "os.PathLike[str]"]


def _named(results: Sequence[Reported]) -> tuple[list[str], dict[str, str]]:
    """Names for files and for documents that are in none, and those documents."""
    names: list[str] = []
    texts: dict[str, str] = {}
    for result in results:
        if isinstance(result, (str, os.PathLike)):
            names.append(os.fspath(result))
            continue
        if isinstance(result, Result):
            name = f"{result.workload} on {result.arch}"
        elif isinstance(result, SweepResult):
            name = result.database or "sweep"
        else:
            raise TypeError(f"expected a result, or the file that has it, not {type(result).__name__}")
        unique, number = name, 2
        while unique in names:
            unique, number = f"{name} ({number})", number + 1
        names.append(unique)
        texts[unique] = json.dumps(result.document)
    return names, texts


def report(*results: Reported, output: FileName) -> None:
    """Writes one HTML page that shows results and sweeps in a browser, offline (docs/report.md).

    :param results: what ``map``, ``evaluate`` and ``sweep`` returned, or files that have it
    :param output: the page

    >>> import sluice as sl, tempfile, pathlib
    >>> page = pathlib.Path(tempfile.mkdtemp(), "report.html")
    >>> sl.report(sl.map("matmul", "simple", threads=1), output=page)
    >>> page.read_text()[:15]
    '<!doctype html>'
    """
    if not results:
        raise TypeError("report() takes at least one result")
    names, texts = _named(results)
    _sluice.report(names, texts, os.fspath(output))


class Comparison:
    """In what results differ: prints as ``sluice compare`` does; ``document`` is its JSON."""

    def __init__(self, document: dict[str, Any], summary: str) -> None:
        self.document = document  #: the schema ``sluice.comparison/1`` (docs/sweeps.md)
        self.summary = summary

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<sluice.Comparison of {', '.join(self.document['results'])}>"

    def _repr_html_(self) -> str:
        return _preformatted(self.summary)


def compare(*results: Reported) -> Comparison:
    """Says in what results differ, largest differences first.

    >>> import sluice as sl
    >>> small, large = (sl.map("matmul", "simple", set={"M": m}, threads=1) for m in (64, 128))
    >>> print(sl.compare(small, large).document["results"])
    ['matmul on simple', 'matmul on simple (2)']
    """
    if not results:
        raise TypeError("compare() takes at least one result")
    names, texts = _named(results)
    return Comparison(json.loads(_sluice.compare(names, texts, True)), _sluice.compare(names, texts, False))


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
