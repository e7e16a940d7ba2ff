"""Workloads, architectures, constraints and mappings built in code."""

from __future__ import annotations

import pytest
import sluice as sl
from conftest import SLOW_BUFFER, without_search
from sluice import tree


def workload(**more):
    return sl.Workload(
        ["H[m,n] = X[m,k] * A[k,n]", "R[m,n] = max(H[m,n], 0)", "Y[m,l] = R[m,n] * B[n,l]"],
        rank_sizes={"M": 16, "K": 8, "N": 16, "L": 4},
        bits_per_value=8,
        name="small",
        **more,
    )


def machine(size="64 KiB", lanes=64):
    def prices(read, write, rate):
        return [
            sl.Action("read", energy=read, throughput=rate),
            sl.Action("write", energy=write, throughput=rate),
        ]

    return sl.Arch(
        [
            sl.Memory("DRAM", size=float("inf"), keep="~Intermediates", may_keep="All",
                      actions=prices("7 pJ/bit", "7 pJ/bit", "100 GB/s")),
            sl.Memory("Buffer", size=size, keep="All", actions=prices("0.2 pJ/bit", "0.3 pJ/bit", "1 TB/s")),
            sl.Compute("ALU", spatial={"lane": lanes},
                       actions=[sl.Action("compute", energy="0.5 pJ", throughput="1 GHz")]),
        ],
        name="machine",
    )


def test_objects_give_the_numbers_of_the_same_files(specs):
    from_objects = without_search(sl.map(workload(), machine()).document)
    assert from_objects == without_search(sl.map(*specs).document)


def test_objects_say_what_they_consist_of():
    w, a = workload(), machine(lanes=8)
    assert [e.name for e in w.einsums] == ["H", "R", "Y"]
    assert w.einsum("Y").variables == {"m": 16, "l": 4, "n": 16} and w.einsum("Y").points == 1024
    assert w.tensor("R").role == "intermediate" and w.tensor("R").size == 256
    assert a.component("Buffer").size_bits == 64 * 1024 * 8
    assert a.component("ALU").instances == 8 and a.component("ALU").spatial == {"lane": 8}
    assert a.component("Buffer").action("read").energy_j == pytest.approx(0.2e-12)
    with pytest.raises(sl.SpecError, match="no component `Bufer`"):
        a.component("Bufer")


def test_mistakes_in_objects_show_the_line_of_their_yaml():
    with pytest.raises(sl.SpecError) as caught:
        sl.map(workload(), machine(size="64 KiX"))
    assert caught.value.file == "<machine>"
    assert caught.value.first.source_line.strip() == 'size: "64 KiX"' or "64 KiX" in caught.value.first.source_line
    with pytest.raises(sl.SpecError, match="persistent_tensrs"):
        sl.map(workload(persistent_tensrs="X"), machine())


def test_objects_files_and_names_mix_and_set_reaches_into_them():
    result = sl.map(workload(), "simple", set={"workload.rank_sizes.M": 32})
    assert result.best.edp_js != sl.map(workload(), "simple").best.edp_js
    specs = sl.load(workload(), "simple", set=["workload.rank_sizes.M=32"])
    assert without_search(sl.map(specs).document) == without_search(result.document)
    assert specs.workload.tensor("X").shape == {"M": 32, "K": 8}


def test_settings_of_later_specs_win_and_those_of_the_call_over_all():
    first, second = sl.load("matmul", set={"M": 4}), sl.load("simple", "matmul", set={"M": 8})
    assert sl.load(first, second).workload.tensor("Z").shape["M"] == 8
    assert sl.load(first, second, set={"M": 16}).workload.tensor("Z").shape["M"] == 16


def test_maps_and_lists_in_settings_are_told_how_to_be_written():
    nested = {"arch": {"GlobalBuffer": {"size": "2 MiB"}}}
    for call in (
        lambda: sl.map("matmul", "simple", set=nested),
        lambda: sl.sweep("matmul", "simple", points=[nested]),
        lambda: sl.sweep("matmul", "simple", vary=nested),
        lambda: sl.bounds("matmul", "simple", vary=nested),
        lambda: sl.design("matmul", "simple", variables=nested),
        lambda: sl.design(sl.DesignWorkload("matmul", set=nested), "simple", variables={"M": [1]}),
    ):
        with pytest.raises(sl.SpecError, match="`arch` is given a map") as caught:
            call()
        assert caught.value.hint == 'name a field by its path: {"arch.GlobalBuffer.size": "2 MiB"}'
    with pytest.raises(sl.SpecError, match="`M` is given a list") as caught:
        sl.map("matmul", "simple", set={"M": [64, 128]})
    assert caught.value.hint == 'sluice.sweep takes several: vary={"M": [64, 128]}'
    kept = sl.load("matmul", "simple", set={"arch.GlobalBuffer.tensors": {"keep": "All"}})
    assert kept.arch is not None


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: sl.Arch([sl.tree.Compute("Z", "ALU")]), r"sluice.Memory, .* or Fork, not sluice.tree.Compute"),
        (lambda: sl.Arch(sl.Compute("ALU")), "a list of .*, not sluice.arch.Compute"),
        (lambda: sl.Arch([sl.Compute]), "not the class sluice.arch.Compute"),
        (lambda: sl.Fork([{"name": "ALU"}]), "the nodes of an architecture are .*, not dict"),
        (lambda: sl.Compute("ALU", actions=["compute"]), "the actions of Compute ALU are sluice.Action, not str"),
        (lambda: sl.Compute("ALU", spatial=[4]), "the spatial dimensions of Compute ALU are sluice.Dimension, not int"),
        (lambda: sl.Mapping([sl.Compute("ALU")]), "nodes of sluice.tree, such as tree.Storage, not sluice.arch.Compute"),
        (lambda: sl.tree.Nested(["Z"]), "the nodes of a mapping are .*, not str"),
        (lambda: sl.Workload([sl.Compute("ALU")], rank_sizes={"M": 1}), "the Einsums of a workload are .*, not sluice.arch"),
    ],
)
def test_nodes_of_the_wrong_kind_are_told_by_what_was_expected(build, message):
    with pytest.raises(TypeError, match=message):
        build()


def test_constraints_hold_and_are_named_where_they_leave_nothing():
    keep = sl.Constraints(fusion=[{"name": "spill", "tensor": "H", "fused": False}])
    free, kept = sl.map(workload(), machine()), sl.map(workload(), machine(), constraints=keep)
    assert any("H" in group for group in free.best.fusion_groups)
    assert kept.best.edp_js > free.best.edp_js
    both = sl.Constraints(storage=[{"name": "no_buffer", "memory": "Buffer", "forbid": ["A"]},
                                   {"name": "buffer", "memory": "Buffer", "keep": ["A"]}])
    refused = sl.map(workload(), machine(), constraints=both)
    assert refused.status == "no_mapping" and "no_buffer" in str(refused.reason)


def test_a_tree_built_in_code_is_priced_and_executed():
    """M = K = N = 2: 8 multiply-adds of 1.5 pJ; reads of both inputs at each, and of Z but for the
    first k: GlobalBuffer 1.5625 pJ/bit."""
    w = sl.Workload(["Z[m,n] = A[m,k] * W[k,n]"], rank_sizes={"M": 2, "K": 2, "N": 2}, bits_per_value=8)
    mapping = sl.Mapping([
        tree.Storage(["A", "W", "Z"], "MainMemory"),
        tree.Storage(["A", "W", "Z"], "GlobalBuffer"),
        tree.Temporal("m", 1),
        tree.Temporal("n", 1),
        tree.Temporal("k", 1),
        tree.Compute("Z", "MAC"),
    ])
    result = sl.evaluate(w, "simple", mapping)
    assert result.status == "ok"
    assert sum(r.energy_j for r in result.best.energy if r.component == "MAC") == pytest.approx(8 * 1.5e-12)
    run = sl.execute(w, "simple", mapping, values=True, inputs={"A": [[1, 2], [3, 4]], "W": [[1, 1], [0, 2]]})
    assert run and run[0].numbers.differing == 0
    assert run[0].values["Z"] == [[1, 5], [3, 11]]  # 1·1 + 2·0, 1·1 + 2·2, 3·1 + 4·0, 3·1 + 4·2
    again = sl.Mapping.from_json(mapping.to_json())
    assert again.nodes == mapping.nodes and again.to_yaml() == mapping.to_yaml()


def test_an_illegal_mapping_says_every_reason():
    w = sl.Workload(["Z[m] = A[m]"], rank_sizes={"M": 4}, bits_per_value=8)
    mapping = sl.Mapping([tree.Storage(["A"], "MainMemory"), tree.Temporal("m", 1), tree.Compute("Z", "MAC")])
    result = sl.evaluate(w, "simple", mapping)
    assert result.status == "illegal" and not result and not result.best.is_legal
    assert "Z" in result.best.violations[0].message and result.best.energy_j != result.best.energy_j
    with pytest.raises(sl.SpecError) as caught:
        sl.evaluate(w, "simple", sl.Mapping([tree.Storage(["Q"], "MainMemory")]))
    assert caught.value.file == "<mapping>" and caught.value.line == 4


def test_several_mappings_are_evaluated_together(tmp_path):
    specs = sl.load("matmul", "simple", set=SLOW_BUFFER)
    found = sl.map(specs, objective=["energy", "latency"])
    found.save(tmp_path)
    assert len(found) > 1
    all_at_once = sl.evaluate(specs, None, list(found))
    assert [m.energy_j for m in all_at_once] == [m.energy_j for m in found]
    from_file = sl.evaluate(specs, None, [tmp_path / "mapping.yaml", found.best])
    assert len(from_file) == len(found) + 1


def test_a_problem_prices_many_mappings(specs):
    found = sl.map(*specs)
    problem = sl.problem(*specs)
    assert problem.totals(found.best.mapping) == (found.best.energy_j, found.best.latency_s)
    assert problem.evaluate(found.best.mapping).energy == found.best.energy
    assert problem.memories_to("ALU") == ("DRAM", "Buffer")
    assert problem.einsums[0].computes == ("ALU",)
    assert problem.totals(found.best) == problem.totals(found.best.mapping)
    with pytest.raises(sl.SpecError, match="no compute `MAC`"):
        problem.memories_to("MAC")
    with pytest.raises(sl.SpecError, match="there is no tensor `Q`"):
        problem.totals(sl.Mapping([tree.Storage("Q", "DRAM")]))
    with pytest.raises(TypeError, match="not str"):
        problem.totals("mapping.yaml")


def test_one_name_is_a_list_of_one():
    assert tree.Storage("W0", "DRAM") == tree.Storage(["W0"], "DRAM")
    assert tree.Collective("all_reduce", "Z", src="PE", over="X").keys["over"] == ["X"]
    one = sl.Workload("Z[m] = A[m]", rank_sizes={"M": 4}, bits_per_value="2 * 4")
    assert [e.name for e in one.einsums] == ["Z"] and one.tensor("A").bits_per_value == 8


def test_a_mapping_of_json_has_nodes_that_are_known():
    with pytest.raises(sl.SpecError, match="no node `Temporl`"):
        sl.Mapping.from_json({"nodes": [{"node": "Temporl"}]})


def test_numbers_of_numpy_are_numbers():
    numpy = pytest.importorskip("numpy")
    w = sl.Workload([sl.Einsum("Z[m] = A[m]", is_copy_operation=numpy.bool_(True))],
                    rank_sizes={"M": numpy.int64(4)}, bits_per_value=numpy.int64(8))
    assert w.einsum("Z").is_copy and w.tensor("A").bits_per_value == 8
    product = sl.Workload("Z[m,n] = A[m,k] * W[k,n]", rank_sizes={"M": 2, "K": 2, "N": 2}, bits_per_value=8)
    found = sl.map(product, "simple").best
    run = sl.execute(product, "simple", found, values=True,
                     inputs={"A": [numpy.array([numpy.inf, 1]), (0, 1)], "W": numpy.eye(2, dtype=bool)})
    again = sl.execute(product, "simple", found, values=True,
                       inputs={name: run[0].values[name] for name in ("A", "W")})
    assert again[0].values["A"] == [[float("inf"), 1], [0, 1]]
    with pytest.raises(sl.SpecError, match="seed=-1"):
        sl.execute(product, "simple", found, seed=-1)


def test_a_training_step_has_gradients():
    step = sl.load("matmul", "simple", training=sl.Training(optimizer="sgd"))
    assert len(step.workload.einsums) > len(sl.load("matmul").workload.einsums)
    with pytest.raises(TypeError, match="not str"):
        sl.load("matmul", training="sgd")


def test_a_mapping_of_a_training_step_is_checked_and_executed_as_that():
    small, training = {"M": 2, "N": 2, "K": 2}, sl.Training()
    step = sl.load("matmul", "simple", set=small, training=training)
    found = sl.map(step)
    assert [d.message for d in sl.check(step, found.best.mapping)] == ["gradients of W; none of A"]
    assert "error" in [d.severity for d in sl.check("matmul", "simple", found.best.mapping, set=small)]
    assert sl.execute("matmul", "simple", found.best, set=small, training=training)


def test_bounds_over_a_range_are_those_of_the_command_line():
    from conftest import document

    vary = "arch.GlobalBuffer.size=512KiB..1MiB:x2"
    found = sl.bounds("matmul", "simple", set={"M": 64}, vary=vary)
    expected = document("bounds", "matmul", "simple", "--set", "M=64", "--vary", vary)
    seconds = {"seconds": 0}
    assert [{**p, **seconds} for p in found.document["points"]] == [{**p, **seconds} for p in expected["points"]]
    assert found[0].fused.energy_j.proven and found[1].value == "1024KiB"
    assert len(found.frame()) == 2 and "512KiB" in found._repr_html_()
    sizes = {"arch.GlobalBuffer.size": ["512KiB", "1024KiB"]}
    assert sl.bounds("matmul", "simple", set={"M": 64}, vary=sizes).frame().equals(found.frame())
    with pytest.raises(sl.SpecError, match="bounds vary one field, not 2: M, N"):
        sl.bounds("matmul", "simple", vary={"M": [1], "N": [1]})


def test_ctrl_c_keeps_the_bounds_that_were_found():
    import signal
    import subprocess
    import sys

    program = (
        "import sluice as sl, threading, time\n"
        "threading.Thread(target=lambda: (time.sleep(2), print('now', flush=True)), daemon=True).start()\n"
        "try:\n"
        "    sl.bounds('gpt3_6.7b', 'tpu_v4i', vary={'N_TOKENS': [1, 4096]}, budget='60s')\n"
        "except sl.Interrupted as end:\n"
        "    print(len(end.result))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "now\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert int(rest) >= 1 and process.returncode == 0


def test_check_lists_mistakes_and_import_reads_other_tools(tmp_path):
    assert sl.check("matmul", "simple") == ()
    assert sl.check("matmul", sl.Spec("workload: {nmae: x}"))[0].hint == "did you mean 'name'?"
    table = tmp_path / "no.yaml"
    table.write_text("nothing: 1\n")
    with pytest.raises(sl.SpecError):
        sl.import_(table)
