"""`map`: the numbers of the command line, options, what goes wrong."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import sluice as sl
from conftest import command_line, document, without_search


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (("matmul", "simple"), {}),
        (("matmul", "simple", "--set", "M=64", "--objective", "energy,latency"),
         {"set": {"M": 64}, "objective": ["energy", "latency"]}),
        (("matmul_chain", "simple", "--set", "N_EINSUMS=2", "--top", "3"), {"set": {"N_EINSUMS": 2}, "top": 3}),
        (("matmul", "simple", "--mapper", "random", "--budget", "200evals", "--seed", "5"),
         {"mapper": "random", "budget": "200evals", "seed": 5}),
        (("matmul", "simple", "--latency", "staged", "--mapper", "anneal", "--budget", "300evals"),
         {"latency": "staged", "mapper": "anneal", "budget": "300evals"}),
        (("matmul", "simple", "--objective", "latency", "--set", "arch.MainMemory.read.energy=null"),
         {"objective": "latency", "set": {"arch.MainMemory.read.energy": "null"}}),
    ],
)
def test_the_numbers_are_those_of_the_command_line_to_the_last_bit(arguments, options):
    result = sl.map(*arguments[:2], **options)
    assert without_search(result.document) == document("map", *arguments)


def test_why_is_what_the_command_line_finds():
    found = sl.map("matmul_chain", "simple", set={"N_EINSUMS": 2}, why=True, threads=1)
    printed = document("map", "matmul_chain", "simple", "--set", "N_EINSUMS=2", "--why", "--threads", "1")
    assert found.document["why"] == printed["why"]
    why = found.why
    assert why.status == "ok" and why.questions == why.answered > 0 and why.objective == found.best.edp_js
    assert [row.einsum for row in why.einsums] == [row["einsum"] for row in found.document["why"]["einsums"]]
    first = why.einsums[0]
    assert first.busy[0].latency_s == first.latency_s and first.alone.status == "found"
    assert [row.tensor for row in why.exchanges] == ["T1"] and why.exchanges[0].other.guarantee == "optimal"
    size = next(row for row in why.shadow_prices if row.what == "size")
    assert size.after == 2 * size.before
    bigger = sl.map("matmul_chain", "simple", set=["N_EINSUMS=2", *size.set], threads=1).best
    assert bigger.edp_js == pytest.approx(size.answer.objective)
    assert sl.map("matmul", "simple", set={"M": 4}, threads=1).why is None
    assert "twice" in str(found)


def test_why_explains_one_objective():
    with pytest.raises(sl.SpecError, match="one objective"):
        sl.map("matmul", "simple", objective=["energy", "latency"], why=True)


def test_a_result_has_typed_numbers_in_si_units(specs):
    result = sl.map(*specs)
    best = result.best
    assert result.status == "ok" and len(result) == 1 and best is result.mappings[0]
    assert best.edp_js == best.energy_j * best.latency_s
    assert sum(row.energy_j for row in best.energy) == pytest.approx(best.energy_j, rel=1e-12)
    # H: 16·8·16 = 2048 multiply-adds of 0.5 pJ, R: 256, Y: 16·16·4 = 1024
    alu = {row.einsum: row for row in best.energy if row.action == "compute"}
    assert {name: row.count for name, row in alu.items()} == {"H": 2048, "R": 256, "Y": 1024}
    assert alu["H"].energy_j == pytest.approx(2048 * 0.5e-12)
    assert result.guarantee.kind == "optimal" and result.guarantee.is_proven
    assert result.search.mappings_evaluated > 0


def test_no_legal_mapping_is_a_result_and_best_says_why(specs):
    result = sl.map(*specs, set={"arch.Buffer.size": "1 B"})
    assert result.status == "no_mapping" and not result and len(result) == 0
    assert result.reason.component == "Buffer" and result.reason.excess_bits > 0
    with pytest.raises(sl.NoMappingError, match="Buffer"):
        result.best
    assert "Buffer" in str(result) and "Buffer" in result._repr_html_()


def test_mistakes_in_specs_have_file_line_column_and_hint(tmp_path):
    file = tmp_path / "w.yaml"
    file.write_text("workload:\n  rank_sizs: {M: 4}\n  bits_per_value: {All: 8}\n  einsums: ['Z[m] = A[m]']\n")
    with pytest.raises(sl.SpecError) as caught:
        sl.map(file, "simple")
    error = caught.value
    assert (error.file, error.line, error.column) == (str(file), 2, 3)
    assert "rank_sizs" in error.message and error.hint == "did you mean 'rank_sizes'?"
    assert f"{file}:2:3: error:" in str(error)
    assert pickle.loads(pickle.dumps(error)).diagnostics == error.diagnostics


TIMELOOP = """
architecture:
  version: 0.4
  nodes:
  - !Component {name: DRAM, class: DRAM, attributes: {datawidth: 8}}
  - !Component {name: GLB, class: SRAM, attributes: {datawidth: 8, depht: 64}}
  - !Component {name: MAC, class: intmac, attributes: {datawidth: 8}}
problem:
  shape:
    name: GEMM
    dimensions: [M, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: Z, projection: [[[M]]], read-write: True}
  instance: {M: 4, K: 2}
"""


def test_errors_about_an_import_tell_its_notes_as_the_command_line_does(tmp_path):
    job = tmp_path / "job.yaml"
    job.write_text(TIMELOOP)
    with pytest.raises(sl.SpecError) as caught:
        sl.map(job)
    assert [d.severity for d in caught.value.diagnostics].count("error") == 1
    assert caught.value.line == 5 and "are null" in caught.value.message
    assert "did you mean 'depth'?" in str(caught.value)
    assert f"{caught.value}\n1 error\n" == command_line("map", str(job)).stderr


def test_a_part_that_is_missing_is_told_with_the_notes_of_an_import(tmp_path):
    job = tmp_path / "arch.yaml"
    job.write_text(TIMELOOP.split("problem:")[0])
    for call in (sl.map, sl.evaluate):
        with pytest.raises(sl.SpecError, match="no workload") as caught:
            call(job)
        assert "did you mean 'depth'?" in str(caught.value)


def test_misspelt_names_and_options_are_errors_with_hints():
    with pytest.raises(sl.SpecError, match="did you mean `tpu_v4i`"):
        sl.map("matmul", "tpu_v4")
    with pytest.raises(TypeError, match="max_fused_lops"):
        sl.map("matmul", "simple", max_fused_lops=1)
    with pytest.raises(sl.SpecError, match="did you mean 'energy'"):
        sl.map("matmul", "simple", objective="enrgy")
    with pytest.raises(sl.SpecError, match="no mapper `fussed`"):
        sl.map("matmul", "simple", mapper="fussed")


def test_options_have_all_of_their_digits_and_numpys_numbers_count(specs):
    numpy = pytest.importorskip("numpy")
    drawn = sl.map(*specs, mapper="random", budget="50evals", seed=2**63 + 1, row_fusion=numpy.False_)
    assert drawn.document["seed"] == 2**63 + 1
    assert sl.map(*specs, budget=numpy.int64(10), threads=numpy.int32(1)).document["options"]["budget"] == "10s"
    with pytest.raises(TypeError, match="NAME=VALUE, not tuple"):
        sl.map(*specs, set=[("M", 4)])


def test_options_of_a_spec_file_hold_and_keywords_win(specs):
    with_options = (*specs, sl.Spec("mapper: {objective: energy, top: 2}"))
    assert sl.map(*with_options).document["objective"] == "energy"
    assert sl.map(*with_options, objective="latency").document["objective"] == "latency"


def test_progress_is_told_in_the_thread_of_the_caller():
    seen: list[sl.Progress] = []
    threads = set()

    def on_progress(progress: sl.Progress) -> None:
        seen.append(progress)
        threads.add(threading.current_thread())

    result = sl.map("attention", "simple", mapper="anneal", budget="0.5s", on_progress=on_progress)
    assert threads == {threading.current_thread()}
    assert seen[-1].objective == result.best.edp_js
    assert seen[-1].found_over_bound >= 1
    assert [p.seconds for p in seen] == sorted(p.seconds for p in seen)


def test_what_on_progress_raises_ends_the_search():
    def stop(progress: sl.Progress) -> None:
        raise LookupError("enough")

    begin = time.monotonic()
    with pytest.raises(LookupError, match="enough"):
        sl.map("gpt3_6.7b", "tpu_v4i", mapper="anneal", budget="60s", on_progress=stop)
    assert time.monotonic() - begin < 20


def test_a_search_leaves_the_interpreter_to_other_threads():
    """While a second thread searches for 1 s, this one counts."""
    done = threading.Event()
    thread = threading.Thread(
        target=lambda: (sl.map("gpt3_6.7b", "tpu_v4i", mapper="anneal", budget=1, threads=1), done.set())
    )
    thread.start()
    turns = 0
    while not done.is_set():
        time.sleep(0.01)
        turns += 1
    thread.join()
    assert turns > 20  # of about 100


def test_ctrl_c_raises_interrupted_with_the_best_so_far():
    program = (
        "import sluice as sl\n"
        "try:\n"
        "    sl.map('gpt3_6.7b', 'tpu_v4i', mapper='anneal', budget='120s',\n"
        "           on_progress=lambda p: print(p.objective, flush=True))\n"
        "except sl.Interrupted as end:\n"
        "    print('interrupted', end.result.status, end.result.best.energy_j > 0, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.strip() not in ("None", ""):
            break
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest.splitlines()[-1] == "interrupted interrupted True"
    assert process.returncode == 0


def test_results_and_specs_survive_pickling(specs):
    result = sl.map(*specs)
    again = pickle.loads(pickle.dumps(result))
    assert again.document == result.document and again.best == result.best
    assert str(again) == str(result)
    loaded = pickle.loads(pickle.dumps(sl.load(*specs)))
    assert without_search(sl.map(loaded).document) == without_search(result.document)


def test_a_saved_result_is_what_the_command_line_writes(specs, tmp_path):
    from conftest import command_line

    sl.map(*specs).save(tmp_path / "python")
    command_line("map", *specs, "-o", str(tmp_path / "cli"))
    for name in ("mapping.yaml", "specs.yaml"):
        assert (tmp_path / "python" / name).read_text() == (tmp_path / "cli" / name).read_text()
    evaluated = sl.evaluate(*specs, tmp_path / "python" / "mapping.yaml")
    assert evaluated.best.energy_j == sl.map(*specs).best.energy_j


def test_it_prints_as_the_summary_of_the_command_line(specs):
    from conftest import command_line

    printed = command_line("map", *specs).stdout.splitlines()
    lines = str(sl.map(*specs)).splitlines()
    assert [a for a in printed if "search" not in a] == [a for a in lines if "search" not in a]


def test_the_program_is_in_the_package():
    from conftest import command_line

    assert command_line("--version").stdout.strip().endswith(sl.__version__)
    assert command_line("list", "workloads").stdout.startswith("attention")
    assert Path(sl.__file__).with_name("bin").joinpath("sluice").exists()
