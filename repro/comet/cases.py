"""The paper's cases: which workload, architecture and shape, and the best mapping of each template for it."""

import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import attention
import flash
import templates
from evaluation import best_of, is_out_of_memory

GEMMS = range(1, 13)
ATTENTIONS = range(1, 13)
SHAPES = Path(__file__).parents[2] / "library" / "shapes"


@cache
def shape_of(kind, case):
    """Sizes by name: Tables I to IV of the paper, as the library has them (`kind`: gemm or attn)."""
    text = (SHAPES / f"comet_{kind}{case}.yaml").read_text(encoding="utf-8")
    return {name: int(size) for name, size in re.findall(r"([A-Z]+): *(\d+)", text[text.index("variables:") :])}


@dataclass
class Found:
    """The best mapping of a template, or why there is none."""

    template: str
    latency_s: float | None = None
    energy_j: float | None = None
    tried: int = 0
    legal: int = 0
    choice: tuple = ()  # which of the template's mappings: places in its lists
    nodes: list = field(default_factory=list, repr=False)
    problem: list = field(default_factory=list, repr=False)
    row_tiles: set = field(default_factory=set, repr=False)  # of the legal mappings: rows at a time

    @property
    def out_of_memory(self):
        return self.tried > 0 and self.legal == 0

    def row_tile(self):
        return row_tile(self.nodes)


def is_cloud(case):
    return case > 6


def machine_of(case):
    return templates.Machine(4, 4) if is_cloud(case) else templates.Machine(2, 2)


def arguments(workload, case, variables):
    """Arguments of `sluice evaluate` but for the mapping: workload, architecture, variables."""
    architecture = "comet_cloud" if is_cloud(case) else "comet_edge"
    return [workload, architecture, *set_variables(variables)]


def set_variables(variables):
    return [part for name, value in variables.items() for part in ("--set", f"{name}={value}")]


def gemm_problem(operation, case, template, variations):
    sizes = shape_of("gemm", case)
    workload, more = operation.workload(template, machine_of(case), sizes["N"])
    return arguments(workload, case, {**sizes, **more, **(variations or {})})


def gemm_choices(operation, case, template):
    """Of a template: its mappings, or the choices for each of its parts."""
    sizes = shape_of("gemm", case)
    choices = (templates.WHOLE | templates.PARTS)[template]
    return list(choices(operation, machine_of(case), *(sizes[name] for name in "MNK")))


def search(sluice, operation, case, template, variations=None, only=None):
    """Every choice of the template, priced; of several parts one after the other, each part's best on its own. `only`:
    that choice alone."""
    problem = gemm_problem(operation, case, template, variations)
    choices = gemm_choices(operation, case, template)
    if template in templates.WHOLE:
        return search_whole(sluice, template, [(problem, choices)])
    return search_parts(sluice, template, problem, choices, lambda chosen: templates.in_turn(operation, template, chosen), only)


def search_attention(sluice, case, template, variations=None, only=None):
    sizes, machine = shape_of("attn", case), machine_of(case)
    shape = [sizes[name] for name in "MKNL"]
    variables = {**sizes, **(variations or {})}
    if template in flash.FLASH:
        groups = [(arguments(workload, case, {**variables, **more}), mappings)
                  for workload, more, mappings in flash.choices(flash.FLASH[template], machine, *shape)]  # fmt: skip
        return search_whole(sluice, template, groups, only)
    parts = list(attention.PARTS[template](machine, *shape))
    problem = arguments(attention.WORKLOADS[template], case, variables)
    return search_parts(sluice, template, problem, parts, lambda chosen: attention.in_turn(template, chosen), only)


def search_whole(sluice, template, groups, only=None):
    found = Found(template)
    for g, (problem, mappings) in enumerate(groups):
        places = [(g, i) for i in range(len(mappings)) if only in (None, (g, i))]
        consider(found, sluice, problem, places, [mappings[i] for _, i in places])
    return found


def search_parts(sluice, template, problem, parts, in_turn, only=None):
    """Parts that follow each other: the best choice of one beside the others' best so far, again and again until nothing
    changes. Starts from the first choices, the smallest tiles."""
    found = Found(template)
    mapping_of = lambda places: in_turn([choices[i] for choices, i in zip(parts, places)])  # noqa: E731
    if only is not None:
        consider(found, sluice, problem, [only], [mapping_of(only)])
        return found
    chosen = (0,) * len(parts)
    changed = True
    while changed:
        changed = False
        for p, choices in enumerate(parts):
            places = [(*chosen[:p], i, *chosen[p + 1 :]) for i in range(len(choices))]
            best = consider(found, sluice, problem, places, [mapping_of(one) for one in places])
            if best is not None and choices[best] != choices[chosen[p]]:
                chosen, changed = places[best], True
    return found


def consider(found, sluice, problem, places, mappings):
    """Takes the fastest of some mappings, if it is faster than what has been found. Index of the fastest."""
    if not mappings:
        return None
    results = sluice.price(problem, mappings)
    found.tried += len(results)
    best = best_of(results)
    for nodes, result in zip(mappings, results):
        if result["status"] == "ok":
            found.legal += 1
            found.row_tiles.add(row_tile(nodes))
        elif not is_out_of_memory(result):
            why = [v["message"] for v in result["violations"] if v["kind"] != "capacity"]
            raise RuntimeError(f"{problem} {found.template}: {why[0]}")
    if best is not None and (found.latency_s is None or cost_of(results[best]) < (found.latency_s, found.energy_j)):
        found.latency_s, found.energy_j = cost_of(results[best])
        found.nodes, found.problem, found.choice = mappings[best], problem, places[best]
    return best


def cost_of(result):
    """What is minimised: latency, of equally fast ones energy."""
    return result["latency_s"], result["energy_j"]


def row_tile(nodes):
    """Rows at a time: the tile of the outermost loop over them; None where all pass at once."""
    return next((n["tile_shape"] for n in nodes if n["node"] == "Temporal" and n["rank_variable"] == "m"), None)
