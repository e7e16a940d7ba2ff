#!/usr/bin/env python3
"""How long whole searches take, of one program or of several in turn.

Usage: bench/searches.py SLUICE... [--only TEXT] [--golden FOLDER] [--repeat N] [--threads N]
                         [--limit SECONDS]

Each case is `sluice map` as a user runs it, the whole process: its median wall seconds of `--repeat`
runs, its CPU seconds, its peak memory, and what it ended with (the EDP and whether it is proven). Programs take turns, so that all see the same machine. `--only` runs the cases whose name
has the text in it, more often than once all of them together. `--golden` is the folder of reference
cases that are not part of the repository (accelforge, machines); without it these are left out.
`--limit` ends a run that takes longer. A Markdown table on standard output.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def cases_of(golden):
    """(name, arguments of `sluice map`)"""
    yield "one matmul 4096³, `tpu_v4i`", ["matmul", "tpu_v4i", "--set", "M=4096", "--set", "K=4096",
                                          "--set", "N=4096"]
    if golden:
        gpt3 = golden / "accelforge" / "scale_gpt3_6p7b_b64_4096_default"
        files = [gpt3 / "workload.yaml", gpt3 / "arch.yaml"]
        yield "GPT-3 6.7B, 10 Einsums, one fused loop", [*files, "--max-fused-loops", "1"]
        yield "the same, unlimited", files
    yield "`gpt3_6.7b`, `tpu_v4i`", ["gpt3_6.7b", "tpu_v4i"]
    yield "the same, batch 64, 4,096 tokens", ["gpt3_6.7b", "tpu_v4i", "--set", "BATCH=64",
                                               "--set", "N_TOKENS=4096"]
    for count in (8, 256, 1024):
        yield f"`ffm_chain` of {count}, `tpu_v4i`, `fused`", [
            "ffm_chain", "tpu_v4i", "--set", f"N_EINSUMS={count}", "--mapper", "fused"]
    yield "`resnet18`, `eyeriss`", ["resnet18", "eyeriss"]
    yield "`resnet18`, `simba`", ["resnet18", "simba"]
    yield "`llama3_8b`, `tpu_v4i`", ["llama3_8b", "tpu_v4i"]
    yield "`llama3_8b`, `snowcat`", ["llama3_8b", "snowcat"]
    if golden:
        machines = golden / "machines"
        for name, budget in (("gemm", None), ("convolution", None), ("dws", None), ("cpc", 5),
                             ("llama_1024", 10)):
            limit = ["--budget", f"{budget}s"] if budget else []
            yield f"`ws`: {name}" + (f", {budget} s" if budget else ""), [
                machines / f"{name}.yaml", machines / "ws.yaml", *limit]
    yield "`attention`, `comet_cloud`, 10 s", ["attention", "comet_cloud", "--budget", "10s"]
    yield "`gemm_softmax`, `comet_edge`, `compound`", ["gemm_softmax", "comet_edge",
                                                       "--mapper", "compound"]


def run(program, arguments, threads, limit):
    """Wall seconds, CPU seconds, peak MB, the document; None for the last after `limit` seconds."""
    with tempfile.TemporaryFile("w+b") as out:
        begin = time.monotonic()
        process = subprocess.Popen(
            ["timeout", "--signal=KILL", str(limit), program, "map", *map(str, arguments),
             "--threads", str(threads), "--json"], stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        out.seek(0)
        try:
            document = json.load(out)
        except ValueError:
            document = None
    return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, document


def ended_with(document):
    if document is None:
        return "–"
    if not document["mappings"]:
        return document["status"]
    guarantee = document["guarantee"]
    objective = document["mappings"][0]["edp_js"]
    if guarantee["kind"] == "optimal":
        return f"{objective:.4g}, proven"
    bound = guarantee.get("bound")
    return f"{objective:.4g}, gap {1 - bound / objective:.0%}" if bound else f"{objective:.4g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="SLUICE")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300)
    arguments = parser.parse_args()
    head = "".join(f" {Path(name).name}: s, CPU s, MB | EDP (J·s) |" for name in arguments.programs)
    print(f"| case |{head}\n|---|" + "---|---|" * len(arguments.programs))
    for name, options in cases_of(arguments.golden):
        if arguments.only and not any(text in name for text in arguments.only):
            continue
        runs = [[] for _ in arguments.programs]
        for _ in range(arguments.repeat):
            for own, program in zip(runs, arguments.programs):
                if not (own and own[-1][3] is None):  # once is enough for one that does not end
                    own.append(run(program, options, arguments.threads, arguments.limit))
        cells = ""
        for own in runs:
            wall, cpu, peak = (statistics.median(column) for column in list(zip(*own))[:3])
            time_text = f"{wall:.3g}, {cpu:.3g}, {peak:.0f}" if own[-1][3] else f"> {arguments.limit:g}"
            cells += f" {time_text} | {ended_with(own[-1][3])} |"
        print(f"| {name} |{cells}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
