#pragma once

#include <cstdint>

#include "model/price/rate.h"

namespace sluice {

/// Actions of so many instances, each of which does an equal part of `count` and rounds it up to
/// whole actions (`partial_actions: whole`).
double whole_actions(std::int64_t count, std::int64_t instances, const Rate& rate);

}  // namespace sluice
