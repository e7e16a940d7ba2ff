"""Mappers, latency policies and component classes in Python: docs/python.md, tests/package."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
import sluice as sl
from conftest import ROOT
from sluice import tree


class OneBuffer(sl.Mapper):
    """All tensors in the outermost memory, one loop, a tile of all beside the compute."""

    name = "one_buffer"
    description = "one tile of everything beside the compute"

    def map(self, problem, options, control):
        best, best_edp = None, float("inf")
        for outer in range(max(len(e.variables) for e in problem.einsums)):
            if control.cancelled:
                break
            mapping = self.mapping_with(problem, outer)
            totals = problem.totals(mapping)
            if totals is None:
                continue
            control.offer(mapping)
            if totals[0] * totals[1] < best_edp:
                best, best_edp = mapping, totals[0] * totals[1]
        return best or sl.NoMapping("no outer loop leaves tiles that fit beside the compute")

    @staticmethod
    def mapping_with(problem, outer):
        def nest(einsum):
            variables = list(einsum.variables)
            first = variables.pop(outer % len(variables))
            inner = problem.memories_to(einsum.computes[0])[-1]
            return tree.Nested([
                tree.Temporal(first, 1),
                tree.Storage(list(dict.fromkeys([*einsum.inputs, einsum.output])), inner),
                *(tree.Temporal(v, 1) for v in variables),
                tree.Compute(einsum.name, einsum.computes[0]),
            ])

        outermost = problem.memories_to(problem.einsums[0].computes[0])[0]
        return sl.Mapping([
            tree.Storage([t.name for t in problem.tensors], outermost),
            tree.Sequential([nest(einsum) for einsum in problem.einsums]),
        ])


class Doubled(sl.LatencyPolicy):
    """Every second of work is followed by one of waiting."""

    name = "doubled"

    def latency(self, counted):
        return {"busy": counted.overlap_s, "waiting": counted.overlap_s}


class RegisterFile(sl.ComponentClass):
    name = "RegisterFile"
    kinds = ["Memory"]
    source = "an example: 1 fJ/bit × √(bits) × ports"
    attributes = [
        sl.Attribute("size", unit="bit", from_key="size", minimum=1),
        sl.Attribute("ports", usual=1, minimum=1, maximum=4),
    ]

    def numbers(self, values):
        energy = 1e-15 * values["size"] ** 0.5 * values["ports"]
        return sl.ComponentNumbers(
            actions=[sl.ActionNumbers("read", energy_j_per_bit=energy), sl.ActionNumbers("write", energy_j_per_bit=energy)],
            area_m2=1e-12 * values["size"],
        )


PACKAGE = ROOT / "tests" / "package"
SPECS = (PACKAGE / "workload.yaml", PACKAGE / "machine.yaml")


def test_a_mapper_a_policy_and_a_class_give_what_their_cpp_twins_give():
    """tests/package/main.cpp, check_one_buffer: 2 · 64 ns; DRAM, RF (64 fJ/bit) and SIMD."""
    result = sl.map(*SPECS, mapper=OneBuffer(), latency=Doubled(), extensions=[RegisterFile()])
    best = result.best
    assert result.mapper == "one_buffer" and result.document["latency_policy"] == "doubled"
    assert best.latency_s == pytest.approx(2 * 64e-9, rel=1e-12)
    assert best.energy_j == pytest.approx(104 * 8e-12 + (128 + 164) * 8 * 64e-15 + 64e-12, rel=1e-12)
    assert best.breakdown == {"busy_s": best.latency_s / 2, "waiting_s": best.latency_s / 2}
    source = next(s["source"] for s in result.document["sources"] if s["component"] == "RF")
    assert source == "RegisterFile(size 1024 bit, ports 2): an example: 1 fJ/bit × √(bits) × ports"


def test_they_enter_the_registries_by_name():
    options = sl.Spec("mapper: {mapper: one_buffer, latency: doubled}")
    extensions = [OneBuffer(), Doubled(), RegisterFile()]
    assert sl.map(*SPECS, options, extensions=extensions).mapper == "one_buffer"
    drawn = sl.map(*SPECS, mapper="random", latency="doubled", budget="100evals", extensions=extensions)
    assert "waiting_s" in drawn.best.breakdown
    refused = sl.map(*SPECS, mapper="fused", latency="doubled", extensions=extensions)
    assert refused.status == "no_mapping" and "one_buffer" in refused.reason.nearest_relaxation
    evaluated = sl.evaluate(*SPECS, drawn.best, latency=Doubled(), extensions=[RegisterFile()])
    assert evaluated.best.latency_s == drawn.best.latency_s


def test_names_that_are_taken_or_missing_are_said():
    class Fused(OneBuffer):
        name = "fused"

    with pytest.raises(ValueError, match="'fused' is taken"):
        sl.map("matmul", "simple", mapper=Fused())
    with pytest.raises(sl.SpecError, match="RegisterFile"):
        sl.map(*SPECS)


class Raises(sl.Mapper):
    name = "raises"

    def map(self, problem, options, control):
        raise ZeroDivisionError("a bug of mine")


class Returns(sl.Mapper):
    name = "returns"

    def __init__(self, value):
        self.value = value

    def map(self, problem, options, control):
        return self.value


def test_a_mapper_that_raises_gives_its_error_as_the_cause():
    with pytest.raises(sl.ExtensionError, match="the mapper 'raises' raised ZeroDivisionError: a bug of mine") as caught:
        sl.map("matmul", "simple", mapper=Raises())
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    frames = caught.value.__cause__.__traceback__
    while frames.tb_next:
        frames = frames.tb_next
    assert frames.tb_frame.f_code.co_name == "map"
    assert sl.map("matmul", "simple").status == "ok"  # nothing is left behind


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (7, "not int"),
        ([], "returned no mapping"),
        (["Z"], "not a list with str"),
        (sl.NoMapping(7), "are texts"),
        (sl.Mapping([]), "illegal mapping"),
        (sl.Mapping([tree.Storage(["Q"], "MainMemory")]), "there is no tensor `Q`"),
    ],
)
def test_what_a_mapper_must_not_return_is_said(value, message):
    with pytest.raises(sl.ExtensionError, match=message):
        sl.map("matmul", "simple", mapper=Returns(value))


def test_a_mapper_may_find_nothing():
    result = sl.map("matmul", "simple", mapper=Returns(sl.NoMapping("not today", "tomorrow")))
    assert result.status == "no_mapping"
    assert (result.reason.message, result.reason.nearest_relaxation) == ("not today", "tomorrow")


def test_policies_and_classes_that_raise_are_named():
    class BadPolicy(Doubled):
        name = "bad"

        def latency(self, counted):
            raise KeyError("busy")

    class BadClass(RegisterFile):
        def numbers(self, values):
            return values["no_such_attribute"]

    with pytest.raises(sl.ExtensionError, match="latency policy 'bad' raised KeyError"):
        sl.map("matmul", "simple", mapper="random", budget="50evals", latency=BadPolicy())
    with pytest.raises(sl.ExtensionError, match="component class 'RegisterFile' raised KeyError"):
        sl.map(*SPECS, extensions=[BadClass()])


def test_a_negative_latency_is_refused():
    class Negative(Doubled):
        name = "negative"

        def latency(self, counted):
            return {"busy": -1.0}

    with pytest.raises(sl.ExtensionError, match="the part 'busy' of a latency is -1.0 s"):
        sl.map("matmul", "simple", mapper="random", budget="50evals", latency=Negative())


def test_a_counted_mapping_is_of_no_use_later():
    kept = []

    class Keeps(Doubled):
        name = "keeps"

        def latency(self, counted):
            kept.append(counted)
            assert counted.account().latency_s == counted.overlap_s
            return {}

    result = sl.map("matmul", "simple", mapper="random", budget="20evals", latency=Keeps())
    assert result.best.breakdown is None
    with pytest.raises(RuntimeError, match="while latency"):
        kept[0].overlap_s


def test_a_budget_ends_a_mapper_that_looks_at_the_control():
    class Endless(OneBuffer):
        name = "endless"

        def map(self, problem, options, control):
            first = self.mapping_with(problem, 0)
            control.offer(first)
            control.progress("turning", 0.5)
            while not control.cancelled:
                time.sleep(0.005)
            return first

    phases = set()
    result = sl.map("matmul", "simple", mapper=Endless(), budget=0.3, set={"M": 8, "N": 8, "K": 8},
                    on_progress=lambda p: phases.add(p.phase))
    assert result.best.energy_j > 0 and result.search.ended_by == "budget"
    assert "turning" in phases


def test_ctrl_c_ends_a_mapper_that_looks_at_nothing():
    program = (
        "import sluice as sl\n"
        "class Deaf(sl.Mapper):\n"
        "    name = 'deaf'\n"
        "    def map(self, problem, options, control):\n"
        "        print('begun', flush=True)\n"
        "        while True:\n"
        "            pass\n"
        "try:\n"
        "    sl.map('matmul', 'simple', mapper=Deaf())\n"
        "except sl.Interrupted as end:\n"
        "    print(end.result.status)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "interrupted\n" and process.returncode == 0


SMALL = {"M": 8, "N": 8, "K": 8}


def test_of_several_mappings_the_best_come_first_and_top_of_them():
    three = [m.mapping for m in sl.map("matmul", "simple", set=SMALL, mapper="exhaustive", top=3)]
    worst_first = sl.map("matmul", "simple", set=SMALL, mapper=Returns(reversed(three)), top=2)
    assert [m.mapping for m in worst_first] == three[:2]


def test_a_mapping_that_breaks_a_constraint_is_illegal():
    kept = sl.map("matmul", "simple", set=SMALL).best.mapping
    forbids = sl.Constraints(storage=[{"memory": "GlobalBuffer", "forbid": ["A", "W", "Z"]}])
    with pytest.raises(sl.ExtensionError, match="breaks the constraint storage 1"):
        sl.map("matmul", "simple", set=SMALL, mapper=Returns(kept), constraints=forbids)
    free, bound = (sl.problem("matmul", "simple", *more, set=SMALL) for more in ((), (forbids,)))
    assert free.totals(kept) is not None and bound.totals(kept) is None
    assert "breaks the constraint" in str(bound.evaluate(kept))


def test_what_was_offered_is_the_result_where_a_cancelled_mapper_returns_nothing():
    class Offers(OneBuffer):
        name = "offers"

        def map(self, problem, options, control):
            control.offer(self.mapping_with(problem, 0))
            while not control.cancelled:
                time.sleep(0.005)
            return sl.NoMapping("out of time")

    found = sl.map("matmul", "simple", mapper=Offers(), budget=0.2, set=SMALL)
    assert found.status == "ok" and found.search.ended_by == "budget"


def test_a_cancelled_mapper_that_offered_a_mapping_may_return_none():
    class Offers(OneBuffer):
        name = "offers"

        def map(self, problem, options, control):
            control.offer(self.mapping_with(problem, 0))
            while not control.cancelled:
                time.sleep(0.005)

    found = sl.map("matmul", "simple", mapper=Offers(), budget=0.2, set=SMALL)
    assert found.status == "ok" and found.search.ended_by == "budget" and found.best


def test_a_mapper_that_is_not_cancelled_returns_something():
    class Silent(OneBuffer):
        name = "silent"

        def map(self, problem, options, control):
            control.offer(self.mapping_with(problem, 0))

    with pytest.raises(sl.ExtensionError, match="not NoneType"):
        sl.map("matmul", "simple", mapper=Silent(), set=SMALL)


def test_a_latency_without_an_end_is_refused():
    class Endless(Doubled):
        name = "endless"

        def latency(self, counted):
            return {"busy": float("inf")}

    with pytest.raises(sl.ExtensionError, match="0 or more, and finite"):
        sl.map("matmul", "simple", mapper="random", budget="50evals", latency=Endless())


def test_a_problem_raises_what_its_policy_raises_mapping_by_mapping():
    class Moody(Doubled):
        name = "moody"
        fails = True

        def latency(self, counted):
            if self.fails:
                raise KeyError("busy")
            return super().latency(counted)

    found = sl.map("matmul", "simple", set=SMALL).best
    policy = Moody()
    problem = sl.problem("matmul", "simple", set=SMALL, latency=policy)
    for ask in (problem.totals, problem.evaluate):
        with pytest.raises(sl.ExtensionError, match="latency policy 'moody' raised KeyError"):
            ask(found)
    policy.fails = False
    assert problem.totals(found) == (found.energy_j, 2 * found.latency_s)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"name": 7}, "needs a name"),
        ({"kinds": "Memroy"}, "no components of the kind `Memroy`"),
        ({"attributes": ["size"]}, "are sluice.Attribute, not str"),
        ({"attributes": [sl.Attribute("size", unit="furlong")]}, "has the unit `furlong`"),
    ],
)
def test_what_a_class_must_not_be_is_said(attributes, message):
    with pytest.raises((sl.SpecError, TypeError), match=message):
        sl.map(*SPECS, extensions=[type("Bad", (RegisterFile,), attributes)()])


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        (None, "not NoneType"),
        (sl.ComponentNumbers(area_m2="1 mm2"), "area_m2 is a number or None, not '1 mm2'"),
        (sl.ComponentNumbers([sl.ActionNumbers("read"), sl.ActionNumbers("read")]), "one row for each action"),
    ],
)
def test_what_a_class_must_not_return_is_said(numbers, message):
    class Bad(RegisterFile):
        def numbers(self, values):
            return numbers

    with pytest.raises(sl.ExtensionError, match=message):
        sl.map(*SPECS, extensions=[Bad()])


def test_classes_are_no_instances():
    with pytest.raises(TypeError, match="takes an instance, OneBuffer"):
        sl.map("matmul", "simple", mapper=OneBuffer)
    with pytest.raises(TypeError, match="not the class RegisterFile"):
        sl.map(*SPECS, extensions=[RegisterFile])


def test_specs_with_a_class_are_loaded_executed_and_evaluated_together():
    mine = {"extensions": [RegisterFile()]}
    found = sl.map(*SPECS, mapper=OneBuffer(), **mine)
    assert sl.load(*SPECS, **mine).arch.name
    assert sl.execute(*SPECS, found.best, **mine)
    assert len(sl.evaluate(*SPECS, [found.best, found.best], **mine)) == 2


def test_daemons_that_search_or_price_do_not_break_the_end_of_the_interpreter():
    program = (
        "import sluice as sl, threading, time\n"
        "class Deaf(sl.Mapper):\n"
        "    name = 'deaf'\n"
        "    def map(self, problem, options, control):\n"
        "        while True:\n"
        "            time.sleep(0.01)\n"
        "best = sl.map('matmul', 'simple').best\n"
        "problem = sl.problem('matmul', 'simple')\n"
        "def price():\n"
        "    while True:\n"
        "        problem.totals(best)\n"
        "def search():\n"
        "    while True:\n"
        "        sl.map('gpt3_6.7b', 'tpu_v4i', threads=1)\n"
        "def map_deaf():\n"
        "    sl.map('matmul', 'simple', mapper=Deaf())\n"
        "for work in (price, search, map_deaf):\n"
        "    threading.Thread(target=work, daemon=True).start()\n"
        "time.sleep(0.3)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert (ended.returncode, ended.stderr) == (0, "")
