"""What `sluice map` finds for the paper's cases: the optimal search beside random iterations and the best template."""

import math
import resource
from dataclasses import dataclass
from statistics import median

from cases import ATTENTIONS, GEMMS, arguments, gemm_problem, shape_of
from check import HERE, rows_of
from figures import CASES, number
from results import DISTRIBUTED, geometric_mean
from tables_and_plots import write_csv
from templates import LAYERNORM, SOFTMAX

OPERATIONS = {SOFTMAX.name: SOFTMAX, LAYERNORM.name: LAYERNORM}
ATTENTION = "self_attention"
ALL = [*((name, case) for name in OPERATIONS for case in GEMMS), *((ATTENTION, case) for case in ATTENTIONS)]
SMALL = [(SOFTMAX.name, 1)]
BUDGET = 10000  # iterations of the paper's search
LIMIT = 2  # seconds that a search may take
SAME = 1 + 1e-9  # sums in another order

HEADER = ["workload", "case", "compound_s", "columns_in_groups", "guarantee", "bound_s", "found_over_bound", "search_s", "longest_search_s",
          "cpu_s", "mappings_priced", "iterative_s", "iterative_search_s", "iterative_priced", "template", "template_s",
          "gain_over_template", "gain_over_iterative"]  # fmt: skip


@dataclass
class Searched:
    """Searches of one case, over each way of writing its workload; the fastest mapping counts."""

    documents: list
    cpu_s: float  # of the processes

    @property
    def place(self):
        return min(range(len(self.documents)), key=lambda i: latency_of(self.documents[i]))

    @property
    def guarantee(self):
        return self.documents[self.place]["guarantee"]

    @property
    def latency_s(self):
        return latency_of(self.documents[self.place])

    def seconds(self):
        return [document["search"]["seconds"] for document in self.documents]

    def priced(self):
        return int(sum(document["search"]["mappings_evaluated"] for document in self.documents))


@dataclass
class Compared:
    workload: str
    case: int
    compound: Searched
    iterative: Searched
    template: str
    template_s: float

    @property
    def over_template(self):
        return self.template_s / self.compound.latency_s

    @property
    def over_iterative(self):
        return self.iterative.latency_s / self.compound.latency_s

    @property
    def name(self):
        return f"{self.workload} {self.case}"

    def row(self):
        guarantee = self.compound.guarantee
        return [self.workload, self.case, number(self.compound.latency_s), "yes" if self.compound.place else "no", guarantee["kind"],
                number(guarantee["bound"]), number(guarantee["found_over_bound"]), number(sum(self.compound.seconds())),
                number(max(self.compound.seconds())), number(self.compound.cpu_s), self.compound.priced(),
                number(self.iterative.latency_s), number(sum(self.iterative.seconds())), self.iterative.priced(), self.template,
                number(self.template_s), number(self.over_template), number(self.over_iterative)]  # fmt: skip


def latency_of(document):
    """Infinite where nothing fits."""
    return document["mappings"][0]["latency_s"] if document["mappings"] else math.inf


def problems_of(workload, case, variations):
    """Each way of writing the workload: the library's; layer norm also with the columns in groups, one a core."""
    if workload == ATTENTION:
        return [arguments(workload, case, {**shape_of("attn", case), **variations})]
    templates = ["unfused", DISTRIBUTED] if OPERATIONS[workload].grouped else ["unfused"]
    return [gemm_problem(OPERATIONS[workload], case, template, variations) for template in templates]


def searched(sluice, problems, mapper, more=()):
    before = cpu_seconds()
    documents = [sluice.map(problem, mapper, more) for problem in problems]
    return Searched(documents, cpu_seconds() - before)


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def best_templates():
    """Of each case the fastest template that was published."""
    best = {}
    for row in (row for name in CASES for row in rows_of(HERE / "results" / name) if row["latency_s"]):
        key, one = (row["workload"], int(row["case"])), (float(row["latency_s"]), row["template"])
        best[key] = min(one, best.get(key, one))
    return best


def compare(sluice, cases, variations, folder, budget=BUDGET):
    """Searches case by case, alone, so that the seconds are a search's own."""
    best, all_compared = best_templates(), []
    for workload, case in cases:
        problems = problems_of(workload, case, variations)
        compound = searched(sluice, problems, "compound")
        iterative = searched(sluice, problems, "iterative", ["--budget", f"{budget}evals"])
        template_s, template = best[workload, case]
        all_compared.append(Compared(workload, case, compound, iterative, template, template_s))
        print(", ".join(f"{name} {value}" for name, value in zip(HEADER, all_compared[-1].row())), flush=True)
    write_csv(folder / "search.csv", HEADER, [one.row() for one in all_compared])
    print("\n".join(summary(all_compared)))


def summary(all_compared):
    for workload in dict.fromkeys(one.workload for one in all_compared):
        mine = [one for one in all_compared if one.workload == workload]
        gains = [one.over_template for one in mine]
        yield (f"{workload}: geometric means of the latency of the best template over ours: {geometric_mean(gains):.3f} "
               f"({min(gains):.3f} to {max(gains):.3f}), of iterative {geometric_mean(one.over_iterative for one in mine):.3f}")  # fmt: skip
    worse = {
        "iterative": {one.name: one.over_iterative for one in all_compared},
        "the best template": {one.name: one.over_template for one in all_compared},
    }
    for than, gains in worse.items():
        behind = [f"{name} ({1 / gain:.3f} times)" for name, gain in gains.items() if gain * SAME < 1]
        yield f"not worse than {than} in {len(gains) - len(behind)} of {len(gains)}; worse: {', '.join(behind) or 'none'}"
    for what, seconds in (
        ("search", {one.name: max(one.compound.seconds()) for one in all_compared}),
        ("CPU time", {one.name: one.compound.cpu_s for one in all_compared}),
    ):
        slow = [f"{name} ({second:.2f} s)" for name, second in seconds.items() if second > LIMIT]
        yield (f"{what}: median {median(seconds.values()):.2f} s, largest {max(seconds.values()):.2f} s; longer than {LIMIT} s "
               f"in {len(slow)} of {len(seconds)}: {', '.join(slow) or 'none'}")  # fmt: skip
