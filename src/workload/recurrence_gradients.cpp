#include "workload/recurrence_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sluice/workload/backward.h"

namespace sluice {
namespace {

/// A tensor that a recurrence makes: the axis of its slices, and the slice that step 0 writes.
struct CycleTensor {
  std::size_t axis = 0;
  std::int64_t shift = 0;
};

/// An operand that an Einsum of the recurrence reads from it, and what is passed back to it.
struct Passed {
  std::size_t einsum = 0, access = 0;
  TensorId to;
  TensorId tensor;
};

/// The same index at the step that is as far from the last one.
AffineExpression reversed(AffineExpression index, RankVariableId steps, std::int64_t n_steps) {
  for (AffineTerm& term : index.terms) {
    if (term.variable != steps) continue;
    index.constant += term.coefficient * (n_steps - 1);
    term.coefficient = -term.coefficient;
  }
  return index;
}

class RecurrenceWalk {
 public:
  RecurrenceWalk(GradientWriter* writer, const RecurrenceCycle& cycle)
      : writer_(*writer),
        forward_(writer->forward()),
        cycle_(cycle),
        tensors_(forward_.tensors.size()),
        given_(forward_.tensors.size()),
        steps_(cycle.last - cycle.first + 1) {}

  std::optional<RecurrenceRefusal> run() {
    find_states();
    while (!refusal_ && follow_steps()) continue;
    if (!refusal_) check_steps();
    if (refusal_) return refusal_;
    for (std::size_t e = cycle_.first; e <= cycle_.last; ++e) {
      const TensorId made = made_by(e);
      writer_.finish(made, gradient_name(writer_.name_of(made)) + "_given");  // by other readers
      given_[made.index()] = std::exchange(writer_.gradient(made), std::nullopt);
    }
    find_passed();
    for (std::size_t e = cycle_.last + 1; e-- > cycle_.first;) pass_back(e);
    for (std::size_t e = cycle_.last + 1; e-- > cycle_.first;) add_up(made_by(e));
    return std::nullopt;
  }

 private:
  TensorId made_by(std::size_t e) const { return forward_.einsums[e].output().tensor; }
  std::optional<CycleTensor>& of(TensorId tensor) { return tensors_[tensor.index()]; }
  std::optional<RankVariableId>& step_of(std::size_t e) { return steps_[e - cycle_.first]; }
  std::int64_t n_steps() {
    return variable_size(forward_.einsums[cycle_.last], *step_of(cycle_.last));
  }

  /// `e`: the Einsum of which that holds.
  void fail(std::size_t e, TensorId tensor, const std::string& what) {
    if (!refusal_)
      refusal_ = {fmt::format("{} is a state {}: its recurrence has no backward pass yet",
                              writer_.name_of(tensor), what),
                  EinsumId(e)};
  }

  // --- what goes from step to step --------------------------------------------------------------

  /// `T[i+1]` written, `T[i]` read by an Einsum before, or by the same.
  void find_states() {
    for (std::size_t e = cycle_.first; e <= cycle_.last; ++e)
      for (std::size_t reader = cycle_.first; reader <= e; ++reader)
        for (const TensorAccess& read : forward_.einsums[reader].accesses)
          if (!read.is_output && read.tensor == made_by(e)) find_state(e, reader, read);
  }

  void find_state(std::size_t maker, std::size_t reader, const TensorAccess& read) {
    const TensorAccess& written = forward_.einsums[maker].output();
    for (std::size_t r = 0; r < read.projection.size(); ++r) {
      const AffineExpression &to = written.projection[r], &from = read.projection[r];
      if (!to.goes_one_by_one() || !from.goes_one_by_one() || to.constant <= from.constant)
        continue;
      set_axis(maker, {r, to.constant});
      set_step(maker, to.terms[0].variable);
      set_step(reader, from.terms[0].variable);
      return;
    }
    fail(reader, written.tensor,
         fmt::format("that {} does not read slice by slice", forward_.einsums[reader].name));
  }

  /// Of what the Einsum makes.
  void set_axis(std::size_t e, CycleTensor found) {
    const TensorId tensor = made_by(e);
    if (of(tensor) && (of(tensor)->axis != found.axis || of(tensor)->shift != found.shift))
      fail(e, tensor, "along several ranks");
    of(tensor) = found;
  }

  void set_step(std::size_t e, RankVariableId variable) {
    if (step_of(e) && *step_of(e) != variable)
      fail(e, made_by(e),
           fmt::format("whose steps are several variables of {}", forward_.einsums[e].name));
    step_of(e) = variable;
  }

  /// From Einsums to what they make, and from that to who reads it. True if something was found.
  bool follow_steps() {
    bool found = false;
    for (std::size_t e = cycle_.first; e <= cycle_.last && !refusal_; ++e) {
      for (const TensorAccess& access : forward_.einsums[e].accesses) {
        if (step_of(e) || !of(access.tensor)) continue;
        const AffineExpression& index = access.projection[of(access.tensor)->axis];
        if (!index.goes_one_by_one()) continue;
        set_step(e, index.terms[0].variable);
        found = true;
      }
      if (!step_of(e) || of(made_by(e))) continue;
      const TensorAccess& output = forward_.einsums[e].output();
      for (std::size_t r = 0; r < output.projection.size() && !of(made_by(e)); ++r)
        if (output.projection[r].goes_one_by_one() &&
            output.projection[r].terms[0].variable == *step_of(e)) {
          set_axis(e, {r, output.projection[r].constant});
          found = true;
        }
    }
    return found;
  }

  /// Each Einsum takes the same steps, of which each reads slices of this one or of the one before.
  void check_steps() {
    for (std::size_t e = cycle_.first; e <= cycle_.last; ++e) {
      const Einsum& einsum = forward_.einsums[e];
      if (!step_of(e) || !of(made_by(e)) || writer_.roles().has_several_makers(made_by(e)))
        return fail(e, made_by(e), "that has no steps");
      for (const VariableRange& range : einsum.iteration_space)
        if (range.variable == *step_of(e) && (range.minimum != 0 || range.size != n_steps()))
          fail(e, made_by(e), "of other steps than the rest of its recurrence");
      for (const TensorAccess& access : einsum.accesses) {
        if (!of(access.tensor)) continue;
        const CycleTensor& tensor = *of(access.tensor);
        const AffineExpression& index = access.projection[tensor.axis];
        const std::int64_t size = forward_[forward_[access.tensor].ranks[tensor.axis]].size;
        const std::int64_t back = tensor.shift - index.constant;
        if (!index.goes_one_by_one() || index.terms[0].variable != *step_of(e) || back < 0 ||
            back > 1 || tensor.shift > 1 || size != n_steps() + tensor.shift)
          fail(e, access.tensor,
               fmt::format("that {} does not read as T[i] or T[i+1] to make T[i+1]", einsum.name));
      }
    }
  }

  // --- what is passed back ----------------------------------------------------------------------

  /// Of each operand from the recurrence that has a derivative, where what its Einsum makes
  /// matters.
  void find_passed() {
    std::vector<char> matters(forward_.tensors.size(), 0);
    for (std::size_t t = 0; t < matters.size(); ++t) matters[t] = given_[t] ? 1 : 0;
    std::vector<char> done(steps_.size(), 0);
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t e = cycle_.last + 1; e-- > cycle_.first;) {
        if (done[e - cycle_.first] != 0 || matters[made_by(e).index()] == 0) continue;
        done[e - cycle_.first] = 1;
        changes = true;
        add_passed(e, &matters);
      }
    }
  }

  void add_passed(std::size_t e, std::vector<char>* matters) {
    const Einsum& einsum = forward_.einsums[e];
    const auto by_access = GradientWriter::derivatives_of(einsum, operand_of(einsum.output()));
    for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a) {
      const TensorId to = einsum.accesses[a].tensor;
      if (!by_access[a] || !of(to) || !writer_.is_active(to)) continue;
      const TensorId passed =
          writer_.add_tensor_like(to, gradient_name(writer_.name_of(to)) + "_passed");
      if (of(to)->shift > 0) writer_.start_with(passed, 0);
      passed_.push_back({e, a, to, passed});
      (*matters)[to.index()] = 1;
    }
  }

  TensorAccess slot_of(const TensorAccess& access, TensorId passed) {
    const CycleTensor& of_tensor = *of(access.tensor);
    TensorAccess slot = access;
    slot.tensor = passed;
    AffineExpression& slice = slot.projection[of_tensor.axis];
    for (AffineTerm& term : slice.terms) term.coefficient = -term.coefficient;
    slice.constant = n_steps() - 1 + of_tensor.shift - slice.constant;
    return slot;
  }

  /// The gradient of an element, as far as anything reads it.
  std::optional<ScalarTree> gradient_of(const TensorAccess& access) {
    std::optional<ScalarTree> sum;
    const auto add = [&](ScalarTree tree) {
      sum = sum ? sum_of(std::move(*sum), std::move(tree)) : std::move(tree);
    };
    for (const Passed& passed : passed_)
      if (passed.to == access.tensor) add(operand_of(slot_of(access, passed.tensor)));
    if (const auto& given = given_[access.tensor.index()])
      add(GradientWriter::same_element(*given, access));
    return sum;
  }

  void pass_back(std::size_t e) {
    const Einsum& einsum = forward_.einsums[e];
    const auto upstream = gradient_of(einsum.output());
    if (!upstream) return;
    const auto by_access = GradientWriter::derivatives_of(einsum, *upstream);
    const auto reverse = [&](TensorAccess* access) {
      for (AffineExpression& index : access->projection)
        index = reversed(index, *step_of(e), n_steps());
    };
    for (const Passed& passed : passed_) {
      if (passed.einsum != e) continue;
      ScalarTree tree = *by_access[passed.access];
      TensorAccess slot = slot_of(einsum.accesses[passed.access], passed.tensor);
      for_each_operand(&tree, reverse);
      reverse(&slot);
      writer_.add_einsum(writer_.name_of(passed.tensor), std::move(slot), std::move(tree), einsum,
                         passed.to);
    }
  }

  void add_up(TensorId tensor) {
    const bool is_passed = std::any_of(passed_.begin(), passed_.end(),
                                       [&](const Passed& p) { return p.to == tensor; });
    if (!is_passed) {
      writer_.gradient(tensor) = given_[tensor.index()];
      return;
    }
    const TensorAccess element = writer_.elements_of(tensor).second;
    writer_.gradient(tensor) = writer_.add_elementwise(
        tensor, gradient_name(writer_.name_of(tensor)), *gradient_of(element));
  }

  GradientWriter& writer_;
  const Workload& forward_;
  const RecurrenceCycle cycle_;
  std::vector<std::optional<CycleTensor>> tensors_;   ///< per forward tensor
  std::vector<std::optional<TensorId>> given_;        ///< the same: by readers outside
  std::vector<std::optional<RankVariableId>> steps_;  ///< per Einsum of the recurrence
  std::vector<Passed> passed_;
  std::optional<RecurrenceRefusal> refusal_;
};

}  // namespace

std::optional<RecurrenceRefusal> walk_recurrence_back(GradientWriter* writer,
                                                      const RecurrenceCycle& cycle) {
  return RecurrenceWalk(writer, cycle).run();
}

}  // namespace sluice
