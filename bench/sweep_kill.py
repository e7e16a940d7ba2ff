#!/usr/bin/env python3
"""Whether a sweep that is killed loses or repeats anything.

Usage: bench/sweep_kill.py SLUICE [--kills 20] [--seed 0]

A sweep of 48 points runs once to its end, and once with SIGKILL at random moments (fixed seed), each
time going on with the same database. After each kill every run that was there before must be there
still, unchanged; at the end both databases must have the same rows in every table but `timings`.
Status 1 if not.
"""

import argparse
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TABLES = ("texts", "sweeps", "points", "runs", "mappings", "components")
SWEEP = ["sweep", "matmul_chain", "tpu_v4i", "--set", "N_EINSUMS=3",
         "--vary", "arch.GlobalBuffer.size=1MiB..128MiB:x2",
         "--vary", "arch.MainMemory.read.throughput=100GB/s,300GB/s,614GB/s",
         "--vary", "M=512,1024", "--progress", "none"]


def rows(database, tables=TABLES):
    connection = sqlite3.connect(database)
    known = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema")}
    result = {table: set(connection.execute(f"SELECT * FROM {table}"))
              for table in tables if table in known}
    assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    moments = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name:
        whole, killed = Path(name) / "whole.sqlite", Path(name) / "killed.sqlite"
        begin = time.monotonic()
        subprocess.run([arguments.sluice, *SWEEP, "-o", whole], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begin
        before = {}
        for kill in range(arguments.kills):
            process = subprocess.Popen([arguments.sluice, *SWEEP, "-o", killed], stdout=subprocess.DEVNULL)
            moment = moments.uniform(0, 2.5 * seconds / arguments.kills)
            time.sleep(moment)
            process.kill()
            process.wait()
            now = rows(killed, (*TABLES, "timings")) if killed.exists() else {}
            lost = [table for table, had in before.items() if not had <= now.get(table, set())]
            print(f"kill {kill + 1} after {moment:.3f} s: {len(now.get('runs', []))} runs"
                  + (f", LOST rows of {lost}" if lost else ""))
            if lost:
                return 1
            before = now
        subprocess.run([arguments.sluice, *SWEEP, "-o", killed], check=True, stdout=subprocess.DEVNULL)
        end, expected = rows(killed), rows(whole)
        kept = before.get("timings", set()) <= rows(killed, ("timings",))["timings"]
        print(f"{len(end['runs'])} runs; equal to the uninterrupted sweep: {end == expected}; "
              f"nothing searched twice: {kept}")
        return 0 if end == expected and kept else 1


if __name__ == "__main__":
    sys.exit(main())
