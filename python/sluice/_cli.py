"""The program ``sluice``, which the package brings along."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def program() -> str:
    """Path of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "sluice")


def main() -> NoReturn:
    os.execv(program(), ["sluice", *sys.argv[1:]])
