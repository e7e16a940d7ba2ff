#!/usr/bin/env python3
"""`sluice design` beside the exhaustive sweep of the same 1,000 designs.

Usage: bench/design_grid.py SLUICE [DESIGN.yaml] [--objective edp]

Prints the best of both, and how many designs each looked at. Status 1 where they differ, or where
the design search looked at more than a tenth of the designs.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent


def run(command):
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("design", nargs="?", default=HERE / "design_grid.yaml")
    parser.add_argument("--objective", default="edp")
    arguments = parser.parse_args()
    file = Path(arguments.design).resolve()
    spec = yaml.safe_load(file.read_text())["design"]
    begin = time.monotonic()
    found = run([arguments.sluice, "design", file, "--json", "--objective", arguments.objective])
    seconds = time.monotonic() - begin
    best = found["best"]
    print(f"design: {best['objective']:.10g} at {best['settings']}, proven {found['proven']}, "
          f"{found['search']['looks']} looks, {found['search']['searches']} searches, {seconds:.1f} s")
    area = float(str(spec["budgets"]["area"]).split()[0]) * 1e-6
    column = {"edp": "edp_js", "energy": "energy_j", "latency": "latency_s"}[arguments.objective]
    objectives, begin = {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for item in spec["workloads"]:
            sweep = {"workloads": item["workload"], "architectures": str(file.parent / spec["architecture"]),
                     "set": item.get("set", {}), "grid": spec["variables"], "options": spec.get("options", {})}
            path = Path(folder) / "sweep.yaml"
            path.write_text(yaml.safe_dump({"sweep": sweep}, sort_keys=False))
            runs = run([arguments.sluice, "sweep", path, "--json", "--objective", arguments.objective])["runs"]
            for row in runs:
                key = json.dumps(row["settings"])
                if row["status"] == "ok" and row["area_m2"] <= area * (1 + 1e-12):
                    objectives.setdefault(key, []).append(item.get("weight", 1) * row[column])
    sums = {key: sum(parts) for key, parts in objectives.items() if len(parts) == len(spec["workloads"])}
    key = min(sums, key=sums.get)
    print(f"sweep:  {sums[key]:.10g} at {key}, {len(sums)} designs within the budget, "
          f"{time.monotonic() - begin:.1f} s")
    equal = abs(sums[key] / best["objective"] - 1) < 1e-12
    few = found["search"]["looks"] <= 0.1 * found["designs"]["all"]
    print(f"equal: {equal}; at most a tenth looked at: {few}")
    return 0 if equal and few and found["proven"] else 1


if __name__ == "__main__":
    sys.exit(main())
