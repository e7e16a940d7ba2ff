#include "frontend/workload/rank_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "frontend/workload/index_boxes.h"
#include "frontend/workload/iteration_space.h"
#include "frontend/workload/rank_names.h"
#include "sluice/support/error.h"

namespace sluice {
namespace {

/// Ranges of variables and sizes of ranks.
class RankSizes {
 public:
  RankSizes(ReadContext& context, const WorkloadSource& source, Workload& workload)
      : context_(context), source_(source), workload_(workload) {
    for (std::size_t i = 0; i < workload.rank_variables.size(); ++i)
      variable_ids_.emplace(workload.rank_variables[i].name, i);
  }

  void run(const std::vector<StateRank>& states) {
    const std::size_t before = context_.n_errors();
    declare_state_ranks(states);
    find_sizes_of_variables(states);
    for (const Rank& rank : workload_.ranks) declared_.push_back(rank.size > 0);
    pending_.resize(workload_.einsums.size(), true);
    boxes_.resize(workload_.einsums.size());
    index_bounds();
    roles_ = tensor_roles(workload_);
    // Einsums whose variables are bounded give sizes to further ranks, which bound further ones.
    for (bool progress = true; progress;) {
      progress = false;
      for (std::size_t i = 0; i < workload_.einsums.size(); ++i)
        if (pending_[i] && bound_variables(i)) progress = true;
    }
    report_unbounded();
    if (context_.n_errors() != before) return;
    derive_sizes();
    if (context_.n_errors() == before) check_written();
  }

 private:
  bool is_known(RankId rank) const { return workload_[rank].size > 0; }

  void error(const SourcePlace& place, std::string message, std::string hint = {}) {
    context_.error_inside(*place.node, place.offset, std::move(message), std::move(hint));
  }

  /// i takes N steps through N+1 slices.
  void declare_state_ranks(const std::vector<StateRank>& states) {
    for (const StateRank& state : states) {
      Rank& slices = workload_.ranks[state.slices.index()];
      if (slices.size == 0 && is_known(state.steps))
        slices.size = workload_[state.steps].size + state.shift;
    }
  }

  /// Declared ranks that no tensor has: `A: 2` in `T[P:2*p+a]` is the size of the variable a.
  void find_sizes_of_variables(const std::vector<StateRank>& states) {
    std::vector<bool> used(workload_.ranks.size());
    for (const Tensor& tensor : workload_.tensors)
      for (const RankId rank : tensor.ranks) used[rank.index()] = true;
    for (const StateRank& state : states) used[state.steps.index()] = true;
    size_of_.resize(workload_.rank_variables.size());
    std::unordered_map<std::string, std::vector<std::size_t>> variables;  // by upper-case name
    for (std::size_t v = 0; v < size_of_.size(); ++v)
      variables[upper_case(workload_.rank_variables[v].name)].push_back(v);
    for (const RankSizeSource& declared : source_.rank_sizes) {
      const auto rank = static_cast<std::size_t>(&declared - source_.rank_sizes.data());
      if (used[rank]) continue;
      const auto named = variables.find(upper_case(declared.name));
      if (named == variables.end())
        warn_of_idle_size(declared, used);
      else
        for (std::size_t v : named->second) size_of_[v] = RankId(rank);
    }
  }

  void warn_of_idle_size(const RankSizeSource& declared, const std::vector<bool>& used) {
    std::vector<std::string> without_size;
    for (std::size_t r = 0; r < used.size(); ++r)
      if (used[r] && workload_.ranks[r].size == 0) without_size.push_back(workload_.ranks[r].name);
    context_.warning(*declared.place,
                     fmt::format("no tensor has a rank {}, and no index a variable '{}': its size "
                                 "bounds nothing",
                                 declared.name, lower_case(declared.name)),
                     did_you_mean(declared.name, without_size));
  }

  AffineExpression affine(const IndexText& text) const {
    AffineExpression result;
    result.constant = text.constant;
    for (const auto& [name, coefficient] : text.terms)
      result.terms.push_back({RankVariableId(variable_ids_.at(name)), coefficient});
    return result;
  }

  /// The bounds of the whole workload, by their first variable.
  void index_bounds() {
    bounds_of_.resize(workload_.rank_variables.size());
    for (std::size_t i = 0; i < source_.bounds.size(); ++i) {
      bounds_.push_back(affine(source_.bounds[i].bound.expression));
      if (!bounds_[i].terms.empty()) bounds_of_[bounds_[i].terms[0].variable.index()].push_back(i);
    }
  }

  /// The constraints that one Einsum's variables obey; derived sizes only where nothing else helps,
  /// since other Einsums may still enlarge them.
  std::vector<AffineExpression> constraints(std::size_t index, bool with_derived_sizes) {
    const Einsum& einsum = workload_.einsums[index];
    std::vector<AffineExpression> result;
    const auto add = [&](const AffineExpression& bound) {
      const bool applies =
          std::all_of(bound.terms.begin(), bound.terms.end(),
                      [&](const AffineTerm& t) { return uses_variable(einsum, t.variable); });
      if (applies) result.push_back(bound);
    };
    for (const VariableRange& range : einsum.iteration_space)
      for (const std::size_t bound : bounds_of_[range.variable.index()]) add(bounds_[bound]);
    for (const VariableRange& range : einsum.iteration_space)
      if (const auto rank = size_of_[range.variable.index()]) {
        const AffineExpression variable{{{range.variable, 1}}, 0};
        result.push_back(variable);
        result.push_back(below(variable, workload_[*rank].size));
      }
    for (const BoundSource& bound : source_.einsums[index].bounds)
      add(affine(bound.bound.expression));
    for (const TensorAccess& access : einsum.accesses) {
      for (std::size_t i = 0; i < access.projection.size(); ++i) {
        result.push_back(access.projection[i]);
        const RankId rank = workload_[access.tensor].ranks[i];
        // Of a tensor in parts, this one may be the last.
        const bool derives = with_derived_sizes &&
                             !(makes_a_part(access) && !access.projection[i].is_plain_variable());
        if (is_known(rank) && (declared_[rank.index()] || derives))
          result.push_back(below(access.projection[i], workload_[rank].size));
      }
    }
    return result;
  }

  bool makes_a_part(const TensorAccess& access) const {
    return access.is_output && roles_.has_several_makers(access.tensor);
  }

  /// size - 1 - index >= 0
  static AffineExpression below(AffineExpression index, std::int64_t size) {
    for (AffineTerm& term : index.terms) term.coefficient = -term.coefficient;
    index.constant = size - 1 - index.constant;
    return index;
  }

  /// True where every variable of the Einsum got its range.
  bool bound_variables(std::size_t index) {
    for (const bool with_derived_sizes : {false, true}) {
      const std::vector<AffineExpression> bounds = constraints(index, with_derived_sizes);
      if (!tighten_box(index, bounds)) return false;
      if (!store_ranges(index)) continue;
      pending_[index] = false;
      warn_of_guesses(index, bounds);
      check_bounds(index);
      note_extents(index);
      return true;
    }
    return false;
  }

  /// False, with a report, where some variable is left without a value.
  bool tighten_box(std::size_t index, const std::vector<AffineExpression>& bounds) {
    const Einsum& einsum = workload_.einsums[index];
    Box& box = boxes_[index] = {};
    for (const VariableRange& range : einsum.iteration_space) box.add(range.variable);
    const auto empty = tighten(bounds, box);
    if (!empty) return true;
    pending_[index] = false;
    error({source_.einsums[index].place, 0},
          fmt::format("the bounds of variable '{}' in the Einsum {} leave it no value",
                      workload_[*empty].name, einsum.name),
          "ranks and iteration_space_shape contradict each other");
    return false;
  }

  bool store_ranges(std::size_t index) {
    for (VariableRange& range : workload_.einsums[index].iteration_space) {
      const Interval& interval = boxes_[index][range.variable];
      if (!interval.is_bounded()) return false;
      range.minimum = *interval.low;
      range.size = *interval.high - *interval.low + 1;
    }
    return true;
  }

  /// Variables that no bound ends but that of a sum with others: as wide as the others at their
  /// least leave them, which is seldom what was meant. Of each variable once.
  void warn_of_guesses(std::size_t index, const std::vector<AffineExpression>& bounds) {
    is_guess_.resize(workload_.rank_variables.size());
    std::vector<char> has_end(workload_.rank_variables.size());
    for (const AffineExpression& bound : bounds)
      if (bound.terms.size() == 1 && bound.terms[0].coefficient < 0)
        has_end[bound.terms[0].variable.index()] = 1;
    for (const VariableRange& range : workload_.einsums[index].iteration_space) {
      if (has_end[range.variable.index()] != 0 || is_guess_[range.variable.index()] != 0) continue;
      is_guess_[range.variable.index()] = 1;
      const std::string& name = workload_[range.variable].name;
      context_.warning(
          *source_.einsums[index].place,
          fmt::format("variable '{}' of the Einsum {} has no bound of its own: it takes all {} "
                      "values that the size of a sum leaves it",
                      name, workload_.einsums[index].name, range.size),
          how_to_bound(name));
    }
  }

  static std::string how_to_bound(const std::string& name) {
    return fmt::format(
        "give a size in 'rank_sizes: {{{}: ...}}', or 'iteration_space_shape: {{{}: 0 <= {} < "
        "...}}'",
        upper_case(name), name, name);
  }

  /// First sizes of ranks that nobody declared, for Einsums that have no other bounds.
  void note_extents(std::size_t index) {
    for (const TensorAccess& access : workload_.einsums[index].accesses) {
      for (std::size_t i = 0; i < access.projection.size(); ++i) {
        Rank& rank = workload_.ranks[workload_[access.tensor].ranks[i].index()];
        const auto extent = extent_of(access.projection[i], boxes_[index]);
        const RankId id = workload_[access.tensor].ranks[i];
        if (!declared_[id.index()] && extent) rank.size = std::max(rank.size, extent->high + 1);
      }
    }
  }

  /// A written bound that a declared rank cuts short contradicts it.
  void check_bounds(std::size_t index) {
    const auto check = [&](const BoundSource& bound) {
      const AffineExpression expression = affine(bound.bound.expression);
      if (expression.terms.size() != 1 || expression.terms[0].coefficient != -1) return;
      const RankVariableId variable = expression.terms[0].variable;
      if (!uses_variable(workload_.einsums[index], variable)) return;
      if (const auto rank = rank_shorter_than(index, variable, expression.constant))
        error({bound.place, 0}, fmt::format("'{}' may reach {} here, but the rank {} has size {}",
                                            workload_[variable].name, expression.constant,
                                            workload_[*rank].name, workload_[*rank].size));
    };
    for (const VariableRange& range : workload_.einsums[index].iteration_space)
      for (const std::size_t bound : bounds_of_[range.variable.index()])
        check(source_.bounds[bound]);
    for (const BoundSource& bound : source_.einsums[index].bounds) check(bound);
  }

  /// A declared rank that the variable walks alone and that ends before `last`.
  std::optional<RankId> rank_shorter_than(std::size_t index, RankVariableId variable,
                                          std::int64_t last) const {
    if (const auto own = size_of_[variable.index()]; own && workload_[*own].size - 1 < last)
      return own;
    for (const TensorAccess& access : workload_.einsums[index].accesses) {
      for (std::size_t i = 0; i < access.projection.size(); ++i) {
        const RankId rank = workload_[access.tensor].ranks[i];
        if (access.projection[i].is_plain_variable() &&
            access.projection[i].terms[0].variable == variable && declared_[rank.index()] &&
            workload_[rank].size - 1 < last)
          return rank;
      }
    }
    return std::nullopt;
  }

  /// Extents of the ranks whose sizes nobody declared. Contradictions are reported.
  void derive_sizes() {
    std::vector<Derived> derived(workload_.ranks.size());
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
      for (std::size_t a = 0; a < workload_.einsums[e].accesses.size(); ++a)
        derive_from_access(e, a, derived);
    }
    for (std::size_t i = 0; i < derived.size(); ++i) {
      if (declared_[i] || !derived[i].place.node) continue;
      workload_.ranks[i].size = std::max(derived[i].size, derived[i].plain_size);
      check_derived(i, derived[i]);
    }
    for (const Rank& rank : workload_.ranks)
      SLUICE_CHECK(rank.size > 0, "the rank " + rank.name + " has no size");
  }

  struct Derived {
    std::int64_t size = 0;        ///< by index expressions
    std::int64_t plain_size = 0;  ///< by plain variables
    SourcePlace place;
    SourcePlace conflict;
    std::int64_t conflicting_size = 0;
  };

  void derive_from_access(std::size_t e, std::size_t a, std::vector<Derived>& derived) {
    const TensorAccess& access = workload_.einsums[e].accesses[a];
    const SourcePlace place = source_.einsums[e].accesses[a].place;
    for (std::size_t i = 0; i < access.projection.size(); ++i) {
      const auto extent = extent_of(access.projection[i], boxes_[e]);
      if (!extent) continue;
      Derived& rank = derived[workload_[access.tensor].ranks[i].index()];
      const std::int64_t size = std::max<std::int64_t>(extent->high + 1, 1);
      if (rank.place.node == nullptr) rank.place = place;
      if (!access.projection[i].is_plain_variable() || makes_a_part(access)) {
        rank.size = std::max(rank.size, size);
        continue;
      }
      if (rank.plain_size != 0 && rank.plain_size != size && rank.conflict.node == nullptr) {
        rank.conflict = place;
        rank.conflicting_size = size;
      }
      rank.plain_size = std::max(rank.plain_size, size);
    }
  }

  void check_derived(std::size_t index, const Derived& rank) {
    const std::string& name = workload_.ranks[index].name;
    if (rank.conflict.node != nullptr)
      error(rank.conflict,
            fmt::format("rank {} has size {} here, but another size elsewhere", name,
                        rank.conflicting_size),
            fmt::format("declare it: 'rank_sizes: {{{}: ...}}'", name));
  }

  /// Of each variable once.
  void report_unbounded() {
    std::vector<bool> is_reported(workload_.rank_variables.size());
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e) {
      if (!pending_[e]) continue;
      for (const VariableRange& range : workload_.einsums[e].iteration_space) {
        if (boxes_[e][range.variable].is_bounded() || is_reported[range.variable.index()]) continue;
        is_reported[range.variable.index()] = true;
        const std::string& name = workload_[range.variable].name;
        error({source_.einsums[e].place, 0},
              fmt::format("variable '{}' of the Einsum {} has no bounds", name,
                          workload_.einsums[e].name),
              how_to_bound(name));
      }
    }
  }

  // --- what is read must have been written ------------------------------------------------------

  void check_written() {
    for (std::size_t t = 0; t < workload_.tensors.size(); ++t) {
      const std::optional<EinsumId> maker = roles_.sole_maker(TensorId(t));
      if (roles_.has_several_makers(TensorId(t))) check_parts(TensorId(t));
      if (maker && roles_.consumers[t].empty()) warn_of_missing_values(*maker);
      for (const EinsumId reader : roles_.consumers[t])
        for (std::size_t a = 0; maker && a < workload_[reader].accesses.size(); ++a)
          if (const TensorAccess& access = workload_[reader].accesses[a];
              access.tensor == TensorId(t) && !access.is_output)
            check_read(reader, a, *maker);
    }
  }

  /// Of an output that ends before its rank does, as something that its maker reads is shorter.
  void warn_of_missing_values(EinsumId maker) {
    const Einsum& einsum = workload_[maker];
    const TensorAccess& output = einsum.output();
    for (std::size_t i = 0; i < output.projection.size(); ++i) {
      const Rank& rank = workload_[workload_[output.tensor].ranks[i]];
      const AffineExpression& index = output.projection[i];
      if (!index.is_plain_variable() || !declared_[workload_[output.tensor].ranks[i].index()])
        continue;
      const RankVariableId variable = index.terms[0].variable;
      const Interval& taken = boxes_[maker.index()][variable];
      if (*taken.high + 1 >= rank.size) continue;
      for (std::size_t a = 0; a < einsum.accesses.size(); ++a)
        if (const auto shorter = rank_in_the_way(maker, einsum.accesses[a], variable)) {
          context_.warning(
              *source_.einsums[maker.index()].accesses[a].place.node,
              fmt::format(
                  "{} has size {} along {}, of which only {} to {} are computed: the rank {} "
                  "of {} has size {}",
                  workload_[output.tensor].name, rank.size, rank.name, *taken.low, *taken.high,
                  workload_[*shorter].name, workload_[einsum.accesses[a].tensor].name,
                  workload_[*shorter].size),
              fmt::format("give {} the size {}, or make {} longer", rank.name, *taken.high + 1,
                          workload_[*shorter].name));
          break;
        }
    }
  }

  /// A declared rank of an access that one more value of the variable would leave.
  std::optional<RankId> rank_in_the_way(EinsumId einsum, const TensorAccess& access,
                                        RankVariableId variable) const {
    if (access.is_output) return std::nullopt;
    for (std::size_t i = 0; i < access.projection.size(); ++i) {
      const RankId rank = workload_[access.tensor].ranks[i];
      const auto extent = extent_of(access.projection[i], boxes_[einsum.index()]);
      for (const AffineTerm& term : access.projection[i].terms)
        if (term.variable == variable && declared_[rank.index()] && extent &&
            (term.coefficient > 0 ? extent->high + term.coefficient >= workload_[rank].size
                                  : extent->low + term.coefficient < 0))
          return rank;
    }
    return std::nullopt;
  }

  /// What several Einsums make: no value twice, and all that somebody reads.
  void check_parts(TensorId tensor) {
    const std::vector<EinsumId>& makers = roles_.makers[tensor.index()];
    std::vector<IndexBox> parts;
    for (const EinsumId maker : makers)
      parts.push_back(box_of(maker, workload_[maker].accesses.size() - 1));
    for (std::size_t b = 1; b < parts.size(); ++b)
      for (std::size_t a = 0; a < b; ++a)
        if (const IndexBox both = intersection(parts[a], parts[b]); !is_empty(both))
          return error(source_.einsums[makers[b].index()].accesses.back().place,
                       fmt::format("the Einsums {} and {} both make {} of {}",
                                   workload_[makers[a]].name, workload_[makers[b]].name,
                                   box_text(tensor, both), workload_[tensor].name),
                       "Einsums that write one tensor make disjoint boxes of it");
    if (has_initial_value(workload_[tensor].name)) return;
    for (const EinsumId reader : roles_.consumers[tensor.index()])
      for (std::size_t a = 0; a + 1 < workload_[reader].accesses.size(); ++a)
        if (workload_[reader].accesses[a].tensor == tensor)
          if (const auto gap = left_over(box_of(reader, a), parts))
            return error(
                source_.einsums[reader.index()].accesses[a].place,
                fmt::format("{} reads {} of {}, which no Einsum makes", workload_[reader].name,
                            box_text(tensor, *gap), workload_[tensor].name));
  }

  /// What an access touches of its tensor; padding apart.
  IndexBox box_of(EinsumId einsum, std::size_t access) const {
    const TensorAccess& of = workload_[einsum].accesses[access];
    IndexBox box;
    for (std::size_t r = 0; r < of.projection.size(); ++r) {
      const auto extent = extent_of(of.projection[r], boxes_[einsum.index()]);
      const std::int64_t size = workload_[workload_[of.tensor].ranks[r]].size;
      box.push_back({std::max<std::int64_t>(extent->low, 0), std::min(extent->high, size - 1)});
    }
    return box;
  }

  /// `K 64 to 95`, for all ranks of the box that are not whole.
  std::string box_text(TensorId tensor, const IndexBox& box) const {
    std::vector<std::string> ranges;
    for (std::size_t r = 0; r < box.size(); ++r)
      if (const Rank& rank = workload_[workload_[tensor].ranks[r]];
          box[r].high - box[r].low + 1 < rank.size)
        ranges.push_back(box[r].low == box[r].high
                             ? fmt::format("{} {}", rank.name, box[r].low)
                             : fmt::format("{} {} to {}", rank.name, box[r].low, box[r].high));
    return ranges.empty() ? "all" : fmt::format("{}", fmt::join(ranges, ", "));
  }

  void check_read(EinsumId reader, std::size_t a, EinsumId writer) {
    const TensorAccess& read = workload_[reader].accesses[a];
    const TensorAccess& written = workload_[writer].output();
    const Tensor& tensor = workload_[read.tensor];
    for (std::size_t i = 0; i < read.projection.size(); ++i) {
      const auto reads = extent_of(read.projection[i], boxes_[reader.index()]);
      const auto writes = extent_of(written.projection[i], boxes_[writer.index()]);
      if (!reads || !writes) continue;
      const Rank& rank = workload_[tensor.ranks[i]];
      const std::int64_t low = std::max<std::int64_t>(reads->low, 0);
      const std::int64_t high = std::min(reads->high, rank.size - 1);
      const bool is_state = written.projection[i].terms.size() == 1 &&
                            written.projection[i].constant > 0 &&
                            is_read_until(read.tensor, writer);
      const bool has_initial = has_initial_value(tensor.name);
      if (low > high || (has_initial && !is_state) ||
          ((low >= writes->low || has_initial) && high <= writes->high))
        continue;
      const SourcePlace place = source_.einsums[reader.index()].accesses[a].place;
      if (low < writes->low && is_state)
        error(place, fmt::format("{} is read before it is first written", tensor.name),
              fmt::format("say what it starts with: 'initial: {{{}: 0}}'", tensor.name));
      else
        error(place, fmt::format("{} reads {} at indices {} to {} of rank {}, of which {} writes "
                                 "only {} to {}",
                                 workload_[reader].name, tensor.name, low, high, rank.name,
                                 workload_[writer].name, writes->low, writes->high));
    }
  }

  /// In a recurrence somebody reads the state before it is written again; what only others read
  /// afterwards has a border.
  bool is_read_until(TensorId tensor, EinsumId writer) const {
    const std::vector<EinsumId>& readers = roles_.consumers[tensor.index()];
    return std::any_of(readers.begin(), readers.end(),
                       [&](EinsumId reader) { return reader.index() <= writer.index(); });
  }

  bool has_initial_value(const std::string& tensor) const {
    return std::any_of(source_.initial.begin(), source_.initial.end(),
                       [&](const InitialSource& i) { return i.tensor == tensor; });
  }

  ReadContext& context_;
  const WorkloadSource& source_;
  Workload& workload_;
  std::unordered_map<std::string, std::size_t> variable_ids_;
  std::vector<bool> pending_;
  std::vector<bool> declared_;                       ///< by RankId
  std::vector<std::optional<RankId>> size_of_;       ///< by RankVariableId: of a rank of its name
  std::vector<char> is_guess_;                       ///< by RankVariableId: reported as one
  std::vector<AffineExpression> bounds_;             ///< as WorkloadSource::bounds
  std::vector<std::vector<std::size_t>> bounds_of_;  ///< by RankVariableId: into bounds_
  std::vector<Box> boxes_;                           ///< by EinsumId
  TensorRoles roles_;
};

}  // namespace

void derive_rank_sizes(ReadContext& context, const WorkloadSource& source,
                       const std::vector<StateRank>& states, Workload& workload) {
  RankSizes(context, source, workload).run(states);
}

}  // namespace sluice
