"""Results as typed objects: the result document (docs/cli.md), number by number."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from ._errors import Diagnostic, NoMappingError, diagnostics_from
from ._files import write_texts
from ._rows import all_made, made
from ._specs import Component, EinsumInfo, Mapping, components_from, einsums_from
from ._why import Explanation, explanation_from

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "Bounds",
    "CollectiveLatencyRow",
    "EnergyRow",
    "Guarantee",
    "LatencyRow",
    "MappingResult",
    "NetworkRow",
    "OccupancyRow",
    "Reason",
    "Result",
    "Search",
    "Violation",
]


@dataclass(frozen=True)
class EnergyRow:
    """One line of the energy account; the lines add up to ``energy_j``."""

    component: str
    einsum: str
    tensor: str | None
    action: str
    count: float | None  #: values (memories) or operations (computes)
    bits: float | None
    actions: float | None
    energy_j: float | None


@dataclass(frozen=True)
class LatencyRow:
    """Busy time of one component in one Einsum."""

    einsum: str
    component: str
    latency_s: float | None


@dataclass(frozen=True)
class NetworkRow:
    """What one tensor's transfers put on one network."""

    kind: str  #: ``implicit`` (between a memory and what stands below it) or ``explicit``
    component: str
    einsum: str
    tensor: str
    volume_bits: float | None
    bit_hops: float | None
    latency_hops: float | None


@dataclass(frozen=True)
class CollectiveLatencyRow:
    einsum: str
    tensor: str
    type: str
    component: str
    over: tuple[str, ...]
    algorithm: str
    combined_values: float | None
    latency_s: float | None


@dataclass(frozen=True)
class OccupancyRow:
    """Peak of one instance of a memory."""

    component: str
    peak_bits: float
    capacity_bits: float | None  #: None: no limit

    @property
    def share(self) -> float | None:
        return None if not self.capacity_bits else self.peak_bits / self.capacity_bits


@dataclass(frozen=True)
class Bounds:
    """What no mapping is below."""

    compute_s: float | None
    memory_s: float | None
    energy_floor_j: float | None


@dataclass(frozen=True)
class Violation:
    """Why a mapping is illegal."""

    kind: str
    message: str
    component: str | None = None
    einsum: str | None = None
    tensors: tuple[str, ...] = ()
    excess_bits: float | None = None
    node_path: tuple[int, ...] = ()
    file: str | None = None
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True)
class Guarantee:
    """What the search proves."""

    kind: str  #: ``optimal``, ``within_epsilon``, ``gap`` or ``none``
    space: str
    leaves_out: tuple[dict[str, str], ...]
    orders_explored: int
    orders_wanted: int
    epsilon: float
    bound: float | None
    found_over_bound: float | None

    @property
    def is_proven(self) -> bool:
        return self.kind in ("optimal", "within_epsilon")


@dataclass(frozen=True)
class Search:
    """How long a search took, and what it looked at."""

    seconds: float
    threads: int
    mappings_considered: float | None
    mappings_evaluated: float | None
    pmappings_kept: float | None
    convergence: tuple[dict[str, float], ...] | None
    ended_by: str | None
    peak_rss_bytes: float


@dataclass(frozen=True)
class Reason:
    """Why there is no mapping."""

    message: str
    nearest_relaxation: str | None = None
    component: str | None = None
    einsum: str | None = None
    tensors: tuple[str, ...] = ()
    excess_bits: float | None = None

    def __str__(self) -> str:
        hint = f"\n  nearest relaxation: {self.nearest_relaxation}" if self.nearest_relaxation else ""
        return self.message + hint


@dataclass(frozen=True)
class MappingResult:
    """A mapping and what it costs; or, with ``violations``, why it is illegal (all numbers are NaN)."""

    mapping: Mapping
    energy_j: float = float("nan")
    latency_s: float = float("nan")
    edp_js: float = float("nan")
    leak_energy_j: float = float("nan")
    latency_cycles: float | None = None
    area_m2: float | None = None
    breakdown: dict[str, float] | None = None
    energy: tuple[EnergyRow, ...] = ()
    latency: tuple[LatencyRow, ...] = ()
    networks: tuple[NetworkRow, ...] = ()
    collective_latency: tuple[CollectiveLatencyRow, ...] = ()
    occupancy: tuple[OccupancyRow, ...] = ()
    bounds: Bounds | None = None
    fusion_groups: tuple[tuple[str, ...], ...] = ()
    unpriced_merge_values: float | None = None
    padding_values: float | None = None
    violations: tuple[Violation, ...] = ()
    components: tuple[Component, ...] = field(default=(), repr=False)
    einsums: tuple[EinsumInfo, ...] = field(default=(), repr=False)

    @property
    def is_legal(self) -> bool:
        return not self.violations

    @property
    def tree(self) -> str:
        """The loop tree as a drawing."""
        return str(self.mapping)

    def energy_frame(self) -> pd.DataFrame:
        """The energy account as a pandas frame."""
        from . import _frames

        return _frames.of_rows(self.energy, EnergyRow)

    def latency_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_rows(self.latency, LatencyRow)

    def networks_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_rows(self.networks, NetworkRow)

    def occupancy_frame(self) -> pd.DataFrame:
        from . import _frames

        frame = _frames.of_rows(self.occupancy, OccupancyRow)
        frame["share"] = [row.share for row in self.occupancy]
        return frame

    def plot_breakdown(self, by: str = "component", ax: Optional[Axes] = None) -> Axes:
        """Energy (and latency) by ``component``, ``einsum`` or ``tensor``, as bars."""
        from . import _plots

        return _plots.breakdown(self, by, ax)

    def plot_occupancy(self, ax: Optional[Axes] = None) -> Axes:
        """Peaks of the memories and their capacities."""
        from . import _plots

        return _plots.occupancy(self, ax)

    def plot_roofline(self, ax: Optional[Axes] = None) -> Axes:
        """Each Einsum between the roofs of compute and of the outermost memory."""
        from . import _plots

        return _plots.roofline(self, ax)

    def __str__(self) -> str:
        if not self.is_legal:
            return "illegal:\n" + "\n".join(f"  - {violation}" for violation in self.violations)
        return f"energy {self.energy_j:.6g} J, latency {self.latency_s:.6g} s, EDP {self.edp_js:.6g} J·s\n{self.tree}"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_mapping(self)


def mapping_result(
    entry: dict[str, Any],
    tree: str | None = None,
    components: tuple[Component, ...] = (),
    einsums: tuple[EinsumInfo, ...] = (),
) -> MappingResult:
    """From an entry of ``mappings`` of a result document."""
    mapping = Mapping.from_json(entry["mapping"], tree)
    if "violations" in entry:
        return MappingResult(mapping, violations=all_made(Violation, entry["violations"]))
    nan = float("nan")
    totals: dict[str, Any] = {
        key: nan if entry[key] is None else entry[key]
        for key in ("energy_j", "latency_s", "edp_js", "leak_energy_j")
    }
    return MappingResult(
        mapping=mapping,
        **totals,
        latency_cycles=entry["latency_cycles"],
        area_m2=entry["area_m2"],
        breakdown=entry["breakdown"],
        energy=all_made(EnergyRow, entry["energy"]),
        latency=all_made(LatencyRow, entry["latency"]),
        networks=all_made(NetworkRow, entry["collectives"]),
        collective_latency=all_made(CollectiveLatencyRow, entry["collective_latency"]),
        occupancy=all_made(OccupancyRow, entry["occupancy"]),
        bounds=made(Bounds, entry["bounds"]),
        fusion_groups=tuple(tuple(group) for group in entry["fusion_groups"]),
        unpriced_merge_values=entry["unpriced_merge_values"],
        padding_values=entry["padding_values"],
        components=components,
        einsums=einsums,
    )


class Result:
    """What ``map`` and ``evaluate`` return.

    Iterates over its mappings, best first; is true where it has a legal one; prints as the summary of
    the command line. ``document`` is the result document itself, with the same numbers.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        #: The result document (docs/cli.md), as the command line prints it with ``--json``.
        self.document: dict[str, Any] = json.loads(parts["document"])
        #: The summary of the command line.
        self.summary: str = parts["summary"]
        #: Workload and architecture in canonical YAML.
        self.specs: str = parts["specs"]
        self._text: str = parts["document"]
        self._mapping_texts: list[str] = list(parts["mapping_texts"])
        description = json.loads(parts["description"])
        components = components_from(description["arch"])
        einsums = einsums_from(description["workload"])
        self.mappings: tuple[MappingResult, ...] = tuple(
            mapping_result(entry, tree, components, einsums)
            for entry, tree in zip(self.document["mappings"], parts["trees"])
        )

    @property
    def status(self) -> str:
        """``ok``, ``no_mapping``, ``interrupted``, ``illegal`` or ``unpriced``."""
        return str(self.document["status"])

    @property
    def workload(self) -> str:
        return str(self.document["workload"])

    @property
    def arch(self) -> str:
        return str(self.document["arch"])

    @property
    def mapper(self) -> str | None:
        """The mapper that searched."""
        return self.document["mapper"]  # type: ignore[no-any-return]

    @property
    def objective(self) -> str | None:
        return self.document["objective"]  # type: ignore[no-any-return]

    @property
    def best(self) -> MappingResult:
        """The first mapping.

        :raises NoMappingError: where there is none, with the reason
        """
        if not self.mappings:
            reason = self.reason
            text = str(reason) if reason else f"there is no mapping: the search was {self.status}"
            raise NoMappingError(text, reason)
        return self.mappings[0]

    @property
    def reason(self) -> Reason | None:
        """Why there is no mapping, with status ``no_mapping``."""
        row = self.document.get("reason")
        return None if row is None else made(Reason, row)

    @property
    def guarantee(self) -> Guarantee | None:
        row = self.document["guarantee"]
        return None if row is None else made(Guarantee, row)

    @property
    def why(self) -> Explanation | None:
        """Why the best mapping is as it is, where ``map`` was called with ``why=True``."""
        row = self.document.get("why")
        return None if row is None else explanation_from(row)

    @property
    def search(self) -> Search | None:
        row = self.document["search"]
        return None if row is None else made(Search, row)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings about the specs and the mappings."""
        return diagnostics_from(self.document["diagnostics"])

    def __len__(self) -> int:
        return len(self.mappings)

    def __iter__(self) -> Iterator[MappingResult]:
        return iter(self.mappings)

    def __getitem__(self, index: int) -> MappingResult:
        return self.mappings[index]

    def __bool__(self) -> bool:
        return any(mapping.is_legal for mapping in self.mappings)

    def frame(self) -> pd.DataFrame:
        """A row for each mapping: energy, latency, EDP; of several objectives, their Pareto front."""
        from . import _frames

        return _frames.of_mappings(self)

    def energy_frame(self) -> pd.DataFrame:
        """The energy accounts of all mappings, numbered in the column ``mapping``."""
        from . import _frames

        return _frames.of_all(self, MappingResult.energy_frame)

    def latency_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_all(self, MappingResult.latency_frame)

    def occupancy_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_all(self, MappingResult.occupancy_frame)

    def networks_frame(self) -> pd.DataFrame:
        from . import _frames

        return _frames.of_all(self, MappingResult.networks_frame)

    def plot_pareto(self, ax: Optional[Axes] = None) -> Axes:
        """Energy over latency of all mappings, with the front."""
        from . import _plots

        return _plots.pareto(self, ax)

    def plot_breakdown(self, by: str = "component", ax: Optional[Axes] = None) -> Axes:
        """Of the best mapping."""
        return self.best.plot_breakdown(by, ax)

    def plot_occupancy(self, ax: Optional[Axes] = None) -> Axes:
        """Of the best mapping."""
        return self.best.plot_occupancy(ax)

    def plot_roofline(self, ax: Optional[Axes] = None) -> Axes:
        """Of the best mapping."""
        return self.best.plot_roofline(ax)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``result.json``, ``mapping.yaml`` and ``specs.yaml``, as ``-o`` of the command line."""
        texts = {"result.json": self._text, "specs.yaml": self.specs}
        if self.mappings:
            texts["mapping.yaml"] = "---\n".join(self._mapping_texts)
        write_texts(folder, texts)

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        if not self.mappings or not self.mappings[0].is_legal:
            return f"<sluice.Result {self.workload} on {self.arch}: {self.status}>"
        best = self.mappings[0]
        return (
            f"<sluice.Result {self.workload} on {self.arch}: {self.status}, "
            f"{best.energy_j:.6g} J, {best.latency_s:.6g} s>"
        )

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_result(self)
