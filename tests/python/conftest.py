"""What the tests of the Python package share. They run from the build tree: tests/python/run.sh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("MPLBACKEND", "Agg")
ROOT = Path(__file__).resolve().parents[2]


def command_line(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program that the package brings along."""
    return subprocess.run([sys.executable, "-m", "sluice", *arguments], capture_output=True, text=True)


def document(*arguments: str) -> dict[str, Any]:
    """Its result document, without what depends on the clock."""
    return without_search(json.loads(command_line(*arguments, "--json").stdout))


def without_search(document: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in document.items() if key != "search"}


SMALL = """
workload:
  name: small
  rank_sizes: {M: 16, K: 8, N: 16, L: 4}
  bits_per_value: {All: 8}
  einsums:
  - "H[m,n] = X[m,k] * A[k,n]"
  - "R[m,n] = max(H[m,n], 0)"
  - "Y[m,l] = R[m,n] * B[n,l]"
"""

MACHINE = """
arch:
  name: machine
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All},
             actions: [{name: read, energy: 7 pJ/bit, throughput: 100 GB/s}, {name: write, energy: 7 pJ/bit, throughput: 100 GB/s}]}
  - !Memory {name: Buffer, size: 64 KiB, tensors: {keep: All},
             actions: [{name: read, energy: 0.2 pJ/bit, throughput: 1 TB/s}, {name: write, energy: 0.3 pJ/bit, throughput: 1 TB/s}]}
  - !Compute {name: ALU, spatial: [{name: lane, fanout: 64}], actions: [{name: compute, energy: 0.5 pJ, throughput: 1 GHz}]}
"""


#: A buffer that saves energy and is slow: what takes longer costs less.
SLOW_BUFFER = {
    "M": 64, "N": 64, "K": 64,
    "arch.GlobalBuffer.read.throughput": "4 GB/s",
    "arch.GlobalBuffer.write.throughput": "4 GB/s",
}


@pytest.fixture
def specs(tmp_path: Path) -> tuple[str, str]:
    """Files of a small workload and machine."""
    for name, text in (("small.yaml", SMALL), ("machine.yaml", MACHINE)):
        (tmp_path / name).write_text(text)
    return str(tmp_path / "small.yaml"), str(tmp_path / "machine.yaml")
