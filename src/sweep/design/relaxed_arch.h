#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sluice/arch/arch.h"

namespace sluice {

/// What all architectures have in common that one relaxed architecture may stand for: the
/// architecture as text, without the numbers in which better is known to cost no mapping more.
/// These are sizes that are plain numbers, energies, throughputs, bandwidths and latencies of
/// networks, leakage, areas; and fanouts where nothing else depends on them: no networks, no
/// systolic arrays, no `min_usage`.
std::string arch_skeleton(const Arch& arch);

/// Of architectures with the same skeleton: the largest memories and fanouts, the lowest energies
/// and leakage, the highest throughputs. Every mapping of one of them is a mapping of this one and
/// costs no more on it under the policy `overlap`, so that no optimum of theirs is below its
/// optimum.
Arch relaxed_arch(const std::vector<const Arch*>& archs);

}  // namespace sluice
