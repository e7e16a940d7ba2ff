#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "sluice/workload/workload.h"
#include "workload/recurrence_cycles.h"
#include "workload/scalar_tree.h"

namespace sluice {

/// A training step that is being written: the forward workload, and what is added to it.
class GradientWriter {
 public:
  explicit GradientWriter(const Workload& forward);

  const Workload& forward() const { return forward_; }
  const TensorRoles& roles() const { return roles_; }
  const std::vector<RecurrenceCycle>& cycles() const { return cycles_; }
  const std::string& name_of(TensorId tensor) const { return result_[tensor].name; }
  /// The whole step; new tensors in the order in which its Einsums name them, as a reader has them.
  Workload take();

  /// Tensors that are made again before something reads them.
  void recompute(TensorId tensor) { recomputed_[tensor.index()] = 1; }
  /// Tensors on a way from what is wanted to a result; others get no gradient.
  void set_active(std::vector<char> active);
  bool is_active(TensorId tensor) const { return active_[tensor.index()] != 0; }

  /// A tensor with the ranks of a forward one; `name`, or numbered where that is taken.
  TensorId add_tensor_like(TensorId of, const std::string& name);
  void start_with(TensorId tensor, double value) {
    result_.tensors[tensor.index()].initial = value;
  }
  /// The same element of another tensor, as an operand.
  static ScalarTree same_element(TensorId tensor, TensorAccess access);
  /// Adds an Einsum over (part of) the points of a forward one; `gradient_of`: the operand of that
  /// one whose gradient it makes. `name`: a copy, as it may be that of a tensor, and tensors are
  /// added meanwhile.
  void add_einsum(std::string name, TensorAccess output, ScalarTree tree, const Einsum& like,
                  std::optional<TensorId> gradient_of = std::nullopt);
  /// A tensor like another one, element by element.
  TensorId add_elementwise(TensorId like, const std::string& name, ScalarTree value);
  /// One point for every element of a tensor, and how it is reached.
  std::pair<Einsum, TensorAccess> elements_of(TensorId tensor);

  /// What an Einsum passes back to each of its accesses, by the gradient of what it makes.
  static std::vector<std::optional<ScalarTree>> derivatives_of(const Einsum& einsum,
                                                               ScalarTree upstream);

  /// What is passed back to a tensor, as a part of its gradient.
  void add_contribution(TensorId to, TensorId part) { contributions_[to.index()].push_back(part); }
  /// The same as an Einsum of its own. Elements that it does not reach get 0.
  void contribute(const Einsum& einsum, const TensorAccess& access, const ScalarTree& tree);
  /// Adds up what came from all readers, if anything did: the tensor's gradient.
  void finish(TensorId tensor, const std::string& name);
  std::optional<TensorId>& gradient(TensorId tensor) { return gradients_[tensor.index()]; }

 private:
  std::string free_name(const std::string& wanted);
  void add_renames(const Einsum& like, std::optional<TensorId> gradient_of, Einsum* einsum) const;
  std::vector<TensorId> weights_of(const Einsum& einsum, const Einsum& like,
                                   std::optional<TensorId> gradient_of) const;
  std::vector<Rename> renames_without_tensors() const;
  RankVariableId variable_named(const std::string& name);
  TensorId at_hand(TensorId tensor);
  void make_again(Einsum einsum);
  bool covers(const Einsum& einsum, const TensorAccess& access, std::size_t rank) const;
  bool covers(const Einsum& einsum, const TensorAccess& access) const;

  const Workload& forward_;
  const TensorRoles roles_;
  const std::vector<RecurrenceCycle> cycles_;
  Workload result_;
  std::vector<char> recomputed_, active_;             // per forward tensor
  std::vector<std::vector<TensorId>> contributions_;  // the same
  std::vector<std::optional<TensorId>> gradients_;    // the same
  std::vector<std::optional<TensorId>> again_;        // the same: what makes it again
  std::vector<std::size_t> n_active_readers_;  // the same: how often its gradient is added to
  std::vector<double> bits_;                   // the same, per value
  std::unordered_set<std::string> names_;      // of tensors and Einsums
  std::unordered_map<std::string, std::size_t> variables_;
};

}  // namespace sluice
