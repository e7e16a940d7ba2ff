"""Multiply-adds and parameters of a model by shape inference of the `onnx` package alone.

Usage: real_graphs.py SLUICE MODEL.onnx...: what `sluice import --json` counts must be the same.
"""

import json
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference


def filled(model):
    """The model with shapes for shape inference: numbers instead of ConstantOfShape, batch 1."""
    graph = model.graph
    constants = {c.name: c for c in graph.initializer}
    for value in list(graph.input) + list(graph.output) + list(graph.value_info):
        for dimension in value.type.tensor_type.shape.dim:
            if dimension.dim_param:
                dimension.dim_value = 1
    return shape_inference.infer_shapes(model), constants


def shapes_of(model, constants):
    shapes = {}
    for value in list(model.graph.input) + list(model.graph.output) + list(model.graph.value_info):
        shapes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
    for name, constant in constants.items():
        shapes[name] = list(constant.dims)
    return shapes


def parameters(model, constants):
    """Values of the floating or integer weights that nodes compute with; shapes, axes, scales and zero
    points of quantisation are none."""
    sizes = {n: int(np.prod(c.dims)) for n, c in constants.items()}
    for node in model.graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in constants:
            sizes[node.output[0]] = int(np.prod(numpy_helper.to_array(constants[node.input[0]])))
        if node.op_type in ("Unsqueeze", "Identity") and node.input[0] in sizes:
            sizes[node.output[0]] = sizes[node.input[0]]
    weights = {"Conv": (1, 2), "ConvTranspose": (1, 2), "Gemm": (1, 2), "MatMul": (0, 1), "QLinearConv": (3, 8),
               "BatchNormalization": (1, 2, 3, 4), "Add": (0, 1), "Mul": (0, 1), "PRelu": (1,)}
    used = set()
    for node in model.graph.node:
        for place in weights.get(node.op_type, ()):
            if place < len(node.input) and node.input[place] in sizes:
                used.add(node.input[place])
    return sum(sizes[name] for name in used)


def multiply_adds(model, shapes):
    total = 0
    for node in model.graph.node:
        output = shapes.get(node.output[0]) if node.output else None
        if node.op_type in ("Conv", "QLinearConv"):
            weight = shapes[node.input[1 if node.op_type == "Conv" else 3]]
            total += int(np.prod(output)) * int(np.prod(weight[1:]))
        elif node.op_type == "Gemm":
            transposed = any(a.name == "transA" and a.i for a in node.attribute)
            total += int(np.prod(output)) * shapes[node.input[0]][0 if transposed else 1]
        elif node.op_type == "MatMul":
            total += int(np.prod(output)) * shapes[node.input[0]][-1]
    return total


def sizes_to_set(model):
    names = {d.dim_param for i in model.graph.input for d in i.type.tensor_type.shape.dim if d.dim_param}
    return [word for name in sorted(names) for word in ("--set", f"{name}=1")]


def imported(sluice, path, settings):
    with tempfile.TemporaryDirectory() as folder:
        command = [sluice, "import", path, "-o", folder, "--json", *settings]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def main():
    sluice, failed = sys.argv[1], 0
    for path in sys.argv[2:]:
        model = onnx.load(path, load_external_data=False)
        settings = sizes_to_set(model)
        model, constants = filled(model)
        shapes = shapes_of(model, constants)
        for node in model.graph.node:  # a shape whose number is in a file that is not there
            if node.op_type == "Gemm" and not shapes.get(node.input[0]):
                weight = shapes[node.input[1]]
                transposed = any(a.name == "transB" and a.i for a in node.attribute)
                shapes[node.output[0]] = [1, weight[0 if transposed else 1]]
                shapes[node.input[0]] = [1, weight[1 if transposed else 0]]
        expected = {"macs": multiply_adds(model, shapes), "parameters": parameters(model, constants)}
        try:
            document = imported(sluice, path, settings)
        except RuntimeError as mistake:
            document = {key: str(mistake) for key in expected}
        found = {key: document[key] for key in expected}
        if found != expected:
            failed += 1
            print(f"{path}: {found}, not {expected}")
    print(f"{len(sys.argv) - 2} models, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
