#!/usr/bin/env python3
"""The whole program over what it reads and writes: ONNX models, whole and broken, and databases of sweeps.

Usage: tests/sanitize/files.py SLUICE [GRAPHS] [--broken 60]

For a program that is built with a sanitizer (`./dev sanitize asan`): every call must end with the status
that is expected of it, and no sanitizer may say a word. GRAPHS is a folder of models; without the `onnx`
package for Python, and without GRAPHS, there are no models, which is said. `--broken` says how many models are
broken at random. No call may take a minute. Status 1 after a failure.
"""

import argparse
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
LONGEST_CALL = 60  # seconds
LARGEST_GRAPH = 100_000  # bytes
SWEEP = ["--set", "M=64", "--vary", "arch.GlobalBuffer.size=16KiB..128KiB:x2", "--vary", "N=32,64", "--progress", "none"]
DESIGN = """
design:
  workloads: [{workload: matmul, set: {M: 64, N: 64}}, {workload: matmul_chain, set: {N_EINSUMS: 2, M: 32}}]
  architecture: simple
  variables: {arch.GlobalBuffer.size: 16KiB..64KiB:x2, arch.MainMemory.read.throughput: [16GB/s, 32GB/s]}
"""


class Program:
    """Calls of the program, and what was wrong with them."""

    def __init__(self, file):
        self.file, self.n_calls, self.failures = file, 0, []

    def run(self, *arguments, expected=(0,)):
        try:
            done = subprocess.run([self.file, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                                  timeout=LONGEST_CALL)
        except subprocess.TimeoutExpired:
            self.judge(arguments, f"none after {LONGEST_CALL} s", "", expected)
            return ""
        self.judge(arguments, done.returncode, done.stderr, expected)
        return done.stdout

    def judge(self, arguments, status, stderr, expected):
        self.n_calls += 1
        has_report = "Sanitizer" in stderr or "runtime error:" in stderr
        if status in expected and not has_report:
            return
        call = " ".join(map(str, arguments))
        self.failures.append(f"sluice {call}: status {status}, expected {expected}\n{stderr[-4000:]}")


def small_models(folder):
    """Files of the models that tests/onnx makes; nothing without the `onnx` package."""
    sys.path.insert(0, str(TESTS / "onnx"))
    try:
        import onnx
        from small_models import all_models
    except ImportError:
        print("sanitize: SKIPPED small ONNX models (python3-onnx is not installed)")
        return []
    files = []
    for name, model in all_models():
        files.append(folder / f"{name}.onnx")
        onnx.save(model, files[-1])
    return files


def broken(models, folder, draws, n):
    """Cut off, or with some bytes changed."""
    for number in range(n if models else 0):
        data = bytearray(draws.choice(models).read_bytes())
        if number % 3 == 0:
            del data[draws.randrange(len(data)):]
        else:
            for _ in range(draws.choice((1, 2, 8, 32))):
                data[draws.randrange(len(data))] = draws.randrange(256)
        file = folder / "broken.onnx"
        file.write_bytes(data)
        yield file


def models(program, graphs, folder, n_broken):
    small = small_models(folder)
    given = [file for file in graphs if file.stat().st_size <= LARGEST_GRAPH]
    whole = small + given
    for file in whole:  # those given may have dimensions without a size
        program.run("import", file, "-o", folder / "specs", "--json", expected=(0, 2) if file in given else (0,))
    for file in broken(whole, folder, random.Random(1), n_broken):
        program.run("import", file, "-o", folder / "specs", "--json", expected=(0, 2))
    for file in sorted(whole, key=lambda file: file.stat().st_size)[:3]:
        program.run("map", file, "edge_33tops", "--budget", "2s", "--json", expected=(0, 1))


def rows(database, table):
    with sqlite3.connect(database) as connection:
        return sorted(map(repr, connection.execute(f"SELECT * FROM {table}")))


def killed(program, database):
    """The same sweep again and again, each killed a little later, then to its end."""
    for delay in (0.05, 0.2, 0.5, 1.0):
        process = subprocess.Popen([program.file, "sweep", "matmul", "simple", *SWEEP, "-o", database],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(delay)
        process.kill()
        _, stderr = process.communicate()
        program.judge(("sweep", "killed"), process.returncode, stderr, (0, -signal.SIGKILL))
    program.run("sweep", "matmul", "simple", *SWEEP, "-o", database)


def databases(program, folder):
    whole, again = folder / "runs.sqlite", folder / "killed.sqlite"
    program.run("sweep", "matmul", "simple", *SWEEP, "-o", whole, "--jobs", "2", "--csv", folder / "runs.csv")
    program.run("sweep", "matmul", "simple", *SWEEP, "-o", whole, "--json")  # knows all of them
    killed(program, again)
    for table in ("runs", "mappings", "components"):
        if rows(whole, table) != rows(again, table):
            program.failures.append(f"the sweep that was killed has other {table}")
    program.run("report", whole, again, "-o", folder / "page.html")
    cut = folder / "cut.sqlite"
    cut.write_bytes(whole.read_bytes()[:5000])
    text = folder / "text.sqlite"
    text.write_text("no database, but long enough to be looked at " * 40)
    foreign = folder / "foreign.sqlite"
    with sqlite3.connect(foreign) as connection:
        connection.execute("CREATE TABLE notes (text TEXT)")
    for file in (cut, text, foreign):
        program.run("sweep", "matmul", "simple", *SWEEP, "-o", file, expected=(2, 3))
        program.run("report", file, "-o", folder / "page.html", expected=(2, 3))
    program.run("sweep", "matmul", "simple", "--vary", "arch.NoSuch.size=1KiB", "-o", whole, expected=(2,))
    design = folder / "design.yaml"
    design.write_text(DESIGN)
    program.run("design", design, "-o", folder / "best", "--json")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sluice")
    parser.add_argument("graphs", nargs="?", type=Path)
    parser.add_argument("--broken", type=int, default=60)
    arguments = parser.parse_args()
    program = Program(arguments.sluice)
    graphs = sorted(arguments.graphs.glob("*.onnx")) if arguments.graphs else []
    # A status that no call of the program has.
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"):
        os.environ[name] = ":".join(filter(None, [os.environ.get(name), "exitcode=99"]))
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for part in ("models", "databases"):
            (Path(folder) / part).mkdir()
        models(program, graphs, Path(folder) / "models", arguments.broken)
        databases(program, Path(folder) / "databases")
    print(f"sanitize: {program.n_calls} calls over models and databases, {len(program.failures)} wrong, "
          f"{time.monotonic() - begin:.0f} s")
    for failure in program.failures[:5]:
        print(failure, file=sys.stderr)
    return 1 if program.failures else 0


if __name__ == "__main__":
    sys.exit(main())
