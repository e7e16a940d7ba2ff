#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"
#include "sluice/model/binding.h"
#include "sluice/model/evaluate.h"

namespace sluice::testing {

/// Workloads in a few words: `WorkloadBuilder({{"m", 4}, {"k", 8}}, 8).einsum("C[m] = A[m,k]")`.
/// Index expressions: `m`, `2*p+r`, `i+1`; a rank is named after its first variable, or `N:p+r`.
/// The right-hand side is a list of accesses separated by `*`; the operation is their summed
/// product unless `expression` says otherwise.
class WorkloadBuilder {
 public:
  WorkloadBuilder(std::map<std::string, std::int64_t> sizes, double bits_per_value);

  WorkloadBuilder& einsum(const std::string& text);
  WorkloadBuilder& einsum(const std::string& text, const std::vector<OperationKind>& operations,
                          Reduction reduction);
  WorkloadBuilder& copy(const std::string& text);
  WorkloadBuilder& rank(const std::string& name, std::int64_t size);
  WorkloadBuilder& persistent(const std::string& tensor);

  Workload workload;

 private:
  RankVariableId variable(const std::string& name);
  RankId rank_id(const std::string& name);
  TensorAccess access(const std::string& text, Einsum& einsum);
  AffineExpression index(const std::string& text, Einsum& einsum);

  std::map<std::string, std::int64_t> sizes_;
  std::map<std::string, std::int64_t> rank_sizes_;
  double bits_per_value_;
};

Expression expression(const std::string& text);

/// Components of a small architecture.
Component memory(const std::string& name, const std::string& size, const std::string& keep,
                 double energy_j, double throughput);
Component compute(const std::string& name, const std::vector<Action>& actions);
Component container(const std::string& name, std::vector<SpatialDimension> spatial);
SpatialDimension dimension(const std::string& name, std::int64_t fanout,
                           const std::string& may_reuse = "All");

/// Mapping nodes by name; the ids are looked up in the problem's workload and architecture.
class MappingBuilder {
 public:
  MappingBuilder(const Workload& workload, const Arch& arch) : workload_(workload), arch_(arch) {}

  Node storage(const std::string& component, std::initializer_list<const char*> tensors) const;
  Node temporal(const std::string& variable, std::int64_t tile_shape) const;
  Node spatial(const std::string& variable, std::int64_t tile_shape, const std::string& component,
               std::uint32_t dimension = 0) const;
  Node compute(const std::string& einsum, const std::string& component) const;
  Node sequential(std::vector<NodeList> children) const;

 private:
  const Workload& workload_;
  const Arch& arch_;
};

/// C[m,n] = A[m,k] · B[k,n] of 4 × 8 × 2 points in tiles: DRAM, a buffer GB, a compute MAC.
Workload tiled_matmul_workload();
NodeList tiled_matmul_nodes(const Workload& w, const Arch& arch);

/// bind() that throws std::runtime_error with the diagnostics.
BoundProblem bound(const Workload& workload, const Arch& arch);

/// The cost of a legal mapping; throws std::runtime_error with the violations of an illegal one.
Cost priced(const Workload& workload, const Arch& arch, NodeList nodes);
/// The messages of an illegal mapping, one a line; empty for a legal one.
std::string why_illegal(const Workload& workload, const Arch& arch, NodeList nodes);

/// Non-zero values by tensor of one action of a component, all Einsums together.
using Values = std::map<std::string, double>;
Values values(const Cost& cost, const Workload& workload, const Arch& arch,
              const std::string& component, const std::string& action);
double peak_bits(const Cost& cost, const Arch& arch, const std::string& memory);

/// The messages of violations, one a line.
template <class Violations>
std::string messages(const Violations& violations) {
  std::string text;
  for (const auto& violation : violations) text += violation.message + "\n";
  return text;
}

}  // namespace sluice::testing
