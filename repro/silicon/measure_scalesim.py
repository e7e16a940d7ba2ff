#!/usr/bin/env python3
"""Compute cycles of SCALE-Sim for every layer of a folder of its topologies, as CSV.

measure_scalesim.py TOPOLOGIES [--output FILE.csv]   (where `scalesim` 3.0.0 and numpy < 2.3 are installed)

One row for each size of matrix product (M, N, K) to which SCALE-Sim reduces a layer; `layer` is the first layer of
that size, `layers` how many there are. Columns `os_8` … `is_128`: the lines of its demand matrices, one a cycle,
without stalls. Of so many of the 15 numbers
  whole     all demand matrices were made,
  folds     too large for that: one fold of each kind (full, cut off below, at the right, both), times how many it has,
  extended  a fold alone is too long: two shorter ones, which differ by one cycle a step.
"""

import argparse
import csv
import pathlib
import sys
import tempfile

import numpy
from scalesim.compute.systolic_compute_is import systolic_compute_is
from scalesim.compute.systolic_compute_os import systolic_compute_os
from scalesim.compute.systolic_compute_ws import systolic_compute_ws
from scalesim.scale_config import scale_config
from scalesim.topology_utils import topologies

SIZES = (8, 16, 32, 64, 128)
SYSTEMS = {"os": systolic_compute_os, "ws": systolic_compute_ws, "is": systolic_compute_is}
HOW = ("whole", "folds", "extended")
MOST_ELEMENTS = 1_500_000  # of a demand matrix that is made as a whole
MOST_FOLDS = 64  # they are joined one by one
LONGEST_FOLD = 4_000  # steps


def lowered(path):
    """(name, M, N, K) of every layer as SCALE-Sim reads it; rows that it refuses with its reason."""
    lines = path.read_text(encoding="utf-8-sig").splitlines()
    gemm = lines[0].replace(" ", "").split(",")[1:4] == ["M", "N", "K"]
    layers, refused = [], []
    # Alone in its file: a row of nothing but commas, or a refused one, hides the others otherwise.
    for line in lines[1:]:
        cells = [cell.strip() for cell in line.replace("\t", ",").lstrip(",").split(",")]
        if not any(cells):
            continue
        try:
            layers += lowered_row(cells[: 4 if gemm else 8], gemm)
        except (ValueError, IndexError, AssertionError) as mistake:
            refused.append((cells[0], f"{type(mistake).__name__}: {mistake}"))
    return layers, refused


def lowered_row(cells, gemm):
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("header\n" + ",".join(cells) + ",\n")  # the last comma may be missing, or be one of many
        file.flush()
        table = topologies()
        table.load_arrays(file.name, mnk_inputs=gemm)
        table.topo_calc_hyperparams()
        rows = []
        for layer in range(table.get_num_layers()):
            m = int(numpy.prod(table.get_layer_ofmap_dims(layer)))
            rows.append((cells[0], m, table.get_layer_num_filters(layer),
                         int(table.get_layer_window_size(layer))))
        return rows


def system_of(dataflow, size, m, n, k, operands=None):
    """Its compute system; `operands`: addresses of inputs, weights and outputs, where they matter."""
    config = scale_config()
    config.array_rows = config.array_cols = size
    config.valid_conf_flag = True
    shape = lambda rows, columns: numpy.broadcast_to(numpy.int32(1), (rows, columns))
    inputs, weights, outputs = operands or (shape(m, k), shape(k, n), shape(m, n))
    system = SYSTEMS[dataflow]()
    system.set_params(config_obj=config, ifmap_op_mat=inputs, filter_op_mat=weights, ofmap_op_mat=outputs)
    return system


def lines_of(system):
    system.create_demand_matrices()
    return system.ofmap_demand_matrix.shape[0]


def with_spatial(dataflow, rows, columns, steps):
    """(M, N, K) of a product that takes so many rows, columns and steps."""
    return {"os": (rows, columns, steps), "ws": (steps, columns, rows), "is": (columns, steps, rows)}[dataflow]


def fold_lines(dataflow, size, rows, columns, steps):
    """Lines of one fold; `steps` may be too many to make it."""
    if steps <= LONGEST_FOLD:
        return lines_of(system_of(dataflow, size, *with_spatial(dataflow, rows, columns, steps)))
    one, two = (lines_of(system_of(dataflow, size, *with_spatial(dataflow, rows, columns, n))) for n in (500, 1500))
    assert two - one == 1000
    return two + steps - 1500


def kinds(extent, size):
    """(used part of the array, folds) along one of its sides."""
    return [(used, folds) for used, folds in ((size, extent // size), (extent % size, 1)) if used * folds]


def cycles(dataflow, size, m, n, k, known):
    system = system_of(dataflow, size, m, n, k)
    folds = system.row_fold * system.col_fold
    if folds <= MOST_FOLDS and system.T <= LONGEST_FOLD and folds * (system.T + 3 * size) * size <= MOST_ELEMENTS:
        return lines_of(system), "whole"
    total = 0
    for rows, rows_folds in kinds(system.Sr, size):
        for columns, columns_folds in kinds(system.Sc, size):
            key = (dataflow, size, rows, columns, system.T)
            if key not in known:
                known[key] = fold_lines(*key)
            total += rows_folds * columns_folds * known[key]
    return total, "folds" if system.T <= LONGEST_FOLD else "extended"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("topologies", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    shapes = {}
    for path in sorted(arguments.topologies.rglob("*.csv")):
        topology = str(path.relative_to(arguments.topologies).with_suffix(""))
        layers, refused = lowered(path)
        for name, *shape in layers:
            first = shapes.setdefault(tuple(shape), [f"{topology}:{name}", 0])
            first[1] += 1
        for name, why in refused:
            print(f"{topology}: SCALE-Sim refuses {name!r}: {why}", file=sys.stderr)
        print(f"{topology}: {len(layers)} layers", file=sys.stderr)
    out = csv.writer(arguments.output.open("w") if arguments.output else sys.stdout, lineterminator="\n")
    columns = [(dataflow, size) for dataflow in SYSTEMS for size in SIZES]
    out.writerow(["layer", "layers", "M", "N", "K", *HOW] + [f"{dataflow}_{size}" for dataflow, size in columns])
    known = {}
    for shape, (name, count) in shapes.items():
        results = [cycles(dataflow, size, *shape, known) for dataflow, size in columns]
        hows = [how for _, how in results]
        out.writerow([name, count, *shape, *map(hows.count, HOW)] + [lines for lines, _ in results])


if __name__ == "__main__":
    main()
