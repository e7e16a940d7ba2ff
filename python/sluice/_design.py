"""The best design of a grid: what :func:`sluice.design` returns, and how it is asked for."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping as Map, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Optional, Union

from . import _sluice
from ._errors import Interrupted, NoMappingError, mistake
from ._files import write_texts
from ._options import texts_by_name
from ._progress import OnProgress, native
from ._rows import made
from ._specs import Arch, Request, Settings, Spec, SpecLike, Training, _setting_text, given_a_map, setting_value, training_texts
from ._sweep import Vary
from ._yaml import yaml_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Design", "DesignOutcome", "DesignResult", "DesignWorkload", "DesignWorkloads"]


@dataclass(frozen=True)
class DesignWorkload:
    """A workload of a design search, with what only it has."""

    workload: SpecLike
    set: Settings | None = None  #: its variables and fields
    weight: float = 1  #: of its objective in the sum


#: One of them, or several.
DesignWorkloads = Union[SpecLike, DesignWorkload, Sequence[Union[SpecLike, DesignWorkload]]]


@dataclass(frozen=True)
class DesignOutcome:
    """One workload on the design that was found."""

    workload: str
    weight: float
    objective: float | None  #: of its best mapping, without the weight
    energy_j: float | None
    latency_s: float | None
    power_w: float | None
    mapping: Spec  #: for ``evaluate``, with the design's ``arch``


@dataclass(frozen=True)
class Design:
    """A design that keeps to the budgets."""

    settings: dict[str, str]  #: what varies, as it was given
    area_m2: float | None
    objective: float  #: the sum over workloads, weight × objective of the mapping
    workloads: tuple[DesignOutcome, ...]
    arch: Arch


class DesignResult:
    """What :func:`sluice.design` returns: the best design, and how sure that is.

    Prints as the command line does; it is false where no design was found.
    """

    def __init__(self, parts: dict[str, Any]) -> None:
        self._text: str = parts["document"]
        #: The document ``sluice.design/1`` (docs/sweeps.md).
        self.document: dict[str, Any] = json.loads(self._text)
        #: The table of the command line.
        self.summary: str = parts["summary"]
        self.is_interrupted: bool = parts["is_interrupted"]
        self.status: str = self.document["status"]  #: ``ok``, ``no_design`` or ``interrupted``
        self.objective: str = self.document["objective"]  #: ``edp``, ``energy`` or ``latency``
        #: Whether ``best`` is the best; or, without one, nothing keeps to the budgets.
        self.is_proven: bool = self.document["proven"]
        #: No design within the budgets has an objective below; None: there is no such design.
        self.bound: float | None = self.document["bound"]
        self.n_designs: int = self.document["designs"]["all"]
        self.n_over_area: int = self.document["designs"]["over_area"]  #: left out for their area
        #: Left out for what their best mapping draws.
        self.n_over_power: int = self.document["designs"]["over_power"]
        #: The least area of any design in m²; None: there is no budget of area.
        self.least_area_m2: float | None = self.document["designs"]["least_area_m2"]
        #: The least power in W that a design draws which was left out for that; None: none was.
        self.least_power_w: float | None = self.document["designs"]["least_power_w"]
        self.n_looks: int = self.document["search"]["looks"]  #: designs, relaxed ones included
        self.n_searches: int = self.document["search"]["searches"]  #: of mappers
        self.seconds: float = self.document["search"]["seconds"]
        found = self.document["best"]
        self._best = None if found is None else _design(found)

    @property
    def best(self) -> Design:
        """The design with the least objective.

        :raises NoMappingError: where none was found
        """
        if self._best is None:
            raise NoMappingError(
                "no design within the budgets has a legal mapping of every workload"
                if self.is_proven
                else "no design was searched to its end"
            )
        return self._best

    def __bool__(self) -> bool:
        return self._best is not None

    def frame(self) -> pd.DataFrame:
        """A row for each workload on the best design."""
        from . import _frames

        rows = [
            {**outcome, "mapping": Spec(outcome["mapping"], "mapping")}
            for outcome in (self.document["best"] or {"workloads": []})["workloads"]
        ]
        columns = list(DesignOutcome.__dataclass_fields__)
        frame: pd.DataFrame = _frames.pandas().DataFrame(rows, columns=columns).drop(columns="mapping")
        return frame

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Writes ``result.json``, ``arch.yaml``, ``mapping_1.yaml``, …, as ``-o`` of the command line."""
        texts = {}
        if self._best is not None:
            texts["arch.yaml"] = self._best.arch.to_yaml()
            for number, outcome in enumerate(self._best.workloads, 1):
                texts[f"mapping_{number}.yaml"] = outcome.mapping.to_yaml()
        write_texts(folder, {**texts, "result.json": self._text})

    def __str__(self) -> str:
        return self.summary

    def __repr__(self) -> str:
        if self._best is None:
            return f"<sluice.DesignResult {self.status}: none of {self.n_designs} designs>"
        settings = ", ".join(f"{name} {value}" for name, value in self._best.settings.items())
        proven = "proven best" if self.is_proven else "best so far"
        return f"<sluice.DesignResult {settings}: {proven} of {self.n_designs} designs>"

    def _repr_html_(self) -> str:
        from . import _html

        return _html.of_design(self)


def _design(found: Map[str, Any]) -> Design:
    workloads = tuple(
        made(DesignOutcome, row, mapping=Spec(row["mapping"], "mapping")) for row in found["workloads"]
    )
    return made(Design, found, workloads=workloads, arch=Arch.from_yaml(found["arch"]))


def _pairs(named: Union[Vary, Settings], expected: str) -> Iterator[tuple[str, Any]]:
    """Names and values of ``{"M": 1}``, ``"M=1"`` or ``["M=1"]``."""
    if isinstance(named, Map):
        yield from named.items()
        return
    for text in [named] if isinstance(named, str) else named:
        name, equals, value = text.partition("=")
        if not name or not equals:
            raise mistake(f"`{text}` has no value", f"write {expected}")
        yield name, value


def _unique(pairs: Iterator[tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
    names = set()
    for name, value in pairs:
        if name in names:
            raise mistake(f"`{name}` is given twice", "give it once, with all values")
        names.add(name)
        yield name, value


def _values(given: Any) -> Any:
    """The values that a variable takes, as a file says them: one text, or a list of texts."""
    if isinstance(given, str) or not hasattr(given, "__iter__"):
        return _setting_text(given)
    return [_setting_text(value) for value in given]


class _Section:
    """A call as the section ``design`` of a file, which has the keys that the call gave."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._keys: dict[str, Any] = {}
        self._files: list[str] = []

    def _names(self, spec: SpecLike) -> list[str]:
        begin = len(self._request.names)
        self._request.add(spec)
        return self._request.names[begin:]

    def take_workloads(self, given: DesignWorkloads) -> None:
        items = list(given) if isinstance(given, (list, tuple)) else [given]
        self._keys["workloads"] = [self._workload(item, len(items) == 1) for item in items]

    def _workload(self, item: Any, is_single: bool) -> Any:
        workload = item if isinstance(item, DesignWorkload) else DesignWorkload(item)
        name, *others = self._names(workload.workload)
        if others and not is_single:
            raise mistake(f"one of several workloads is made of the files {name}, {', '.join(others)}", "give it as one spec")
        self._files += others
        row: dict[str, Any] = {"workload": name}
        if workload.set is not None:
            row["set"] = {key: setting_value(key, value) for key, value in _unique(_pairs(workload.set, "NAME=VALUE"))}
        if workload.weight != 1:
            row["weight"] = workload.weight
        return row

    def take_architecture(self, arch: SpecLike) -> None:
        self._keys["architecture"], *others = self._names(arch)
        self._files += others

    def take_files(self, specs: Sequence[SpecLike]) -> None:
        for spec in specs:
            self._files += self._names(spec)

    def take_variables(self, variables: Vary) -> None:
        fields = dict(_unique(_pairs(variables, "NAME=VALUES")))
        for name, given in fields.items():
            if isinstance(given, Map):
                raise given_a_map(name, given, "what varies is a text, or a list of values")
        self._keys["variables"] = {name: _values(given) for name, given in fields.items()}

    def take_budgets(self, **budgets: Union[float, str, None]) -> None:
        given = {name: budget for name, budget in budgets.items() if budget is not None}
        if given:
            self._keys["budgets"] = given

    def name(self) -> str:
        """The name that the request has for it."""
        if self._files:
            self._keys["files"] = self._files
        self._request.add(Spec(yaml_text({"design": self._keys}), "design"))
        return self._request.names[-1]


def search_design(
    workload: DesignWorkloads,
    arch: Optional[SpecLike],
    specs: Sequence[SpecLike],
    *,
    variables: Optional[Vary],
    area: Union[float, str, None],
    power: Union[float, str, None],
    on_progress: Optional[OnProgress],
    options: Map[str, Any],
    settings: Optional[Settings],
    constraints: Optional[SpecLike],
    training: Optional[Training],
    ert: str | os.PathLike[str] | None,
) -> DesignResult:
    texts = texts_by_name(options, "a design search", "search the designs one by one: sluice.map in a loop")
    request = Request([], {}, [], training, "" if ert is None else os.fspath(ert))
    files = [*specs, *([] if constraints is None else [constraints])]
    is_file = arch is None and variables is None and not files and (area, power) == (None, None)
    if is_file and isinstance(workload, (str, os.PathLike, Spec)):
        request.add(workload)
        file = request.names[0]
    else:
        section = _Section(request)
        section.take_workloads(workload)
        if arch is not None:
            section.take_architecture(arch)
        section.take_files(files)
        if variables is not None:
            section.take_variables(variables)
        section.take_budgets(area=area, power=power)
        file = section.name()
    request.set(settings)
    result = DesignResult(
        _sluice.design(
            file=file,
            texts=request.texts,
            assignments=request.assignments,
            training=training_texts(request.training),
            energy_file=request.energy_file,
            options=texts,
            on_progress=native(on_progress),
        )
    )
    if result.is_interrupted:
        raise Interrupted(result)
    return result
