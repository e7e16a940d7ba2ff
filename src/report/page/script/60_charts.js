// Charts by Observable Plot, drawn again when their place gets another width.

class Chart {
  static all = new Set();

  /** `draw(width)`: an SVG or figure. */
  constructor(label, draw) {
    this.draw = draw;
    this.element = el("div.chart", {role: "figure", "aria-label": label});
    this.width = 0;
    Chart.all.add(this);
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width > 0 && width !== this.width && !matchMedia("print").matches) requestAnimationFrame(() => this.redraw(width));
    }).observe(this.element);
  }

  redraw(width = this.width) {
    this.width = width;
    if (width > 0) this.element.replaceChildren(this.draw(width));
  }

  /** Those on the page, at the width they have there or at another. */
  static redrawAll(width) {
    for (const chart of Chart.all) {
      if (!chart.element.isConnected) Chart.all.delete(chart);
      else chart.redraw(width || Math.round(chart.element.clientWidth));
    }
  }
}
const paperWidth = 640;
addEventListener("beforeprint", () => Chart.redrawAll(paperWidth));
addEventListener("afterprint", () => Chart.redrawAll());

const baseStyle = {fontFamily: "inherit", fontSize: "12px", background: "none", overflow: "visible"};
const tipStyle = {lineHeight: 1.45, textPadding: 10, pointerSize: 9};
const opsUnit = (value) => si(value, "op/s");

/** Ticks at powers of ten (or of two, of bytes), few of them. */
function logTicks([from, to], most = 7) {
  const low = Math.ceil(Math.log10(from) - 1e-9), high = Math.floor(Math.log10(to) + 1e-9);
  const step = Math.max(1, Math.ceil((high - low + 1) / most));
  return d3.range(low, high + 1, step).map((power) => 10 ** power);
}

/** Marks that answer to a click, by the order of their data. */
function clickable(figure, selector, data, choose, title) {
  const svg = figure.matches("svg") ? figure : figure.querySelector("svg:last-of-type");
  for (const mark of svg.querySelectorAll(selector)) {
    const row = data[d3.select(mark).datum()];
    if (!row) continue;
    setAttributes(mark, {tabindex: "0", role: "button", "aria-label": title(row),
      onclick: () => choose(row), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(row); } }});
  }
  return figure;
}

class Roofline {
  constructor(account, colours, choose) {
    Object.assign(this, {account, colours, choose});
    const memories = account.memories().filter((name) => account.traffic(name).size > 0);
    this.memory = memories[0];
    this.chart = new Chart("Roofline: operations per second over operations per byte", (width) => this.draw(width));
    this.controls = memories.length > 1 ? chooser("Traffic of", memories.map((name) => [name, name]), this.memory, (name) => {
      this.memory = name;
      this.chart.redraw();
      this.note.textContent = this.noteText();
    }) : null;
    this.note = el("p.hint", this.noteText());
    this.element = el("div", this.chart.element, this.note, this.slowest());
  }

  /** The Einsums that take longest, and how much of the compute they keep busy. */
  slowest() {
    const peak = this.account.peakCalls();
    const list = el("ol.einsums", el("li.head", {"aria-hidden": "true"}, ["Einsum", "time", "of all", "peak used"].map((text) => el("span", text))));
    const points = d3.sort(this.account.einsums.map((einsum) => ({einsum, time: this.account.timeOf(einsum)})).filter((point) => point.time > 0), (a, b) => b.time - a.time);
    return lengthyList(list, points, ({einsum, time}) => {
      const use = peak ? (this.account.calls.get(einsum) || 0) / time / peak : null;
      return el("li", el("button", {type: "button", onclick: () => this.choose(einsum)}, el("span", einsum), el("span", seconds(time)),
        el("span", percent(time / this.account.mapping.latency_s)), el("span", use === null ? "–" : percent(use))));
    }, 7);
  }

  points() {
    const traffic = this.account.traffic(this.memory);
    return this.account.einsums.map((einsum) => ({
      einsum, operations: this.account.operations.get(einsum) || 0, bytes: (traffic.get(einsum) || 0) / 8, time: this.account.timeOf(einsum),
      waits: this.account.waits.get(einsum)?.component,
    })).filter((point) => point.operations > 0 && point.time > 0);
  }

  noteText() {
    const without = this.points().filter((point) => !point.bytes).length;
    return without ? `${count(without)} ${without === 1 ? "Einsum moves" : "Einsums move"} nothing at ${this.memory}: no limit from there.` : "";
  }

  draw(width) {
    const {account, memory} = this;
    const points = this.points().filter((point) => point.bytes > 0).map((point) => ({...point, x: point.operations / point.bytes, y: point.operations / point.time}));
    if (!points.length) return el("p.empty", `No Einsum both computes and moves values at ${memory}.`);
    const peak = account.peakOperations(), bandwidth = account.bandwidth(memory);
    const knee = peak && bandwidth ? peak / (bandwidth / 8) : null;
    const xs = points.map((point) => point.x).concat(knee ? [knee] : []);
    const x = [d3.min(xs) / 4, d3.max(xs) * 6];
    const roof = (at) => Math.min(peak || Infinity, bandwidth ? at * bandwidth / 8 : Infinity);
    const ys = points.map((point) => point.y).concat([roof(x[0]), roof(x[1])].filter(Number.isFinite));
    const y = [d3.min(ys) / 2, d3.max(ys) * 2.5];
    const line = [x[0], knee, x[1]].filter((at) => at && at >= x[0] && at <= x[1]).map((at) => ({x: at, y: roof(at)})).filter((at) => Number.isFinite(at.y));
    const slowest = d3.max(points, (point) => point.time);
    const labels = points.length <= 12 ? points : [];
    const figure = Plot.plot({
      width, height: Math.max(260, Math.min(380, width * 0.66)), marginLeft: 62, marginRight: 16, marginBottom: 40, style: baseStyle,
      x: {type: "log", domain: x, ticks: logTicks(x, width < 420 ? 4 : 7), tickFormat: (at) => si(at, ""), label: `operations per byte at ${memory} →`},
      y: {type: "log", domain: y, ticks: logTicks(y, 6), tickFormat: opsUnit, label: "↑ reached", grid: true},
      r: {type: "identity"},
      marks: [
        line.length > 1 && Plot.areaY(line, {x: "x", y1: y[0], y2: "y", fill: "var(--accent)", fillOpacity: 0.06}),
        line.length > 1 && Plot.line(line, {x: "x", y: "y", stroke: "var(--ink)", strokeWidth: 1.75, strokeLinejoin: "round"}),
        peak && Plot.text([{x: x[1], y: peak}], {x: "x", y: "y", text: () => `peak ${opsUnit(peak)}`, textAnchor: "end", dy: -9, fill: "var(--muted)"}),
        bandwidth && knee && Plot.text([{x: Math.sqrt(x[0] * Math.min(knee, x[1])), y: roof(Math.sqrt(x[0] * Math.min(knee, x[1])))}],
          {x: "x", y: "y", text: () => si(bandwidth / 8, "B/s"), textAnchor: "end", dx: -10, dy: -8, fill: "var(--muted)"}),
        Plot.dot(points, {x: "x", y: "y", r: (point) => 4.5 + 7 * Math.sqrt(point.time / slowest), fill: (point) => this.colours.get(point.waits), fillOpacity: 0.88,
          stroke: "var(--card)", strokeWidth: 1.5, className: "points"}),
        labels.length && Plot.text(labels, {x: "x", y: "y", text: "einsum", dy: 20, fill: "var(--ink)", stroke: "var(--card)", strokeWidth: 4}),
        Plot.tip(points, Plot.pointer({...tipStyle, x: "x", y: "y", title: (point) =>
          `${point.einsum}\n${opsUnit(point.y)} of ${opsUnit(roof(point.x))} possible\n${digits(point.x)} operations per byte\ntakes ${seconds(point.time)}, waits for ${point.waits}`})),
      ].filter(Boolean),
    });
    return clickable(figure, ".points circle", points, (point) => this.choose(point.einsum), (point) => `${point.einsum}: ${opsUnit(point.y)}`);
  }
}

class Occupancy {
  constructor(account) {
    this.account = account;
    const {steps, held} = account.mapping.occupancy_over_time || {steps: [], held: []};
    this.steps = steps;
    this.held = d3.group(held, (row) => row.component);
    this.memories = account.mapping.occupancy.filter((row) => row.peak_bits > 0);
    const limited = this.memories.filter((row) => row.capacity_bits !== null);
    this.memory = (limited.sort((a, b) => b.peak_bits / b.capacity_bits - a.peak_bits / a.capacity_bits).find((row) => row.peak_bits > 64) || limited[0] || this.memories[0])?.component;
    this.tensors = this.tensorColours();
    this.chart = new Chart("What a memory holds from step to step", (width) => this.draw(width));
    this.list = el("ul.gauges", this.gauges());
    this.legend = el("div.legend");
    this.element = el("div.occupancy", this.list, el("div", this.legend, this.chart.element));
    this.showLegend();
  }

  /** One for each memory: how full it gets; choosing one shows it over time. */
  gauges() {
    return this.account.mapping.occupancy.map((row) => {
      const share = row.capacity_bits ? row.peak_bits / row.capacity_bits : null;
      return el("li", el("button.gauge", {type: "button", "aria-pressed": String(row.component === this.memory), onclick: (event) => {
        this.memory = row.component;
        for (const other of this.list.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === event.currentTarget));
        this.tensors = this.tensorColours();
        this.showLegend();
        this.chart.redraw();
      }}, el("span.name", row.component), el("span.value", share === null ? size(row.peak_bits) : percent(share)),
      el("span.track", el("span.fill", {style: {width: `${share === null ? 0 : Math.min(100, 100 * share)}%`}})),
      el("span.note", share === null ? "no limit" : `${size(row.peak_bits)} of ${size(row.capacity_bits)}`)));
    });
  }

  /** Those that take most of the chosen memory for longest have colours of their own. */
  tensorColours() {
    return new Colours(sums(this.held.get(this.memory) || [], (row) => row.tensor, (row) => row.bits * (row.until - row.from + 1)).map((group) => group.name));
  }

  /** Rectangles of the chosen memory: tensors stacked in each step, equal neighbours joined. */
  stacks() {
    const rows = this.held.get(this.memory) || [];
    const isNamed = (tensor) => this.tensors.get(tensor) !== "var(--colour-other)";
    const starts = d3.group(rows, (row) => row.from);
    const rank = new Map(sums(rows, (row) => row.tensor, (row) => row.until - row.from).map((group, i) => [group.name, i]));
    let live = [], others = 0;
    const boxes = [], open = new Map();
    const put = (key, tensor, from, bits, step) => {
      const box = open.get(key);
      if (box && box.x2 === step && box.y1 === from && box.y2 === from + bits) { box.x2 = step + 1; return; }
      const added = {tensor, x1: step, x2: step + 1, y1: from, y2: from + bits};
      boxes.push(added);
      open.set(key, added);
    };
    for (let step = 0; step < this.steps.length; ++step) {
      for (const row of live) if (row.until < step && !isNamed(row.tensor)) others -= row.bits;
      live = live.filter((row) => row.until >= step);
      for (const row of starts.get(step) || []) { if (isNamed(row.tensor)) live.push(row); else { others += row.bits; live.push(row); } }
      let height = 0;
      for (const row of live.filter((row) => isNamed(row.tensor)).sort((a, b) => rank.get(a.tensor) - rank.get(b.tensor))) {
        put(row, row.tensor, height, row.bits, step);
        height += row.bits;
      }
      if (others > 0) put("others", "others", height, others, step);
    }
    return boxes;
  }

  showLegend() {
    const names = [...new Set((this.held.get(this.memory) || []).map((row) => row.tensor))];
    const named = names.filter((name) => this.tensors.get(name) !== "var(--colour-other)");
    this.legend.replaceChildren(...named.concat(named.length < names.length ? [`${count(names.length - named.length)} others`] : []).map((name) =>
      el("span", el("span.dot", {style: {"--colour": this.tensors.get(name)}}), name)));
  }

  draw(width) {
    const row = this.memories.find((row) => row.component === this.memory);
    const boxes = this.stacks();
    if (!boxes.length) return el("p.empty", `${this.memory ?? "This memory"} holds nothing.`);
    const most = d3.max(boxes, (box) => box.y2), capacity = row?.capacity_bits;
    const showsCapacity = capacity && capacity < 4 * most;
    const top = showsCapacity ? Math.max(most, capacity) * 1.08 : most * 1.12;
    const perStep = (width - 80) / this.steps.length;
    const every = Math.ceil(Math.max(1, 56 / perStep));
    return Plot.plot({
      width, height: 270, marginLeft: 72, marginRight: 12, marginBottom: 42, style: baseStyle,
      x: {type: "linear", domain: [0, this.steps.length], ticks: d3.range(0, this.steps.length, every).map((step) => step + 0.5),
        tickFormat: (at) => shorten(this.steps[Math.floor(at)], Math.max(6, Math.floor(perStep * every / 7))), tickSize: 0, label: "Einsums in the order of the schedule →", labelOffset: 38},
      y: {domain: [0, top], tickFormat: size, ticks: byteTicks(top), label: `↑ held in one ${this.memory}`, grid: true},
      marks: [
        Plot.rect(boxes, {x1: "x1", x2: "x2", y1: "y1", y2: "y2", fill: (box) => this.tensors.get(box.tensor), insetRight: perStep > 6 ? 1 : 0, insetTop: 0.5}),
        Plot.text(boxes.filter((box) => (box.x2 - box.x1) * perStep > 9 * box.tensor.length + 8 && (box.y2 - box.y1) / top * 228 > 16),
          {x: (box) => (box.x1 + box.x2) / 2, y: (box) => (box.y1 + box.y2) / 2, text: "tensor", fill: (box) => box.tensor === "others" ? "var(--ink)" : "var(--on-colour)", fontWeight: 600}),
        showsCapacity && Plot.ruleY([capacity], {stroke: "var(--alert)", strokeWidth: 1.5, strokeDasharray: "5 4"}),
        showsCapacity && Plot.text([capacity], {x: () => this.steps.length, y: (bits) => bits, text: () => `capacity ${size(capacity)}`, textAnchor: "end", dy: -7, fill: "var(--alert)"}),
        Plot.ruleY([0], {stroke: "var(--line)"}),
        Plot.tip(boxes, Plot.pointer({...tipStyle, x: (box) => (box.x1 + box.x2) / 2, y: (box) => (box.y1 + box.y2) / 2, title: (box) =>
          `${box.tensor}: ${size(box.y2 - box.y1)}\n${box.x2 - box.x1 > 1 ? `from ${this.steps[box.x1]} to ${this.steps[box.x2 - 1]}` : `during ${this.steps[box.x1]}`}`})),
      ].filter(Boolean),
    });
  }
}

const shorten = (text, most) => text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;

/** Round sizes in bytes up to `top` bits. */
function byteTicks(top) {
  const step = 2 ** Math.max(0, Math.ceil(Math.log2(top / 8 / 5)));
  return d3.range(0, top / 8, step).map((bytes) => bytes * 8);
}

class ParetoExplorer {
  constructor(result, chosen, choose) {
    Object.assign(this, {result, chosen, choose});
    this.points = result.document.mappings.map((mapping, index) => ({index, x: mapping.latency_s, y: mapping.energy_j, edp: mapping.edp_js}))
      .filter((point) => point.x > 0 && point.y > 0);
    this.chart = new Chart("Energy over latency of all mappings", (width) => this.draw(width));
    this.list = el("ol.points");
    lengthyList(this.list, this.points, (point) => el("li", el("button", {type: "button", "aria-pressed": String(point.index === chosen), onclick: () => choose(point.index)},
      el("span", `${point.index + 1}`), el("span", energy(point.y)), el("span", seconds(point.x)), el("span", si(point.edp, "J·s")))), 20, 200);
    this.element = el("div.pareto", this.chart.element, el("div", el("div.points-head", {"aria-hidden": "true"}, ["", "energy", "latency", "EDP"].map((text) => el("span", text))), this.list));
  }

  draw(width) {
    const front = d3.sort(this.points, (a, b) => a.x - b.x || a.y - b.y).filter(((least) => (point) => point.y < least ? (least = point.y, true) : false)(Infinity));
    const scale = (values) => d3.max(values) > 8 * d3.min(values) ? "log" : "linear";
    const xs = this.points.map((point) => point.x), ys = this.points.map((point) => point.y);
    const pad = (values, type) => type === "log" ? [d3.min(values) / 1.4, d3.max(values) * 1.4] : [d3.min(values) - 0.08 * (d3.max(values) - d3.min(values) || d3.min(values)), d3.max(values) + 0.08 * (d3.max(values) - d3.min(values) || d3.max(values))];
    const figure = Plot.plot({
      width, height: 300, marginLeft: 70, marginRight: 16, marginBottom: 40, style: baseStyle,
      x: {type: scale(xs), domain: pad(xs, scale(xs)), tickFormat: seconds, ticks: width < 480 ? 4 : 6, label: "latency →"},
      y: {type: scale(ys), domain: pad(ys, scale(ys)), tickFormat: energy, ticks: 6, label: "↑ energy", grid: true},
      r: {type: "identity"},
      marks: [
        Plot.line(front, {x: "x", y: "y", curve: "step-after", stroke: "var(--muted)", strokeDasharray: "4 3"}),
        Plot.dot(this.points, {x: "x", y: "y", r: (point) => point.index === this.chosen ? 8 : 5, fill: (point) => point.index === this.chosen ? "var(--accent)" : "var(--card)",
          stroke: "var(--accent)", strokeWidth: 2, className: "points", sort: null}),
        Plot.tip(this.points, Plot.pointer({...tipStyle, x: "x", y: "y", title: (point) => `mapping ${point.index + 1}\n${energy(point.y)}\n${seconds(point.x)}\n${si(point.edp, "J·s")}`})),
      ],
    });
    return clickable(figure, ".points circle", this.points, (point) => this.choose(point.index), (point) => `mapping ${point.index + 1}: ${energy(point.y)}, ${seconds(point.x)}`);
  }
}
