#include "model/shipment/shipment.h"

#include "model/shipment/forward_plan.h"
#include "model/tree/lookups.h"

namespace sluice {

std::vector<Shipment> shipments_of(const BoundProblem& problem, const FlatTree& tree) {
  std::vector<Shipment> shipments;
  for (const FlatCollective& flat : tree.collectives) {
    const CollectiveNode& node = *flat.collective;
    const CollectivePlan plan =
        *plan_collective(problem, tree, flat, *nest_of_maker(problem, tree, node.tensor));
    shipments.push_back({plan.maker, plan.tensor, flat.node, false, collective_name(node.type),
                         node.src, node.dst, node.over, plan.request.bits_per_value,
                         plan.executions, plan.combiner, price_plan(plan, problem.algorithms)});
  }
  for (const FlatForward& forward : tree.forwards) {
    const ForwardPlan plan = plan_forward(problem, tree, forward);
    shipments.push_back({plan.maker, plan.tensor, tree.concurrent[forward.split].node, true,
                         "forward", forward.memory, forward.memory, plan.over, plan.bits_per_value,
                         plan.executions, std::nullopt, plan.charge});
  }
  return shipments;
}

}  // namespace sluice
