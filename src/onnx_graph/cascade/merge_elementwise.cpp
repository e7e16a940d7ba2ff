#include <algorithm>
#include <map>
#include <optional>

#include "onnx_graph/cascade/passes.h"

namespace sluice::onnx_graph {
namespace {

constexpr std::size_t kLongestExpression = 64;
constexpr std::size_t kMostInputs = 12;

bool is_plain(const CascadeAccess& access) {
  std::set<std::size_t> axes;
  return std::all_of(access.indices.begin(), access.indices.end(), [&](const Index& index) {
    return index.is_plain() && axes.insert(index.terms[0].variable).second;
  });
}

std::size_t times_read(const Expr& expression, std::size_t access) {
  std::size_t n = expression.kind == Expr::Kind::kAccess && expression.access == access ? 1 : 0;
  for (const Expr& operand : expression.operands) n += times_read(operand, access);
  return n;
}

/// The expression with access `which` replaced, and the others renumbered.
Expr replaced(const Expr& e, std::size_t which, const Expr& by,
              const std::vector<std::size_t>& numbers) {
  if (e.kind == Expr::Kind::kAccess) return e.access == which ? by : read(numbers[e.access]);
  Expr result = e;
  for (Expr& operand : result.operands) operand = replaced(operand, which, by, numbers);
  return result;
}

class Merger {
 public:
  Merger(Cascade& cascade, const std::set<std::size_t>& kept) : cascade_(cascade), kept_(kept) {
    for (std::size_t e = 0; e < cascade.einsums.size(); ++e) {
      ++n_makers_[cascade.einsums[e].output.tensor];
      std::set<std::size_t> tensors;
      for (const CascadeAccess& access : cascade.einsums[e].inputs) tensors.insert(access.tensor);
      for (const std::size_t tensor : tensors) readers_[tensor].push_back(e);
    }
  }

  void run() {
    std::vector<bool> is_gone(cascade_.einsums.size());
    for (std::size_t e = 0; e < cascade_.einsums.size(); ++e) {
      const auto reader = only_reader(e);
      if (!reader || !fits(e, *reader)) continue;
      merge(cascade_.einsums[e], cascade_.einsums[*reader]);
      is_gone[e] = true;
      for (const CascadeAccess& access : cascade_.einsums[e].inputs) {
        std::vector<std::size_t>& users = readers_[access.tensor];
        std::replace(users.begin(), users.end(), e, *reader);
        std::sort(users.begin(), users.end());
        users.erase(std::unique(users.begin(), users.end()), users.end());
      }
    }
    std::vector<CascadeEinsum> rest;
    for (std::size_t e = 0; e < is_gone.size(); ++e)
      if (!is_gone[e]) rest.push_back(std::move(cascade_.einsums[e]));
    cascade_.einsums = std::move(rest);
  }

 private:
  std::optional<std::size_t> only_reader(std::size_t e) const {
    const CascadeEinsum& maker = cascade_.einsums[e];
    const std::size_t tensor = maker.output.tensor;
    if (maker.reduction != Reducing::kNone || maker.is_mac || kept_.count(tensor) > 0 ||
        cascade_.tensors[tensor].initial || cascade_.tensors[tensor].is_state ||
        n_makers_.at(tensor) != 1 || !is_plain(maker.output))
      return std::nullopt;
    const auto found = readers_.find(tensor);
    if (found == readers_.end() || found->second.size() != 1) return std::nullopt;
    return found->second[0];
  }

  bool fits(std::size_t e, std::size_t r) const {
    const CascadeEinsum &maker = cascade_.einsums[e], &reader = cascade_.einsums[r];
    if (reader.reduction != Reducing::kNone || reader.is_mac) return false;
    if (cascade_.axes_of(maker).size() != maker.output.indices.size()) return false;
    std::size_t n_accesses = 0, which = 0;
    for (std::size_t i = 0; i < reader.inputs.size(); ++i)
      if (reader.inputs[i].tensor == maker.output.tensor) {
        ++n_accesses;
        which = i;
      }
    if (n_accesses != 1 || !is_plain(reader.inputs[which])) return false;
    if (times_read(reader.expression, which) != 1) return false;
    if (cascade_.axes_of(reader).size() != maker.output.indices.size()) return false;
    for (std::size_t i = 0; i < maker.output.indices.size(); ++i)
      if (cascade_.axes[maker.output.indices[i].terms[0].variable].size !=
          cascade_.axes[reader.inputs[which].indices[i].terms[0].variable].size)
        return false;
    return size_of(maker.expression) + size_of(reader.expression) <= kLongestExpression &&
           maker.inputs.size() + reader.inputs.size() <= kMostInputs;
  }

  void merge(const CascadeEinsum& maker, CascadeEinsum& reader) {
    std::size_t which = 0;
    while (reader.inputs[which].tensor != maker.output.tensor) ++which;
    std::map<std::size_t, std::size_t> axes;  // the maker's → the reader's
    for (std::size_t i = 0; i < maker.output.indices.size(); ++i)
      axes[maker.output.indices[i].terms[0].variable] =
          reader.inputs[which].indices[i].terms[0].variable;
    std::vector<CascadeAccess> inputs;
    const auto place_of = [&](const CascadeAccess& access) {
      const auto known = std::find(inputs.begin(), inputs.end(), access);
      if (known != inputs.end()) return static_cast<std::size_t>(known - inputs.begin());
      inputs.push_back(access);
      return inputs.size() - 1;
    };
    std::vector<std::size_t> of_maker, of_reader;
    for (CascadeAccess access : maker.inputs) {
      for (Index& index : access.indices)
        for (Index::Term& term : index.terms) term.variable = axes.at(term.variable);
      of_maker.push_back(place_of(access));
    }
    for (std::size_t i = 0; i < reader.inputs.size(); ++i)
      of_reader.push_back(i == which ? 0 : place_of(reader.inputs[i]));
    const Expr inner = replaced(maker.expression, static_cast<std::size_t>(-1), {}, of_maker);
    reader.expression = replaced(reader.expression, which, inner, of_reader);
    reader.inputs = std::move(inputs);
    std::vector<std::size_t> nodes = maker.nodes;
    nodes.insert(nodes.end(), reader.nodes.begin(), reader.nodes.end());
    reader.nodes = std::move(nodes);
  }

  Cascade& cascade_;
  const std::set<std::size_t>& kept_;
  std::map<std::size_t, int> n_makers_;
  std::map<std::size_t, std::vector<std::size_t>> readers_;
};

}  // namespace

void merge_elementwise(Cascade& cascade, const std::set<std::size_t>& kept) {
  Merger(cascade, kept).run();
}

}  // namespace sluice::onnx_graph
