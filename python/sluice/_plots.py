"""Plots of results with matplotlib: each draws into ``ax``, or into a new figure, and returns the axes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Optional

from ._errors import SluiceError, mistake

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from ._result import EnergyRow, MappingResult, Result
    from ._specs import EinsumInfo
    from ._sweep import SweepResult

# Okabe and Ito's colours, which the colour-blind tell apart (M. Okabe, K. Ito, "Color Universal Design", 2008).
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#999999")


def _axes(ax: Optional[Axes], height: float = 4.0) -> Axes:
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise SluiceError(
            "plots need matplotlib: pip install matplotlib (or the extra sluice[notebook])"
        ) from error
    _, made = pyplot.subplots(figsize=(7.0, height), constrained_layout=True)
    return made


def _scaled(value: float, unit: str) -> str:
    if math.isnan(value):
        return "unknown"
    if value == 0:
        return f"0 {unit}"
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, ""), (1e-3, "m"), (1e-6, "µ"),
                           (1e-9, "n"), (1e-12, "p")):
        if abs(value) >= factor:
            return f"{value / factor:.3g} {prefix}{unit}"
    return f"{value:.3g} {unit}"


def _size(bits: float) -> str:
    size = bits / 8
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} TiB"


def _sums(pairs: Iterable[tuple[str, float]]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for name, value in pairs:
        sums[name] = sums.get(name, 0.0) + value
    return dict(sorted(sums.items(), key=lambda item: -item[1]))


def _require_legal(mapping: MappingResult) -> None:
    if not mapping.is_legal:
        raise SluiceError(f"there is nothing to plot: the mapping is illegal: {mapping.violations[0]}")


def _name(row: EnergyRow, by: str) -> str:
    return getattr(row, by) or "(none)"


def energy_by(mapping: MappingResult, by: str) -> dict[str, float]:
    """Joules by component, Einsum, tensor or action, largest first; NaN, last, where one is unknown."""
    if by not in ("component", "einsum", "tensor", "action"):
        raise mistake(f"energy is not told by `{by}`", "choose component, einsum, tensor or action")
    known = _sums((_name(row, by), row.energy_j or 0.0) for row in mapping.energy)
    unknown = {_name(row, by) for row in mapping.energy if row.energy_j is None}
    return {name: joule for name, joule in known.items() if name not in unknown} | dict.fromkeys(
        (name for name in known if name in unknown), math.nan
    )


def energy_text(joule: float, of: float) -> str:
    """
    >>> energy_text(1e-6, 4e-6), energy_text(1e-6, math.nan), energy_text(math.nan, math.nan)
    ('1 µJ, 25.0%', '1 µJ', 'unknown')
    """
    if math.isnan(joule) or math.isnan(of):
        return _scaled(joule, "J")
    return f"{_scaled(joule, 'J')}, {joule / of if of else 0.0:.1%}"


def latency_by_einsum(mapping: MappingResult) -> dict[str, tuple[str, float]]:
    """Per Einsum the component that it waits for longest, and the seconds."""
    longest: dict[str, tuple[str, float]] = {}
    for row in mapping.latency:
        seconds = row.latency_s or 0.0
        if row.einsum not in longest or seconds > longest[row.einsum][1]:
            longest[row.einsum] = (row.component, seconds)
    return longest


def _prefixes(axis: Axis, unit: str) -> None:
    """Ticks such as 20 µJ."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    axis.set_major_formatter(EngFormatter(unit))
    axis.set_minor_formatter(NullFormatter())


def _kind_of_action(action: str) -> str:
    return action if action in ("read", "write", "leak") else "compute"


def breakdown(mapping: MappingResult, by: str, ax: Optional[Axes]) -> Axes:
    _require_legal(mapping)
    energies = energy_by(mapping, by)
    actions = _sums((_kind_of_action(row.action), row.energy_j or 0.0) for row in mapping.energy)
    axes = _axes(ax, 1.2 + 0.35 * len(energies))
    left = dict.fromkeys(energies, 0.0)
    for action in (name for name, joule in actions.items() if joule > 0):
        part = _sums(
            (_name(row, by), row.energy_j or 0.0)
            for row in mapping.energy
            if _kind_of_action(row.action) == action and not math.isnan(energies[_name(row, by)])
        )
        widths = [part.get(name, 0.0) for name in energies]
        colour = COLOURS[("read", "write", "compute", "leak").index(action)]
        axes.barh(list(energies), widths, left=list(left.values()), label=action, color=colour)
        left = {name: left[name] + width for name, width in zip(energies, widths)}
    for position, (name, energy) in enumerate(energies.items()):
        axes.annotate(f" {energy_text(energy, mapping.energy_j)}", (0.0 if math.isnan(energy) else energy, position),
                      va="center")
    axes.set_xlim(0, max((e for e in energies.values() if not math.isnan(e)), default=1.0) * 1.3 or 1.0)
    axes.set_ylim(len(energies) - 0.5, -0.5)
    _prefixes(axes.xaxis, "J")
    axes.set_xlabel("energy")
    axes.set_title(f"Energy by {'Einsum' if by == 'einsum' else by}: {_scaled(mapping.energy_j, 'J')}")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(title="action", loc="lower right")
    return axes


def occupancy(mapping: MappingResult, ax: Optional[Axes]) -> Axes:
    _require_legal(mapping)
    limited = [row for row in mapping.occupancy if row.share is not None]
    axes = _axes(ax, 1.4 + 0.4 * len(limited))
    shares = [row.share or 0.0 for row in limited]
    axes.barh([row.component for row in limited], [1.0] * len(limited), color="#DDDDDD")
    axes.barh([row.component for row in limited], shares, color=COLOURS[0])
    for position, row in enumerate(limited):
        text = f" {_size(row.peak_bits)} of {_size(row.capacity_bits or 0)}"
        axes.annotate(text, (1.0, position), va="center")
    axes.set_xlim(0, 1.45)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1.0], ["0 %", "25 %", "50 %", "75 %", "100 %"])
    axes.invert_yaxis()
    axes.set_xlabel("peak of one instance / capacity")
    axes.set_title("Occupancy")
    return axes


def _operations(einsum: EinsumInfo) -> float:
    """A multiplication and an addition are two, moving a value is none: as in the document."""
    weights = {"mul_add": 2, "copy": 0}
    return einsum.points * sum(n * weights.get(kind, 1) for kind, n in einsum.operations_per_point.items())


def _peak(mapping: MappingResult, calls: dict[str, float], operations: dict[str, float]) -> float:
    """Operations per second of the computes that are used, all instances; 0: nothing limits them."""
    computes = {c.name: c for c in mapping.components if c.kind == "Compute"}
    rates = [0.0]
    for row in mapping.energy:
        action = computes[row.component].action(row.action) if row.component in computes else None
        if action is not None and action.throughput and calls.get(row.einsum):
            each = operations.get(row.einsum, 0.0) / calls[row.einsum]
            rates.append(action.throughput * computes[row.component].instances * each)
    return max(rates)


def roofline(mapping: MappingResult, ax: Optional[Axes]) -> Axes:
    _require_legal(mapping)
    memories = [c for c in mapping.components if c.kind == "Memory"]
    computes = [c for c in mapping.components if c.kind == "Compute"]
    if not memories or not computes:
        raise SluiceError("a roofline needs the architecture: take the mapping of a Result")
    outermost = memories[0]
    kinds = {c.name for c in computes}
    read = outermost.action("read")
    bandwidth = 0.0
    if read is not None and read.throughput:
        bandwidth = read.throughput * read.bits_per_action / 8 * outermost.instances
    seconds = {e: s for e, (_, s) in latency_by_einsum(mapping).items()}
    calls = _sums((r.einsum, r.count or 0.0) for r in mapping.energy if r.component in kinds)
    operations = {einsum.name: _operations(einsum) for einsum in mapping.einsums}
    peak = _peak(mapping, calls, operations)
    moved = _sums((r.einsum, (r.bits or 0.0) / 8) for r in mapping.energy if r.component == outermost.name)
    axes = _axes(ax, 4.5)
    points = [
        (ops / moved[einsum], ops / seconds[einsum], einsum)
        for einsum, ops in operations.items()
        if ops and moved.get(einsum) and seconds.get(einsum)
    ]
    ridge = peak / bandwidth if bandwidth and peak else 1.0
    intensities = [x for x, _, _ in points] + [ridge]
    low, high = min(intensities) / 4, max(intensities) * 4
    if peak and bandwidth:
        axes.plot([low, ridge, high], [low * bandwidth, peak, peak], color="black",
                  label=f"{_scaled(peak, 'op/s')}, {outermost.name} {_scaled(bandwidth, 'B/s')}")
    elif peak:
        axes.axhline(peak, color="black", label=_scaled(peak, "op/s"))
    places: dict[tuple[float, float], list[str]] = {}  # Einsums alike stand at one point
    for x, y, einsum in points:
        places.setdefault((float(f"{x:.3g}"), float(f"{y:.3g}")), []).append(einsum)
    for number, (place, einsums) in enumerate(places.items()):
        axes.scatter(*([v] for v in place), color=COLOURS[number % len(COLOURS)], zorder=3)
        if len(places) <= 16:
            more = "" if len(einsums) <= 3 else f" and {len(einsums) - 3} more"
            axes.annotate(f"  {', '.join(einsums[:3])}{more}", place, fontsize=8, va="top")
    fused = [e for e in operations if not moved.get(e) and seconds.get(e)]
    if fused:
        axes.plot([], [], " ", label=f"nothing from {outermost.name}: {', '.join(fused[:6])}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    lowest = min([y for _, y, _ in points] + [peak or 1.0])
    axes.set_ylim(min(lowest / 3, low * bandwidth or lowest), max([peak] + [y for _, y, _ in points]) * 3)
    _prefixes(axes.yaxis, "op/s")
    axes.set_xlabel(f"operations per byte of {outermost.name}")
    axes.set_ylabel("operations per second (a multiply-add is two)")
    axes.set_title("Roofline")
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="lower right", fontsize=8)
    return axes


def front(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Those that no other one beats in both, by the first number.

    >>> front([(1, 5), (2, 4), (2, 6), (3, 4), (4, 1)])
    [(1, 5), (2, 4), (4, 1)]
    """
    best: list[tuple[float, float]] = []
    for point in sorted(points):
        if not best or point[1] < best[-1][1]:
            best.append(point)
    return best


def pareto(result: Result, ax: Optional[Axes]) -> Axes:
    points = [(m.latency_s, m.energy_j) for m in result.mappings if m.is_legal]
    axes = _axes(ax, 4.5)
    best = front(points)
    axes.step([x for x, _ in best], [y for _, y in best], where="post", color=COLOURS[0], label="front")
    axes.scatter([x for x, _ in points], [y for _, y in points], color=COLOURS[1], zorder=3, label="mappings")
    _prefixes(axes.xaxis, "s")
    _prefixes(axes.yaxis, "J")
    axes.set_xlabel("latency")
    axes.set_ylabel("energy")
    axes.set_title(f"{result.workload} on {result.arch}")
    axes.legend()
    return axes


_UNITS = {"_j": "J", "_s": "s", "_js": "J·s", "_w": "W", "_per_s": "op/s", "_per_j": "op/J"}


def _unit(column: str) -> str:
    return next((unit for ending, unit in sorted(_UNITS.items(), key=lambda e: -len(e[0])) if column.endswith(ending)), "")


def sweep(result: SweepResult, x: Optional[str], y: Optional[str], ax: Optional[Axes]) -> Axes:
    rows = [{**run.settings, **{k: v for k, v in vars(run).items() if k not in ("settings", "numbers", "mapping")}} for run in result]
    x_name: str = x or (result.varied[0] if result.varied else "architecture")
    y_name: str = y or result.objective
    columns = [*result.varied, *(name for name in (vars(result[0]) if rows else {}) if name not in ("settings", "numbers", "mapping"))]
    for name in (x_name, y_name):
        if rows and name not in columns:
            raise mistake(f"there is no column `{name}`", f"columns: {', '.join(columns)}")
    others = [name for name in (*result.varied, "workload", "architecture")
              if name not in (x_name, y_name) and len({str(row.get(name)) for row in rows}) > 1]
    axes = _axes(ax, 4.5)
    lines: dict[str, list[tuple[str | float, float]]] = {}
    for row in rows:
        value: Any = row.get(x_name)
        height: Any = row.get(y_name)
        if value is None or not isinstance(height, (int, float)):
            continue  # no mapping there
        line = ", ".join(f"{name.removeprefix('arch.').removeprefix('workload.')} {row.get(name)}" for name in others)
        lines.setdefault(line, []).append((value, height))
    for number, (label, points) in enumerate(lines.items()):
        axes.plot([a for a, _ in points], [b for _, b in points], marker="o", label=label,
                  color=COLOURS[number % len(COLOURS)])
    heights = [height for points in lines.values() for _, height in points]
    if heights and min(heights) > 0 and max(heights) > 20 * min(heights):
        axes.set_yscale("log")
    elif heights and max(heights) > 0:
        axes.set_ylim(0, 1.05 * max(heights))
    _prefixes(axes.yaxis, _unit(y_name))
    axes.set_xlabel(x_name)
    axes.set_ylabel(y_name)
    axes.set_title(f"{len(result)} of {result.n_points} runs")
    if others:
        axes.legend(fontsize=8)
    return axes
