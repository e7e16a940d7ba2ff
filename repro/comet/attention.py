"""The paper's mappings of self-attention (Section V-D2) as templates: unfused (score, softmax and context one after the
other), partially fused (score with softmax); flash, all of it block by block of the keys, is in flash.py. Clusters and cores
each take a part of the rows or of the columns (keys); where they take columns, row sums need all-reduces."""

from dataclasses import dataclass
from itertools import product

from loop_trees import collective, compute, divisors, sequential, spread, steps, storage, temporal
from templates import HERE, Product, gemm_in_a_core

TEMPLATES = ["unfused", "partially_fused", "flash", "flash_2022"]
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


def in_turn(template, parts):
    return [storage(KEPT[template], "DRAM"), sequential(parts)]
