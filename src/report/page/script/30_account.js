// What a mapping's rows say, added up in the ways that the charts need.

/** Sums of `value` over rows of one key, largest first. */
function sums(rows, key, value) {
  const groups = new Map();
  for (const row of rows) {
    const name = key(row);
    const group = groups.get(name) || groups.set(name, {name, value: 0, rows: []}).get(name);
    group.value += value(row);
    group.rows.push(row);
  }
  return [...groups.values()].sort((a, b) => b.value - a.value);
}

/** One mapping of one result, with everything that follows from its rows. Made once for each. */
class Account {
  constructor(result, index) {
    this.result = result;
    this.index = index;
    this.mapping = result.document.mappings[index];
    this.isPriced = this.mapping.energy !== undefined;
    this.machine = result.document.machine || [];
    const all = result.document.mappings.length > 1 ? ` · mapping ${index + 1}` : "";
    this.name = result.name + all;
    if (this.isPriced) this.addUp();
  }

  addUp() {
    const {energy, latency, collective_latency: collectives} = this.mapping;
    this.energyRows = energy.filter((row) => row.energy_j > 0);
    this.calls = new Map();  // per Einsum: of actions of computes
    for (const row of energy)
      if (row.bits === null && row.count !== null)
        this.calls.set(row.einsum, (this.calls.get(row.einsum) || 0) + row.count);
    const counted = this.mapping.efficiency?.operations_by_einsum;  // a multiplication and an addition are two
    this.operations = counted ? new Map(counted.map((row) => [row.einsum, row.operations])) : this.calls;
    this.waits = new Map();  // per Einsum: the busiest component
    for (const row of latency) {
      const known = this.waits.get(row.einsum);
      if (!known || row.latency_s > known.latency_s) this.waits.set(row.einsum, row);
    }
    this.collectives = collectives || [];
    this.einsums = [...new Set([...latency, ...energy].map((row) => row.einsum))];
    this.tensors = [...new Set(energy.map((row) => row.tensor).filter((tensor) => tensor !== null))];
    this.components = this.machine.length ? [...new Set(this.machine.filter((row) => row.kind !== "container").map((row) => row.component))]
      : [...new Set(energy.map((row) => row.component))];
  }

  /** Busy time of the components that Einsums wait for; collectives follow them. */
  waitingRows() {
    return [...this.waits.values()].filter((row) => row.latency_s > 0).concat(this.collectives.map((row) =>
      ({einsum: row.einsum, component: row.component, latency_s: row.latency_s, collective: `${row.type} of ${row.tensor}`})));
  }

  timeOf(einsum) {
    const own = this.waits.get(einsum);
    return this.collectives.reduce((sum, row) => row.einsum === einsum ? sum + row.latency_s : sum, own ? own.latency_s : 0);
  }

  /** Actions per second of one instance; null where nothing limits them. */
  rate(component, action) {
    const row = this.machine.find((row) => row.component === component && row.action === action);
    return row ? row.actions_per_s : null;
  }

  /** Per second, of all instances of the computes: their actions, weighed by what each stands for; null where nothing limits them. */
  peak(weight) {
    let peak = null;
    for (const row of this.machine) {
      if (row.kind !== "compute" || row.actions_per_s === null) continue;
      const uses = this.mapping.energy.filter((use) => use.component === row.component && use.action === row.action);
      if (uses.length) peak = Math.max(peak || 0, row.actions_per_s * row.instances * Math.max(...uses.map(weight)));
    }
    return peak;
  }

  peakCalls() { return this.peak(() => 1); }

  peakOperations() { return this.peak(({einsum}) => (this.operations.get(einsum) || 0) / (this.calls.get(einsum) || 1)); }

  /** Bits per second of all instances of a memory; null where nothing limits them. */
  bandwidth(memory) {
    let most = null;
    for (const row of this.machine) {
      if (row.component !== memory || row.actions_per_s === null) continue;
      const use = this.mapping.energy.find((use) => use.component === memory && use.action === row.action && use.actions > 0);
      const bits = row.bits_per_action !== null ? row.bits_per_action : use ? use.bits / use.actions : null;
      if (bits !== null) most = Math.max(most || 0, row.actions_per_s * row.instances * bits);
    }
    return most;
  }

  total(perEinsum) { return [...perEinsum.values()].reduce((sum, n) => sum + n, 0); }

  memories() { return this.components.filter((name) => this.machine.some((row) => row.component === name && row.kind === "memory")); }

  traffic(memory) {
    const bits = new Map();
    for (const row of this.mapping.energy)
      if (row.component === memory && row.bits > 0) bits.set(row.einsum, (bits.get(row.einsum) || 0) + row.bits);
    return bits;
  }
}
