"""Figure 8: distance of each mapper from the optimum over time."""

import statistics

from searches import HERE, STOCHASTIC, edp, percent_off
from tables_and_plots import pyplot, save, write_csv


def run(sluice, options):
    if options.quick:
        problem = ["ffm_chain", options.architecture, "--set", "N_EINSUMS=2"]
    else:
        problem = [HERE / "gpt3.yaml", options.architecture, "--set", f"BATCH={options.batch}"]
    fused = sluice.map(*problem)
    optimum, fused_seconds = edp(fused), fused["search"]["seconds"]
    curves = {mapper: sluice.sample(problem, mapper, options.seconds, options.seeds) for mapper in STOCHASTIC}
    write_points(curves, optimum, options.output / "figure8_points.csv")
    times = grid(options.seconds)
    summary = [
        (mapper, f"{time:.3f}", f"{time / fused_seconds:.3f}", f"{mean:.3f}", f"{deviation:.3f}")
        for mapper, found in curves.items()
        for time, mean, deviation in over_time(found, times, optimum)
    ]
    header = ["mapper", "seconds", "times_fused", "mean_percent_off", "deviation"]
    write_csv(options.output / "figure8.csv", header, summary)
    print(f"Figure 8, {options.architecture}: fused {fused_seconds:.2f} s, EDP {optimum:.6g} J·s (optimal)")
    for mapper, found in curves.items():
        tell(mapper, found, optimum, fused_seconds)
    plot(curves, times, optimum, fused_seconds, options)


def tell(mapper, documents, optimum, fused_seconds):
    last = [percent_off(edp(document), optimum) for document in documents]
    evaluations = statistics.mean(document["search"]["mappings_evaluated"] for document in documents)
    seconds = statistics.mean(document["search"]["seconds"] for document in documents)
    deviation = statistics.stdev(last) if len(last) > 1 else 0
    print(
        f"  {mapper:10} {statistics.mean(last):8.2f} % off (± {deviation:.2f}, best seed {min(last):.2f}) after"
        f" {seconds:.1f} s = {seconds / fused_seconds:.1f} times fused, {evaluations:.0f} evaluations a seed"
    )


def grid(seconds, points=60):
    first = min(0.1, seconds / 10)
    return [first * (seconds / first) ** (i / (points - 1)) for i in range(points)]


def best_by(document, time):
    found = [p["objective"] for p in document["search"]["convergence"] if p["seconds"] <= time]
    return found[-1] if found else None


def over_time(documents, times, optimum):
    """Mean and deviation over the seeds, from when each has found something."""
    for time in times:
        best = [best_by(document, time) for document in documents]
        if None in best:
            continue
        off = [percent_off(value, optimum) for value in best]
        yield time, statistics.mean(off), statistics.stdev(off) if len(off) > 1 else 0


def write_points(curves, optimum, path):
    rows = [
        (mapper, document["seed"], point["evaluations"], f"{point['seconds']:.4f}", point["objective"],
         f"{percent_off(point['objective'], optimum):.4f}")
        for mapper, documents in curves.items()
        for document in documents
        for point in document["search"]["convergence"]
    ]  # fmt: skip
    write_csv(path, ["mapper", "seed", "evaluations", "seconds", "edp_js", "percent_off"], rows)


def plot(curves, times, optimum, fused_seconds, options):
    plots = pyplot()
    if plots is None:
        return
    figure, axes = plots.subplots(figsize=(6, 4))
    for mapper, documents in curves.items():
        points = list(over_time(documents, times, optimum))
        if not points:
            continue
        x, mean, deviation = zip(*points)
        axes.plot([t / fused_seconds for t in x], mean, label=mapper)
        low = [max(m - d, 1e-2) for m, d in zip(mean, deviation)]
        axes.fill_between([t / fused_seconds for t in x], low, [m + d for m, d in zip(mean, deviation)], alpha=0.2)
    axes.axvline(1, color="black", linestyle="--", label="fused is done: optimal")
    axes.axhline(1, color="grey", linewidth=0.5)
    axes.set(xscale="log", yscale="log", xlabel="time / time of the fused mapper", ylabel="% above the optimal EDP")
    axes.set_title(f"GPT-3 6.7B layer, {options.architecture}, {options.seeds} seeds")
    axes.legend(fontsize=8)
    save(figure, options.output / "figure8.png")
