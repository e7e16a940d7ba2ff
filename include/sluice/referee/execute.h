#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sluice/referee/execution.h"

namespace sluice {

/// The referee (docs/executor.md; docs/model.md, "Operational definition"): runs a mapping
/// literally on a small shape. Loops are walked step by step, all instances of a step together;
/// values are moved between buffers that hold exactly the points of their tiles; everything that
/// crosses an edge is counted.

/// Runs a mapping. What keeps it from running to the end, or makes its result wrong, is in
/// `complaints`; counts are complete unless a complaint of kind kUnsupported, kStructure or
/// kCoverage is there.
Execution execute(const Workload& workload, const Arch& arch, const Mapping& mapping,
                  const ExecutionOptions& options = {});

/// The numbers that the tensors of a workload have when its Einsums are evaluated one after the
/// other, without any mapping. Of `inputs`, those that are not given are the seed's.
TensorValues plain_evaluation(const Workload& workload, std::uint64_t seed,
                              const TensorValues& inputs = {});

/// Why a workload is too large to be run, as a sentence; nothing where it is not. `max_bytes` as in
/// ExecutionOptions.
std::optional<std::string> too_large_to_execute(const Workload& workload, double max_bytes = 0);

/// A listing of the steps that a person can follow: its first line, and then a line a step, which
/// is added to `text`.
std::string_view step_listing_head();
void list_step(std::int64_t number, const ExecutionStep& step, const Workload& workload,
               const Arch& arch, std::string& text);

}  // namespace sluice
