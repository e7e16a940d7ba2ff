#pragma once

#include "ledger.h"
#include "program.h"
#include "sluice/arch/arch.h"
#include "sluice/workload/workload.h"

namespace sluice::referee {

/// What must hold of splits whose children run at the same time before a program can run at all:
/// regions (`over`, `shares`), forwarded tensors, resident storages, collectives in a pipeline.
void check_splits(const Workload& workload, const Arch& arch, const Program& program,
                  const TensorRoles& roles, Complaints& complaints);

}  // namespace sluice::referee
