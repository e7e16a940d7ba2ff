// Bars that are opened one after the other: a component, its Einsums, their tensors.

const everything = {
  component: {title: "component", key: (row) => row.component},
  einsum: {title: "Einsum", key: (row) => row.einsum},
  tensor: {title: "tensor", key: (row) => row.collective || row.tensor || (row.action === "leak" ? "leakage" : "computation")},
  action: {title: "action", key: (row) => row.action},
};

class DrillBars {
  /** `rows(path)`: those to add up below a path of names; `value`: of a row; `format`: of a sum; `unknown`: what to say where the total is. */
  constructor({id, rows, value, format, orders, colours, total, unknown}) {
    Object.assign(this, {id, rows, value, format, orders, colours, total, unknown});
    this.order = orders[0];
    this.path = [];
    this.crumbs = el("nav.crumbs", {"aria-label": "Opened bars"});
    this.list = el("ul.bars");
    this.body = el("div", this.crumbs, this.list);
    this.controls = segmented("Begin with", orders.map((order) => [order[0], everything[order[0]].title]), this.order[0], (first) => {
      this.order = orders.find((order) => order[0] === first);
      this.show([]);
    });
    this.show([]);
  }

  show(path) {
    this.path = path;
    const level = path.length;
    const rows = this.rows(path.map((name, i) => [this.order[i], name]), this.order[level]);
    const groups = sums(rows, everything[this.order[level]].key, this.value).filter((group) => group.value > 0);
    const total = groups.reduce((sum, group) => sum + group.value, 0);
    this.showCrumbs(total);
    this.list.replaceChildren();
    const isLast = level + 1 >= this.order.length;
    lengthyList(this.list, groups, (group) => el("li", this.bar(group, groups[0].value, total, isLast)), 10);
    if (!groups.length) this.list.append(el("li.empty", this.total === null ? this.unknown : "Nothing here costs anything."));
  }

  showCrumbs(total) {
    const names = ["All", ...this.path];
    this.crumbs.replaceChildren(...names.flatMap((name, i) => [
      i > 0 && el("span.separator", {"aria-hidden": "true"}, "›"),
      i + 1 < names.length ? el("button", {type: "button", onclick: () => { this.show(this.path.slice(0, i)); this.focusFirst(); }}, name)
        : el("span.here", i > 0 ? name : `By ${everything[this.order[0]].title}`),
    ]).filter(Boolean), el("span.sum", this.total === null && !this.path.length ? "not known" : this.format(total)));
  }

  bar(group, largest, total, isLast) {
    const kinds = sums(group.rows, (row) => this.order[this.path.length] === "action" || !row.action ? "" : row.action, this.value);
    const colour = this.colours.get(this.path.length && this.order[0] === "component" ? this.path[0] : group.name);
    const contents = [
      el("span.name", group.name),
      el("span.track", el("span.fill", {style: {width: `${Math.max(0.4, 100 * group.value / largest)}%`, "--colour": colour}},
        kinds.map((kind, i) => el("span.part", {style: {"flex-grow": kind.value / group.value, opacity: 1 - 0.28 * Math.min(i, 2)}})))),
      el("span.value", this.format(group.value)),
      el("span.share", percent(group.value / total)),
    ];
    const row = isLast ? el("div.bar", {tabindex: "0"}, contents)
      : el("button.bar", {type: "button", "aria-label": `${group.name}: ${this.format(group.value)}, ${percent(group.value / total)}; open`,
        onclick: () => { this.show([...this.path, group.name]); this.focusFirst(); }}, contents);
    return describe(row, () => facts(group.name, [[`share of these`, percent(group.value / total)], [`share of all`, percent(group.value / this.total)],
      ...kinds.filter((kind) => kind.name).map((kind) => [kind.name, this.format(kind.value)]),
      ...(isLast || kinds.length === 1 ? moved(group.rows) : [])]));
  }

  focusFirst() {
    hideTip();
    (this.list.querySelector(".bar") || this.crumbs.querySelector("button"))?.focus({preventScroll: true});
  }
}

/** What rows of one bar moved or computed. */
function moved(rows) {
  const bits = rows.reduce((sum, row) => sum + (row.bits || 0), 0);
  const operations = rows.reduce((sum, row) => sum + (row.bits === null && row.count ? row.count : 0), 0);
  return [bits > 0 && ["moved", size(bits)], operations > 0 && ["operations", si(operations, "")]].filter(Boolean);
}

function energyBars(account, colours) {
  return new DrillBars({
    id: "energy", colours, value: (row) => row.energy_j, format: energy, total: account.mapping.energy_j,
    unknown: "Some energies are not known: the architecture gives none for them.",
    orders: [["component", "einsum", "tensor", "action"], ["einsum", "component", "tensor", "action"], ["tensor", "component", "einsum", "action"]],
    rows: (path) => account.energyRows.filter((row) => path.every(([kind, name]) => everything[kind].key(row) === name)),
  });
}

/** An Einsum takes as long as its busiest component; that time is shared out to tensors by what they let it do. */
function latencyBars(account, colours) {
  const matches = (path) => (row) => path.every(([kind, name]) => everything[kind].key(row) === name);
  return new DrillBars({
    id: "latency", colours, value: (row) => row.latency_s, format: seconds, total: account.mapping.latency_s,
    unknown: "Some times are not known: the architecture gives none for them.",
    orders: [["component", "einsum", "tensor"], ["einsum", "component", "tensor"]],
    rows: (path, next) => {
      const known = path.filter(([kind]) => kind !== "tensor");
      if (next === "component" && path.length)  // inside an Einsum: all that are busy
        return account.mapping.latency.filter((row) => row.latency_s > 0).filter(matches(known));
      if (next !== "tensor") return account.waitingRows().filter(matches(known));
      return tensorTimes(account, Object.fromEntries(known));
    },
  });
}

function tensorTimes(account, {einsum, component}) {
  const busy = account.mapping.latency.find((row) => row.einsum === einsum && row.component === component);
  const rows = account.mapping.energy.filter((row) => row.einsum === einsum && row.component === component && row.action !== "leak" && row.actions > 0)
    .map((row) => ({...row, alone: row.actions / (account.rate(component, row.action) || Infinity)}));
  const sum = rows.reduce((sum, row) => sum + row.alone, 0);
  const collectives = account.waitingRows().filter((row) => row.collective && row.einsum === einsum && row.component === component);
  return rows.map((row) => ({...row, latency_s: sum > 0 && busy ? busy.latency_s * row.alone / sum : 0})).concat(collectives);
}
