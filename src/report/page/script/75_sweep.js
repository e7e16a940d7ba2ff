// Runs of a sweep: a chart of one column over another, and a table of all of them.

const sweepColumns = {
  energy_j: ["energy", energy], latency_s: ["latency", seconds], edp_js: ["EDP", (value) => si(value, "J·s")], power_w: ["power", (value) => si(value, "W")],
  operations_per_s: ["operations per second", (value) => si(value, "op/s")], operations_per_j: ["operations per joule", (value) => si(value, "op/J")],
  area_m2: ["area", (value) => `${digits(value * 1e6)} mm²`], leak_energy_j: ["leakage", energy],
};

class Sweep {
  constructor({name, document}) {
    this.name = name;
    this.document = document;
    this.runs = document.runs.map((run, index) => ({...run, index}));
    const several = ["workload", "architecture"].filter((key) => new Set(this.runs.map((run) => run[key])).size > 1);
    this.varied = [...several, ...document.varied];
    this.measured = Object.keys(sweepColumns).filter((key) => this.runs.some((run) => run[key] !== null));
    this.x = document.varied.find((key) => new Set(this.runs.map((run) => this.setting(run, key))).size > 1) || this.varied[0] || "latency_s";
    this.y = this.measured.includes("edp_js") ? "edp_js" : this.measured[0];
    this.sorted = null;
    this.chosen = null;
    this.chart = new Chart("Runs of the sweep", (width) => this.draw(width));
    this.legend = el("div.legend");
    this.table = el("div.scroll");
    this.body = [this.legend, this.chart.element, this.table];
    this.showLegend();
    this.showTable();
  }

  /** What a run has of something that varies, as it was given. */
  setting(run, key) {
    return key === "workload" || key === "architecture" ? run[key] : run.settings[key] ?? "";
  }

  get hint() {
    const {runs, document: {points}} = this;
    const without = runs.filter((run) => run.status !== "ok").length;
    return `${runs.length < points ? `${count(runs.length)} of ${count(points)}` : count(points)} ${points === 1 ? "run" : "runs"}${without ? `, ${count(without)} without a mapping` : ""}`;
  }

  controls() {
    const measured = this.measured.map((key) => [key, sweepColumns[key][0]]);
    const change = () => { this.showLegend(); this.chart.redraw(); this.showTable(); };
    return el("div.tools", chooser("Show", measured, this.y, (key) => { this.y = key; change(); }),
      chooser("over", [...this.varied.map((key) => [key, key]), ...measured], this.x, (key) => { this.x = key; change(); }));
  }

  /** What varies but is not on the x axis tells lines apart. */
  line(run) {
    return this.varied.filter((key) => key !== this.x && new Set(this.runs.map((other) => this.setting(other, key))).size > 1)
      .map((key) => `${key.replace(/^(arch|workload)\./, "")} ${this.setting(run, key)}`).join(", ");
  }

  showLegend() {
    const lines = [...new Set(this.runs.map((run) => this.line(run)))];
    this.colours = new Colours(lines);
    const named = lines.slice(0, nColours);
    this.legend.replaceChildren(...(lines.length < 2 ? [] : named.map((line) => el("span", el("span.dot", {style: {"--colour": this.colours.get(line)}}), line))),
      ...(lines.length > nColours ? [el("span", el("span.dot", {style: {"--colour": "var(--colour-other)"}}), `${count(lines.length - nColours)} others`)] : []));
  }

  /** Values of the x axis in order, where they are given and not measured. */
  positions() {
    const numbers = new Map(this.runs.map((run) => [this.setting(run, this.x), run.numbers?.[this.x]]));
    const values = [...numbers.keys()];
    return values.every((value) => Number.isFinite(numbers.get(value))) ? values.sort((a, b) => numbers.get(a) - numbers.get(b)) : values;
  }

  draw(width) {
    const isMeasured = this.x in sweepColumns, [name, format] = sweepColumns[this.y] || [];
    const points = this.runs.filter((run) => run[this.y] > 0 && (!isMeasured || run[this.x] > 0))
      .map((run) => ({run, x: isMeasured ? run[this.x] : this.setting(run, this.x), y: run[this.y], line: this.line(run)}));
    if (!points.length) return el("p.empty", "No run has both.");
    const ys = points.map((point) => point.y), isLog = d3.max(ys) > 20 * d3.min(ys);
    const xs = points.map((point) => point.x), isLogX = isMeasured && d3.max(xs) > 20 * d3.min(xs);
    const domain = this.positions(), every = Math.ceil(domain.length * 64 / Math.max(1, width - 100));
    const line = (run) => this.colours.get(run.line);
    const x = isMeasured ? {type: isLogX ? "log" : "linear", tickFormat: sweepColumns[this.x][1], ticks: 5, label: `${sweepColumns[this.x][0]} →`, nice: true}
      : {type: "point", domain, ticks: domain.filter((_, i) => i % every === 0), label: `${this.x} →`, padding: 0.3};
    const order = new Map(domain.map((value, i) => [value, i]));
    const drawn = isMeasured ? points : d3.sort(points, (point) => order.get(point.x));
    const figure = Plot.plot({
      width, height: 320, marginLeft: 76, marginRight: 20, marginBottom: 42, style: baseStyle, x,
      y: {type: isLog ? "log" : "linear", domain: isLog ? [d3.min(ys) / 1.5, d3.max(ys) * 1.5] : [0, d3.max(ys) * 1.1], tickFormat: format, ticks: isLog ? logTicks([d3.min(ys) / 1.5, d3.max(ys) * 1.5], 6) : 6, label: `↑ ${name}`, grid: true},
      r: {type: "identity"},
      marks: [
        !isMeasured && Plot.line(drawn, {x: "x", y: "y", z: "line", stroke: line, strokeWidth: 1.75}),
        Plot.dot(drawn, {x: "x", y: "y", r: (point) => point.run.index === this.chosen ? 8 : 4.5, fill: line, stroke: "var(--card)", strokeWidth: 1.5, className: "points", sort: null}),
        Plot.tip(drawn, Plot.pointer({...tipStyle, x: "x", y: "y", title: ({run, y}) =>
          [...this.varied.map((key) => `${key}: ${this.setting(run, key)}`), `${name}: ${format(y)}`, proofOf(run)].filter(Boolean).join("\n")})),
      ].filter(Boolean),
    });
    return clickable(figure, ".points circle", drawn, ({run}) => this.choose(run.index), ({run, y}) => `${this.varied.map((key) => `${key} ${this.setting(run, key)}`).join(", ")}: ${format(y)}`);
  }

  /** Marks a run in chart and table. */
  choose(index) {
    this.chosen = this.chosen === index ? null : index;
    this.chart.redraw();
    this.showTable();
    this.table.querySelector("tr[aria-selected=true]")?.scrollIntoView({block: "nearest"});
  }

  rows() {
    if (!this.sorted) return this.runs;
    const {key, isDown} = this.sorted;
    const value = (run) => key in sweepColumns ? run[key] ?? Infinity : run.numbers?.[key] ?? this.setting(run, key);
    const rows = d3.sort(this.runs, value);
    return isDown ? rows.reverse() : rows;
  }

  showTable() {
    const shown = ["energy_j", "latency_s", "edp_js", "area_m2"].filter((key) => this.measured.includes(key));
    if (this.y && !shown.includes(this.y)) shown.push(this.y);
    const least = d3.min(this.runs.filter((run) => run[this.y] !== null), (run) => run[this.y]);
    const isLessBetter = !/^operations_per/.test(this.y);
    const head = (key, text) => el("th", {scope: "col", class: this.varied.includes(key) ? "text" : null, "aria-sort": this.sorted?.key === key ? (this.sorted.isDown ? "descending" : "ascending") : null},
      el("button", {type: "button", onclick: () => { this.sorted = {key, isDown: this.sorted?.key === key && !this.sorted.isDown}; this.showTable(); }}, text));
    const body = el("tbody");
    lengthyList(body, this.rows(), (run) => el("tr", {"aria-selected": String(run.index === this.chosen), onclick: () => this.choose(run.index)},
      this.varied.map((key) => el("th", {scope: "row"}, this.setting(run, key))),
      run.status === "ok" ? [...shown.map((key) => el("td", sweepColumns[key][1](run[key]))), el("td.remark", [isLessBetter && run[this.y] === least && "least", proofOf(run)].filter(Boolean).join(", "))]
        : el("td.reason", {colspan: shown.length + 1}, `no mapping: ${run.reason}`)), 40, 200);
    this.table.replaceChildren(el("table.runs", el("thead", el("tr", this.varied.map((key) => head(key, key)), shown.map((key) => head(key, sweepColumns[key][0])), el("td"))), body));
  }
}

const proofOf = (run) => run.status !== "ok" || run.guarantee === "optimal" ? "" : "not proven";

function sweepCard(entry, index) {
  const sweep = new Sweep(entry);
  return card(`sweep-${index}`, `Sweep ${entry.name}`, sweep.hint, sweep.controls(), sweep.body);
}
