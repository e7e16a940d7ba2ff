#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/referee/execution.h"

namespace sluice::testing {

/// Einsums in a few words: `S[I:i+1,m] = S[I:i,m] + X[J:i,m]`. The right-hand side adds up its
/// accesses, and sums over what the left-hand side lacks; all values have 8 bits. A rank is named
/// after its first variable, or `I:i+1`, and is as large as the Einsums reach.
class SmallWorkload {
 public:
  explicit SmallWorkload(std::map<std::string, std::int64_t> sizes) : sizes_(std::move(sizes)) {}
  SmallWorkload& einsum(const std::string& text);

  Workload workload;

 private:
  TensorAccess access(const std::string& text, Einsum& einsum);
  AffineExpression index(const std::string& text, Einsum& einsum);

  std::map<std::string, std::int64_t> sizes_;
};

/// DRAM, a buffer GB, two PEs along x with a register file RF and a compute MAC each. Nothing
/// overflows.
Arch small_machine(Buffering of_gb = Buffering::kSingle);

/// Mapping nodes by name.
class SmallMapping {
 public:
  SmallMapping(const Workload& workload, const Arch& arch) : workload_(workload), arch_(arch) {}

  Node hold(const std::string& memory, std::initializer_list<const char*> tensors) const;
  Node slide(const std::string& memory, const char* tensor) const;
  Node loop(std::initializer_list<const char*> variables, std::int64_t tile,
            std::optional<std::int64_t> first_tile = std::nullopt) const;
  Node spread(const std::string& variable, std::int64_t tile) const;  ///< over the PEs
  Node compute(const std::string& einsum) const;
  static Node sequential(std::vector<NodeList> children);

  /// The most that an instance of a memory holds; throws std::runtime_error with the complaints
  /// about a mapping that is not legal.
  double peak_bits(const std::string& memory, NodeList nodes) const;

 private:
  const Workload& workload_;
  const Arch& arch_;
};

}  // namespace sluice::testing
