"""What a search says while it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Optional

__all__ = ["OnProgress", "Progress", "print_progress"]


@dataclass(frozen=True)
class Progress:
    seconds: float  #: since the search began
    phase: str
    fraction: float  #: of the phase
    objective: float | None  #: of the best mapping so far: J, s or J·s
    bound: float | None  #: what no mapping's objective is below

    @property
    def found_over_bound(self) -> float | None:
        if self.objective is None or not self.bound:
            return None
        return self.objective / self.bound


OnProgress = Callable[[Progress], None]


def print_progress(progress: Progress) -> None:
    """``on_progress=sluice.print_progress``: one line on standard error that is written over."""
    best = "no mapping yet" if progress.objective is None else f"best {progress.objective:.4g}"
    if progress.phase.endswith(" runs"):  # of a sweep, which has no best mapping
        best = ""
    ratio = progress.found_over_bound
    text = f"{progress.seconds:6.1f} s  {progress.phase} {progress.fraction:4.0%}  {best}"
    sys.stderr.write("\r" + (text if ratio is None else f"{text}, {ratio:.3g} times the bound").ljust(100))
    sys.stderr.flush()


def native(on_progress: Optional[OnProgress]) -> Optional[Callable[..., None]]:
    if on_progress is None:
        return None
    told = on_progress
    return lambda *state: told(Progress(*state))
