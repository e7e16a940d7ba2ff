"""Published schemes and how they compare with what Sluice says of them."""

import csv
import json
from dataclasses import dataclass
from pathlib import Path

INPUTS = ("run", "layer", "seq", "nodes", "part_order", "part_dims", "tvals", "orders", "unit_size", "is_dram", "directives")
COLUMNS = ("size", "fetch", "access", "remote_gbuf", "nhops W", "nhops I", "nhops O", "node_hops", "ops",
           "proc_time", "bus_time", "dram_time", "cost")  # fmt: skip
HOP_J = 9.76e-12  # a word over one link
COST_TOLERANCE = 1e-9
# What a chip takes in each cycle, from the artifact's machine files.
IDLE_J_PER_CYCLE = {"single_node.json": 5.410220055044509e-10, "_single_node.json": 5.410220055044509e-10,
                    "multi_node.json": 1.2728688055044508e-09, "multi_node_4x4.json": 1.2728688055044508e-09}  # fmt: skip


@dataclass
class Line:
    run: str
    layer: str
    kind: tuple  # type of layer, array, solver
    numbers: dict

    def inputs(self):
        return json.dumps({key: self.numbers[key] for key in INPUTS if key in self.numbers})


@dataclass
class Difference:
    line: Line
    column: str
    published: object
    ours: object
    reason: str  # empty: none known


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def parse(text):
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def read(runs, schemes, networks):
    of_run = {row["name"]: row for row in rows_of(runs)}
    types = {}
    lines = []
    for numbers in parse(schemes.read_text()):
        run = of_run[numbers["run"]]
        if run["net"] not in types:
            types[run["net"]] = {row["layer"]: row["type"] for row in rows_of(networks / f"{run['net']}.csv")}
        kind = (types[run["net"]][numbers["layer"]], run["mapping"], run["solver"])
        lines.append(Line(numbers["run"], numbers["layer"], kind, numbers))
    return lines


def known_exceptions(path):
    return {(row["run"], row["layer"], row["column"]): row for row in rows_of(path)}


def value_of(numbers, column):
    if not column.startswith("nhops "):
        return numbers.get(column)
    return numbers["nhops"]["WIO".index(column[-1])]


def compare(lines, priced, exceptions):
    if len(lines) != len(priced):
        raise SystemExit(f"{len(priced)} lines for {len(lines)} schemes")
    for line, ours in zip(lines, priced):
        for column in COLUMNS:
            said, own = value_of(line.numbers, column), value_of(ours, column)
            if said is None or equal(line.numbers, ours, column, exceptions):
                continue
            yield Difference(line, column, said, own, reason_of(line, column, said, exceptions))


def equal(published, ours, column, exceptions):
    if column != "cost":
        return value_of(published, column) == value_of(ours, column)
    # Exceptions are about hops: the energy is compared as if ours were the published ones.
    hops = sum(value_of(published, f"nhops {t}") - value_of(ours, f"nhops {t}")
               for t in "WIO" if (published["run"], published["layer"], f"nhops {t}") in exceptions)  # fmt: skip
    return abs(ours["cost"] + HOP_J * hops - published["cost"]) <= COST_TOLERANCE * published["cost"]


def reason_of(line, column, said, exceptions):
    known = exceptions.get((line.run, line.layer, column))
    return known["reason"] if known and float(known["published"]) == said else ""


def run_energies(runs, lines, priced):
    """(run, published, ours): J without static energy of each run that is published with its energy, as the sum over its layers."""
    ours = {}
    of_run = {row["name"]: row for row in rows_of(runs)}
    for line, numbers in zip(lines, priced):
        cycles = max(numbers["proc_time"], numbers["bus_time"], numbers["dram_time"])
        idle = IDLE_J_PER_CYCLE[Path(of_run[line.run]["hw"]).name]
        ours[line.run] = ours.get(line.run, 0) + numbers["cost"] - idle * cycles
    for run, energy in ours.items():
        row = of_run[run]
        layers_priced = sum(1 for line in lines if line.run == run)
        if row.get("sim_energy_J") and row.get("layers") == str(layers_priced):
            yield run, float(row["sim_energy_J"]) - float(row["sim_static"]), energy
