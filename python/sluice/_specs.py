"""Workloads, architectures, mappings and constraints: from files, from the library, built in code."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, Union

from . import _sluice
from ._errors import Diagnostic, SpecError, diagnostics_from, mistake
from ._extensions import Extension, checked
from ._rows import all_made, made
from ._yaml import as_list, checked_items, scalar_text, without_none, yaml_text
from .arch import Node as ArchNode, tagged_nodes
from .tree import Node as TreeNode, checked_nodes, nodes_from_json

__all__ = ["Arch", "Component", "Constraints", "Einsum", "Mapping", "Spec", "Specs", "Tensor", "Training", "Workload", "load"]


class Spec:
    """YAML text of one or more sections of a spec file, and a name for it in messages."""

    def __init__(self, text: str, name: str = "spec") -> None:
        self._text = text
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    def to_yaml(self) -> str:
        return self._text

    def save(self, file: str | os.PathLike[str]) -> None:
        """Writes the YAML into a file."""
        with open(file, "w", encoding="utf-8") as out:
            out.write(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<sluice.{type(self).__name__} {self._name}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and type(other) is type(self) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


Own = TypeVar("Own", bound="DescribedSpec")


class DescribedSpec(Spec):
    """A section that says what it consists of; read when that is asked for."""

    _section: ClassVar[str]
    _parts: dict[str, Any] | None = None

    @classmethod
    def from_yaml(cls: type[Own], text: str, name: str | None = None) -> Own:
        """From the text of a spec file with this section."""
        made = cls.__new__(cls)
        Spec.__init__(made, text, name or cls._section)
        return made

    def _description(self) -> dict[str, Any]:
        if self._parts is None:
            parts = _loaded(Request.of([self])).parts()
            self._parts = {"drawing": parts["drawing"], **json.loads(parts["description"])[self._section]}
        return self._parts

    def draw(self) -> str:
        """A table of Einsums and tensors, or of the hierarchy, as ``sluice show`` draws it."""
        return str(self._description()["drawing"])

    def _repr_html_(self) -> str:
        return _preformatted(self.draw())


@dataclass(frozen=True)
class EinsumInfo:
    """An Einsum of a workload, as Sluice reads it."""

    name: str
    variables: dict[str, int]  #: rank variable → number of steps
    inputs: tuple[str, ...]
    output: str
    operations_per_point: dict[str, int]
    is_copy: bool = False
    n_instances: int = 1
    computes: tuple[str, ...] = ()  #: that accept it; known together with an architecture only

    @property
    def points(self) -> int:
        """Points of its iteration space."""
        points = self.n_instances
        for size in self.variables.values():
            points *= size
        return points


@dataclass(frozen=True)
class Tensor:
    """A tensor of a workload."""

    name: str
    shape: dict[str, int]  #: rank → size, outermost first
    role: str  #: ``input``, ``output``, ``intermediate`` or ``persistent``
    bits_per_value: float

    @property
    def size(self) -> int:
        """Number of values."""
        size = 1
        for extent in self.shape.values():
            size *= extent
        return size


@dataclass(frozen=True)
class ComponentAction:
    name: str
    energy_j: float | None  #: of one action; None: unknown
    throughput: float | None  #: actions per second; None: takes no time, or unknown
    bits_per_action: float


@dataclass(frozen=True)
class Component:
    """An element of an architecture."""

    name: str
    kind: str  #: ``Memory``, ``Toll``, ``Container``, ``Network`` or ``Compute``
    instances: int
    size_bits: float | None  #: of one instance; None: no limit, or no memory
    spatial: dict[str, int]  #: dimension → fanout
    actions: tuple[ComponentAction, ...]
    leak_power_w: float
    area_m2: float | None

    def action(self, name: str) -> ComponentAction | None:
        return next((action for action in self.actions if action.name == name), None)


def einsums_from(description: Map[str, Any]) -> tuple[EinsumInfo, ...]:
    return all_made(EinsumInfo, description["einsums"])


def tensors_from(description: Map[str, Any]) -> tuple[Tensor, ...]:
    return all_made(Tensor, description["tensors"])


def components_from(description: Map[str, Any]) -> tuple[Component, ...]:
    rows = description["components"]
    return tuple(made(Component, row, actions=all_made(ComponentAction, row["actions"])) for row in rows)


@dataclass(frozen=True)
class Einsum:
    """An Einsum with more than its text, for :class:`Workload`.

    >>> w = Workload(["H[m,n] = X[m,k] * A[k,n]", Einsum("R[m,n] = max(H[m,n], 0)", name="relu")],
    ...              rank_sizes={"M": 4, "K": 8, "N": 2}, bits_per_value=8)
    >>> [e.name for e in w.einsums]
    ['H', 'relu']
    """

    einsum: str
    name: str | None = None
    is_copy_operation: bool | None = None
    n_instances: int | None = None
    iteration_space_shape: Any = None
    bits_per_value: Any = None
    renames: Map[str, str] | None = None


class Workload(DescribedSpec):
    """A cascade of Einsums.

    :param einsums: texts, :class:`Einsum` objects, or maps as in spec files (docs/specs.md)
    :param rank_sizes: size of each rank; those that follow from others may be left out
    :param bits_per_value: of all tensors, or a map: set of tensors → bits
    :param more: any other key of ``workload:``

    >>> w = Workload(["Z[m,n] = A[m,k] * B[k,n]"], rank_sizes={"M": 64, "K": 32, "N": 16}, bits_per_value=8)
    >>> w.einsum("Z").variables
    {'m': 64, 'k': 32, 'n': 16}
    """

    _section = "workload"

    def __init__(
        self,
        einsums: str | Einsum | Iterable[str | Einsum | Map[str, Any]],
        *,
        rank_sizes: Map[str, int | str] | None = None,
        bits_per_value: float | str | Map[str, Any] | None = None,
        name: str = "workload",
        persistent_tensors: str | Sequence[str] | None = None,
        initial: Map[str, float] | None = None,
        n_instances: int | None = None,
        renames: Map[str, Any] | None = None,
        variables: Map[str, Any] | None = None,
        **more: Any,
    ) -> None:
        if bits_per_value is not None and not isinstance(bits_per_value, Map):
            bits_per_value = {"All": bits_per_value}
        if isinstance(einsums, (str, Einsum)):
            einsums = [einsums]
        keys: dict[str, Any] = {
            "name": name,
            "n_instances": n_instances,
            "rank_sizes": rank_sizes,
            "bits_per_value": bits_per_value,
            "persistent_tensors": persistent_tensors,
            "initial": initial,
            "renames": renames,
            **more,
            "einsums": [
                without_none(vars(e)) if isinstance(e, Einsum) else e
                for e in checked_items(einsums, (str, Einsum, Map), "the Einsums of a workload", "texts, sluice.Einsum or maps")
            ],
        }
        sections = without_none({"variables": variables, "workload": without_none(keys)})
        super().__init__(yaml_text(sections), name)

    @property
    def einsums(self) -> tuple[EinsumInfo, ...]:
        return einsums_from(self._description())

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return tensors_from(self._description())

    def einsum(self, name: str) -> EinsumInfo:
        return _called(name, self.einsums, "Einsum")

    def tensor(self, name: str) -> Tensor:
        return _called(name, self.tensors, "tensor")


class Arch(DescribedSpec):
    """An architecture.

    :param nodes: outermost first: :class:`~sluice.Memory`, :class:`~sluice.Container`,
        :class:`~sluice.Network`, :class:`~sluice.Toll`, :class:`~sluice.Compute`, :class:`~sluice.Fork`
    :param clock: such as ``"1 GHz"``, where times are given in cycles

    >>> from sluice import Action, Compute, Memory
    >>> a = Arch([
    ...     Memory("DRAM", size="inf", keep="~Intermediates", may_keep="All",
    ...            actions=[Action("read", energy="7 pJ/bit", throughput="100 GB/s"),
    ...                     Action("write", energy="7 pJ/bit", throughput="100 GB/s")]),
    ...     Compute("ALU", spatial={"lane": 64}, actions=[Action("compute", energy="0.5 pJ", throughput="1 GHz")]),
    ... ])
    >>> [(c.name, c.kind, c.instances) for c in a.components]
    [('DRAM', 'Memory', 1), ('ALU', 'Compute', 64)]
    """

    _section = "arch"

    def __init__(
        self,
        nodes: Iterable[ArchNode],
        *,
        name: str = "arch",
        clock: str | float | None = None,
        variables: Map[str, Any] | None = None,
    ) -> None:
        keys = without_none({"name": name, "clock": clock, "nodes": tagged_nodes(nodes)})
        super().__init__(yaml_text(without_none({"variables": variables, "arch": keys})), name)

    @property
    def components(self) -> tuple[Component, ...]:
        return components_from(self._description())

    def component(self, name: str) -> Component:
        return _called(name, self.components, "component")


class Mapping(Spec):
    """A loop tree.

    :param nodes: outermost first, from :mod:`sluice.tree`
    :param tree: its drawing, where that is known
    """

    def __init__(self, nodes: Iterable[TreeNode], *, name: str = "mapping", tree: str | None = None) -> None:
        self.nodes: tuple[TreeNode, ...] = tuple(checked_nodes(nodes))
        self._tree = tree
        super().__init__(yaml_text({"mapping": self._section()}), name)

    def _section(self) -> dict[str, Any]:
        return {"nodes": [node.tagged() for node in self.nodes]}

    def to_json(self) -> str:
        """As in result documents, on one line."""
        return json.dumps({"nodes": [node.to_json() for node in self.nodes]})

    @classmethod
    def from_json(cls, mapping: str | Map[str, Any], tree: str | None = None) -> Mapping:
        """From the ``mapping`` of a result document."""
        value = json.loads(mapping) if isinstance(mapping, str) else mapping
        return cls(nodes_from_json(value["nodes"]), tree=tree)

    def __str__(self) -> str:
        return self._tree if self._tree is not None else self._text

    def _repr_html_(self) -> str:
        return _preformatted(str(self))


class Constraints(Spec):
    """What mappings must meet: lists as in ``constraints:`` (docs/specs.md).

    >>> print(Constraints(storage=[{"memory": "Buffer", "keep": ["A"]}]), end="")
    constraints:
      storage:
        - memory: Buffer
          keep: [A]
    """

    def __init__(self, *, name: str = "constraints", **lists: Sequence[Map[str, Any]]) -> None:
        super().__init__(yaml_text({"constraints": lists}), name)


@dataclass(frozen=True)
class Training:
    """Makes a training step of the workload (docs/training.md)."""

    optimizer: str = "none"  #: ``none``, ``sgd`` or ``adam``
    recompute: Sequence[str] = ()
    gradients_of: Sequence[str] = ()


#: What names specs: a file, a name of the library, or an object.
SpecLike = Union[str, "os.PathLike[str]", Spec, "Specs"]
#: ``set={"BATCH": 4, "arch.Buffer.size": "64 KiB"}``, or the same as texts ``NAME=VALUE``.
Settings = Union[Map[str, Any], Sequence[str]]


def _assignments(settings: Settings | None) -> list[str]:
    if settings is None:
        return []
    if isinstance(settings, str):
        return [settings]
    if isinstance(settings, Map):
        return [f"{name}={setting_value(name, value)}" for name, value in settings.items()]
    for setting in settings:
        if not isinstance(setting, str):
            raise TypeError(f"settings are a map, or texts NAME=VALUE, not {type(setting).__name__}")
    return list(settings)


def setting_value(name: str, value: Any) -> str:
    """The text of one value of a variable, or of a field by its path.

    >>> setting_value("arch.PE.tensors", {"keep": "A"})
    '{"keep": "A"}'
    >>> setting_value("arch", {"GlobalBuffer": {"size": "2 MiB"}})
    Traceback (most recent call last):
    ...
    sluice._errors.SpecError: error: `arch` is given a map: a variable has one value
      hint: name a field by its path: {"arch.GlobalBuffer.size": "2 MiB"}
    """
    if "." not in name and isinstance(value, Map):
        raise given_a_map(name, value, "a variable has one value")
    if "." not in name and isinstance(value, (list, tuple)):
        raise mistake(
            f"`{name}` is given a list: a variable has one value",
            f"sluice.sweep takes several: vary={{{json.dumps(name)}: {json.dumps(list(value), default=str)}}}",
        )
    return _setting_text(value)


def given_a_map(name: str, value: Any, why: str) -> SpecError:
    """A mistake, with the path that is meant."""
    path = name
    while isinstance(value, Map) and value:
        key, value = next(iter(value.items()))
        path += f".{key}"
    return mistake(
        f"`{name}` is given a map: {why}",
        f"name a field by its path: {{{json.dumps(path)}: {json.dumps(value, default=str)}}}",
    )


def _setting_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (Map, list, tuple)):
        return json.dumps(value)
    return scalar_text(value)


@dataclass
class Request:
    """What a call names: files and texts in the order given, variables, a training step, an ERT."""

    names: list[str]
    texts: dict[str, str]
    assignments: list[str]
    training: Training | None
    energy_file: str = ""

    @classmethod
    def of(
        cls,
        specs: Iterable[SpecLike],
        settings: Settings | None = None,
        training: Training | None = None,
        ert: str | os.PathLike[str] | None = None,
    ) -> Request:
        request = cls([], {}, [], training, "" if ert is None else os.fspath(ert))
        for spec in specs:
            request.add(spec)
        request.set(settings)
        return request

    def set(self, settings: Settings | None) -> None:
        """Variables and fields, over those that the specs bring."""
        self._take(_assignments(settings))

    def _take(self, assignments: list[str]) -> None:
        """In place of earlier ones with the same names."""
        names = {text.partition("=")[0] for text in assignments}
        self.assignments = [text for text in self.assignments if text.partition("=")[0] not in names] + assignments

    def add(self, spec: SpecLike) -> None:
        if isinstance(spec, Specs):
            for name in spec._request.names:
                self._add_name(name, spec._request.texts.get(name))
            self._take(spec._request.assignments)
            self.training = self.training or spec._request.training
            self.energy_file = self.energy_file or spec._request.energy_file
        elif isinstance(spec, Spec):
            self._add_name(f"<{spec.name}>", spec.to_yaml())
        elif isinstance(spec, (str, os.PathLike)):
            self._add_name(os.fspath(spec), None)
        else:
            raise TypeError(
                f"a spec is a file, a name of the library, or an object of sluice, not {type(spec).__name__}"
            )

    def _add_name(self, name: str, text: str | None) -> None:
        if text is None:
            self.names.append(name)
            return
        unique, number = name, 2
        while unique in self.texts:
            unique, number = f"{name} ({number})", number + 1
        self.names.append(unique)
        self.texts[unique] = text


def training_texts(training: Training | None) -> dict[str, list[str]] | None:
    if training is None:
        return None
    if not isinstance(training, Training):
        raise TypeError(f"training is a sluice.Training, such as Training(optimizer='adam'), not {type(training).__name__}")
    return {
        "optimizer": [training.optimizer],
        "recompute": as_list(training.recompute),
        "gradients_of": as_list(training.gradients_of),
    }


def _loaded(request: Request, extensions: Iterable[Extension] = ()) -> _sluice.Loaded:
    return _sluice.load(
        names=request.names,
        texts=request.texts,
        assignments=request.assignments,
        training=training_texts(request.training),
        energy_file=request.energy_file,
        extensions=checked(extensions),
    )


class Specs:
    """What :func:`load` read: everything that some files, names and objects say together.

    Goes wherever a workload or an architecture goes.
    """

    def __init__(self, request: Request, extensions: Iterable[Extension] = ()) -> None:
        self._request = request
        parts = _loaded(request, extensions).parts()
        self._drawing: str = parts["drawing"]
        self._description: dict[str, Any] = json.loads(parts["description"])
        self._workload_text: str | None = parts["workload"]
        self._arch_text: str | None = parts["arch"]
        self.mappings: tuple[Mapping, ...] = tuple(
            Mapping.from_json(text, tree) for text, tree in zip(parts["mappings"], parts["trees"])
        )
        #: What is right, but hardly meant.
        self.warnings: tuple[Diagnostic, ...] = diagnostics_from(json.loads(parts["warnings"]))

    @property
    def workload(self) -> Workload | None:
        """As one object: variables, expressions and repetitions worked out."""
        if self._workload_text is None:
            return None
        return Workload.from_yaml(self._workload_text, self._description["workload"]["name"])

    @property
    def arch(self) -> Arch | None:
        if self._arch_text is None:
            return None
        return Arch.from_yaml(self._arch_text, self._description["arch"]["name"])

    def to_yaml(self) -> str:
        """Workload and architecture in canonical form, which reads back to the same."""
        return (self._workload_text or "") + (self._arch_text or "")

    def __str__(self) -> str:
        return self._drawing

    def __repr__(self) -> str:
        names = ", ".join(self._request.names)
        return f"<sluice.Specs {names}>"

    def _repr_html_(self) -> str:
        return _preformatted(self._drawing)


def load(
    *specs: SpecLike,
    set: Settings | None = None,
    training: Training | None = None,
    ert: str | os.PathLike[str] | None = None,
    extensions: Iterable[Extension] = (),
) -> Specs:
    """Reads files, names of the library and objects, and merges them; later ones win.

    :param ert: energies per action, for files of Timeloop or AccelForge (docs/importing.md)
    :param extensions: component classes that the specs name; so needs them whoever takes the result
    :raises SpecError: with everything that is wrong, each at its place

    >>> specs = load("matmul", "simple", set={"M": 64})
    >>> specs.workload.tensor("A").shape
    {'M': 64, 'K': 1024}
    >>> load("matmul", set={"MM": 64})
    Traceback (most recent call last):
    ...
    sluice._errors.SpecError: --set MM=64: error: no file declares the variable 'MM'
      hint: variables are BITS, K, M, N
    """
    if not specs:
        raise TypeError("load() takes at least one spec")
    return Specs(Request.of(specs, set, training, ert), extensions)


Named = TypeVar("Named", EinsumInfo, Tensor, Component)


def _called(name: str, items: Iterable[Named], kind: str) -> Named:
    known = {item.name: item for item in items}
    if name not in known:
        raise mistake(f"there is no {kind} `{name}`", f"there are: {', '.join(known)}")
    return known[name]


def _preformatted(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return f'<pre style="line-height:1.2">{escaped}</pre>'


__all__ += ["ComponentAction", "EinsumInfo", "Settings", "SpecLike"]
