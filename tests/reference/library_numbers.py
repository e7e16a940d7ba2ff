"""The cascades of library/workloads against NumPy.

For every workload below, on a small shape with random inputs: what `sluice execute` says its Einsums
make must be what a textbook formula, which knows nothing of the cascade, makes of the same inputs.
Then once more through a mapping that `sluice map` found for the architecture `simple`.

Usage: library_numbers.py PATH_OF_SLUICE
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

# Sums of a few dozen doubles in another order.
TOLERANCE = 1e-11


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def silu(x):
    return x / (1 + np.exp(-x))


def attend(q, k, v):
    """Queries [..., m, e], keys [..., p, e], values [..., p, f]."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])
    return softmax(scores) @ v


def gemm_softmax(t):
    return {"SM": softmax(t["A"] @ t["B"])}


def gemm_layernorm(t):
    c = t["A"] @ t["B"]
    normal = (c - c.mean(axis=1, keepdims=True)) / np.sqrt(c.var(axis=1, keepdims=True) + 1e-5)
    return {"LN": normal * t["LN_gain"] + t["LN_bias"]}


def gemm_rmsnorm(t):
    c = t["A"] @ t["B"]
    return {"RMS": c / np.sqrt((c**2).mean(axis=1, keepdims=True) + 1e-5) * t["RMS_gain"]}


def self_attention(t):
    return {"AV": attend(t["Q"], t["KT"].T, t["V"])}


def flash_self_attention(t):
    keys = t["KT"].reshape(t["KT"].shape[0], -1).T
    return {"AV": attend(t["Q"], keys, t["V"].reshape(-1, t["V"].shape[-1]))}


def flash_self_attention_2022(t):
    return flash_self_attention(t)


def attention(t):  # Q[b,m,h,e], K[b,p,h,e], V[b,p,h,f], AV[b,m,h,f]
    q, k, v = (np.swapaxes(t[name], 1, 2) for name in "QKV")
    return {"AV": np.swapaxes(attend(q, k, v), 1, 2)}


def flash_attention(t):  # Q[h,m,e], K[h,i,p,e], V[h,i,p,f]
    h, blocks, block, e = t["K"].shape
    return {"AV": attend(t["Q"], t["K"].reshape(h, blocks * block, e), t["V"].reshape(h, blocks * block, -1))}


def gqa(t):  # Q[b,m,hkv,hq,e], K[b,p,hkv,e], V[b,p,hkv,f]
    heads = []
    for group in range(t["Q"].shape[2]):
        k, v = t["K"][:, :, group], t["V"][:, :, group]
        heads.append([attend(t["Q"][:, :, group, q], k, v) for q in range(t["Q"].shape[3])])
    return {"AV": np.moveaxis(np.array(heads), (0, 1), (2, 3))}


def swiglu(t):
    return {"Y": (silu(t["X"] @ t["WG"]) * (t["X"] @ t["WU"])) @ t["WD"]}


def mamba(t):
    """Algorithm 2 and Fig. 3 of Gu and Dao 2023, token by token."""
    b, n_tokens, _ = t["X"].shape
    u, gate = t["X"] @ t["WU"], t["X"] @ t["WG"]
    taps = t["WC"].shape[0]
    padded = np.concatenate([np.zeros((b, taps - 1, u.shape[2])), u], axis=1)
    x = silu(sum(padded[:, w : w + n_tokens] * t["WC"][w] for w in range(taps)) + t["BC"])
    step = np.log1p(np.exp((x @ t["WR"]) @ t["WDT"] + t["BDT"]))
    state = np.zeros((b, u.shape[2], t["A"].shape[1]))
    read = np.zeros_like(x)
    for i in range(n_tokens):
        decay = np.exp(step[:, i, :, None] * t["A"])
        entering = (step[:, i] * x[:, i])[:, :, None] * (x[:, i] @ t["WB"])[:, None, :]
        state = decay * state + entering
        read[:, i] = (state * (x[:, i] @ t["WCT"])[:, None, :]).sum(axis=2)
    return {"Y": ((read + x * t["SKIP"]) * silu(gate)) @ t["WO"]}


HEADS = {"N_TOKENS": 3, "D_HEAD": 4}
CASES = [
    (gemm_softmax, {"M": 3, "N": 5, "K": 4}),
    (gemm_softmax, {"M": 1, "N": 12, "K": 2}),
    (gemm_layernorm, {"M": 3, "N": 5, "K": 4}),
    (gemm_rmsnorm, {"M": 3, "N": 5, "K": 4}),
    (self_attention, {"M": 3, "N": 6, "K": 4, "L": 5}),
    (flash_self_attention, {"M": 3, "N": 6, "K": 4, "L": 5, "BLOCK": 2}),
    (flash_self_attention, {"M": 1, "N": 8, "K": 4, "L": 4, "BLOCK": 8}),
    (flash_self_attention_2022, {"M": 3, "N": 6, "K": 4, "L": 5, "BLOCK": 2}),
    (flash_self_attention_2022, {"M": 1, "N": 8, "K": 4, "L": 4, "BLOCK": 8}),
    (attention, {**HEADS, "N_HEADS": 2, "BATCH": 2}),
    (flash_attention, {**HEADS, "N_HEADS": 2, "N_BLOCKS": 3, "BLOCK": 2}),
    (gqa, {**HEADS, "N_GROUPS": 2, "GROUP": 3}),
    (swiglu, {"M": 3, "D": 4, "C": 6}),
    (mamba, {"N_TOKENS": 6, "D_MODEL": 4, "D_STATE": 3, "DT_RANK": 2, "BATCH": 2}),
]


def run(sluice, *arguments):
    done = subprocess.run([sluice, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"sluice {' '.join(map(str, arguments))}\nended with {done.returncode}\n{done.stdout}{done.stderr}")


def numbers(file):
    return {name: np.array(lists, dtype=float) for name, lists in json.loads(file.read_text()).items()}


def random_inputs(shaped, names, rng):
    inputs = {name: rng.normal(size=shaped[name].shape) for name in names}
    if "A" in inputs and "SKIP" in inputs:
        inputs["A"] = -np.exp(inputs["A"])  # a state-space model's decay
    return inputs


def largest_error(reference, computed):
    scale = np.abs(reference).max()
    return np.abs(reference - computed).max() / scale if reference.shape == computed.shape else np.inf


def check(sluice, reference, sizes, rng, folder):
    workload = reference.__name__
    sets = [argument for name, value in sizes.items() for argument in ("--set", f"{name}={value}")]
    drawn_file, inputs_file, outputs_file = (folder / f"{name}.json" for name in ("drawn", "inputs", "outputs"))
    run(sluice, "execute", workload, *sets, "--outputs", drawn_file)  # for the shapes
    inputs = random_inputs(numbers(drawn_file), inputs_of(sluice, workload, sets), rng)
    inputs_file.write_text(json.dumps({name: array.tolist() for name, array in inputs.items()}))
    expected = reference(inputs)
    run(sluice, "execute", workload, *sets, "--inputs", inputs_file, "--outputs", outputs_file)
    plain = numbers(outputs_file)
    run(sluice, "map", workload, "simple", *sets, "--max-fused-loops", 1, "-o", folder)
    run(sluice, "execute", workload, "simple", folder / "mapping.yaml", *sets,
        "--inputs", inputs_file, "--outputs", outputs_file)
    mapped = numbers(outputs_file)
    errors = [largest_error(expected[name], made[name]) for name in expected for made in (plain, mapped)]
    verdict = "ok" if max(errors) <= TOLERANCE else "WRONG"
    print(f"{workload:<25} {sizes}  plain {errors[0]:.1e}, mapped {errors[1]:.1e}  {verdict}")
    return verdict == "ok"


def inputs_of(sluice, workload, sets):
    """The names that `sluice show` lists as inputs (persistent ones are weights)."""
    shown = subprocess.run([sluice, "show", workload, *sets], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in shown.split("\nTensors\n")[1].splitlines() if line.strip()]
    return [row[0] for row in rows if row[1] in ("input", "persistent")]


def main():
    sluice = sys.argv[1]
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        good = [check(sluice, reference, sizes, rng, Path(folder)) for reference, sizes in CASES]
    print(f"numpy: {sum(good)} of {len(good)} cases agree")
    sys.exit(not all(good))


main()
