#!/usr/bin/env python3
"""What a search has in hand after so many seconds, and how late it ends.

Usage: bench/anytime.py SLUICE FOLDER_OR_FILE... [--budgets 0.5,1,2,5,10,30] [--mappers fused,anneal,compound]
                        [--library] [--random N] [--plot FILE]

Every file is a spec with an architecture, a workload, or both sections; a folder stands for its
*.yaml. `--library` adds the library's architectures and workloads, `--random` so many architectures
of three to five levels, drawn with fixed seeds. All workloads are mapped on all architectures, one
search after the other. `--plot`: what the mappings in hand and the bounds are, in units of the best
known, as SVG, PNG or PDF (needs matplotlib). One line of CSV each on standard output:

    workload, architecture, mapper, budget_s, wall_s, status, objective_js, bound_js, guarantee, peak_bytes

and at the end, on standard error, how far each mapper was from the best that any search found.
Status 1 if some search ended more than 0.3 s after its budget, had no mapping where another one had,
or gave a bound above a mapping that is known.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LATE = 0.3  # s


def spec_files(names, library):
    files = []
    for name in map(Path, names):
        files += sorted(name.glob("*.yaml")) if name.is_dir() else [name]
    if library:
        root = Path(__file__).resolve().parent.parent / "library"
        files += sorted((root / "architectures").glob("*.yaml"))
        files += sorted((root / "workloads").glob("*.yaml"))
    has = lambda file, section: any(
        line.startswith(section + ":") for line in file.read_text().splitlines())
    return [f for f in files if has(f, "workload")], [f for f in files if has(f, "arch")]


def random_architecture(seed):
    """A machine of 3 to 5 memories, each a fraction of the one above, with PEs somewhere between."""
    draw = random.Random(seed)
    n_memories = draw.randint(3, 5)
    array_below = draw.randrange(n_memories - 1)
    size, energy, width = draw.choice([256, 1024, 4096]) * 1024, 20.0, 2 ** draw.randint(5, 8)
    nodes = []
    for level in range(n_memories):
        everything = draw.random() < 0.5
        tensors = "keep: All" if everything else "keep: ~Intermediates, may_keep: All"
        if level > 0 and not everything:
            tensors = "may_keep: All"
        actions = [f"{{name: {name}, energy: {energy:.3g} pJ/bit, throughput: {width} GB/s}}"
                   for name in ("read", "write")]
        nodes.append(f"  - !Memory {{name: Level{level}, size: {'inf' if level == 0 else size}, "
                     f"tensors: {{{tensors}}}, actions: [{', '.join(actions)}]}}")
        if level > 0:
            size = max(256, size // draw.choice([8, 32, 128]))
        if level == array_below:
            size = min(size, draw.choice([1, 4, 16]) * 1024)
            fanouts = ", ".join(f"{{name: {name}, fanout: {draw.choice([4, 8, 14, 16])}}}" for name in "xy")
            nodes.append(f"  - !Container {{name: PE, spatial: [{fanouts}]}}")
        energy /= draw.choice([3, 6, 12])
        width *= draw.choice([2, 8])
    nodes.append("  - !Compute {name: MAC, actions: [{name: compute, energy: 0.5 pJ, throughput: 1e9}]}")
    return "arch:\n  nodes:\n" + "\n".join(nodes) + "\n"


def write_random(count, folder):
    files = []
    for seed in range(count):
        files.append(Path(folder) / f"random{seed}.yaml")
        files[-1].write_text(random_architecture(seed))
    return files


def plot(rows, name):
    """One panel a mapper: a line a pair, what is in hand above 1, its bound below."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot

    best = best_of(rows)
    mappers = list(dict.fromkeys(row["mapper"] for row in rows))
    figure, panels = pyplot.subplots(1, len(mappers), sharey=True, squeeze=False,
                                     figsize=(5 * len(mappers), 4.5), layout="constrained")
    for mapper, panel in zip(mappers, panels[0]):
        for pair, least in best.items():
            own = sorted((row["budget_s"], row.get("objective_js"), row.get("bound_js"))
                         for row in rows if row["mapper"] == mapper
                         and (row["workload"], row["architecture"]) == pair)
            for column, color in ((1, "tab:blue"), (2, "tab:orange")):
                known = [(row[0], row[column] / least) for row in own if row[column]]
                panel.plot(*zip(*known) if known else ([], []), color=color, alpha=0.4, marker=".")
        panel.set(xscale="log", yscale="log", title=mapper, xlabel="budget (s)")
        panel.axhline(1, color="black", linewidth=0.5)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("EDP / best known: mapping (blue), bound (orange)")
    figure.savefig(name)


def search(sluice, workload, arch, mapper, budget):
    begin = time.monotonic()
    command = [sluice, "map", str(workload), str(arch), "--json", "--budget", f"{budget}s",
               "--progress", "none", "--mapper", mapper]
    done = subprocess.run(command, capture_output=True, text=True, timeout=budget + 600)
    row = {"workload": workload.stem, "architecture": arch.stem, "mapper": mapper,
           "budget_s": budget, "wall_s": round(time.monotonic() - begin, 3),
           "status": done.returncode}
    if done.returncode in (0, 1):
        document = json.loads(done.stdout)
        guarantee = document["guarantee"] or {}
        mappings = document["mappings"]
        row |= {"objective_js": mappings[0]["edp_js"] if mappings else None,
                "bound_js": guarantee.get("bound"), "guarantee": guarantee.get("kind"),
                "peak_bytes": (document["search"] or {}).get("peak_rss_bytes")}
        if row["guarantee"] == "optimal":
            row["bound_js"] = row["objective_js"]
    return row


def best_of(rows):
    best = {}
    for row in rows:
        if row.get("objective_js"):
            pair = row["workload"], row["architecture"]
            best[pair] = min(best.get(pair, float("inf")), row["objective_js"])
    return best


def mistakes_of(rows):
    best = best_of(rows)
    # `compound` has mappings that are not in the space that the others' bounds are about.
    of_space = best_of([row for row in rows if row["mapper"] != "compound"])
    for row in rows:
        name = "{workload} on {architecture}, {mapper}, {budget_s} s".format(**row)
        known = best.get((row["workload"], row["architecture"]))
        if row["wall_s"] > row["budget_s"] + LATE:
            yield f"{name}: ended after {row['wall_s']} s"
        if known and not row.get("objective_js"):
            yield f"{name}: no mapping"
        bounded = (best if row["mapper"] == "compound" else of_space).get(
            (row["workload"], row["architecture"]))
        if bounded and (row.get("bound_js") or 0) > bounded * (1 + 1e-9):
            yield f"{name}: the bound {row['bound_js']} is above {bounded}"
    for mapper in sorted({row["mapper"] for row in rows}):
        for budget in sorted({row["budget_s"] for row in rows}):
            above = sorted(row["objective_js"] / best[row["workload"], row["architecture"]] - 1
                           for row in rows if row["mapper"] == mapper
                           and row["budget_s"] == budget and row.get("objective_js"))
            if above:
                print(f"{mapper}, {budget} s: {len(above)} pairs, above the best known: median "
                      f"{above[len(above) // 2]:.1%}, largest {above[-1]:.1%}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sluice")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--budgets", default="0.5,1,2,5,10,30")
    parser.add_argument("--mappers", default="fused,anneal,compound")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return run(arguments, write_random(arguments.random, folder))


def run(arguments, drawn):
    workloads, architectures = spec_files(arguments.files, arguments.library)
    architectures += drawn
    columns = ["workload", "architecture", "mapper", "budget_s", "wall_s", "status",
               "objective_js", "bound_js", "guarantee", "peak_bytes"]
    table = csv.DictWriter(sys.stdout, columns)
    table.writeheader()
    rows = []
    for arch in architectures:
        for workload in workloads:
            for mapper in arguments.mappers.split(","):
                for budget in map(float, arguments.budgets.split(",")):
                    rows.append(search(arguments.sluice, workload, arch, mapper, budget))
                    table.writerow(rows[-1])
                    sys.stdout.flush()
    if arguments.plot:
        plot(rows, arguments.plot)
    mistakes = list(mistakes_of(rows))
    print("\n".join(mistakes), file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
