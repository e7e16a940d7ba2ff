"""Runs of `sluice map`, several side by side."""

import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
STOCHASTIC = ["random", "anneal", "genetic", "iterative"]


class Sluice:
    def __init__(self, program, jobs):
        self.program = program
        self.jobs = jobs

    def map(self, workload, architecture, *arguments):
        """The result document of one search on one thread. All its times are turned into seconds of processor time, so
        that other work on the machine does not count."""
        command = [self.program, "map", str(workload), str(architecture), "--threads", "1", "--json", *arguments]
        with tempfile.TemporaryFile() as messages:
            start = time.monotonic()
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=messages)
            text = process.stdout.read()
            _, status, usage = os.wait4(process.pid, 0)
            elapsed = time.monotonic() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                messages.seek(0)
                said = (messages.read() + text).decode()[:1000]
                raise RuntimeError(f"{' '.join(command)}: exit status {process.returncode}\n{said}")
        document = json.loads(text)
        share = min(1, (usage.ru_utime + usage.ru_stime) / elapsed)
        document["search"]["seconds"] *= share
        for point in document["search"]["convergence"] or []:
            point["seconds"] *= share
        return document

    def map_all(self, calls):
        """Result documents of several calls, in order."""
        with ThreadPoolExecutor(self.jobs) as pool:
            return list(pool.map(lambda call: self.map(*call), calls))

    def sample(self, problem, mapper, seconds, seeds):
        """Searches with seeds 1, 2, …, each of about so many seconds: of as many evaluations as a first one has in
        that time."""
        first = 1000 if seconds > 1 else 100
        trial = self.map(*problem, "--mapper", mapper, "--seed", "0", "--budget", f"{first}evals")
        evaluations = max(first, int(first * seconds / trial["search"]["seconds"]))
        budget = ["--mapper", mapper, "--budget", f"{evaluations}evals"]
        return self.map_all([[*problem, *budget, "--seed", str(seed)] for seed in range(1, seeds + 1)])


def edp(document):
    return document["mappings"][0]["edp_js"]


def percent_off(value, optimum):
    return 100 * (value / optimum - 1)
