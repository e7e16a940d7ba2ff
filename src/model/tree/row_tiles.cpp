#include "model/tree/row_tiles.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "model/tree/finish_nests.h"

namespace sluice {
namespace {

/// What the shared loops demand of one rank of an intermediate.
class RowTiles {
 public:
  RowTiles(const BoundProblem& problem, FlatTree& tree, ViolationReport& report)
      : problem_(problem),
        tree_(tree),
        report_(report),
        derived_(tree.loops.size(), 0),
        wanted_(tree.loops.size(), 0),
        steps_like_(tree.loops.size(), 0),
        readers_(tree.loops.size()) {}

  void run() {
    // Consumers come after their producer: from the last nest backwards their tiles are final.
    for (std::size_t p = tree_.nests.size(); p-- > 0;) {
      const Nest& producer = tree_.nests[p];
      const TensorId tensor = problem_.workload[producer.einsum].output().tensor;
      if (problem_.roles.has_several_makers(tensor)) continue;  // refused (check_sharing)
      for (EinsumId consumer : problem_.roles.consumers[tensor.index()]) {
        const int place = tree_.place_of[consumer.index()];
        if (place <= static_cast<int>(p)) continue;
        for (const BoundAccess& access : problem_[consumer].accesses)
          if (!access.is_output && problem_[consumer].tensors[tensor_of(access)] == tensor)
            match(producer, tree_.nests[static_cast<std::size_t>(place)], access, tensor);
      }
      check_coverage(producer, tensor);
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
      const bool made_plain =
          made.terms.size() == 1 && made.terms[0].coefficient == 1 && made.constant == 0;
      if (read.terms.empty() || !made_plain) continue;
      match_rank(producer, consumer, read, plain, made.terms[0].variable, tensor);
    }
  }

  /// Walks the loops that both share, from the outside; `tile` is the consumer's current tile. Who
  /// reads value by value (`plain`) needs what it makes itself: its tiles are its producer's, where
  /// they follow from its own readers.
  void match_rank(const Nest& producer, const Nest& consumer, const BoundIndex& read, bool plain,
                  int made, TensorId tensor) {
    std::vector<std::int64_t> tile = sizes_of(consumer);
    const VariableRange& rows = range_of(producer, made);
    int sliding_variable = -1;
    for (auto l = consumer.loops_begin; l < consumer.loops_end; ++l) {
      const NestLoop& reading = tree_.loops[l];
      std::int64_t& current = tile[static_cast<std::size_t>(reading.variable)];
      const bool moves = reading.tile < current;
      const std::int64_t in_all = rows_up_to(consumer, read, tile, rows);
      current = first_tile(l, current);
      const std::int64_t coefficient = coefficient_of(read, reading.variable);
      NestLoop* writing = loop_at(producer, reading.node);
      if (!writing || coefficient == 0 || writing->variable != made) continue;
      if (plain && !derived_[l]) {
        readers_[index_of(*writing)].push_back(
            {&consumer, rows_up_to(consumer, read, tile, rows), tile_extent(read, tile.data()),
             moves ? reading.tile : 0, steps_of(consumer, l), false});
        continue;
      }
      if (moves && sliding_variable >= 0 && sliding_variable != reading.variable) {
        report_.add(ViolationKind::kDependency, reading.node,
                    "Two shared loops move the rows of " + report_.name(tensor) +
                        " that the Einsum " + report_.name(consumer.einsum) +
                        " reads in different ways; rows would have to be made again.",
                    consumer.einsum);
        return;
      }
      if (moves) sliding_variable = reading.variable;
      const std::int64_t first = rows_up_to(consumer, read, tile, rows);
      const std::int64_t steady =
          std::clamp<std::int64_t>(coefficient * reading.tile, 1, rows.size);
      if (moves && first < 1)
        report_.add(ViolationKind::kUnsupportedNode, reading.node,
                    "The model cannot price a loop in whose first step the Einsum " +
                        report_.name(consumer.einsum) + " reads no row of " + report_.name(tensor) +
                        ", padding alone.");
      wanted_[index_of(*writing)] =
          std::max(wanted_[index_of(*writing)], std::min(in_all, rows.size));
      readers_[index_of(*writing)].push_back({&consumer, first, tile_extent(read, tile.data()),
                                              moves ? steady : 0, steps_of(consumer, l), true});
      steps_like_[index_of(*writing)] =
          std::max(steps_like_[index_of(*writing)], steps_of(consumer, l));
      set_tiles(*writing, steady, std::clamp<std::int64_t>(first, 1, rows.size), moves);
    }
  }

  std::size_t index_of(const NestLoop& loop) const {
    return static_cast<std::size_t>(&loop - tree_.loops.data());
  }

  std::vector<std::int64_t> sizes_of(const Nest& nest) const {
    std::vector<std::int64_t> sizes;
    for (const VariableRange& range : problem_.workload[nest.einsum].iteration_space)
      sizes.push_back(range.size);
    return sizes;
  }

  const VariableRange& range_of(const Nest& nest, int variable) const {
    return problem_.workload[nest.einsum].iteration_space[static_cast<std::size_t>(variable)];
  }

  /// What the first step of a loop takes of a tile.
  std::int64_t first_tile(std::uint32_t l, std::int64_t tile) const {
    const NestLoop& loop = tree_.loops[l];
    const bool has_first = derived_[l] && loop.first > 0;
    return std::min(tile, std::max<std::int64_t>(has_first ? loop.first : loop.tile, 1));
  }

  /// Rows that a reader's tile at the start of its ranges needs, from the first that is made.
  std::int64_t rows_up_to(const Nest& consumer, const BoundIndex& read,
                          const std::vector<std::int64_t>& tile, const VariableRange& rows) const {
    std::int64_t highest = read.constant + read.slack;
    for (const BoundTerm& term : read.terms) {
      highest += term.coefficient * range_of(consumer, term.variable).minimum;
      if (term.coefficient > 0)
        highest += term.coefficient * (tile[static_cast<std::size_t>(term.variable)] - 1);
    }
    return highest + 1 - rows.minimum;
  }

  /// Size of the variable that the loop cuts in even tiles: the reader's, or that of its readers.
  std::int64_t steps_of(const Nest& reader, std::uint32_t l) const {
    return derived_[l] ? steps_like_[l] : range_of(reader, tree_.loops[l].variable).size;
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

  /// Several consumers: the first step makes what the neediest wants.
  void set_tiles(NestLoop& writing, std::int64_t steady, std::int64_t first, bool moves) {
    char& derived = derived_[index_of(writing)];
    writing.first = derived ? std::max(writing.first, first) : first;
    if (moves || !derived) writing.tile = steady;
    writing.sweeps = true;
    writing.follows = true;
    derived = 1;
  }

  /// The producer makes what its readers need next. What none of them needs, nobody makes.
  void check_coverage(const Nest& producer, TensorId tensor) {
    std::vector<std::int64_t> tile = sizes_of(producer);
    for (auto l = producer.loops_begin; l < producer.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      std::int64_t& current = tile[static_cast<std::size_t>(loop.variable)];
      if (derived_[l] && wanted_[l] < current)
        report_.add(ViolationKind::kCoverage, loop.node,
                    "The Einsum " + report_.name(producer.einsum) + " makes the rows of " +
                        report_.name(tensor) +
                        " that its readers below the loop need; they leave " +
                        std::to_string(current - wanted_[l]) + " of " + std::to_string(current) +
                        " unmade.",
                    producer.einsum);
      if (derived_[l]) check_readers(producer, l, tensor);
      current = first_tile(l, current);
    }
  }

  /// Several readers of rows: they go at one pace, none ahead of what is made, and what one leaves
  /// the next one takes at once or finds in the backing storage.
  void check_readers(const Nest& producer, std::uint32_t l, TensorId tensor) {
    const NestLoop& loop = tree_.loops[l];
    std::vector<RowReader>& readers = readers_[l];
    std::stable_sort(readers.begin(), readers.end(),
                     [](const RowReader& a, const RowReader& b) { return a.end > b.end; });
    if (std::all_of(readers.begin(), readers.end(),
                    [](const RowReader& reader) { return reader.pace == 0; }))
      return;  // one step
    const bool hands_on = loop.spatial || slides_below(producer, l, tensor);
    std::int64_t held_from = loop.first;
    for (const RowReader& reader : readers) {
      if (reader.end > loop.first && !reader.takes_rows) {
        report_
            .add(ViolationKind::kDependency, loop.node,
                 "The Einsum " + report_.name(reader.nest->einsum) + " reads values of " +
                     report_.name(tensor) +
                     " that later steps of a loop make, which it shares "
                     "with the Einsum " +
                     report_.name(producer.einsum) + ".",
                 reader.nest->einsum)
            .tensors = {tensor};
      } else if ((reader.pace > 0 && reader.pace != loop.tile) ||
                 (loop.spatial && reader.end != loop.first) ||  // instances pass nothing on
                 (hands_on &&
                  (reader.end < held_from || reader.steps_like != readers[0].steps_like))) {
        report_.add(ViolationKind::kUnsupportedNode, loop.node,
                    "The model cannot price a loop under which Einsums read rows of " +
                        report_.name(tensor) + " at different paces or places apart.");
      }
      held_from = std::min(held_from, reader.end - reader.extent);
    }
  }

  /// Whether what goes through a loop is kept below it alone.
  bool slides_below(const Nest& producer, std::uint32_t l, TensorId tensor) const {
    const int local = problem_[producer.einsum].local_tensor[tensor.index()];
    for (auto s = producer.storages_begin; s < producer.storages_end; ++s) {
      const NestStorage& storage = tree_.storages[s];
      if (storage.tensor == local && tree_.entries[storage.entry].backing)
        return producer.loops_begin + static_cast<std::uint32_t>(storage.loops_above) > l;
    }
    return false;
  }

  /// A first tile that a shared loop states is the producer's; the consumers' tiles are all alike.
  void drop_first_tiles_of_consumers() {
    std::vector<char> follows(tree_.tree_loops.size(), 0);
    for (std::size_t l = 0; l < tree_.loops.size(); ++l)
      if (derived_[l]) follows[tree_.loops[l].tree_loop] = 1;
    for (std::size_t l = 0; l < tree_.loops.size(); ++l) {
      NestLoop& loop = tree_.loops[l];
      if (!follows[loop.tree_loop]) continue;
      if (!derived_[l]) {
        loop.first = 0;
      } else if (loop.first == loop.tile) {
        loop.first = 0;
        loop.sweeps = false;
      }
    }
  }

  const BoundProblem& problem_;
  FlatTree& tree_;
  ViolationReport& report_;
  /// Who reads what is made along a loop.
  struct RowReader {
    const Nest* nest = nullptr;
    std::int64_t end = 0;         ///< rows up to the last one it reads in the first step
    std::int64_t extent = 0;      ///< that it reads in a step
    std::int64_t pace = 0;        ///< by which it moves with each step; 0: it takes one
    std::int64_t steps_like = 0;  ///< size of the variable in whose steps it moves
    bool takes_rows = false;      ///< the producer makes what it needs
  };

  std::vector<char> derived_;             ///< per loop of the tree
  std::vector<std::int64_t> wanted_;      ///< per loop: rows that its readers need of all its steps
  std::vector<std::int64_t> steps_like_;  ///< per loop that follows readers: see RowReader
  std::vector<std::vector<RowReader>> readers_;  ///< per loop
};

}  // namespace

void derive_row_tiles(const BoundProblem& problem, FlatTree& tree, ViolationReport& report) {
  if (problem.shares_rows) RowTiles(problem, tree, report).run();
}

}  // namespace sluice
