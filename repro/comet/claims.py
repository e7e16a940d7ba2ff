"""What the paper says of its figures, and whether it holds here."""

from dataclasses import dataclass

from results import DISTRIBUTED, FUSED, SINGLE, TEXT, geometric_mean
from tables_and_plots import write_csv

NAMES = {
    "gemm_softmax": "GEMM-Softmax",
    TEXT: "GEMM-Softmax with all-reduces of M x N values",
    "gemm_layernorm": "GEMM-LayerNorm",
}
EDGE = range(1, 7)
LARGE = (9, 11, 12)
REASONS = {  # of claims that do not hold here: words of the claim, what the breakdowns say
    "on one core less time in collectives": "a gather by halving among P = 256 cores sends M x N values log2 P / 2 = 4 times; the two"
    " all-reduces send a few values a row, or (of M x N / P values a core) 2 x 2 times as many as the gather's M x N",
    "all fused mappings faster": "one core behind the GEMM has a SIMD unit of 32 to 256 lanes for what all cores of the unfused mapping share",
    "SIMD dominates on one core": "256 lanes work off a row faster than the mesh brings it",
    "fused_gemm_single slowest of the fused": "with one row there is little to do behind the GEMM, and fused_dist still goes through DRAM",
    "values, edge: fused_gemm_single slower": "on the edge the all-reduces of M x N values take longer than one core's SIMD unit",
    "fused_gemm_single slower than the other": "with 256 lanes one core is as fast as the detour of fused_dist through DRAM",
    "DRAM dominates energy": "between global buffers and cores, values cross meshes with hops of 6.6 to 26 mm of wire, as long as a"
    " core's or a cluster's edge (the paper gives no floor plan); DDR4 at 5 pJ/bit is without pins",
    "differs little": "all-reduces of M x N values cost as much energy as all other transfers of a large GEMM",
    "compulsory stalls dominate": "on the edge the meshes (2 ns for each 256 bits, of every receiver) are slower than DRAM; with faster ones optional"
    " stalls remain, where one output buffer of rows follows another",
    "flash raises SIMD time": "flash divides M x L values once at the end, the unfused softmax M x N values, and a division takes five steps",
    "flash lowers collective time": "every core (or cluster) that has rows gets all of K and V, for each tile of rows that fits into OB beside"
    " the running sums, and a multicast counts every receiver; unfused, cores take columns",
    "geometric mean energy": "the fastest mapping has rows in all cores and sends K and V to each; 1.39 with DRAM at 20 pJ/bit and a tenth of the"
    " hop energy",
    "unfused over flash": "K and V go to all cores that have rows, and the time for it (implicit collectives) counts every receiver",
    "flash lower in latency": "K and V go to all cores that have rows (implicit collectives); where M = 1 the all-reduces of the numerator"
    " weigh more than what is not moved",
    "lower in energy": "the fastest mapping has rows in all cores and sends K and V to each",
}


@dataclass
class Claim:
    claim: str
    where: str
    paper: str
    ours: str
    holds: bool
    reason: str = ""  # why it does not hold here, where that follows from the results


def claims(results):
    for workload in NAMES:
        yield from _of_a_gemm(workload, results)
    yield from _of_attention(results)


@dataclass
class Judged:
    """A claim, the same in the joint variant (none where that changes nothing), and the variants that turn it alone."""

    claim: Claim
    joint: Claim | None = None
    turned_by: tuple = ()

    def row(self):
        claim = self.claim
        reason = "" if claim.holds else claim.reason or reason_of(claim)
        joint = [self.joint.ours, _word(self.joint.holds)] if self.joint else ["", ""]
        return [claim.claim, claim.where, claim.paper, claim.ours, _word(claim.holds), *joint, "; ".join(self.turned_by), reason]


HEADER = ["claim", "where", "paper", "ours", "holds", "joint", "holds_jointly", "turned_by_one", "reason"]


def _word(holds):
    return "yes" if holds else "no"


def with_wide(claim):
    """The same claim of all-reduces of M x N values, which the joint variant has."""
    return claim.claim.replace(NAMES["gemm_softmax"], NAMES[TEXT], 1) if not claim.claim.startswith(NAMES[TEXT]) else claim.claim


def judged(base, joint, others):
    """Each claim with what it is in the joint variant, and with the names of the variants in which alone it holds."""
    elsewhere = {name: {claim.claim: claim for claim in claims(results)} for name, results in others.items()}
    known = {claim.claim: claim for claim in claims(base)}
    together = {claim.claim: claim for claim in claims(joint)}
    for claim in known.values():
        turns = []
        if not claim.holds:
            turns = [name for name, found in elsewhere.items() if found[claim.claim].holds]
            if with_wide(claim) != claim.claim and known[with_wide(claim)].holds:
                turns.insert(0, "all-reduces of M x N values")
        yield Judged(claim, together[with_wide(claim)], tuple(turns))


def reason_of(claim):
    return next((why for words, why in REASONS.items() if words in claim.claim), "")


def write_claims(rows, path):
    table = [judged.row() for judged in rows]
    write_csv(path, HEADER, table)
    for row in table:
        print(f"  {row[4]:3} jointly {row[6] or '-':3} {row[0]}: {row[3]}")


def _of_a_gemm(workload, results):
    name, cases, softmax = NAMES[workload], results.cases(workload), workload != "gemm_layernorm"
    latency = lambda case, template: results.found[workload, case, template].latency_s  # noqa: E731
    means = {t: geometric_mean(gain for _, gain in results.gains(workload, t)) for t in FUSED}
    best, paper = results.best_gain(workload), 1.42 if softmax else 3.46
    yield Claim(f"{name}: geometric mean latency, unfused over fused", "V-D1", f"{paper}",
                f"best of each case {best:.2f}: " + ", ".join(f"{t} {mean:.2f}" for t, mean in means.items()),
                abs(best / paper - 1) <= 0.1)  # fmt: skip
    energies = {t: list(results.gains(workload, t, "energy_j")) for t in FUSED}
    yield Claim(f"{name}: fused energy below unfused", "V-D1, Fig. 11", "all",
                ", ".join(f"{t} {geometric_mean(g for _, g in gains):.2f} times less" for t, gains in energies.items()),
                all(gain > 1 for gains in energies.values() for _, gain in gains))  # fmt: skip
    behind = {t: [c for c, gain in results.gains(workload, t) if gain <= 1] for t in FUSED}
    yield Claim(f"{name}: all fused mappings faster than unfused", "V-D1, Fig. 10", "always",
                "; ".join(f"{t} {_but(those)}" for t, those in behind.items() if those) or "in all cases",
                not any(behind.values()))  # fmt: skip
    slower = [c for c in cases if latency(c, DISTRIBUTED) >= latency(c, "fused_dist")]
    yield Claim(f"{name}: fused_gemm_dist faster than fused_dist", "V-D1, Fig. 10", "always", _but(slower), not slower)
    yield _memory(workload, results)
    if softmax:
        edge = [c for c in cases if c in EDGE]
        worse = [c for c in edge if latency(c, SINGLE) > max(latency(c, "fused_dist"), latency(c, DISTRIBUTED))]
        yield Claim(f"{name}, edge: fused_gemm_single slower than the other fused ones", "V-D1, Fig. 10", "GEMM1-6",
                    _these(worse), worse == edge)  # fmt: skip
    else:
        others = [c for c in cases if latency(c, DISTRIBUTED) > min(latency(c, t) for t in FUSED)]
        yield Claim(f"{name}: fused_gemm_dist always lowest", "V-D1, Fig. 10", "always", _but(others), not others)
        others = [c for c in cases if latency(c, SINGLE) < max(latency(c, t) for t in FUSED)]
        yield Claim(f"{name}: fused_gemm_single slowest of the fused", "V-D1, Fig. 10", "always", _but(others), not others)
    yield from _of_breakdowns(workload, results)


def _memory(workload, results):
    """The paper does not say which tile of rows it gives the one core."""
    outside = []
    for case in results.cases(workload):
        best = results.found[workload, case, DISTRIBUTED]
        whole = best.row_tile() is None
        fitting = results.found[workload, case, SINGLE].row_tiles
        if not (None in fitting or not whole and any(rows >= best.row_tile() for rows in fitting)):
            outside.append(case)
    none_fits = [case for case in results.cases(workload) if results.found[workload, case, SINGLE].out_of_memory]
    reason = (
        f"with as many rows at a time as the best fused_gemm_dist takes, {_these(outside)} are out of memory; fewer rows fit"
        if outside
        else ""
    )
    return Claim(f"{NAMES[workload]}: one core behind the GEMM goes out of memory", "V-C1, Fig. 7", "some",
                 _these(none_fits), bool(none_fits), reason)  # fmt: skip


def _of_breakdowns(workload, results):
    name, cases = NAMES[workload], results.cases(workload)
    large = [case for case in LARGE if case in cases]
    together = lambda case, template: as_in_the_paper(results.parts[workload, case, template]["latency"])  # noqa: E731

    def largest(case, template):
        latency = together(case, template)
        return max(latency, key=latency.get)

    listed = lambda of, template: ", ".join(f"GEMM{c} {largest(c, template)}" for c in of)  # noqa: E731
    if workload != "gemm_layernorm" and large:
        yield Claim(f"{name}, GEMM9, 11, 12: collectives dominate fused_gemm_dist", "V-C2, Fig. 8", "yes",
                    listed(large, DISTRIBUTED), all(largest(c, DISTRIBUTED) == "collectives" for c in large))  # fmt: skip
        seconds = lambda c, t: together(c, t)["collectives"]  # noqa: E731
        yield Claim(f"{name}, GEMM9, 11, 12: on one core less time in collectives", "V-C2, V-D1, Fig. 8", "yes",
                    ", ".join(f"GEMM{c} {1e6 * seconds(c, SINGLE):.0f} us against {1e6 * seconds(c, DISTRIBUTED):.0f} us"
                              for c in large),
                    all(seconds(c, SINGLE) < seconds(c, DISTRIBUTED) for c in large))  # fmt: skip
    if workload == "gemm_layernorm":
        yield Claim(f"{name}: compulsory stalls dominate fused_gemm_dist", "V-C2, Fig. 8", "all", listed(cases, DISTRIBUTED),
                    all(largest(c, DISTRIBUTED) == "compulsory_stall" for c in cases))  # fmt: skip
    else:
        small = [c for c in cases if c in (1, 2, 4, 7, 8)]
        yield Claim(f"{name}, GEMM1, 2, 4, 7, 8: compulsory stalls dominate fused_gemm_dist", "V-C2, Fig. 8", "yes",
                    listed(small, DISTRIBUTED),
                    all(largest(c, DISTRIBUTED) == "compulsory_stall" for c in small))  # fmt: skip
    if large:
        yield Claim(f"{name}, GEMM9, 11, 12: SIMD dominates on one core", "V-C2, Fig. 8", "yes", listed(large, SINGLE),
                    all(largest(c, SINGLE) == "simd" for c in large))  # fmt: skip
    energies = {(c, t): results.parts[workload, c, t]["energy"] for c in cases for t in (SINGLE, DISTRIBUTED)}
    shares = [energy["DRAM"] / sum(energy.values()) for energy in energies.values()]
    others = sorted({c for (c, _), energy in energies.items() if max(grouped(energy).values()) > energy["DRAM"]})
    yield Claim(f"{name}: DRAM dominates energy", "V-C3, Fig. 9", "all",
                f"shares {min(shares):.2f} to {max(shares):.2f}; largest part {_but(others)}", not others)  # fmt: skip
    found = results.found
    ratios = [found[workload, c, SINGLE].energy_j / found[workload, c, DISTRIBUTED].energy_j for c in cases]
    yield Claim(f"{name}: energy on one core and distributed differs little", "V-C3, V-D1, Fig. 7", "little",
                f"{min(ratios):.2f} to {max(ratios):.2f} times", all(0.8 <= ratio <= 1.25 for ratio in ratios))  # fmt: skip


def as_in_the_paper(latency):
    """Implicit collectives are collectives."""
    latency = dict(latency)
    latency["collectives"] += latency.pop("implicit_collectives")
    return latency


def grouped(energy):
    """DRAM, memories on chip, networks, computes."""
    groups = {"DRAM": 0, "memories": 0, "networks": 0, "computes": 0}
    for name, joules in energy.items():
        group = "networks" if name.endswith("Mesh") else "computes" if name in ("PE", "SIMD") else "memories"
        groups["DRAM" if name == "DRAM" else group] += joules
    return groups


def _of_attention(results):
    name = "self_attention"
    cases = results.cases(name)
    for quantity, paper, where in (("latency_s", 1.82, "Fig. 12a"), ("energy_j", 1.54, "Fig. 12b")):
        what = quantity.split("_")[0]
        gains = {t: list(results.gains(name, t, quantity)) for t in ("partially_fused", "flash")}
        means = {t: geometric_mean(gain for _, gain in pairs) for t, pairs in gains.items()}
        yield Claim(f"Attention: geometric mean {what}, unfused over flash", f"V-D2, {where}", f"{paper}",
                    ", ".join(f"{t} {mean:.2f}" for t, mean in means.items()), abs(means["flash"] / paper - 1) <= 0.1)  # fmt: skip
        for t, pairs in gains.items():
            slower = [case for case, gain in pairs if gain <= 1]
            yield Claim(f"Attention: {t} lower in {what} than unfused", f"V-D2, {where}", "always",
                        _but(slower, "Attn"), not slower)  # fmt: skip
    part = lambda case, template: as_in_the_paper(results.parts[name, case, template]["latency"])  # noqa: E731
    dram = lambda case, template: results.parts[name, case, template]["energy"]["DRAM"]  # noqa: E731
    others = [case for case in cases if case not in (2, 3, 4, 8, 9, 10)]  # "for other operations"
    checks = (
        ("flash raises SIMD time where rows are many", "V-D2, Fig. 13", others,
         lambda c: part(c, "flash")["simd"] > part(c, "unfused")["simd"]),
        ("flash lowers collective time where rows are many", "V-D2, Fig. 13", others,
         lambda c: part(c, "flash")["collectives"] < part(c, "unfused")["collectives"]),
        ("flash lowers off-chip energy", "V-D2, Fig. 14", cases,
         lambda c: dram(c, "flash") < min(dram(c, "unfused"), dram(c, "partially_fused"))),
    )  # fmt: skip
    for claim, where, those, holds in checks:
        fails = [case for case in those if not holds(case)]
        yield Claim(f"Attention: {claim}", where, "yes", _but(fails, "Attn"), not fails)
    little = {case: gain for case, gain in results.gains(name, "flash") if case in (2, 3, 4)}
    more = {case: gain for case, gain in results.gains(name, "flash") if case in (8, 9, 10)}
    if little and more:
        text = lambda group: ", ".join(f"Attn{case} {gain:.3f}" for case, gain in group.items())  # noqa: E731
        yield Claim("Attention: edge Attn2-4 gain little, cloud Attn8-10 more", "V-D2, Fig. 12", "yes",
                    f"{text(little)}; {text(more)}",
                    max(little.values()) < 1.1 and geometric_mean(more.values()) > geometric_mean(little.values()))  # fmt: skip


def _but(cases, name="GEMM"):
    return "but for " + ", ".join(f"{name}{case}" for case in cases) if cases else "in all cases"


def _these(cases):
    return ", ".join(f"GEMM{case}" for case in cases) or "none"
