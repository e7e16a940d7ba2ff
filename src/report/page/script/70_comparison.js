// Two mappings side by side.

class Comparison {
  constructor(a, b, colours) {
    Object.assign(this, {a, b, colours});
    this.bars = el("ul.pairs");
    this.kind = "component";
    this.controls = segmented("Compare by", ["component", "einsum", "tensor"].map((kind) => [kind, everything[kind].title]), this.kind, (kind) => { this.kind = kind; this.showBars(); });
    this.element = el("div", this.totals(), el("div.columns",
      el("div", el("h3", "Energy"), this.bars), el("div", el("h3", "Time, by the component that Einsums wait for"), this.times())),
      el("div.columns.trees", [a, b].map((account, i) => el("div", el("h3", el("span.side", "AB"[i]), account.name), new LoopTree(account, colours, {eager: 6}).element))));
    this.showBars();
  }

  totals() {
    const rows = [["Energy", "energy_j", "J"], ["Latency", "latency_s", "s"], ["EDP", "edp_js", "J·s"], ["Leakage", "leak_energy_j", "J"]];
    return el("table.totals", el("thead", el("tr", el("td"), [this.a, this.b].map((account, i) => el("th", {scope: "col"}, el("span.side", "AB"[i]), account.name)), el("th", {scope: "col"}, "B is"))),
      el("tbody", rows.map(([name, key, unit]) => el("tr", el("th", {scope: "row"}, name), [this.a, this.b].map((account) => el("td", si(account.mapping[key], unit))),
        el("td", {"data-change": trend(this.a.mapping[key], this.b.mapping[key])}, change(this.a.mapping[key], this.b.mapping[key]))))));
  }

  showBars() {
    this.bars.replaceChildren();
    this.pairs(this.bars, this.a.energyRows, this.b.energyRows, everything[this.kind].key, (row) => row.energy_j, energy);
  }

  times() {
    const list = el("ul.pairs");
    this.pairs(list, this.a.waitingRows(), this.b.waitingRows(), everything.component.key, (row) => row.latency_s, seconds);
    return list;
  }

  pairs(list, aRows, bRows, key, value, format) {
    const [a, b] = [aRows, bRows].map((rows) => new Map(sums(rows, key, value).map((group) => [group.name, group.value])));
    const names = [...new Set([...a.keys(), ...b.keys()])].map((name) => [name, a.get(name) || 0, b.get(name) || 0])
      .filter(([, x, y]) => x > 0 || y > 0).sort(([, a1, b1], [, a2, b2]) => Math.abs(b2 - a2) - Math.abs(b1 - a1) || b2 - b1);
    const largest = d3.max(names, ([, x, y]) => Math.max(x, y)) || 1;
    lengthyList(list, names, ([name, x, y]) => el("li", el("span.name", name), el("span.change", {"data-change": trend(x, y)}, change(x, y)),
      [x, y].map((amount, i) => el("span.track", {class: `track ${"ab"[i]}`}, el("span.side", "AB"[i]), el("span.fill", {style: {width: `${72 * amount / largest}%`}}), el("span.value", format(amount))))), 10);
  }
}

/** Less is better, of all that is compared here. */
const trend = (a, b) => Math.abs(b - a) <= 5e-4 * Math.max(a, b) ? "equal" : b < a ? "less" : "more";
