"""Figures 6 to 14 of the COMET paper, evaluated again: data as CSV, plots, and the paper's claims beside ours."""

import argparse
import sys
from pathlib import Path

import check
import figures
import search
import sensitivity
import validation
from cases import ATTENTIONS, GEMMS
from claims import Judged, judged, write_claims
from evaluation import Sluice
from results import JOINT, search_all, with_flash_of_2022, with_parts, write_means


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--sluice", required=True, help="the program")
    parser.add_argument("--output", type=Path, default=Path("comet-results"))
    parser.add_argument("--set", dest="variations", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable of the architectures, to see what moves the results")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="two cases: does it run?")
    parser.add_argument("--sensitivity", action="store_true",
                        help="also with what the paper leaves open set otherwise; which claims does each turn alone?")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="do the claims come out as published in results/? (exit 1: no)")
    parser.add_argument("--search", action="store_true", help="only: what sluice finds by itself, beside the best templates in results/")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sluice = Sluice(options.sluice)
    variations = dict(setting.split("=", 1) for setting in options.variations)
    if options.check:
        differences = list(check.differences(sluice, variations, options.output))
        print("\n".join(differences) or "all claims come out as published")
        sys.exit(1 if differences else 0)
    if options.search:
        search.compare(sluice, search.ALL, variations, options.output)
        return
    cases = [1, 8] if options.quick else list(GEMMS)
    attentions = [2, 4] if options.quick else list(ATTENTIONS)
    validated = validation.run(options.sluice, options.output, every=64 if options.quick else 1)
    base = with_parts(sluice, search_all(sluice, cases, attentions, variations))
    figures.write_tables(base, options.output)
    figures.plot(base, options.output)
    joint = with_parts(sluice, search_all(sluice, cases, attentions, {**JOINT, **variations}))
    figures.write_cases(joint, options.output / "joint")
    write_means(base, joint, options.output / "means.csv")
    others = {"FlashAttention of 2022": with_flash_of_2022(base)}
    if options.sensitivity:
        others |= sensitivity.variants(sluice, base)
        sensitivity.write(base, others, options.output)
    if options.quick:
        search.compare(sluice, search.SMALL, variations, options.output, budget=100)
    write_claims([*map(Judged, validated), *judged(base, joint, others)], options.output / "claims.csv")


if __name__ == "__main__":
    main()
