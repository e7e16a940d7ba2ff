#include "oracle/compound/compound_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "oracle/problem/dice.h"
#include "sluice/frontend/load.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

/// A tensor with its ranks, as capital letters.
struct Drawn {
  std::string name, ranks;
};

/// Writes a cascade, Einsum by Einsum.
class CascadeDice {
 public:
  /// `odd`: sizes.
  CascadeDice(Dice& dice, Dice& copies, int attempt, bool odd)
      : dice_(dice), copies_(copies), attempt_(attempt), odd_(odd) {}

  std::string draw() {
    const int drawn = dice_.one_of({1, 2, 2, 2, 3, 3, 3, 4});
    const int count = std::min(drawn, attempt_ < 12   ? 4
                                      : attempt_ < 18 ? 3
                                      : attempt_ < 24 ? 2
                                                      : 1);
    if (dice_.chance(40))
      softmax_like(count);
    else
      any_cascade(count);
    std::string text = fmt::format("workload:\n  rank_sizes: {{{}}}\n", sizes());
    text += fmt::format("  bits_per_value: {{All: {}}}\n  einsums:\n", dice_.one_of({1, 8, 16}));
    for (const std::string& einsum : einsums_) text += "  - " + einsum + "\n";
    return text;
  }

 private:
  std::string sizes() {
    std::vector<std::string> all;
    int primes = 0;  // few: every factor multiplies the space
    const int most = attempt_ < 4 ? 4 : attempt_ < 8 ? 3 : attempt_ < 14 ? 2 : 1;
    for (char rank : ranks_) {
      int size = dice_.one_of({1, 2, 2, 2, 2, 3, 4, 4});
      if (single_row_) size = rank == 'M' ? 1 : rank == 'N' ? dice_.one_of({2, 4, 4}) : size;
      const int factors = size == 1 ? 0 : size == 4 ? 2 : 1;
      if (primes + factors > most) size = 1;
      if (size > 1) primes += factors;
      if (odd_ && size % 2 == 0) ++size;  // with tiles that do not divide
      all.push_back(fmt::format("{}: {}", rank, size));
    }
    return fmt::format("{}", fmt::join(all, ", "));
  }

  Drawn fresh_input(const std::string& ranks) {
    return {fmt::format("X{}", inputs_++), remember(ranks)};
  }

  const std::string& remember(const std::string& ranks) {
    for (char rank : ranks)
      if (ranks_.find(rank) == std::string::npos) ranks_ += rank;
    return ranks;
  }

  /// `T[M:m, N:n]`, or with other names of the variables where `renamed`.
  static std::string access(const Drawn& tensor, bool renamed) {
    std::vector<std::string> indices;
    for (char rank : tensor.ranks) {
      const char variable = static_cast<char>(rank - 'A' + 'a');
      indices.push_back(renamed ? fmt::format("{}:{}{}", rank, variable, variable)
                                : fmt::format("{}:{}", rank, variable));
    }
    return fmt::format("{}[{}]", tensor.name, fmt::join(indices, ","));
  }

  Drawn output(const std::string& ranks) {
    return {fmt::format("T{}", einsums_.size() + 1), remember(ranks)};
  }

  Drawn unary(const char* operation, const Drawn& of, const std::string& ranks) {
    const bool renamed = dice_.chance(15);
    const Drawn made = output(ranks);
    const std::string to = access(made, renamed), from = access(of, renamed);
    einsums_.push_back(
        made.ranks == of.ranks && copies_.chance(30)
            ? fmt::format("{{einsum: \"{} = {}\", name: {}, is_copy_operation: true}}", to, from,
                          made.name)
            : fmt::format("\"{} = {}({})\"", to, operation, from));
    return made;
  }

  Drawn binary(const char* operation, const Drawn& a, const Drawn& b, const std::string& ranks) {
    const bool renamed = dice_.chance(15);
    const Drawn made = output(ranks);
    einsums_.push_back(fmt::format("\"{} = {} {} {}\"", access(made, renamed), access(a, renamed),
                                   operation, access(b, renamed)));
    return made;
  }

  /// [GEMM,] maximum of a row, exponential, sum of a row, quotient: so many of these in a row. Most
  /// often of one row only, so that it is worth while to spread it.
  void softmax_like(int count) {
    single_row_ = dice_.chance(60);
    const Drawn scores = dice_.chance(30) ? binary("*", fresh_input("MK"), fresh_input("KN"), "MN")
                                          : fresh_input("MN");
    const std::size_t most = static_cast<std::size_t>(std::max(count, 2));
    Drawn exponential = scores;
    if (dice_.chance(65)) {
      const Drawn maximum = unary("max", scores, "M");
      if (einsums_.size() >= most) return;
      exponential = binary("-", scores, maximum, "MN");
      if (einsums_.size() >= most) return;
    }
    const Drawn sum = unary("sum", exponential, "M");
    if (einsums_.size() < most) binary("/", exponential, sum, "MN");
  }

  void any_cascade(int count) {
    pool_.push_back(fresh_input(dice_.one_of({"MN", "MN", "M", "MK"})));
    while (static_cast<int>(einsums_.size()) < count) pool_.push_back(any_einsum());
  }

  /// Reads what was made last, or another tensor that is there, or something new.
  Drawn any_einsum() {
    const Drawn of = dice_.chance(60)   ? pool_.back()
                     : dice_.chance(75) ? dice_.one_of(pool_)
                                        : fresh_input(dice_.one_of({"MN", "M"}));
    switch (dice_.below(6)) {
      case 0:
        return unary(dice_.one_of({"exp", "relu"}), of, of.ranks);
      case 1:
      case 2: {
        if (of.ranks.size() < 2) return unary("exp", of, of.ranks);
        std::string ranks = of.ranks;
        ranks.erase(static_cast<std::size_t>(dice_.below(2)), 1);
        return unary(dice_.one_of({"max", "sum"}), of, ranks);
      }
      case 3:
        return contraction(of);
      default:
        return binary(dice_.one_of({"-", "*", "+"}), of, partner(of), of.ranks);
    }
  }

  /// A tensor that has no rank that `of` lacks.
  Drawn partner(const Drawn& of) {
    for (const Drawn& other : pool_) {
      const bool fits = other.name != of.name &&
                        std::all_of(other.ranks.begin(), other.ranks.end(), [&](char rank) {
                          return of.ranks.find(rank) != std::string::npos;
                        });
      if (fits && dice_.chance(60)) return other;
    }
    return fresh_input(dice_.chance(50) ? of.ranks : of.ranks.substr(0, 1));
  }

  /// Sums over the last rank of `of`, with a new matrix or vector.
  Drawn contraction(const Drawn& of) {
    const char summed = of.ranks.back();
    const char added = of.ranks.find('P') == std::string::npos ? 'P' : 'Q';
    const std::string kept = of.ranks.substr(0, of.ranks.size() - 1);
    if (!kept.empty() && dice_.chance(40)) return binary("*", of, fresh_input({summed}), kept);
    return binary("*", of, fresh_input({summed, added}), kept + added);
  }

  Dice& dice_;
  Dice& copies_;
  int attempt_;
  bool odd_;
  int inputs_ = 0;
  bool single_row_ = false;
  std::string ranks_;
  std::vector<Drawn> pool_;
  std::vector<std::string> einsums_;
};

/// Writes a machine: memories, containers with networks, computes.
class MachineDice {
 public:
  MachineDice(Dice& dice, Dice& tolls, int attempt)
      : dice_(dice), tolls_(tolls), attempt_(attempt), slow_computes_(dice.chance(50)) {}

  std::string draw() {
    std::string text = "arch:\n  nodes:\n" + outermost();
    const int levels = attempt_ > 8 ? 1 : dice_.one_of({1, 2, 2, 2});
    if (levels == 2) {
      text += maybe_toll("Port");
      text += fan("Cluster", dice_.chance(25) ? "cx,cy" : "cx");
      text += memory("GB");
      text += fan("Core", dice_.chance(10) ? "kx,ky" : "kx");
    } else {
      text += fan("Core", dice_.chance(50) ? "kx,ky" : "kx");
    }
    text += maybe_toll("Link");
    text += memory("OB");
    text += maybe_toll("Lane");
    return text + computes();
  }

 private:
  std::string outermost() {
    const std::string keep = dice_.chance(85)   ? "keep: ~Intermediates, may_keep: All"
                             : dice_.chance(60) ? "keep: ~Intermediates"
                                                : "keep: All";
    return memory_text("DRAM", "inf", keep, 20, {"0.5", "2", "4", "16"});
  }

  std::string memory(const char* name) {
    const std::string size =
        dice_.chance(50) ? "inf" : std::to_string(dice_.one_of({2, 4, 6, 8, 12, 16, 32}) * 8);
    // mostly without a choice: every one doubles the space
    const int free = attempt_ < 3 ? 35 : attempt_ < 8 ? 15 : 0;
    const std::string keep = dice_.chance(free) ? ""
                             : dice_.chance(25) ? "keep: All"
                             : dice_.chance(25) ? "keep: Outputs, may_keep: Intermediates"
                             : dice_.chance(35) ? "keep: Inputs, may_keep: Intermediates"
                             : dice_.chance(50) ? "keep: Nothing, may_keep: Intermediates"
                                                : "keep: ~Intermediates, may_keep: Outputs";
    return memory_text(name, size, keep, 4, {"1", "2", "4", "16", "64", "inf"});
  }

  std::string memory_text(const char* name, const std::string& size, const std::string& keep,
                          int energy, std::initializer_list<const char*> throughputs) {
    std::string text = fmt::format("  - !Memory {{name: {}, size: {}", name, size);
    if (!keep.empty()) text += fmt::format(", tensors: {{{}}}", keep);
    if (dice_.chance(40)) text += ", ports: separate";
    if (dice_.chance(25)) text += ", buffering: double";
    if (dice_.chance(15)) text += fmt::format(", leak_power: {}", dice_.one_of({1, 2}));
    return text + fmt::format(", actions: [{}, {}]}}\n", action("read", energy, throughputs),
                              action("write", energy, throughputs));
  }

  std::string action(const char* name, int energy, std::initializer_list<const char*> throughputs) {
    const std::string setup =
        dice_.chance(10) ? fmt::format(", setup: {}", dice_.one_of({1, 2})) : "";
    const std::string throughput = dice_.text_of(throughputs);
    return fmt::format("{{name: {}, energy: {}, throughput: {}{}}}", name, 1 + dice_.below(energy),
                       throughput, setup);
  }

  std::string maybe_toll(const char* name) {
    if (!tolls_.chance(6)) return "";
    std::string text = fmt::format(
        "  - !Toll {{name: {}, tensors: {{keep: {}}}", name,
        tolls_.text_of({"All", "All", "Inputs", "Outputs", "Nothing, may_keep: Inputs"}));
    if (tolls_.chance(50))
      text += fmt::format(", direction: {}", tolls_.text_of({"down", "up", "up_and_down"}));
    if (tolls_.chance(25)) text += fmt::format(", spatial: [{{name: {}x, fanout: 2}}]", name);
    if (tolls_.chance(20)) text += ", leak_power: 1";
    const int energy = 1 + tolls_.below(6);
    return text + fmt::format(", actions: [{{name: read, energy: {}, throughput: {}}}]}}\n", energy,
                              tolls_.text_of({"inf", "8", "1"}));
  }

  std::string network(const char* name) {
    std::string text = fmt::format("  - !Network {{name: {}Net", name);
    const auto add = [&](const char* key, const std::string& value) {
      text += fmt::format(", {}: {}", key, value);
    };
    add("topology",
        dice_.text_of({"mesh", "mesh", "mesh", "torus", "ring", "all_to_all", "bus", "tree"}));
    add("channel_width", dice_.text_of({"1", "2", "8"}));
    add("link_bandwidth", dice_.text_of({"1", "4", "16", "inf"}));
    add("router_latency", dice_.text_of({"0", "0", "0.125", "1"}));
    add("queue_latency", dice_.text_of({"0", "0", "0.0625", "1"}));
    add("hop_energy", dice_.text_of({"0", "0", "1", "2"}));
    return text + "}\n";
  }

  /// A container, most often with a network above it.
  std::string fan(const char* name, const std::string& dimensions) {
    std::string text;
    if (dice_.chance(85)) text += network(name);
    text += fmt::format("  - !Container {{name: {}, spatial: [", name);
    for (std::size_t at = 0; at < dimensions.size(); at += 3)
      text += fmt::format("{}{{name: {}, fanout: {}}}", at ? ", " : "", dimensions.substr(at, 2),
                          dice_.chance(90) ? 2 : 4);
    return text + "]}\n";
  }

  std::string computes() {
    if (dice_.chance(35)) return compute("ALU", "");
    if (dice_.chance(85)) {
      const std::string simd = compute("SIMD", "not (ops <= {mul_add})");
      return simd + compute("MAC", "ops <= {mul_add}");
    }
    const std::string simd = compute("SIMD", "");
    return simd + compute("MAC", "ops <= {mul_add}");
  }

  std::string compute(const char* name, const std::string& enabled) {
    std::string text = fmt::format("  - !Compute {{name: {}", name);
    if (!enabled.empty()) text += fmt::format(", enabled: \"{}\"", enabled);
    if (dice_.chance(15)) text += ", leak_power: 1";
    std::vector<std::string> actions;
    const bool all_alike = dice_.chance(50);
    if (all_alike) {
      actions.push_back(operation("compute"));
    } else {
      for (const char* kind : {"mul_add", "add", "sub", "mul", "div", "max", "exp", "relu"})
        actions.push_back(operation(kind));
    }
    return text + fmt::format(", actions: [{}]}}\n", fmt::join(actions, ", "));
  }

  std::string operation(const char* kind) {
    const std::string throughput =
        slow_computes_ ? dice_.text_of({"0.0625", "0.125"}) : dice_.text_of({"0.25", "1", "4"});
    return fmt::format("{{name: {}, energy: {}, throughput: {}}}", kind, 1 + dice_.below(4),
                       throughput);
  }

  Dice& dice_;
  Dice& tolls_;
  int attempt_;
  bool slow_computes_;  ///< beside everything else: it is worth while to spread work
};

}  // namespace

bool is_imperfect(std::uint64_t seed) { return seed % 8 == 3; }

std::string random_compound_yaml(std::uint64_t seed, int attempt) {
  Dice cascade(seed * 1'000'003), copies(seed * 1'000'003 + 500'000),
      machine(seed * 1'000'003 + 1 + static_cast<unsigned>(attempt)),
      tolls(seed * 1'000'003 + 600'000);
  // named, because the order in which operands are evaluated is not fixed
  const std::string workload = CascadeDice(cascade, copies, attempt, is_imperfect(seed)).draw();
  return workload + MachineDice(machine, tolls, attempt).draw();
}

BoundProblem bind_compound(const std::string& yaml) {
  const auto specs = load_specs_from_text({{"compound.yaml", yaml}}, {});
  if (!specs) throw InternalError(to_string(specs.error()) + yaml);
  auto problem = bind(*specs->workload, *specs->arch);
  if (!problem) throw InternalError(to_string(problem.error()) + yaml);
  return std::move(*problem);
}

namespace {

/// A problem of fewer mappings says little: it is drawn again, so often.
constexpr std::int64_t kFew = 40;
constexpr int kTriesForMore = 8;

}  // namespace

CompoundCase random_compound_case(std::uint64_t seed, std::int64_t most) {
  for (int attempt = 0;; ++attempt) {
    CompoundCase drawn;
    drawn.yaml = random_compound_yaml(seed, attempt);
    drawn.problem = bind_compound(drawn.yaml);
    drawn.imperfect = is_imperfect(seed) ? ImperfectFactors::kUnfused : ImperfectFactors::kNone;
    if (seed % 9 == 4) drawn.max_fused_loops = static_cast<int>(seed / 9 % 3);
    const CompoundLimits limits{most, drawn.max_fused_loops, is_imperfect(seed)};
    const std::optional<std::int64_t> count = count_compound(drawn.problem, limits);
    if (!count || (*count < kFew && attempt < kTriesForMore)) continue;
    drawn.policy = seed % 4 == 0 ? LatencyPolicy::kOverlap : LatencyPolicy::kStaged;
    drawn.truth = enumerate_compound(drawn.problem, drawn.policy, limits);
    return drawn;
  }
}

}  // namespace sluice::oracle
