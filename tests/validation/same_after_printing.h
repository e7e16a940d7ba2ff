#pragma once

#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"

namespace sluice::testing {

/// Expects that every mapping of a search, printed and read back as a user's `mapping.yaml`, is the
/// same mapping and costs the same to the last bit.
void expect_same_after_printing(const BoundProblem& problem, const MapperResult& result);

}  // namespace sluice::testing
