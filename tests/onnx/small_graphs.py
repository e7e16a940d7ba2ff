"""Small graphs, imported and executed, against the reference evaluator of the `onnx` package.

Usage: small_graphs.py SLUICE [NAME...]
       small_graphs.py --write [all]    adds new graphs to expected.json, or renews all, by the evaluator (onnx 1.13 or
                                        later; 1.19 gets conv_same wrong; all until 1.23 leave dilations out of
                                        SAME: pool_average_same_dilated is with pads=[2, 2, 2, 1])
       small_graphs.py --draw SLUICE FIRST END    random graphs of these seeds, against the evaluator itself
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx

from small_models import all_models

TOLERANCE = 1e-5
EXPECTED = Path(__file__).parent / "expected.json"


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"exit {done.returncode}: {done.stderr[-800:]}{done.stdout[-200:]}")
    return done.stdout


def random_inputs(model):
    random = np.random.default_rng(7)
    return {i.name: random.uniform(-0.9, 0.9, [d.dim_value for d in i.type.tensor_type.shape.dim]).astype(np.float32)
            for i in model.graph.input}


def executed(sluice, model, inputs, folder):
    """The outputs that the Einsums make."""
    onnx.save(model, folder / "model.onnx")
    document = json.loads(run(sluice, "import", folder / "model.onnx", "-o", folder, "--json"))
    numbers = json.loads((folder / "inputs.json").read_text()) if (folder / "inputs.json").exists() else {}
    for tensor in document["tensors"]:
        if tensor["name"] in inputs:
            numbers[tensor["tensor"]] = inputs[tensor["name"]].astype(float).reshape(tensor["sizes"]).tolist()
    (folder / "numbers.json").write_text(json.dumps(numbers))
    run(sluice, "execute", folder / "workload.yaml", "--inputs", folder / "numbers.json", "--outputs",
        folder / "out.json")
    made = json.loads((folder / "out.json").read_text())
    result = {}
    for tensor in document["tensors"]:
        if not tensor["is_constant"] and tensor["name"] not in inputs:
            assert tensor["is_whole"], f"{tensor['name']} is not whole"
            result[tensor["name"]] = np.array(made[tensor["tensor"]], dtype=float).reshape(tensor["shape"])
    return result


def evaluated(model):
    """The outputs by ONNX's evaluator, as they stand in expected.json."""
    from onnx.reference import ReferenceEvaluator

    outputs = ReferenceEvaluator(model).run(None, random_inputs(model))
    return {o.name: [float(f"{v:.9g}") for v in value.ravel()] for o, value in zip(model.graph.output, outputs)}


def write(renews_all):
    known = {} if renews_all else json.loads(EXPECTED.read_text())
    lines = []
    for name, model in all_models():
        rows = known[name] if name in known else evaluated(model)
        lines.append(f"{json.dumps(name)}: {json.dumps(rows)}")
    EXPECTED.write_text("{" + ",\n".join(lines) + "}\n")
    return 0


def draw(sluice, first, end):
    from drawn_models import drawn

    failed = n = 0
    for name, model in drawn(range(first, end)):
        n += 1
        try:
            compare(sluice, model, evaluated(model))
        except (RuntimeError, AssertionError, KeyError, ValueError) as mistake:
            failed += 1
            print(f"{name}: {mistake}")
    print(f"{n} random graphs, {failed} failed")
    return 1 if failed else 0


def compare(sluice, model, expected):
    inputs = random_inputs(model)
    with tempfile.TemporaryDirectory() as folder:
        made = executed(sluice, model, inputs, Path(folder))
    for output, numbers in expected.items():
        value = np.array(numbers)
        error = np.abs(made[output].ravel() - value).max() / max(1.0, np.abs(value).max())
        if not error <= TOLERANCE:
            raise RuntimeError(f"{output} differs by {error:.2g}")


def main():
    if sys.argv[1] == "--write":
        return write(sys.argv[2:] == ["all"])
    if sys.argv[1] == "--draw":
        return draw(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    sluice, names = sys.argv[1], sys.argv[2:]
    expected = json.loads(EXPECTED.read_text())
    failed = n = 0
    for name, model in all_models():
        if names and name not in names:
            continue
        n += 1
        try:
            compare(sluice, model, expected[name])
        except (RuntimeError, AssertionError, KeyError, ValueError) as mistake:
            failed += 1
            print(f"{name}: {mistake}")
    print(f"{n} graphs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
