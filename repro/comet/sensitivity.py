"""How the geometric means and the claims move with what the paper leaves open."""

from results import MEANS, priced_again, with_energies
from tables_and_plots import pyplot, save, write_csv

TIMES = {  # variables of the architectures (and of the workloads)
    "SIMD lanes 32": {"LANES": 32},
    "SIMD lanes 64": {"LANES": 64},
    "SIMD lanes half": {"LANES": 128},
    "SIMD lanes twice": {"LANES": 512},
    "clock half": {"CLOCK": "500 MHz"},
    "arrays without fill and drain": {"SYSTOLIC": False},
    "t_router half": {"ROUTER_LATENCY": "2.5 ns"},
    "t_enq half": {"QUEUE_LATENCY": "1 ns"},
    "t_enq twice": {"QUEUE_LATENCY": "4 ns"},
    "link bandwidth half": {"LINK_BANDWIDTH": {"edge": "32 GB/s", "cloud": "256 GB/s"}},
    "link bandwidth twice": {"LINK_BANDWIDTH": {"edge": "128 GB/s", "cloud": "1024 GB/s"}},
    "meshes ten times as fast": {"ROUTER_LATENCY": "0.5 ns", "QUEUE_LATENCY": "0.2 ns",
                                 "LINK_BANDWIDTH": {"edge": "640 GB/s", "cloud": "5120 GB/s"}},  # fmt: skip
    "8 bits a value": {"BITS": 8},
}
MESHES, BUFFERS = ("ClusterMesh", "CoreMesh"), ("GB", "OB", "IB", "WB")
ENERGIES = {  # components whose energies are multiplied
    "DRAM energy half": {"DRAM": 0.5},
    "DRAM energy twice": {"DRAM": 2},
    "DRAM 20 pJ/bit (with pins: Horowitz 2014)": {"DRAM": 4},
    "SRAM energy half": dict.fromkeys(BUFFERS, 0.5),
    "SRAM energy twice": dict.fromkeys(BUFFERS, 2),
    "hop energy half": dict.fromkeys(MESHES, 0.5),
    "hop energy twice": dict.fromkeys(MESHES, 2),
    "hop energy a tenth": dict.fromkeys(MESHES, 0.1),
    "DRAM 20 pJ/bit, hop energy a tenth": {"DRAM": 4, **dict.fromkeys(MESHES, 0.1)},
    "SIMD and array energy half": {"SIMD": 0.5, "PE": 0.5},
    "SIMD and array energy twice": {"SIMD": 2, "PE": 2},
}


def variants(sluice, base):
    """Names of variations and their results: the mappings that were found, priced again."""
    for name, settings in TIMES.items():
        yield name, priced_again(sluice, base.found, settings)
    for name, factors in ENERGIES.items():
        yield name, with_energies(base, factors)


def write(base, others, folder):
    rows = [["as published", *base.means()], *([name, *results.means()] for name, results in others.items())]
    write_csv(folder / "sensitivity.csv", ["changed", *MEANS], [[row[0], *(f"{mean:.3f}" for mean in row[1:])] for row in rows])
    plots = pyplot()
    if plots is None:
        return
    figure, axes = plots.subplots(1, len(MEANS), figsize=(17, 7.5), sharey=True)
    names = list(others)[::-1]
    for i, (axis, (title, paper)) in enumerate(zip(axes, MEANS.items())):
        start = rows[0][1 + i]
        means = {row[0]: row[1 + i] for row in rows}
        axis.barh(range(len(names)), [means[name] - start for name in names], left=start,
                  color=["tab:blue" if means[name] >= start else "tab:orange" for name in names])  # fmt: skip
        axis.axvline(start, color="black", linewidth=0.8)
        axis.axvline(paper, color="tab:red", linewidth=0.8, linestyle="--")
        axis.set_title(f"{title.replace(', ', chr(10))}\nhere {start:.2f}, paper {paper} (red)", fontsize=9)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.grid(axis="x", linewidth=0.3)
    figure.suptitle("unfused over fused, geometric mean over the cases", fontsize=10)
    save(figure, folder / "sensitivity.png")
