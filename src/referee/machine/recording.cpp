#include "machine.h"

namespace sluice::referee {

void Machine::record(ExecutionStep step) {
  step.loop_steps = loop_steps_;
  options_.on_step(step);
}

void Machine::record_transfer(ExecutionStep::Kind kind, const Crossing& crossing,
                              const std::vector<Party>& parties, std::int64_t at_parent) {
  if (!records()) return;
  std::int64_t at_child = 0;
  for (const Party& party : parties) at_child += static_cast<std::int64_t>(party.points.size());
  const bool is_fill = kind == ExecutionStep::Kind::kFill;
  ExecutionStep step;
  step.kind = kind;
  step.einsum = crossing.einsum;
  step.tensor = crossing.tensor;
  step.from = is_fill ? crossing.parent.storage->component : crossing.child->component;
  step.to = is_fill ? crossing.child->component : crossing.parent.storage->component;
  step.read = is_fill ? at_parent : at_child;
  step.written = is_fill ? at_child : at_parent;
  step.instances = static_cast<std::int64_t>(parties.size());
  step.points = points_.name(crossing.tensor, parties.front().points);
  record(std::move(step));
}

void Machine::record_compute(const ComputeItem& item, const Lanes& lanes) {
  if (!records()) return;
  ExecutionStep step;
  step.kind = ExecutionStep::Kind::kCompute;
  step.einsum = item.einsum;
  step.tensor = workload_[item.einsum].output().tensor;
  step.from = item.component;
  step.read = static_cast<std::int64_t>(lanes.size());
  step.instances = step.read;
  step.points =
      points_.name(*step.tensor, points_.at(workload_[item.einsum], workload_[item.einsum].output(),
                                            lanes.front().boxes.at(item.einsum)));
  record(std::move(step));
}

void Machine::record_reservation(ExecutionStep::Kind kind, const StorageItem& storage,
                                 std::int64_t instances, double bits) {
  if (!records()) return;
  ExecutionStep step;
  step.kind = kind;
  step.einsum = *storage.served.begin();
  step.tensor = storage.tensor;
  step.to = storage.component;
  step.bits = bits;
  step.instances = instances;
  record(std::move(step));
}

}  // namespace sluice::referee
