#pragma once

#include "mapper/common/contains.h"
#include "sluice/mapper/constraints.h"
#include "sluice/model/binding.h"

namespace sluice {

/// What constraints ask a memory to hold, and not to hold, for an Einsum. No mapping meets both.
struct StorageWishes {
  TensorMask keep = 0, forbid = 0;

  bool contradict() const { return (keep & forbid) != 0; }
  /// They count more than the architecture's rules.
  void apply_to(KeepSets* sets) const {
    sets->must = (sets->must | keep) & ~forbid;
    sets->may &= ~(sets->must | forbid);
  }
};

/// Those of the `storage` constraints.
inline StorageWishes storage_wishes(const Constraints& constraints, const BoundEinsum& einsum,
                                    ComponentId memory) {
  StorageWishes wishes;
  for (const StorageConstraint& c : constraints.storage) {
    if (c.memory != memory || (c.einsum && *c.einsum != einsum.einsum)) continue;
    for (std::size_t t = 0; t < einsum.tensors.size(); ++t) {
      const TensorMask bit = TensorMask{1} << t;
      if (contains(c.keep, einsum.tensors[t])) wishes.keep |= bit;
      if (contains(c.forbid, einsum.tensors[t])) wishes.forbid |= bit;
    }
  }
  return wishes;
}

}  // namespace sluice
