"""`design`: the search of the command line, from a file and from objects; energies of other tools' files."""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys

import pytest
import sluice as sl
from conftest import MACHINE, SMALL, command_line

VARIABLES = {"arch.Buffer.size": "64B..1KiB:x2", "arch.ALU.lane.fanout": [16, 32, 64]}


def without_seconds(document):
    return {**document, "search": {key: value for key, value in document["search"].items() if key != "seconds"}}


@pytest.fixture
def file(specs, tmp_path):
    """A design search of two workloads."""
    (tmp_path / "design.yaml").write_text(f"""
design:
  workloads: [{specs[0]}, {{workload: {specs[0]}, set: {{workload.rank_sizes.M: 32}}, weight: 3}}]
  architecture: {specs[1]}
  variables: {{arch.Buffer.size: "64B..1KiB:x2", arch.ALU.lane.fanout: [16, 32, 64]}}
""")
    return str(tmp_path / "design.yaml")


def test_a_file_gives_the_numbers_of_the_command_line(file, tmp_path):
    found = sl.design(file, objective="energy")
    done = command_line("design", file, "--objective", "energy", "--json", "-o", str(tmp_path / "cli"))
    assert done.returncode == 0, done.stderr
    assert without_seconds(found.document) == without_seconds(json.loads(done.stdout))
    found.save(tmp_path / "python")
    for name in ("arch.yaml", "mapping_1.yaml", "mapping_2.yaml"):
        assert (tmp_path / "python" / name).read_text() == (tmp_path / "cli" / name).read_text()
    assert json.loads((tmp_path / "python" / "result.json").read_text()) == found.document
    assert pickle.loads(pickle.dumps(found)).best == found.best


def test_a_call_says_what_a_file_says(file, specs):
    other = sl.DesignWorkload(sl.Spec(SMALL, "small"), set={"workload.rank_sizes.M": 32}, weight=3)
    found = sl.design([specs[0], other], sl.Spec(MACHINE, "machine"), variables=VARIABLES)
    assert without_seconds(found.document) == without_seconds(sl.design(file).document)
    as_texts = [f"{name}={values if isinstance(values, str) else '16,32,64'}" for name, values in VARIABLES.items()]
    assert sl.design([specs[0], other], specs[1], variables=as_texts).best == found.best
    assert found.n_designs == 15 and found.status == "ok" and found.is_proven and found


def test_the_best_design_has_the_mappings_and_the_price_of_map(specs):
    found = sl.design(sl.load(*specs), variables=VARIABLES, objective="latency")
    best = found.best
    assert best.objective == best.workloads[0].objective == found.bound
    assert sl.map(specs[0], best.arch, objective="latency").best.latency_s == best.objective
    evaluated = sl.evaluate(specs[0], best.arch, best.workloads[0].mapping).best
    assert (evaluated.energy_j, evaluated.latency_s) == (best.workloads[0].energy_j, best.workloads[0].latency_s)
    assert found.document["best"]["arch"] == best.arch.to_yaml()
    swept = sl.sweep(*specs, vary=VARIABLES, objective="latency")
    assert swept.best.latency_s == best.objective
    assert found.frame().latency_s.tolist() == [best.workloads[0].latency_s]
    assert "arch.Buffer.size" in found._repr_html_() and "proven best of 15 designs" in repr(found)


def test_the_best_design_keeps_its_areas():
    variables = {"arch.Buffer.size": ["1 KiB", "2 KiB"]}
    machine = sl.Spec(MACHINE.replace("name: Buffer,", "name: Buffer, area: 1e-9, leak_power: 1 uW,"), "machine")
    found = sl.design(sl.Spec(SMALL, "small"), machine, variables=variables, threads=1)
    again = sl.map(sl.Spec(SMALL, "small"), found.best.arch, threads=1).best
    assert again.area_m2 == found.best.area_m2 == 1e-9
    assert again.leak_energy_j == pytest.approx(1e-6 * again.latency_s)


def test_budgets_leave_designs_out_and_may_leave_none(specs):
    free = sl.design(*specs, variables=VARIABLES)
    drawn = free.best.workloads[0].power_w
    tight = sl.design(*specs, variables=VARIABLES, power=drawn / 2)
    assert not tight or all(outcome.power_w <= drawn / 2 for outcome in tight.best.workloads)
    none = sl.design(*specs, variables=VARIABLES, power="1 pW")
    assert not none and none.status == "no_design" and none.is_proven and none.n_over_power == 15
    assert none.frame().empty and "no_design" in none._repr_html_()
    with pytest.raises(sl.NoMappingError, match="within the budgets"):
        none.best


def test_mistakes_are_told_at_their_place(specs):
    with pytest.raises(sl.SpecError) as raised:
        sl.design(*specs, variables={"arch.Buffer.size": "64B..x"})
    assert raised.value.file == "<design>" and raised.value.line is not None
    with pytest.raises(sl.SpecError, match="did you mean"):
        sl.design("matmull", specs[1], variables=VARIABLES)
    with pytest.raises(sl.SpecError, match="no component has an area"):
        sl.design(*specs, variables=VARIABLES, area="1 mm2")
    with pytest.raises(sl.SpecError, match="area"):
        sl.design(*specs, variables=VARIABLES, area="1 W")
    with pytest.raises(sl.SpecError, match="exactly one objective"):
        sl.design(*specs, variables=VARIABLES, objective=["energy", "latency"])
    with pytest.raises(sl.SpecError, match="variables"):
        sl.design(*specs)
    with pytest.raises(sl.SpecError, match="by name"):
        class Mine(sl.LatencyPolicy):
            name = "mine"

            def latency(self, counted):
                return {}
        sl.design(*specs, variables=VARIABLES, latency=Mine())


def test_progress_is_told_and_what_it_raises_comes_out(specs):
    seen: list[sl.Progress] = []
    found = sl.design(*specs, variables=VARIABLES, on_progress=seen.append)
    assert seen and "designs undecided" in seen[-1].phase
    assert seen[-1].objective is None or seen[-1].objective >= found.best.objective

    def fail(progress: sl.Progress) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        sl.design(*specs, variables=VARIABLES, on_progress=fail)


def test_ctrl_c_ends_with_the_best_so_far():
    program = (
        "import sluice as sl\n"
        "try:\n"
        "    sl.design('matmul_chain', 'simple', set={'N_EINSUMS': 48}, on_progress=lambda p: print(p.phase, flush=True),\n"
        "              variables={'arch.GlobalBuffer.size': '128KiB..64MiB:+128KiB'})\n"
        "except sl.Interrupted as end:\n"
        "    print(end.result.is_interrupted, end.result.status)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=100)
    assert rest.splitlines()[-1] == "True interrupted"


ARCH = """
architecture:
  version: 0.2
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8, block-size: 4}}
    - {name: GLB, class: SRAM, attributes: {word-bits: 8, depth: 8192}}
    - {name: MAC, class: intmac, attributes: {word-bits: 8}}
"""
PROBLEM = """
problem:
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 16, N: 16, K: 16}
"""
ERT = """
DRAM: {read: 512, write: 512}
GLB: {read: 8, write: 8}
MAC: {compute: 0.5}
"""


def test_every_call_takes_an_ert_as_the_command_line_does(tmp_path):
    names = []
    for name, text in (("prob.yaml", PROBLEM), ("arch.yaml", ARCH), ("ert.yaml", ERT)):
        (tmp_path / name).write_text(text)
        names.append(str(tmp_path / name))
    problem, arch, ert = names
    mapped = sl.map(problem, arch, ert=tmp_path / "ert.yaml").best
    done = command_line("map", problem, arch, "--ert", ert, "--json")
    assert json.loads(done.stdout)["mappings"][0]["energy_j"] == mapped.energy_j
    vary = {"arch.GLB.size": ["256B", "1KiB"]}
    runs = sl.sweep(problem, arch, ert=ert, vary=vary)
    assert [run.energy_j for run in runs] == [
        sl.map(problem, arch, ert=ert, set=run.settings).best.energy_j for run in runs]
    found = sl.design(problem, arch, ert=ert, variables=vary)
    assert found.best.objective == min(run.edp_js for run in runs)
    (tmp_path / "design.yaml").write_text(
        f"design: {{workloads: {problem}, architecture: {arch}, variables: {{arch.GLB.size: [256B, 1KiB]}}}}")
    told = json.loads(command_line("design", str(tmp_path / "design.yaml"), "--ert", ert, "--json").stdout)
    assert told["best"]["objective"] == found.best.objective
    assert sl.evaluate(problem, arch, mapped, ert=ert).best.energy_j == mapped.energy_j
    assert sl.problem(problem, arch, ert=ert).totals(mapped.mapping)[0] == mapped.energy_j
    assert sl.load(problem, arch, ert=ert).arch.component("GLB").instances == 1
    assert all(d.severity != "error" for d in sl.check(problem, arch, ert=ert))
    loaded = sl.load(problem, arch, ert=ert)  # brings its energies along
    assert sl.map(loaded).best.energy_j == mapped.energy_j
    with pytest.raises(sl.SpecError, match="ert"):
        sl.sweep(problem, arch, ert=tmp_path / "no_ert.yaml", vary=vary)
