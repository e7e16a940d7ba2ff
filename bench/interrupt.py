#!/usr/bin/env python3
"""Whether searches obey budgets, signals and limits of memory, and what they leave behind.

Usage: bench/interrupt.py SLUICE FOLDER_OR_FILE... [--signals N] [--kills N] [--budgets 0.2,1,5]
                          [--memory 1GiB] [--mapper NAME] [--longest 5] [--threads N] [-j N]
                          [--library] [--random N] [--pairs N] [--proven FILE]

The pairs are those of bench/anytime.py. Each is mapped with every budget; N times with SIGINT and N
times with SIGTERM, and N times with SIGKILL, each at a random moment (fixed seed) of the first
`--longest` seconds. All have a folder (`-o`), with which the search goes on for a second after
signals. A line of CSV each on standard output:

    workload, architecture, trial, moment_s, late_s, status, peak_bytes, objective_js, bound_js, faults

A fault is: ended more than 0.3 s late (such a trial is repeated three times by itself at the end,
and is a fault if it is late twice more), an exit status that docs/cli.md does not give, a document
that is no JSON or incomplete, a bound above a mapping that is known (also of `--proven`, the rows of
bench/anytime.py), more memory than `--memory`, a folder that `sluice evaluate` does not take or
that differs from the document, a worse result after going on. Status 1 if there is one.
"""

import argparse
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from anytime import (LATE, add_pair_arguments, best_of, command_of, pairs_of, read_rows, spread,
                     write_drawn)

UNITS = {"GiB": 2**30, "MiB": 2**20}
EARLY = 0.05  # s: before that a signal may end the program while it is loaded


def bytes_of(text):
    return float(text[:-3]) * UNITS[text[-3:]]


def wait(process):
    """Of a process that has ended: its exit status and peak memory. Its streams are files."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_maxrss * 1024


def run(command, folder, moment=None, number=None):
    """(exit status, peak memory, seconds until it ended (after the signal, if there was one), whether
    the signal came while it ran, standard output)"""
    with open(Path(folder) / "stdout", "w+b") as out, open(Path(folder) / "stderr", "wb") as err:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=out, stderr=err)
        sent = False
        if number is not None:
            while time.monotonic() < begin + moment and not has_ended(process):
                time.sleep(0.002)
            begin = time.monotonic()
            if not has_ended(process):
                process.send_signal(number)
                sent = True
        status, peak = wait(process)
        seconds = time.monotonic() - begin
        out.seek(0)
        return status, peak, seconds, sent, out.read()


def has_ended(process):
    """Without reaping it, so that `wait` can ask for its memory."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def objective_of(document):
    return document["mappings"][0]["edp_js"] if document["mappings"] else None


def bound_of(document):
    """What no mapping is below, as far as a document says so; 0: it says nothing."""
    guarantee = document.get("guarantee") or {}
    if guarantee.get("kind") == "optimal":
        return objective_of(document)
    return (guarantee.get("kind") == "gap" and guarantee.get("bound")) or 0


def look_at_document(text, row, statuses):
    """Notes what the document says in `row`; what is wrong with it."""
    try:
        document = json.loads(text)
    except ValueError:
        yield "no JSON"
        return
    if document["status"] not in statuses:
        yield f"status {document['status']}"
    if not document["mappings"] and document["status"] == "ok":
        yield "no mapping in a good result"
    for mapping in document["mappings"]:
        if not all(mapping.get(name) for name in ("edp_js", "energy_j", "latency_s", "mapping")):
            yield "an incomplete mapping"
    guarantee = document["guarantee"] or {}
    row["objective_js"], row["bound_js"] = objective_of(document), bound_of(document)
    if document["mappings"] and guarantee.get("kind") not in ("gap", "optimal"):
        yield f"guarantee {guarantee.get('kind')}"


def look_at_folder(sluice, pair, folder, row):
    """The folder's document and mapping are whole, legal, and say the same."""
    result, mapping = folder / "result.json", folder / "mapping.yaml"
    if not result.exists() or not mapping.exists():
        if row["objective_js"] is not None:
            yield "nothing in the folder"
        return
    try:
        document = json.loads(result.read_text())
        kept = objective_of(document)
    except ValueError:
        yield "no JSON in the folder"
        return
    done = subprocess.run([sluice, "evaluate", *map(str, pair), str(mapping), "--json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        yield f"the folder's mapping: exit status {done.returncode}"
    elif (cost := objective_of(json.loads(done.stdout))) != kept:
        # Killed between the two files, one of them has the next better mapping.
        if row["trial"] != "SIGKILL":
            yield f"the folder's mapping costs {cost}, its document says {kept}"
    if row["objective_js"] is not None and kept != row["objective_js"]:
        yield "the folder has another result"
    row["objective_js"] = kept
    row["bound_js"] = bound_of(document)
    if kept is not None and row["bound_js"] > kept * (1 + 1e-9):
        yield f"the folder's mapping of {kept} is below its bound of {row['bound_js']}"


def look_at_resumed(arguments, pair, folder, row):
    """What goes on from the folder is no worse."""
    before, bound = row["objective_js"], row["bound_js"]
    command = command_of(arguments.sluice, *pair, arguments.mapper, arguments.threads,
                         "--memory", arguments.memory, "--progress", "none", "-o", str(folder),
                         "--budget", "1s")
    status, peak, _, _, text = run(command, folder.parent)
    if status not in (0, 1):
        yield f"resumed: exit status {status}"
        return
    row["peak_bytes"] = max(row["peak_bytes"], peak)
    yield from (f"resumed: {fault}" for fault in look_at_document(text, row, ("ok", "no_mapping")))
    if before is not None and (row["objective_js"] or float("inf")) > before:
        yield f"resumed: {row['objective_js']} after {before}"
    if bound and (row["bound_js"] or 0) < bound * (1 - 1e-9):
        yield f"resumed: a bound of {row['bound_js']} after {bound}"


def trial_faults(arguments, pair, trial, moment, folder, row):
    number = getattr(signal, trial) if trial != "budget" else None
    budget = ["--budget", f"{moment}s"] if number is None else []
    out = folder / "result"
    command = command_of(arguments.sluice, *pair, arguments.mapper, arguments.threads, "--memory",
                         arguments.memory, "--progress", "none", "-o", str(out), *budget)
    status, peak, seconds, sent, text = run(command, folder, moment, number)
    late = seconds - moment if number is None else seconds if sent else 0
    row |= {"status": status, "peak_bytes": peak, "late_s": round(max(0, late), 3)}
    if sent and status == -number and (number == signal.SIGKILL or moment < EARLY):
        yield from look_at_folder(arguments.sluice, pair, out, row)
    else:
        expected = (130, 0) if sent else (0, 1)  # 0: it ended just then
        if status not in expected:
            yield f"exit status {status}"
            return
        statuses = ("interrupted",) if status == 130 else ("ok", "no_mapping")
        yield from look_at_document(text, row, statuses)
        yield from look_at_folder(arguments.sluice, pair, out, row)
    if sent:
        yield from look_at_resumed(arguments, pair, out, row)
    if row["peak_bytes"] > bytes_of(arguments.memory):
        yield f"memory {row['peak_bytes'] / 2**20:.0f} MiB"


def run_trial(arguments, job):
    pair, trial, moment = job
    row = {"workload": pair[0].stem, "architecture": pair[1].stem, "trial": trial,
           "moment_s": round(moment, 3), "objective_js": None, "bound_js": None}
    with tempfile.TemporaryDirectory() as folder:
        row["faults"] = "; ".join(
            trial_faults(arguments, pair, trial, moment, Path(folder), row))
    return row


def jobs_of(arguments, pairs):
    draw = random.Random(1)
    for pair in pairs:
        for budget in map(float, arguments.budgets.split(",") if arguments.budgets else []):
            yield pair, "budget", budget
        for trial, count in (("SIGINT", arguments.signals), ("SIGTERM", arguments.signals),
                             ("SIGKILL", arguments.kills)):
            for _ in range(count):
                yield pair, trial, draw.uniform(0.02, arguments.longest)


def repeat_late(arguments, jobs, rows):
    """Other work on the machine makes searches late, too."""
    for job, row in zip(jobs, rows):
        if (row.get("late_s") or 0) <= LATE or row["trial"] == "SIGKILL":
            continue
        again = [run_trial(arguments, job)["late_s"] for _ in range(3)]
        print(f"late: {name_of(row)} by {row['late_s']} s; by itself {again}", file=sys.stderr)
        if sum(late > LATE for late in again) >= 2:
            row["faults"] += f"; late by {sorted(again)[1]} s"


def look_at_bounds(rows, known):
    best = {pair: min(value, known.get(pair, value)) for pair, value in best_of(rows).items()}
    for row in rows:
        least = best.get((row["workload"], row["architecture"]))
        if least and (row["bound_js"] or 0) > least * (1 + 1e-9):
            row["faults"] += f"; the bound {row['bound_js']} is above {least}"


def name_of(row):
    return "{workload} on {architecture}, {trial} {moment_s} s".format(**row)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_pair_arguments(parser)
    parser.add_argument("--signals", type=int, default=2)
    parser.add_argument("--kills", type=int, default=1)
    parser.add_argument("--budgets", default="0.2,1,5")
    parser.add_argument("--memory", default="1GiB")
    parser.add_argument("--mapper", default="default")
    parser.add_argument("--longest", type=float, default=5)
    parser.add_argument("--proven")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return check(arguments, pairs_of(arguments, write_drawn(arguments, folder)))


def check(arguments, pairs):
    jobs = list(jobs_of(arguments, pairs))
    table = csv.DictWriter(sys.stdout, ["workload", "architecture", "trial", "moment_s", "late_s",
                                        "status", "peak_bytes", "objective_js", "bound_js", "faults"])
    table.writeheader()
    rows = []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(lambda job: run_trial(arguments, job), jobs):
            rows.append(row)
            table.writerow(row)
            sys.stdout.flush()
    repeat_late(arguments, jobs, rows)
    proven = [row for row in read_rows(arguments.proven) if row["guarantee"] == "optimal"] \
        if arguments.proven else []
    look_at_bounds(rows, best_of(proven))
    for trial in dict.fromkeys(row["trial"] for row in rows):
        late = [row["late_s"] for row in rows if row["trial"] == trial]
        print(f"{trial}: {len(late)} searches, late by {spread(late, '.2f')} s, "
              f"{sum(value > LATE for value in late)} by more than {LATE} s", file=sys.stderr)
    faulty = [row for row in rows if row["faults"]]
    for row in faulty:
        print(f"{name_of(row)}: {row['faults'].strip('; ')}", file=sys.stderr)
    return 1 if faulty else 0


if __name__ == "__main__":
    sys.exit(main())
