#include <algorithm>

#include "oracle/problem/dice.h"
#include "oracle/problem/random_einsums.h"
#include "oracle/problem/random_problem.h"

namespace sluice::oracle {
namespace {

MemorySpec draw_toll(Dice& dice) {
  MemorySpec toll;
  toll.name = "Link";
  toll.kind = HolderKind::kToll;
  toll.keep = dice.text_of({"All", "input", "weight | output", "Nothing"});
  if (dice.chance(25)) toll.may_keep = "All";
  toll.direction = dice.text_of({"", "down", "up", "up_and_down"});
  toll.read_energy = 1 + dice.below(8);
  toll.read_throughput = dice.text_of({"inf", "8", "16"});
  if (dice.chance(20)) toll.leak = "0.5";
  if (dice.chance(20)) toll.bits_per_action = 4;
  if (dice.chance(30))
    toll.spatial = {{"TX", 2, dice.text_of({"All", "Nothing", "Inputs"}), "", ""}};
  return toll;
}

MemorySpec draw_container(Dice& dice) {
  MemorySpec container;
  container.name = "Cluster";
  container.kind = HolderKind::kContainer;
  container.spatial = {{"KX", dice.one_of({2, 3, 4}),
                        dice.text_of({"All", "Nothing", "Inputs", "Outputs"}), "",
                        dice.text_of({"", "", "1"})}};
  if (dice.chance(40)) container.spatial.push_back({"KY", 2, "All", "", ""});
  return container;
}

void add_components(Dice& dice, ProblemSpec& spec) {
  const auto insert = [&](MemorySpec node) {
    const int at = 1 + dice.below(static_cast<int>(spec.memories.size()));
    spec.memories.insert(spec.memories.begin() + at, std::move(node));
  };
  if (dice.chance(15)) insert(draw_toll(dice));
  if (dice.chance(8)) insert(draw_container(dice));
}

/// Times as expressions that are no rates of the actions.
void add_latencies(Dice& dice, ProblemSpec& spec) {
  const auto draw = [&] {
    return dice.text_of(
        {"sum(a.n_calls for a in actions) / 2", "2 * max(a.n_calls for a in actions)",
         "max(sum(a.n_calls for a in actions) / 4, max(a.n_calls for a in actions))"});
  };
  for (MemorySpec& memory : spec.memories)
    if (memory.kind == HolderKind::kMemory && dice.chance(10)) memory.total_latency = draw();
  if (dice.chance(15)) spec.compute.total_latency = draw();
}

/// Two inner memories that share no tensor.
void dedicate_memories(Dice& dice, ProblemSpec& spec) {
  std::vector<MemorySpec*> inner;
  for (std::size_t i = 1; i < spec.memories.size(); ++i)
    if (spec.memories[i].kind == HolderKind::kMemory) inner.push_back(&spec.memories[i]);
  if (inner.size() < 2 || !dice.chance(40)) return;
  const bool weights_first = dice.chance(30);
  inner[0]->keep = weights_first ? "weight" : "~weight";
  inner[1]->keep = weights_first ? "~weight" : "weight";
  for (MemorySpec* memory : inner) memory->may_keep.clear();
}

void add_behaviours(Dice& dice, ProblemSpec& spec) {
  for (std::size_t i = 1; i < spec.memories.size(); ++i) {
    MemorySpec& memory = spec.memories[i];
    if (memory.kind != HolderKind::kMemory) continue;
    memory.is_double = dice.chance(10);
    memory.separate_ports = memory.total_latency.empty() && dice.chance(10);
    memory.counted_merges = dice.chance(10);
    memory.power_gated = memory.leak != "0" && dice.chance(30);
    if (dice.chance(5)) memory.values_per_action = 2;
  }
}

/// Actions of several values, of which parts cost as much as whole ones.
void add_whole_actions(Dice& dice, ProblemSpec& spec) {
  for (MemorySpec& memory : spec.memories) {
    if (memory.kind != HolderKind::kMemory || !dice.chance(60)) continue;
    memory.whole_actions = true;
    if (memory.values_per_action == 0) memory.bits_per_action = dice.one_of({16, 32, 64, 128});
  }
}

/// Several instances of the outermost memory: its own, or those of a container around everything.
void add_ports(Dice& dice, ProblemSpec& spec) {
  const FanoutSpec ports{"PORT", dice.one_of({2, 2, 3, 4}),
                         dice.text_of({"All", "All", "Nothing", "Inputs"}), "",
                         dice.text_of({"", "", "", "1", "0.5"})};
  if (dice.chance(70)) {
    spec.memories.front().spatial.push_back(ports);
    return;
  }
  MemorySpec rack;
  rack.name = "Rack";
  rack.kind = HolderKind::kContainer;
  rack.spatial = {ports};
  spec.memories.insert(spec.memories.begin(), rack);
}

NetworkSpec draw_network(Dice& dice) {
  NetworkSpec network;
  network.topology = dice.text_of({"mesh", "mesh", "torus", "ring", "tree", "bus", "all_to_all"});
  network.from_edge = network.topology == "mesh" && dice.chance(40);
  if (network.topology != "tree" && network.topology != "bus") {
    if (!network.from_edge && dice.chance(30))
      network.ports = network.topology == "mesh"         ? dice.text_of({"corners", "edges", "all"})
                      : network.topology == "all_to_all" ? dice.text_of({"own", "all"})
                                                         : "all";
    network.grows_trees = !network.from_edge && dice.chance(25);
  }
  network.free_sums = dice.chance(15);
  network.implicit_time = dice.text_of({"receivers", "receivers", "once", "none"});
  network.hop_energy = dice.one_of({0, 1, 2, 8});
  network.link_bandwidth = dice.text_of({"inf", "4", "8", "16"});
  network.queue_latency = dice.text_of({"0", "0", "0.25"});
  network.channel_width = dice.one_of({1, 4});
  if (network.implicit_time == "none" ||
      (network.link_bandwidth == "inf" && network.queue_latency == "0"))
    network.hop_energy = std::max(network.hop_energy, 1);
  return network;
}

/// Networks between memories and the instances that stand behind a fanout.
void add_networks(Dice& dice, ProblemSpec& spec) {
  std::vector<std::size_t> places;  // right before what is fanned out
  for (std::size_t i = 1; i < spec.memories.size(); ++i)
    if (!spec.memories[i].spatial.empty()) places.push_back(i);
  if (!spec.compute.spatial.empty()) places.push_back(spec.memories.size());
  if (places.empty()) {
    MemorySpec nodes;
    nodes.name = "Nodes";
    nodes.kind = HolderKind::kContainer;
    nodes.spatial = {
        {"NX", dice.one_of({2, 3, 4}), dice.text_of({"All", "All", "Inputs"}), "", ""}};
    if (dice.chance(50)) nodes.spatial.push_back({"NY", 2, "All", "", ""});
    places.push_back(1 +
                     static_cast<std::size_t>(dice.below(static_cast<int>(spec.memories.size()))));
    spec.memories.insert(spec.memories.begin() + static_cast<std::ptrdiff_t>(places[0]), nodes);
  }
  for (std::size_t p = places.size(); p-- > 0;) {
    if (p > 0 && dice.chance(30)) continue;
    MemorySpec network;
    network.name = "Network" + std::to_string(p);
    network.kind = HolderKind::kNetwork;
    network.network = draw_network(dice);
    spec.memories.insert(spec.memories.begin() + static_cast<std::ptrdiff_t>(places[p]), network);
  }
}

/// Of one variable each.
bool has_plain_indices(const AccessSpec& access) {
  return std::all_of(access.projection.begin(), access.projection.end(), [](const auto& index) {
    return index.second.find_first_of("+*") == std::string::npos;
  });
}

bool has_tolls(const ProblemSpec& spec) {
  return std::any_of(spec.memories.begin(), spec.memories.end(),
                     [](const MemorySpec& m) { return m.kind == HolderKind::kToll; });
}

/// `fused` knows routers that take time, but not together with windows, states or tolls.
void add_router_latency(Dice& dice, ProblemSpec& spec) {
  bool knows = !has_tolls(spec);
  for (const EinsumSpec& einsum : spec.einsums) {
    knows = knows && has_plain_indices(einsum.output);
    for (const AccessSpec& input : einsum.inputs) knows = knows && has_plain_indices(input);
  }
  for (MemorySpec& memory : spec.memories)
    if (knows && memory.kind == HolderKind::kNetwork && dice.chance(40))
      memory.network.router_latency = dice.text_of({"0.125", "0.5", "2"});
}

/// A systolic array with the innermost memory in it, or right above the compute.
void add_array(Dice& dice, ProblemSpec& spec) {
  const auto reuse = [&] { return dice.text_of({"All", "All", "Inputs", "Outputs"}); };
  MemorySpec array;
  array.name = "Array";
  array.kind = HolderKind::kContainer;
  array.array = dice.text_of({"ws", "ws", "os", "is"});
  array.spatial = {{"rows", dice.one_of({2, 2, 3, 4}), reuse(), "", dice.text_of({"", "", "1"})},
                   {"cols", dice.one_of({1, 2, 2, 3}), reuse(), "", ""}};
  const bool is_innermost = spec.memories.size() < 2 || dice.chance(30);
  spec.memories.insert(is_innermost ? spec.memories.end() : spec.memories.end() - 1, array);
}

void add_leakage(Dice& dice, ProblemSpec& spec) {
  const auto draw = [&](std::string& leak, bool& power_gated) {
    if (dice.chance(75)) leak = dice.text_of({"0.125", "0.5", "1", "4"});
    power_gated = dice.chance(60);
  };
  for (MemorySpec& memory : spec.memories) draw(memory.leak, memory.power_gated);
  draw(spec.compute.leak, spec.compute.power_gated);
  if (!spec.fork) return;
  draw(spec.fork->compute.leak, spec.fork->compute.power_gated);
  if (spec.fork->memory) draw(spec.fork->memory->leak, spec.fork->memory->power_gated);
}

/// Some fanout is to be used: one that there is, or else a small one.
void demand_usage(Dice& dice, ProblemSpec& spec) {
  std::vector<std::vector<FanoutSpec>*> spread;
  const auto note = [&](auto& component) {
    if (!component.spatial.empty()) spread.push_back(&component.spatial);
  };
  for (std::size_t i = 1; i < spec.memories.size(); ++i) note(spec.memories[i]);
  note(spec.compute);
  if (spread.empty()) {
    MemorySpec& innermost = spec.memories.back();
    std::vector<FanoutSpec>& place = innermost.kind == HolderKind::kMemory && dice.chance(50)
                                         ? innermost.spatial
                                         : spec.compute.spatial;
    place.push_back({"UX", 2, dice.text_of({"All", "Nothing", "Outputs"}), "", ""});
    spread.push_back(&place);
  }
  for (FanoutSpec& fanout : *dice.one_of(spread)) fanout.min_usage = dice.text_of({"1", "0.5"});
}

void add_orders(Dice& dice, ProblemSpec& spec) {
  for (MemorySpec& memory : spec.memories) {
    if (memory.kind != HolderKind::kMemory) continue;
    memory.any_order = dice.chance(20);
    if (!dice.chance(8)) continue;
    memory.tensor_order = {
        {dice.text_of({"input | output", "output", "weight"}), "weight - output"}};
    if (memory.tensor_order[0][0] == "weight") memory.tensor_order[0][1] = "input";
    if (dice.chance(30)) memory.tensor_order.push_back({"output", "input"});
  }
}

/// P[m+1,n] = P[m,n] · B[m,n] right behind TAKE, which makes B: a state that nobody else reads.
void add_state_in_between(ProblemSpec& spec) {
  const auto take = std::find_if(spec.einsums.begin(), spec.einsums.end(),
                                 [](const EinsumSpec& e) { return e.name == "TAKE"; });
  if (take == spec.einsums.end()) return;
  AccessSpec read = take->inputs.front();
  const auto slices =
      std::find_if(spec.rank_sizes.begin(), spec.rank_sizes.end(),
                   [&](const auto& rank) { return rank.first == read.projection.front().first; });
  const int n_slices = slices->second;
  spec.rank_sizes.emplace_back("PSTEP", n_slices);
  read.tensor = "P";
  read.projection.front().first = "PSTEP";
  EinsumSpec count;
  count.name = "COUNT";
  count.inputs = {read, take->output};
  count.output = read;
  count.output.projection.front().second += " + 1";
  spec.einsums.insert(take + 1, std::move(count));
}

/// The recurrence and what follows it alone: one weight is backed below the outermost memory, other
/// inputs in it.
void put_weights_apart(Dice& dice, ProblemSpec& spec) {
  const auto is_first = [](const EinsumSpec& e) { return e.name == "TAKE" || e.name == "SCAN"; };
  spec.einsums.erase(spec.einsums.begin(),
                     std::find_if(spec.einsums.begin(), spec.einsums.end(), is_first));
  const int n_steps = spec.einsums.front().name == "TAKE" ? 2 : 1;
  const auto add_input = [&](const char* name) -> EinsumSpec& {
    EinsumSpec& einsum = spec.einsums[static_cast<std::size_t>(dice.below(n_steps))];
    AccessSpec input = einsum.name == "TAKE" ? einsum.output : einsum.inputs.front();
    input.tensor = name;
    if (!dice.chance(20))
      input.projection.erase(input.projection.begin(), input.projection.end() - 1);
    einsum.inputs.push_back(std::move(input));
    return einsum;
  };
  add_input("V").weight = "V";
  if (dice.chance(20)) add_input("U");
  spec.memories.front().keep = "~(Intermediates | weight)";
  spec.memories.front().may_keep = dice.text_of({"~weight", "~weight", "All"});
  if (!spec.compute.enabled.empty()) spec.compute.enabled = "len(All) > 2";
  if (dice.chance(25)) add_state_in_between(spec);
}

/// Puts a copy Einsum behind the one that makes an intermediate tensor, or further behind: some of
/// its readers read the copy.
void add_copy_of_some(Dice& dice, ProblemSpec& spec, const std::string& name) {
  std::vector<std::size_t> makers;
  const auto reads = [](const EinsumSpec& einsum, const std::string& tensor) {
    return std::any_of(einsum.inputs.begin(), einsum.inputs.end(),
                       [&](const AccessSpec& input) { return input.tensor == tensor; });
  };
  for (std::size_t e = 0; e + 1 < spec.einsums.size(); ++e)
    if (reads(spec.einsums[e + 1], spec.einsums[e].output.tensor) &&
        !has_window(spec.einsums[e].output))
      makers.push_back(e);
  if (makers.empty()) return;
  std::size_t at = dice.one_of(makers);
  EinsumSpec copy;
  copy.name = "COPY" + name;
  copy.is_copy = true;
  copy.inputs = {spec.einsums[at].output};
  copy.n_instances = spec.einsums[at].n_instances;
  const std::string source = copy.inputs.front().tensor;
  for (auto& [rank, index] : copy.inputs.front().projection) index = variable_of(rank, "_c");
  copy.output = copy.inputs.front();
  copy.output.tensor = name;
  if (at + 2 < spec.einsums.size() && dice.chance(30)) ++at;
  for (std::size_t e = at + 1; e < spec.einsums.size(); ++e)
    for (AccessSpec& input : spec.einsums[e].inputs)
      if (input.tensor == source && (e + 1 == spec.einsums.size() || dice.chance(70)))
        input.tensor = name;
  spec.einsums.insert(spec.einsums.begin() + static_cast<std::ptrdiff_t>(at) + 1, std::move(copy));
}

/// C = T, in some cases two copies, or a copy of a copy. Memories are smaller, so that it counts
/// who lies in whose place.
void add_copies(Dice& dice, ProblemSpec& spec) {
  add_copy_of_some(dice, spec, "C");
  for (MemorySpec& memory : spec.memories)
    if (memory.size != "inf" && dice.chance(50))
      memory.size = std::to_string(std::max(16, std::stoi(memory.size) / 16 * 8));
}

/// What is copied, or the copy, stays whole for the whole run, further in than all else.
void keep_one_of_copies(Dice& dice, ProblemSpec& spec) {
  for (const EinsumSpec& copy : spec.einsums)
    if (copy.is_copy && (spec.persistent.empty() || dice.chance(30)))
      spec.persistent = (dice.chance(50) ? copy.output : copy.inputs.front()).tensor;
  if (dice.chance(50)) spec.memories.front().keep = "~(Intermediates | Persistent)";
  spec.memories.front().may_keep = dice.text_of({"All", "~Persistent", "~Intermediates"});
}

/// What is copied, where an Einsum reads the copy; or null.
const AccessSpec* source_of_copy(const ProblemSpec& spec, const EinsumSpec& reader) {
  for (const EinsumSpec& copy : spec.einsums)
    if (copy.is_copy && copy.output.tensor == reader.inputs.front().tensor)
      return &copy.inputs.front();
  return nullptr;
}

/// One Einsum reads more tensors of its first input's shape, or of a part of it, or what that is a
/// copy of: up to three, or, as they have many orders in several memories and tolls, one.
void add_operands(Dice& dice, ProblemSpec& spec) {
  EinsumSpec& einsum = dice.one_of(spec.einsums);
  if (einsum.is_copy || has_window(einsum.inputs.front())) return;
  const bool is_deep = spec.memories.size() > 2;
  const int n_more = is_deep ? 1 : dice.one_of({1, 2, 3});
  if (!spec.compute.enabled.empty()) spec.compute.enabled = "len(All) > 2";
  for (int n = 0; n < n_more; ++n) {
    AccessSpec input = einsum.inputs.front();
    input.tensor = "Q" + std::to_string(n);
    const AccessSpec* source = n == 0 ? source_of_copy(spec, einsum) : nullptr;
    if (source != nullptr && dice.chance(50))
      input.tensor = source->tensor;
    else if (dice.chance(30))
      input.projection.erase(input.projection.begin(), input.projection.end() - 1);
    einsum.inputs.push_back(std::move(input));
  }
}

/// A memory further in backs what some Einsum makes, or reads; the outermost one may keep it, too.
void add_back(Dice& dice, ProblemSpec& spec) {
  std::vector<MemorySpec*> memories;
  for (std::size_t m = 1; m < spec.memories.size(); ++m)
    if (spec.memories[m].kind == HolderKind::kMemory) memories.push_back(&spec.memories[m]);
  if (memories.empty()) return;
  const EinsumSpec& einsum = dice.one_of(spec.einsums);
  MemorySpec& memory = *dice.one_of(memories);
  memory.back = dice.chance(60)   ? einsum.output.tensor
                : dice.chance(50) ? einsum.inputs.front().tensor
                                  : "Intermediates";
  if (dice.chance(30)) spec.memories.front().keep = "All";
}

/// What happens in between decides alone how long it takes.
void free_ends(Dice& dice, ProblemSpec& spec) {
  for (MemorySpec& memory : spec.memories) {
    if (memory.kind != HolderKind::kMemory) continue;
    const bool is_first = &memory == &spec.memories.front();
    memory.read_throughput = is_first || dice.chance(30) ? "inf" : "16";
    memory.total_latency.clear();
    if (is_first) memory.write_throughput = "inf";
  }
  spec.compute.throughput = "inf";
  spec.compute.total_latency.clear();
}

void add_persistent(Dice& dice, ProblemSpec& spec) {
  spec.persistent = dice.text_of({"weight - Intermediates", "weight - Intermediates",
                                  "Inputs - Intermediates", "Intermediates", "All"});
  spec.memories.front().keep =
      dice.text_of({"~Intermediates", "Nothing", "~(Intermediates | Persistent)"});
  spec.memories.front().may_keep = dice.text_of({"All", "~weight", "~Intermediates"});
}

}  // namespace

void add_extras(ProblemSpec& spec, std::uint64_t seed, const Extras& extras) {
  Dice dice(seed ^ 0x5DEECE66DULL);
  add_einsums(dice, spec, seed, extras);
  if (extras.inner_persistent && dice.chance(12)) add_persistent(dice, spec);
  if (extras.weights_apart && is_recurrent(spec)) {
    Dice own(seed ^ 0x52DCE729A5B3C1F7ULL);  // so that the other seeds stay what they were
    if (own.chance(75)) put_weights_apart(own, spec);
  }
  if (extras.copies) {
    Dice own(seed ^ 0x52A9C7E5D3B1F086ULL);  // likewise
    if (own.chance(14) && !is_recurrent(spec) && spec.filled.empty() &&
        !extras_of(spec).several_makers) {
      add_copies(own, spec);
      Dice more(seed ^ 0x1F83D9ABFB41BD6BULL);
      if (more.chance(35)) add_copy_of_some(more, spec, "C2");
      if (extras.inner_persistent && spec.persistent.empty() && more.chance(30))
        keep_one_of_copies(more, spec);
    }
  }
  if (extras.tolls) add_components(dice, spec);
  if (extras.behaviours) add_behaviours(dice, spec);
  if (extras.free_orders && dice.chance(20)) add_orders(dice, spec);
  if (extras.behaviours)
    for (MemorySpec& memory : spec.memories)
      memory.free_drains = memory.kind == HolderKind::kMemory && dice.chance(8);
  if (extras.behaviours) {
    Dice own(seed ^ 0x61C8864680B583EBULL);  // so that the other draws stay what they were
    add_latencies(own, spec);
    dedicate_memories(own, spec);
  }
  if (extras.arrays) {
    Dice own(seed ^ 0x1B873593CC9E2D51ULL);
    if (own.chance(14) && !has_tolls(spec)) add_array(own, spec);
  }
  if (extras.networks) {
    Dice own(seed ^ 0x2545F4914F6CDD1DULL);  // so that seeds without networks stay what they were
    if (own.chance(15)) add_networks(own, spec);
    add_router_latency(own, spec);
  }
  if (extras.leakage && dice.chance(20)) add_leakage(dice, spec);
  if (extras.ports && dice.chance(12)) add_ports(dice, spec);
  if (extras.stepped_usage && is_recurrent(spec)) {
    Dice own(seed ^ 0x27D4EB2F165667C5ULL);  // so that the other seeds stay what they were
    if (own.chance(40)) demand_usage(own, spec);
  }
  if (extras.whole_actions) {
    Dice own(seed ^ 0x3C6EF372FE94F82BULL);  // likewise
    if (own.chance(15)) add_whole_actions(own, spec);
  }
  if (extras.backs) {
    Dice own(seed ^ 0x4CF5AD432745937FULL);  // likewise
    if (own.chance(8)) add_back(own, spec);
  }
  if (extras.free_ends) {
    Dice own(seed ^ 0x38B34AE5A1E38B93ULL);  // likewise
    if (own.chance(8)) free_ends(own, spec);
  }
  if (extras.operands) {
    Dice own(seed ^ 0x3F84D5B5B5470917ULL);  // likewise
    if (own.chance(14) && !is_recurrent(spec)) add_operands(own, spec);
  }
}

}  // namespace sluice::oracle
