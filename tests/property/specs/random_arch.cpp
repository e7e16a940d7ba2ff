#include <fmt/format.h>

#include <limits>

#include "property/specs/random_specs.h"

namespace sluice::testing {
namespace {

class ArchMaker {
 public:
  explicit ArchMaker(RandomSpecs& random) : random_(random) {}

  Arch make() {
    arch_.name = "a";
    if (random_.chance(50)) arch_.clock_hz = random_.number();
    add(memory());
    add_nodes(std::nullopt, 0);
    add(compute());
    return std::move(arch_);
  }

 private:
  void add_nodes(std::optional<ForkId> fork, int depth) {
    const std::int64_t n = random_.pick(1, 4);
    for (std::int64_t i = 0; i < n; ++i) {
      if (depth < 2 && random_.chance(20)) {
        arch_.forks.push_back({fork});
        add_nodes(ForkId(arch_.forks.size() - 1), depth + 1);
      } else {
        Component component = any_component();
        component.fork = fork;
        add(std::move(component));
      }
    }
  }

  void add(Component component) {
    component.name = fmt::format("C{}", arch_.components.size());
    arch_.components.push_back(std::move(component));
  }

  Component any_component() {
    switch (random_.pick(0, 4)) {
      case 0:
        return memory();
      case 1:
        return toll();
      case 2:
        return container();
      case 3:
        return network();
      default:
        return compute();
    }
  }

  Expression expression() {
    return *Expression::parse(
        random_.any<std::string>({"All", "~Intermediates", "input | output", "Nothing",
                                  "Inputs - weight", "All if len(All) == 3 else Nothing"}));
  }

  std::optional<Expression> maybe_expression() {
    return random_.chance(50) ? std::optional(expression()) : std::nullopt;
  }

  TensorPolicy policy() {
    TensorPolicy result{maybe_expression(), maybe_expression(), {}, {}, random_.chance(80)};
    if (random_.chance(20)) result.back = expression();
    if (random_.chance(20)) result.tensor_order_options = {{expression(), expression()}, {}};
    return result;
  }

  std::vector<BitsOverride> bits() {
    if (random_.chance(70)) return {};
    return {{expression(), Expression::literal(random_.number())},
            {*Expression::parse("output"), *Expression::parse("3 * output.bits_per_value")}};
  }

  Action action(const std::string& name) {
    Action result;
    result.name = name;
    result.energy_j = random_.chance(20)   ? 0
                      : random_.chance(10) ? std::numeric_limits<double>::quiet_NaN()
                                           : random_.number();
    result.throughput = random_.chance(30) ? kUnbounded : random_.number();
    if (random_.chance(30))
      result.bits_per_action = random_.number();
    else if (random_.chance(10))
      result.values_per_action = random_.number();
    if (random_.chance(20)) result.setup_s = random_.number();
    return result;
  }

  Component component() {
    Component result;
    const std::int64_t n_dimensions = random_.chance(40) ? random_.pick(1, 2) : 0;
    for (std::int64_t i = 0; i < n_dimensions; ++i) {
      SpatialDimension dimension;
      dimension.name = fmt::format("d{}", i);
      dimension.fanout = random_.pick(1, 128);
      dimension.may_reuse = expression();
      dimension.reuse = maybe_expression();
      if (random_.chance(30)) dimension.min_usage = Expression::literal(0.5);
      result.spatial.push_back(dimension);
    }
    if (random_.chance(20)) result.enabled = Expression::parse("ops <= {mul_add, add}").value();
    if (random_.chance(20))
      result.total_latency =
          Expression::parse("max(a.n_calls / a.throughput for a in actions)").value();
    if (random_.chance(50)) result.leak_power_w = random_.number();
    result.power_gated = random_.chance(20);
    if (random_.chance(50)) result.area_m2 = random_.number();
    return result;
  }

  Component memory() {
    Component result = component();
    Memory memory;
    memory.size_bits = random_.chance(30)   ? *Expression::parse("inf")
                       : random_.chance(50) ? Expression::literal(random_.number())
                                            : *Expression::parse("8 * weight.bits_per_value");
    memory.tensors = policy();
    memory.bits_per_value = bits();
    memory.buffering = random_.any<Buffering>({Buffering::kSingle, Buffering::kDouble});
    memory.ports = random_.any<Ports>({Ports::kShared, Ports::kSeparate});
    memory.merging_reads = random_.any<MergingReads>({MergingReads::kFree, MergingReads::kCounted});
    memory.draining_reads =
        random_.any<DrainingReads>({DrainingReads::kCounted, DrainingReads::kFree});
    memory.partial_actions =
        random_.any<PartialActions>({PartialActions::kPart, PartialActions::kWhole});
    result.kind = memory;
    result.actions = {action("read"), action("write")};
    return result;
  }

  Component toll() {
    Component result = component();
    result.kind = Toll{policy(), bits(),
                       random_.any<Toll::Direction>({Toll::Direction::kDown, Toll::Direction::kUp,
                                                     Toll::Direction::kUpAndDown})};
    result.actions = {action("read")};
    return result;
  }

  Component container() {
    Component result = component();
    Container container;
    if (result.spatial.size() == 2)
      container.array = SystolicArray{
          random_.any<SystolicArray::Dataflow>({SystolicArray::Dataflow::kWeightStationary,
                                                SystolicArray::Dataflow::kOutputStationary,
                                                SystolicArray::Dataflow::kInputStationary}),
          "d0", "d1"};
    result.kind = container;
    return result;
  }

  Component network() {
    Component result = component();
    Network network;
    network.topology = static_cast<Topology>(random_.pick(0, std::ssize(kTopologies) - 1));
    if (network.topology == Topology::kMesh && random_.chance(30))
      network.entry = NetworkEntry::kEdge;
    if (network.topology == Topology::kMesh && random_.chance(30))
      network.layout = NodeLayout::kPacked;
    if (network.entry == NetworkEntry::kCorner && facts_of(network.topology).links_nodes) {
      if (random_.chance(30)) network.ports.places = PortPlaces::kAll;
      if (random_.chance(30)) network.multicast = Multicast::kGreedyTree;
    }
    if (random_.chance(30)) network.returning_sums = ReturningSums::kFree;
    if (random_.chance(30)) network.repeated_values = RepeatedValues::kFree;
    network.channel_width_bits = random_.pick(1, 512);
    if (random_.chance(70)) network.link_bandwidth = random_.number();
    network.router_latency_s = random_.chance(50) ? random_.number() : 0;
    network.queue_latency_s = random_.chance(50) ? random_.number() : 0;
    network.hop_energy_j = random_.chance(50) ? random_.number() : 0;
    if (random_.chance(30)) network.bits_per_hop_energy = random_.number();
    result.kind = network;
    return result;
  }

  Component compute() {
    Component result = component();
    result.kind = Compute{};
    if (random_.chance(50))
      result.actions = {action("compute")};
    else
      result.actions = {action("mul_add"), action("exp")};
    return result;
  }

  RandomSpecs& random_;
  Arch arch_;
};

}  // namespace

Arch RandomSpecs::arch() { return ArchMaker(*this).make(); }

}  // namespace sluice::testing
