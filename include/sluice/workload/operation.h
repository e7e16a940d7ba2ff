#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sluice/support/strong_id.h"

namespace sluice {

/// The kinds of scalar operation that a compute unit can be asked for, and that are priced.
enum class OperationKind : std::uint8_t {
  kMulAdd,  ///< a product added to a running sum
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kNeg,
  kAbs,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kTanh,
  kSigmoid,
  kErf,
  kSin,
  kCos,
  kSquare,
  kRelu,
  kStep,    ///< 1 from 0 on, 0 below: the slope of relu and max
  kSelect,  ///< the second of three values where the first is not 0, else the third
  kCopy,    ///< moves a value unchanged (`T[i] = U[i]` that is not an alias)
};
inline constexpr int kOperationKindCount = static_cast<int>(OperationKind::kCopy) + 1;

/// Name as in spec files (`mul_add`, `exp`, …).
std::string_view operation_name(OperationKind kind);
std::optional<OperationKind> operation_from_name(std::string_view name);
/// Number of arguments in an Einsum's expression: 1 to 3 (`mul_add`, `copy` cannot be written: 0).
int operation_arity(OperationKind kind);

/// How values that meet in one output element are combined.
enum class Reduction : std::uint8_t { kNone, kSum, kProduct, kMin, kMax };
/// The operation that combines two values; `add` for kNone.
OperationKind combining_operation(Reduction reduction);

/// One node of an Einsum's right-hand side. Nodes stand in evaluation order; the last one is the
/// root.
struct ScalarNode {
  enum class Kind : std::uint8_t { kAccess, kConstant, kOperation };
  Kind kind = Kind::kConstant;
  std::uint32_t access = 0;                       ///< kAccess: index into Einsum::accesses
  double constant = 0;                            ///< kConstant
  OperationKind operation = OperationKind::kAdd;  ///< kOperation
  std::vector<std::uint32_t> operands;            ///< kOperation: indices of earlier nodes
  friend bool operator==(const ScalarNode&, const ScalarNode&) = default;
};

/// out = reduction over absent variables of expression(accesses). Executable on numbers.
struct ScalarExpression {
  std::vector<ScalarNode> nodes;
  Reduction reduction = Reduction::kNone;
  friend bool operator==(const ScalarExpression&, const ScalarExpression&) = default;
};

struct OperationCount {
  OperationKind kind;
  std::int64_t per_point = 0;  ///< operations per iteration point
  friend bool operator==(const OperationCount&, const OperationCount&) = default;
};

/// Operations per iteration point by kind: every operation node once, plus one combining operation
/// if there is a reduction; a product that is summed is one `mul_add` (not mul + add); a bare
/// access without a reduction is one `copy`. Ascending by kind, at least one entry.
std::vector<OperationCount> operations_per_point(const ScalarExpression& expression);

}  // namespace sluice
