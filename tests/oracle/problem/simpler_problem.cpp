#include <functional>

#include "oracle/problem/random_problem.h"

namespace sluice::oracle {
namespace {

using Edit = std::function<bool(ProblemSpec&)>;  ///< false: nothing to simplify here

template <class T>
bool reset(T& field, const T& value) {
  if (field == value) return false;
  field = value;
  return true;
}

void add_size_edits(const ProblemSpec& spec, std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < spec.rank_sizes.size(); ++i)
    for (int smaller = 1; smaller < spec.rank_sizes[i].second; ++smaller)
      edits.emplace_back([i, smaller](ProblemSpec& p) {
        p.rank_sizes[i].second = smaller;
        return true;
      });
}

void add_memory_edits(const ProblemSpec& spec, std::vector<Edit>& edits) {
  const MemorySpec plain;
  const auto edit_all = [&](auto field) {
    for (std::size_t i = 0; i < spec.memories.size() + 1; ++i)
      edits.emplace_back([i, field, plain](ProblemSpec& p) {
        if (i < p.memories.size()) return reset(p.memories[i].*field, plain.*field);
        return p.fork && p.fork->memory && reset((*p.fork->memory).*field, plain.*field);
      });
  };
  edit_all(&MemorySpec::leak);
  edit_all(&MemorySpec::bits_per_value);
  edit_all(&MemorySpec::bits_per_action);
  edit_all(&MemorySpec::total_latency);
  edit_all(&MemorySpec::size);
  edit_all(&MemorySpec::may_keep);
  edit_all(&MemorySpec::back);
  edit_all(&MemorySpec::read_throughput);
  edit_all(&MemorySpec::write_throughput);
  edit_all(&MemorySpec::values_per_action);
  edit_all(&MemorySpec::direction);
  edit_all(&MemorySpec::tensor_order);
  edit_all(&MemorySpec::any_order);
  edit_all(&MemorySpec::is_double);
  edit_all(&MemorySpec::separate_ports);
  edit_all(&MemorySpec::counted_merges);
  edit_all(&MemorySpec::free_drains);
  edit_all(&MemorySpec::whole_actions);
  edit_all(&MemorySpec::power_gated);
  edit_all(&MemorySpec::network);
  edit_all(&MemorySpec::array);
  for (std::size_t i = 0; i < spec.memories.size(); ++i)
    edits.emplace_back([i](ProblemSpec& p) {
      if (p.memories[i].spatial.empty() || !p.memories[i].array.empty()) return false;
      p.memories[i].spatial.pop_back();
      return true;
    });
}

std::vector<Edit> edits_of(const ProblemSpec& spec) {
  std::vector<Edit> edits;
  edits.emplace_back([](ProblemSpec& p) {
    if (p.einsums.size() < 2) return false;
    p.einsums.pop_back();
    return true;
  });
  edits.emplace_back([](ProblemSpec& p) {
    if (p.einsums.size() < 2) return false;
    p.einsums.erase(p.einsums.begin());
    return true;
  });
  edits.emplace_back([](ProblemSpec& p) {
    if (!p.fork) return false;
    p.fork.reset();
    p.compute.enabled.clear();
    return true;
  });
  edits.emplace_back([](ProblemSpec& p) {
    if (p.memories.size() < 3) return false;
    p.memories.pop_back();
    return true;
  });
  for (std::size_t i = 1; i < spec.memories.size(); ++i)
    edits.emplace_back([i](ProblemSpec& p) {
      if (p.memories[i].name == "GlobalBuffer") return false;
      p.memories.erase(p.memories.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.persistent, std::string()); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.n_instances, 1); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.bits_per_value, std::string("All: 8")); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.compute.leak, std::string("0")); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.compute.total_latency, std::string()); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.compute.power_gated, false); });
  edits.emplace_back([](ProblemSpec& p) {
    if (p.memories.front().kind != HolderKind::kContainer) return false;
    p.memories.erase(p.memories.begin());
    return true;
  });
  edits.emplace_back([](ProblemSpec& p) {
    if (p.compute.spatial.empty()) return false;
    p.compute.spatial.pop_back();
    return true;
  });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.max_fused_loops, kUnlimitedLoops); });
  edits.emplace_back([](ProblemSpec& p) { return reset(p.max_fused_loops_per_rank, 1); });
  for (std::size_t e = 0; e < spec.einsums.size(); ++e) {
    edits.emplace_back([e](ProblemSpec& p) { return reset(p.einsums[e].n_instances, 1); });
    edits.emplace_back([e](ProblemSpec& p) { return reset(p.einsums[e].is_copy, false); });
  }
  add_size_edits(spec, edits);
  add_memory_edits(spec, edits);
  return edits;
}

}  // namespace

std::vector<ProblemSpec> simpler_problems(const ProblemSpec& spec) {
  std::vector<ProblemSpec> variants;
  for (const Edit& edit : edits_of(spec)) {
    ProblemSpec variant = spec;
    if (edit(variant)) variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace sluice::oracle
