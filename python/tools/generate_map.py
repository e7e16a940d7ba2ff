"""Writes python/sluice/_map.py: `map`, `bounds`, `sweep` and `design` with a keyword for each row of the option table.

`./dev golden --update` runs it; a test compares.
"""

from __future__ import annotations

import sys
import textwrap

from sluice._options import Option, option_table

TYPES = {
    "integer": "Union[int, float, str, None]",
    "number": "Union[float, str, None]",
    "choice": "Optional[str]",
    "choices": "Union[str, Sequence[str], None]",
    "switch": "Optional[bool]",
    "budget": "Union[float, str, None]",
    "size": "Union[float, str, None]",
}
OBJECTS = {"mapper": "Union[str, Mapper, None]", "latency": "Union[str, LatencyPolicy, None]"}
REMARKS = {
    "budget": "a number is seconds",
    "memory": "a number is bytes; half of the machine's where none is given",
    "threads": "one a processor where none is given",
    "mapper": "or an instance of a :class:`Mapper`",
    "latency": "or an instance of a :class:`LatencyPolicy`",
}
# As the command line: what `sluice bounds` has no flag for.
NOT_OF_BOUNDS = {"mapper", "objective", "latency", "top", "row_fusion", "einsum_orders"}
NOT_OF_DESIGN = {"top"}
#: Types of workload and architecture, of those that take several workloads.
OF_MANY = {"sweep": ("OneOrMore", "Optional[OneOrMore]"), "design": ("DesignWorkloads", "Optional[SpecLike]")}

HEAD = '''"""``map``, ``bounds``, ``sweep`` and ``design``: made from the option table by python/tools/generate_map.py. Do not edit."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping as Map, Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

from ._api import FileName, search, search_bounds
from ._bounds import BoundsResult
from ._design import DesignResult, DesignWorkloads, search_design
from ._extensions import Extension, LatencyPolicy, Mapper
from ._progress import OnProgress
from ._result import Result
from ._specs import Settings, SpecLike, Training
from ._sweep import OneOrMore, SweepResult, Vary, search_points

if TYPE_CHECKING:
    from ._cluster import Client
'''

MAP_TEXT = """Finds the best mapping of a workload on an architecture.

Whatever is not given is as in the specs, else as on the command line. Runs without the
interpreter's lock; Ctrl-C raises :class:`Interrupted`, which has what was found by then. Where
no mapping is legal, the result says so: its ``status`` is ``no_mapping``, it has a ``reason``,
and its ``best`` raises :class:`NoMappingError`.

:param workload: a file, a name of the library, a :class:`Workload` or :class:`Specs`
:param specs: further files, names and objects, merged into these two; later ones win
:param set: variables and fields: ``{"BATCH": 4, "arch.Buffer.size": "64 KiB"}``
:param constraints: what the mapping must meet
:param training: makes a training step of the workload
:param ert: energies per action, for files of Timeloop or AccelForge (docs/importing.md)
:param extensions: mappers, latency policies and component classes that specs and options name
:param on_progress: is called with a :class:`Progress`, in the thread of the caller
:param why: explains the best mapping, by searches of its own (docs/why.md): ``result.why``
"""

MAP_EXAMPLE = """
>>> import sluice as sl
>>> result = sl.map("matmul", "simple", set={"M": 64}, threads=1)
>>> result.status, result.guarantee.kind
('ok', 'optimal')
>>> result.best.edp_js == result.best.energy_j * result.best.latency_s
True
"""

BOUNDS_TEXT = """Finds the least traffic, energy and latency that any mapping of `fused`'s space needs.

:param vary: does it for each value of a variable or field: ``{"arch.Buffer.size": "16KiB..1MiB:x2"}``
"""

SWEEP_TEXT = """Searches every variant, and keeps what was found in a database (docs/sweeps.md).

The same sweep, the same database and the same numbers as ``sluice sweep``. A search that the
database has is not done again; what ends the sweep, Ctrl-C (:class:`Interrupted`) or a killed
process, loses no run that was finished.

:param workload: one, or a list of them; or a file with a section ``sweep``
:param vary: a grid: ``{"arch.Buffer.size": "16KiB..1MiB:x2", "M": [256, 512]}``; the last varies fastest
:param points: more points, each with its settings
:param set: variables and fields of all points
:param output: the SQLite file; None: nothing is kept
:param jobs: searches at a time; one a processor where none is given
:param client: a ``dask.distributed.Client``, whose workers search; each search has one thread there
    where ``threads`` says nothing else
:param on_progress: is called with a :class:`Progress`, in the thread of the caller
"""

SWEEP_EXAMPLE = """
>>> import sluice as sl
>>> runs = sl.sweep("matmul", "simple", set={"M": 64}, vary={"N": [64, 128]}, threads=1)
>>> [run.settings for run in runs], runs.best.settings
([{'N': '64'}, {'N': '128'}], {'N': '64'})
>>> runs[1].edp_js == sl.map("matmul", "simple", set={"M": 64, "N": 128}).best.edp_js
True
"""


DESIGN_TEXT = """Finds the best sizes, fanouts and bandwidths within budgets of area and power (docs/sweeps.md).

The same search and the same numbers as ``sluice design``: without trying every design, it proves
which one has the least objective, summed over all workloads, each mapped as well as the mapper can.
Ctrl-C raises :class:`Interrupted`, which has the best design by then. Where no design keeps to the
budgets, the result's ``status`` is ``no_design``, and its ``best`` raises :class:`NoMappingError`.

:param workload: one, or a list of them, each as it is or as a :class:`DesignWorkload`; or a file with a
    section ``design``, which says all but ``set`` and search options
:param variables: the grid: ``{"arch.Buffer.size": "32KiB..4MiB:x2", "arch.MAC.lane.fanout": [64, 128]}``
:param area: the budget of area: ``"20 mm2"``, a number is m²
:param power: the budget of power of each workload, energy ÷ latency: ``"5 W"``, a number is W
:param set: variables and fields of all workloads
:param on_progress: is called with a :class:`Progress`, in the thread of the caller
"""

DESIGN_EXAMPLE = """
>>> import sluice as sl
>>> found = sl.design("matmul", "simple", variables={"arch.GlobalBuffer.size": "16KiB..256KiB:x4"}, set={"M": 64})
>>> found.is_proven, found.n_designs, found.best.settings
(True, 3, {'arch.GlobalBuffer.size': '256KiB'})
>>> found.best.objective == sl.map("matmul", found.best.arch, set={"M": 64}).best.edp_js
True
"""


def parameter_text(option: Option, takes_objects: bool = True) -> str:
    has_remark = option.name in REMARKS and (takes_objects or option.name not in OBJECTS)
    remark = f" ({REMARKS[option.name]})" if has_remark else ""
    text = f":param {option.name}: {option.help}: {option.range}{remark}. Default: ``{option.default}``"
    return "\n".join(textwrap.wrap(text, 96, subsequent_indent="    ", break_on_hyphens=False))


def function(name: str, keywords: list[str], options: list[Option], text: str, result: str, call: str) -> str:
    types = [f"{o.name}: {OBJECTS.get(o.name, TYPES[o.type])} = None" for o in options]
    if name != "map":
        types = [f"{o.name}: {TYPES[o.type]} = None" for o in options]
    workload, arch = OF_MANY.get(name, ("SpecLike", "Optional[SpecLike]"))
    named = [f"workload: {workload}", f"arch: {arch} = None"]
    lines = [*named, "*specs: SpecLike", *keywords, *types]
    signature = "".join(f"    {line},\n" for line in lines)
    passed = "".join(f'            "{o.name}": {o.name},\n' for o in options)
    body = textwrap.indent(f'"""{text.rstrip()}\n"""', "    ")
    return (
        f"\n\ndef {name}(\n{signature}) -> {result}:\n{body}\n"
        f"    return {call}(\n"
        + ("        workload,\n        arch,\n        specs,\n" if name in OF_MANY else "        [workload, *([] if arch is None else [arch]), *specs],\n")
        + "".join(f"        {k},\n" for k in passed_keywords(keywords))
        + f"        options={{\n{passed}        }},\n    )\n"
    )


def passed_keywords(keywords: list[str]) -> list[str]:
    names = [keyword.split(":")[0] for keyword in keywords]
    return [f"settings={name}" if name == "set" else f"{name}={name}" for name in names]


def module_text() -> str:
    table = list(option_table())
    common = [
        "set: Optional[Settings] = None",
        "constraints: Optional[SpecLike] = None",
        "training: Optional[Training] = None",
        "ert: Optional[FileName] = None",
    ]
    text_of = lambda head, options, example: head + "\n".join(map(parameter_text, options)) + "\n" + example
    of_design = [option for option in table if option.name not in NOT_OF_DESIGN]
    of_bounds = [option for option in table if option.name not in NOT_OF_BOUNDS]
    return (
        HEAD
        + function(
            "map",
            [
                *common,
                "extensions: Iterable[Extension] = ()",
                "on_progress: Optional[OnProgress] = None",
                "why: bool = False",
            ],
            table,
            text_of(MAP_TEXT, table, MAP_EXAMPLE),
            "Result",
            "search",
        )
        + function(
            "bounds",
            ["vary: Optional[Vary] = None", *common],
            of_bounds,
            text_of(BOUNDS_TEXT, of_bounds, ""),
            "BoundsResult",
            "search_bounds",
        )
        + function(
            "sweep",
            [
                "vary: Optional[Vary] = None",
                "points: Sequence[Map[str, Any]] = ()",
                "output: Union[str, os.PathLike[str], None] = None",
                "jobs: Optional[int] = None",
                "client: Optional[Client] = None",
                *common,
                "on_progress: Optional[OnProgress] = None",
            ],
            table,
            SWEEP_TEXT + "\n".join(parameter_text(option, False) for option in table) + "\n" + SWEEP_EXAMPLE,
            "SweepResult",
            "search_points",
        )
        + function(
            "design",
            [
                "variables: Optional[Vary] = None",
                "area: Union[float, str, None] = None",
                "power: Union[float, str, None] = None",
                *common,
                "on_progress: Optional[OnProgress] = None",
            ],
            of_design,
            DESIGN_TEXT + "\n".join(parameter_text(option, False) for option in of_design) + "\n" + DESIGN_EXAMPLE,
            "DesignResult",
            "search_design",
        )
    )


if __name__ == "__main__":
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(module_text())
