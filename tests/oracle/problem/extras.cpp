#include <algorithm>

#include "oracle/problem/random_problem.h"

namespace sluice::oracle {
bool has_window(const AccessSpec& access) {
  return std::any_of(access.projection.begin(), access.projection.end(), [](const auto& index) {
    const std::size_t plus = index.second.find("+ ");
    return plus != std::string::npos &&
           std::isalpha(static_cast<unsigned char>(index.second[plus + 2])) != 0;
  });
}

bool is_recurrent(const ProblemSpec& spec) {
  return std::any_of(spec.einsums.begin(), spec.einsums.end(), [](const EinsumSpec& einsum) {
    return einsum.name == "TAKE" || einsum.name == "SCAN";
  });
}

namespace {

bool has_ports(const ProblemSpec& spec) {
  for (const MemorySpec& memory : spec.memories) {
    if (!memory.spatial.empty()) return true;
    if (memory.kind == HolderKind::kMemory) return false;
  }
  return false;
}

bool leaks(const ProblemSpec& spec) {
  const auto is_gated = [](const auto& component) {
    return component.leak != "0" && component.power_gated;
  };
  return is_gated(spec.compute) || (spec.fork && is_gated(spec.fork->compute)) ||
         std::any_of(spec.memories.begin(), spec.memories.end(), is_gated);
}

bool demands_usage(const ProblemSpec& spec) {
  const auto demands = [](const auto& component) {
    return std::any_of(component.spatial.begin(), component.spatial.end(),
                       [](const FanoutSpec& fanout) { return !fanout.min_usage.empty(); });
  };
  return demands(spec.compute) || std::any_of(spec.memories.begin(), spec.memories.end(), demands);
}

/// A weight of a cycle that the outermost memory need not keep.
bool has_weights_apart(const ProblemSpec& spec) {
  const auto keeps_others = [](const MemorySpec& memory) {
    return memory.keep == "~(Intermediates | weight)";
  };
  const auto is_weighted = [](const EinsumSpec& einsum) {
    return (einsum.name == "TAKE" || einsum.name == "STEP") && !einsum.weight.empty();
  };
  return std::any_of(spec.memories.begin(), spec.memories.end(), keeps_others) &&
         std::any_of(spec.einsums.begin(), spec.einsums.end(), is_weighted);
}

}  // namespace

const std::vector<NamedExtra>& named_extras() {
  static const std::vector<NamedExtra> extras = {
      {"tolls", &Extras::tolls},
      {"behaviours", &Extras::behaviours},
      {"free_orders", &Extras::free_orders},
      {"inner_persistent", &Extras::inner_persistent},
      {"double_variables", &Extras::double_variables},
      {"recurrences", &Extras::recurrences},
      {"cycles", &Extras::cycles},
      {"normalisations", &Extras::normalisations},
      {"windowed_outputs", &Extras::windowed_outputs},
      {"shared_windows", &Extras::shared_windows},
      {"ports", &Extras::ports},
      {"leakage", &Extras::leakage},
      {"networks", &Extras::networks},
      {"many_loops", &Extras::many_loops},
      {"arrays", &Extras::arrays},
      {"several_makers", &Extras::several_makers},
      {"stepped_usage", &Extras::stepped_usage},
      {"whole_actions", &Extras::whole_actions},
      {"weights_apart", &Extras::weights_apart},
      {"copies", &Extras::copies},
      {"operands", &Extras::operands},
      {"backs", &Extras::backs},
      {"free_ends", &Extras::free_ends},
      {"diagonals", &Extras::diagonals},
  };
  return extras;
}

Extras extras_of(const ProblemSpec& spec) {
  Extras extras;
  for (const EinsumSpec& einsum : spec.einsums) {
    extras.windowed_outputs = extras.windowed_outputs || has_window(einsum.output);
    extras.shared_windows =
        extras.shared_windows ||
        std::count_if(einsum.inputs.begin(), einsum.inputs.end(), has_window) > 1;
    extras.cycles = extras.cycles || einsum.name == "TAKE";
    extras.several_makers = extras.several_makers || einsum.name == "LAST";
    extras.copies = extras.copies || einsum.name.starts_with("COPY");
    extras.operands = extras.operands || einsum.inputs.size() > 2;
    extras.diagonals = extras.diagonals || einsum.name == "DIAGONAL";
  }
  extras.stepped_usage = demands_usage(spec) && is_recurrent(spec);
  extras.weights_apart = has_weights_apart(spec);
  extras.ports = has_ports(spec);
  extras.leakage = leaks(spec);
  extras.networks = std::any_of(spec.memories.begin(), spec.memories.end(),
                                [](const auto& m) { return m.kind == HolderKind::kNetwork; });
  extras.arrays = std::any_of(spec.memories.begin(), spec.memories.end(),
                              [](const auto& m) { return !m.array.empty(); });
  extras.whole_actions = std::any_of(spec.memories.begin(), spec.memories.end(),
                                     [](const auto& m) { return m.whole_actions; });
  extras.backs = std::any_of(spec.memories.begin(), spec.memories.end(),
                             [](const auto& m) { return !m.back.empty(); });
  extras.free_ends = spec.compute.throughput == "inf";
  extras.many_loops = std::count_if(spec.memories.begin(), spec.memories.end(), [](const auto& m) {
                        return m.kind == HolderKind::kMemory;
                      }) > 3;
  return extras;
}

}  // namespace sluice::oracle
