#include "oracle/compound/agreement_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <vector>

#include "oracle/compound/compound_case.h"
#include "oracle/problem/dice.h"
#include "sluice/support/error.h"

namespace sluice::oracle {
namespace {

/// What an Einsum of the chain is made of.
struct Link {
  std::string text;
  std::vector<std::string> tensors;
  std::size_t segment = 0;
};

struct Chain {
  std::vector<Link> links;
  std::vector<std::string> exchanged;  ///< within segments
  std::vector<std::string> passed_on;  ///< from one segment to the next
  std::string ranks;
  bool has_window = false;  ///< the first Einsum reads `G: p + r`

  bool is_exchanged(const std::string& tensor) const {
    return std::find(exchanged.begin(), exchanged.end(), tensor) != exchanged.end();
  }
};

class ChainDice {
 public:
  /// `longest`: segment.
  ChainDice(Dice& dice, int longest) : dice_(dice), longest_(longest) {}

  Chain draw() {
    std::vector<int> segments = dice_.one_of<std::vector<int>>(
        {{1}, {1}, {2}, {2}, {2}, {2}, {1, 1}, {1, 2}, {2, 1}, {2, 2}});
    if (segments.size() == 1 && longest_ > 2 && dice_.chance(50)) segments = {longest_};
    last_ = "X0";
    ranks_ = remember(dice_.text_of({"MN", "MN", "M", "MNB"}));
    for (std::size_t s = 0; s < segments.size(); ++s)
      for (int i = 0; i < segments[s]; ++i) {
        if (i > 0) chain_.exchanged.push_back(last_);
        if (i == 0 && s > 0) chain_.passed_on.push_back(last_);
        if (chain_.links.empty() && dice_.chance(12))
          add_window();
        else
          add_link(s);
      }
    return std::move(chain_);
  }

 private:
  const std::string& remember(const std::string& ranks) {
    for (const char rank : ranks)
      if (chain_.ranks.find(rank) == std::string::npos) chain_.ranks += rank;
    return remembered_ = ranks;
  }

  static std::string access(const std::string& tensor, const std::string& ranks) {
    std::vector<std::string> indices;
    for (const char rank : ranks)
      indices.push_back(fmt::format("{}:{}", rank, static_cast<char>(rank - 'A' + 'a')));
    return fmt::format("{}[{}]", tensor, fmt::join(indices, ","));
  }

  /// A convolution of the input.
  void add_window() {
    chain_.has_window = true;
    chain_.ranks.clear();
    ranks_ = remember("P");
    remember("R");
    chain_.links.push_back({"T0[P:p] = X0[G:p+r] * W0[R:r]", {"X0", "T0", "W0"}, 0});
    last_ = "T0";
    new_ranks_ = 1;
  }

  void add_link(std::size_t segment) {
    const std::size_t e = chain_.links.size();
    const std::string in = last_, out = fmt::format("T{}", e), other = fmt::format("W{}", e);
    const std::string from = access(in, ranks_);
    Link link;
    link.segment = segment;
    link.tensors = {in, out};
    const auto with = [&](const char* operation, const std::string& ranks) {
      link.tensors.push_back(other);
      return fmt::format("{} {} {}", from, operation, access(other, remember(ranks)));
    };
    bool is_copy = false;
    std::string right, made = ranks_;
    switch (ranks_.size() < 2 ? dice_.below(3) : dice_.below(6)) {
      case 0:
        is_copy = dice_.chance(25);
        right = is_copy ? from : fmt::format("exp({})", from);
        break;
      case 1:
        right = with(dice_.one_of({"*", "+"}), ranks_);
        break;
      case 2: {  // a product with a vector along a new rank
        const std::string added = next_rank();
        made = ranks_ + added;
        right = with("*", added);
        break;
      }
      case 3: {
        made.erase(static_cast<std::size_t>(dice_.below(static_cast<int>(made.size()))), 1);
        right = fmt::format("{}({})", dice_.one_of({"max", "sum"}), from);
        break;
      }
      default: {  // a matrix product
        const char summed = made.back();
        made.back() = next_rank().front();
        right = with("*", std::string{summed, made.back()});
      }
    }
    const std::string equation = fmt::format("{} = {}", access(out, made), right);
    link.text = is_copy ? fmt::format("{{einsum: \"{}\", name: {}, is_copy_operation: true}}",
                                      equation, out)
                        : fmt::format("\"{}\"", equation);
    chain_.links.push_back(std::move(link));
    last_ = out;
    ranks_ = made;
  }

  std::string next_rank() { return remember(std::string(1, kNewRanks[new_ranks_++])); }

  static constexpr const char* kNewRanks = "PQSTUV";
  Dice& dice_;
  int longest_;
  Chain chain_;
  std::string last_, ranks_, remembered_;
  int new_ranks_ = 0;
};

std::string workload_text(Dice& dice, const Chain& chain, ImperfectFactors imperfect) {
  std::vector<std::string> sizes;
  int primes = 0, window = 1;
  const int most = chain.links.size() == 1 ? 6 : chain.links.size() == 2 ? 5 : 4;
  for (const char rank : chain.ranks) {
    const int size = imperfect == ImperfectFactors::kNone ? dice.one_of({1, 2, 2, 3, 4, 4, 6, 8})
                                                          : dice.one_of({1, 3, 4, 5, 5, 7});
    const int factors = size == 1                                               ? 0
                        : size == 8                                             ? 3
                        : size == 2 || size == 3                                ? 1
                        : size % 2 == 0 || imperfect != ImperfectFactors::kNone ? 2
                                                                                : 1;
    const bool fits = primes + factors <= most;
    primes += fits ? factors : 0;
    sizes.push_back(fmt::format("{}: {}", rank, fits ? size : 1));
    window += fits ? size - 1 : 0;  // P + R - 1
    if (chain.has_window && rank == 'R') sizes.push_back(fmt::format("G: {}", window));
  }
  std::string text = fmt::format("workload:\n  rank_sizes: {{{}}}\n", fmt::join(sizes, ", "));
  text += fmt::format("  bits_per_value: {{All: {}}}\n  einsums:\n", dice.one_of({1, 8, 16}));
  for (const Link& link : chain.links) text += fmt::format("  - {}\n", link.text);
  return text;
}

/// Memories with fanouts between them, and computes.
class ChipDice {
 public:
  ChipDice(Dice& dice, const Chain& chain, bool is_same_space)
      : dice_(dice), chain_(chain), is_same_space_(is_same_space) {}

  std::string draw() {
    const int levels = dice_.one_of({1, 2, 2, 3});
    std::string text = "arch:\n  nodes:\n";
    text += memory("DRAM", "inf", "keep: ~Intermediates, may_keep: All", 20);
    for (int level = 0; level < levels; ++level) {
      text += maybe_toll(fmt::format("Up{}", level));
      text += maybe_fan(fmt::format("F{}", level));
      text += maybe_toll(fmt::format("Down{}", level));
      const std::string size =
          dice_.chance(50) ? "inf" : std::to_string(dice_.one_of({4, 8, 16, 32, 64}) * 8);
      text += memory(fmt::format("L{}", level), size, keep(level > 0 && level + 1 == levels), 4);
    }
    text += maybe_fan("F");
    return text + computes();
  }

 private:
  std::string maybe_fan(const std::string& name) {
    // Tiles of a window are counted in another order of loops than spatial ones stand in.
    if (chain_.has_window || !dice_.chance(45)) return "";
    const auto fanout = [&] { return dice_.one_of({2, 2, 3, 4, 6}); };
    const auto dimension = [&](const char* axis) {
      const std::string reuse = dice_.chance(10)   ? ", may_reuse: Nothing"
                                : dice_.chance(10) ? ", may_reuse: Inputs"
                                : dice_.chance(8)  ? ", reuse: Outputs"
                                                   : "";
      return fmt::format("{{name: {}{}, fanout: {}{}}}", name, axis, fanout(), reuse);
    };
    std::string text = fmt::format("  - !Container {{name: {}, spatial: [{}", name, dimension("x"));
    if (dice_.chance(25)) text += ", " + dimension("y");
    return text + "]}\n";
  }

  std::string maybe_toll(const std::string& name) {
    if (!dice_.chance(6)) return "";
    const std::string keep = dice_.text_of({"All", "Inputs", "Outputs", "Nothing, may_keep: All"});
    const std::string direction = dice_.text_of({"down", "up", "up_and_down"});
    const int energy = 1 + dice_.below(6);
    return fmt::format(
        "  - !Toll {{name: {}, tensors: {{keep: {}}}, direction: {}, actions: [{{name: read, "
        "energy: {}, throughput: {}}}]}}\n",
        name, keep, direction, energy, dice_.text_of({"inf", "8", "1"}));
  }

  std::string memory(const std::string& name, const std::string& size, const std::string& keep,
                     int energy) {
    std::string text =
        fmt::format("  - !Memory {{name: {}, size: {}, tensors: {{{}}}", name, size, keep);
    if (dice_.chance(30)) text += ", ports: separate";
    if (dice_.chance(20)) text += ", buffering: double";
    if (dice_.chance(15)) text += fmt::format(", leak_power: {}", dice_.one_of({1, 2}));
    const auto action = [&](const char* action_name) {
      const std::string throughput = dice_.text_of({"1", "2", "8", "32", "inf"});
      return fmt::format("{{name: {}, energy: {}, throughput: {}}}", action_name,
                         1 + dice_.below(energy), throughput);
    };
    const std::string read = action("read"), write = action("write");
    return text + fmt::format(", actions: [{}, {}]}}\n", read, write);
  }

  std::string keep(bool is_innermost) {
    if (!is_same_space_)
      return dice_.text_of(
          {"keep: Nothing, may_keep: All", "keep: All", "keep: Inputs, may_keep: Intermediates",
           "keep: Nothing, may_keep: Intermediates", "keep: Outputs, may_keep: Inputs"});
    const std::vector<std::string> room =
        is_innermost && dice_.chance(50)
            ? room_for([](std::size_t e) { return e; }, false)
            : room_for([this](std::size_t e) { return chain_.links[e].segment; }, true);
    if (room.empty()) return "keep: Nothing, may_keep: Nothing";
    const std::string set = fmt::format("{}", fmt::join(room, " | "));
    return dice_.chance(25) ? fmt::format("keep: {}, may_keep: Nothing", set)
                            : fmt::format("keep: Nothing, may_keep: {}", set);
  }

  /// At most one tensor of each part of the chain.
  template <class PartOf>
  std::vector<std::string> room_for(const PartOf& part_of, bool exchanged) {
    std::vector<std::string> room;
    std::set<std::size_t> taken;
    for (std::size_t e = 0; e < chain_.links.size(); ++e) {
      if (!dice_.chance(85)) continue;
      const std::vector<std::string>& tensors = chain_.links[e].tensors;
      const std::string& tensor =
          exchanged && dice_.chance(50) && !chain_.exchanged.empty()
              ? chain_.exchanged[static_cast<std::size_t>(
                    dice_.below(static_cast<int>(chain_.exchanged.size())))]
              : tensors[static_cast<std::size_t>(dice_.below(static_cast<int>(tensors.size())))];
      if (!exchanged && chain_.is_exchanged(tensor)) continue;
      std::set<std::size_t> parts;
      for (std::size_t user = 0; user < chain_.links.size(); ++user) {
        const auto& used = chain_.links[user].tensors;
        if (std::find(used.begin(), used.end(), tensor) != used.end()) parts.insert(part_of(user));
      }
      const bool is_free = std::none_of(parts.begin(), parts.end(),
                                        [&](std::size_t part) { return taken.count(part) > 0; });
      if (!is_free) continue;
      taken.insert(parts.begin(), parts.end());
      room.push_back(tensor);
    }
    return room;
  }

  std::string computes() {
    const auto compute = [&](const char* name, const char* more) {
      const int energy = 1 + dice_.below(4);
      return fmt::format(
          "  - !Compute {{name: {}{}, actions: [{{name: compute, energy: {}, throughput: {}}}]}}\n",
          name, more, energy, dice_.text_of({"0.0625", "0.25", "1", "4"}));
    };
    if (dice_.chance(70)) return compute("ALU", "");
    const std::string simd =
        compute("SIMD", dice_.chance(50) ? ", enabled: \"not (ops <= {mul_add})\"" : "");
    return simd + compute("MAC", ", enabled: \"ops <= {mul_add}\"");
  }

  Dice& dice_;
  const Chain& chain_;
  bool is_same_space_;
};

TensorId tensor_named(const Workload& workload, const std::string& name) {
  for (std::size_t t = 0; t < workload.tensors.size(); ++t)
    if (workload.tensors[t].name == name) return TensorId(t);
  SLUICE_CHECK(false, "a tensor of the chain");
  return TensorId(0);
}

Constraints constraints_of(const Chain& chain, const BoundProblem& problem) {
  Constraints constraints;
  for (const std::string& tensor : chain.passed_on)
    constraints.fusion.push_back(
        {tensor + " off chip", tensor_named(problem.workload, tensor), false, std::nullopt});
  for (std::size_t e = 1; e < chain.links.size(); ++e)
    constraints.schedules.push_back({fmt::format("{} after the other", e),
                                     {EinsumId(e - 1), EinsumId(e)},
                                     SplitKind::kSequential});
  return constraints;
}

}  // namespace

AgreementCase random_agreement_case(std::uint64_t seed) {
  Dice dice(seed * 1'000'003 + 250'000);
  AgreementCase drawn;
  drawn.is_same_space = dice.chance(70);
  const Chain chain = ChainDice(dice, drawn.is_same_space ? 2 : 3).draw();
  if (dice.chance(15)) drawn.max_fused_loops = dice.below(3);
  if (dice.chance(30)) drawn.imperfect = ImperfectFactors::kUnfused;
  drawn.yaml = workload_text(dice, chain, drawn.imperfect);
  drawn.yaml += ChipDice(dice, chain, drawn.is_same_space).draw();
  drawn.problem = bind_compound(drawn.yaml);
  drawn.constraints = constraints_of(chain, drawn.problem);
  return drawn;
}

}  // namespace sluice::oracle
