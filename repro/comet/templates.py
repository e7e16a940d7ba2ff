"""The paper's mappings of GEMM-Softmax and GEMM-LayerNorm as templates: every choice of tiles is one mapping.

Names as in Section V-D: unfused, fused_dist (what follows the GEMM is fused and distributed), fused_gemm_single (all
fused, what follows the GEMM runs on one core), fused_gemm_dist (all fused and distributed, Fig. 4(c)). N is spread over
clusters and cores, M advances in time.
"""

from dataclasses import dataclass
from pathlib import Path

from loop_trees import collective, compute, divisors, sequential, spread, steps, storage, temporal

HERE = Path(__file__).parent
PARAMETERS = {"LN_gain", "LN_bias"}
TEMPLATES = ["unfused", "fused_dist", "fused_gemm_single", "fused_gemm_dist"]


@dataclass(frozen=True)
class Operation:
    """What follows the GEMM: Einsums in order, each its name, its inputs and what it is all-reduced with, if it is."""

    name: str
    einsums: list
    grouped: bool = False  # distributed: the columns in groups, one a core, so that each works out a row's scalars for itself

    @property
    def output(self):
        return self.einsums[-1][0]

    def parameters(self):
        """Inputs that no Einsum makes, along N."""
        return [tensor for _, inputs, _ in self.einsums for tensor in inputs if tensor in PARAMETERS]

    def intermediates(self):
        return [name for name, _, _ in self.einsums[:-1]]

    def kept(self):
        """What a core has in OB, tile by tile, beside the product."""
        return [*self.intermediates(), *self.parameters(), self.output]

    def loaded(self):
        """The same with a load of the product before it (two Einsums read the product)."""
        return Operation(self.name, [("CL", ["C"], None), *self.einsums], self.grouped)

    def workload(self, template, machine, N):
        """The workload in which a template is a mapping, and its variables beside M, N, K."""
        loads = template == "fused_dist"
        if self.grouped and template in DISTRIBUTED:
            return HERE / GROUPED[self.name], {"G": groups(machine, N), "LOADED": loads}
        return (HERE / "softmax_loaded.yaml" if loads else LIBRARY[self.name]), {}


DISTRIBUTED = ("fused_dist", "fused_gemm_dist")
LIBRARY = {"gemm_softmax": "gemm_softmax", "gemm_softmax_wide": "gemm_softmax", "gemm_layernorm": "gemm_layernorm"}
GROUPED = {"gemm_softmax_wide": "softmax_wide.yaml", "gemm_layernorm": "layernorm_distributed.yaml"}

SOFTMAX = Operation("gemm_softmax", [
    ("SM_max", ["C"], "max"),
    ("SM_diff", ["C", "SM_max"], None),
    ("SM_exp", ["SM_diff"], None),
    ("SM_sum", ["SM_exp"], "sum"),
    ("SM", ["SM_exp", "SM_sum"], None),
])  # fmt: skip
WIDE = Operation("gemm_softmax_wide", [
    ("SM_most", ["C"], "max"),
    ("SM_max", ["SM_most"], None),
    ("SM_diff", ["C", "SM_max"], None),
    ("SM_exp", ["SM_diff"], None),
    ("SM_total", ["SM_exp"], "sum"),
    ("SM_sum", ["SM_total"], None),
    ("SM", ["SM_exp", "SM_sum"], None),
], grouped=True)  # fmt: skip
LAYERNORM = Operation("gemm_layernorm", [
    ("LN_sum", ["C"], "sum"),
    ("LN_mean", ["LN_sum"], None),
    ("LN_centred", ["C", "LN_mean"], None),
    ("LN_square", ["LN_centred"], None),
    ("LN_var", ["LN_square"], "sum"),
    ("LN_scale", ["LN_var"], None),
    ("LN_norm", ["LN_centred", "LN_scale"], None),
    ("LN_gained", ["LN_norm", "LN_gain"], None),
    ("LN", ["LN_gained", "LN_bias"], None),
], grouped=True)  # fmt: skip
ROW_TENSORS = {"SM_max", "SM_sum", "LN_sum", "LN_mean", "LN_var", "LN_scale"}  # without n


class Machine:
    """The dimensions of COMET's template: clusters, cores, the grid of arrays, one array."""

    def __init__(self, clusters, cores):
        self.cluster = [("Cluster", "cx", clusters), ("Cluster", "cy", clusters)]
        self.core = [("Core", "kx", cores), ("Core", "ky", cores)]
        self.buffer_values = 32 * 1024 * 8 // 16 // 2  # of IB and WB, double-buffered, 16 bits


def largest(sizes, most):
    fitting = [size for size in sizes if size <= most]
    return max(fitting) if fitting else None


@dataclass(frozen=True)
class Product:
    """A matrix product by names: out[row, column] = left[row, inner] * right[inner, column]."""

    out: str = "C"
    left: str = "A"
    right: str = "B"
    row: str = "m"
    column: str = "n"
    inner: str = "k"


def gemm_in_a_core(machine, product, rows, columns, inner, stay=True):
    """Loops below the node of the product in OB for a tile of rows x columns, `inner` summed: its left side in IB, the
    right one in WB, weight-stationary arrays with the sum along their rows; the other dimension of the grid takes the sum
    or the rows. Where both sides come in several tiles, either waits for the other. With `stay` the tiles of IB and WB are
    kept for the next step of the loops above, and take their room all the time."""
    k_tile = largest(divisors(inner), machine.buffer_values)
    n_tile = largest(divisors(columns), machine.buffer_values // k_tile)
    while n_tile is None or n_tile < min(columns, 32) and k_tile > 32:
        k_tile //= 2
        n_tile = largest(divisors(columns), machine.buffer_values // k_tile)
    m_tile = largest(divisors(rows), machine.buffer_values // k_tile)
    whole = {product.row: rows, product.column: columns, product.inner: inner}
    tile = {product.row: m_tile, product.column: n_tile, product.inner: k_tile}
    for above in buffers(product, whole, tile, stay):
        for grid in (product.inner, product.row):
            yield above + in_the_arrays(product, grid, dict(tile))
            if rows == 1 or k_tile <= 32:
                break


def buffers(product, whole, tile, stay):
    """Loops over tiles of IB and WB: the weights stay while rows pass, or the rows while weights pass."""

    def loops(variables):
        return [temporal(v, tile[v]) for v in variables if tile[v] < whole[v]]

    row, column, inner = product.row, product.column, product.inner
    marks = {"incremental": True} if stay else {}
    left, right = storage([product.left], "IB", **marks), storage([product.right], "WB", **marks)
    if not loops([column]) or loops([row]):
        yield [*loops([column, inner]), right, *loops([row]), left]
    if loops([column]):
        yield [*loops([row, inner]), left, *loops([column]), right]


def in_the_arrays(product, grid, left):
    """A tile of IB and WB on the grid of arrays."""
    # The grid outside the arrays, as far as whole arrays can be taken.
    spare = {product.column: left[product.column] // largest(divisors(left[product.column]), 32)}
    spare[grid] = left[product.inner] // largest(divisors(left[product.inner]), 32) if grid == product.inner else left[grid]
    nodes = []
    for variable, dimension in ((product.column, "ax"), (grid, "ay")):
        loops, left[variable], _ = spread(variable, left[variable], [("Grid", dimension, min(8, spare[variable]))])
        nodes += loops
    over = {variable: largest(divisors(left[variable]), 32) for variable in (product.column, product.inner)}
    nodes += [temporal(variable, tile) for variable, tile in over.items() if tile < left[variable]]
    for variable, dimension in ((product.inner, "rows"), (product.column, "cols")):
        nodes += spread(variable, over[variable], [("Array", dimension, over[variable])])[0]
    nodes.append(storage([product.right], "Register"))
    return nodes + steps([(product.row, left[product.row])]) + [compute(product.out, "PE")]


def on_simd(einsum, m, n, column="n"):
    """Loops of one Einsum over a tile of m x n in a core."""
    sizes = [("m", m)] if einsum in ROW_TENSORS and einsum not in REDUCED else [("m", m), (column, n)]
    return steps(sizes) + [compute(einsum, "SIMD")]


REDUCED = {"SM_max", "SM_sum", "LN_sum", "LN_var"}


def distributed_children(operation, m, n, over, column):
    """What follows the GEMM, on every core, with the all-reduces of its row sums."""
    for name, _, reduction in operation.einsums:
        yield on_simd(name, m, n, column)
        if reduction and over:
            yield collective("all_reduce", name, "OB", over, operation=reduction)


def distribution(operation, machine, N):
    """Loops that spread the columns over clusters and cores, what is left for a core, the names of the dimensions and of
    the variable within a core."""
    variable, size = ("g", groups(machine, N)) if operation.grouped else ("n", N)
    clusters, left, over_clusters = spread(variable, size, machine.cluster)
    cores, left, over_cores = spread(variable, left, machine.core)
    column, n = ("p", N // size) if operation.grouped else ("n", left)
    return clusters, cores, n, over_clusters + over_cores, column


def groups(machine, N):
    _, left, _ = spread("n", N, machine.cluster + machine.core)
    return N // left


def fused_gemm_dist(operation, machine, M, N, K):
    clusters, cores, n, over, column = distribution(operation, machine, N)
    for m in divisors(M):
        for resident in (True, False):
            weights = ["B", *operation.parameters()]
            for gemm in gemm_in_a_core(machine, Product(column=column), m, n, K):
                kept = ["C", *operation.kept()]
                children = [gemm, *distributed_children(operation, m, n, over, column)]
                nodes = [storage(["A", *weights, operation.output], "DRAM"), *clusters]
                outer = [storage(weights, "GB")] if resident else []
                inner = [] if resident else weights
                nodes += [*outer, *([temporal("m", m)] if m < M else []), storage(["A", *inner, operation.output], "GB")]
                nodes += [*cores, storage(kept, "OB"), sequential(children)]
                yield nodes


def fused_gemm_single(operation, machine, M, N, K):
    for m in divisors(M):
        clusters, n_cluster, over_clusters = spread("n", N, machine.cluster)
        cores, n, over_cores = spread("n", n_cluster, machine.core)
        over = over_clusters + over_cores
        for gemm in gemm_in_a_core(machine, Product(), m, n, K):
            made = [*clusters, storage(["B"], "GB", incremental=True), storage(["A"], "GB"), *cores, storage(["C"], "OB"), *gemm]
            single = [storage([operation.output, *operation.parameters()], "GB")]
            single += [storage(["C", *operation.kept()], "OB")]
            single += [sequential([on_simd(name, m, N) for name, _, _ in operation.einsums])]
            children = [made, collective("gather", "C", "OB", over), single]
            nodes = [storage(["A", "B", operation.output, *operation.parameters()], "DRAM")]
            yield [*nodes, *([temporal("m", m)] if m < M else []), sequential(children)]


def gemm_alone(layout, machine, M, K):
    clusters, cores, n, _, column = layout
    for m in divisors(M):
        for gemm in gemm_in_a_core(machine, Product(column=column), m, n, K):
            yield [*clusters, storage(["B"], "GB"), *([temporal("m", m)] if m < M else []), storage(["A", "C"], "GB"),
                   *cores, storage(["C"], "OB"), *gemm]  # fmt: skip


def tail_alone(operation, layout, M):
    """Everything behind the GEMM, fused and distributed."""
    clusters, cores, n, over, column = layout
    for m in divisors(M):
        children = list(distributed_children(operation, m, n, over, column))
        moved = ["C", operation.output]
        yield [*clusters, *([storage(operation.parameters(), "GB")] if operation.parameters() else []),
               *([temporal("m", m)] if m < M else []), storage(moved, "GB"), *cores,
               storage(["C", *operation.kept()], "OB"), sequential(children)]  # fmt: skip


def einsum_alone(name, inputs, machine, M, N):
    """One Einsum from DRAM to DRAM, spread along n or m."""
    tensors = [*inputs, name]
    rows_only = all(tensor in ROW_TENSORS for tensor in tensors)
    for variable in ["m"] if rows_only else ["n", "m"]:
        size = N if variable == "n" else M
        clusters, left, _ = spread(variable, size, machine.cluster)
        cores, left, _ = spread(variable, left, machine.core)
        per_cluster = M if variable == "n" else M // (M // max(1, clusters[-1]["tile_shape"] if clusters else M))
        for m in divisors(per_cluster):
            below = spread(variable, m if variable == "m" else (clusters[-1]["tile_shape"] if clusters else N), machine.core)
            loop = [temporal("m", m)] if m < per_cluster else []
            tile_m = below[1] if variable == "m" else m
            tile_n = N if variable == "m" else below[1]
            sizes = [("m", tile_m)] if rows_only else [("m", tile_m), ("n", tile_n)]
            yield [*clusters, *loop, storage(tensors, "GB"), *below[0], storage(tensors, "OB"),
                   sequential([steps(sizes) + [compute(name, "SIMD")]])]  # fmt: skip


def unfused_parts(operation, machine, M, N, K):
    """Choices for each Einsum on its own."""
    yield list(gemm_alone(distribution(SOFTMAX, machine, N), machine, M, K))
    for name, inputs, _ in operation.einsums:
        yield list(einsum_alone(name, inputs, machine, M, N))


def fused_dist_parts(operation, machine, M, N, K):
    layout = distribution(operation, machine, N)
    yield list(gemm_alone(layout, machine, M, K))
    yield list(tail_alone(operation.loaded(), layout, M))


def kept_in_dram(operation, template):
    tensors = ["A", "B", "C", *operation.parameters(), operation.output]
    return tensors + (operation.intermediates() if template == "unfused" else [])


def in_turn(operation, template, parts):
    """One mapping from one choice for each part."""
    return [storage(kept_in_dram(operation, template), "DRAM"), sequential(parts)]


WHOLE = {"fused_gemm_single": fused_gemm_single, "fused_gemm_dist": fused_gemm_dist}
PARTS = {"unfused": unfused_parts, "fused_dist": fused_dist_parts}
