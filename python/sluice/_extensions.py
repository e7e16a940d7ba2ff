"""Mappers, latency policies and component classes written in Python (docs/python.md)."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Union

if TYPE_CHECKING:
    from . import _sluice
    from ._result import MappingResult
    from ._specs import Component, EinsumInfo, Mapping, Tensor

__all__ = [
    "ActionNumbers",
    "Attribute",
    "ComponentClass",
    "ComponentNumbers",
    "Control",
    "CountedMapping",
    "Extension",
    "LatencyPolicy",
    "Mapper",
    "NoMapping",
    "Problem",
]


class Problem:
    """A workload on an architecture: prices mappings, and says what both consist of."""

    def __init__(self, native: _sluice.Problem) -> None:
        self._native = native
        self._described: dict[str, Any] | None = None

    def evaluate(self, mapping: Mapping) -> MappingResult:
        """What a mapping costs, or every reason why it is illegal (``violations``)."""
        from ._result import mapping_result

        text = mapping.to_json()
        return mapping_result(json.loads(self._native.evaluate(text)))

    def totals(self, mapping: Mapping) -> tuple[float, float] | None:
        """Energy (J) and latency (s), many times faster than :meth:`evaluate`; None: illegal."""
        return self._native.totals(mapping.to_json())

    @property
    def _description(self) -> dict[str, Any]:
        if self._described is None:
            self._described = json.loads(self._native.description())
        return self._described

    @property
    def einsums(self) -> tuple[EinsumInfo, ...]:
        """In the order in which they run, each with the computes that accept it."""
        from ._specs import einsums_from

        return einsums_from(self._description["workload"])

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        from ._specs import tensors_from

        return tensors_from(self._description["workload"])

    @property
    def components(self) -> tuple[Component, ...]:
        from ._specs import components_from

        return components_from(self._description["arch"])

    def memories_to(self, compute: str) -> tuple[str, ...]:
        """Memories on the way to a compute, outermost first."""
        return tuple(self._description["arch"]["memories_to"][compute])

    @property
    def bounds(self) -> dict[str, float]:
        """``compute_s``, ``memory_s``, ``energy_floor_j``: no mapping is below them."""
        return dict(self._description["bounds"])


class Control:
    """How a search is watched and stopped."""

    def __init__(self, native: _sluice.Control) -> None:
        self._native = native

    @property
    def cancelled(self) -> bool:
        """Whether to end with the best so far: look at it often."""
        return self._native.cancelled

    def progress(self, phase: str, fraction: float) -> None:
        self._native.progress(phase, fraction)

    def offer(self, mapping: Mapping) -> bool:
        """Tells of a mapping before the end; False for an illegal one."""
        return self._native.offer(mapping.to_json())


@dataclass(frozen=True)
class NoMapping:
    """What a mapper returns where it has no mapping."""

    reason: str
    nearest_relaxation: str = ""
    proven: bool = False  #: that there is none at all


class Mapper(ABC):
    """A search method.

    The result must depend on the problem, the options and the seed alone.
    """

    name: ClassVar[str]
    description: ClassVar[str] = "a mapper written in Python"
    _kind: ClassVar[str] = "mapper"

    @abstractmethod
    def map(
        self, problem: Problem, options: Map[str, str], control: Control
    ) -> Mapping | Sequence[Mapping] | NoMapping:
        """The best mapping, or several, best first.

        :param options: every search option as text, as in docs/options.md: ``options["seed"]``
        """

    def _map(
        self, problem: _sluice.Problem, options: dict[str, str], control: _sluice.Control
    ) -> list[str] | str:
        from ._specs import Mapping

        found = self.map(Problem(problem), options, Control(control))
        if isinstance(found, NoMapping):
            return json.dumps(vars(found))
        mappings = [found] if isinstance(found, Mapping) else found
        if not isinstance(mappings, Iterable) or not all(isinstance(m, Mapping) for m in mappings):
            raise TypeError(f"map() returns sluice.Mapping objects or NoMapping, not {type(found).__name__}")
        return [mapping.to_json() for mapping in mappings]


class CountedMapping:
    """A legal mapping whose busy times are known. Of use only while ``latency`` runs."""

    def __init__(self, native: _sluice.Counted) -> None:
        self._native = native

    @property
    def overlap_s(self) -> float:
        """The latency under ``overlap``, in seconds."""
        return self._native.overlap_s

    def account(self) -> MappingResult:
        """The whole account under ``overlap``. Made anew by each call."""
        from ._result import mapping_result

        return mapping_result(json.loads(self._native.account()))


class LatencyPolicy(ABC):
    """How busy times become latency."""

    name: ClassVar[str]
    #: Whether it has times for collectives, and for pipelined and parallel splits.
    prices_collectives: ClassVar[bool] = True
    prices_concurrent_splits: ClassVar[bool] = True
    _kind: ClassVar[str] = "latency_policy"

    @abstractmethod
    def latency(self, counted: CountedMapping) -> Map[str, float]:
        """Seconds by part; their sum is the latency. Nothing: that of ``overlap``.

        It must not be below the bounds of the problem: mappers trust in them.
        """

    def _latency(self, counted: _sluice.Counted) -> list[tuple[str, float]]:
        parts = [(str(name), float(seconds)) for name, seconds in self.latency(CountedMapping(counted)).items()]
        for name, seconds in parts:
            if not seconds >= 0:
                raise ValueError(f"the part '{name}' of a latency is {seconds} s; parts are 0 or more")
        return parts


@dataclass(frozen=True)
class Attribute:
    """A number that a class asks a component for (``component_attributes``)."""

    name: str
    unit: str = ""  #: bit, J, s, 1/s, bit/s, W, m2; empty: a pure number
    usual: float | None = None  #: where the component gives none
    from_key: str = ""  #: key of the component that is asked before ``usual``: ``size``
    minimum: float = 0.0
    maximum: float = math.inf


@dataclass(frozen=True)
class ActionNumbers:
    name: str  #: read, write, compute, or a kind of operation
    energy_j: float | None = None
    energy_j_per_bit: float | None = None  #: instead of energy_j
    throughput: float | None = None  #: actions/s; infinity: takes no time
    throughput_bits: float | None = None  #: bit/s, instead of throughput


@dataclass(frozen=True)
class ComponentNumbers:
    """What a class says of one component. What is left out the component must say itself."""

    actions: Sequence[ActionNumbers] = ()
    area_m2: float | None = None
    leak_power_w: float | None = None
    hop_energy_j_per_bit: float | None = None  #: networks


class ComponentClass(ABC):
    """Energies, area and leakage from a component's attributes: ``component_class: NAME``."""

    name: ClassVar[str]
    #: Kinds of components that it knows: Memory, Toll, Compute, Network, Container.
    kinds: ClassVar[Sequence[str]] = ("Memory",)
    #: Publication, technology and method.
    source: ClassVar[str] = "a component class written in Python"
    attributes: ClassVar[Sequence[Attribute]] = ()
    _kind: ClassVar[str] = "component_class"

    @abstractmethod
    def numbers(self, values: dict[str, float]) -> ComponentNumbers:
        """``values``: of every attribute, within its limits, in its unit."""

    def _kinds(self) -> list[str]:
        return [self.kinds] if isinstance(self.kinds, str) else list(self.kinds)


Extension = Union[Mapper, LatencyPolicy, ComponentClass]
