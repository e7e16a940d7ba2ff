"""Data and plots of Figures 7 to 14."""

import attention
from results import DISTRIBUTED, SINGLE, TEXT
from tables_and_plots import pyplot, save, write_csv
from templates import TEMPLATES

GEMMS, ATTENTION = ["gemm_softmax", "gemm_layernorm"], ["self_attention"]
BARS = {  # figures of latency and energy over unfused: workloads, templates
    ("figure10", "figure11"): (GEMMS, TEMPLATES),
    ("figure12a", "figure12b"): (ATTENTION, attention.TEMPLATES),
}
STACKED = {  # stacks of the figures, latency and energy: workloads, templates with their marks
    ("figure8", "figure9"): (GEMMS, {DISTRIBUTED: "d", SINGLE: "s"}),
    ("figure13", "figure14"): (ATTENTION, {"unfused": "u", "partially_fused": "p", "flash": "f", "flash_2022": "2"}),
}
LATENCY = ["compute", "simd", "compulsory_stall", "optional_stall", "collectives", "implicit_collectives", "conflicts"]
ENERGY = ["DRAM", "ClusterMesh", "CoreMesh", "GB", "OB", "IB", "WB", "Register", "PE", "SIMD"]


CASES = {"figures10_11.csv": GEMMS, "figure12.csv": ATTENTION, "comet_text.csv": [TEXT]}  # a row each case and template


def number(value):
    return "" if value is None else f"{value:.6g}"


def write_tables(results, folder):
    ends = [key for key in results.found if key[0] in GEMMS and key[2] in (SINGLE, DISTRIBUTED)]
    _write_cases(results, ends, folder / "figure7.csv")
    write_cases(results, folder)
    for figures, (workloads, templates) in STACKED.items():
        for figure, kind, unit in zip(figures, ("latency", "energy"), ("seconds", "joules")):
            rows = [
                [*key, name, number(value), number(value / (sum(part[kind].values()) or 1))]
                for key, part in results.parts.items()
                if key[0] in workloads and key[2] in templates
                for name, value in part[kind].items()
            ]
            write_csv(folder / f"{figure}.csv", ["workload", "case", "template", "part", unit, "share"], rows)


def write_cases(results, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, workloads in CASES.items():
        _write_cases(results, [key for key in results.found if key[0] in workloads], folder / name)


def _write_cases(results, keys, path):
    rows = []
    for workload, case, template in keys:
        best, unfused = results.found[workload, case, template], results.found[workload, case, "unfused"]
        over = lambda quantity: getattr(best, quantity) / getattr(unfused, quantity) if best.legal else None  # noqa: E731
        rows.append([workload, case, template, number(best.latency_s), number(best.energy_j), number(over("latency_s")),
                     number(over("energy_j")), best.row_tile() or "all", best.tried, best.legal,
                     " ".join(map(str, best.choice))])  # fmt: skip
    header = ["workload", "case", "template", "latency_s", "energy_j", "latency_over_unfused", "energy_over_unfused",
              "outer_rows_at_a_time", "mappings_tried", "mappings_in_memory", "choice"]  # fmt: skip
    write_csv(path, header, rows)


def plot(results, folder):
    plots = pyplot()
    if plots is None:
        return
    _figure7(plots, results, folder)
    for figures, (workloads, templates) in BARS.items():
        for figure, quantity in zip(figures, ("latency_s", "energy_j")):
            _draw(plots, workloads, folder / f"{figure}.png", lambda axis, w: _bars(axis, results, w, templates, quantity))
    _draw(plots, [TEXT], folder / "comet_text.png", lambda axis, w: _bars(axis, results, w, TEMPLATES, "latency_s"))
    for figures, (workloads, marks) in STACKED.items():
        for figure, kind in zip(figures, ("latency", "energy")):
            _draw(plots, workloads, folder / f"{figure}.png", lambda axis, w: _stack(axis, results.parts, w, marks, kind))


def _draw(plots, workloads, path, paint):
    figure, axes = plots.subplots(len(workloads), 1, figsize=(13, 3.3 * len(workloads) + 0.4), squeeze=False)
    for axis, workload in zip(axes[:, 0], workloads):
        paint(axis, workload)
    save(figure, path)
    plots.close(figure)


def _legend(axis):
    axis.legend(fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _figure7(plots, results, folder):
    figure, axes = plots.subplots(2, 2, figsize=(11, 6.5))
    for row, workload in zip(axes, GEMMS):
        for axis, quantity in zip(row, ("latency_s", "energy_j")):
            _absolute(axis, results, workload, quantity)
    save(figure, folder / "figure7.png")
    plots.close(figure)


def _absolute(axis, results, workload, quantity):
    cases = results.cases(workload)
    for shift, template in ((-0.2, DISTRIBUTED), (0.2, SINGLE)):
        bars = [getattr(results.found[workload, case, template], quantity) or 0 for case in cases]
        axis.bar([i + shift for i in range(len(cases))], bars, 0.4, label=template)
    axis.set_yscale("log")
    axis.set_xticks(range(len(cases)), cases, fontsize=8)
    axis.set_title(f"{workload}, GEMM1 to 12", fontsize=10)
    axis.set_ylabel("latency, s" if quantity == "latency_s" else "energy, J")
    axis.legend(fontsize=8)


def _bars(axis, results, workload, templates, quantity):
    """Each template over the unfused one."""
    cases = results.cases(workload)
    width = 0.8 / len(templates)
    for t, template in enumerate(templates):
        over = [(results.found[workload, case, template], results.found[workload, case, "unfused"]) for case in cases]
        heights = [getattr(one, quantity) / getattr(unfused, quantity) if one.legal else 0 for one, unfused in over]
        places = [i + width * (t - (len(templates) - 1) / 2) for i in range(len(cases))]
        axis.bar(places, heights, width, label=template)
        for place, height in zip(places, heights):
            if height == 0:
                axis.text(place, 0.02, "out of memory", rotation=90, fontsize=7, ha="center")
    prefix = "Attn" if workload in ATTENTION else "GEMM"
    axis.set_xticks(range(len(cases)), [f"{prefix}{case}" for case in cases], fontsize=8)
    axis.set_ylabel(f"{quantity.split('_')[0]} / unfused")
    axis.set_title("gemm_softmax, all-reduces of M x N values" if workload == TEXT else workload, fontsize=10)
    axis.axhline(1, color="black", linewidth=0.5)
    _legend(axis)


def _stack(axis, parts, workload, marks, kind):
    """Shares of each template's best mapping."""
    cases = sorted({case for name, case, _ in parts if name == workload})
    bars = [(case, t) for case in cases for t in marks if (workload, case, t) in parts]
    places = [i * (len(marks) + 0.6) + j for i, case in enumerate(cases) for j, t in enumerate(marks) if (case, t) in bars]
    colours = {name: f"C{i}" for i, name in enumerate(LATENCY if kind == "latency" else ENERGY)}
    bottom = [0.0] * len(bars)
    for name, colour in colours.items():
        values = [parts[workload, case, t][kind] for case, t in bars]
        heights = [value.get(name, 0) / (sum(value.values()) or 1) for value in values]
        if max(heights, default=0) < 1e-3:
            continue
        axis.bar(places, heights, 0.9, bottom=bottom, label=name, color=colour)
        bottom = [b + h for b, h in zip(bottom, heights)]
    axis.set_xticks(places, [f"{case}{marks[t]}" for case, t in bars], fontsize=8)
    axis.set_xlim(-0.8, (places[-1] if places else 0) + 0.8)
    axis.set_ylabel(f"share of {kind}")
    axis.set_title(f"{workload}: {', '.join(f'{mark} {template}' for template, mark in marks.items())}", fontsize=10)
    _legend(axis)
