"""What a literal run of a mapping says (docs/executor.md)."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from typing import Any

from ._errors import Diagnostic, diagnostics_from
from ._result import OccupancyRow
from ._specs import Mapping, _preformatted

__all__ = ["Complaint", "CountRow", "Execution", "ExecutionResult", "NumericCheck"]


@dataclass(frozen=True)
class CountRow:
    """Values or operations of one action, over the whole run."""

    einsum: str
    component: str
    tensor: str | None
    action: str
    count: int
    bits: float | None


@dataclass(frozen=True)
class Complaint:
    kind: str
    message: str

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class NumericCheck:
    """The results of the run beside those of the plain evaluation."""

    compared: int
    exact: int
    differing: int
    largest_relative_error: float | None


@dataclass(frozen=True)
class Execution:
    """The run of one mapping."""

    mapping: Mapping
    is_legal: bool
    complaints: tuple[Complaint, ...]
    counts: tuple[CountRow, ...]
    occupancy: tuple[OccupancyRow, ...]
    numbers: NumericCheck
    merge_values: int
    padding_values: int
    compute_steps: int
    model_agrees: bool
    disagreements: tuple[str, ...]
    #: Nested lists by tensor, with ``values=True``; ``numpy.array(run.values["Z"])`` is an array.
    values: dict[str, Any] = field(default_factory=dict, repr=False)


def _number(value: Any) -> Any:
    """JSON has no infinities: they are texts."""
    if isinstance(value, list):
        return [_number(item) for item in value]
    return float(value) if isinstance(value, str) else value


def numbers_json(value: Any) -> Any:
    """Nested lists or arrays of numbers, as JSON has them.

    >>> numbers_json([(1, True), [0.5, float("-inf")]])
    [[1, 1], [0.5, '-inf']]
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [numbers_json(item) for item in value]
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (int, float, str)):
        return value
    raise TypeError(f"inputs are nested lists or arrays of numbers, not {type(value).__name__}")


def _execution(entry: dict[str, Any], values: str, tree: str) -> Execution:
    rows = [
        {key: row.get(key) for key in ("einsum", "component", "tensor", "action", "count", "bits")}
        for row in entry["counts"]
    ]
    peaks = [{key: row[key] for key in ("component", "peak_bits", "capacity_bits")} for row in entry["occupancy"]]
    return Execution(
        mapping=Mapping.from_json(entry["mapping"], tree),
        is_legal=entry["legal"],
        complaints=tuple(Complaint(**row) for row in entry["complaints"]),
        counts=tuple(CountRow(**row) for row in rows),
        occupancy=tuple(OccupancyRow(**row) for row in peaks),
        numbers=NumericCheck(**entry["numbers"]),
        merge_values=entry["merge_values"],
        padding_values=entry["padding_values"],
        compute_steps=entry["compute_steps"],
        model_agrees=entry["model"]["agrees"],
        disagreements=tuple(entry["model"]["disagreements"]),
        values={name: _number(lists) for name, lists in json.loads(values).items()},
    )


class ExecutionResult:
    """What :func:`sluice.execute` returns; true where every run is legal and the model agrees."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.document: dict[str, Any] = json.loads(parts["document"])
        self.summary: str = parts["summary"]
        self.runs: tuple[Execution, ...] = tuple(
            _execution(entry, values, tree)
            for entry, values, tree in zip(self.document["mappings"], parts["values"], parts["trees"])
        )

    @property
    def status(self) -> str:
        """``ok``, ``illegal``, ``not_run`` or ``unpriced``."""
        return str(self.document["status"])

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return diagnostics_from(self.document["diagnostics"])

    def __getitem__(self, index: int) -> Execution:
        return self.runs[index]

    def __len__(self) -> int:
        return len(self.runs)

    def __bool__(self) -> bool:
        return bool(self.runs) and all(run.is_legal and run.model_agrees for run in self.runs)

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return _preformatted(self.summary)

    def __repr__(self) -> str:
        return f"<sluice.ExecutionResult {self.status}>"
