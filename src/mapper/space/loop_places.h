#pragma once

#include "template.h"
#include "variable_sets.h"

namespace sluice::fused {

/// Slots of one template in groups: group 0 (the outermost memory and persistent tensors) has no
/// loop above or inside it, every other slot is a group of its own. Where there are ports, the
/// outermost memory is group 1, and above it stand loops over its instances.
struct SlotGroups {
  std::vector<Slot> slots;
  std::vector<std::uint32_t> group_of;  ///< per slot
  std::uint32_t count = 1;
  bool ports = false;
};

/// Appends every template that these slots allow: one for each choice of sliding windows. `limits`:
/// of these templates.
void append_templates(const BoundProblem& problem, const EinsumShape& shape,
                      const VariableSets& sets, const MapperOptions& options,
                      const Constraints& constraints, std::uint32_t compute,
                      const SlotGroups& groups, const TemplateLimits& limits,
                      std::vector<Template>* templates);

}  // namespace sluice::fused
