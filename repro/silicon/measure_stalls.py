#!/usr/bin/env python3
"""Stalls of SCALE-Sim's memory model on some of the layers that measure_scalesim.py found, as CSV.

measure_stalls.py results/scalesim.csv [--output FILE.csv]   (where `scalesim` 3.0.0 and numpy < 2.3 are installed)

A 32 x 32 array between three double-buffered memories of KB each (inputs, weights, outputs; a value is a byte), each with
a port of its own to DRAM of WORDS values a cycle. Columns beside the layer, the dataflow (os, ws, is: FLOW 0, 1, 2) and the machine:
  cycles     its demand matrices without stalls
  stalls     what it counts beyond them
  once       the same where each wait counts once (it adds every positive one a second time: read_buffer.py, service_reads)
  before     cycles before the first one, in which it fills the halves of the buffers that are in use
  after      cycles behind the last one, in which it drains the outputs that are left
  reads, writes   values it says DRAM reads (inputs and weights) and writes
"""

import argparse
import csv
import pathlib
import sys
import time

import numpy
from measure_scalesim import SYSTEMS, system_of
from scalesim.memory.double_buffered_scratchpad_mem import double_buffered_scratchpad
from scalesim.memory.read_buffer import read_buffer

SIZE = 32
MACHINES = ((64, 10), (8, 10), (8, 32))  # KB of each buffer, values a cycle of each port
MOST_CYCLES = 12_000  # without stalls, in any dataflow
MOST_SUMS = 160  # K
LEAST_VALUES = 4_096  # of the largest operand: half of the smaller buffers
HEADER = ["layer", "M", "N", "K", "FLOW", "KB", "WORDS", "cycles", "stalls", "once", "before", "after", "reads", "writes"]


class WaitsOnce(read_buffer):
    """The same buffer; a line waits for the fetch that brings it, and that once."""

    def service_reads(self, incoming_requests_arr_np, incoming_cycles_arr):
        start = incoming_cycles_arr[0][0]
        if not self.active_buf_full_flag:
            self.prefetch_active_buffer(start_cycle=start)
        done = start + self.hit_latency
        for address in incoming_requests_arr_np[0]:
            while address != -1 and not self.active_buffer_hit(address):
                self.new_prefetch()
                done = max(done, self.last_prefetch_cycle)
        return numpy.asarray([[done]])


def addresses(start, rows, columns):
    return start + numpy.arange(rows * columns).reshape(rows, columns)


def run(dataflow, shape, kilobytes, words, buffers):
    m, n, k = shape
    system = system_of(dataflow, SIZE, m, n, k, [addresses(0, m, k), addresses(10_000_000, k, n), addresses(20_000_000, m, n)])
    fetched, demanded = system.get_prefetch_matrices(), system.get_demand_matrices()
    memory = double_buffered_scratchpad()
    size = kilobytes * 1024
    memory.set_params(verbose=False, ifmap_buf_size_bytes=size, filter_buf_size_bytes=size, ofmap_buf_size_bytes=size,
                      ifmap_backing_buf_bw=words, filter_backing_buf_bw=words, ofmap_backing_buf_bw=words)  # fmt: skip
    memory.ifmap_buf.__class__ = memory.filter_buf.__class__ = buffers
    memory.set_read_buf_prefetch_matrices(*fetched)
    memory.service_memory_requests(*demanded)
    return demanded[2].shape[0], memory


def measured(dataflow, shape, kilobytes, words):
    cycles, memory = run(dataflow, shape, kilobytes, words, read_buffer)
    stalls = memory.get_stall_cycles()
    _, once = run(dataflow, shape, kilobytes, words, WaitsOnce)
    ifmap, weights, ofmap = memory.get_ifmap_dram_details(), memory.get_filter_dram_details(), memory.get_ofmap_dram_details()
    after = ofmap[1] - (cycles + stalls - 1)
    return [cycles, stalls, once.get_stall_cycles(), -min(ifmap[0], weights[0]), after, ifmap[2] + weights[2], ofmap[2]]


def chosen(path):
    """Every other one of the layers that are small enough to run and too large for the smaller buffers."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def fits(row):
        m, n, k = (int(row[name]) for name in "MNK")
        largest, longest = max(m * k, k * n, m * n), max(int(row[f"{flow}_{SIZE}"]) for flow in SYSTEMS)
        return largest > LEAST_VALUES and longest <= MOST_CYCLES and k <= MOST_SUMS

    return sorted(filter(fits, rows), key=lambda row: (int(row["K"]), int(row["M"]), int(row["N"])))[1::2]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("layers", type=pathlib.Path, help="results/scalesim.csv")
    parser.add_argument("--output", type=pathlib.Path)
    arguments = parser.parse_args()
    file = arguments.output.open("w") if arguments.output else sys.stdout
    out = csv.writer(file, lineterminator="\n")
    out.writerow(HEADER)
    for row in chosen(arguments.layers):
        shape = [int(row[name]) for name in "MNK"]
        began = time.time()
        for flow, dataflow in enumerate(SYSTEMS):
            for machine in MACHINES:
                out.writerow([row["layer"], *shape, flow, *machine, *map(int, measured(dataflow, shape, *machine))])
        file.flush()
        print(f"{row['layer']}: {time.time() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
