"""Figures 7 to 14 of the COMET paper, evaluated again: data as CSV, plots, and the paper's claims beside ours."""

import argparse
from pathlib import Path

import figures
from attention import TEMPLATES as VARIANTS
from cases import ATTENTIONS, GEMMS, search, search_attention
from claims import claims
from evaluation import Sluice
from templates import LAYERNORM, SOFTMAX, TEMPLATES


FREE = {  # what the paper leaves open, and what it gives and matters most
    "SIMD lanes": {"half": {"LANES": 128}, "twice": {"LANES": 512}},
    "core buffer bandwidth": {"half": {"CORE_BANDWIDTH": "2 TB/s"}, "twice": {"CORE_BANDWIDTH": "8 TB/s"}},
    "technology of the energies": {"45 nm": {"TECHNOLOGY": 45}},
    "bits per value": {"8": {"BITS": 8}, "32": {"BITS": 32}},
}


def search_all(sluice, cases, attentions, variations):
    found = {}
    for operation in (SOFTMAX, LAYERNORM):
        for case in cases:
            for template in TEMPLATES:
                found[operation.workload, case, template] = search(sluice, operation, case, template, variations)
    for case in attentions:
        for template in VARIANTS:
            found["self_attention", case, template] = search_attention(sluice, case, template, variations)
    return found


def means(found):
    """Geometric means over the cases, unfused over fused, in the order of figures.MEANS."""
    return [figures.geometric_mean(g for _, g in figures.gains(found, *which)) for which in figures.MEANS]


def main():
    parser = argparse.ArgumentParser(prog="run", description=__doc__)
    parser.add_argument("--sluice", required=True, help="the program")
    parser.add_argument("--output", type=Path, default=Path("comet-results"))
    parser.add_argument("--set", dest="variations", action="append", default=[], metavar="NAME=VALUE",
                        help="a variable of the architectures, to see what moves the results")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="two cases: does it run?")
    parser.add_argument("--sensitivity", action="store_true", help="also with half and twice of each free parameter")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    sluice = Sluice(options.sluice)
    variations = dict(setting.split("=", 1) for setting in options.variations)
    cases = [1, 8] if options.quick else list(GEMMS)
    attentions = [2, 4] if options.quick else list(ATTENTIONS)
    found = search_all(sluice, cases, attentions, variations)
    figures.write_cases(found, options.output / "figures7_10_11_12.csv")
    parts = figures.breakdowns(sluice, found)
    figures.write_breakdowns(parts, options.output)
    figures.plot(found, parts, options.output)
    claims(found, parts, options.output / "claims.csv")
    if options.sensitivity:
        rows = [["as published", *means(found)]]
        for name, settings in FREE.items():
            for label, values in settings.items():
                rows.append([f"{name} {label}", *means(search_all(sluice, cases, attentions, {**variations, **values}))])
        figures.write_sensitivity(rows, options.output)


if __name__ == "__main__":
    main()
