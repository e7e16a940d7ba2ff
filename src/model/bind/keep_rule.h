#pragma once

#include "sluice/model/binding.h"

namespace sluice {

/// Tabulates a set expression over what the memories that it names may hold.
Result<KeepRule> make_keep_rule(const Expression& expression, const Workload& workload,
                                const Arch& arch, const TensorRoles& roles, EinsumId einsum,
                                ComponentId component);

}  // namespace sluice
