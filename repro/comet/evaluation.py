"""Prices mappings with `sluice evaluate`, many in a batch, one in detail; searches with `sluice map`."""

import json
import subprocess
import tempfile
from pathlib import Path

from loop_trees import to_yaml


class Sluice:
    def __init__(self, program, policy="staged"):
        self.program = program
        self.policy = policy

    def _run(self, problem, arguments, text=None, task="evaluate"):
        command = [self.program, task, *map(str, problem), "--latency", self.policy, *arguments]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode == 2 or not done.stdout:
            raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[:2000]}{done.stdout[:2000]}")
        return done.stdout

    def price(self, problem, mappings):
        """Energy and latency of each mapping, or its violations."""
        text = "".join(json.dumps({"nodes": nodes}) + "\n" for nodes in mappings)
        results = [json.loads(line) for line in self._run(problem, ["--batch", "-"], text).splitlines()]
        for result in results:
            if result["status"] == "error":
                raise RuntimeError(result["message"])
        return results

    def detail(self, problem, nodes):
        """The priced mapping of the result document."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "mapping.yaml"
            path.write_text(to_yaml(nodes))
            return json.loads(self._run([*problem[:2], path, *problem[2:]], ["--json"]))["mappings"][0]

    def map(self, problem, mapper, arguments=()):
        """The result document of a search for the least latency."""
        searched = ["--mapper", mapper, "--objective", "latency", "--threads", "2", *arguments, "--json"]
        return json.loads(self._run(problem, searched, task="map"))


def is_out_of_memory(result):
    return result["status"] == "illegal" and all(v["kind"] == "capacity" for v in result["violations"])


def best_of(results):
    """Index of the fastest legal mapping, of equally fast ones the one with less energy; None where there is none."""
    legal = [i for i, result in enumerate(results) if result["status"] == "ok"]
    return min(legal, key=lambda i: (results[i]["latency_s"], results[i]["energy_j"])) if legal else None
