// The page: which mapping is shown, beside which other one.

async function readResults() {
  const results = [];
  for (const script of document.querySelectorAll("script[type='application/json']")) {
    const entry = JSON.parse(script.textContent);
    if (entry.gzip) entry.document = await unpacked(entry.gzip);
    results.push({name: entry.name, document: entry.document});
  }
  return results;
}

/** Large documents are packed; browsers since 2023 unpack them. */
async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

class Page {
  constructor(documents) {
    const isSweep = (entry) => entry.document.schema.startsWith("sluice.sweep/");
    const results = documents.filter((entry) => !isSweep(entry));
    this.sweeps = documents.filter(isSweep);
    this.results = results;
    this.accounts = new Map();
    this.choices = results.flatMap((result, r) => result.document.mappings.map((mapping, m) => [`${r}.${m}`, this.account(`${r}.${m}`).name]));
    this.a = this.choices[0]?.[0];
    this.b = results.length > 1 ? this.choices.find(([key]) => !key.startsWith("0."))?.[0] : "";
    this.root = document.getElementById("app");
    this.show();
  }

  account(key) {
    const [r, m] = key.split(".").map(Number);
    if (!this.accounts.has(key)) this.accounts.set(key, new Account(this.results[r], m));
    return this.accounts.get(key);
  }

  show() {
    hideTip();
    const sweeps = this.sweeps.map(sweepCard);
    if (this.results.length) {
      const {document: doc} = this.results[Number((this.a || "0.0").split(".")[0])];
      this.root.replaceChildren(this.header(doc), el("main", this.a ? this.sections(doc) : this.nothing(doc), sweeps), this.footer(doc));
    } else {
      this.root.replaceChildren(this.headerOfSweeps(), el("main", sweeps), el("footer", el("p", `Sluice ${this.sweeps[0].document.sluice} · ${this.sweeps[0].document.schema}`)));
    }
    Chart.redrawAll();
  }

  headerOfSweeps() {
    const runs = this.sweeps.flatMap((sweep) => sweep.document.runs);
    const names = (key) => [...new Set(runs.map((run) => run[key]))];
    const title = (key, plural) => names(key).length > 3 ? `${count(names(key).length)} ${plural}` : names(key).join(", ");
    return el("header.top", el("div.titles", el("h1", title("workload", "workloads"), el("span", " on "), title("architecture", "architectures")),
      el("p", el("span.badge", this.sweeps.length === 1 ? "sweep" : `${count(this.sweeps.length)} sweeps`))), el("div.tools", themeButton(), printButton()));
  }

  header(doc) {
    const many = this.choices.length > 1;
    return el("header.top",
      el("div.titles", el("h1", doc.workload || "Nothing", el("span", " on "), doc.arch || "nothing"),
        el("p", badge(doc), doc.objective && el("span.tag", `least ${doc.objective.replace("edp", "EDP").replace(/,/g, " and ")}`), el("span.tag", `latency: ${doc.latency_policy}`), doc.mapper && el("span.tag", `mapper: ${doc.mapper}`))),
      el("div.tools",
        many && chooser("Show", this.choices.slice(0, 500), this.a, (key) => { this.a = key; this.show(); }),
        many && chooser("beside", [["", "nothing"], ...this.choices.slice(0, 500)], this.b, (key) => { this.b = key; this.show(); }),
        themeButton(), printButton()));
  }

  sections(doc) {
    const account = this.account(this.a), result = account.result;
    const list = [];
    if (doc.diagnostics?.length) list.push(notices(doc));
    if (!account.isPriced) return [...list, illegal(account)];
    const colours = new Colours(account.components);
    list.push(figures(account));
    const other = this.b ? this.account(this.b) : null;
    if (other && other !== account && other.isPriced) {
      const comparison = new Comparison(account, other, colours);
      list.push(card("comparison", "Side by side", "A is what is shown below; the largest differences first", comparison.controls, comparison.element));
    }
    if (result.document.mappings.length > 1) {
      const explorer = new ParetoExplorer(result, account.index, (index) => { this.a = `${this.a.split(".")[0]}.${index}`; this.show(); this.root.querySelector("#pareto button[aria-pressed=true]")?.focus({preventScroll: true}); });
      list.push(card("pareto", "Mappings", "Choose a point to see its mapping", null, explorer.element));
    }
    const why = doc.why && account.index === 0 ? new Why(doc, colours) : null;
    const bars = energyBars(account, colours), times = latencyBars(account, colours);
    const tree = new LoopTree(account, colours);
    const roofline = new Roofline(account, colours, (einsum) => tree.reveal(einsum));
    const occupancy = new Occupancy(account);
    list.push(
      card("energy", "Energy", "Open a bar to see what is in it", bars.controls, bars.body),
      card("latency", "Latency", "What Einsums wait for; inside, busy times and what moves", times.controls, times.body, breakdown(account)),
      card("tree", "Mapping", "Point at a line for tiles and prices", el("div.segmented", el("button", {type: "button", onclick: () => tree.toggleAll(true)}, "Open all"), el("button", {type: "button", onclick: () => tree.toggleAll(false)}, "Fold all")), el("div.scroll", tree.element)),
      card("roofline", "Roofline", "Choose an Einsum to find it in the mapping", roofline.controls, roofline.element),
      card("occupancy", "Occupancy", "What each memory holds while the Einsums run", null, occupancy.element));
    if (why) list.push(card("why", "Why", `What the other choices would cost: ${count(doc.why.answered)} of ${count(doc.why.questions)} questions answered`, null, why.element()));
    return list;
  }

  nothing(doc) {
    const reason = doc.reason;
    return [notices(doc), el("section.card", el("h2", doc.status === "no_mapping" ? "No legal mapping" : `Status: ${doc.status}`), reason && el("p", reason.message), reason?.nearest_relaxation && el("p.hint", reason.nearest_relaxation))];
  }

  footer(doc) {
    const rows = [["Command", `sluice ${doc.command}`], ["Guarantee", doc.guarantee?.space?.split("; leaves out")[0]], ["Left out", doc.guarantee?.leaves_out?.length && el("details", el("summary", `${count(doc.guarantee.leaves_out.length)} kinds of mappings`), el("ul", doc.guarantee.leaves_out.map((row) => el("li", el("b", row.name), ": ", row.text.replace(/`/g, "")))))],
      ["Search", doc.search && `${seconds(doc.search.seconds)} on ${doc.search.threads} ${doc.search.threads === 1 ? "thread" : "threads"}: ${si(doc.search.mappings_considered, "")} mappings covered, ${count(doc.search.mappings_evaluated || 0)} evaluated`],
      ["Files", [...this.results, ...this.sweeps].map((result) => result.name).join(", ")]];
    return el("footer", el("dl", rows.filter(([, value]) => value).map(([name, value]) => [el("dt", name), el("dd", value)])), el("p", `Sluice ${doc.sluice} · ${doc.schema}`));
  }
}

function badge(doc) {
  const kind = doc.guarantee?.kind;
  if (doc.status !== "ok" && doc.status !== "interrupted") return el("span.badge.bad", doc.status.replace("_", " "));
  if (!kind) return el("span.badge", doc.command === "evaluate" ? "evaluated" : doc.command);
  const texts = {optimal: "proven optimal", within_epsilon: `within ${percent(doc.guarantee.epsilon)} of the optimum`,
    gap: doc.guarantee.found_over_bound ? `at most ${times(doc.guarantee.found_over_bound)} the optimum` : "gap unknown", none: "no guarantee"};
  return el(`span.badge${kind === "optimal" ? ".good" : ""}`, texts[kind] || kind);
}

/** The numbers that everybody asks for first. */
function figures(account) {
  const {mapping} = account, {bounds} = mapping;
  const bound = Math.max(bounds.compute_s || 0, bounds.memory_s || 0);
  const operations = account.total(account.operations), peak = account.peakCalls();
  const use = peak ? account.total(account.calls) / mapping.latency_s / peak : null;
  const figure = (name, [number, unit], note, share) => el("div.figure", el("span.name", name), el("span.number", number, el("small", unit)), Number.isFinite(share) &&
    el("span.track", {"aria-hidden": "true"}, el("span.fill", {style: {width: `${Math.min(100, 100 * share)}%`}})), el("span.note", note));
  return el("section.figures", {"aria-label": "Totals"},
    figure("Energy", parts(mapping.energy_j, "J"), mapping.energy_j === null ? "not known: the architecture lacks energies" : bounds.energy_floor_j > 0 ? `${times(mapping.energy_j / bounds.energy_floor_j)} the lower bound ${energy(bounds.energy_floor_j)}` : "", mapping.energy_j ? bounds.energy_floor_j / mapping.energy_j : null),
    figure("Latency", parts(mapping.latency_s, "s"), bound > 0 ? `${times(mapping.latency_s / bound)} the lower bound ${seconds(bound)}` : mapping.latency_cycles ? `${count(mapping.latency_cycles)} cycles` : "", mapping.latency_s ? bound / mapping.latency_s : null),
    figure("Energy-delay product", parts(mapping.edp_js, "J·s"), mapping.leak_energy_j > 0 ? `${percent(mapping.leak_energy_j / mapping.energy_j)} of the energy leaks` : `${count(account.einsums.length)} ${account.einsums.length === 1 ? "Einsum" : "Einsums"}`),
    figure("Compute used", use === null ? parts(operations / mapping.latency_s, "op/s") : [digits(100 * use), "%"], use === null ? "peak not known" : `${si(operations / mapping.latency_s, "op/s")} of ${si(operations / mapping.latency_s / use, "op/s")}`, use),
    figure("Efficiency", parts(operations / mapping.energy_j, "op/J"), `${si(operations, "")} operations`));
}

function breakdown(account) {
  const rows = Object.entries(account.mapping.breakdown || {}).filter(([, value]) => value > 0);
  if (!rows.length) return null;
  return el("div.breakdown", el("h3", "Parts of the latency"), el("dl", rows.map(([name, value]) => [el("dt", name.replace(/_s$/, "").replace(/_/g, " ")), el("dd", `${seconds(value)} · ${percent(value / account.mapping.latency_s)}`)])));
}

function illegal(account) {
  return card("violations", "This mapping is illegal", null, null, el("ul.violations", account.mapping.violations.map((violation) => el("li", violation.message))),
    el("div.scroll", new LoopTree(account, new Colours([])).element));
}

function notices(doc) {
  return el("section.notices", (doc.diagnostics || []).map((diagnostic) => el("p.notice", {"data-severity": diagnostic.severity},
    el("b", diagnostic.severity), " ", diagnostic.file && `${diagnostic.file}:${diagnostic.line ?? ""} `, diagnostic.message, diagnostic.hint && el("span.hint", ` ${diagnostic.hint}`))));
}

/** Follows the system until somebody chooses. */
function themeButton() {
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const button = el("button.tool", {type: "button", id: "theme", onclick: () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; name(); }});
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `Change to ${isDark() ? "light" : "dark"} colours`); };
  name();
  return button;
}

const printButton = () => el("button.tool", {type: "button", onclick: () => print(), title: "Print"}, "Print");

readResults().then((results) => new Page(results), (error) => {
  document.getElementById("app").replaceChildren(el("p.notice", `This report cannot be shown: ${error.message}`));
  console.error(error);
});
