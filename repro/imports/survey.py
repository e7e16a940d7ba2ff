"""Loads every spec file of checkouts of other tools' repositories with `sluice check`, as a user would, and prints
what loads, what is refused for a reason that docs/importing.md lists, and what fails."""

import argparse
import csv
import re
import subprocess
import sys
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import spec_files

# Values for templates that ask for variables and give no default.
USUAL = {"N_EINSUMS": "2", "M": "64", "KN": "64", "BATCH_SIZE": "1", "N_NEW_TOKENS": "16", "N_TOKENS": "16",
         "DECODE": "False", "N_CACHED_TOKENS": "16", "MAX_TOKENS": "64", "ATTENTION_TYPE": "grouped_query",
         "M_TILE": "4", "MAC_TILE": "2", "psum_datawidth": "16", "input_weight_datawidth": "16", "mac_class": "intmac"}
UNDEFINED = re.compile(r"'(\w+)' is undefined")
OF_ANOTHER_JOB = re.compile(r"the problem has no (dimension|data space)|the architecture has no storage|"
                            r"unknown tensor")
ENTRY = re.compile(r"^top\.yaml\.jinja2?$")


def refusals(page):
    """The messages of the table "What is refused", as patterns: text in backquotes, `…` for what varies."""
    text = page.read_text()
    section = text.split("## What is refused", 1)[-1].split("\n## ", 1)[0] if "## What is refused" in text else ""
    messages = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
    return [re.compile(".*".join(re.escape(part) for part in message.split("…"))) for message in messages]


def run(sluice, files, variables):
    command = [sluice, "check", *map(str, files)]
    for name, value in variables.items():
        command += ["--set", f"{name}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    return done.returncode, done.stderr


def first_error(text):
    found = re.search(r"^(?:\S+: )?error: (.*)$", text, re.MULTILINE) or re.search(r"(mapping \d+ .*)$", text,
                                                                                re.MULTILINE)
    return found.group(1) if found else text.strip().splitlines()[-1] if text.strip() else "?"


def load(sluice, case):
    """Exit status, message and files of the first way that is not of other dimensions or components."""
    for files in case.ways:
        status, message = load_with(sluice, files, dict(case.variables))
        if not OF_ANOTHER_JOB.search(message):
            return status, message, files
    return status, message, files


def load_with(sluice, files, variables):
    """Exit status and message; variables that a template misses get usual values."""
    while True:
        status, text = run(sluice, files, variables)
        missing = UNDEFINED.search(text)
        if status == 0 or not missing or missing.group(1) in variables or not USUAL.get(missing.group(1)):
            return status, "" if status == 0 else first_error(text)
        variables[missing.group(1)] = USUAL[missing.group(1)]


def cases_of(checkout):
    files = spec_files.spec_files(checkout)
    for file in files:
        if ENTRY.match(file.path.name) and "architecture" in file.text and "cwd() ~ '/' ~ architecture" in file.text:
            for arch in sorted(file.path.parent.rglob("arch.yaml")):
                name = arch.parent.relative_to(file.path.parent)
                yield "entry point", spec_files.Case(file, [[file.path]], {"architecture": str(name)})
            continue
        if spec_files.is_part(file, checkout):
            continue
        yield file.kind, spec_files.Case(file, list(spec_files.jobs(file, files, checkout)))


def generalized(message):
    return re.sub(r"'[^']*'|`[^`]*`|\d+(\.\d+)?", "…", message)[:150]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkouts", nargs="+", type=Path)
    parser.add_argument("--sluice", required=True)
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--only", help="a part of the path of the files to load")
    parser.add_argument("--without", help="a part of the path of files to leave out")
    options = parser.parse_args()
    listed = refusals(Path(__file__).resolve().parents[2] / "docs" / "importing.md")
    rows = []
    for checkout in options.checkouts:
        checkout = checkout.resolve()
        cases = [(kind, case) for kind, case in cases_of(checkout)
                 if (not options.only or options.only in str(case.file.path)) and
                 not (options.without and options.without in str(case.file.path))]
        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda case: load(options.sluice, case[1]), cases))
        for (kind, case), (status, message, files) in zip(cases, results):
            outcome = "loads" if status == 0 else "refused" if any(p.search(message) for p in listed) else "fails"
            if status > 4 or status < 0:
                outcome = "crashes"
            rows.append([checkout.name, kind, case.file.tool, outcome, message,
                         " ".join(str(f.relative_to(checkout)) for f in files),
                         " ".join(f"{k}={v}" for k, v in case.variables.items())])
    print_tables(rows)
    if options.csv:
        with open(options.csv, "w", newline="") as out:
            csv.writer(out).writerows([["checkout", "kind", "tool", "outcome", "message", "files", "variables"], *rows])
    bad = sum(row[3] in ("fails", "crashes") for row in rows)
    sys.exit(0 if rows and bad <= 0.02 * len(rows) else 1)


def print_tables(rows):
    counts = defaultdict(Counter)
    for row in rows:
        counts[(row[2], row[1])][row[3]] += 1
        counts[("all", "")][row[3]] += 1
    print(f"{'tool':12}{'kind':14}{'files':>7}{'loads':>8}{'refused':>9}{'fails':>7}   loads or refused")
    for (tool, kind), of in sorted(counts.items(), key=lambda item: (item[0][0] == "all", item[0])):
        total, bad = sum(of.values()), of["fails"] + of["crashes"]
        print(f"{tool:12}{kind:14}{total:7}{of['loads']:8}{of['refused']:9}{bad:7}   {100 * (1 - bad / total):.1f} %")
    for outcome in ("refused", "fails", "crashes"):
        reasons = defaultdict(list)
        for row in rows:
            if row[3] == outcome:
                reasons[generalized(row[4])].append(row[5])
        if reasons:
            print(f"\n{outcome}, by reason")
        for reason, files in sorted(reasons.items(), key=lambda item: -len(item[1])):
            print(f"{len(files):5}  {reason}\n         e.g. {files[0]}")


if __name__ == "__main__":
    main()
