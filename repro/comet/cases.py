"""The paper's cases: which workload, architecture and shape, and the best mapping of each template for it."""

from dataclasses import dataclass, field

import attention
import templates
from evaluation import best_of, is_out_of_memory

GEMMS = range(1, 13)
SHAPES = {1: (1, 1024, 64), 2: (1, 4096, 128), 3: (256, 1024, 128), 4: (4, 1024, 128), 5: (512, 1024, 128),
          6: (512, 1024, 64), 7: (1, 16384, 128), 8: (1, 2048, 64), 9: (256, 4096, 128), 10: (4, 8192, 128),
          11: (512, 2048, 64), 12: (512, 4096, 128)}  # fmt: skip  (Tables I and II: M, N, K)


ATTENTIONS = range(1, 13)
ATTENTION_SHAPES = {1: (1024, 256, 1024, 256), 2: (1, 128, 1024, 128), 3: (1, 256, 2048, 256), 4: (1, 256, 512, 256),
                    5: (256, 128, 256, 128), 6: (512, 128, 256, 128), 7: (1024, 512, 1024, 512), 8: (1, 128, 16384, 128),
                    9: (1, 512, 4096, 512), 10: (1, 128, 8192, 128), 11: (2048, 256, 2048, 256),
                    12: (256, 512, 256, 512)}  # fmt: skip  (Tables III and IV: M, K, N, L)


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

    @property
    def out_of_memory(self):
        return self.tried > 0 and self.legal == 0


def is_cloud(case):
    return case > 6


def machine_of(case):
    return templates.Machine(4, 4) if is_cloud(case) else templates.Machine(2, 2)


def arguments(workload, case, variables):
    """Arguments of `sluice evaluate` but for the mapping: workload, architecture, variables."""
    architecture = "comet_cloud" if is_cloud(case) else "comet_edge"
    return [workload, architecture, *(part for name, value in variables.items() for part in ("--set", f"{name}={value}"))]


def problem_of(operation, case, template, variations):
    variables = dict(zip("MNK", SHAPES[case]))
    workload = operation.workload
    if operation is templates.LAYERNORM and template in ("fused_dist", "fused_gemm_dist"):
        workload = templates.HERE / "layernorm_distributed.yaml"
        variables["G"] = templates.groups(machine_of(case), variables["N"])
    return arguments(workload, case, {**variables, **variations})


def search(sluice, operation, case, template, variations=None):
    """Every choice of the template, priced; of several parts one after the other, each part's best on its own."""
    shape, machine = SHAPES[case], machine_of(case)
    found = Found(template)
    problem = problem_of(operation, case, template, variations or {})
    if template in templates.WHOLE:
        mappings = list(templates.WHOLE[template](operation, machine, *shape))
        consider(found, problem, mappings, sluice.price(problem, mappings))
    else:
        parts = templates.PARTS[template](operation, machine, *shape)
        in_turn = lambda chosen: templates.in_turn(operation, template, chosen)  # noqa: E731
        one_part_at_a_time(sluice, found, problem, parts, in_turn)
    return found


def search_attention(sluice, case, template, variations=None):
    M, K, N, L = ATTENTION_SHAPES[case]
    variables, machine = {**dict(zip("MKNL", (M, K, N, L))), **(variations or {})}, machine_of(case)
    found = Found(template)
    if template == "flash":
        for workload, more, mappings in attention.flash(machine, M, K, N, L):
            problem = arguments(workload, case, {**variables, **more})
            consider(found, problem, mappings, sluice.price(problem, mappings))
    else:
        parts = attention.PARTS[template](machine, M, K, N, L)
        problem = arguments("self_attention", case, variables)
        one_part_at_a_time(sluice, found, problem, parts, lambda chosen: attention.in_turn(template, chosen))
    return found


def consider(found, problem, mappings, results):
    """Takes the fastest of some mappings, if it is faster than what has been found."""
    found.tried += len(results)
    found.legal += sum(result["status"] == "ok" for result in results)
    best = best_of(results)
    for result in results:
        if result["status"] == "illegal" and not is_out_of_memory(result):
            why = [v["message"] for v in result["violations"] if v["kind"] != "capacity"]
            raise RuntimeError(f"{problem} {found.template}: {why[0]}")
    if best is not None and (found.latency_s is None or results[best]["latency_s"] < found.latency_s):
        found.latency_s, found.energy_j = results[best]["latency_s"], results[best]["energy_j"]
        found.nodes, found.problem = mappings[best], problem
    return best


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
