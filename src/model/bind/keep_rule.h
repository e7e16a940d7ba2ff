#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// Tabulates a set expression over what the memories that it names may hold.
Result<KeepRule> make_keep_rule(const Expression& expression, const Workload& workload,
                                const Arch& arch, const TensorRoles& roles, EinsumId einsum,
                                ComponentId component);

/// What a rule names whatever the memories that it depends on hold; nothing where it has no table.
TensorMask always_named(const KeepRule& rule);

}  // namespace sluice
