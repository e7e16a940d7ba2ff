"""Figures 8, 9 and 11 to 13 of the FFM paper, searched again: data as CSV, plots, and a summary."""

import argparse
import sys
from pathlib import Path

import convergence
import scaling
import transfusion
from searches import Sluice

FIGURES = {"8": convergence.run, "9": scaling.run, "11": transfusion.run}


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--sluice", required=True, help="the program")
    parser.add_argument("--figures", default="8,9,11", help="some of 8, 9, 11 (with 12 and 13)")
    parser.add_argument("--output", type=Path, default=Path("ffm-results"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2, help="searches side by side, one thread each")
    parser.add_argument("--seconds", type=float, default=300, help="of each stochastic search of Figure 8, about")
    parser.add_argument("--batch", type=int, default=64, help="of Figure 8")
    parser.add_argument("--architecture", default="tpu_v4i", help="of Figures 8 and 9")
    parser.add_argument("--timeout", type=float, default=10, help="of Figure 9, times the fused mapper")
    parser.add_argument("--longest", type=int, default=64, help="chain of Figure 9")
    parser.add_argument("--compared", type=int, default=8, help="longest chain of Figure 9 for the stochastic searches")
    parser.add_argument("--quick", action="store_true", help="two seeds, tiny budgets: does it run?")
    options = parser.parse_args()
    if options.quick:
        options.seeds, options.seconds, options.timeout = 2, 0.05, 1
    options.output.mkdir(parents=True, exist_ok=True)
    sluice = Sluice(options.sluice, options.jobs)
    for figure in options.figures.split(","):
        if figure not in FIGURES:
            sys.exit(f"there is no figure {figure} here: {', '.join(FIGURES)}")
        FIGURES[figure](sluice, options)


if __name__ == "__main__":
    main()
