#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "frontend/notation/index_text.h"
#include "sluice/workload/operation.h"

namespace sluice {

/// `M:p+r` or `p`
struct AxisText {
  std::string rank;  ///< as written; empty where only an index was given
  IndexText index;
  friend bool operator==(const AxisText&, const AxisText&) = default;
};

/// `K[b, M:p, h]`
struct AccessText {
  std::string tensor;
  std::vector<AxisText> axes;
  std::size_t offset = 0;
  friend bool operator==(const AccessText& a, const AccessText& b) {
    return a.tensor == b.tensor && a.axes == b.axes;
  }
};

/// `QK[b,m,p] = Q[b,m,e] * K[b,M:p,e]`
struct EinsumText {
  AccessText output;
  std::vector<AccessText> inputs;  ///< in the order of first reading, equal ones once
  ScalarExpression expression;     ///< kNone where the text names no reduction
};

/// Throws an ExpressionError.
EinsumText parse_einsum(std::string_view text, const ConstantLookup& constants);

/// One axis alone, as in a list of a projection. Throws an ExpressionError.
AxisText parse_axis(std::string_view text, const ConstantLookup& constants);

/// The product of these accesses, as the verbose form means it.
ScalarExpression product_of_accesses(const std::vector<std::uint32_t>& factors);

}  // namespace sluice
