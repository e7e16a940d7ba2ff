"""Types, examples, notebooks, and what is generated."""

from __future__ import annotations

import doctest
import importlib
import os
import pkgutil
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import sluice as sl
from conftest import ROOT

PACKAGE = Path(sl.__file__).parent
MODULES = [name for _, name, _ in pkgutil.iter_modules([str(PACKAGE)]) if name not in ("_sluice", "__main__")]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_hold(name):
    module = importlib.import_module(f"sluice.{name}".rstrip("."))
    assert doctest.testmod(module).failed == 0


def test_examples_of_the_page_hold(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False)
    assert found.attempted > 10 and found.failed == 0


def test_map_has_a_keyword_for_each_row_of_the_option_table():
    made = runpy.run_path(str(ROOT / "python" / "tools" / "generate_map.py"))["module_text"]()
    file = ROOT / "python" / "sluice" / "_map.py"
    if os.environ.get("SLUICE_UPDATE_GOLDEN"):
        file.write_text(made)
    assert file.read_text() == made, "run ./dev golden --update"


USER = '''
import sluice as sl

class Mine(sl.Mapper):
    name = "mine"

    def map(self, problem: sl.Problem, options: "object", control: sl.Control) -> sl.NoMapping:
        return sl.NoMapping("nothing")

result = sl.map("matmul", "simple", budget=10, mapper=Mine(), set={"M": 4})
energy: float = result.best.energy_j
sizes: "dict[str, str]" = sl.design("matmul", "simple", variables={"M": [1, 2]}, area="1 mm2").best.settings
name: str = result.best.energy[0].component
result.best.energy[0].componet
sl.map("matmul", "simple", budgt=10)
'''


def test_the_types_hold_under_strict_mypy(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary",
               "--cache-dir", str(tmp_path / "cache")]
    environment = {**os.environ, "MYPYPATH": str(PACKAGE.parent)}
    ours = subprocess.run([*command, "-p", "sluice"], capture_output=True, text=True, env=environment)
    assert ours.stdout == "" and ours.returncode == 0
    theirs = subprocess.run([*command, str(user)], capture_output=True, text=True, env=environment)
    lines = theirs.stdout.splitlines()
    assert any('has no attribute "componet"' in line for line in lines)
    assert any('Unexpected keyword argument "budgt"' in line for line in lines)
    assert len([line for line in lines if "error:" in line]) == 2


@pytest.mark.parametrize("name", ["first_mapping", "my_accelerator", "fuse_attention", "sweep_and_compare"])
def test_the_notebooks_run(name, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "python" / "notebooks" / f"{name}.ipynb", as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3",
                            resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [o for cell in notebook.cells if cell.cell_type == "code" for o in cell.outputs]
    assert any("image/png" in output.get("data", {}) for output in shown)
    assert not any(output.output_type == "error" for output in shown)
