"""ONNX models in Python: what `import` counts, and mapping them as they are."""

from __future__ import annotations

import pytest
import sluice as sl
from conftest import ROOT, command_line

MODEL = ROOT.parent / "shared" / "onnx" / "stream__attention_head.onnx"
pytestmark = pytest.mark.skipif(not MODEL.exists(), reason=f"there is no {MODEL.name} beside the repository (../shared/onnx)")


def test_a_model_says_what_it_counts(tmp_path):
    model = sl.import_(MODEL)
    # Q, K, V: 3 · 128·512·64; scores and the result: 2 · 128·128·64
    assert model.macs == 3 * 128 * 512 * 64 + 2 * 128 * 128 * 64
    assert {row.type: (row.count, row.how) for row in model.operators} == {
        "MatMul": (5, "exact"), "Softmax": (1, "exact"), "Transpose": (1, "free")}
    assert len(model.operators_frame()) == 3 and model.parameters == 0 and model.activation_values > 0
    printed = command_line("import", str(MODEL), "-o", str(tmp_path / "out")).stdout
    assert printed.startswith(str(model)) and "MatMul" in model._repr_html_()


def test_a_setting_that_a_model_does_not_ask_for_is_refused():
    with pytest.raises(sl.SpecError, match="no file declares the variable 'bacth'"):
        sl.import_(MODEL, set={"bacth": 4})
    with pytest.raises(sl.SpecError, match="sets variables, and no fields by their path"):
        sl.import_(MODEL, set={"workload.rank_sizes.M": 4})


def test_a_model_is_mapped_and_swept_as_it_is():
    whole = sl.map(MODEL, "edge_33tops")
    assert [e.name for e in sl.import_(MODEL).workload.einsums] == [e.name for e in whole.best.einsums]
    runs = sl.sweep(MODEL, "edge_33tops", vary={"arch.GlobalBuffer.size": ["1MiB", "4MiB"]})
    assert len(runs) == 2 and runs[1].mapping is not None
