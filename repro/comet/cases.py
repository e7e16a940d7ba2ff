"""The paper's cases: which workload, architecture and shape, and the best mapping of each template for it."""

import heapq
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import attention
import templates
from evaluation import best_of, is_out_of_memory

GEMMS = range(1, 13)
ATTENTIONS = range(1, 13)
SHAPES = Path(__file__).parents[2] / "library" / "shapes"
SHORT_LIST = 12


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
    nodes: list = field(default_factory=list, repr=False)
    problem: list = field(default_factory=list, repr=False)
    short_list: list = field(default_factory=list, repr=False)  # the fastest (latency, problem, nodes)
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


def search(sluice, operation, case, template, variations=None):
    """Every choice of the template, priced; of several parts one after the other, each part's best on its own."""
    sizes, machine = shape_of("gemm", case), machine_of(case)
    shape = [sizes[name] for name in "MNK"]
    workload, more = operation.workload(template, machine, sizes["N"])
    problem = arguments(workload, case, {**sizes, **more, **(variations or {})})
    found = Found(template)
    if template in templates.WHOLE:
        mappings = list(templates.WHOLE[template](operation, machine, *shape))
        consider(found, problem, mappings, sluice.price(problem, mappings))
    else:
        parts = templates.PARTS[template](operation, machine, *shape)
        in_turn = lambda chosen: templates.in_turn(operation, template, chosen)  # noqa: E731
        one_part_at_a_time(sluice, found, problem, parts, in_turn)
    return found


def search_attention(sluice, case, template, variations=None):
    sizes, machine = shape_of("attn", case), machine_of(case)
    shape = [sizes[name] for name in "MKNL"]
    variables = {**sizes, **(variations or {})}
    found = Found(template)
    if template == "flash":
        for workload, more, mappings in attention.flash(machine, *shape):
            problem = arguments(workload, case, {**variables, **more})
            consider(found, problem, mappings, sluice.price(problem, mappings))
    else:
        parts = attention.PARTS[template](machine, *shape)
        problem = arguments(attention.WORKLOADS[template], case, variables)
        one_part_at_a_time(sluice, found, problem, parts, lambda chosen: attention.in_turn(template, chosen))
    return found


def consider(found, problem, mappings, results):
    """Takes the fastest of some mappings, if it is faster than what has been found."""
    found.tried += len(results)
    best = best_of(results)
    for nodes, result in zip(mappings, results):
        if result["status"] == "ok":
            found.legal += 1
            found.row_tiles.add(row_tile(nodes))
        elif not is_out_of_memory(result):
            why = [v["message"] for v in result["violations"] if v["kind"] != "capacity"]
            raise RuntimeError(f"{problem} {found.template}: {why[0]}")
    if best is not None and (found.latency_s is None or results[best]["latency_s"] < found.latency_s):
        found.latency_s, found.energy_j = results[best]["latency_s"], results[best]["energy_j"]
        found.nodes, found.problem = mappings[best], problem
    legal = [(r["latency_s"], problem, nodes) for r, nodes in zip(results, mappings) if r["status"] == "ok"]
    found.short_list = heapq.nsmallest(SHORT_LIST, without_twins(found.short_list + legal), key=lambda one: one[0])
    return best


def without_twins(priced):
    seen = []
    for latency, problem, nodes in sorted(priced, key=lambda one: one[0]):
        if not any(latency == other and nodes == others for other, _, others in seen[-SHORT_LIST:]):
            seen.append((latency, problem, nodes))
    return seen


def row_tile(nodes):
    """Rows at a time: the tile of the outermost loop over them; None where all pass at once."""
    return next((n["tile_shape"] for n in nodes if n["node"] == "Temporal" and n["rank_variable"] == "m"), None)


def one_part_at_a_time(sluice, found, problem, parts, in_turn):
    """Parts that follow each other: the best choice of one beside the others' best so far, again and again until nothing
    changes. Starts from the first choices, the smallest tiles."""
    parts = [list(choices) for choices in parts]
    chosen = [choices[0] for choices in parts]
    changed = True
    while changed:
        changed = False
        for i, choices in enumerate(parts):
            mappings = [in_turn([*chosen[:i], choice, *chosen[i + 1 :]]) for choice in choices]
            best = consider(found, problem, mappings, sluice.price(problem, mappings))
            if best is not None and choices[best] != chosen[i]:
                chosen[i], changed = choices[best], True


def repriced(sluice, found, variations):
    """The best of a short list on another machine."""
    again = Found(found.template, tried=found.tried, legal=found.legal, row_tiles=found.row_tiles)
    problems = []
    for _, problem, _ in found.short_list:
        if problem not in problems:
            problems.append(problem)
    for known in problems:
        platform = "cloud" if "comet_cloud" in known else "edge"
        here = {name: value[platform] if isinstance(value, dict) else value for name, value in variations.items()}
        problem = [*known, *set_variables(here)]
        mappings = [nodes for _, one, nodes in found.short_list if one == known]
        results = sluice.price(problem, mappings)
        legal = [i for i, result in enumerate(results) if result["status"] == "ok"]
        for i in legal:
            if again.latency_s is None or results[i]["latency_s"] < again.latency_s:
                again.latency_s, again.energy_j = results[i]["latency_s"], results[i]["energy_j"]
                again.nodes, again.problem = mappings[i], problem
    return again
