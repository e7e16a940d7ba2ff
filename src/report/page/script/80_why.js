// What `map --why` found: what each choice is worth.

class Why {
  constructor(doc, colours) {
    Object.assign(this, {doc, why: doc.why, colours});
  }

  get unit() { return {energy: "J", latency: "s", edp: "J·s"}[this.doc.objective] || ""; }
  get name() { return (this.doc.objective || "").replace("edp", "EDP"); }

  element() {
    const {why} = this;
    return el("div.why", this.einsums(), this.choices("Exchanges", "the best mapping where one tensor is not exchanged as here", ["tensor", "held in", "instead"],
      why.exchanges, (row) => [row.tensor, row.component ?? "–", row.fused ? "off chip" : "on chip"], (row) => row.other),
    this.choices("Holdings", "the best mapping where one memory does the opposite", ["tensor", "memory", "instead"],
      why.holdings, (row) => [row.tensor, row.component, row.held ? "not held" : "held"], (row) => row.other),
    this.choices("Shadow prices", "the best mapping with twice as much of one thing", ["component", "twice", ""],
      why.shadow_prices, (row) => [row.component, [row.what, row.dimension].filter(Boolean).join(" "), this.amounts(row)], (row) => row.with));
  }

  amounts({component, what, from, to}) {
    if (from === null || to === null) return "";
    const text = {size, fanout: count, throughput: (value) => this.rate(component, value)}[what] || String;
    return `${text(from)} to ${text(to)}`;
  }

  /** Actions a second, as what they move or do; of networks bits a second. */
  rate(component, value) {
    const actions = (this.doc.machine || []).filter((row) => row.component === component);
    if (!actions.length) return si(value / 8, "B/s");
    if (actions[0].kind === "compute") return si(value, "op/s");
    const bits = new Set(actions.map((row) => row.bits_per_action));
    return bits.size === 1 && [...bits][0] ? si(value * [...bits][0] / 8, "B/s") : si(value, "actions/s");
  }

  einsums() {
    const {why} = this;
    const waits = (row) => row.busy.length ? `${row.busy[0].component}` : "–";
    const rows = why.einsums.map((row) => [row.einsum, energy(row.energy_j), seconds(row.latency_s), row.objective_part === null ? "–" : percent(row.objective_part / why.objective), waits(row), row.compute_use === null ? "–" : percent(row.compute_use),
      row.alone?.status === "found" ? si(row.alone.objective, this.unit) : row.alone ? (row.alone.reason || row.alone.status.replace("_", " ")) : "–"]);
    return this.table("Einsums", `what each costs, and the best mapping of it alone`, ["Einsum", "energy", "latency", `of the ${this.name}`, "waits for", "peak used", `alone: ${this.name}`], rows, 1);
  }

  /** Questions with an answer each, the largest change first. */
  choices(title, hint, heads, rows, cells, answerOf) {
    const change = (row) => answerOf(row).objective === null ? 0 : Math.abs(answerOf(row).objective / this.why.objective - 1);
    const lines = d3.sort(rows, (a, b) => change(b) - change(a)).map((row) => {
      const answer = answerOf(row);
      const found = answer.status === "found";
      return [...cells(row), found ? si(answer.objective, this.unit) : answer.reason || answer.status.replace("_", " "), found ? this.changeCell(answer.objective) : "", found ? (answer.guarantee === "optimal" ? "proven" : "not proven") : ""];
    });
    return this.table(title, hint, [...heads, this.name, "change", "guarantee"], lines, 3);
  }

  changeCell(objective) {
    const share = objective / this.why.objective - 1;
    const text = Math.abs(share) < 5e-5 ? "0 %" : Math.abs(share) < 5e-4 ? `${share < 0 ? "−" : "+"}<0.1 %` : `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)} %`;
    return el("span", {"data-change": trend(this.why.objective, objective)}, text);
  }

  /** The first `nTexts` columns are texts. */
  table(title, hint, heads, rows, nTexts) {
    if (!rows.length) return null;
    const body = el("tbody");
    lengthyList(body, rows, (cells) => el("tr", cells.map((cell, i) => el(i ? "td" : "th", {scope: i ? null : "row", class: i < nTexts ? "text" : null}, cell))), 12, 60);
    return el("div", el("h3", title), el("p.hint", hint), el("div.scroll", el("table.runs", el("thead", el("tr", heads.map((head, i) => el("th", {scope: "col", class: i < nTexts ? "text" : null}, head)))), body)));
  }
}
