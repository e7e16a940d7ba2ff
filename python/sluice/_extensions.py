"""Mappers, latency policies and component classes written in Python (docs/python.md)."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping as Map, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Union

from ._errors import mistake

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


def _mapping_text(given: Mapping | MappingResult) -> str:
    from ._result import MappingResult
    from ._specs import Mapping

    mapping = given.mapping if isinstance(given, MappingResult) else given
    if not isinstance(mapping, Mapping):
        raise TypeError(f"a mapping is a sluice.Mapping, or one of a result, not {type(given).__name__}")
    return mapping.to_json()


class Problem:
    """A workload on an architecture: prices mappings, and says what both consist of.

    Constraints of the specs (of a search: its constraints) hold: a mapping that breaks one is illegal.
    """

    def __init__(self, native: _sluice.Problem) -> None:
        self._native = native
        self._described: dict[str, Any] | None = None

    def evaluate(self, mapping: Mapping | MappingResult) -> MappingResult:
        """What a mapping costs, or every reason why it is illegal (``violations``)."""
        from ._result import mapping_result

        return mapping_result(json.loads(self._native.evaluate(_mapping_text(mapping))))

    def totals(self, mapping: Mapping | MappingResult) -> tuple[float, float] | None:
        """Energy (J) and latency (s), many times faster than :meth:`evaluate`; None: illegal."""
        return self._native.totals(_mapping_text(mapping))

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
        memories = self._description["arch"]["memories_to"]
        if compute not in memories:
            raise mistake(f"there is no compute `{compute}`", f"there are: {', '.join(memories)}")
        return tuple(memories[compute])

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
        """Tells what is being done, and how much of that is done: from 0 to 1."""
        self._native.progress(phase, fraction)

    def offer(self, mapping: Mapping | MappingResult) -> bool:
        """Tells of a mapping before the end; False for an illegal one.

        The best one is the result where the search is cancelled and ``map`` then returns none.
        """
        return self._native.offer(_mapping_text(mapping))


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
    ) -> Mapping | Sequence[Mapping] | NoMapping | None:
        """The best mapping, or several: the best ``options["top"]`` of them are the result.

        None, once ``control.cancelled`` is set: the best of those that were offered.

        :param options: every search option as text, as in docs/options.md: ``options["seed"]``
        """

    def _map(
        self, problem: _sluice.Problem, options: dict[str, str], control: _sluice.Control
    ) -> list[str] | str:
        from ._specs import Mapping

        found = self.map(Problem(problem), options, Control(control))
        if found is None and control.cancelled:  # what was offered counts
            return []
        if isinstance(found, NoMapping):
            if not isinstance(found.reason, str) or not isinstance(found.nearest_relaxation, str):
                raise TypeError("the reason and the nearest relaxation of a NoMapping are texts")
            return json.dumps({**vars(found), "proven": bool(found.proven)})
        if not isinstance(found, (Mapping, Iterable)):
            raise TypeError(f"map() returns sluice.Mapping objects or NoMapping, not {type(found).__name__}")
        mappings = [found] if isinstance(found, Mapping) else list(found)
        for mapping in mappings:
            if not isinstance(mapping, Mapping):
                raise TypeError(f"map() returns sluice.Mapping objects, not a list with {type(mapping).__name__}")
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
        found = self.latency(CountedMapping(counted))
        if not isinstance(found, Map):
            raise TypeError(f"latency() returns seconds by part, as {{'busy': 1e-3}}, not {type(found).__name__}")
        parts = [(str(name), float(seconds)) for name, seconds in found.items()]
        for name, seconds in parts:
            if not 0 <= seconds < math.inf:
                raise ValueError(f"the part '{name}' of a latency is {seconds} s; parts are 0 or more, and finite")
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


def _check_numbers(row: ActionNumbers | ComponentNumbers) -> None:
    for name, value in vars(row).items():
        if name not in ("name", "actions") and value is not None and not isinstance(value, Real):
            raise TypeError(f"{name} is a number or None, not {value!r}")


_UNITS = ("", "bit", "J", "s", "1/s", "bit/s", "W", "m2")
_COMPONENT_KINDS = ("Memory", "Toll", "Compute", "Network", "Container")


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

    def _numbers(self, values: dict[str, float]) -> ComponentNumbers:
        found = self.numbers(values)
        if not isinstance(found, ComponentNumbers):
            raise TypeError(f"numbers() returns sluice.ComponentNumbers, not {type(found).__name__}")
        _check_numbers(found)
        for action in found.actions:
            if not isinstance(action, ActionNumbers):
                raise TypeError(f"actions are sluice.ActionNumbers, not {type(action).__name__}")
            _check_numbers(action)
        names = [action.name for action in found.actions]
        if len(names) > len({*names}):
            raise ValueError(f"numbers() returns one row for each action, not {', '.join(names)}")
        return found

    def _check(self) -> None:
        for kind in self._kinds():
            if kind not in _COMPONENT_KINDS:
                raise mistake(f"{self.name}: there are no components of the kind `{kind}`",
                              f"kinds: {', '.join(_COMPONENT_KINDS)}")
        for attribute in self.attributes:
            if not isinstance(attribute, Attribute):
                raise TypeError(f"attributes of {self.name} are sluice.Attribute, not {type(attribute).__name__}")
            if attribute.unit not in _UNITS:
                raise mistake(f"{self.name}: the attribute {attribute.name} has the unit `{attribute.unit}`",
                              f"units: {', '.join(_UNITS[1:])}; none for a pure number")


Extension = Union[Mapper, LatencyPolicy, ComponentClass]


def checked(given: Iterable[Extension]) -> list[Extension]:
    """What a call brings along, if it is what an extension must be."""
    if isinstance(given, (Mapper, LatencyPolicy, ComponentClass)):
        given = [given]
    extensions = list(given)
    for extension in extensions:
        if not isinstance(extension, (Mapper, LatencyPolicy, ComponentClass)):
            what = f"the class {extension.__name__}" if isinstance(extension, type) else type(extension).__name__
            raise TypeError(
                f"an extension is an instance of sluice.Mapper, LatencyPolicy or ComponentClass, not {what}"
            )
        name = getattr(extension, "name", None)
        if not isinstance(name, str) or not name:
            raise TypeError(f"{type(extension).__name__} needs a name: a class attribute `name`, a text")
        if isinstance(extension, ComponentClass):
            extension._check()
    return extensions
