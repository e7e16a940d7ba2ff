#!/usr/bin/env python3
"""What a search has in hand after so many seconds, and how late it ends.

Usage: bench/anytime.py SLUICE FOLDER_OR_FILE... [--times 0.5,1,2,5,10,30] [--threads N] [-j N]
                        [--mappers default,anneal,compound] [--library] [--random N] [--cores N]
                        [--pairs N] [--rows FILE] [--plot FILE]

Every file is a spec with an architecture, a workload, or both sections; a folder stands for its
*.yaml. `--library` adds the library's architectures and workloads, `--random` so many architectures
of three to five levels, drawn with fixed seeds, `--cores` so many with two arrays, one in the other.
All workloads are mapped on all architectures
(`--pairs N`: on N of these pairs, drawn with a fixed seed), `-j` of them at a time, by each mapper
once, with the largest of the times as budget: `--progress json` says what is in hand earlier.
`default` is what runs without `--mapper`. `--plot`: what the mappings in hand and the bounds are, in
units of the best known, as SVG, PNG or PDF (needs matplotlib). One line of CSV for each time on
standard output; `late_s` is how long after its budget the search ended (with the largest time):

    workload, architecture, mapper, at_s, objective_js, bound_js, guarantee, status, late_s, peak_bytes

`--rows FILE` reads such lines instead of searching: for another plot or summary.
At the end, on standard error, how far each mapper was from the best that any search found. Status 1
if some search ended more than 0.3 s late, had no mapping after a second where another mapper had one,
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
from concurrent.futures import ThreadPoolExecutor
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


def random_architecture(seed, has_cores=False):
    """A machine of 3 to 5 memories, each a fraction of the one above, with PEs somewhere between,
    and cores further out."""
    draw = random.Random(seed)
    n_memories = draw.randint(3, 5)
    array_below = draw.randrange(1, n_memories) if has_cores else draw.randrange(n_memories - 1)
    cores_below = draw.randrange(array_below) if has_cores else None
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
        if level == cores_below:
            nodes.append(f"  - !Container {{name: Core, spatial: [{{name: core, fanout: "
                         f"{draw.choice([12, 16, 64, 108])}}}]}}")
        if level == array_below:
            size = min(size, draw.choice([1, 4, 16]) * 1024)
            fanouts = ", ".join(f"{{name: {name}, fanout: {draw.choice([4, 8, 14, 16])}}}" for name in "xy")
            nodes.append(f"  - !Container {{name: PE, spatial: [{fanouts}]}}")
        energy /= draw.choice([3, 6, 12])
        width *= draw.choice([2, 8])
    nodes.append("  - !Compute {name: MAC, actions: [{name: compute, energy: 0.5 pJ, throughput: 1e9}]}")
    return "arch:\n  nodes:\n" + "\n".join(nodes) + "\n"


def write_random(count, folder, has_cores=False):
    files = []
    for seed in range(count):
        files.append(Path(folder) / f"{'cores' if has_cores else 'random'}{seed}.yaml")
        files[-1].write_text(random_architecture(seed, has_cores))
    return files


def write_drawn(arguments, folder):
    return (write_random(arguments.random, folder) +
            write_random(arguments.cores, folder, has_cores=True))


def pairs_of(arguments, drawn):
    workloads, architectures = spec_files(arguments.files, arguments.library)
    pairs = [(w, a) for a in architectures + drawn for w in workloads]
    if arguments.pairs and arguments.pairs < len(pairs):
        pairs = random.Random(1).sample(pairs, arguments.pairs)
    return pairs


def add_pair_arguments(parser):
    parser.add_argument("sluice")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--library", action="store_true")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--cores", type=int, default=0)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("-j", "--jobs", type=int, default=1)


def key(row):
    return row["workload"], row["architecture"]


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
            own = sorted((row["at_s"], row["objective_js"], row["bound_js"]) for row in rows
                         if row["mapper"] == mapper and key(row) == pair)
            for column, color in ((1, "tab:blue"), (2, "tab:orange")):
                known = [(row[0], row[column] / least) for row in own if row[column]]
                panel.plot(*zip(*known) if known else ([], []), color=color, alpha=0.4, marker=".")
        panel.set(xscale="log", yscale="log", title=mapper, xlabel="time (s)")
        panel.axhline(1, color="black", linewidth=0.5)
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("EDP / best known: mapping (blue), bound (orange)")
    figure.savefig(name)


def command_of(sluice, workload, arch, mapper, threads, *options):
    chosen = [] if mapper == "default" else ["--mapper", mapper]
    return [sluice, "map", str(workload), str(arch), "--json", "--threads", str(threads),
            *chosen, *options]


def search(arguments, pair, mapper, times):
    """One search; a row for each of the times."""
    budget = max(times)
    command = command_of(arguments.sluice, *pair, mapper, arguments.threads, "--budget",
                         f"{budget}s", "--progress", "json")
    begin = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, timeout=budget + 600)
    wall = time.monotonic() - begin
    steps = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("{")]
    document = json.loads(done.stdout) if done.returncode in (0, 1) else None
    rows = []
    for at in times:
        row = {"workload": pair[0].stem, "architecture": pair[1].stem, "mapper": mapper, "at_s": at,
               "objective_js": None, "bound_js": None, "guarantee": None,
               "status": done.returncode, "late_s": None, "peak_bytes": None}
        for step in steps:
            if step["seconds"] <= at:
                row |= {"objective_js": step["objective"], "bound_js": step["bound"]}
        if document and (at == budget or document["search"] and document["search"]["seconds"] <= at):
            row |= final(document)
        rows.append(row)
    rows[-1]["late_s"] = round(max(0, wall - budget), 3)
    return rows


def final(document):
    guarantee = document["guarantee"] or {}
    mappings = document["mappings"]
    row = {"objective_js": mappings[0]["edp_js"] if mappings else None,
           "bound_js": guarantee.get("bound"), "guarantee": guarantee.get("kind"),
           "peak_bytes": (document["search"] or {}).get("peak_rss_bytes")}
    if row["guarantee"] == "optimal":
        row["bound_js"] = row["objective_js"]
    return row


def best_of(rows):
    best = {}
    for row in rows:
        if row["objective_js"]:
            best[key(row)] = min(best.get(key(row), float("inf")), row["objective_js"])
    return best


def mistakes_of(rows):
    best = best_of(rows)
    # `compound` has mappings that are not in the space that the others' bounds are about.
    of_space = best_of([row for row in rows if row["mapper"] not in ("compound", "default")])
    for row in rows:
        name = "{workload} on {architecture}, {mapper}, {at_s} s".format(**row)
        known = best.get(key(row))
        if (row["late_s"] or 0) > LATE:
            yield f"{name}: ended {row['late_s']} s late"
        if row["status"] in (0, 1) and row["at_s"] >= 1 and known and not row["objective_js"]:
            yield f"{name}: no mapping"
        bounded = (best if row["mapper"] == "compound" else of_space).get(key(row))
        if bounded and (row["bound_js"] or 0) > bounded * (1 + 1e-9):
            yield f"{name}: the bound {row['bound_js']} is above {bounded}"
        if row["status"] not in (0, 1, 2):
            yield f"{name}: exit status {row['status']}"


def spread(values, form):
    values = sorted(values)
    return f"median {values[len(values) // 2]:{form}}, largest {values[-1]:{form}}"


def summarize(rows):
    """How far each mapper was from the best known, its bound from what it had, and whom it lost to."""
    best = best_of(rows)
    at = {(key(row), row["mapper"], row["at_s"]): row["objective_js"] for row in rows}
    mappers = list(dict.fromkeys(row["mapper"] for row in rows))
    for mapper in mappers:
        for moment in sorted({row["at_s"] for row in rows}):
            of = [row for row in rows if row["mapper"] == mapper and row["at_s"] == moment
                  and key(row) in best and row["status"] in (0, 1)]
            found = [row for row in of if row["objective_js"]]
            if not found:
                continue
            above = [row["objective_js"] / best[key(row)] - 1 for row in found]
            gaps = [1 - (row["bound_js"] or 0) / row["objective_js"] for row in found]
            others = [other for other in mappers if other != mapper]
            lost = sum(any((at.get((key(row), other, moment)) or float("inf"))
                           < row["objective_js"] * (1 - 1e-9) for other in others) for row in found)
            near = sum(value <= 0.02 for value in above)
            yield (f"{mapper}, {moment:g} s: {len(found)} of {len(of)} pairs have a mapping; above "
                   f"the best known: {spread(above, '.1%')}, {near} by at most 2 %; "
                   f"gap: {spread(gaps, '.1%')}; behind another mapper: {lost}")


def read_rows(name):
    with open(name) as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        for column in ("at_s", "objective_js", "bound_js", "late_s", "peak_bytes"):
            row[column] = float(row[column]) if row[column] else None
        row["status"] = int(row["status"])
    return rows


def run_searches(arguments, drawn):
    table = csv.DictWriter(sys.stdout, ["workload", "architecture", "mapper", "at_s", "objective_js",
                                        "bound_js", "guarantee", "status", "late_s", "peak_bytes"])
    table.writeheader()
    times = sorted(map(float, arguments.times.split(",")))
    rows = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(lambda job: search(arguments, *job, times),
                              [(pair, mapper) for pair in pairs_of(arguments, drawn)
                               for mapper in arguments.mappers.split(",")]):
            rows += found
            table.writerows(found)
            sys.stdout.flush()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_pair_arguments(parser)
    parser.add_argument("--times", default="0.5,1,2,5,10,30")
    parser.add_argument("--mappers", default="default,anneal,compound")
    parser.add_argument("--rows")
    parser.add_argument("--plot")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = (read_rows(arguments.rows) if arguments.rows else
                run_searches(arguments, write_drawn(arguments, folder)))
    if arguments.plot:
        plot(rows, arguments.plot)
    mistakes = list(mistakes_of(rows))
    print("\n".join([*summarize(rows), *mistakes]), file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
