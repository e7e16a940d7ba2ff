"""Figures 11 to 13: the 33-TOPS design with optimal fusion against TransFusion's dataflow on the same hardware."""

from collections import defaultdict

from searches import HERE
from tables_and_plots import pyplot, save, write_csv

CLASSES = ["weights", "K, V", "other intermediates", "input, output"]
# What the paper does not print, one at a time: does the ratio at the longest sequence move?
# fmt: off
VARIATIONS = [
    ("as in figure 11", [], "transfusion.yaml"),
    ("16-bit values", ["--set", "BITS=16"], "transfusion.yaml"),
    ("batch of 8", ["--set", "BATCH=8"], "transfusion.yaml"),
    ("vector lanes 8 times as fast", ["--set", "VECTOR_RATE=8 * 256 * 1 GHz"], "transfusion.yaml"),
    ("vector unit free of charge", ["--set", "VECTOR_ADD=0", "--set", "VECTOR_MUL=0", "--set", "VECTOR_RATE=1e15"],
     "transfusion.yaml"),
    ("TransFusion may hold weights, K, V on chip", [], "transfusion_held.yaml"),
]
# fmt: on


def run(sluice, options):
    lengths = [1024] if options.quick else [1024, 2048, 4096, 8192, 16384, 32768, 65536]
    pairs = pairs_of(sluice, [(["--set", f"N_TOKENS={n}"], "transfusion.yaml") for n in lengths])
    write_ratios(lengths, pairs, options.output / "figure11.csv")
    write_breakdown(lengths, pairs, options.output / "figure12.csv")
    write_fusion(lengths, pairs, options.output / "figure13.csv")
    variations = VARIATIONS[:2] if options.quick else VARIATIONS
    longest = ["--set", f"N_TOKENS={lengths[-1]}"]
    moved = pairs_of(sluice, [(longest + extra, constraints) for _, extra, constraints in variations])
    rows = []
    for (name, _, _), pair in zip(variations, moved):
        rows.append((name, *ratios(pair)))
        print(f"  {name}: EDP {rows[-1][1]}, energy {rows[-1][2]}, latency {rows[-1][3]} times")
    write_csv(options.output / "variations.csv", ["variation", "edp_ratio", "energy_ratio", "latency_ratio"], rows)
    plot(lengths, pairs, options)


def pairs_of(sluice, cases):
    """For each case the optimal mapping and TransFusion's."""
    calls = []
    for extra, constraints in cases:
        problem = [HERE / "gpt3.yaml", "edge_33tops", *extra]
        calls += [problem, [*problem, "--constraints", str(HERE / constraints)]]
    mappings = [document["mappings"][0] for document in sluice.map_all(calls)]
    return list(zip(mappings[::2], mappings[1::2]))


def ratios(pair):
    ours, theirs = pair
    return [f"{theirs[key] / ours[key]:.4f}" for key in ["edp_js", "energy_j", "latency_s"]]


def write_ratios(lengths, pairs, path):
    rows = []
    for n, (ours, theirs) in zip(lengths, pairs):
        values = [m[key] / n for m in (ours, theirs) for key in ("energy_j", "latency_s")]
        rows.append((n, *ratios((ours, theirs)), *values))
        print(f"Figure 11: {n:6} tokens: TransFusion takes {rows[-1][1]} times the EDP, {rows[-1][2]} times the energy,"
              f" {rows[-1][3]} times the latency")  # fmt: skip
    write_csv(path, ["tokens", "edp_ratio", "energy_ratio", "latency_ratio", "ffm_energy_j_per_token",
                     "ffm_latency_s_per_token", "transfusion_energy_j_per_token",
                     "transfusion_latency_s_per_token"], rows)  # fmt: skip


def class_of(tensor):
    if tensor.startswith("W"):
        return "weights"
    if tensor in ("K", "V"):
        return "K, V"
    return "input, output" if tensor in ("I", "FFB") else "other intermediates"


def energies(mapping):
    """By component, and by class of tensor off chip."""
    components, classes = defaultdict(float), defaultdict(float)
    for row in mapping["energy"]:
        components[row["component"]] += row["energy_j"]
        if row["component"] == "MainMemory" and row["tensor"] is not None:
            classes[class_of(row["tensor"])] += row["energy_j"]
    return components, classes


def write_breakdown(lengths, pairs, path):
    rows = []
    for n, pair in zip(lengths, pairs):
        for name, mapping in zip(("ffm", "transfusion"), pair):
            components, classes = energies(mapping)
            rows += [(n, name, "component", key, f"{value:.6g}") for key, value in components.items()]
            rows += [(n, name, "off chip", key, f"{classes[key]:.6g}") for key in CLASSES]
    write_csv(path, ["tokens", "mapping", "breakdown", "part", "energy_j"], rows)


def write_fusion(lengths, pairs, path):
    rows = []
    for n, pair in zip(lengths, pairs):
        for name, mapping in zip(("ffm", "transfusion"), pair):
            rows.append((n, name, " | ".join(" ".join(group) for group in mapping["fusion_groups"])))
    for n, name, groups in (rows[0], rows[-2]):
        print(f"Figure 13: {n} tokens, {name}: {groups}")
    write_csv(path, ["tokens", "mapping", "fused_together"], rows)


def plot(lengths, pairs, options):
    plots = pyplot()
    if plots is None:
        return
    figure, (ratio, component, classes) = plots.subplots(1, 3, figsize=(13, 3.8))
    for i, label in enumerate(["EDP", "energy", "latency"]):
        ratio.plot(lengths, [float(ratios(pair)[i]) for pair in pairs], marker="o", label=label)
    ratio.set(xscale="log", xlabel="tokens", ylabel="TransFusion / optimal fusion", title="Figure 11")
    ratio.axhline(1, color="grey", linewidth=0.5)
    ratio.legend(fontsize=8)
    names = ["optimal", "TransFusion"]
    stack(component, names, [energies(m)[0] for m in pairs[-1]], "Figure 12(a): energy, J")
    stack(classes, names, [energies(m)[1] for m in pairs[-1]], "Figure 12(b): off-chip energy, J")
    save(figure, options.output / "figures11_12.png")


def stack(axes, names, parts, title):
    bottom = [0.0] * len(names)
    for key in sorted({key for part in parts for key in part}):
        heights = [part[key] for part in parts]
        if max(heights) == 0:
            continue
        axes.bar(names, heights, bottom=bottom, label=key)
        bottom = [b + h for b, h in zip(bottom, heights)]
    axes.set_title(title)
    axes.legend(fontsize=7)
