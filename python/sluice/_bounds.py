"""What no mapping needs less of (docs/cli.md, "bounds")."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ._specs import _preformatted

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BoundsPoint", "BoundsResult", "Least", "LeastCosts"]


@dataclass(frozen=True)
class Least:
    """The best mapping's number, and what no mapping is below: the same where that is proven."""

    value: float | None
    bound: float | None
    proven: bool


@dataclass(frozen=True)
class LeastCosts:
    """Each number by a mapping of its own."""

    traffic_bits: Least
    energy_j: Least
    latency_s: Least


@dataclass(frozen=True)
class BoundsPoint:
    value: str  #: of the field that varies; empty where none does
    seconds: float
    alone: LeastCosts | None  #: Einsum by Einsum
    fused: LeastCosts | None  #: exchanging tensors on chip where that pays
    no_mapping: dict[str, Any] | None = None


def _least(row: dict[str, Any] | None) -> LeastCosts | None:
    return None if row is None else LeastCosts(**{name: Least(**number) for name, number in row.items()})


def _point(row: dict[str, Any]) -> BoundsPoint:
    return BoundsPoint(
        row["value"] or "", row["seconds"], _least(row.get("alone")), _least(row.get("fused")), row.get("no_mapping")
    )


class BoundsResult:
    """What :func:`sluice.bounds` returns."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.document: dict[str, Any] = json.loads(parts["document"])
        self.summary: str = parts["summary"]
        self.points: tuple[BoundsPoint, ...] = tuple(_point(row) for row in self.document["points"])

    def __getitem__(self, index: int) -> BoundsPoint:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def frame(self) -> pd.DataFrame:
        """A row for each value: ``alone`` and ``fused`` traffic, energy and latency."""
        from . import _frames

        rows = []
        for point in self.points:
            row: dict[str, Any] = {"value": point.value}
            for kind, costs in (("alone", point.alone), ("fused", point.fused)):
                for name in ("traffic_bits", "energy_j", "latency_s"):
                    row[f"{kind}_{name}"] = None if costs is None else getattr(costs, name).value
            rows.append(row)
        frame: pd.DataFrame = _frames.pandas().DataFrame(rows)
        return frame

    def __iter__(self) -> Iterator[BoundsPoint]:
        return iter(self.points)

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        return f"<sluice.BoundsResult {len(self.points)} points>"

    def _repr_html_(self) -> str:
        return _preformatted(self.summary)
