#include "model/row_tiles.h"

#include <algorithm>
#include <string>

namespace sluice {
namespace {

/// What the shared loops demand of one rank of an intermediate.
class RowTiles {
 public:
  RowTiles(const BoundProblem& problem, FlatTree& tree, ViolationReport& report)
      : problem_(problem), tree_(tree), report_(report), derived_(tree.loops.size(), 0) {}

  void run() {
    // Consumers come after their producer: from the last nest backwards their tiles are final.
    for (std::size_t p = tree_.nests.size(); p-- > 0;) {
      const Nest& producer = tree_.nests[p];
      const TensorId tensor = problem_.workload[producer.einsum].output().tensor;
      for (EinsumId consumer : problem_.roles.consumers[tensor.index()]) {
        const int place = tree_.place_of[consumer.index()];
        if (place <= static_cast<int>(p)) continue;
        for (const BoundAccess& access : problem_[consumer].accesses)
          if (!access.is_output && problem_[consumer].tensors[tensor_of(access)] == tensor)
            match(producer, tree_.nests[static_cast<std::size_t>(place)], access, tensor);
      }
    }
    drop_first_tiles_of_consumers();
  }

 private:
  static std::size_t tensor_of(const BoundAccess& access) {
    return static_cast<std::size_t>(access.tensor);
  }

  void match(const Nest& producer, const Nest& consumer, const BoundAccess& access,
             TensorId tensor) {
    const BoundAccess& written = problem_[producer.einsum].accesses.back();
    for (std::size_t r = 0; r < access.index.size(); ++r) {
      const BoundIndex& read = access.index[r];
      const BoundIndex& made = written.index[r];
      const bool plain = read.terms.size() == 1 && read.terms[0].coefficient == 1;
      if (read.terms.empty() || made.terms.size() != 1) continue;
      match_rank(producer, consumer, read, plain, made.terms[0].variable,
                 problem_.workload[problem_.workload[tensor].ranks[r]].size, tensor);
    }
  }

  /// Walks the loops that both share, from the outside; `tile` is the consumer's current tile. Who
  /// reads value by value (`plain`) needs what it makes itself: its tiles are its producer's, where
  /// they follow from its own readers.
  void match_rank(const Nest& producer, const Nest& consumer, const BoundIndex& read, bool plain,
                  int made, std::int64_t rank_size, TensorId tensor) {
    std::vector<std::int64_t> tile;
    for (const VariableRange& range : problem_.workload[consumer.einsum].iteration_space)
      tile.push_back(range.size);
    int sliding_variable = -1;
    for (auto l = consumer.loops_begin; l < consumer.loops_end; ++l) {
      const NestLoop& reading = tree_.loops[l];
      std::int64_t& current = tile[static_cast<std::size_t>(reading.variable)];
      const bool moves = reading.tile < current;
      const bool has_first = derived_[l] && reading.first > 0;  // what the first step takes
      current =
          std::min(current, std::max<std::int64_t>(has_first ? reading.first : reading.tile, 1));
      const std::int64_t coefficient = coefficient_of(read, reading.variable);
      NestLoop* writing = loop_at(producer, reading.node);
      if (!writing || coefficient == 0 || writing->variable != made) continue;
      if (plain && !derived_[l]) continue;
      if (moves && sliding_variable >= 0 && sliding_variable != reading.variable) {
        report_.add(ViolationKind::kDependency, reading.node,
                    "Two shared loops move the rows of " + report_.name(tensor) +
                        " that the Einsum " + report_.name(consumer.einsum) +
                        " reads in different ways; rows would have to be made again.",
                    consumer.einsum);
        return;
      }
      if (moves) sliding_variable = reading.variable;
      set_tiles(*writing, read, coefficient * reading.tile, tile, rank_size);
    }
  }

  static std::int64_t coefficient_of(const BoundIndex& index, int variable) {
    for (const BoundTerm& term : index.terms)
      if (term.variable == variable) return term.coefficient;
    return 0;
  }

  NestLoop* loop_at(const Nest& nest, const Node* node) {
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l)
      if (tree_.loops[l].node == node) return &tree_.loops[l];
    return nullptr;
  }

  void set_tiles(NestLoop& writing, const BoundIndex& read, std::int64_t steady,
                 const std::vector<std::int64_t>& tile, std::int64_t rank_size) {
    std::int64_t highest = read.constant + read.slack;
    for (const BoundTerm& term : read.terms)
      if (term.coefficient > 0)
        highest += term.coefficient * (tile[static_cast<std::size_t>(term.variable)] - 1);
    const std::int64_t first = std::clamp<std::int64_t>(highest + 1, 1, rank_size);
    steady = std::clamp<std::int64_t>(steady, 1, rank_size);
    const auto index = static_cast<std::size_t>(&writing - tree_.loops.data());
    // Several consumers: the first step makes what the neediest wants.
    writing.first = derived_[index] ? std::max(writing.first, first) : first;
    writing.tile = steady;
    writing.sweeps = true;
    derived_[index] = 1;
  }

  /// A first tile that a shared loop states is the producer's; the consumers' tiles are all alike.
  void drop_first_tiles_of_consumers() {
    for (std::size_t l = 0; l < tree_.loops.size(); ++l) {
      if (!derived_[l]) continue;
      NestLoop& mine = tree_.loops[l];
      for (std::size_t other = 0; other < tree_.loops.size(); ++other)
        if (tree_.loops[other].node == mine.node && !derived_[other]) tree_.loops[other].first = 0;
      if (mine.first == mine.tile) {
        mine.first = 0;
        mine.sweeps = false;
      }
    }
  }

  const BoundProblem& problem_;
  FlatTree& tree_;
  ViolationReport& report_;
  std::vector<char> derived_;  ///< per loop of the tree
};

}  // namespace

bool shares_rows(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundAccess& access : einsum.accesses) {
      if (access.is_output) continue;
      if (!problem.roles.producer[einsum.tensors[static_cast<std::size_t>(access.tensor)].index()])
        continue;
      for (Relevance seen : access.relevance)
        if (seen == Relevance::kPartial) return true;
    }
  return false;
}

void derive_row_tiles(const BoundProblem& problem, FlatTree& tree, ViolationReport& report) {
  if (problem.shares_rows) RowTiles(problem, tree, report).run();
}

}  // namespace sluice
