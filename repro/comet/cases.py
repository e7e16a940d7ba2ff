"""The paper's cases: which workload, architecture and shape, and the best mapping of each template for it."""

from dataclasses import dataclass, field

import templates
from evaluation import best_of, is_out_of_memory

GEMMS = range(1, 13)
SHAPES = {1: (1, 1024, 64), 2: (1, 4096, 128), 3: (256, 1024, 128), 4: (4, 1024, 128), 5: (512, 1024, 128),
          6: (512, 1024, 64), 7: (1, 16384, 128), 8: (1, 2048, 64), 9: (256, 4096, 128), 10: (4, 8192, 128),
          11: (512, 2048, 64), 12: (512, 4096, 128)}  # fmt: skip  (Tables I and II: M, N, K)


@dataclass
class Found:
    """The best mapping of a template, or why there is none."""

    template: str
    latency_s: float | None = None
    energy_j: float | None = None
    tried: int = 0
    legal: int = 0
    out_of_memory: bool = False
    nodes: list = field(default_factory=list, repr=False)
    problem: list = field(default_factory=list, repr=False)


def is_cloud(case):
    return case > 6


def machine_of(case):
    return templates.Machine(4, 4) if is_cloud(case) else templates.Machine(2, 2)


def problem_of(operation, case, template, variations):
    """Arguments of `sluice evaluate` but for the mapping: workload, architecture, shape, variables."""
    M, N, K = SHAPES[case]
    architecture = "comet_cloud" if is_cloud(case) else "comet_edge"
    workload, variables = operation.workload, {}
    if operation is templates.LAYERNORM and template in ("fused_dist", "fused_gemm_dist"):
        workload = templates.HERE / "layernorm_distributed.yaml"
        variables = {"G": templates.groups(machine_of(case), N)}
    settings = [f"{name}={value}" for name, value in {**variables, **variations}.items()]
    shape = ["--set", f"M={M}", "--set", f"N={N}", "--set", f"K={K}"]
    return [workload, architecture, *shape, *(part for setting in settings for part in ("--set", setting))]


def search(sluice, operation, case, template, variations=None):
    """Every choice of the template, priced; of several parts one after the other, each part's best on its own."""
    shape, machine = SHAPES[case], machine_of(case)
    problem = problem_of(operation, case, template, variations or {})
    if template in templates.WHOLE:
        mappings = list(templates.WHOLE[template](operation, machine, *shape))
        results = sluice.price(problem, mappings)
    else:
        mappings, results = one_part_at_a_time(sluice, operation, template, problem, machine, shape)
    best = best_of(results)
    found = Found(template, tried=len(results), legal=sum(result["status"] == "ok" for result in results))
    found.problem = problem
    if best is None:
        found.out_of_memory = any(is_out_of_memory(result) for result in results)
        if not found.out_of_memory:
            raise RuntimeError(f"{operation.workload} {case} {template}: {results[0]['violations'][0]['message']}")
        return found
    found.latency_s, found.energy_j = results[best]["latency_s"], results[best]["energy_j"]
    found.nodes = mappings[best]
    return found


def one_part_at_a_time(sluice, operation, template, problem, machine, shape):
    """Parts that follow each other add up: the best of each is the best of all."""
    parts = [list(choices) for choices in templates.PARTS[template](operation, machine, *shape)]
    tried, results = [], []
    for i in range(len(parts)):
        choices = [[*(p[0] for p in parts[:i]), choice, *(p[0] for p in parts[i + 1 :])] for choice in parts[i]]
        mappings = [templates.in_turn(operation, template, choice) for choice in choices]
        priced = sluice.price(problem, mappings)
        tried += mappings
        results += priced
        best = best_of(priced)
        if best is not None:
            parts[i] = [parts[i][best]]
    final = [templates.in_turn(operation, template, [part[0] for part in parts])]
    return tried + final, results + sluice.price(problem, final)
