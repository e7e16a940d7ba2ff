"""Maps every case of AccelForge's regression reference with the files of its repository as they are, and compares
energy and latency of the best mapping with the reference. Prints a row a case; the last line counts those equal."""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

TOLERANCE = 1e-5  # reference totals are float32


def only(folder, stem):
    return next(path for path in sorted(folder.rglob("*.yaml")) if path.stem == stem)


def command_of(sluice, checkout, key):
    arch_name, workload, variables, fusion = key.split("|")
    arch = only(checkout / "examples" / "arches", arch_name)
    command = [sluice, "map", only(checkout / "examples" / "workloads", workload), arch, "--json"]
    command += ["--mapper", "fused", "--max-fused-loops", "1", "--objective", "energy" if arch_name == "snowcat" else "edp"]
    for variable in filter(None, variables.split(",")):
        command += ["--set", variable]
    components = checkout / "tests" / "hwcomponents_expected.json"
    if arch_name in json.loads(components.read_text()):
        command += ["--ert", components]
    if fusion == "unfused":  # everything goes through the outermost memory
        outermost = re.search(r"!Memory[^\n]*\n\s*name: (\w+)", arch.read_text()).group(1)
        command += ["--set", f"arch.{outermost}.tensors.keep=All"]
    return list(map(str, command))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--only", default="", help="a part of the keys of cases")
    options = parser.parse_args()
    reference = json.loads((options.checkout / "tests" / "regression_reference.json").read_text())
    reference = {key: expected for key, expected in reference.items() if options.only in key}
    equal = 0
    for key, expected in reference.items():
        done = subprocess.run(command_of(options.sluice, options.checkout, key), capture_output=True, text=True)
        if done.returncode != 0:
            print(f"fails   {key}\n        {done.stderr.strip().splitlines()[-1:]}", flush=True)
            continue
        best = json.loads(done.stdout)["mappings"][0]
        pairs = [(best["energy_j"], expected["energy"]), (best["latency_s"], expected["latency"])]
        near = all(abs((ours or 0) - theirs) <= TOLERANCE * abs(theirs) for ours, theirs in pairs)
        equal += near
        print(f"{'equal  ' if near else 'differs'} {key}  " +
              "  ".join(f"{ours} ({theirs})" for ours, theirs in pairs), flush=True)
    print(f"{equal} of {len(reference)} equal")
    sys.exit(0 if equal == len(reference) else 1)


if __name__ == "__main__":
    main()
