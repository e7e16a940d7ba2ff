#pragma once

#include <algorithm>
#include <optional>

#include "sluice/model/binding.h"

namespace sluice {

/// Whether a rule of a memory (`keep`, `may_keep`, `back`) may name one of these tensors, whatever
/// other memories hold. `given`: as the architecture has it. Without a table it may name any.
inline bool may_name(const std::optional<Expression>& given, const KeepRule& rule,
                     TensorMask tensors) {
  return given && (rule.table.empty() ||
                   std::any_of(rule.table.begin(), rule.table.end(),
                               [tensors](TensorMask named) { return (named & tensors) != 0; }));
}

}  // namespace sluice
