"""Pages of `sluice report` in a browser: they load without a complaint, and every control does what it says.

report_test.py SLUICE CHROMIUM [SCREENSHOT_FOLDER]
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

from browser import Browser

sluice, chromium = sys.argv[1:3]
screenshots = sys.argv[3] if len(sys.argv) > 3 else None
repository = os.path.abspath(os.path.join(os.path.dirname(__file__), "../.."))
folder = tempfile.TemporaryDirectory()
n_checks = 0


def path(name):
    return os.path.join(folder.name, name)


def run(*arguments):
    done = subprocess.run([sluice, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"sluice {' '.join(arguments)}: {done.stderr}"
    return done.stdout


def check(what, is_so):
    global n_checks
    n_checks += 1
    assert is_so, what


def texts(browser, selector):
    return browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)")


def click(browser, selector, index=0):
    browser.run(f"document.querySelectorAll({json.dumps(selector)})[{index}].click()")


def is_at_ease(browser, what):
    troubles = browser.troubles()
    check(f"{what}: {troubles}", not troubles)


def test_one_result(browser):
    run("map", "matmul_chain", "tpu_v4i", "--set", "N_EINSUMS=3", "--threads", "1", "-o", path("chain"))
    print(run("report", path("chain"), "-o", path("chain.html")), end="")
    check("at most 2 MB", os.path.getsize(path("chain.html")) < 2e6)
    document = json.load(open(path("chain/result.json")))
    mapping = document["mappings"][0]
    browser.open(path("chain.html"))
    is_at_ease(browser, "one result")
    check("the title", texts(browser, "h1") == ["matmul_chain on tpu_v4i"])
    check("the guarantee", texts(browser, ".badge") == ["proven optimal"])
    check("every card", texts(browser, "main > .card h2") == ["Energy", "Latency", "Mapping", "Roofline", "Occupancy"])

    # Energy: a component, its Einsums, their tensors, the actions; and back.
    energies = {}
    for row in mapping["energy"]:
        energies[row["component"]] = energies.get(row["component"], 0) + row["energy_j"]
    largest = max(energies, key=energies.get)
    check("the largest component first", texts(browser, "#energy .bar .name")[0] == largest)
    check("components that cost something", len(texts(browser, "#energy .bar")) == sum(e > 0 for e in energies.values()))
    click(browser, "#energy button.bar")
    check("inside: its Einsums", set(texts(browser, "#energy .bar .name")) <= {row["einsum"] for row in mapping["energy"]})
    check("the way there", texts(browser, "#energy .crumbs .here") == [largest])
    check("the focus is on the first bar", browser.run("document.activeElement.matches('#energy .bar')"))
    click(browser, "#energy button.bar")
    tensors = {row["tensor"] for row in mapping["energy"]} | {"computation", "leakage"}
    check("inside: their tensors", set(texts(browser, "#energy .bar .name")) <= tensors)
    click(browser, "#energy button.bar")
    check("inside: actions", set(texts(browser, "#energy .bar .name")) <= {row["action"] for row in mapping["energy"]})
    check("nothing further", not texts(browser, "#energy button.bar"))
    click(browser, "#energy .crumbs button")
    check("back", len(texts(browser, "#energy .bar")) == sum(e > 0 for e in energies.values()))
    click(browser, "#energy .segmented button", 2)
    check("by tensor", set(texts(browser, "#energy .bar .name")) <= tensors)

    # Latency: what Einsums wait for.
    click(browser, "#latency button.bar")
    check("Einsums that wait", set(texts(browser, "#latency .bar .name")) == {"T1", "T2", "T3"})
    click(browser, "#latency button.bar")
    check("what moves meanwhile", len(texts(browser, "#latency .bar")) > 0)

    # The tree: folding, keys, tiles on hover.
    n_shown = "[...document.querySelectorAll('#tree [role=treeitem]')].filter((e) => e.offsetParent).length"
    n_all = browser.run(n_shown)
    check("a line for every storage, loop and compute", n_all >= 20)
    click(browser, "#tree .line")
    check("the first line folds all", browser.run(n_shown) == 1)
    click(browser, "#tree .line")
    check("and opens it again", browser.run(n_shown) == n_all)
    browser.run("document.querySelector('#tree [role=treeitem]').focus()")
    check("tiles in a tooltip", "Tiles in MainMemory" in texts(browser, "#tip")[0] and not browser.run("document.getElementById('tip').hidden"))
    for key, focused in [("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("Home", 0)]:
        browser.key(key)
        check(key, browser.run(f"document.activeElement === document.querySelectorAll('#tree [role=treeitem]')[{focused}]"))
    browser.key("ArrowLeft")
    check("ArrowLeft folds", browser.run(n_shown) == 1)
    browser.key("ArrowRight")
    check("ArrowRight opens", browser.run(n_shown) == n_all)
    browser.key("Escape")
    check("Escape closes the tooltip", browser.run("document.getElementById('tip').hidden"))
    click(browser, "#tree .segmented button", 1)
    check("Fold all", browser.run(n_shown) == 1)
    click(browser, "#tree .segmented button", 0)
    check("Open all", browser.run(n_shown) == n_all)
    trips = [row["trips"] for row in mapping["node_sizes"] if "trips" in row]
    check("steps of loops", [int(t.replace("×", "").replace(",", "")) for t in texts(browser, "#tree .loop b")] == trips)

    # Roofline and occupancy.
    browser.wait("document.querySelector('#roofline svg circle')")
    drawn = browser.run("document.querySelector('#roofline svg').outerHTML")
    browser.run("(() => { const s = document.querySelector('#roofline select'); s.selectedIndex = 1; s.dispatchEvent(new Event('change')); })()")
    check("another memory, another roof", browser.run("document.querySelector('#roofline svg').outerHTML") != drawn)
    click(browser, "#roofline .einsums button", 1)
    name = texts(browser, "#roofline .einsums button span")[4]
    check("an Einsum of the roofline is shown in the tree", browser.run("document.activeElement.textContent").find(name) >= 0)
    gauges = texts(browser, ".gauge .name")
    check("a gauge for every memory", gauges == [row["component"] for row in mapping["occupancy"]])
    for i, gauge in enumerate(gauges):
        click(browser, ".gauge", i)
        held = {row["tensor"] for row in mapping["occupancy_over_time"]["held"] if row["component"] == gauge}
        check(f"what {gauge} holds", set(texts(browser, ".legend span:not(.dot)")) == held)

    # Light and dark.
    background = "getComputedStyle(document.body).backgroundColor"
    light = browser.run(background)
    click(browser, "#theme")
    check("dark", browser.run(background) != light and browser.run("document.documentElement.dataset.theme") == "dark")
    click(browser, "#theme")
    check("light", browser.run(background) == light)
    is_at_ease(browser, "after all controls")
    check("every control has a name", browser.run(
        "[...document.querySelectorAll('button, select, [role=button]')].every((e) => (e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent).trim())"))
    check("no id twice", browser.run("new Set([...document.querySelectorAll('[id]')].map((e) => e.id)).size === document.querySelectorAll('[id]').length"))
    pages = len(re.findall(rb"/Type\s*/Page\b", browser.pdf()))
    check(f"prints on A4: {pages} pages", 1 <= pages <= 6)
    browser.open(path("chain.html"), dark=True)
    check("follows the system", browser.run(background) != light)
    if screenshots:
        browser.screenshot(os.path.join(screenshots, "dark.png"))
    browser.open(path("chain.html"), width=390)
    check("nothing wider than a telephone", browser.run("document.scrollingElement.scrollWidth") <= 390)
    is_at_ease(browser, "narrow")


def test_pareto_front(browser):
    open(path("front.yaml"), "w").write("""
workload:
  rank_sizes: {M: 8, N: 8, K: 8}
  bits_per_value: {All: 8}
  einsums: ["B[m,n] = A[m,k] * W[k,n]", "C[m,n] = max(B[m,n], 0)"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1 pJ, throughput: inf}, {name: write, energy: 1 pJ, throughput: inf}]}
  - !Compute {name: Frugal, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
  - !Compute {name: Fast, actions: [{name: compute, energy: 4 pJ, throughput: 4 GHz}]}
""")
    run("map", path("front.yaml"), "--objective", "energy,latency", "--threads", "1", "-o", path("front"), "--report", path("front.html"))
    mappings = json.load(open(path("front/result.json")))["mappings"]
    check("more than one mapping", len(mappings) > 1)
    browser.open(path("front.html"))
    is_at_ease(browser, "several mappings")
    check("a line for each", len(texts(browser, "#pareto ol button")) == len(mappings))
    browser.wait("document.querySelectorAll('#pareto svg circle').length")
    check("a point for each", browser.run("document.querySelectorAll('#pareto svg circle[role=button]').length") == len(mappings))
    last = len(mappings) - 1
    browser.run(f"[...document.querySelectorAll('#pareto svg circle')].find((c) => c.getAttribute('aria-label').startsWith('mapping {last + 1}:')).dispatchEvent(new MouseEvent('click'))")
    check("the chosen mapping", browser.run("document.querySelector('.tools select').value") == f"0.{last}")
    check("its line is pressed", browser.run(f"document.querySelectorAll('#pareto ol button')[{last}].getAttribute('aria-pressed')") == "true")
    click(browser, "#pareto ol button")
    check("and back", browser.run("document.querySelector('.tools select').value") == "0.0")
    is_at_ease(browser, "after choosing")


def test_two_results(browser):
    run("evaluate", os.path.join(repository, "tests/golden/examples/3_pipelined_layers.yaml"), "--latency", "segment", "-o", path("pipeline"))
    run("report", path("chain"), path("pipeline/result.json"), "-o", path("two.html"))
    browser.open(path("two.html"))
    is_at_ease(browser, "two results")
    check("side by side", "Side by side" in texts(browser, "h2"))
    check("both trees", browser.run("document.querySelectorAll('#comparison [role=tree]').length") == 2)
    click(browser, "#comparison .segmented button", 1)
    check("by Einsum", "T1" in texts(browser, "#comparison .pairs .name"))
    browser.run("(() => { const s = document.querySelectorAll('.tools select')[1]; s.value = ''; s.dispatchEvent(new Event('change')); })()")
    check("beside nothing", "Side by side" not in texts(browser, "h2"))
    browser.run("(() => { const s = document.querySelectorAll('.tools select')[0]; s.value = '1.0'; s.dispatchEvent(new Event('change')); })()")
    check("the other one", "3_pipelined_layers" in texts(browser, "h1")[0])
    check("the parts of its latency", "steady" in texts(browser, ".breakdown dt"))
    is_at_ease(browser, "after choosing")


def test_sweep(browser):
    """A chart and a table of all runs; beside a result, and alone."""
    run("sweep", "matmul", "simple", "--set", "M=64", "--set", "K=64", "--vary", "arch.GlobalBuffer.size=1KiB..64KiB:x4", "--vary", "N=64,1024",
        "-o", path("runs.sqlite"))
    print(run("report", path("runs.sqlite"), "-o", path("sweep.html")), end="")
    browser.open(path("sweep.html"))
    is_at_ease(browser, "a sweep")
    check("what was searched", texts(browser, "h1") == ["matmul on simple"])
    check("a row for each run", len(texts(browser, "#sweep-0 tbody tr")) == 8)
    browser.wait("document.querySelectorAll('#sweep-0 svg circle').length")
    check("a point for each run", browser.run("document.querySelectorAll('#sweep-0 svg circle[role=button]').length") == 8)
    check("a line for each N", texts(browser, "#sweep-0 .legend span:not(.dot)") == ["N 64", "N 1024"])
    sizes = lambda: texts(browser, "#sweep-0 tbody tr th:first-child")
    check("in the order of the sweep", sizes() == [s for s in ("1KiB", "4KiB", "16KiB", "64KiB") for _ in range(2)])
    click(browser, "#sweep-0 thead button", 1)
    check("sorted by N, as a number", texts(browser, "#sweep-0 tbody tr th:nth-child(2)") == ["64"] * 4 + ["1024"] * 4)
    click(browser, "#sweep-0 thead button", 1)
    check("and the other way round", texts(browser, "#sweep-0 tbody tr th:nth-child(2)") == ["1024"] * 4 + ["64"] * 4)
    browser.run("document.querySelector('#sweep-0 svg circle').dispatchEvent(new MouseEvent('click'))")
    check("a point marks its row", browser.run("document.querySelectorAll('#sweep-0 tr[aria-selected=true]').length") == 1)
    choose = "(() => {{ const s = document.querySelectorAll('#sweep-0 select')[{}]; s.value = '{}'; s.dispatchEvent(new Event('change')); }})()"
    browser.run(choose.format(0, "energy_j"))
    check("energy on the axis", "energy" in " ".join(texts(browser, "#sweep-0 svg text")))
    browser.run(choose.format(1, "N"))
    check("lines by buffer", len(texts(browser, "#sweep-0 .legend span:not(.dot)")) == 4)
    browser.run(choose.format(1, "latency_s"))
    check("energy over latency", browser.run("document.querySelectorAll('#sweep-0 svg circle[role=button]').length") == 8)
    is_at_ease(browser, "after choosing")
    if screenshots:
        browser.screenshot(os.path.join(screenshots, "sweep.png"))
        browser.open(path("sweep.html"), dark=True)
        browser.screenshot(os.path.join(screenshots, "sweep-dark.png"))
    run("report", path("chain"), path("runs.sqlite"), "-o", path("both.html"))
    browser.open(path("both.html"))
    is_at_ease(browser, "a result and a sweep")
    check("the result first", texts(browser, "main > .card h2")[0] == "Energy" and texts(browser, "main > .card h2")[-1].startswith("Sweep "))
    check("nothing to choose among", not texts(browser, ".top select"))


def test_sweep_with_hostile_names_and_without_mappings(browser):
    runs = {"schema": "sluice.sweep/1", "sluice": "0", "varied": [HOSTILE], "points": 3, "runs": [
        {"workload": HOSTILE, "architecture": "a", "status": status, "energy_j": value, "latency_s": value, "edp_js": value, "leak_energy_j": None, "operations_per_s": None,
         "operations_per_j": None, "power_w": None, "area_m2": None, "operations": 1, "guarantee": "optimal", "bound": None, "mapper": "fused", "ended_by": None,
         "reason": HOSTILE, "seconds": 1, "mappings_evaluated": 1, "settings": {HOSTILE: f"{HOSTILE}{i}"}, "numbers": {}}
        for i, (status, value) in enumerate([("ok", 1.0), ("no_mapping", None)])]}
    json.dump(runs, open(path("runs.json"), "w"))
    run("report", path("runs.json"), "-o", path("hostile_sweep.html"))
    browser.open(path("hostile_sweep.html"))
    is_at_ease(browser, "hostile names in a sweep")
    check("no element of theirs", browser.run("document.querySelector('img') === null"))
    check("says what is missing", texts(browser, "#sweep-0 header .hint") == ["2 of 3 runs, 1 without a mapping"])
    check("says why", texts(browser, "#sweep-0 .reason") == [f"no mapping: {HOSTILE}"])


def test_why(browser):
    run("map", "matmul_chain", "simple", "--set", "N_EINSUMS=2", "--threads", "1", "--why", "-o", path("why"))
    run("report", path("why"), "-o", path("why.html"))
    why = json.load(open(path("why/result.json")))["why"]
    browser.open(path("why.html"))
    is_at_ease(browser, "why")
    check("its card", texts(browser, "main > .card h2")[-1] == "Why")
    check("a table for each kind of question", texts(browser, "#why h3") == ["Einsums", "Exchanges", "Shadow prices"])
    rows = lambda n: browser.run(f"[...document.querySelectorAll('#why > .why > div')][{n}].querySelectorAll('tbody tr').length")
    check("every answer", [rows(0), rows(1), rows(2)] == [len(why["einsums"]), len(why["exchanges"]), len(why["shadow_prices"])])
    # The first row is the largest change: objective with it / objective now - 1.
    largest = max(abs(row["with"]["objective"] / why["objective"] - 1) for row in why["shadow_prices"] if row["with"]["objective"])
    shown = browser.run("[...document.querySelectorAll('#why > .why > div')][2].querySelector('[data-change]').textContent")
    check(f"the largest change first: {shown}", shown.strip("−+ %") == (f"{100 * largest:.1f}" if largest >= 5e-4 else "0"))
    printed = subprocess.run([sluice, "map", "matmul_chain", "simple", "--set", "N_EINSUMS=2", "--threads", "1", "--why"], capture_output=True, text=True).stdout
    rates = re.findall(r"throughput, ([\d.]+ [GTM]B/s) to", printed)
    check("memories' rates as the command line says them", rates and all(any(t.startswith(rate) for t in texts(browser, "#why td.text")) for rate in rates))
    if screenshots:
        browser.screenshot(os.path.join(screenshots, "why.png"))


HOSTILE = "</script><img src=x onerror=alert(1)>\"'&<!--"


def test_hostile_names(browser):
    """Names of files and of a workload may be anything."""
    document = json.load(open(path("chain/result.json")))
    document["workload"] = HOSTILE
    for row in document["mappings"][0]["energy"]:
        if row["component"] == "MainMemory":
            row["component"] = HOSTILE
    document["diagnostics"] = [{"severity": "warning", "file": HOSTILE, "line": 1, "column": 1, "message": HOSTILE, "source_line": None, "hint": HOSTILE}]
    name = path("x<!--'&quot;.json")
    json.dump(document, open(name, "w"))
    run("report", name, "-o", path("hostile.html"))
    browser.open(path("hostile.html"))
    is_at_ease(browser, "hostile names")
    check("shown as they are", HOSTILE in texts(browser, "h1")[0] and HOSTILE in texts(browser, "#energy .bar .name"))
    check("no element of theirs", browser.run("document.querySelector('img') === null"))
    click(browser, "#energy button.bar", texts(browser, "#energy .bar .name").index(HOSTILE))
    check("and open like others", texts(browser, "#energy .crumbs .here") == [HOSTILE])
    is_at_ease(browser, "hostile names, opened")


def test_no_mapping(browser):
    done = subprocess.run([sluice, "map", "matmul", "simple", "--set", "arch.GlobalBuffer.size=0", "--set", "arch.GlobalBuffer.tensors={keep: All}",
                           "-o", path("none"), "--report", path("none.html")], capture_output=True, text=True)
    check(f"an honest no: {done.stderr}", done.returncode == 1)
    browser.open(path("none.html"))
    is_at_ease(browser, "no mapping")
    check("says why", "No legal mapping" in texts(browser, "h2"))


def test_large_result(browser, n=3000):
    """A chain of 3,000 Einsums stays usable: packed, drawn in seconds, its branches when they are opened."""
    einsums = "\n".join(f'  - "T{i + 1}[m,n{i + 1}] = T{i}[m,n{i}] * W{i}[n{i},n{i + 1}]"' for i in range(n))
    ranks = ", ".join(["M: 4", *(f"N{i}: 4" for i in range(n + 1))])
    nested = "\n".join(f"    - !Nested {{nodes: [!Temporal {{rank_variable: m, tile_shape: 1}}, !Temporal {{rank_variable: n{i}, tile_shape: 1}}, "
                       f"!Temporal {{rank_variable: n{i + 1}, tile_shape: 1}}, !Compute {{einsum: T{i + 1}, component: MAC}}]}}" for i in range(n))
    held = ", ".join(["T0", f"T{n}", *(f"W{i}" for i in range(n))])
    between = ", ".join(f"T{i}" for i in range(1, n))
    open(path("large.yaml"), "w").write(f"""
workload:
  rank_sizes: {{{ranks}}}
  bits_per_value: {{All: 8}}
  einsums:
{einsums}
arch:
  nodes:
  - !Memory {{name: DRAM, size: inf, actions: [{{name: read, energy: 4 pJ/bit, throughput: 1 GB/s}}, {{name: write, energy: 4 pJ/bit, throughput: 1 GB/s}}]}}
  - !Memory {{name: GB, size: 4 MiB, actions: [{{name: read, energy: 1 pJ/bit, throughput: 4 GB/s}}, {{name: write, energy: 1 pJ/bit, throughput: 4 GB/s}}]}}
  - !Compute {{name: MAC, actions: [{{name: compute, energy: 1 pJ, throughput: 1 GHz}}]}}
mapping:
  nodes:
  - !Storage {{tensors: [{held}], component: DRAM}}
  - !Storage {{tensors: [{between}], component: GB}}
  - !Sequential
    nodes:
{nested}
""")
    begin = time.monotonic()
    run("evaluate", path("large.yaml"), "-o", path("large"))
    print(f"evaluated {n} Einsums in {time.monotonic() - begin:.1f} s, document {os.path.getsize(path('large/result.json')) / 1e6:.1f} MB")
    print(run("report", path("large"), "-o", path("large.html")), end="")
    check("at most 2 MB", os.path.getsize(path("large.html")) < 2e6)
    begin = time.monotonic()
    browser.open(path("large.html"), height=900)
    seconds = time.monotonic() - begin
    print(f"drawn in {seconds:.1f} s")
    check("drawn in seconds", seconds < 15)
    is_at_ease(browser, "large")
    check("not everything is an element at once", browser.run("document.querySelectorAll('*').length") < 12000)
    check("all branches are there", "more" in texts(browser, "#tree .more")[0])
    click(browser, "#tree li.branch .line")
    check("a branch opens", browser.run("document.querySelectorAll('#tree li.branch [data-kind=compute]').length") == 1)
    click(browser, "#energy .segmented button", 1)
    check("ten bars and the rest on demand", len(texts(browser, "#energy .bar")) == 10)
    click(browser, "#energy .more")
    check("more bars", len(texts(browser, "#energy .bar")) > 10)
    is_at_ease(browser, "large, opened")


browser = Browser(chromium)
try:
    tests = [test_one_result, test_pareto_front, test_two_results, test_sweep, test_sweep_with_hostile_names_and_without_mappings, test_why, test_hostile_names, test_no_mapping, test_large_result]
    for test in tests:
        begin = time.monotonic()
        test(browser)
        print(f"{test.__name__}: ok, {time.monotonic() - begin:.1f} s")
finally:
    browser.close()
print(f"browser: {n_checks} checks of {len(tests)} pages")
