"""Figure 6: COMET's latency and energy of single matrix products and of two fused ones beside Timeloop's and TileFlow's.

Timeloop's way of counting is the policy `overlap` (tests/validation compares it with Timeloop itself), COMET's is `staged`.
The paper gives neither the shapes nor the machine but for its parts (DRAM, a buffer, an array of MACs), nor numbers: what is
compared is how the two ways differ on the same mappings. TileFlow's energies, without reuse of what is handed over, are not
emulated; its way of counting time is that of `overlap`, too."""

import math
from itertools import permutations, product
from pathlib import Path

from claims import Claim
from cases import set_variables
from evaluation import Sluice
from loop_trees import compute, sequential, spread, storage, temporal
from results import geometric_mean
from tables_and_plots import pyplot, save, write_csv

HERE = Path(__file__).parent
GEMM = {"M": 256, "N": 512, "K": 256}
POWERS = [2**i for i in range(10)]


def in_the_array(einsum, rows, columns, inner, sizes):
    """A tile of the buffer on the array: the sum outermost, an output value stays nowhere below the buffer."""
    (r, r_size), (c, c_size), (s, s_size) = (rows, sizes[rows]), (columns, sizes[columns]), (inner, sizes[inner])
    loops, _, _ = spread(r, min(16, r_size), [("Array", "rows", min(16, r_size))])
    more, _, _ = spread(c, min(16, c_size), [("Array", "cols", min(16, c_size))])
    return [*steps_over(s, s_size, 1), *steps_over(r, r_size, 16), *steps_over(c, c_size, 16), *loops, *more, compute(einsum, "MAC")]


def steps_over(variable, size, tile):
    return [temporal(variable, tile)] if tile < size else []


def single_gemms():
    """1152 mappings, as many as the paper has: 192 tiles, 6 orders of the loops outside the buffer."""
    tiles = product((16, 32, 64, 128), (16, 32, 64, 128, 256, 512), POWERS[:8])
    for (m, n, k), order in product(list(tiles), permutations("mnk")):
        tile = {"m": m, "n": n, "k": k}
        outer = [node for v in order for node in steps_over(v, GEMM[v.upper()], tile[v])]
        label = f"{''.join(order)} {m}x{n}x{k}"
        yield label, [storage(["A", "W", "Z"], "DRAM"), *outer, storage(["A", "W", "Z"], "Buffer", incremental=True),
                      *in_the_array("Z", "m", "n", "k", tile)]  # fmt: skip


def fused_gemms():
    """The product in the buffer, a tile of rows at a time; tiles and orders of either GEMM's other loops."""
    for m, k, n, l in product((16, 32, 64, 128, 256), (32, 128), (32, 128, 256), (32, 128)):
        for first, second in product(("kn", "nk"), ("nl", "ln")):
            tile = {"m": m, "k": k, "n": n, "l": l}
            loops = lambda order: [node for v in order for node in steps_over(v, 256, tile[v])]  # noqa: E731
            one = [*loops(first), storage(["A", "B"], "Buffer"), *in_the_array("C", "m", "n", "k", tile)]
            other = [*loops(second), storage(["D"], "Buffer"), *in_the_array("E", "m", "l", "n", tile)]
            label = f"{first} {second} {m}x{k}x{n}x{l}"
            yield label, [storage(["A", "B", "D", "E"], "DRAM"), *steps_over("m", 256, m), storage(["C", "E"], "Buffer"),
                          sequential([one, other])]  # fmt: skip


COMPARED = {
    "timeloop": (["matmul", HERE / "validation.yaml", *set_variables({**GEMM, "BITS": 16})], single_gemms),
    "tileflow": ([HERE / "two_gemms.yaml", HERE / "validation.yaml"], fused_gemms),
}


def run(program, folder, every=1):
    """Claims of Section V-B; writes the figure."""
    rows, outcomes = [], []
    for name, (problem, mappings) in COMPARED.items():
        labels, trees = zip(*list(mappings())[::every])
        overlap, staged = (Sluice(program, policy).price(problem, trees) for policy in ("overlap", "staged"))
        pairs = [(label, a, b) for label, a, b in zip(labels, overlap, staged) if a["status"] == b["status"] == "ok"]
        rows += [[name, label, *(f"{one[q]:.6g}" for q in ("latency_s", "energy_j") for one in (a, b))] for label, a, b in pairs]
        outcomes += list(_claims(name, len(trees), pairs))
    header = ["beside", "mapping", "latency_overlap_s", "latency_staged_s", "energy_overlap_j", "energy_staged_j"]
    write_csv(folder / "figure6.csv", header, rows)
    _plot(rows, folder / "figure6.png")
    return outcomes


def _claims(name, tried, pairs):
    title, where = {"timeloop": ("Timeloop", "(a), (b)"), "tileflow": ("TileFlow", "(c), (d)")}[name]
    ratio = lambda quantity: [b[quantity] / a[quantity] for _, a, b in pairs]  # noqa: E731
    longer, energy = ratio("latency_s"), ratio("energy_j")
    alike = _correlation([(math.log(a["latency_s"]), math.log(b["latency_s"])) for _, a, b in pairs])
    yield Claim(f"{title}'s way of counting: staged latency slightly above, strongly correlated", f"V-B, Fig. 6 {where}", "yes",
                 f"{len(pairs)} of {tried} mappings fit: {geometric_mean(longer):.2f} times ({min(longer):.2f} to"
                 f" {max(longer):.2f}), correlation {alike:.3f}",
                 min(longer) >= 1 - 1e-9 and geometric_mean(longer) < 1.5 and alike > 0.9)  # fmt: skip
    yield Claim(f"{title}'s way of counting: energy equal" + (" or slightly lower" if name == "tileflow" else ""),
                 f"V-B, Fig. 6 {where}", "yes", f"{min(energy):.3f} to {max(energy):.3f} times",
                 max(abs(e - 1) for e in energy) < 1e-9)  # fmt: skip


def _correlation(pairs):
    n = len(pairs)
    x, y = (sum(values) / n for values in zip(*pairs))
    both = sum((a - x) * (b - y) for a, b in pairs)
    return both / math.sqrt(sum((a - x) ** 2 for a, _ in pairs) * sum((b - y) ** 2 for _, b in pairs))


def _plot(rows, path):
    plots = pyplot()
    if plots is None:
        return
    figure, axes = plots.subplots(2, 2, figsize=(9, 8))
    for row, name in zip(axes, COMPARED):
        mine = [list(map(float, values[2:])) for values in rows if values[0] == name]
        for axis, first, unit, factor in ((row[0], 2, "energy, mJ", 1e3), (row[1], 0, "latency, us", 1e6)):
            x, y = ([factor * values[column] for values in mine] for column in (first, first + 1))
            axis.scatter(x, y, s=6)
            axis.plot([min(x), max(x)], [min(x), max(x)], color="black", linewidth=0.6)
            axis.set(xlabel=f"overlap: {unit}", ylabel=f"staged: {unit}")
            axis.set_title("one GEMM (Timeloop)" if name == "timeloop" else "two fused GEMMs (TileFlow)", fontsize=10)
            if name == "timeloop":
                axis.set(xscale="log", yscale="log")
    save(figure, path)
    plots.close(figure)
