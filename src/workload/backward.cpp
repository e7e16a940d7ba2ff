#include "sluice/workload/backward.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "workload/backward_mistakes.h"
#include "workload/gradient_writer.h"
#include "workload/optimizer_steps.h"
#include "workload/recurrence_gradients.h"

namespace sluice {
namespace {

class Backward {
 public:
  Backward(const Workload& forward, const BackwardOptions& options)
      : forward_(forward), options_(options), writer_(forward) {}

  tl::expected<Workload, std::vector<BackwardMistake>> run() {
    find_wanted();
    find_recomputed();
    find_active();
    if (mistakes_.empty()) give_gradients_of_results();
    for (std::size_t e = forward_.einsums.size(); e-- > 0 && mistakes_.empty();) go_back_through(e);
    for (const TensorId tensor : wanted_) {
      if (!mistakes_.empty()) break;
      finish(tensor);
      if (writer_.gradient(tensor))
        update(tensor);
      else if (!options_.gradients_of.empty())
        fail(fmt::format("no result has a derivative by {}: it has no gradient", name_of(tensor)),
             {}, first_reader(tensor));
    }
    if (mistakes_.empty() && wanted_.empty()) fail("the workload has no input: nothing to train");
    if (!mistakes_.empty()) return tl::make_unexpected(std::move(mistakes_));
    return writer_.take();
  }

 private:
  // --- what is asked for ------------------------------------------------------------------------

  void fail(std::string message, std::string hint = {},
            std::optional<EinsumId> einsum = std::nullopt) {
    BackwardMistake mistake;
    mistake.diagnostic.message = std::move(message);
    mistake.diagnostic.hint = std::move(hint);
    mistake.einsum = einsum;
    mistakes_.push_back(std::move(mistake));
  }

  std::optional<EinsumId> first_reader(TensorId tensor) const {
    const std::vector<EinsumId>& readers = writer_.roles().consumers[tensor.index()];
    return readers.empty() ? std::nullopt : std::optional(readers.front());
  }

  const std::string& name_of(TensorId tensor) const { return forward_[tensor].name; }
  bool is_input(TensorId tensor) const { return !writer_.roles().is_made(tensor); }

  std::optional<TensorId> named(const std::string& name, const char* option) {
    if (const auto tensor = find_tensor(forward_, name)) return tensor;
    std::vector<std::string> names;
    for (const Tensor& tensor : forward_.tensors) names.push_back(tensor.name);
    const std::string near = nearest_name(name, names);
    fail(fmt::format("{}: there is no tensor {}", option, name),
         near.empty() ? "" : fmt::format("did you mean {}?", near));
    return std::nullopt;
  }

  void find_wanted() {
    for (const std::string& name : options_.gradients_of) {
      const auto tensor = named(name, "gradients of");
      if (!tensor) continue;
      if (is_input(*tensor))
        wanted_.push_back(*tensor);
      else
        fail(fmt::format("gradients of: {} is made by the workload, not one of its inputs", name),
             {}, writer_.roles().makers[tensor->index()].front());
    }
    if (!options_.gradients_of.empty()) return;
    std::optional<RankId> sample;  // of the input that is read first
    std::vector<TensorId> inputs = inputs_in_order();
    if (!inputs.empty() && !forward_[inputs.front()].ranks.empty())
      sample = forward_[inputs.front()].ranks.front();
    std::erase_if(inputs, [&](TensorId tensor) { return is_constant(tensor); });
    const auto differs = [&](TensorId tensor) {
      const std::vector<RankId>& ranks = forward_[tensor].ranks;
      return sample && std::find(ranks.begin(), ranks.end(), *sample) != ranks.end();
    };
    std::copy_if(inputs.begin(), inputs.end(), std::back_inserter(wanted_),
                 [&](TensorId tensor) { return !differs(tensor); });
    if (wanted_.empty()) wanted_ = std::move(inputs);
  }

  /// By a role of its name: tables that nobody learns.
  bool is_constant(TensorId tensor) const {
    return std::any_of(forward_.einsums.begin(), forward_.einsums.end(), [&](const Einsum& einsum) {
      return std::any_of(einsum.renames.begin(), einsum.renames.end(), [&](const Rename& role) {
        return role.name == "constant" &&
               std::find(role.tensors.begin(), role.tensors.end(), tensor) != role.tensors.end();
      });
    });
  }

  std::vector<TensorId> inputs_in_order() const {
    std::vector<TensorId> inputs;
    for (const Einsum& einsum : forward_.einsums)
      for (const TensorAccess& access : einsum.accesses)
        if (!access.is_output && is_input(access.tensor) &&
            std::find(inputs.begin(), inputs.end(), access.tensor) == inputs.end())
          inputs.push_back(access.tensor);
    return inputs;
  }

  void find_recomputed() {
    for (const std::string& name : options_.recompute) {
      if (name == "all") {
        for (std::size_t t = 0; t < forward_.tensors.size(); ++t)
          if (!is_input(TensorId(t))) writer_.recompute(TensorId(t));
      } else if (const auto tensor = named(name, "recompute")) {
        if (is_input(*tensor))
          fail(fmt::format("recompute: {} is an input: nothing makes it", name), {},
               first_reader(*tensor));
        else
          writer_.recompute(*tensor);
      }
    }
  }

  /// Tensors on a way from what is wanted to a result.
  void find_active() {
    std::vector<char> depends(forward_.tensors.size(), 0), leads(forward_.tensors.size(), 0);
    for (const TensorId tensor : wanted_) depends[tensor.index()] = 1;
    for (std::size_t t = 0; t < leads.size(); ++t) leads[t] = is_result(TensorId(t)) ? 1 : 0;
    // Once each, where nothing is read before it is made.
    const auto set = [](char from, char* to) { return from > *to ? (*to = from) != 0 : false; };
    for (bool changes = true; changes;) {
      changes = false;
      for (std::size_t i = 0; i < forward_.einsums.size(); ++i) {
        for (const TensorAccess& read : forward_.einsums[i].accesses)
          changes |= set(depends[read.tensor.index()], &depends[made_by(i).index()]);
        const std::size_t last = forward_.einsums.size() - 1 - i;
        for (const TensorAccess& read : forward_.einsums[last].accesses)
          changes |= set(leads[made_by(last).index()], &leads[read.tensor.index()]);
      }
    }
    for (std::size_t t = 0; t < depends.size(); ++t) depends[t] &= leads[t];
    writer_.set_active(std::move(depends));
  }

  TensorId made_by(std::size_t einsum) const { return forward_.einsums[einsum].output().tensor; }

  /// Made, and read by no one after it: at most by its own recurrence.
  bool is_result(TensorId tensor) const {
    const auto& makers = writer_.roles().makers[tensor.index()];
    const auto& consumers = writer_.roles().consumers[tensor.index()];
    return !makers.empty() && std::all_of(consumers.begin(), consumers.end(),
                                          [&](EinsumId reader) { return reader <= makers.back(); });
  }

  void give_gradients_of_results() {
    for (std::size_t t = 0; t < forward_.tensors.size(); ++t) {
      const TensorId tensor(t);
      if (!writer_.is_active(tensor) || !is_result(tensor)) continue;
      const std::string name = gradient_name(name_of(tensor));
      const bool is_state = !writer_.roles().consumers[t].empty();
      writer_.add_contribution(tensor,
                               writer_.add_tensor_like(tensor, is_state ? name + "_given" : name));
    }
  }

  // --- going back -------------------------------------------------------------------------------

  void finish(TensorId tensor) { writer_.finish(tensor, gradient_name(name_of(tensor))); }

  void go_back_through(std::size_t e) {
    const Einsum& einsum = forward_.einsums[e];
    const TensorId made = einsum.output().tensor;
    const RecurrenceCycle* cycle = cycle_of(writer_.cycles(), e);
    if (cycle != nullptr && e == cycle->last) {
      if (!is_any_active(*cycle)) return;
      if (auto refusal = walk_recurrence_back(&writer_, *cycle))
        return fail(std::move(refusal->why), {}, refusal->einsum);
    }
    if (!writer_.is_active(made)) return;
    if (cycle == nullptr && !writer_.gradient(made))  // of several makers the last one has
      finish(made);
    const std::optional<TensorId> gradient = writer_.gradient(made);
    if (!gradient) return;
    const auto by_access = GradientWriter::derivatives_of(
        einsum, GradientWriter::same_element(*gradient, einsum.output()));
    for (std::size_t a = 0; a + 1 < einsum.accesses.size(); ++a) {
      const TensorAccess& access = einsum.accesses[a];
      if (by_access[a] && writer_.is_active(access.tensor) && !is_made_in(cycle, access.tensor))
        writer_.contribute(einsum, access, *by_access[a]);
    }
  }

  bool is_made_in(const RecurrenceCycle* cycle, TensorId tensor) const {
    const std::vector<EinsumId>& makers = writer_.roles().makers[tensor.index()];
    return cycle != nullptr && !makers.empty() && cycle->has(makers.back().index());
  }

  bool is_any_active(const RecurrenceCycle& cycle) const {
    for (std::size_t e = cycle.first; e <= cycle.last; ++e)
      if (writer_.is_active(made_by(e))) return true;
    return false;
  }

  // --- the optimizer ----------------------------------------------------------------------------

  void update(TensorId tensor) {
    if (options_.optimizer == Optimizer::kNone) return;
    const auto [points, element] = writer_.elements_of(tensor);
    const ScalarTree gradient = GradientWriter::same_element(*writer_.gradient(tensor), element);
    const auto tensor_like = [&, element = element](const std::string& suffix) {
      TensorAccess access = element;
      access.tensor = writer_.add_tensor_like(tensor, name_of(tensor) + suffix);
      return access;
    };
    for (OptimizerStep& step :
         optimizer_steps(options_.optimizer, operand_of(element), gradient, tensor_like)) {
      const std::string name = writer_.name_of(step.output.tensor);
      writer_.add_einsum(name, std::move(step.output), std::move(step.value), points);
    }
  }

  const Workload& forward_;
  const BackwardOptions& options_;
  GradientWriter writer_;
  std::vector<BackwardMistake> mistakes_;
  std::vector<TensorId> wanted_;
};

}  // namespace

std::string gradient_name(const std::string& tensor) { return "grad_" + tensor; }

tl::expected<Workload, std::vector<BackwardMistake>> derive_backward_located(
    const Workload& forward, const BackwardOptions& options) {
  return Backward(forward, options).run();
}

Result<Workload> derive_backward(const Workload& forward, const BackwardOptions& options) {
  return derive_backward_located(forward, options)
      .map_error([](const std::vector<BackwardMistake>& mistakes) {
        Diagnostics diagnostics;
        for (const BackwardMistake& mistake : mistakes) diagnostics.push_back(mistake.diagnostic);
        return diagnostics;
      });
}

}  // namespace sluice
