"""The paper's mappings of self-attention (Section V-D2) as templates: unfused (score, softmax and context one after the
other), partially fused (score with softmax), flash (all of it, block by block of the keys). Clusters and cores each
take a part of the rows or of the columns (keys); where they take columns, row sums need all-reduces."""

from dataclasses import dataclass
from itertools import chain, product

from loop_trees import collective, compute, divisors, sequential, spread, steps, storage, temporal
from templates import HERE, Product, gemm_in_a_core

TEMPLATES = ["unfused", "partially_fused", "flash"]
SCORE = Product("QK", "Q", "KT", "m", "n", "k")
CONTEXT = Product("AV", "SM", "V", "m", "l", "n")
SOFTMAX = [("SM_max", "max"), ("SM_diff", None), ("SM_exp", None), ("SM_sum", "sum"), ("SM", None)]


def loop(variable, tile, size):
    return [temporal(variable, tile)] if tile < size else []


@dataclass
class Layout:
    """Clusters and cores: the loops over clusters, what a cluster has of rows and columns, which variable its cores take."""

    machine: object
    clusters: list
    rows: int
    columns: int
    core_variable: str
    column: str
    over_clusters: list

    def in_a_core(self, rows):
        """Of a tile of a cluster's rows: the loops over cores, a core's rows and columns, the dimensions over columns."""
        by_columns = self.core_variable == self.column
        cores, left, over = spread(self.core_variable, self.columns if by_columns else rows, self.machine.core)
        if by_columns:
            return cores, rows, left, self.over_clusters + over
        return cores, left, self.columns, self.over_clusters


def layouts(machine, rows, row, columns, column):
    for of_clusters, of_cores in product((row, column), repeat=2):
        by_columns = of_clusters == column
        clusters, left, over = spread(of_clusters, columns if by_columns else rows, machine.cluster)
        layout = Layout(machine, clusters, rows if by_columns else left, left if by_columns else columns, of_cores, column,
                        over if by_columns else [])  # fmt: skip
        if clusters and layout.in_a_core(layout.rows)[0]:
            yield layout


def product_alone(product, machine, rows, columns, inner):
    for layout in layouts(machine, rows, product.row, columns, product.column):
        for tile in divisors(layout.rows):
            cores, core_rows, core_columns, _ = layout.in_a_core(tile)
            for gemm in gemm_in_a_core(machine, product, core_rows, core_columns, inner):
                yield [*layout.clusters, storage([product.right], "GB"), *loop(product.row, tile, layout.rows),
                       storage([product.left, product.out], "GB"), *cores, storage([product.out], "OB"), *gemm]  # fmt: skip


def on_simd(name, rows, columns):
    return steps([("m", rows), ("n", columns)]) + [compute(name, "SIMD")]


def softmax(rows, columns, over):
    for name, reduction in SOFTMAX:
        yield on_simd(name, rows, columns)
        if reduction and over:
            yield collective("all_reduce", name, "OB", over, operation=reduction)


def softmax_alone(machine, M, N):
    """Softmax from DRAM to DRAM; QK is loaded once, as QKL."""
    for layout in layouts(machine, M, "m", N, "n"):
        for tile in divisors(layout.rows):
            cores, rows, columns, over = layout.in_a_core(tile)
            kept = ["QK", "QKL", "SM_max", "SM_diff", "SM_exp", "SM_sum", "SM"]
            yield [*layout.clusters, *loop("m", tile, layout.rows), storage(["QK", "SM"], "GB"), *cores, storage(kept, "OB"),
                   sequential([on_simd("QKL", rows, columns), *softmax(rows, columns, over)])]  # fmt: skip


def softmax_of_scores(machine, M, N, K):
    """Score and softmax fused."""
    for layout in layouts(machine, M, "m", N, "n"):
        for tile in divisors(layout.rows):
            cores, rows, columns, over = layout.in_a_core(tile)
            kept = ["QK", "SM_max", "SM_diff", "SM_exp", "SM_sum", "SM"]
            for gemm in gemm_in_a_core(machine, SCORE, rows, columns, K):
                yield [*layout.clusters, storage(["KT"], "GB"), *loop("m", tile, layout.rows), storage(["Q", "SM"], "GB"),
                       *cores, storage(kept, "OB"), sequential([gemm, *softmax(rows, columns, over)])]  # fmt: skip


def unfused_parts(machine, M, K, N, L):
    yield list(product_alone(SCORE, machine, M, N, K))
    yield list(softmax_alone(machine, M, N))
    yield list(product_alone(CONTEXT, machine, M, L, N))


def partially_fused_parts(machine, M, K, N, L):
    yield list(softmax_of_scores(machine, M, N, K))
    yield list(product_alone(CONTEXT, machine, M, L, N))


KEPT = {"unfused": ["Q", "KT", "QK", "SM", "V", "AV"], "partially_fused": ["Q", "KT", "SM", "V", "AV"]}
PARTS = {"unfused": unfused_parts, "partially_fused": partially_fused_parts}
WORKLOADS = {"unfused": HERE / "attention_loaded.yaml", "partially_fused": "self_attention"}
STATES = ["RM", "RD", "RNV"]
OF_A_BLOCK = ["QK", "LM", "SD", "SLN", "SLD", "SLNV", "PRM"]


def block(machine, rows, keys, K, L, over, stay=False):
    """Einsums of one block of keys in a core."""
    row = steps([("m", rows)])
    key = steps([("m", rows), ("p", keys)])
    wide = steps([("m", rows), ("l", L)])
    scores = list(gemm_in_a_core(machine, Product("QK", "Q", "KT", "m", "p", "k"), rows, keys, K, stay))
    contexts = list(gemm_in_a_core(machine, Product("SLNV", "SLN", "V", "m", "l", "p"), rows, L, keys, stay))
    for score, context in zip_ends(scores, contexts):
        yield [
            score,
            key + [compute("LM", "SIMD")],
            *([collective("all_reduce", "LM", "OB", over, operation="max")] if over else []),
            row + [compute("RM", "SIMD")],
            key + [compute("SD", "SIMD")],
            key + [compute("SLN", "SIMD")],
            key + [compute("SLD", "SIMD")],
            context,
            row + [compute("PRM", "SIMD")],
            row + [compute("RD", "SIMD")],
            wide + [compute("RNV", "SIMD")],
        ]


def zip_ends(some, others):
    """Choices of two lists side by side, the shorter one repeated from its start."""
    for i in range(max(len(some), len(others))):
        yield some[i % len(some)], others[i % len(others)]


def flash_by_rows(machine, M, K, N, L, keys):
    """Workload flash_self_attention: every core has rows of its own, and all keys pass by, block by block."""
    clusters, in_cluster, _ = spread("m", M, machine.cluster)
    blocks = N // keys
    for tile in divisors(in_cluster):
        cores, rows, _ = spread("m", tile, machine.core)
        for children in block(machine, rows, keys, K, L, []):
            last = [*steps([("m", rows), ("l", L)]), compute("AV", "SIMD")]
            for above, below in ((["KT", "V"], []), (["KT"], ["V"]), ([], ["KT", "V"])):
                yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *clusters, *([storage(above, "GB")] if above else []),
                       *loop("m", tile, in_cluster), storage(["Q", "AV", *below], "GB"), *cores,
                       storage([*STATES, "AV"], "OB"),
                       sequential([[*loop("i", 1, blocks), storage(OF_A_BLOCK, "OB"), sequential(children)], last])]  # fmt: skip


def flash_by_groups(machine, M, K, N, L, clusters_take, blocks):
    """Workload flash_distributed: every core of a cluster has its group of the keys; clusters have groups, too, or rows."""
    groups = groups_of(machine, N, clusters_take)
    keys = N // (groups * blocks)
    if clusters_take == "g":
        clusters, left, over_clusters = spread("g", groups, machine.cluster)
        around, inside, in_cluster = [], clusters, M
    else:
        around, in_cluster, over_clusters = spread("m", M, machine.cluster)
        inside, left, over_clusters = [], groups, []
    cores, _, over_cores = spread("g", left, machine.core)
    over = over_clusters + over_cores
    for rows in divisors(in_cluster):
        blocks_of_keys = [block(machine, rows, keys, K, L, over, stay) for stay in {False, blocks == 1}]
        for children in chain(*blocks_of_keys):
            totals = [steps([("m", rows)]) + [compute("DEN", "SIMD")], steps([("m", rows), ("l", L)]) + [compute("NUM", "SIMD")]]
            in_cores = [*cores, storage([*STATES, "DEN", "NUM"], "OB"),
                        sequential([[*loop("i", 1, blocks), storage(OF_A_BLOCK, "OB"), sequential(children)], *totals])]  # fmt: skip
            last = [storage(["AV"], "GB"), storage(["DEN", "NUM", "AV"], "OB"),
                    sequential([[*steps([("m", rows), ("l", L)]), compute("AV", "SIMD")]])]  # fmt: skip
            sums = [collective("all_reduce", name, "OB", over, operation="sum") for name in ("DEN", "NUM")]
            for kept in (["KT", "V"], ["KT"]):
                made = [*inside, storage(kept, "GB", incremental=True), storage(["Q", "V"][: 3 - len(kept)], "GB"), *in_cores]
                yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *around, *loop("m", rows, in_cluster),
                       sequential([made, *sums, last])]  # fmt: skip


def groups_of(machine, N, clusters_take):
    _, left, _ = spread("n", N, machine.core + (machine.cluster if clusters_take == "g" else []))
    return N // left


def flash(machine, M, K, N, L):
    """Every choice: the workload, its variables, the mappings."""
    instances = 1
    for _, _, fanout in machine.cluster + machine.core:
        instances *= fanout
    if M >= instances:
        for keys in divisors(N):
            if keys >= 64:
                variables = {"BLOCK": keys, "N_BLOCKS": N // keys}
                yield "flash_self_attention", variables, list(flash_by_rows(machine, M, K, N, L, keys))
    for clusters_take in ("g", "m") if M > 1 else ("g",):
        groups = groups_of(machine, N, clusters_take)
        for blocks in (1, 2, 4):
            if N % (groups * blocks) == 0:
                variables = {"G": groups, "N_BLOCKS": blocks}
                mappings = list(flash_by_groups(machine, M, K, N, L, clusters_take, blocks))
                yield HERE / "flash_distributed.yaml", variables, mappings


def in_turn(template, parts):
    return [storage(KEPT[template], "DRAM"), sequential(parts)]
