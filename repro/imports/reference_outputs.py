"""Evaluates the mappings of Timeloop's reference outputs in a checkout with the specs beside them as they are, and
compares cycles, energy and accesses with what Timeloop printed (`*.stats.txt`). Sparse designs are left out."""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import spec_files

ENERGY_TOLERANCE = 0.005
WHAT = {"reads": "read", "fills": "write", "updates": "write"}


def reference(stats):
    """Cycles, energy (J), and accesses by (level, tensor, action)."""
    text = stats.read_text()
    summary = text.split("Summary Stats", 1)[1]
    computes = int(re.search(r"Computes = (\d+)", summary).group(1))
    energy = float(re.search(r"Total\s*= ([\d.]+)", summary).group(1)) * 1e-15 * computes
    counts = defaultdict(int)
    level = tensor = ""
    instances = 1
    for line in text.split("Networks\n--------")[0].splitlines():
        if found := re.match(r"=== (\w+) ===", line):
            level = found.group(1)
        elif found := re.match(r"    (\w+):$", line):
            tensor = found.group(1)
        elif found := re.match(r"\s*Utilized instances \(max\)\s*: (\d+)", line):
            instances = int(found.group(1))
        elif found := re.match(r"\s*Scalar (reads|fills|updates) \(per-instance\)\s*: (\d+)", line):
            counts[level, tensor, WHAT[found.group(1)]] += int(found.group(2)) * instances
    return int(re.search(r"Cycles: (\d+)", summary).group(1)), energy, counts


SPARSE = re.compile(r"sparse_optimizations:\s*\n\s+(targets:\s*\n\s+)?-|sparse_optimizations:\s*\n\s+(repres|action)|density: 0?\.[0-9]")


def jobs_of(stats, files, checkout):
    """Architecture and problem as timeloopfe wrote them, or those of the folder, with each mapping beside them."""
    folder = stats.parent
    written = folder / "parsed-processed-input.yaml"
    mapping = next(folder.glob("*.map.yaml"), None)
    if written.exists():
        return [[written] + ([mapping] if mapping else [])]
    beside = [file for file in files if file.kind == "mapping" and "output" not in str(file.path) and
              (file.path.is_relative_to(folder.parents[1]) or file.path.is_relative_to(folder.parent))]
    return [next(iter(spec_files.jobs(file, files, checkout))) for file in beside]


def evaluated(sluice, job, ert):
    command = [sluice, "evaluate", *map(str, job), "--json"] + (["--ert", str(ert)] if ert else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line or "illegal" in line]
        raise RuntimeError((lines or done.stdout.splitlines() or ["?"])[0][:200])
    return json.loads(done.stdout)["mappings"][0]


def compared(sluice, job, stats):
    """Whether all is equal, and what is not."""
    cycles, energy, counts = reference(stats)
    try:
        ours = evaluated(sluice, job, next(stats.parent.glob("*.ERT.yaml"), None))
    except RuntimeError as error:
        return False, f"fails: {error}"
    found = defaultdict(int)
    for row in ours["energy"]:
        key = row["component"], row["tensor"], row["action"]
        if row["tensor"]:
            found[key] += row["count"] or 0
    different = [f"{' '.join(key)}: {found[key]:.0f} ({count})" for key, count in counts.items() if found[key] != count]
    ours_cycles = round(ours["latency_s"] * 1e9, 6)
    line = f"cycles {ours_cycles:g} ({cycles}), energy {ours['energy_j']} ({energy:.6g})"
    if ours["energy_j"] is None or ours_cycles != cycles or different:
        return False, "\n           ".join([line, *different])
    return abs(ours["energy_j"] - energy) <= ENERGY_TOLERANCE * energy, line


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    checkout = options.checkout.resolve()
    files = spec_files.spec_files(checkout)
    seen = Counter()
    for stats in sorted(checkout.rglob("*.stats.txt")):
        name = str(stats.parent.relative_to(checkout))
        if options.only not in name:
            continue
        jobs = jobs_of(stats, files, checkout)
        if not jobs:
            print(f"no mapping {name}")
            continue
        if any(SPARSE.search(path.read_text()) for path in jobs[0]):
            print(f"sparse     {name}")
            continue
        verdicts = [compared(options.sluice, job, stats) for job in jobs]  # of the mappings there, the one it is of
        good, text = min(verdicts, key=lambda verdict: (not verdict[0], len(verdict[1])))
        seen[good] += 1
        print(f"{'equal  ' if good else 'differs'}    {name}\n           {text}", flush=True)
    print(f"{seen[True]} of {seen.total()} equal")
    sys.exit(1 if seen[False] else 0)


if __name__ == "__main__":
    main()
