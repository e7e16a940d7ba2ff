"""Results in a notebook: totals, bars and the loop tree, in colours of the notebook itself."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from ._plots import COLOURS, _scaled, _size, energy_by, energy_text, latency_by_einsum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ._design import DesignResult
    from ._result import MappingResult, Result
    from ._sweep import SweepResult

_MOST_BARS = 12


def _bars(title: str, rows: Iterable[tuple[str, float, str]], colour: str) -> str:
    lines = [
        f'<tr><td style="text-align:left">{escape(name)}</td>'
        f'<td style="width:16em"><div style="background:{colour};height:0.8em;'
        f'width:{max(0.0, min(share, 1.0)) * 100 if share == share else 0:.1f}%"></div></td>'
        f'<td style="text-align:left">{escape(text)}</td></tr>'
        for name, share, text in rows
    ]
    more = len(lines) - _MOST_BARS
    if more > 0:
        lines = [*lines[:_MOST_BARS], f'<tr><td colspan="3">and {more} more</td></tr>']
    return f'<table><caption style="text-align:left"><b>{escape(title)}</b></caption>{"".join(lines)}</table>'


def _tree(text: str) -> str:
    return f'<details open><summary><b>Mapping</b></summary><pre style="line-height:1.2">{escape(text)}</pre></details>'


def _list(title: str, lines: Iterable[str]) -> str:
    return f"<p><b>{escape(title)}</b></p><ul>" + "".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>"


def of_mapping(mapping: MappingResult) -> str:
    if not mapping.is_legal:
        return _list("illegal", map(str, mapping.violations)) + _tree(mapping.tree)
    totals = (
        f"<p><b>energy</b> {_scaled(mapping.energy_j, 'J')} &nbsp; <b>latency</b> "
        f"{_scaled(mapping.latency_s, 's')} &nbsp; <b>EDP</b> {_scaled(mapping.edp_js, 'J·s')}</p>"
    )
    energy = [
        (name, joule / mapping.energy_j if mapping.energy_j else 0.0, energy_text(joule, mapping.energy_j))
        for name, joule in energy_by(mapping, "component").items()
    ]
    slowest = sorted(latency_by_einsum(mapping).items(), key=lambda item: -item[1][1])
    latency = [
        (einsum, seconds / mapping.latency_s if mapping.latency_s else 0.0,
         f"{_scaled(seconds, 's')}, waits for {component}")
        for einsum, (component, seconds) in slowest
    ]
    occupancy = [
        (row.component, row.share, f"{_size(row.peak_bits)} of {_size(row.capacity_bits or 0)}")
        for row in mapping.occupancy
        if row.share is not None
    ]
    return (
        totals
        + _bars("Energy by component", energy, COLOURS[0])
        + _bars("Latency by Einsum, slowest first", latency, COLOURS[1])
        + _bars("Occupancy, peak of one instance", occupancy, COLOURS[2])
        + _tree(mapping.tree)
    )


def of_result(result: Result) -> str:
    head = f"<p><b>{escape(result.workload)}</b> on <b>{escape(result.arch)}</b>: {escape(result.status)}</p>"
    if result.reason is not None:
        head += f"<p>{escape(str(result.reason))}</p>"
    guarantee = result.guarantee
    if guarantee is not None:
        head += f"<p>guarantee: {escape(guarantee.kind)}, given {escape(guarantee.space.split(';')[0])}</p>"
    if result.diagnostics:
        head += _list("notes", (d.message for d in result.diagnostics))
    if len(result.mappings) > 1:
        rows = "".join(
            f"<tr><td>{i}</td><td>{_scaled(m.energy_j, 'J')}</td><td>{_scaled(m.latency_s, 's')}</td>"
            f"<td>{_scaled(m.edp_js, 'J·s')}</td></tr>"
            if m.is_legal else f'<tr><td>{i}</td><td colspan="3">illegal</td></tr>'
            for i, m in enumerate(result.mappings)
        )
        head += f"<table><tr><th></th><th>energy</th><th>latency</th><th>EDP</th></tr>{rows}</table>"
    return head + (of_mapping(result.mappings[0]) if result.mappings else "")


_MOST_RUNS = 40


def of_sweep(sweep: SweepResult) -> str:
    names = [name for name in ("workload", "architecture") if len({getattr(run, name) for run in sweep}) > 1]
    head = "".join(f"<th>{escape(name)}</th>" for name in [*names, *sweep.varied, "energy", "latency", "EDP", ""])
    runs = list(sweep)
    best = list(sweep.best_by_workload.values())
    if len(runs) > _MOST_RUNS:  # the best ones, as the table of the command line has them
        order = sorted(runs, key=lambda run: float(getattr(run, sweep.objective) or float("inf")))
        runs = best + [run for run in order if run not in best]
        runs = runs[:_MOST_RUNS]
    rows = ""
    for run in runs:
        cells = [*(getattr(run, name) for name in names), *(run.settings.get(name, "") for name in sweep.varied)]
        row = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        if run.energy_j is None or run.latency_s is None or run.edp_js is None:
            row += f'<td colspan="4" style="text-align:left">{escape(run.reason or "a price is not known")}</td>'
        else:
            numbers = (_scaled(run.energy_j, "J"), _scaled(run.latency_s, "s"), _scaled(run.edp_js, "J·s"))
            row += "".join(f"<td>{number}</td>" for number in numbers)
            row += f"<td>{'best' if run in best else ''}</td>"
        rows += f"<tr>{row}</tr>"
    kept = f", kept in {escape(sweep.database)}" if sweep.database else ""
    cut = f"; the {_MOST_RUNS} best" if len(sweep) > _MOST_RUNS else ""
    return f"<p>{len(sweep)} of {sweep.n_points} runs{kept}{cut}</p><table><tr>{head}</tr>{rows}</table>"


def of_design(result: DesignResult) -> str:
    sure = "proven best" if result.is_proven else "best so far"
    head = f"<p>{escape(sure if result else result.status)} of {result.n_designs} designs; {result.n_looks} looked at</p>"
    if not result:
        return head
    best = result.best
    unit = {"energy": "J", "latency": "s"}.get(result.objective, "J·s")
    settings = "".join(f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in best.settings.items())
    totals = f"<p><b>{escape(result.objective)}</b> {_scaled(best.objective, unit)}"
    if best.area_m2 is not None:
        totals += f" &nbsp; <b>area</b> {best.area_m2 * 1e6:.3g} mm²"
    rows = ""
    for outcome in best.workloads:
        numbers = ((outcome.energy_j, "J"), (outcome.latency_s, "s"), (outcome.power_w, "W"), (outcome.objective, unit))
        cells = "".join(f"<td>{'' if number is None else _scaled(number, of)}</td>" for number, of in numbers)
        rows += f"<tr><td>{escape(outcome.workload)}</td><td>{outcome.weight:g}</td>{cells}</tr>"
    names = "".join(f"<th>{name}</th>" for name in ("workload", "weight", "energy", "latency", "power", escape(result.objective)))
    return head + f"<table>{settings}</table>" + totals + f"</p><table><tr>{names}</tr>{rows}</table>"
