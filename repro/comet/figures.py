"""Data and plots of Figures 7 to 11."""

import csv
import math

import attention
from templates import TEMPLATES

SINGLE, DISTRIBUTED = "fused_gemm_single", "fused_gemm_dist"
GEMMS, ATTENTION = ["gemm_softmax", "gemm_layernorm"], ["self_attention"]
MEANS = [  # of the sensitivity: workload, template, quantity
    ("gemm_softmax", DISTRIBUTED, "latency_s"),
    ("gemm_layernorm", DISTRIBUTED, "latency_s"),
    ("self_attention", "flash", "latency_s"),
    ("self_attention", "flash", "energy_j"),
]
SHOWN = {  # bars of the figures: workloads, templates
    ("figure10", "figure11"): (GEMMS, TEMPLATES),
    ("figure12a", "figure12b"): (ATTENTION, attention.TEMPLATES),
}
STACKED = {  # stacks of the figures, latency and energy: workloads, templates with their marks
    ("figure8", "figure9"): (GEMMS, {DISTRIBUTED: "d", SINGLE: "s"}),
    ("figure13", "figure14"): (ATTENTION, {"unfused": "u", "partially_fused": "p", "flash": "f"}),
}


def write_csv(path, header, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    print(f"wrote {path}")


def number(value):
    return "" if value is None else f"{value:.6g}"


def geometric_mean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


def cases_of(found, workload):
    return sorted({case for name, case, _ in found if name == workload})


def gains(found, workload, template, quantity="latency_s"):
    """Unfused over template, for every case in which the template fits."""
    for case in cases_of(found, workload):
        one, other = found[workload, case, "unfused"], found[workload, case, template]
        if not other.out_of_memory:
            yield case, getattr(one, quantity) / getattr(other, quantity)


def write_cases(found, path):
    rows = []
    for (workload, case, template), best in found.items():
        unfused = found[workload, case, "unfused"]
        over = lambda quantity: getattr(best, quantity) / getattr(unfused, quantity) if best.legal else None  # noqa: E731
        rows.append([workload, case, template, number(best.latency_s), number(best.energy_j), number(over("latency_s")),
                     number(over("energy_j")), "yes" if best.out_of_memory else "no", best.tried, best.legal])  # fmt: skip
    header = ["workload", "case", "template", "latency_s", "energy_j", "latency_over_unfused", "energy_over_unfused",
              "out_of_memory", "mappings_tried", "mappings_legal"]  # fmt: skip
    write_csv(path, header, rows)


def breakdowns(sluice, found):
    """Latency by part and energy by component of every best mapping."""
    result = {}
    for key, best in found.items():
        if not best.legal:
            continue
        priced = sluice.detail(best.problem, best.nodes)
        latency = {name.removesuffix("_s"): seconds for name, seconds in priced["breakdown"].items()}
        implicit = min(latency["optional_stall"], waiting_for_networks(priced["latency"]))
        latency = {**latency, "implicit_collectives": implicit}
        latency["optional_stall"] -= implicit
        energy, collectives_j = {}, 0
        for row in priced["energy"]:
            energy[row["component"]] = energy.get(row["component"], 0) + row["energy_j"]
            if row["action"] in ("all_reduce", "gather"):
                collectives_j += row["energy_j"]
        result[key] = {"latency": latency, "energy": energy, "collectives_j": collectives_j}
    return result


def waiting_for_networks(rows):
    """Seconds by which networks are busy longer than anything else, Einsum by Einsum: implicit collectives."""
    seconds = 0
    for einsum in {row["einsum"] for row in rows}:
        mine = [row for row in rows if row["einsum"] == einsum]
        networks = [row["latency_s"] for row in mine if row["component"].endswith("Mesh")]
        others = [row["latency_s"] for row in mine if not row["component"].endswith("Mesh")]
        seconds += max(0, max(networks, default=0) - max(others, default=0))
    return seconds


def write_breakdowns(parts, folder):
    for figures, (workloads, _) in STACKED.items():
        for figure, kind, unit in zip(figures, ("latency", "energy"), ("seconds", "joules")):
            rows = [
                [workload, case, template, name, number(value), number(value / (sum(part[kind].values()) or 1))]
                for (workload, case, template), part in parts.items()
                if workload in workloads
                for name, value in part[kind].items()
            ]
            write_csv(folder / f"{figure}.csv", ["workload", "case", "template", "part", unit, "share"], rows)


def write_sensitivity(rows, folder):
    header = ["changed", *("_".join(which) for which in MEANS)]
    write_csv(folder / "sensitivity.csv", header, [[row[0], *map(number, row[1:])] for row in rows])


def plot(found, parts, folder):
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no plots: the package python3-matplotlib is not installed")
        return
    for figures, (workloads, templates) in SHOWN.items():
        for figure, quantity in zip(figures, ("latency_s", "energy_j")):
            _draw(pyplot, workloads, folder / f"{figure}.png", lambda axis, w: _bars(axis, found, w, templates, quantity))
    for figures, (workloads, marks) in STACKED.items():
        for figure, kind in zip(figures, ("latency", "energy")):
            _draw(pyplot, workloads, folder / f"{figure}.png", lambda axis, w: _stack(axis, parts, w, marks, kind))


def _draw(pyplot, workloads, path, paint):
    drawing, axes = pyplot.subplots(len(workloads), 1, figsize=(9, 3 * len(workloads) + 0.5), squeeze=False)
    for axis, workload in zip(axes[:, 0], workloads):
        paint(axis, workload)
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)
    print(f"wrote {path}")


def _bars(axis, found, workload, templates, quantity):
    """Each template over the unfused one."""
    cases = cases_of(found, workload)
    width = 0.8 / len(templates)
    for t, template in enumerate(templates):
        over = [(found[workload, case, template], found[workload, case, "unfused"]) for case in cases]
        heights = [getattr(one, quantity) / getattr(unfused, quantity) if one.legal else 0 for one, unfused in over]
        places = [i + width * (t - (len(templates) - 1) / 2) for i in range(len(cases))]
        axis.bar(places, heights, width, label=template)
        for place, height in zip(places, heights):
            if height == 0:
                axis.text(place, 0.02, "out of memory", rotation=90, fontsize=7, ha="center")
    axis.set_xticks(range(len(cases)), cases, fontsize=8)
    axis.set_ylabel(f"{quantity.split('_')[0]} / unfused")
    axis.set_title(workload, fontsize=10)
    axis.legend(fontsize=7, ncols=4)


def _stack(axis, parts, workload, marks, kind):
    """Shares of each template's best mapping."""
    bars = [(case, t) for case in cases_of(parts, workload) for t in marks if (workload, case, t) in parts]
    names = list(dict.fromkeys(name for case, t in bars for name in parts[workload, case, t][kind]))
    bottom = [0.0] * len(bars)
    for name in names:
        values = [parts[workload, case, t][kind] for case, t in bars]
        heights = [value.get(name, 0) / (sum(value.values()) or 1) for value in values]
        axis.bar(range(len(bars)), heights, bottom=bottom, label=name)
        bottom = [b + h for b, h in zip(bottom, heights)]
    axis.set_xticks(range(len(bars)), [f"{case}{marks[t]}" for case, t in bars], fontsize=7)
    axis.set_ylabel(f"share of {kind}")
    axis.set_title(f"{workload}: {', '.join(f'{mark} {template}' for template, mark in marks.items())}", fontsize=10)
    axis.legend(fontsize=7, ncols=4)
