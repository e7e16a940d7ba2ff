#include "model/legality/shared_tensors.h"

#include <algorithm>
#include <string>
#include <utility>

#include "model/bind/bound_access.h"
#include "model/bind/recurrences.h"
#include "model/legality/collective_rules.h"
#include "model/legality/windows.h"
#include "model/tree/lookups.h"
#include "model/visits/overlaps.h"

namespace sluice {
namespace {

class SharingChecker {
 public:
  SharingChecker(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report)
      : problem_(problem), tree_(tree), report_(report) {}

  void check(TensorId tensor) {
    const std::vector<EinsumId>& makers = problem_.roles.makers[tensor.index()];
    const Nest* first = nullptr;
    for (EinsumId user : problem_.roles.users(tensor)) {
      const Nest* nest = nest_of(user);
      if (!nest) continue;
      if (std::find(makers.begin(), makers.end(), user) != makers.end()) {
        check_own_steps(tensor, *nest);
      } else {
        for (EinsumId maker : makers)
          if (nest_of(maker)) check_pair(tensor, *nest_of(maker), *nest);
      }
      if (first && !mover_of(tree_, tensor) && !forward_of(tree_, tensor))
        check_backing(tensor, *first, *nest);
      if (!first) first = nest;
    }
  }

 private:
  const Nest* nest_of(EinsumId einsum) const {
    const int place = tree_.place_of[einsum.index()];
    if (place < 0 || static_cast<std::size_t>(place) >= tree_.nests.size()) return nullptr;
    return &tree_.nests[static_cast<std::size_t>(place)];
  }

  Violation& add(ViolationKind kind, const Node* node, std::string message, const Nest& nest,
                 TensorId tensor) {
    Violation& violation = report_.add(kind, node, std::move(message), nest.einsum);
    violation.tensors = {tensor};
    return violation;
  }

  /// True if all that the reader takes was made in an earlier step of a recurrence.
  bool reads_earlier_step(TensorId tensor, const Nest& producer, const Nest& consumer) const {
    bool earlier = true;
    for (const TensorAccess& read : problem_.workload[consumer.einsum].accesses)
      if (read.tensor == tensor && !read.is_output) earlier &= step_of(producer, read).has_value();
    return earlier;
  }

  std::optional<RankVariableId> step_of(const Nest& producer, const TensorAccess& read) const {
    return step_variable(problem_.workload[producer.einsum].output(), read);
  }

  /// A reader that stands before the producer takes what the step before has left: both must be
  /// below one temporal loop that goes from step to step.
  void check_back_edge(TensorId tensor, const Nest& producer, const Nest& consumer) {
    const auto variable =
        step_of(producer, *find_access(problem_.workload[consumer.einsum], tensor));
    const int local = variable ? problem_[consumer.einsum].local_variable[variable->index()] : -1;
    if (reads_initial_slice(problem_.workload, tensor, producer.einsum, consumer.einsum)) return;
    if (variable) check_steps_in_time(tensor, consumer, *variable);
    for (auto l = consumer.loops_begin; l < consumer.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      const bool steps = loop.variable == local && !loop.spatial && loop.tile == 1;
      if (steps && loop_at_node(tree_, producer, loop.node)) return;
    }
    add(ViolationKind::kDependency, consumer.node,
        "The Einsum " + report_.name(consumer.einsum) + " reads " + report_.name(tensor) +
            " of the step before; it must stand with the Einsum " + report_.name(producer.einsum) +
            " below one temporal loop with tiles of 1" +
            (variable ? " over " + report_.name(*variable) : "") + ".",
        consumer, tensor);
  }

  /// A copy of the tensor above a loop in which it is both made and read is never up to date: the
  /// reader's was fetched before, the producer's is written back after all steps. A node that both
  /// share is, but what it fetches before it is made has no price.
  void check_copies(TensorId tensor, const Nest& holder, const Nest& other, const Nest& maker,
                    bool is_state) {
    if (problem_.workload[holder.einsum].is_copy_operation) return;  // holds nothing in between
    const int local = problem_[holder.einsum].local_tensor[tensor.index()];
    for (auto s = holder.storages_begin; s < holder.storages_end; ++s) {
      const NestStorage& storage = tree_.storages[s];
      if (storage.tensor != local || tree_.entries[storage.entry].backing ||
          !problem_.arch[storage.component].is_memory())
        continue;
      const NestLoop* shared = shared_loop_below(storage, holder, other, &maker);
      if (!shared) continue;
      if (is_state && holds_at(storage.entry, other, tensor)) {
        if (&holder == &maker)
          add(ViolationKind::kUnsupportedNode, tree_.entries[storage.entry].node,
              "The model cannot price the state " + report_.name(tensor) + " in " +
                  report_.name(storage.component) +
                  " above the loop over its steps, where another memory backs it and the Einsums " +
                  report_.name(holder.einsum) + " and " + report_.name(other.einsum) +
                  " share the node, yet.",
              holder, tensor);
        return;
      }
      add(ViolationKind::kDependency, tree_.entries[storage.entry].node,
          "The Einsum " + report_.name(holder.einsum) + " keeps " + report_.name(tensor) + " in " +
              report_.name(storage.component) + " above a loop that it shares with the Einsum " +
              report_.name(other.einsum) +
              "; what one of them makes in a step would not reach the other.",
          holder, tensor);
      return;
    }
  }

  /// Whether a nest holds a tensor at this node, too.
  bool holds_at(std::uint32_t entry, const Nest& nest, TensorId tensor) const {
    const int local = problem_[nest.einsum].local_tensor[tensor.index()];
    const auto* storages = tree_.storages.data();
    return std::any_of(storages + nest.storages_begin, storages + nest.storages_end,
                       [&](const NestStorage& storage) {
                         return storage.tensor == local && storage.entry == entry;
                       });
  }

  /// One in which the producer makes the tensor and the holder reads it in several steps, unless
  /// the first one makes all that the holder fetches then; what the producer keeps itself comes
  /// back after all steps of both. Instances take no steps: all have made it before any reads it.
  const NestLoop* shared_loop_below(const NestStorage& storage, const Nest& holder,
                                    const Nest& other, const Nest* maker) const {
    for (auto l = holder.loops_begin + static_cast<std::uint32_t>(storage.loops_above);
         l < holder.loops_end; ++l) {
      const NestLoop* shared = loop_at_node(tree_, other, tree_.loops[l].node);
      if (!shared || tree_.loops[l].spatial) continue;
      const bool either = shared->trips > 1 || tree_.loops[l].trips > 1;
      const bool both = shared->trips > 1 && tree_.loops[l].trips > 1;
      if (maker == &holder ? either : both && !makes_all_at_once(storage, holder, *maker, *shared))
        return &tree_.loops[l];
    }
    return nullptr;
  }

  /// Whether a loop's first step, in which the reader fills its storage, makes all that its tile
  /// there needs: the rows that other readers want may be more. So it is in later steps of the
  /// loops around, which move both by as much.
  bool makes_all_at_once(const NestStorage& storage, const Nest& reader, const Nest& maker,
                         const NestLoop& writing) const {
    if (&reader < &maker) return false;
    const auto rows = static_cast<std::size_t>(writing.variable);
    const VariableRange& range = problem_.workload[maker.einsum].iteration_space[rows];
    const BoundAccess& output = problem_[maker.einsum].accesses.back();
    const std::int64_t made =
        first_tile(maker, writing.variable, static_cast<int>(&writing - first_loop(maker)) + 1);
    bool all = false;
    for (const BoundAccess& access : problem_[reader.einsum].accesses) {
      if (access.tensor != storage.tensor || access.is_output) continue;
      for (std::size_t r = 0; r < access.index.size(); ++r) {
        const auto& walked = output.index[r].terms;
        if (walked.size() != 1 || walked[0].variable != writing.variable) continue;
        const std::int64_t begin = output.index[r].constant + range.minimum;
        const std::int64_t needed =
            std::min(end_of(access.index[r], reader, storage), begin + range.size);
        if (needed > begin + made) return false;
        all = true;
      }
    }
    return all;
  }

  const NestLoop* first_loop(const Nest& nest) const {
    return tree_.loops.data() + nest.loops_begin;
  }

  /// The first tile of a variable below the first `n_loops` loops of a nest.
  std::int64_t first_tile(const Nest& nest, int variable, int n_loops) const {
    const auto v = static_cast<std::size_t>(variable);
    std::int64_t tile = problem_.workload[nest.einsum].iteration_space[v].size;
    for (const NestLoop* loop = first_loop(nest); loop < first_loop(nest) + n_loops; ++loop)
      if (loop->variable == variable)
        tile = std::min(tile, loop->first > 0 ? loop->first : loop->tile);
    return tile;
  }

  /// One past the largest index that a nest's first tile at a storage touches.
  std::int64_t end_of(const BoundIndex& index, const Nest& nest, const NestStorage& storage) const {
    std::int64_t end = index.constant + index.slack + 1;
    for (const BoundTerm& term : index.terms) {
      const auto v = static_cast<std::size_t>(term.variable);
      end += term.coefficient * problem_.workload[nest.einsum].iteration_space[v].minimum;
      if (term.coefficient > 0)
        end += term.coefficient * (first_tile(nest, term.variable, storage.loops_above) - 1);
    }
    return end;
  }

  /// Whether a reader stands below a loop of a maker along which makers make different parts: what
  /// it reads in a step may have been made in an earlier one. The model cannot price such a loop.
  bool share_loop_over_parts(TensorId tensor, const Nest& producer, const Nest& consumer) const {
    if (!problem_.roles.has_several_makers(tensor)) return false;
    const std::vector<bool> walked =
        walks_parts(problem_.workload, problem_.roles, consumer.einsum, tensor);
    return std::any_of(first_loop(consumer), tree_.loops.data() + consumer.loops_end,
                       [&](const NestLoop& loop) {
                         return loop.trips > 1 && walked[static_cast<std::size_t>(loop.variable)] &&
                                loop_at_node(tree_, producer, loop.node) != nullptr;
                       });
  }

  void check_pair(TensorId tensor, const Nest& producer, const Nest& consumer) {
    const bool in_parts = problem_.roles.has_several_makers(tensor);
    const bool recurrent = !in_parts && reads_earlier_step(tensor, producer, consumer);
    if (!recurrent ||
        !reads_initial_slice(problem_.workload, tensor, producer.einsum, consumer.einsum)) {
      check_copies(tensor, producer, consumer, producer, recurrent);
      check_copies(tensor, consumer, producer, producer, recurrent);
    }
    if (&consumer < &producer && recurrent) {
      check_back_edge(tensor, producer, consumer);
      return;
    }
    if (&consumer < &producer) {
      if (reads_other_part(problem_, tensor, producer.einsum, consumer.einsum)) return;
      add(share_loop_over_parts(tensor, producer, consumer) ? ViolationKind::kUnsupportedNode
                                                            : ViolationKind::kDependency,
          consumer.node,
          "The Einsum " + report_.name(consumer.einsum) + " reads " + report_.name(tensor) +
              " before the Einsum " + report_.name(producer.einsum) + " makes it.",
          consumer, tensor);
      return;
    }
    std::vector<const NestLoop*> slicing;
    for (auto l = consumer.loops_begin; l < consumer.loops_end; ++l) {
      const NestLoop& reading = tree_.loops[l];
      const NestLoop* writing = loop_at_node(tree_, producer, reading.node);
      if (!writing || (reading.trips == 1 && writing->trips == 1)) continue;
      if (in_parts && relevance_of(tensor, consumer, reading) == Relevance::kPartial) {
        add(ViolationKind::kUnsupportedNode, reading.node,
            "The model cannot price windows of " + report_.name(tensor) +
                ", which several Einsums make, below a loop that its makers and readers share.",
            consumer, tensor);
        continue;
      }
      if (walks_alike(tensor, producer, *writing, consumer, reading)) {
        check_slices(tensor, producer, consumer, *writing, reading);
        check_instances(tensor, producer, consumer, reading);
        for (const NestLoop* other : slicing)
          if (walks_rank_of(tensor, consumer, *other, reading))
            report_other_slices(tensor, producer, consumer, *other, reading);
        continue;
      }
      if (is_spread_reduction(problem_, tree_, tensor, reading.node) ||
          is_moved_between(problem_, tree_, consumer, tensor, reading)) {
        if (reading.trips > 1 && indexes(tensor, consumer, reading)) slicing.push_back(&reading);
        continue;
      }
      add(ViolationKind::kDependency, reading.node,
          "The Einsum " + report_.name(consumer.einsum) + " needs all of " + report_.name(tensor) +
              " in each step of a loop that it shares with the Einsum " +
              report_.name(producer.einsum) + "; the loop must walk the same rank of it in both.",
          consumer, tensor);
    }
  }

  /// Whether the reader's access to the tensor depends on a loop of it.
  bool indexes(TensorId tensor, const Nest& consumer, const NestLoop& loop) const {
    return relevance_of(tensor, consumer, loop) != Relevance::kIrrelevant;
  }

  Relevance relevance_of(TensorId tensor, const Nest& nest, const NestLoop& loop) const {
    const BoundEinsum& einsum = problem_[nest.einsum];
    return einsum.relevance[static_cast<std::size_t>(einsum.local_tensor[tensor.index()])]
                           [static_cast<std::size_t>(loop.variable)];
  }

  /// Whether two loops of the reader walk one rank of the tensor.
  bool walks_rank_of(TensorId tensor, const Nest& consumer, const NestLoop& a,
                     const NestLoop& b) const {
    const auto& space = problem_.workload[consumer.einsum].iteration_space;
    for (const TensorAccess& access : problem_.workload[consumer.einsum].accesses) {
      if (access.tensor != tensor || access.is_output) continue;
      for (const AffineExpression& index : access.projection)
        if (index.coefficient_of(space[static_cast<std::size_t>(a.variable)].variable) != 0 &&
            index.coefficient_of(space[static_cast<std::size_t>(b.variable)].variable) != 0)
          return true;
    }
    return false;
  }

  /// Instances that each make a part of all slices cannot read only their own ones step by step:
  /// in one step all of them make the same slice.
  void report_other_slices(TensorId tensor, const Nest& producer, const Nest& consumer,
                           const NestLoop& slicing, const NestLoop& reading) {
    const auto name_of = [&](const NestLoop& loop) {
      return report_.name(problem_.workload[consumer.einsum]
                              .iteration_space[static_cast<std::size_t>(loop.variable)]
                              .variable);
    };
    add(ViolationKind::kDependency, reading.node,
        "The Einsum " + report_.name(consumer.einsum) + " reads other slices of " +
            report_.name(tensor) + " in each instance of a loop over " + name_of(slicing) +
            ", in which the Einsum " + report_.name(producer.einsum) +
            " makes a part of all of them; the loop over " + name_of(reading) +
            " below it brings one slice to all instances at a time.",
        consumer, tensor);
  }

  /// Slice by slice the reader may be behind the producer in time, but never ahead of it.
  /// Where rows follow from readers, derive_row_tiles has checked that.
  void check_slices(TensorId tensor, const Nest& producer, const Nest& consumer,
                    const NestLoop& writing, const NestLoop& reading) {
    const RankVariableId variable = problem_.workload[consumer.einsum]
                                        .iteration_space[static_cast<std::size_t>(reading.variable)]
                                        .variable;
    const TensorAccess& written = problem_.workload[producer.einsum].output();
    if (reads_other_part(problem_, tensor, producer.einsum, consumer.einsum)) return;
    bool ahead = false, behind = false;
    for (const TensorAccess& read : problem_.workload[consumer.einsum].accesses) {
      if (read.tensor != tensor || read.is_output) continue;
      for (std::size_t r = 0; r < read.projection.size(); ++r) {
        const AffineExpression& index = read.projection[r];
        if (index.terms.size() != 1 || index.coefficient_of(variable) != 1) continue;
        // What one step makes is there for all steps, but for other instances.
        const bool in_steps = writing.trips > 1 || reading.spatial;
        ahead |= in_steps && !writing.follows && index.constant > written.projection[r].constant;
        behind |= index.constant < written.projection[r].constant;
      }
    }
    if (!ahead && !(behind && reading.spatial)) return;
    // In a pipelined split later steps may be over by then; of several makers, the instance itself
    // may have made it in an earlier step of a loop around.
    const bool in_time = !reading.spatial && stand_in_a_pipeline(producer, consumer);
    const bool is_made_before = !ahead && share_loop_over_parts(tensor, producer, consumer);
    add(in_time || is_made_before ? ViolationKind::kUnsupportedNode : ViolationKind::kDependency,
        reading.node,
        "The Einsum " + report_.name(consumer.einsum) + " reads slices of " + report_.name(tensor) +
            " that " + (ahead ? "later steps" : "other instances") + " of a loop over " +
            report_.name(variable) + " make, which it shares with the Einsum " +
            report_.name(producer.einsum) + ".",
        consumer, tensor);
  }

  /// Instances neither wait for each other nor pass rows on: their windows must be apart.
  void check_instances(TensorId tensor, const Nest& producer, const Nest& consumer,
                       const NestLoop& reading) {
    const BoundEinsum& reader = problem_[consumer.einsum];
    const int local = reader.local_tensor[tensor.index()];
    if (!reading.spatial ||
        reader.relevance[static_cast<std::size_t>(local)]
                        [static_cast<std::size_t>(reading.variable)] != Relevance::kPartial ||
        steps_are_apart(problem_, tree_, consumer, reading, local, true))
      return;
    add(ViolationKind::kDependency, reading.node,
        "The Einsum " + report_.name(consumer.einsum) + " reads windows of " +
            report_.name(tensor) +
            " that overlap between the instances of a spatial loop which it shares with the "
            "Einsum " +
            report_.name(producer.einsum) + "; an instance cannot read what another one makes.",
        consumer, tensor);
  }

  /// True if the shared loop moves both Einsums along the same rank of the tensor.
  bool walks_alike(TensorId tensor, const Nest& producer, const NestLoop& writing,
                   const Nest& consumer, const NestLoop& reading) const {
    const Einsum& maker = problem_.workload[producer.einsum];
    const Einsum& reader = problem_.workload[consumer.einsum];
    const RankVariableId made =
        maker.iteration_space[static_cast<std::size_t>(writing.variable)].variable;
    const RankVariableId used =
        reader.iteration_space[static_cast<std::size_t>(reading.variable)].variable;
    const TensorAccess& written = maker.output();
    if (relevance(written, made) != Relevance::kRelevant) return false;
    for (const TensorAccess& access : reader.accesses) {
      if (access.tensor != tensor || access.is_output) continue;
      for (std::size_t r = 0; r < access.projection.size(); ++r) {
        const bool makes = written.projection[r].coefficient_of(made) != 0;
        const bool reads = access.projection[r].coefficient_of(used) != 0;
        if (makes != reads) return false;
      }
    }
    return true;
  }

  /// Whether a collective completes the sums that spatial loop number `l` spreads in every step of
  /// the loops over `variable` below it.
  bool is_completed(TensorId tensor, const Nest& nest, std::uint32_t l, int variable) const {
    const NestLoop& loop = tree_.loops[l];
    if (!loop.spatial) return false;
    const std::string& name = problem_.arch[loop.component].spatial[loop.dimension].name;
    for (std::uint32_t index : tree_.collectives_on(tensor)) {
      const FlatCollective& flat = tree_.collectives[index];
      const std::vector<std::string>& over = flat.collective->over;
      if (flat.moves || std::find(over.begin(), over.end(), name) == over.end()) continue;
      bool in_every_step = true;
      for (auto below = l + 1; below < nest.loops_end; ++below)
        if (const NestLoop& step = tree_.loops[below]; step.variable == variable && step.trips > 1)
          in_every_step &= std::find(flat.loops_above.begin(), flat.loops_above.end(), step.node) !=
                           flat.loops_above.end();
      if (in_every_step) return true;
    }
    return false;
  }

  /// The steps of a recurrence follow each other: they cannot be spread over instances, and each
  /// needs all of the sums of the one before.
  void check_own_steps(TensorId tensor, const Nest& nest) {
    const TensorAccess* read = find_access(problem_.workload[nest.einsum], tensor);
    if (read->is_output) return;
    const auto variable = step_of(nest, *read);
    if (variable) check_steps_in_time(tensor, nest, *variable);
    for (auto l = nest.loops_begin; variable && l < nest.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      const int local = problem_[nest.einsum].local_variable[variable->index()];
      if (loop.trips > 1 && sums_over(nest, loop) && has_steps_below(nest, l, local) &&
          !is_completed(tensor, nest, l, local))
        add(ViolationKind::kDependency, loop.node,
            "The Einsum " + report_.name(nest.einsum) + " reads " + report_.name(tensor) +
                " of the step before; a loop over what it sums stands above the loop over " +
                report_.name(*variable) + ", whose steps would read parts of the sums.",
            nest, tensor);
    }
  }

  void check_steps_in_time(TensorId tensor, const Nest& nest, RankVariableId steps) {
    const int local = problem_[nest.einsum].local_variable[steps.index()];
    for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
      const NestLoop& loop = tree_.loops[l];
      if (!loop.spatial || loop.trips == 1 || loop.variable != local) continue;
      add(ViolationKind::kDependency, loop.node,
          "The loop over " + report_.name(steps) + " carries " + report_.name(tensor) +
              " from step to step; it cannot be spatial.",
          nest, tensor);
    }
  }

  bool sums_over(const Nest& nest, const NestLoop& loop) const {
    return problem_[nest.einsum].accesses.back().relevance[static_cast<std::size_t>(
               loop.variable)] == Relevance::kIrrelevant;
  }

  bool has_steps_below(const Nest& nest, std::uint32_t l, int variable) const {
    for (auto below = l + 1; below < nest.loops_end; ++below)
      if (tree_.loops[below].variable == variable && tree_.loops[below].trips > 1) return true;
    return false;
  }

  void check_backing(TensorId tensor, const Nest& a, const Nest& b) {
    const NestStorage* left = backing_of(problem_, tree_, a, tensor);
    const NestStorage* right = backing_of(problem_, tree_, b, tensor);
    if (!left || !right || left->entry == right->entry) return;  // missing: reported elsewhere
    if (left->component != right->component &&
        touch_nothing_together(problem_.workload, tensor, a.einsum, b.einsum)) {
      add(ViolationKind::kUnsupportedNode, tree_.entries[right->entry].node,
          "The model cannot price " + report_.name(tensor) + " in two memories, " +
              report_.name(left->component) + " and " + report_.name(right->component) +
              ", of which the Einsums " + report_.name(a.einsum) + " and " +
              report_.name(b.einsum) + " use different slices, yet.",
          b, tensor);
      return;
    }
    if (left->component != right->component) {
      add(ViolationKind::kMissingStorage, tree_.entries[right->entry].node,
          "The Einsums " + report_.name(a.einsum) + " and " + report_.name(b.einsum) + " expect " +
              report_.name(tensor) + " in different backing memories, " +
              report_.name(left->component) + " and " + report_.name(right->component) + "." +
              missing_between(tensor, a, *left, b, *right),
          b, tensor);
      return;
    }
    std::string missing = missing_between(tensor, a, *left, b, *right);
    check_private_loops(tensor, a, *left, b, *right, &missing);
    check_private_loops(tensor, b, *right, a, *left, &missing);
  }

  /// Two backing nodes are one tile only if no loop stands between them and their common split.
  /// `missing`: the collective that may be, said once.
  void check_private_loops(TensorId tensor, const Nest& nest, const NestStorage& backing,
                           const Nest& other, const NestStorage& others_backing,
                           std::string* missing) {
    const BoundEinsum& einsum = problem_[nest.einsum];
    const auto t = static_cast<std::size_t>(einsum.local_tensor[tensor.index()]);
    for (int l = 0; l < backing.loops_above; ++l) {
      const NestLoop& loop = tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
      if (loop.trips == 1) continue;
      const NestLoop* shared = loop_at_node(tree_, other, loop.node);
      if (shared && shared - &tree_.loops[other.loops_begin] < others_backing.loops_above) continue;
      if (is_state(einsum, t) && reads_last_slice(other, tensor, loop, nest, backing)) continue;
      add(ViolationKind::kDependency, loop.node,
          "The loop stands above the backing storage of " + report_.name(tensor) +
              " in the branch of the Einsum " + report_.name(nest.einsum) + " only; the Einsum " +
              report_.name(other.einsum) + " uses the tensor outside the loop." +
              (loop.spatial ? std::exchange(*missing, "") : ""),
          nest, tensor);
    }
  }

  /// Which collective could bring a tensor from the instances on which one of two Einsums makes it
  /// to those on which the other one reads it; empty where it is not that.
  std::string missing_between(TensorId tensor, const Nest& a, const NestStorage& left,
                              const Nest& b, const NestStorage& right) const {
    if (problem_.roles.sole_maker(tensor) != a.einsum) return "";
    if (left.component == right.component && stand_in_a_pipeline(a, b))
      return " Missing in their pipelined split: forward: {" + report_.name(tensor) + ": " +
             report_.name(left.component) + "}.";
    std::vector<std::string> over;
    const auto layout = [&](const Nest& nest, const NestStorage& backing, const Nest& other) {
      std::string found;  // what spatial loops of this branch alone make of the tensor
      for (int l = 0; l < backing.loops_above; ++l) {
        const NestLoop& loop = tree_.loops[nest.loops_begin + static_cast<std::uint32_t>(l)];
        if (!loop.spatial || loop.trips == 1 || loop_at_node(tree_, other, loop.node)) continue;
        found = indexes(tensor, nest, loop) ? "slices" : "copies";
        const std::string& name = problem_.arch[loop.component].spatial[loop.dimension].name;
        if (std::find(over.begin(), over.end(), name) == over.end()) over.push_back(name);
      }
      return found;
    };
    const std::string made = layout(a, left, b), read = layout(b, right, a);
    if (over.empty()) return "";
    const std::string type = made.empty() ? (read == "slices" ? "scatter" : "broadcast")
                             : made == "copies"
                                 ? (read == "slices" ? "reduce_scatter" : "all_reduce")
                             : read.empty()     ? "gather"
                             : read == "slices" ? "all_to_all"
                                                : "all_gather";
    const Reduction reduction = problem_.workload[a.einsum].expression.reduction;
    return " Missing between them in the split: !Collective {type: " + type +
           ", tensor: " + report_.name(tensor) +
           (made == "copies" ? ", op: " + reduction_name(reduction) : "") +
           ", src: " + report_.name(left.component) + ", dst: " + report_.name(right.component) +
           ", over: [" + joined(over) + "]}.";
  }

  /// Whether one follows the other in a pipelined split.
  bool stand_in_a_pipeline(const Nest& a, const Nest& b) const {
    const int before = tree_.place(a), after = tree_.place(b);
    return std::any_of(tree_.concurrent.begin(), tree_.concurrent.end(),
                       [&](const ConcurrentSplit& split) {
                         return split.split->kind == SplitKind::kPipeline && split.has(before) &&
                                split.has(after) && split.stage_of(before) < split.stage_of(after);
                       });
  }

  static std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
  }

  /// True if `nest` makes the tensor, and `other` reads fixed slices of the rank that the loop
  /// steps through, which are still there after the last step.
  bool reads_last_slice(const Nest& other, TensorId tensor, const NestLoop& loop, const Nest& nest,
                        const NestStorage& backing) const {
    if (problem_.roles.sole_maker(tensor) != nest.einsum) return false;
    const Einsum& maker = problem_.workload[nest.einsum];
    const RankVariableId variable =
        maker.iteration_space[static_cast<std::size_t>(loop.variable)].variable;
    for (const TensorAccess& read : problem_.workload[other.einsum].accesses) {
      if (read.tensor != tensor) continue;
      for (std::size_t r = 0; r < read.projection.size(); ++r) {
        if (maker.output().projection[r].coefficient_of(variable) == 0) continue;
        const AffineExpression& index = read.projection[r];
        if (!index.terms.empty() || !ends_with(tensor, backing.entry, r, index.constant))
          return false;
      }
    }
    return true;
  }

  /// Whether a backing node holds a slice of a rank in the last step of all loops above it.
  bool ends_with(TensorId tensor, std::uint32_t entry, std::size_t rank, std::int64_t slice) const {
    for (const Nest& nest : tree_.nests) {
      const NestStorage* storage = backing_of(problem_, tree_, nest, tensor);
      if (!storage || storage->entry != entry) continue;
      for (const TensorAccess& access : problem_.workload[nest.einsum].accesses)
        if (access.tensor == tensor &&
            last_indices(nest, access.projection[rank], storage->loops_above).contains(slice))
          return true;
    }
    return false;
  }

  struct Indices {
    std::int64_t first = 0, last = 0;
    bool contains(std::int64_t index) const { return first <= index && index <= last; }
  };

  /// What an index touches in the last step of the first `n_loops` loops of a nest.
  Indices last_indices(const Nest& nest, const AffineExpression& index, int n_loops) const {
    Indices indices{index.constant, index.constant};
    for (const AffineTerm& term : index.terms) {
      const Indices tile = last_tile(nest, term.variable, n_loops);
      const bool ascends = term.coefficient > 0;
      indices.first += term.coefficient * (ascends ? tile.first : tile.last);
      indices.last += term.coefficient * (ascends ? tile.last : tile.first);
    }
    return indices;
  }

  Indices last_tile(const Nest& nest, RankVariableId variable, int n_loops) const {
    const auto local =
        static_cast<std::size_t>(problem_[nest.einsum].local_variable[variable.index()]);
    const VariableRange& range = problem_.workload[nest.einsum].iteration_space[local];
    std::int64_t size = range.size;
    for (const NestLoop* loop = first_loop(nest); loop < first_loop(nest) + n_loops; ++loop) {
      if (loop->variable != static_cast<int>(local)) continue;
      const std::int64_t after_first = size - std::max(loop->first, loop->tile);
      if (after_first > 0) size = (after_first - 1) % loop->tile + 1;
    }
    const std::int64_t last = range.minimum + range.size - 1;
    return {last - size + 1, last};
  }

  static bool is_state(const BoundEinsum& einsum, std::size_t tensor) {
    for (const BoundAccess& access : einsum.held)
      if (static_cast<std::size_t>(access.tensor) == tensor)
        for (const BoundIndex& index : access.index)
          if (index.slack + index.others > 0) return true;
    return false;
  }

  const BoundProblem& problem_;
  const FlatTree& tree_;
  ViolationReport& report_;
};

}  // namespace

void check_sharing(const BoundProblem& problem, const FlatTree& tree, ViolationReport& report) {
  SharingChecker checker(problem, tree, report);
  for (std::size_t t = 0; t < problem.workload.tensors.size(); ++t)
    if (problem.roles.is_shared(TensorId(t)) || problem.roles.is_intermediate(TensorId(t)))
      checker.check(TensorId(t));
}

}  // namespace sluice
