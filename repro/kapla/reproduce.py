"""KAPLA's published schemes, priced again: which numbers of which lines are the same, by kind of layer and column."""

import argparse
import csv
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

import published
from published import COLUMNS

HERE = Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--sluice", required=True, help="the program")
    parser.add_argument("--quick", action="store_true", help="the schemes of sample/ (also what runs without files)")
    parser.add_argument("--runs", type=Path, help="the published runs (CSV)")
    parser.add_argument("--schemes", type=Path, help="the published schemes (a line of JSON each)")
    parser.add_argument("--networks", type=Path, default=HERE / "../../library/networks", help="tables of their networks")
    parser.add_argument("--output", type=Path, help="writes agreement.txt and differences.csv into this folder")
    options = parser.parse_args()
    if (options.runs is None) != (options.schemes is None):
        parser.error("--runs and --schemes belong together")
    sample = options.quick or options.runs is None
    runs = HERE / "sample/runs.csv" if sample else options.runs
    schemes = HERE / "sample/schemes.jsonl" if sample else options.schemes
    lines = published.read(runs, schemes, options.networks)
    priced = price(options.sluice, runs, lines)
    compared = list(published.compare(lines, priced, published.known_exceptions(HERE / "exceptions.csv")))
    print(table(lines, compared))
    apart = [abs(ours / said - 1) for _, said, ours in published.run_energies(runs, lines, priced)]
    if apart:
        print(f"{len(apart)} runs: their energy without static is at most {100 * max(apart):.3f} % off the published one")
    unexplained = [difference for difference in compared if not difference.reason]
    for difference in unexplained:
        print(f"not explained: {difference.line.run} {difference.line.layer}: {difference.column} is "
              f"{difference.ours}, published {difference.published}")  # fmt: skip
    if options.output:
        write(options.output, lines, compared)
    sys.exit(1 if unexplained else 0)


def price(sluice, runs, lines):
    """The same lines with Sluice's numbers; all published numbers are taken out before."""
    arguments = [sluice, "evaluate", "--compat", "kapla", "--runs", str(runs), "--schemes", "/dev/stdin"]
    inputs = "".join(line.inputs() + "\n" for line in lines)
    run = subprocess.run(arguments, input=inputs, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\n{run.stderr}")
    return published.parse(run.stdout)


def table(lines, differences):
    totals = Counter(line.kind for line in lines)
    missed = defaultdict(Counter)
    for difference in differences:
        missed[difference.line.kind][difference.column] += 1
    rows = [["layer", "array", "solver", "lines", *COLUMNS]]
    for kind, total in sorted(totals.items()):
        rows.append([*kind, str(total), *(str(total - missed[kind][column]) for column in COLUMNS)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    text = [" ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    explained = sum(1 for difference in differences if difference.reason)
    text.append(f"{len(lines)} lines; {len(differences)} numbers differ, {explained} of them for reasons in exceptions.csv")
    return "\n".join(text)


def write(folder, lines, differences):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agreement.txt").write_text(table(lines, differences) + "\n")
    with open(folder / "differences.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["run", "layer", "type", "column", "published", "sluice", "reason"])
        for d in differences:
            writer.writerow([d.line.run, d.line.layer, d.line.kind[0], d.column, d.published, d.ours, d.reason])


if __name__ == "__main__":
    main()
