#!/usr/bin/env python3
"""Writes a network of N Einsums, an architecture of three memories and mappings into a folder.

Usage: bench/long_network.py chain|resnet N FOLDER

    workload.yaml      one line per Einsum
    repeated.yaml      the same workload, by `for`
    architecture.yaml
    unfused.yaml       every intermediate in the outermost memory, one branch per Einsum
    fused.yaml         pairs of Einsums, each below a loop of its own, exchange in the second memory

chain: matrix products and element-wise operations in turn (N even).
resnet: blocks of convolution, relu, convolution, addition of what entered the block (N a multiple of 4).
"""

import sys
from pathlib import Path

ARCHITECTURE = """\
arch:
  nodes:
  - !Memory
    name: MainMemory
    size: inf
    tensors: {keep: ~Intermediates, may_keep: All}
    actions:
    - {name: read, energy: 20 pJ/bit, throughput: 32 GB/s}
    - {name: write, energy: 20 pJ/bit, throughput: 32 GB/s}
  - !Memory
    name: GlobalBuffer
    size: 1 MiB
    tensors: {keep: ~MainMemory, may_keep: All}
    actions:
    - {name: read, energy: 1.5 pJ/bit, throughput: 512 GB/s}
    - {name: write, energy: 1.5 pJ/bit, throughput: 512 GB/s}
  - !Memory
    name: LocalBuffer
    size: 64 KiB
    actions:
    - {name: read, energy: 0.2 pJ/bit, throughput: 2 TB/s}
    - {name: write, energy: 0.2 pJ/bit, throughput: 2 TB/s}
  - !Compute
    name: MAC
    actions:
    - {name: compute, energy: 1 pJ, throughput: 256 GHz}
"""

RENAMES = """\
renames: {input: Inputs, output: Outputs, weight: Nothing}
"""


class Einsum:
    """Text, tensors and loops of one Einsum, with `{i}` for the number of its block."""

    def __init__(self, text, inputs, weights, variables):
        self.text = text
        self.inputs = inputs
        self.weights = weights
        self.variables = variables
        self.output = text.split("[")[0]


class Chain:
    HEADER = "rank_sizes: {M: 64, N: 64, K: 64}"
    SHARED_LOOP = "m"
    BLOCK = [
        Einsum("P{i+1}[m,N:n{i+1}] = T{i}[m,N:n{i}] * W{i}[K:n{i},N:n{i+1}]",
               ["T{i}"], ["W{i}"], ["m", "n{i}", "n{i+1}"]),
        Einsum("T{i+1}[m,N:n{i+1}] = relu(P{i+1}[m,N:n{i+1}])",
               ["P{i+1}"], [], ["m", "n{i+1}"]),
    ]
    BOUNDS = []


class ResNet:
    HEADER = "rank_sizes: {N: 4, C: 16, K: 16, P: 14, Q: 14}"
    SHARED_LOOP = "n"
    BLOCK = [
        Einsum("A{i+1}[n,C:k{i},P:p{i},Q:q{i}]"
               " = T{i}[n,C:c{i},P:p{i}+r-1,Q:q{i}+s-1] * V{i}[K:k{i},C:c{i},r,s]",
               ["T{i}"], ["V{i}"], ["n", "k{i}", "p{i}", "q{i}", "c{i}", "r", "s"]),
        Einsum("R{i+1}[n,C:k{i},P:p{i},Q:q{i}] = relu(A{i+1}[n,C:k{i},P:p{i},Q:q{i}])",
               ["A{i+1}"], [], ["n", "k{i}", "p{i}", "q{i}"]),
        Einsum("B{i+1}[n,C:c{i+1},P:u{i},Q:v{i}]"
               " = R{i+1}[n,C:k{i},P:u{i}+r-1,Q:v{i}+s-1] * W{i}[K:c{i+1},C:k{i},r,s]",
               ["R{i+1}"], ["W{i}"], ["n", "c{i+1}", "u{i}", "v{i}", "k{i}", "r", "s"]),
        Einsum("T{i+1}[n,C:c{i+1},P:u{i},Q:v{i}]"
               " = max(B{i+1}[n,C:c{i+1},P:u{i},Q:v{i}] + T{i}[n,C:c{i+1},P:u{i},Q:v{i}], 0)",
               ["B{i+1}", "T{i}"], [], ["n", "c{i+1}", "u{i}", "v{i}"]),
    ]
    BOUNDS = ["0 <= r < 3", "0 <= s < 3"]


def at(template, block):
    return template.replace("{i+1}", str(block + 1)).replace("{i}", str(block))


def all_einsums(kind, n_einsums):
    """(Einsum, block) in order."""
    return [(einsum, block) for block in range(n_einsums // len(kind.BLOCK))
            for einsum in kind.BLOCK]


def workload(kind, items):
    bounds = f"  iteration_space_shape: [{', '.join(kind.BOUNDS)}]\n" if kind.BOUNDS else ""
    return (f"workload:\n  {kind.HEADER}\n{bounds}  bits_per_value: {{All: 8}}\n"
            f"  einsums:\n{items}{RENAMES}")


def flat_item(einsum, block):
    weights = ", ".join(at(weight, block) for weight in einsum.weights)
    if not weights:
        return f"  - {at(einsum.text, block)}\n"
    return f"  - {{einsum: \"{at(einsum.text, block)}\", renames: {{weight: {weights}}}}}\n"


def repeated_items(kind, n_einsums):
    lines = [f"  - for: {{i: 0..{n_einsums // len(kind.BLOCK) - 1}}}\n    items:\n"]
    for einsum in kind.BLOCK:
        renames = f"      renames: {{weight: \"{einsum.weights[0]}\"}}\n" if einsum.weights else ""
        lines.append(f"    - einsum: \"{einsum.text}\"\n{renames}")
    return "".join(lines)


def storage(indent, tensors, memory):
    return f"{indent}- !Storage {{tensors: [{', '.join(tensors)}], component: {memory}}}\n"


def loops(indent, variables):
    return "".join(f"{indent}- !Temporal {{rank_variable: {variable}, tile_shape: 1}}\n"
                   for variable in variables)


def branch(indent, einsum, block, shared_loop, exchanged):
    """What one Einsum has of its own; below `shared_loop`, if that is given."""
    own = [at(name, block) for name in einsum.inputs + einsum.weights]
    own.append(at(einsum.output, block))
    variables = [at(name, block) for name in einsum.variables if name != shared_loop]
    held = [tensor for tensor in own if tensor not in exchanged]
    text = f"{indent}- !Nested\n{indent}  nodes:\n"
    inner = indent + "  "
    if held:
        text += storage(inner, held, "GlobalBuffer")
    text += loops(inner, variables[:1]) + storage(inner, own[:1], "LocalBuffer")
    text += loops(inner, variables[1:])
    return text + f"{inner}- !Compute {{einsum: {own[-1]}, component: MAC}}\n"


def mapping(outer, children):
    return ("mapping:\n  nodes:\n" + storage("  ", outer, "MainMemory") +
            "  - !Sequential\n    nodes:\n" + "".join(children))


def tensors_in_order(einsums):
    names = {}
    for einsum, block in einsums:
        for name in einsum.inputs + einsum.weights + [einsum.output]:
            names[at(name, block)] = None
    return list(names)


def unfused(einsums):
    return mapping(tensors_in_order(einsums),
                   [branch("    ", einsum, block, None, []) for einsum, block in einsums])


def fused(kind, einsums):
    exchanged = {at(first.output, block) for first, block in einsums[::2]}
    children = []
    for (first, block), (second, _) in zip(einsums[::2], einsums[1::2]):
        between = at(first.output, block)
        children.append(
            "    - !Nested\n      nodes:\n" + loops("      ", [kind.SHARED_LOOP]) +
            storage("      ", [between], "GlobalBuffer") + "      - !Sequential\n        nodes:\n" +
            branch("        ", first, block, kind.SHARED_LOOP, [between]) +
            branch("        ", second, block, kind.SHARED_LOOP, [between]))
    return mapping([t for t in tensors_in_order(einsums) if t not in exchanged], children)


def main():
    if len(sys.argv) != 4 or sys.argv[1] not in ("chain", "resnet"):
        sys.exit(__doc__)
    kind = {"chain": Chain, "resnet": ResNet}[sys.argv[1]]
    n_einsums, folder = int(sys.argv[2]), Path(sys.argv[3])
    if n_einsums < 1 or n_einsums % len(kind.BLOCK):
        sys.exit(f"the number of Einsums must be a multiple of {len(kind.BLOCK)}")
    einsums = all_einsums(kind, n_einsums)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {
            "workload": workload(kind, "".join(flat_item(*einsum) for einsum in einsums)),
            "repeated": workload(kind, repeated_items(kind, n_einsums)),
            "architecture": ARCHITECTURE,
            "unfused": unfused(einsums),
            "fused": fused(kind, einsums),
    }.items():
        (folder / f"{name}.yaml").write_text(text)


if __name__ == "__main__":
    main()
