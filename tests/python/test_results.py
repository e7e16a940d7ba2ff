"""Frames, HTML and plots of results."""

from __future__ import annotations

import pytest
import sluice as sl
from conftest import SLOW_BUFFER

pandas = pytest.importorskip("pandas")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def result():
    return sl.map("matmul", "simple", set=SLOW_BUFFER, objective=["energy", "latency"])


def test_frames_have_the_rows_and_units_of_the_document(result):
    best, document = result.best, result.document["mappings"][0]
    energy = best.energy_frame()
    assert list(energy.columns) == list(document["energy"][0])
    assert energy["energy_j"].sum() == pytest.approx(best.energy_j, rel=1e-12)
    assert len(best.latency_frame()) == len(document["latency"])
    assert best.occupancy_frame().set_index("component").loc["GlobalBuffer", "share"] <= 1
    assert list(best.networks_frame().columns)[:2] == ["kind", "component"]


def test_the_frame_of_several_objectives_is_their_pareto_front(result):
    frame = result.frame()
    assert len(frame) == len(result) > 1
    by_latency = frame.sort_values("latency_s")
    assert by_latency["energy_j"].is_monotonic_decreasing
    together = result.energy_frame()
    assert together.groupby("mapping")["energy_j"].sum().tolist() == pytest.approx(frame["energy_j"].tolist())


def test_html_has_the_totals_bars_and_the_tree(result):
    html = result._repr_html_()
    for text in ("matmul", "simple", "GlobalBuffer", "Energy by component", "Occupancy", "MAC computes"):
        assert text in html
    assert html.count("<table") == html.count("</table>") and "<script" not in html
    assert sl.load("matmul", "simple")._repr_html_().startswith("<pre")


@pytest.mark.parametrize("kind", ["breakdown", "occupancy", "roofline", "pareto"])
def test_each_plot_takes_one_call(result, kind, tmp_path):
    axes = getattr(result, f"plot_{kind}")()
    assert axes.get_title() and axes.get_xlabel()
    axes.figure.savefig(tmp_path / f"{kind}.png")
    assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    pyplot.close(axes.figure)


def test_a_breakdown_shows_all_of_the_energy(result):
    for by in ("component", "einsum", "tensor", "action"):
        axes = result.plot_breakdown(by=by)
        assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(result.best.energy_j, rel=1e-9)
        pyplot.close(axes.figure)
    with pytest.raises(sl.SpecError, match="choose component, einsum"):
        result.plot_breakdown(by="colour")


def test_no_point_lies_above_the_roofs():
    """A matrix product of 64·1024·1024 multiply-adds, two operations each; simple: 512 Gop/s, 32 GB/s."""
    axes = sl.map("matmul", "simple", set={"M": 64}).plot_roofline()
    (roof,) = [line for line in axes.lines if len(line.get_xdata()) == 3]
    x, y = axes.collections[0].get_offsets()[0]
    assert max(roof.get_ydata()) == pytest.approx(512e9)
    assert y <= min(512e9, x * 32e9) * (1 + 1e-9)
    pyplot.close(axes.figure)


def test_a_point_of_the_roofline_is_that_of_the_document():
    result = sl.map("matmul", "simple", set={"M": 64})
    axes = result.plot_roofline()
    roofline = result.document["mappings"][0]["efficiency"]["roofline"]
    x, y = axes.collections[0].get_offsets()[0]
    assert (x / 8, y) == pytest.approx((roofline["operations_per_bit"], roofline["operations_per_s"]), rel=0.01)
    pyplot.close(axes.figure)


def test_energies_that_are_unknown_are_no_zeros():
    small = {"M": 8, "N": 8, "K": 8}
    best = sl.map("matmul", "simple", set=small).best
    unknown = sl.evaluate("matmul", "simple", best, set={**small, "arch.MainMemory.read.energy": "null"})
    axes = unknown.plot_breakdown()
    texts = [text.get_text().strip() for text in axes.texts]
    assert axes.get_title().endswith("unknown") and texts[-1] == "unknown" and "%" not in "".join(texts)
    assert "nan" not in unknown._repr_html_()
    pyplot.close(axes.figure)


def test_nothing_is_drawn_of_an_illegal_mapping():
    illegal = sl.evaluate("matmul", "simple", sl.Mapping([sl.tree.Storage("A", "MainMemory")]))
    for plot in (illegal.plot_breakdown, illegal.plot_occupancy, illegal.plot_roofline):
        with pytest.raises(sl.SluiceError, match="the mapping is illegal"):
            plot()
