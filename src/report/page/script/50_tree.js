// The loop tree: loops and what memories hold, folding at every line.

/** Numbers the nodes of a mapping as the rows of `node_sizes` do, and finds the Einsums below each. */
function annotate(mapping) {
  const sizes = new Map();
  for (const row of mapping.node_sizes || []) (sizes.get(row.node) || sizes.set(row.node, []).get(row.node)).push(row);
  let next = 0;
  const walk = (nodes) => {
    const list = [];
    for (const node of nodes) {
      const at = {node, sizes: sizes.get(next++) || [], children: [], einsums: []};
      list.push(at);
      if (node.nodes) at.children = node.nodes.map((child) => child.node === "Nested" ? walk(child.nodes) : walk([child]));
    }
    const einsums = list.flatMap(({node, children}) => node.node === "Compute" ? [node.einsum] : children.flatMap((child) => child.einsums));
    list.einsums = einsums;
    for (const at of list) at.einsums = einsums;
    return list;
  };
  return walk(mapping.mapping.nodes);
}

/** Adjacent nodes of one kind share a line, as in the summary on a terminal. */
function linesOf(nodes) {
  const lines = [];
  for (const at of nodes) {
    const {node} = at, last = lines[lines.length - 1];
    const head = node.node === "Storage" ? `holds ${node.component}` : node.node === "Temporal" || node.node === "Spatial" ? "for" : node.node;
    if (last && last.head === head && (head === "for" || node.node === "Storage")) last.nodes.push(at);
    else lines.push({head, nodes: [at]});
  }
  return lines;
}

class LoopTree {
  constructor(account, colours, {eager = 40} = {}) {
    Object.assign(this, {account, colours, eager});
    this.root = annotate(account.mapping);
    if (account.isPriced) this.prepareEnergies();
    this.element = el("ul.tree", {role: "tree", "aria-label": "Loop tree", onkeydown: (event) => this.move(event)});
    this.fill(this.element, this.root);
    this.element.querySelector("[role=treeitem]")?.setAttribute("tabindex", "0");
  }

  prepareEnergies() {
    this.energies = new Map();  // by component and tensor; computes have none
    for (const row of this.account.energyRows) {
      const key = JSON.stringify([row.component, row.tensor]);
      (this.energies.get(key) || this.energies.set(key, []).get(key)).push(row);
    }
    this.sets = new WeakMap();  // of the lists of Einsums
  }

  /** Rows of energy that a line of the tree stands for. */
  rowsOf(line) {
    if (!this.energies) return [];
    const rows = [];
    for (const {node, einsums} of line.nodes) {
      const of = (tensor, isBelow) => {
        for (const row of this.energies.get(JSON.stringify([node.component, tensor])) || []) if (isBelow(row.einsum) && row.action !== "leak") rows.push(row);
      };
      if (node.node === "Compute") of(null, (einsum) => einsum === node.einsum);
      if (node.node !== "Storage") continue;
      const served = node.einsums || einsums;
      if (!this.sets.has(served)) this.sets.set(served, new Set(served));
      for (const tensor of node.tensors) of(tensor, (einsum) => this.sets.get(served).has(einsum));
    }
    return rows;
  }

  fill(list, nodes) {
    let place = list;
    for (const line of linesOf(nodes)) {
      const below = el("ul", {role: "group"});
      const item = this.item(line, nodes, below);
      place.append(item);
      const {node, children} = line.nodes[0];
      if (node.nodes) this.addBranches(below, children);
      if (node.node !== "Compute" && node.node !== "Collective") { item.append(below); place = below; }
    }
    if (place !== list && !place.childElementCount) {  // nothing stands below the last line
      place.parentElement.removeAttribute("aria-expanded");
      place.remove();
    }
  }

  /** Branches of a split; where there are many, each is drawn when it is opened. */
  addBranches(list, children) {
    const isLazy = children.length > this.eager;
    const make = (child, i) => {
      const group = el("ul", {role: "group"});
      const names = child.einsums.length > 3 ? `${child.einsums.slice(0, 3).join(", ")} …` : child.einsums.join(", ");
      const item = el("li.branch", {role: "treeitem", "aria-expanded": String(!isLazy), tabindex: "-1"},
        el("div.line", this.caret(), el("span.index", i + 1), el("span.names", names || "collective"), this.price(this.rowsBelow(child))), group);
      if (isLazy) item.fillLater = () => this.fill(group, child);
      else this.fill(group, child);
      this.listen(item);
      return item;
    };
    lengthyList(list, children.map((child, i) => [child, i]), ([child, i]) => make(child, i), isLazy ? 40 : this.eager, 200);
  }

  rowsBelow(nodes) {
    return linesOf(nodes).flatMap((line) => [...this.rowsOf(line), ...line.nodes.flatMap((at) => at.children.flatMap((child) => this.rowsBelow(child)))]);
  }

  caret() { return el("span.caret", {"aria-hidden": "true"}); }

  item(line, nodes, below) {
    const {node} = line.nodes[0];
    const isLeaf = node.node === "Compute" || node.node === "Collective";
    const rows = this.rowsOf(line);
    const label = el("div.line", this.caret(), this.words(line), this.price(rows));
    const item = el("li", {role: "treeitem", tabindex: "-1", "aria-expanded": isLeaf ? null : "true", "data-kind": line.head.split(" ")[0].toLowerCase()}, label);
    this.listen(item);
    this.explain(item, label, line, rows);
    return item;
  }

  words(line) {
    const {node, einsums} = line.nodes[0];
    switch (node.node) {
      case "Storage":
        return el("span.words", this.dot(node.component), el("b", node.component), " holds ", this.heldChips(line));
      case "Temporal": case "Spatial":
        return el("span.words", "for ", line.nodes.map((at) => {
          const trips = at.sizes.length ? at.sizes[0].trips : null;
          const isSpatial = at.node.node === "Spatial";
          return el("span.chip.loop" + (isSpatial ? ".spatial" : ""), [at.node.rank_variable].flat().join("/"), trips !== null && el("b", ` ×${count(trips)}`),
            el("small", ` of ${count(at.node.tile_shape)}`), isSpatial && el("small", ` across ${at.node.component}.${at.node.name}`));
        }));
      case "Compute":
        return el("span.words", this.dot(node.component), el("b", node.component), " computes ", el("span.chip", node.einsum));
      case "Collective":
        return el("span.words", `${node.type.replace(/_/g, "-")} of `, el("span.chip", node.tensor), ` over ${node.over.join(", ")}`);
      default:
        return el("span.words", {Sequential: "one after the other", Pipeline: "as a pipeline", Parallel: "at the same time"}[node.node] || node.node,
          el("small", ` ${count(einsums.length)} Einsums`));
    }
  }

  /** What a line holds; of hundreds of tensors the first. */
  heldChips(line, most = 40) {
    const chips = [];
    let n = 0;
    for (const at of line.nodes) {
      n += at.node.tensors.length;
      const marks = ["persistent", "resident", "sliding", "incremental"].filter((mark) => at.node[mark]);
      for (const tensor of at.node.tensors.slice(0, Math.max(0, most - chips.length))) {
        const held = at.sizes.find((row) => row.tensor === tensor);
        chips.push(el("span.chip", tensor, held && el("small", ` ${size(held.bits)}`), marks.length > 0 && el("i", ` ${marks.join(", ")}`)));
      }
    }
    return n > chips.length ? [...chips, el("span.chip", `and ${count(n - chips.length)} more`)] : chips;
  }

  dot(component) { return el("span.dot", {style: {"--colour": this.colours.get(component)}}); }

  price(rows) {
    const sum = rows.reduce((sum, row) => sum + row.energy_j, 0);
    if (!(sum > 0)) return null;
    const share = sum / this.account.mapping.energy_j;
    return el("span.price", el("span.meter", {"aria-hidden": "true"}, el("span", {style: {width: `${100 * share}%`}})), energy(sum));
  }

  explain(item, label, line, rows) {
    const content = () => {
      const details = line.nodes.slice(0, 16).flatMap((at) => at.node.node === "Storage"
        ? at.sizes.slice(0, 16).map((row) => [row.tensor, `${row.tile || "one value"} · ${size(row.bits)}`])
        : at.sizes.map((row) => [`${at.node.node === "Spatial" ? "across" : "loop"} ${[at.node.rank_variable].flat().join("/")}`,
          `${count(row.trips)} ${row.trips === 1 ? "step" : "steps"}, tiles of ${count(at.node.tile_shape)}`]));
      const einsum = line.nodes[0].node.node === "Compute" && this.account.isPriced ? line.nodes[0].node.einsum : null;
      return facts(line.head.startsWith("holds") ? `Tiles in ${line.nodes[0].node.component}` : line.head === "for" ? "Loops" : line.nodes[0].node.node, [
        ...details.slice(0, 16),
        ...sums(rows, (row) => row.tensor === null ? row.action : `${row.action} ${row.tensor}`, (row) => row.energy_j).slice(0, 8).map((group) =>
          [group.name, `${energy(group.value)} · ${moved(group.rows).map(([, text]) => text).join(", ")}`]),
        einsum !== null && ["takes", `${seconds(this.account.timeOf(einsum))}, waits for ${this.account.waits.get(einsum)?.component ?? "nothing"}`],
        ["below it", line.nodes[0].einsums.length > 4 ? `${count(line.nodes[0].einsums.length)} Einsums` : line.nodes[0].einsums.join(", ")],
      ]);
    };
    describe(label, content, item);
  }

  listen(item) {
    item.querySelector(".line").addEventListener("click", () => { this.toggle(item); this.focus(item); });
  }

  toggle(item, isOpen = item.getAttribute("aria-expanded") !== "true") {
    if (!item.hasAttribute("aria-expanded")) return;
    item.setAttribute("aria-expanded", String(isOpen));
    if (isOpen && item.fillLater) { item.fillLater(); item.fillLater = null; }
  }

  toggleAll(isOpen) {
    for (const item of this.element.querySelectorAll("[aria-expanded]"))
      if (isOpen ? !item.fillLater : item.classList.contains("branch") || item.parentElement === this.element) this.toggle(item, isOpen);
  }

  focus(item) {
    this.element.querySelector("[tabindex='0']")?.setAttribute("tabindex", "-1");
    item.setAttribute("tabindex", "0");
    item.focus({preventScroll: false});
  }

  /** Arrow keys as in any tree. */
  move(event) {
    const item = event.target.closest("[role=treeitem]");
    if (!item || event.target !== item) return;
    const shown = [...this.element.querySelectorAll("[role=treeitem]")].filter((other) => !other.parentElement.closest("[aria-expanded=false]"));
    const at = shown.indexOf(item), isOpen = item.getAttribute("aria-expanded");
    const go = {
      ArrowDown: () => shown[at + 1], ArrowUp: () => shown[at - 1], Home: () => shown[0], End: () => shown[shown.length - 1],
      ArrowRight: () => { if (isOpen === "false") this.toggle(item, true); else if (isOpen === "true") return shown[at + 1]; },
      ArrowLeft: () => { if (isOpen === "true") this.toggle(item, false); else return item.parentElement.closest("[role=treeitem]"); },
      Enter: () => this.toggle(item), " ": () => this.toggle(item),
    }[event.key];
    if (!go) return;
    event.preventDefault();
    const to = go();
    if (to) this.focus(to);
  }

  /** Opens everything on the way to an Einsum and shows it. */
  reveal(einsum) {
    const find = () => [...this.element.querySelectorAll("li[data-kind=compute] .chip")].find((chip) => chip.textContent === einsum);
    if (!find()) for (const item of this.element.querySelectorAll("li.branch"))
      if (item.fillLater && item.querySelector(".names").textContent.split(", ").includes(einsum)) this.toggle(item, true);
    const item = find()?.closest("li");
    if (!item) return;
    for (let up = item.parentElement.closest("[role=treeitem]"); up; up = up.parentElement.closest("[role=treeitem]")) this.toggle(up, true);
    this.focus(item);
    item.classList.add("revealed");
    setTimeout(() => item.classList.remove("revealed"), 1600);
  }
}
