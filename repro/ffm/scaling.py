"""Figure 9: time of the fused mapper, and of the others to within 5 % of the optimum, over the length of a chain."""

import statistics

from searches import STOCHASTIC, edp
from tables_and_plots import pyplot, save, write_csv

WITHIN = 1.05


def run(sluice, options):
    lengths = [1, 2] if options.quick else [n for n in (1, 2, 4, 8, 16, 32, 64) if n <= options.longest]
    rows = []
    for length in lengths:
        problem = ["ffm_chain", options.architecture, "--set", f"N_EINSUMS={length}"]
        fused = sluice.map(*problem)
        seconds, distinct = fused["search"]["seconds"], f"{fused['search']['mappings_considered']:.3g}"
        rows.append((length, "fused", f"{seconds:.4f}", f"{seconds / length:.4f}", 0, distinct))
        print(f"Figure 9: {length:3} Einsums, fused {seconds:.2f} s, {seconds / length:.3f} s an Einsum", flush=True)
        if length <= options.compared:
            rows += compare(sluice, options, problem, length, fused)
    header = ["einsums", "mapper", "seconds", "seconds_per_einsum", "timeouts", "mappings_covered"]
    write_csv(options.output / "figure9.csv", header, rows)
    plot(rows, options)


def compare(sluice, options, problem, length, fused):
    timeout = options.timeout * fused["search"]["seconds"]
    for mapper in STOCHASTIC:
        documents = sluice.sample(problem, mapper, timeout, options.seeds)
        times = [seconds_to(document, WITHIN * edp(fused)) for document in documents]
        reached = [time for time in times if time is not None]
        missed = len(times) - len(reached)
        mean = statistics.mean(reached) if reached else float("nan")
        print(f"  {mapper:10} within 5 % on {len(reached)} of {len(times)} seeds, mean {mean:.2f} s, timeout {timeout:.1f} s",
              flush=True)  # fmt: skip
        yield (length, mapper, f"{mean:.4f}" if reached else "", f"{mean / length:.4f}" if reached else "", missed, "")


def seconds_to(document, objective):
    for point in document["search"]["convergence"]:
        if point["objective"] <= objective:
            return point["seconds"]
    return None


def plot(rows, options):
    plots = pyplot()
    if plots is None:
        return
    figure, (total, each) = plots.subplots(1, 2, figsize=(9, 3.5))
    for mapper in ["fused", *STOCHASTIC]:
        # As in the paper, a mapper has timed out where most seeds have.
        own = [r for r in rows if r[1] == mapper and r[2] and r[4] <= options.seeds / 2]
        total.plot([r[0] for r in own], [float(r[2]) for r in own], marker="o", label=mapper)
        each.plot([r[0] for r in own], [float(r[3]) for r in own], marker="o", label=mapper)
        late = [r[0] for r in rows if r[1] == mapper and r[4] > options.seeds / 2]
        total.plot(late, [max(float(r[2]) for r in rows if r[2]) * options.timeout] * len(late), "x", color="grey")
    for axes, label in [(total, "seconds (x: timed out)"), (each, "seconds per Einsum")]:
        axes.set(xscale="log", yscale="log", xlabel="Einsums in the chain", ylabel=label)
    total.legend(fontsize=8)
    save(figure, options.output / "figure9.png")
