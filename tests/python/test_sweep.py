"""`sweep`: the runs and the database of the command line, on threads and on a Dask cluster."""

from __future__ import annotations

import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
import sluice as sl
from conftest import MACHINE, SMALL, command_line

VARY = {"arch.Buffer.size": "64B..1KiB:x2", "workload.rank_sizes.M": [16, 32]}
FLAGS = ("--vary", "arch.Buffer.size=64B..1KiB:x2", "--vary", "workload.rank_sizes.M=16,32")


def rows_of(file: Path) -> dict[str, list[tuple]]:
    """Everything in a database but what depends on the clock."""
    with sqlite3.connect(file) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
        return {name: sorted(map(repr, database.execute(f"SELECT * FROM {name}"))) for name in tables if name != "timings"}


def test_the_database_is_that_of_the_command_line(specs, tmp_path):
    runs = sl.sweep(*specs, vary=VARY, output=tmp_path / "python.sqlite", jobs=2)
    done = command_line("sweep", *specs, *FLAGS, "-o", str(tmp_path / "cli.sqlite"), "--csv", str(tmp_path / "cli.csv"))
    assert done.returncode == 0, done.stderr
    assert rows_of(tmp_path / "python.sqlite") == rows_of(tmp_path / "cli.sqlite")
    assert str(runs) == done.stdout
    assert len(runs) == runs.n_points == 10 and runs.varied == tuple(VARY)
    again = sl.sweep(*specs, vary=VARY, output=tmp_path / "cli.sqlite")  # knows all of them
    assert [run.seconds for run in again] == [float(v) for v in csv_column(tmp_path / "cli.csv", "seconds")]


def csv_column(file: Path, name: str) -> list[str]:
    head, *lines = file.read_text().splitlines()
    return [line.split(",")[head.split(",").index(name)] for line in lines]


def test_runs_have_the_numbers_of_map_and_a_mapping_to_evaluate(specs):
    runs = sl.sweep(*specs, vary={"workload.rank_sizes.M": [16, 32]}, objective="energy")
    for run in runs:
        found = sl.map(*specs, set=run.settings, objective="energy").best
        assert (run.energy_j, run.latency_s) == (found.energy_j, found.latency_s)
        assert sl.evaluate(*specs, run.mapping, set=run.settings).best.energy_j == run.energy_j
    assert runs.objective == "energy_j" and runs.best is runs[0]
    assert pickle.loads(pickle.dumps(runs)).document == runs.document


def test_objects_lists_of_workloads_and_points_of_ones_own(specs):
    product = sl.Workload(["Z[m,n] = A[m,k] * W[k,n]"], rank_sizes={"M": 8, "K": 8, "N": 8}, bits_per_value=8, name="product")
    runs = sl.sweep([specs[0], product], sl.Spec(MACHINE, "machine"), points=[{"arch.Buffer.size": "64 B"}, {"arch.Buffer.size": 1024}])
    assert [(run.workload, run.settings["arch.Buffer.size"]) for run in runs] == [
        ("small", "64 B"), ("small", "1024"), ("product", "64 B"), ("product", "1024")]
    of_text = sl.sweep(sl.Spec(f"sweep: {{workloads: {specs[0]}, architectures: {specs[1]}, grid: {{arch.Buffer.size: [64B, 128B]}}}}"))
    assert [run.settings for run in of_text] == [{"arch.Buffer.size": "64B"}, {"arch.Buffer.size": "128B"}]


def test_each_workload_has_a_best_run(specs):
    small = sl.Workload(["Z[m,n] = A[m,k] * W[k,n]"], rank_sizes={"M": 8, "K": 8, "N": 8}, bits_per_value=8, name="product")
    runs = sl.sweep([specs[0], small], specs[1], vary={"arch.Buffer.size": ["64B", "1KiB"]})
    least = {name: min(run.edp_js for run in runs if run.workload == name) for name in ("small", "product")}
    assert {name: run.edp_js for name, run in runs.best_by_workload.items()} == least
    assert runs.document["best"] == [
        {"workload": name, "run": next(n for n, run in enumerate(runs) if (run.workload, run.edp_js) == (name, edp))}
        for name, edp in least.items()]
    with pytest.raises(sl.SpecError, match="objectives of 2 workloads do not compare: small, product"):
        runs.best
    assert "best of small" in str(runs) and "best of product" in str(runs)
    assert runs._repr_html_().count("<td>best</td>") == 2


def test_a_field_is_given_once(specs):
    with pytest.raises(sl.SpecError, match="`M` varies twice") as twice:
        sl.sweep("matmul", "simple", vary=["M=4,8", "M=16"])
    assert twice.value.hint == "give all values at once: M=4,8,16"
    for call in (
        lambda: sl.sweep("matmul", "simple", set={"M": 4}, vary={"M": [8, 16]}),
        lambda: sl.sweep(sl.load("matmul", set={"M": 4}), "simple", vary={"M": [8, 16]}),
        lambda: sl.bounds("matmul", "simple", set={"M": 4}, vary={"M": [8, 16]}),
        lambda: sl.design("matmul", "simple", set={"M": 4}, variables={"M": [8, 16]}),
    ):
        with pytest.raises(sl.SpecError, match="`M` varies, and `set` gives it one value, 4"):
            call()
    for call in (sl.sweep, sl.bounds):
        with pytest.raises(sl.SpecError, match="`M` changes nothing beside `workload.rank_sizes.M`"):
            call("matmul", "simple", vary={"M": [4, 8]}, set={"workload.rank_sizes.M": 16})
    with pytest.raises(sl.SpecError, match="`M` is given twice"):
        sl.design("matmul", "simple", variables=["M=4,8", "M=16"])
    with pytest.raises(sl.SpecError, match="`M` is set already"):
        sl.map("matmul", "simple", set=["M=4", "M=8"])


def test_a_point_without_a_mapping_is_a_row_with_a_reason(specs):
    runs = sl.sweep(*specs, vary={"arch.Buffer.size": ["1B", "64B"]})
    assert [run.status for run in runs] == ["no_mapping", "ok"] and "Buffer" in runs[0].reason
    assert runs[0].energy_j is None and runs[0].mapping is None and runs.best is runs[1]
    assert "Buffer" in runs._repr_html_()
    nothing = sl.sweep(*specs, vary={"arch.Buffer.size": ["1B"]})
    assert not nothing
    with pytest.raises(sl.NoMappingError, match="Buffer"):
        nothing.best


def test_mistakes_name_the_field_and_the_nearest(specs, tmp_path):
    with pytest.raises(sl.SpecError, match="Buffer"):
        sl.sweep(*specs, vary={"arch.Bufer.size": ["1B"]})
    with pytest.raises(sl.SpecError, match="M=1\\.\\.x"):
        sl.sweep(*specs, vary="M=1..x")
    with pytest.raises(sl.SpecError, match="`M` has no values"):
        sl.sweep(*specs, vary={"M": []})
    (tmp_path / "text.sqlite").write_text("this is no database, but it is long enough to be looked at" * 20)
    with pytest.raises(sl.SpecError, match="no SQLite database"):
        sl.sweep(*specs, vary=VARY, output=tmp_path / "text.sqlite")
    with pytest.raises(sl.SpecError, match="by name"):
        class Mine(sl.LatencyPolicy):
            name = "mine"

            def latency(self, counted):
                return {}
        sl.sweep(*specs, vary=VARY, latency=Mine())


def test_frames_and_plots(specs):
    runs = sl.sweep(*specs, vary=VARY)
    frame = runs.frame()
    assert len(frame) == 10 and list(frame.columns[:2]) == list(VARY)
    axes = runs.plot()
    assert axes.get_xlabel() == "arch.Buffer.size" and len(axes.get_lines()) == 2  # one for each M
    assert runs.plot("workload.rank_sizes.M", "energy_j").get_ylabel() == "energy_j"
    with pytest.raises(sl.SpecError, match="no column"):
        runs.plot("energy")


def test_results_and_sweeps_go_into_one_report(specs, tmp_path):
    runs = sl.sweep(*specs, vary={"arch.Buffer.size": ["64B", "128B"]}, output=tmp_path / "runs.sqlite")
    page = tmp_path / "report.html"
    sl.report(sl.map(*specs), runs, tmp_path / "runs.sqlite", output=page)
    text = page.read_text()
    assert text.count('"schema":') >= 3 and "small on machine" in text and "runs.sqlite" in text
    with pytest.raises(sl.SpecError, match="no JSON"):
        sl.report(specs[0], output=page)
    first, second = (sl.map(*specs, set={"arch.Buffer.size": size}) for size in ("64 B", "1 KiB"))
    first.save(tmp_path / "first")
    compared = sl.compare(tmp_path / "first", second)
    assert compared.document["schema"] == "sluice.comparison/1" and "small on machine" in str(compared)


def test_ctrl_c_keeps_what_was_found_and_the_same_call_goes_on(tmp_path):
    program = (
        "import sluice as sl, sys\n"
        "try:\n"
        "    sl.sweep('matmul_chain', 'simple', set={'N_EINSUMS': 4}, vary={'arch.GlobalBuffer.size': '128KiB..64MiB:+128KiB'},\n"
        "             output=sys.argv[1], jobs=1, on_progress=lambda p: print(p.phase, flush=True))\n"
        "except sl.Interrupted as end:\n"
        "    print(len(end.result) > 0, end.result.is_interrupted)\n"
    )
    file = tmp_path / "runs.sqlite"
    process = subprocess.Popen([sys.executable, "-c", program, str(file)], stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if not line.startswith("0 of"):
            break
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=100)
    assert rest.splitlines()[-1] == "True True"
    with sqlite3.connect(file) as database:
        assert database.execute("SELECT count(*) FROM runs").fetchone()[0] > 0


# --- on a cluster ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster():
    """Four workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed: pip install distributed")
    with distributed.LocalCluster(n_workers=4, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster


def test_four_workers_fill_the_same_database(specs, tmp_path, cluster):
    from distributed import Client

    seen: list[sl.Progress] = []
    sl.sweep(*specs, vary=VARY, output=tmp_path / "threads.sqlite")
    with Client(cluster) as client:
        runs = sl.sweep(*specs, vary=VARY, output=tmp_path / "dask.sqlite", client=client, on_progress=seen.append)
        assert len(client.scheduler_info()["workers"]) == 4
    assert rows_of(tmp_path / "dask.sqlite") == rows_of(tmp_path / "threads.sqlite")
    assert len(runs) == 10 and seen[-1].phase == "10 of 10 runs"


def test_a_killed_worker_loses_nothing(specs, tmp_path, cluster):
    """The first run that arrives kills the worker that is at another one."""
    from distributed import Client

    sl.sweep(*specs, vary=VARY, output=tmp_path / "threads.sqlite")
    killed: list[int] = []
    with Client(cluster) as client:
        pids = client.run(os.getpid)

        def kill_one(progress: sl.Progress) -> None:
            if not killed and not progress.phase.startswith("0 of"):
                killed.append(pids.popitem()[1])
                os.kill(killed[0], signal.SIGKILL)

        runs = sl.sweep(*specs, vary=VARY, output=tmp_path / "dask.sqlite", client=client, on_progress=kill_one)
    assert killed and len(runs) == 10
    assert rows_of(tmp_path / "dask.sqlite") == rows_of(tmp_path / "threads.sqlite")


def test_a_client_killed_with_9_resumes_without_doing_anything_twice(specs, tmp_path, cluster):
    program = (
        "import os, sys, sluice as sl\n"
        "from distributed import Client\n"
        f"client = Client({cluster.scheduler_address!r})\n"
        "def end(p):\n"
        "    if p.phase.startswith('4 of'): os._exit(9)\n"
        f"sl.sweep(*sys.argv[1:3], vary={VARY!r}, output=sys.argv[3], client=client, on_progress=end)\n"
    )
    from distributed import Client

    file = tmp_path / "dask.sqlite"
    done = subprocess.run([sys.executable, "-c", program, *specs, str(file)], timeout=100)
    assert done.returncode == 9
    with sqlite3.connect(file) as database:
        before = dict(database.execute("SELECT run, seconds FROM timings"))
    assert len(before) == 4
    with Client(cluster) as client:
        runs = sl.sweep(*specs, vary=VARY, output=file, client=client)
    with sqlite3.connect(file) as database:
        after = dict(database.execute("SELECT run, seconds FROM timings"))
    assert len(runs) == len(after) == 10 and {key: after[key] for key in before} == before
    sl.sweep(*specs, vary=VARY, output=tmp_path / "threads.sqlite")
    assert rows_of(file) == rows_of(tmp_path / "threads.sqlite")


def test_what_a_worker_raises_comes_out_and_what_is_no_client_is_refused(specs, cluster):
    from distributed import Client
    from sluice import _cluster

    with pytest.raises(TypeError, match="dask.distributed.Client"):
        sl.sweep(*specs, vary=VARY, client="127.0.0.1:8786")
    inputs = sl._sluice.sweep([specs[0]], [specs[1]], [], {}, [], None, "", [], [], {}, "").inputs(0)
    other = json.dumps({**json.loads(inputs), "key": "0" * 32, "version": "9.9"})
    with Client(cluster) as client, pytest.raises(sl.SpecError, match="the client 9.9"):
        client.submit(_cluster.search_point, other, "", 1).result()
