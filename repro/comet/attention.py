"""The paper's mappings of self-attention (Section V-D2) as templates: unfused (score, softmax and context one after the
other), partially fused (score with softmax), flash (all of it, block by block of the keys). Rows are spread over clusters and
cores where there are enough of them, else the columns, with all-reduces of the row sums."""

from loop_trees import collective, compute, divisors, sequential, spread, steps, storage, temporal
from templates import HERE, Product, gemm_in_a_core

TEMPLATES = ["unfused", "partially_fused", "flash"]
SCORE = Product("QK", "Q", "KT", "m", "n", "k")
CONTEXT = Product("AV", "SM", "V", "m", "l", "n")
SOFTMAX = [("SM_max", "max"), ("SM_diff", None), ("SM_exp", None), ("SM_sum", "sum"), ("SM", None)]


def loop(variable, tile, size):
    return [temporal(variable, tile)] if tile < size else []


def split_rows_or_columns(machine, rows, row, columns, column):
    """Layouts: which variable is spread, the loops over clusters and cores, what a cluster has of rows, and a core of
    rows per row tile and of columns."""
    for variable, size in ((row, rows), (column, columns)):
        clusters, in_cluster, over_clusters = spread(variable, size, machine.cluster)
        cores, _, over_cores = spread(variable, in_cluster, machine.core)
        if over_clusters or over_cores:
            yield variable, clusters, in_cluster, over_clusters + over_cores


def product_alone(product, machine, rows, columns, inner):
    for variable, clusters, in_cluster, _ in split_rows_or_columns(machine, rows, product.row, columns, product.column):
        by_rows = variable == product.row
        here = in_cluster if by_rows else rows
        for tile in divisors(here):
            cores, left, _ = spread(variable, tile if by_rows else in_cluster, machine.core)
            core_rows, core_columns = (left, columns) if by_rows else (tile, left)
            for gemm in gemm_in_a_core(machine, product, core_rows, core_columns, inner):
                yield [*clusters, storage([product.right], "GB"), *loop(product.row, tile, here),
                       storage([product.left, product.out], "GB"), *cores, storage([product.out], "OB"), *gemm]  # fmt: skip


def softmax(rows, columns, over):
    for name, reduction in SOFTMAX:
        sizes = [("m", rows), ("n", columns)]
        yield ([storage(["SM"], "OB")] if name == "SM" else []) + steps(sizes) + [compute(name, "SIMD")]
        if reduction and over:
            yield collective("all_reduce", name, "OB", over, operation=reduction)


def softmax_alone(machine, M, N, score=None, K=1):
    """Softmax from DRAM to DRAM; with the score before it if that is given."""
    for variable, clusters, in_cluster, over in split_rows_or_columns(machine, M, "m", N, "n"):
        by_rows = variable == "m"
        here = in_cluster if by_rows else M
        for tile in divisors(here):
            cores, left, _ = spread(variable, tile if by_rows else in_cluster, machine.core)
            rows, columns = (left, N) if by_rows else (tile, left)
            tail = list(softmax(rows, columns, [] if by_rows else over))
            kept = ["SM_max", "SM_diff", "SM_exp", "SM_sum"]
            if score is None:
                yield [*clusters, *loop("m", tile, here), storage(["QK", "SM"], "GB"), *cores, storage(["QK", *kept], "OB"),
                       sequential(tail)]  # fmt: skip
                continue
            for gemm in gemm_in_a_core(machine, score, rows, columns, K):
                yield [*clusters, storage(["KT"], "GB"), *loop("m", tile, here), storage(["Q", "SM"], "GB"), *cores,
                       storage(["QK", *kept], "OB"), sequential([gemm, *tail])]  # fmt: skip


def unfused_parts(machine, M, K, N, L):
    yield list(product_alone(SCORE, machine, M, N, K))
    yield list(softmax_alone(machine, M, N))
    yield list(product_alone(CONTEXT, machine, M, L, N))


def partially_fused_parts(machine, M, K, N, L):
    yield list(softmax_alone(machine, M, N, SCORE, K))
    yield list(product_alone(CONTEXT, machine, M, L, N))


KEPT = {"unfused": ["Q", "KT", "QK", "SM", "V", "AV"], "partially_fused": ["Q", "KT", "SM", "V", "AV"]}
PARTS = {"unfused": unfused_parts, "partially_fused": partially_fused_parts}
STATES = ["RM", "RD", "RNV"]
OF_A_BLOCK = ["QK", "LM", "SD", "SLN", "SLD", "SLNV", "PRM"]


def block(machine, rows, keys, K, L, over):
    """Einsums of one block of keys in a core."""
    row = steps([("m", rows)])
    key = steps([("m", rows), ("p", keys)])
    wide = steps([("m", rows), ("l", L)])
    scores = list(gemm_in_a_core(machine, Product("QK", "Q", "KT", "m", "p", "k"), rows, keys, K))
    contexts = list(gemm_in_a_core(machine, Product("SLNV", "SLN", "V", "m", "l", "p"), rows, L, keys))
    for score, context in {0: (scores[0], contexts[0]), 1: (scores[-1], contexts[-1])}.values():
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


def flash_by_rows(machine, M, K, N, L, keys):
    """Workload flash_self_attention: every core has rows of its own, and all keys pass by, block by block."""
    clusters, in_cluster, _ = spread("m", M, machine.cluster)
    blocks = N // keys
    for tile in divisors(in_cluster):
        cores, rows, _ = spread("m", tile, machine.core)
        for children in block(machine, rows, keys, K, L, []):
            last = [storage(["AV"], "OB"), *steps([("m", rows), ("l", L)]), compute("AV", "SIMD")]
            for resident in (True, False):
                above, below = (["KT", "V"], []) if resident else ([], ["KT", "V"])
                yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *clusters, *([storage(above, "GB")] if above else []),
                       *loop("m", tile, in_cluster), storage(["Q", "AV", *below], "GB"), *cores, storage(STATES, "OB"),
                       sequential([[*loop("i", 1, blocks), storage(OF_A_BLOCK, "OB"), sequential(children)], last])]  # fmt: skip


def flash_by_groups(machine, M, K, N, L, keys):
    """Workload flash_distributed: every core has its group of the keys; `keys` in a block and core."""
    groups = groups_of(machine, N)
    blocks = N // (groups * keys)
    clusters, left, over_clusters = spread("g", groups, machine.cluster)
    cores, _, over_cores = spread("g", left, machine.core)
    over = over_clusters + over_cores
    for rows in divisors(M):
        for children in block(machine, rows, keys, K, L, over):
            totals = [steps([("m", rows)]) + [compute("DEN", "SIMD")], steps([("m", rows), ("l", L)]) + [compute("NUM", "SIMD")]]
            made = [*clusters, storage(["Q", "KT", "V"], "GB"), *cores, storage([*STATES, "DEN", "NUM"], "OB"),
                    sequential([[*loop("i", 1, blocks), storage(OF_A_BLOCK, "OB"), sequential(children)], *totals])]  # fmt: skip
            last = [storage(["AV"], "GB"), storage(["DEN", "NUM", "AV"], "OB"), *steps([("m", rows), ("l", L)]),
                    compute("AV", "SIMD")]  # fmt: skip
            sums = [collective("all_reduce", name, "OB", over, operation="sum") for name in ("DEN", "NUM")]
            yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *loop("m", rows, M), sequential([made, *sums, last])]


def groups_of(machine, N):
    _, left, _ = spread("n", N, machine.cluster + machine.core)
    return N // left


def flash(machine, M, K, N, L):
    """Every choice: the workload, its variables, the mappings."""
    instances = 1
    for _, _, fanout in machine.cluster + machine.core:
        instances *= fanout
    if M >= instances:
        for keys in (64, 128, 256, 512, 1024):
            if N % keys == 0:
                variables = {"BLOCK": keys, "N_BLOCKS": N // keys}
                yield "flash_self_attention", variables, list(flash_by_rows(machine, M, K, N, L, keys))
    groups = groups_of(machine, N)
    for blocks in (1, 2, 4):
        if N % (groups * blocks) == 0:
            variables = {"G": groups, "N_BLOCKS": blocks}
            mappings = list(flash_by_groups(machine, M, K, N, L, N // (groups * blocks)))
            yield HERE / "flash_distributed.yaml", variables, mappings


def in_turn(template, parts):
    return [storage(KEPT[template], "DRAM"), sequential(parts)]
