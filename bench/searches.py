#!/usr/bin/env python3
"""How long whole searches take, of one program or of several in turn.

Usage: bench/searches.py SLUICE... [--only TEXT] [--golden FOLDER] [--examples FOLDER] [--repeat N]
                         [--threads N] [--limit SECONDS]

Each case is `sluice map` as a user runs it, the whole process: its median wall seconds of `--repeat`
runs, its CPU seconds, its peak memory, and what it ended with (the EDP and whether it is proven). Programs take turns, so that all see the same machine. `--only` runs the cases whose name
has the text in it, more often than once all of them together. `--golden` is the folder of reference
cases that are not part of the repository (accelforge, machines), `--examples` that of AccelForge's
examples (examples/workloads/transformers, one layer of each model); without them these are left out.
`--limit` ends a run that takes longer. A Markdown table on standard output.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from anytime import final


def examples_of(folder):
    common = {"BATCH_SIZE": 1, "N_NEW_TOKENS": 2048, "DECODE": False}
    attention = {"ATTENTION_TYPE": "grouped_query"}
    for name, more in {
            "gpt/gpt3_6.7B": {}, "gpt/gpt3_175B": {}, "llama/llama3_8B": {}, "llama/llama4_scout": attention,
            "llama/llama4_maverick": {**attention, "FEEDFORWARD_TYPE": "dense"}, "qwen/qwen3_8B": {},
            "qwen/qwen3_30B_A3B": {}, "mixtral/mixtral8x22B": {}, "deepseek/deepseek_v3_671B": {}}.items():
        settings = [f"{key}={value}" for key, value in {**common, **more}.items()]
        yield f"AccelForge's `{Path(name).name}`, `tpu_v4i`", [
            folder / f"{name}.yaml", "tpu_v4i", *(word for s in settings for word in ("--set", s))]


def cases_of(golden, examples):
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
    if examples:
        yield from examples_of(examples)
    yield "`attention`, `comet_cloud`", ["attention", "comet_cloud"]
    yield "`gemm_softmax`, `comet_edge`, `compound`", ["gemm_softmax", "comet_edge",
                                                       "--mapper", "compound"]


def run(program, arguments, threads, limit):
    """Wall seconds, CPU seconds, the document; None for the last if there is none after `limit`
    seconds."""
    command = [program, "map", *map(str, arguments), "--threads", str(threads), "--json"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              timeout=limit)
    except subprocess.TimeoutExpired:
        return limit, 0, None
    wall = time.monotonic() - begin
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, cpu, json.loads(done.stdout)


def ended_with(document):
    found = final(document)
    if not found["objective_js"]:
        return document["status"]
    if found["guarantee"] == "optimal":
        return f"{found['objective_js']:.4g}, proven"
    gap = 1 - (found["bound_js"] or 0) / found["objective_js"]
    return f"{found['objective_js']:.4g}, gap {gap:.0%}"


def cells(runs, limit):
    """The median times, the memory and the end of some runs of a case."""
    document = runs[-1][-1]
    if document is None:
        return f" > {limit:g} | – |"
    wall, cpu = (statistics.median(times) for times in list(zip(*runs))[:2])
    peak = final(document)["peak_bytes"] or 0  # older programs do not say
    return f" {wall:.3g}, {cpu:.3g}, {peak / 1e6:.0f} | {ended_with(document)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", metavar="SLUICE")
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--golden", type=Path)
    parser.add_argument("--examples", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--limit", type=float, default=300)
    arguments = parser.parse_args()
    head = "".join(f" {Path(name).name}: s, CPU s, MB | EDP (J·s) |" for name in arguments.programs)
    print(f"| case |{head}\n|---|" + "---|---|" * len(arguments.programs))
    for name, options in cases_of(arguments.golden, arguments.examples):
        if arguments.only and not any(text in name for text in arguments.only):
            continue
        runs = [[] for _ in arguments.programs]
        for _ in range(arguments.repeat):
            for own, program in zip(runs, arguments.programs):
                if not (own and own[-1][-1] is None):  # once is enough for one that does not end
                    own.append(run(program, options, arguments.threads, arguments.limit))
        print(f"| {name} |{''.join(cells(own, arguments.limit) for own in runs)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
