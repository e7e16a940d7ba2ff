"""FlashAttention as templates, of 2023 (one division at the end) and of 2022 (the output is kept divided): every core has rows
of its own and sees all keys, or a group of the keys."""

from dataclasses import dataclass
from itertools import chain

from attention import loop
from loop_trees import collective, compute, divisors, sequential, spread, steps, storage
from templates import HERE, Product, gemm_in_a_core


@dataclass(frozen=True)
class Flash:
    """A FlashAttention: its workloads with rows in the cores and with groups of keys in them, and what it computes of a
    block: maxima and sums of a block's rows, all else that has a value a row, tensors of M x L; what runs along."""

    by_rows: object
    by_groups: object
    before: list  # between the scores and their product with V: name, kind of its loops, all-reduce
    behind: list
    states: list
    last: list  # states of which the last slice is read behind the blocks
    totals: list  # sums over groups, in the order in which they are made: name, whether of M x L values

    def of_a_block(self):
        return ["QK", "SLNV", *(name for name, *_ in self.before + self.behind if name not in self.states)]


FLASH = {
    "flash": Flash(
        "flash_self_attention",
        HERE / "flash_distributed.yaml",
        [("LM", "key", "max"), ("RM", "row", None), ("SD", "key", None), ("SLN", "key", None), ("SLD", "key", None)],
        [("PRM", "row", None), ("RD", "row", None), ("RNV", "wide", None)],
        ["RM", "RD", "RNV"],
        ["RD", "RNV"],
        [("DEN", False), ("NUM", True)],
    ),
    "flash_2022": Flash(
        "flash_self_attention_2022",
        HERE / "flash_distributed_2022.yaml",
        [("LM", "key", "max"), ("SD", "key", None), ("SLN", "key", None), ("SLD", "key", "sum")],
        [("RM", "row", None), ("PRM", "row", None), ("PLM", "row", None), ("ADD", "row", None), ("RD", "row", None),
         ("OLD", "row", None), ("NEW", "wide", None), ("RO", "wide", None)],
        ["RM", "RD", "RO"],
        ["RO"],
        [("SUM", True)],
    ),
}  # fmt: skip


def block(of, machine, rows, keys, K, L, over, stay=False):
    """Einsums of one block of keys in a core."""
    loops = {"row": [("m", rows)], "key": [("m", rows), ("p", keys)], "wide": [("m", rows), ("l", L)]}

    def on_simd(einsums):
        for name, kind, reduction in einsums:
            yield steps(loops[kind]) + [compute(name, "SIMD")]
            if reduction and over:
                yield collective("all_reduce", name, "OB", over, operation=reduction)

    scores = list(gemm_in_a_core(machine, Product("QK", "Q", "KT", "m", "p", "k"), rows, keys, K, stay))
    contexts = list(gemm_in_a_core(machine, Product("SLNV", "SLN", "V", "m", "l", "p"), rows, L, keys, stay))
    for score, context in zip_ends(scores, contexts):
        yield [score, *on_simd(of.before), context, *on_simd(of.behind)]


def zip_ends(some, others):
    """Choices of two lists side by side, the shorter one repeated from its start."""
    for i in range(max(len(some), len(others))):
        yield some[i % len(some)], others[i % len(others)]


def running(of, children, blocks):
    """Block after block. What runs along is held below the loop, with the slice that a block reads and the one it writes;
    readers of the last slice, behind the loop, hold that one."""
    return [*loop("i", 1, blocks), storage([*of.states, *of.of_a_block()], "OB"), sequential(children)]


def flash_by_rows(of, machine, M, K, N, L, keys):
    """Every core has rows of its own, and all keys pass by, block by block."""
    clusters, in_cluster, _ = spread("m", M, machine.cluster)
    blocks = N // keys
    for tile in divisors(in_cluster):
        cores, rows, _ = spread("m", tile, machine.core)
        for children in block(of, machine, rows, keys, K, L, []):
            last = [*steps([("m", rows), ("l", L)]), compute("AV", "SIMD")]
            for above, below in ((["KT", "V"], []), (["KT"], ["V"]), ([], ["KT", "V"])):
                yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *clusters, *([storage(above, "GB")] if above else []),
                       *loop("m", tile, in_cluster), storage(["Q", "AV", *below], "GB"), *cores,
                       storage(["AV"], "OB"), sequential([running(of, children, blocks), [storage(of.last, "OB"), *last]])]  # fmt: skip


def flash_by_groups(of, machine, M, K, N, L, clusters_take, blocks):
    """Every core of a cluster has its group of the keys; clusters have groups, too, or rows."""
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
        blocks_of_keys = [block(of, machine, rows, keys, K, L, over, stay) for stay in {False, blocks == 1}]
        for children in chain(*blocks_of_keys):
            names = [name for name, _ in of.totals]
            totals = [steps([("m", rows), ("l", L)] if wide else [("m", rows)]) + [compute(name, "SIMD")] for name, wide in of.totals]
            behind = [storage(of.last, "OB"), sequential(totals)]
            in_cores = [*cores, storage(names, "OB"), sequential([running(of, children, blocks), behind])]
            last = [storage(["AV"], "GB"), storage([*names, "AV"], "OB"),
                    sequential([[*steps([("m", rows), ("l", L)]), compute("AV", "SIMD")]])]  # fmt: skip
            sums = [collective("all_reduce", name, "OB", over, operation="sum") for name in names]
            for kept in (["KT", "V"], ["KT"]):
                made = [*inside, storage(kept, "GB", incremental=True), storage(["Q", "V"][: 3 - len(kept)], "GB"), *in_cores]
                yield [storage(["Q", "KT", "V", "AV"], "DRAM"), *around, *loop("m", rows, in_cluster),
                       sequential([made, *sums, last])]  # fmt: skip


def groups_of(machine, N, clusters_take):
    _, left, _ = spread("n", N, machine.core + (machine.cluster if clusters_take == "g" else []))
    return N // left


def choices(of, machine, M, K, N, L):
    """Every choice: the workload, its variables, the mappings."""
    instances = 1
    for _, _, fanout in machine.cluster + machine.core:
        instances *= fanout
    if M >= instances:
        for keys in divisors(N):
            if keys >= 64:
                variables = {"BLOCK": keys, "N_BLOCKS": N // keys}
                yield of.by_rows, variables, list(flash_by_rows(of, machine, M, K, N, L, keys))
    for clusters_take in ("g", "m") if M > 1 else ("g",):
        groups = groups_of(machine, N, clusters_take)
        for blocks in (1, 2, 4):
            if N % (groups * blocks) == 0:
                variables = {"G": groups, "N_BLOCKS": blocks}
                mappings = list(flash_by_groups(of, machine, M, K, N, L, clusters_take, blocks))
                yield of.by_groups, variables, mappings
