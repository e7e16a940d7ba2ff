"""What the paper says of Figures 7 to 11, and whether it holds here."""

from figures import DISTRIBUTED, SINGLE, cases_of, gains, geometric_mean, write_csv

REASONS = {
    "DRAM dominates energy": "each value that a global buffer sends to the cores is paid by every mesh hop (implicit collectives);"
    " DDR4 without pins is cheaper than what the paper seems to use",
    "goes out of memory": "the search takes fewer rows at a time until they fit",
    "compulsory stalls dominate": "implicit collectives over the meshes are counted apart here",
    "SIMD dominates on one core": "256 lanes; the mesh to the one core is slower than its SIMD unit",
}
EDGE = range(1, 7)


def claims(found, parts, path):
    rows = [claim for workload in ("gemm_softmax", "gemm_layernorm") for claim in _of(workload, found, parts)]
    rows += _of_attention(found, parts)
    write_csv(path, ["claim", "where", "paper", "ours", "holds", "reason"], rows)
    for row in rows:
        print(f"  {row[4]:4} {row[0]}: {row[3]}")


def _of(workload, found, parts):
    softmax = workload == "gemm_softmax"
    name = "GEMM-Softmax" if softmax else "GEMM-LayerNorm"
    cases = cases_of(found, workload)
    latency = lambda case, template: found[workload, case, template].latency_s  # noqa: E731
    fits = lambda case, template: found[workload, case, template].legal > 0  # noqa: E731
    paper = 1.42 if softmax else 3.46
    means = {t: geometric_mean(gain for _, gain in gains(found, workload, t)) for t in ("fused_dist", SINGLE, DISTRIBUTED)}
    best = geometric_mean(
        max(gain for t in means for c, gain in gains(found, workload, t) if c == case) for case in cases
    )
    yield _row(f"{name}: geometric mean latency, unfused over fused", "V-D1", f"{paper}",
               ", ".join(f"{t} {mean:.2f}" for t, mean in means.items()) + f", best of each case {best:.2f}",
               abs(best / paper - 1) <= 0.1)  # fmt: skip
    energies = {t: geometric_mean(gain for _, gain in gains(found, workload, t, "energy_j")) for t in means}
    yield _row(f"{name}: fused energy below unfused", "V-D1, Fig. 11", "all",
               ", ".join(f"{t} {gain:.2f} times less" for t, gain in energies.items()),
               all(gain > 1 for t in means for _, gain in gains(found, workload, t, "energy_j")))  # fmt: skip
    slower = [case for case in cases if latency(case, DISTRIBUTED) >= latency(case, "fused_dist")]
    yield _row(f"{name}: fused_gemm_dist faster than fused_dist", "V-D1, Fig. 10", "always", _but(slower), not slower)
    memory = [case for case in cases if not fits(case, SINGLE)]
    yield _row(f"{name}: one core behind the GEMM goes out of memory", "V-C1, Fig. 7", "some", f"{memory or 'none'}", bool(memory))
    if softmax:
        worse = [c for c in cases if c in EDGE and fits(c, SINGLE)
                 and latency(c, SINGLE) > max(latency(c, "fused_dist"), latency(c, DISTRIBUTED))]  # fmt: skip
        edge = [c for c in cases if c in EDGE]
        yield _row("GEMM-Softmax, edge: fused_gemm_single slower than the other fused ones", "V-D1, Fig. 10", "GEMM1-6",
                   f"{worse or 'none'}", worse == edge)  # fmt: skip
    else:
        lowest = [c for c in cases if all(not fits(c, t) or latency(c, DISTRIBUTED) <= latency(c, t) for t in means)]
        yield _row("GEMM-LayerNorm: fused_gemm_dist always lowest", "V-D1, Fig. 10", "always",
                   _but([c for c in cases if c not in lowest]), lowest == cases)  # fmt: skip
        slowest = [c for c in cases if fits(c, SINGLE) and all(latency(c, SINGLE) >= latency(c, t) for t in means)]
        fitting = [c for c in cases if fits(c, SINGLE)]
        yield _row("GEMM-LayerNorm: fused_gemm_single slowest of the fused", "V-D1, Fig. 10", "always",
                   _but([c for c in fitting if c not in slowest]), slowest == fitting)  # fmt: skip
    yield from _breakdown_claims(workload, name, softmax, found, parts)


def _breakdown_claims(workload, name, softmax, found, parts):
    cases = cases_of(found, workload)

    def largest(case, template):
        latency = together(case, template)
        return max(latency, key=latency.get)

    def together(case, template):
        return _as_in_the_paper(parts[workload, case, template]["latency"])

    large = [case for case in (9, 11, 12) if case in cases]
    if softmax and large:
        dominated = [c for c in large if largest(c, DISTRIBUTED) == "collectives"]
        yield _row("GEMM-Softmax, GEMM9, 11, 12: collectives dominate fused_gemm_dist", "V-C2, Fig. 8", "yes",
                   ", ".join(f"GEMM{c} {largest(c, DISTRIBUTED)}" for c in large), dominated == large)  # fmt: skip
        fitting = [c for c in large if (workload, c, SINGLE) in parts]
        seconds = lambda c, t: together(c, t)["collectives"]  # noqa: E731
        lower = [c for c in fitting if seconds(c, SINGLE) < seconds(c, DISTRIBUTED)]
        yield _row("GEMM-Softmax, GEMM9, 11, 12: on one core less time in collectives", "V-C2, Fig. 8", "yes",
                   ", ".join(f"GEMM{c} {seconds(c, SINGLE):.3g} s against {seconds(c, DISTRIBUTED):.3g} s" for c in fitting),
                   bool(fitting) and lower == fitting)  # fmt: skip
    if not softmax:
        stalls = {c: largest(c, DISTRIBUTED) for c in cases}
        yield _row("GEMM-LayerNorm: compulsory stalls dominate fused_gemm_dist", "V-C2, Fig. 8", "all",
                   ", ".join(f"GEMM{c} {part}" for c, part in stalls.items()),
                   all(part == "compulsory_stall" for part in stalls.values()))  # fmt: skip
    simd = [c for c in large if (workload, c, SINGLE) in parts]
    if simd:
        yield _row(f"{name}, GEMM9, 11, 12: SIMD dominates on one core", "V-C2, Fig. 8", "yes",
                   ", ".join(f"GEMM{c} {largest(c, SINGLE)}" for c in simd),
                   all(largest(c, SINGLE) == "simd" for c in simd))  # fmt: skip
    shares = [part["energy"]["DRAM"] / sum(part["energy"].values()) for (w, _, t), part in parts.items()
              if w == workload and t in (SINGLE, DISTRIBUTED)]  # fmt: skip
    yield _row(f"{name}: DRAM dominates energy", "V-C3, Fig. 9", "all", f"shares {min(shares):.2f} to {max(shares):.2f}",
               min(shares) > 0.5)  # fmt: skip
    ratios = [found[workload, c, SINGLE].energy_j / found[workload, c, DISTRIBUTED].energy_j for c in cases
              if (workload, c, SINGLE) in parts]  # fmt: skip
    yield _row(f"{name}: energy on one core and distributed differs little", "V-C3, Fig. 7", "little",
               f"{min(ratios):.2f} to {max(ratios):.2f} times", all(0.8 <= ratio <= 1.25 for ratio in ratios))  # fmt: skip


def _as_in_the_paper(latency):
    """Implicit collectives are collectives; compulsory and optional stalls apart."""
    latency = dict(latency)
    latency["collectives"] += latency.pop("implicit_collectives")
    return latency


def _of_attention(found, parts):
    name = "self_attention"
    cases = cases_of(found, name)
    part = lambda case, template: _as_in_the_paper(parts[name, case, template]["latency"])  # noqa: E731
    for quantity, paper, where in (("latency_s", 1.82, "Fig. 12a"), ("energy_j", 1.54, "Fig. 12b")):
        means = {t: geometric_mean(gain for _, gain in gains(found, name, t, quantity)) for t in ("partially_fused", "flash")}
        yield _row(f"Attention: geometric mean {quantity.split('_')[0]}, unfused over flash", f"V-D2, {where}", f"{paper}",
                   ", ".join(f"{t} {mean:.2f}" for t, mean in means.items()), abs(means["flash"] / paper - 1) <= 0.1)  # fmt: skip
        slower = [case for t in means for case, gain in gains(found, name, t, quantity) if gain <= 1]
        yield _row(f"Attention: fused variants always lower in {quantity.split('_')[0]}", f"V-D2, {where}", "always",
                   _but(sorted(set(slower)), "Attn"), not slower)  # fmt: skip
    both = [case for case in cases if (name, case, "flash") in parts and (name, case, "unfused") in parts]
    checks = (
        ("flash raises SIMD time", "V-D2, Fig. 13", lambda c: part(c, "flash")["simd"] > part(c, "unfused")["simd"]),
        ("flash lowers collective time", "V-D2, Fig. 13",
         lambda c: part(c, "flash")["collectives"] < part(c, "unfused")["collectives"]),
        ("flash lowers off-chip energy", "V-D2, Fig. 14",
         lambda c: parts[name, c, "flash"]["energy"]["DRAM"] < parts[name, c, "unfused"]["energy"]["DRAM"]),
    )  # fmt: skip
    for claim, where, holds in checks:
        fails = [case for case in both if not holds(case)]
        yield _row(f"Attention: {claim}", where, "yes", _but(fails, "Attn"), not fails)
    little = {case: gain for case, gain in gains(found, name, "flash") if case in (2, 3, 4)}
    more = {case: gain for case, gain in gains(found, name, "flash") if case in (8, 9, 10)}
    if little and more:
        text = lambda group: ", ".join(f"Attn{case} {gain:.2f}" for case, gain in group.items())  # noqa: E731
        yield _row("Attention: edge Attn2-4 gain little, cloud Attn8-10 more", "V-D2, Fig. 12", "yes",
                   f"{text(little)}; {text(more)}", geometric_mean(more.values()) > geometric_mean(little.values()))  # fmt: skip


def _but(cases, name="GEMM"):
    return "but for " + ", ".join(f"{name}{case}" for case in cases) if cases else "in all cases"


def _row(claim, where, paper, ours, holds):
    reason = next((why for words, why in REASONS.items() if words in claim), "not looked into yet")
    return [claim, where, paper, ours, "yes" if holds else "no", "" if holds else reason]
