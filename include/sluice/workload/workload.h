#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sluice/support/diagnostic.h"
#include "sluice/support/expression.h"
#include "sluice/support/strong_id.h"
#include "sluice/workload/affine.h"
#include "sluice/workload/operation.h"

namespace sluice {

/// A named axis of tensors (`M`, `XH`). Several rank variables may walk it.
struct Rank {
  std::string name;
  std::int64_t size = 0;  ///< extent: declared, or derived from the iteration spaces that touch it
  friend bool operator==(const Rank&, const Rank&) = default;
};

/// A loop index (`m`, `p`). Names are global to the workload; bounds are per Einsum.
struct RankVariable {
  std::string name;
  friend bool operator==(const RankVariable&, const RankVariable&) = default;
};

struct Tensor {
  std::string name;
  std::vector<RankId> ranks;  ///< outermost first; a 0-dimensional tensor has none
  bool persistent = false;    ///< stays in its backing memory during the whole run
  std::optional<double>
      initial;  ///< value of slice 0 of a recurrence's state (`initial: {RM: -inf}`); of another
                ///< tensor that is made, of the elements that no point writes
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

/// One reading or writing of a tensor by an Einsum.
struct TensorAccess {
  TensorId tensor;
  std::vector<AffineExpression> projection;  ///< one index expression per rank of the tensor
  bool is_output = false;
  double bits_per_value = 0;  ///< > 0; a memory may override it
  friend bool operator==(const TensorAccess&, const TensorAccess&) = default;
};

/// minimum <= variable < minimum + size
struct VariableRange {
  RankVariableId variable;
  std::int64_t minimum = 0;
  std::int64_t size = 1;
  friend bool operator==(const VariableRange&, const VariableRange&) = default;
};

/// A further name for tensors of one Einsum (`input`, `weight`, `output`), already evaluated.
struct Rename {
  std::string name;
  std::vector<TensorId> tensors;  ///< ascending; empty where the Einsum has none of this role
  friend bool operator==(const Rename&, const Rename&) = default;
};

/// One computation step: for every point of `iteration_space`, combine `expression` into the
/// output.
struct Einsum {
  std::string name;
  std::vector<TensorAccess>
      accesses;  ///< inputs in the order of first reading, then the one output
  std::vector<VariableRange>
      iteration_space;  ///< every variable of the accesses, in order of appearance
  ScalarExpression expression;
  bool is_copy_operation =
      false;                     ///< moves data once instead of computing (an alias in one memory)
  std::int64_t n_instances = 1;  ///< this Einsum's own repetition
  std::vector<Rename> renames;
  friend bool operator==(const Einsum&, const Einsum&) = default;

  const TensorAccess& output() const { return accesses.back(); }
};

/// A cascade of Einsums, in execution order. A plain value. Several Einsums may make disjoint boxes
/// of one tensor (concatenation); who reads it comes after all of them.
struct Workload {
  std::string name;
  std::vector<Rank> ranks;
  std::vector<RankVariable> rank_variables;
  std::vector<Tensor> tensors;
  std::vector<Einsum> einsums;
  std::int64_t n_instances = 1;  ///< the whole cascade is run this many times
  friend bool operator==(const Workload&, const Workload&) = default;

  const Rank& operator[](RankId id) const { return ranks[id.index()]; }
  const RankVariable& operator[](RankVariableId id) const { return rank_variables[id.index()]; }
  const Tensor& operator[](TensorId id) const { return tensors[id.index()]; }
  const Einsum& operator[](EinsumId id) const { return einsums[id.index()]; }
};

std::optional<TensorId> find_tensor(const Workload& workload, const std::string& name);
std::optional<EinsumId> find_einsum(const Workload& workload, const std::string& name);
std::optional<RankVariableId> find_rank_variable(const Workload& workload, const std::string& name);

/// Which of an Einsum's indices a loop over a variable moves (model.md, "Tiles and traffic").
enum class Relevance : std::uint8_t {
  kIrrelevant,  ///< the variable indexes no rank of the tensor
  kRelevant,    ///< each index expression it occurs in is that variable alone: disjoint tiles
  kPartial,     ///< it occurs in an expression with others, or scaled (`2*p+r`): sliding window
};
Relevance relevance(const TensorAccess& access, RankVariableId variable);
/// The strongest relevance over an Einsum's accesses of a tensor, as a tile held for several steps
/// sees it: partial also where two accesses differ in constants alone (`T[i]` and `T[i+1]`), so
/// that the tiles of neighbouring steps overlap.
Relevance held_relevance(const Einsum& einsum, TensorId tensor, RankVariableId variable);

/// Whether the output's indices tell an Einsum's points apart: each variable follows from an
/// index whose other variables follow from others. They do not where a variable is absent on the
/// left, or only in sums with others (`D[2*p+r]`).
bool tells_points_apart(const Einsum& einsum);

/// Adds the variables of an Einsum's accesses that its iteration space lacks, in order of
/// appearance, each with the range 0 <= x < 1.
void collect_variables(Einsum* einsum);

/// Size of a variable in an Einsum; the variable must be one of its own.
std::int64_t variable_size(const Einsum& einsum, RankVariableId variable);
bool uses_variable(const Einsum& einsum, RankVariableId variable);
/// The access of a tensor by an Einsum (the reading one where it is both read and written), or
/// null.
const TensorAccess* find_access(const Einsum& einsum, TensorId tensor);
/// The distinct tensors of an Einsum, inputs in order, then the output. At most 64.
std::vector<TensorId> tensors_of(const Einsum& einsum);

/// Tensors by their role in the whole workload; computed once.
struct TensorRoles {
  std::vector<std::vector<EinsumId>> makers;     ///< per tensor, ascending; more than one: of boxes
  std::vector<std::vector<EinsumId>> consumers;  ///< per tensor, ascending
  /// per tensor and rank: a number that ranks have in common which an Einsum walks with one
  /// variable, or which are tied so by way of others
  std::vector<std::vector<std::uint32_t>> rank_classes;
  bool is_made(TensorId t) const { return !makers[t.index()].empty(); }
  bool has_several_makers(TensorId t) const { return makers[t.index()].size() > 1; }
  /// The one Einsum that makes all of a tensor; none of an input, nor where there are several.
  std::optional<EinsumId> sole_maker(TensorId t) const {
    return makers[t.index()].size() == 1 ? std::optional(makers[t.index()][0]) : std::nullopt;
  }
  bool is_intermediate(TensorId t) const { return is_made(t) && !consumers[t.index()].empty(); }
  /// The Einsums that make or read a tensor, each once: the makers first.
  std::vector<EinsumId> users(TensorId t) const;
  /// Used by two Einsums or more.
  bool is_shared(TensorId t) const { return users(t).size() >= 2; }
};
TensorRoles tensor_roles(const Workload& workload);

/// Sets of one Einsum's tensors: bit i = tensors_of(einsum)[i]. Knows All, Nothing, Inputs,
/// Outputs, Intermediates, Shared, Persistent, each tensor of the workload, the Einsum's renames,
/// `ops` (set of operation kinds, bit = OperationKind) and `<rename or tensor>.bits_per_value`.
/// Names in `extra` (memory names: the tensors kept there) come first.
ExpressionScope tensor_set_scope(
    const Workload& workload, const TensorRoles& roles, EinsumId einsum,
    std::function<std::optional<ExpressionValue>(const std::string&)> extra = {});

/// First and last of the indices that an expression takes over an Einsum's iteration space.
std::pair<std::int64_t, std::int64_t> touched_range(const Einsum& einsum,
                                                    const AffineExpression& index);
/// The variables of a user of a tensor with several makers that walk a rank of it along which the
/// makers' boxes differ, by their place in its iteration space.
std::vector<bool> walks_parts(const Workload& workload, const TensorRoles& roles, EinsumId user,
                              TensorId tensor);

/// Number of values of a tensor (product of its rank sizes).
std::int64_t tensor_volume(const Workload& workload, TensorId tensor);

/// The workload as canonical YAML (`workload:` document) that parses back to an equal value.
std::string to_yaml(const Workload& workload);

}  // namespace sluice
