#pragma once

#include <functional>

#include "facts.h"
#include "ledger.h"
#include "program.h"

namespace sluice::referee {

/// Every node, in the order of the text.
void for_each_node(const NodeList& list, const std::function<void(const Node&)>& visit);

/// Nodes that cannot be executed yet: pipelined and parallel splits beside incremental storages or
/// above copies; shared tiles.
void check_supported(const Workload& workload, const Mapping& mapping, Complaints& complaints);

/// What must hold before a program can run at all: every Einsum has one compute that takes it,
/// every tensor a backing storage, memories come from the outermost inwards, spatial loops stand
/// where their component does, and every loop above a backing storage walks its tensor. The rest
/// (coverage, order of making and reading, fanout, capacity) shows when it runs.
void check_structure(const Workload& workload, const Arch& arch, const Mapping& mapping,
                     const Program& program, Facts& facts, Complaints& complaints);

}  // namespace sluice::referee
