#include "frontend/arch/component_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "frontend/arch/component_class.h"
#include "frontend/arch/dimensions.h"
#include "frontend/arch/network_ports.h"
#include "frontend/names/tensor_set_reader.h"
#include "frontend/yaml/map_reader.h"
#include "frontend/yaml/values.h"
#include "sluice/workload/operation.h"

namespace sluice {
namespace {

class ComponentReader {
 public:
  ComponentReader(ReadContext& context, const YamlNode& node, std::optional<double> clock_hz,
                  std::vector<ArchExpression>& expressions)
      : context_(context),
        node_(node),
        map_(context, node, "a " + node.tag),
        clock_hz_(clock_hz),
        expressions_(expressions) {}

  std::optional<Component> read() {
    if (!map_.is_map()) return std::nullopt;
    const std::size_t before = context_.n_errors();
    if (const auto name = read_name(context_, map_.required("name"), "a component's name"))
      component_.name = *name;
    class_ = read_component_class(context_, map_, clock_hz_);
    has_class_ = node_.find("component_class") != nullptr;
    if (node_.tag == "!Memory") memory();
    if (node_.tag == "!Toll") toll();
    if (node_.tag == "!Container") container();
    if (node_.tag == "!Network") network();
    if (node_.tag == "!Compute") compute();
    common();
    map_.finish();
    if (context_.n_errors() != before) return std::nullopt;
    return std::move(component_);
  }

 private:
  void common() {
    spatial();
    const YamlNode* enabled = map_.optional("enabled");
    component_.enabled = read_expression(context_, enabled, "enabled");
    remember(ArchExpression::Type::kTruth, component_.enabled, enabled, "enabled");
    component_.total_latency = number(map_.optional("total_latency"), {.what = "total_latency",
                                                                       .dimensions = {kSecond},
                                                                       .clock_hz = clock_hz_,
                                                                       .infinite = true,
                                                                       .over_actions = true});
    if (component_.total_latency) expressions_.back().over_actions = true;
    if (const auto power = read_quantity(context_, map_.optional("leak_power"),
                                         {.what = "leak_power", .dimensions = {kWatt}}))
      component_.leak_power_w = power->value;
    if (const auto area = read_quantity(context_, map_.optional("area"),
                                        {.what = "area", .dimensions = {kSquareMetre}}))
      component_.area_m2 = area->value;
    component_.power_gated =
        read_bool(context_, map_.optional("power_gated"), "power_gated").value_or(false);
    if (class_ && class_->leak_power_w && node_.find("leak_power") == nullptr)
      component_.leak_power_w = from_class("leak_power", *class_->leak_power_w);
    if (class_ && class_->area_m2 && node_.find("area") == nullptr)
      component_.area_m2 = from_class("area", *class_->area_m2);
  }

  /// A number that the class gives; where it came from goes to Specs::sources.
  double from_class(const std::string& number, double value) {
    context_.number_sources().push_back({component_.name, number, class_->origin});
    return value;
  }

  // --- expressions over tensors -----------------------------------------------------------------

  void remember(ArchExpression::Type type, const std::optional<Expression>& expression,
                const YamlNode* place, const char* what) {
    if (expression) expressions_.push_back({type, *expression, place, what, component_.name});
  }

  std::optional<Expression> tensor_set(const YamlNode* node, const char* what) {
    auto expression = read_tensor_set(context_, node, what);
    remember(ArchExpression::Type::kTensorSet, expression, node, what);
    return expression;
  }

  std::optional<Expression> keep_rule(const YamlNode* node, const char* what) {
    auto expression = tensor_set(node, what);
    if (expression) expressions_.back().knows_memories = true;
    return expression;
  }

  std::optional<Expression> number(const YamlNode* node, const QuantityRule& rule) {
    auto expression = read_quantity_expression(context_, node, rule);
    remember(ArchExpression::Type::kNumber, expression, node, rule.what);
    return expression;
  }

  // --- kinds ------------------------------------------------------------------------------------

  void memory() {
    Memory memory;
    if (auto size =
            number(map_.required("size"), {.what = "size", .dimensions = {kBit}, .infinite = true}))
      memory.size_bits = std::move(*size);
    memory.tensors = tensor_policy();
    memory.bits_per_value = bits_per_value();
    static constexpr NamedValue<Buffering> kBufferings[] = {{"single", Buffering::kSingle},
                                                            {"double", Buffering::kDouble}};
    static constexpr NamedValue<Ports> kPorts[] = {{"shared", Ports::kShared},
                                                   {"separate", Ports::kSeparate}};
    static constexpr NamedValue<MergingReads> kReads[] = {{"free", MergingReads::kFree},
                                                          {"counted", MergingReads::kCounted}};
    static constexpr NamedValue<DrainingReads> kDrains[] = {{"counted", DrainingReads::kCounted},
                                                            {"free", DrainingReads::kFree}};
    static constexpr NamedValue<PartialActions> kParts[] = {{"part", PartialActions::kPart},
                                                            {"whole", PartialActions::kWhole}};
    memory.buffering = read_choice(context_, map_.optional("buffering"), "buffering", kBufferings)
                           .value_or(Buffering::kSingle);
    memory.ports = read_choice(context_, map_.optional("ports"), "kind of ports", kPorts)
                       .value_or(Ports::kShared);
    memory.merging_reads =
        read_choice(context_, map_.optional("merging_reads"), "pricing of merging reads", kReads)
            .value_or(MergingReads::kFree);
    memory.draining_reads =
        read_choice(context_, map_.optional("draining_reads"), "pricing of draining reads", kDrains)
            .value_or(DrainingReads::kCounted);
    memory.partial_actions = read_choice(context_, map_.optional("partial_actions"),
                                         "pricing of partial actions", kParts)
                                 .value_or(PartialActions::kPart);
    component_.kind = std::move(memory);
    actions({"read", "write"});
    require_actions({"read", "write"});
  }

  void toll() {
    static constexpr NamedValue<Toll::Direction> kDirections[] = {
        {"down", Toll::Direction::kDown},
        {"up", Toll::Direction::kUp},
        {"up_and_down", Toll::Direction::kUpAndDown}};
    Toll toll;
    toll.tensors = tensor_policy();
    toll.bits_per_value = bits_per_value();
    toll.direction = read_choice(context_, map_.optional("direction"), "direction", kDirections)
                         .value_or(Toll::Direction::kUpAndDown);
    component_.kind = std::move(toll);
    if (node_.find("tensors") == nullptr)
      context_.warning(
          node_,
          fmt::format("nothing has to pass the !Toll '{}': mappings may leave it out, at no cost",
                      component_.name),
          "'tensors: {keep: All}' makes all tensors pass it");
    actions({"read"});
    require_actions({"read"});
  }

  void container() {
    Container container;
    if (const YamlNode* array = map_.optional("array")) container.array = systolic_array(*array);
    component_.kind = std::move(container);
  }

  std::optional<SystolicArray> systolic_array(const YamlNode& node) {
    using Dataflow = SystolicArray::Dataflow;
    static constexpr NamedValue<int> kKinds[] = {{"systolic", 0}};
    static constexpr NamedValue<Dataflow> kDataflows[] = {{"ws", Dataflow::kWeightStationary},
                                                          {"os", Dataflow::kOutputStationary},
                                                          {"is", Dataflow::kInputStationary}};
    MapReader map(context_, node, "an array");
    if (!map.is_map()) return std::nullopt;
    read_choice(context_, map.required("kind"), "kind of array", kKinds);
    SystolicArray array;
    array.dataflow = read_choice(context_, map.required("dataflow"), "dataflow", kDataflows)
                         .value_or(Dataflow::kWeightStationary);
    array.rows = dimension_name(map.required("rows"));
    array.cols = dimension_name(map.required("cols"));
    map.finish();
    return array;
  }

  /// The name of a spatial dimension of this very component.
  std::string dimension_name(const YamlNode* node) {
    const auto name = read_name(context_, node, "a spatial dimension");
    if (!name) return {};
    std::vector<std::string> names;
    if (const YamlNode* list = node_.find("spatial"))
      for (const YamlPointer& item : list->items)
        if (const YamlNode* own = item->find("name")) names.push_back(own->text);
    if (std::find(names.begin(), names.end(), *name) == names.end())
      context_.error(*node, fmt::format("the container has no spatial dimension '{}'", *name),
                     did_you_mean(*name, names));
    return *name;
  }

  Topology topology() {
    static constexpr auto kNames = [] {
      std::array<NamedValue<Topology>, std::size(kTopologies)> names{};
      for (std::size_t t = 0; t < names.size(); ++t)
        names[t] = {kTopologies[t].name, kTopologies[t].topology};
      return names;
    }();
    return read_choice(context_, map_.required("topology"), "topology", kNames)
        .value_or(Topology::kMesh);
  }

  void network() {
    Network network;
    network.topology = topology();
    static constexpr NamedValue<NetworkEntry> kEntries[] = {{"corner", NetworkEntry::kCorner},
                                                            {"edge", NetworkEntry::kEdge}};
    static constexpr NamedValue<NodeLayout> kLayouts[] = {{"aligned", NodeLayout::kAligned},
                                                          {"packed", NodeLayout::kPacked}};
    static constexpr NamedValue<RepeatedValues> kRepeats[] = {{"counted", RepeatedValues::kCounted},
                                                              {"free", RepeatedValues::kFree}};
    static constexpr NamedValue<ReturningSums> kSums[] = {{"counted", ReturningSums::kCounted},
                                                          {"free", ReturningSums::kFree}};
    static constexpr NamedValue<ImplicitTime> kTimes[] = {{"receivers", ImplicitTime::kReceivers},
                                                          {"once", ImplicitTime::kOnce},
                                                          {"none", ImplicitTime::kNone}};
    const YamlNode* entry = map_.optional("entry");
    network.entry = read_choice(context_, entry, "entry", kEntries).value_or(NetworkEntry::kCorner);
    if (network.entry == NetworkEntry::kEdge && !facts_of(network.topology).has_edges)
      context_.error(*entry, "only a mesh has an edge to enter at");
    const YamlNode* layout = map_.optional("layout");
    network.layout =
        read_choice(context_, layout, "layout", kLayouts).value_or(NodeLayout::kAligned);
    if (network.layout == NodeLayout::kPacked && !facts_of(network.topology).has_edges)
      context_.error(*layout, "only the nodes of a mesh can be packed");
    ports_and_multicast(network);
    network.returning_sums =
        read_choice(context_, map_.optional("returning_sums"), "pricing of returning sums", kSums)
            .value_or(ReturningSums::kCounted);
    network.repeated_values = read_choice(context_, map_.optional("repeated_values"),
                                          "pricing of repeated values", kRepeats)
                                  .value_or(RepeatedValues::kCounted);
    network.implicit_time =
        read_choice(context_, map_.optional("implicit_time"), "time of implicit traffic", kTimes)
            .value_or(ImplicitTime::kReceivers);
    network.channel_width_bits = whole_bits("channel_width").value_or(1);
    if (const auto bandwidth = read_quantity(context_, map_.required("link_bandwidth"),
                                             {.what = "link_bandwidth",
                                              .dimensions = {kBitPerSecond},
                                              .clock_hz = clock_hz_,
                                              .zero = false,
                                              .infinite = true}))
      network.link_bandwidth = bandwidth->value;
    network.router_latency_s = duration("router_latency");
    network.queue_latency_s = duration("queue_latency");
    network.bits_per_hop_energy = bits("bits_per_hop_energy").value_or(1);
    const bool has_default = has_class_ && (!class_ || class_->hop_energy);
    const YamlNode* hop = has_default ? map_.optional("hop_energy") : map_.required("hop_energy");
    network.hop_energy_j = energy(hop, "hop_energy", network.bits_per_hop_energy);
    if (hop == nullptr && class_ && class_->hop_energy)
      network.hop_energy_j = from_class(
          "hop_energy", energy_of_action(*class_->hop_energy, network.bits_per_hop_energy));
    component_.kind = network;
  }

  void ports_and_multicast(Network& network) {
    static constexpr NamedValue<Multicast> kMulticasts[] = {
        {"dimension_order", Multicast::kDimensionOrder}, {"greedy_tree", Multicast::kGreedyTree}};
    const YamlNode* ports = map_.optional("ports");
    network.ports = read_network_ports(context_, ports, network.topology);
    if (ports != nullptr && node_.find("entry") != nullptr)
      context_.error(*ports, "'ports' and 'entry' both say where values enter", "drop one of them");
    const YamlNode* multicast = map_.optional("multicast");
    network.multicast = read_choice(context_, multicast, "way of multicasts", kMulticasts)
                            .value_or(Multicast::kDimensionOrder);
    if (network.multicast != Multicast::kGreedyTree) return;
    if (!facts_of(network.topology).links_nodes)
      context_.error(*multicast,
                     fmt::format("the nodes of a {} pass nothing on to each other",
                                 facts_of(network.topology).name),
                     "drop `multicast`");
    if (network.entry == NetworkEntry::kEdge)
      context_.error(*multicast, "a greedy tree begins at nodes, not between two of them",
                     "list the nodes: ports: [[0, 1]]");
  }

  void compute() {
    component_.kind = Compute{};
    std::vector<std::string> names = {"compute"};
    for (int i = 0; i < kOperationKindCount; ++i)
      names.emplace_back(operation_name(static_cast<OperationKind>(i)));
    actions(names);
    if (component_.actions.empty() && node_.find("actions") == nullptr && !has_class_)
      context_.error(node_, "a !Compute needs the key 'actions'");
    warn_of_hidden_kinds();
  }

  /// One action `compute` is what an iteration point costs, whatever is computed there.
  void warn_of_hidden_kinds() {
    const auto is_any = [](const Action& action) { return action.name == "compute"; };
    const std::vector<Action>& actions = component_.actions;
    if (std::none_of(actions.begin(), actions.end(), is_any)) return;
    std::vector<std::string> hidden;
    for (const Action& action : actions)
      if (!is_any(action)) hidden.push_back("'" + action.name + "'");
    if (hidden.empty()) return;
    context_.warning(
        node_,
        fmt::format("{} of '{}' {} never called: its action 'compute' stands for "
                    "all that an iteration point computes",
                    fmt::join(hidden, " and "), component_.name, hidden.size() == 1 ? "is" : "are"),
        "name all kinds of operations instead of 'compute', or leave these out");
  }

  // --- parts ------------------------------------------------------------------------------------

  double duration(const char* key) {
    const auto value = read_quantity(context_, map_.optional(key),
                                     {.what = key, .dimensions = {kSecond}, .clock_hz = clock_hz_});
    return value ? value->value : 0;
  }

  std::optional<double> bits(const char* key) {
    const auto value = read_quantity(context_, map_.optional(key),
                                     {.what = key, .dimensions = {kBit}, .zero = false});
    return value ? std::optional(value->value) : std::nullopt;
  }

  std::optional<std::int64_t> whole_bits(const char* key) {
    constexpr double kMost = 9007199254740992.0;  // 2^53
    const auto value = bits(key);
    if (!value) return std::nullopt;
    if (*value == std::floor(*value) && *value <= kMost) return static_cast<std::int64_t>(*value);
    context_.error(*map_.optional(key),
                   fmt::format("{} must be a whole number of bits, at most 2^53, not {}", key,
                               describe(*map_.optional(key))));
    return std::nullopt;
  }

  /// J per action; `pJ/bit` is multiplied by the bits of one.
  double energy(const YamlNode* node, const char* what, double bits_per_action) {
    const auto value =
        read_quantity(context_, node, {.what = what, .dimensions = {kJoule, kJoulePerBit}});
    return value ? energy_of_action(*value, bits_per_action) : 0;
  }

  static double energy_of_action(const Quantity& energy, double bits_per_action) {
    return energy.dimension == kJoulePerBit ? energy.value * bits_per_action : energy.value;
  }

  TensorPolicy tensor_policy() {
    TensorPolicy policy;
    map_.belongs_into("tensors", {"keep", "may_keep", "back", "tensor_order_options",
                                  "force_memory_hierarchy_order"});
    const YamlNode* node = map_.optional("tensors");
    if (node == nullptr) return policy;
    MapReader map(context_, *node, "tensors");
    if (!map.is_map()) return policy;
    policy.keep = keep_rule(map.optional("keep"), "keep");
    policy.may_keep = keep_rule(map.optional("may_keep"), "may_keep");
    policy.back = keep_rule(map.optional("back"), "back");
    if (const YamlNode* options = map.optional("tensor_order_options"))
      policy.tensor_order_options = tensor_orders(*options);
    policy.force_memory_hierarchy_order =
        read_bool(context_, map.optional("force_memory_hierarchy_order"),
                  "force_memory_hierarchy_order")
            .value_or(true);
    map.finish();
    return policy;
  }

  std::vector<std::vector<Expression>> tensor_orders(const YamlNode& node) {
    std::vector<std::vector<Expression>> orders;
    for (const YamlPointer& option : node.items) {
      std::vector<Expression> groups;
      for (const YamlPointer& group : option->items)
        if (auto set = tensor_set(group.get(), "a group of tensors"))
          groups.push_back(std::move(*set));
      if (!option->is_sequence())
        context_.error(*option, "an order of tensors is a list of sets, outermost first");
      orders.push_back(std::move(groups));
    }
    if (!node.is_sequence()) context_.error(node, "tensor_order_options must be a list of lists");
    return orders;
  }

  std::vector<BitsOverride> bits_per_value() {
    std::vector<BitsOverride> overrides;
    const YamlNode* node = map_.optional("bits_per_value");
    if (node == nullptr || !MapReader(context_, *node, "bits_per_value").is_map()) return overrides;
    for (const YamlEntry& entry : node->entries) {
      auto tensors = tensor_set(entry.key.get(), "a key of bits_per_value");
      auto value = number(entry.value.get(),
                          {.what = "bits_per_value", .dimensions = {kBit}, .zero = false});
      if (value) expressions_.back().only_where_needed = true;
      if (tensors && value) overrides.push_back({std::move(*tensors), std::move(*value)});
    }
    return overrides;
  }

  void spatial() {
    const YamlNode* node = map_.optional("spatial");
    if (node == nullptr) return;
    if (!node->is_sequence()) {
      context_.error(*node, fmt::format("spatial must be a list, not {}", describe(*node)));
      return;
    }
    for (const YamlPointer& item : node->items) {
      MapReader map(context_, *item, "a spatial dimension");
      if (map.is_map()) component_.spatial.push_back(spatial_dimension(map));
    }
  }

  SpatialDimension spatial_dimension(MapReader& map) {
    SpatialDimension dimension;
    const YamlNode* name_node = map.required("name");
    dimension.name = read_name(context_, name_node, "a spatial dimension").value_or("");
    for (const SpatialDimension& other : component_.spatial)
      if (name_node != nullptr && other.name == dimension.name)
        context_.error(*name_node,
                       fmt::format("two spatial dimensions are called '{}'", dimension.name));
    dimension.fanout = read_integer(context_, map.required("fanout"), "fanout", 1).value_or(1);
    dimension.reuse = tensor_set(map.optional("reuse"), "reuse");
    dimension.may_reuse = tensor_set(map.optional("may_reuse"), "may_reuse")
                              .value_or(dimension.reuse.value_or(*Expression::parse("All")));
    const YamlNode* usage = map.optional("min_usage");
    dimension.min_usage = number(usage, {.what = "min_usage"});
    if (dimension.min_usage && dimension.min_usage->constant().value_or(0) > 1)
      context_.error(*usage, fmt::format("min_usage is a share of the fanout, at most 1, not {}",
                                         describe(*usage)));
    map.finish();
    return dimension;
  }

  // --- actions ----------------------------------------------------------------------------------

  void actions(const std::vector<std::string>& names) {
    const YamlNode* node = map_.optional("actions");
    if (node == nullptr) return all_actions_of_class(names);
    if (!node->is_sequence()) {
      context_.error(*node, fmt::format("actions must be a list, not {}", describe(*node)));
      return;
    }
    for (const YamlPointer& item : node->items) {
      MapReader map(context_, *item, "an action");
      if (map.is_map()) component_.actions.push_back(action(map, names));
    }
  }

  /// Without a list: the actions that the class gives all numbers of.
  void all_actions_of_class(const std::vector<std::string>& names) {
    if (!class_) return;
    const YamlNode& place = *node_.find("component_class");
    const bool timed = node_.find("total_latency") != nullptr;
    for (const ClassNumbers::ActionNumbers& known : class_->actions) {
      Action action;
      action.name = known.name;
      check_action_name(&place, action.name, names);
      if (!known.energy || (!known.throughput && !timed))
        context_.error(place,
                       fmt::format("{} does not say the {} of the action '{}'", place.text,
                                   known.energy ? "throughput" : "energy", known.name),
                       "list the actions, with what is missing");
      take_from_class(action, known, known.energy.has_value(), known.throughput.has_value());
      component_.actions.push_back(std::move(action));
    }
  }

  void take_from_class(Action& action, const ClassNumbers::ActionNumbers& known, bool energy,
                       bool throughput) {
    if (energy)
      action.energy_j =
          from_class(action.name, energy_of_action(*known.energy, action.bits_per_action));
    if (throughput)
      action.throughput = actions_per_second(*known.throughput, action.bits_per_action);
  }

  Action action(MapReader& map, const std::vector<std::string>& names) {
    Action action;
    const YamlNode* name_node = map.required("name");
    action.name = read_text(context_, name_node, "an action's name").value_or("");
    check_action_name(name_node, action.name, names);
    const auto rule = [](const char* what) {
      return QuantityRule{.what = what, .dimensions = {kBit}, .zero = false};
    };
    if (const auto bits =
            read_quantity(context_, map.optional("bits_per_action"), rule("bits_per_action")))
      action.bits_per_action = bits->value;
    const YamlNode* values_node = map.optional("values_per_action");
    if (const auto values = read_quantity(
            context_, values_node, {.what = "values_per_action", .dimensions = {}, .zero = false}))
      action.values_per_action = values->value;
    if (values_node != nullptr && map.optional("bits_per_action") != nullptr)
      context_.error(*values_node, "an action moves either so many bits or so many values",
                     "leave out 'bits_per_action' or 'values_per_action'");
    const ClassNumbers::ActionNumbers* known = class_ ? class_->find(action.name) : nullptr;
    const bool unknown_class = has_class_ && !class_;  // said already
    const YamlNode* energy_node = unknown_class || (known != nullptr && known->energy)
                                      ? map.optional("energy")
                                      : map.required("energy");
    const bool is_null = energy_node != nullptr && energy_node->is_null();
    if (is_null)
      context_.null_energies().push_back(
          {component_.name, action.name, context_.place_of(*energy_node)});
    action.energy_j = is_null ? std::numeric_limits<double>::quiet_NaN()
                              : energy(energy_node, "energy", action.bits_per_action);
    // What takes no time must say so (`inf`), unless the component says how long it takes.
    const bool timed = node_.find("total_latency") != nullptr;
    const bool has_default = timed || unknown_class || (known != nullptr && known->throughput);
    const YamlNode* throughput_node =
        has_default ? map.optional("throughput") : map.required("throughput");
    const bool is_unknown = throughput_node != nullptr && throughput_node->is_null();
    action.throughput = is_unknown ? std::numeric_limits<double>::quiet_NaN()
                                   : throughput(throughput_node, action.bits_per_action);
    if (node_.tag == "!Compute") warn_of_idle_bits(map, energy_node, throughput_node, known);
    if (values_node != nullptr) {
      check_not_per_bit(energy_node, "energy");
      check_not_per_bit(throughput_node, "throughput");
      if (energy_node == nullptr && known != nullptr && known->energy &&
          known->energy->dimension == kJoulePerBit)
        context_.error(*values_node,
                       "the class gives the energy of a bit: an action needs its bits",
                       "give 'bits_per_action'");
    }
    if (is_unknown && timed)
      context_.error(*throughput_node, "the total_latency says how long this takes, so it is known",
                     "leave out the throughput");
    if (known != nullptr)
      take_from_class(action, *known, energy_node == nullptr && known->energy,
                      throughput_node == nullptr && known->throughput);
    if (const auto setup =
            read_quantity(context_, map.optional("setup"),
                          {.what = "setup", .dimensions = {kSecond}, .clock_hz = clock_hz_}))
      action.setup_s = setup->value;
    map.finish();
    return action;
  }

  /// Of a number in J/bit or bit/s.
  std::optional<Dimension> dimension_with_bits(const YamlNode* node, const char* what) {
    if (node == nullptr || !node->is_scalar() || node->is_null()) return std::nullopt;
    const auto expression = read_expression(context_, node, what);
    if (!expression) return std::nullopt;
    const auto dimension = expression->dimension();
    if (!dimension || !*dimension || (**dimension).bit == 0) return std::nullopt;
    return **dimension;
  }

  /// Beside `values_per_action` nobody knows how many bits an action moves: tensors differ.
  void check_not_per_bit(const YamlNode* node, const char* what) {
    if (const auto dimension = dimension_with_bits(node, what))
      context_.error(
          *node,
          fmt::format("{} cannot be in {} beside 'values_per_action'", what, to_string(*dimension)),
          "give it per action, or 'bits_per_action'");
  }

  void warn_of_bits(const YamlNode* node, const char* what) {
    if (const auto dimension = dimension_with_bits(node, what))
      context_.warning(*node,
                       fmt::format("the {} of a !Compute in {} is taken for that of operations of "
                                   "one bit",
                                   what, to_string(*dimension)),
                       "give it per operation (J, Hz), or 'bits_per_action'");
  }

  /// A compute's actions are operations, however wide: bits only turn numbers per bit into numbers
  /// per action, and may stand in a `total_latency`.
  void warn_of_idle_bits(MapReader& map, const YamlNode* energy, const YamlNode* throughput,
                         const ClassNumbers::ActionNumbers* known) {
    const bool takes_class_energy = energy == nullptr && known != nullptr && known->energy &&
                                    known->energy->dimension == kJoulePerBit;
    const bool takes_class_throughput = throughput == nullptr && known != nullptr &&
                                        known->throughput &&
                                        known->throughput->dimension == kBitPerSecond;
    if (map.optional("bits_per_action") == nullptr) {
      warn_of_bits(energy, "energy");
      warn_of_bits(throughput, "throughput");
    }
    if (node_.find("total_latency") != nullptr) return;
    if (takes_class_energy || takes_class_throughput || dimension_with_bits(energy, "energy") ||
        dimension_with_bits(throughput, "throughput"))
      return;
    for (const char* key : {"bits_per_action", "values_per_action"})
      if (const YamlNode* written = map.optional(key))
        context_.warning(
            *written,
            fmt::format("'{}' of a !Compute has no effect: its actions are operations", key),
            "leave it out, or give the energy per bit or the throughput in bits");
  }

  void check_action_name(const YamlNode* node, const std::string& name,
                         const std::vector<std::string>& names) {
    if (node == nullptr) return;
    if (std::find(names.begin(), names.end(), name) == names.end())
      context_.error(
          *node, fmt::format("a {} has no action '{}'", node_.tag, name),
          name == "leak" || name == "leakage"
              ? "leakage is `leak_power` of the component"
              : did_you_mean(name, names, fmt::format("actions are {}", fmt::join(names, ", "))));
    for (const Action& other : component_.actions)
      if (other.name == name)
        context_.error(*node, fmt::format("two actions are called '{}'", name));
  }

  /// Actions per second; a bandwidth is divided by the bits of one action.
  double throughput(const YamlNode* node, double bits_per_action) {
    const auto value = read_quantity(context_, node,
                                     {.what = "throughput",
                                      .dimensions = {kPerSecond, kBitPerSecond},
                                      .clock_hz = clock_hz_,
                                      .zero = false,
                                      .infinite = true});
    return value ? actions_per_second(*value, bits_per_action) : kUnbounded;
  }

  static double actions_per_second(const Quantity& throughput, double bits_per_action) {
    return throughput.dimension == kBitPerSecond ? throughput.value / bits_per_action
                                                 : throughput.value;
  }

  void require_actions(const std::vector<std::string>& names) {
    if (has_class_ && !class_) return;
    std::vector<std::string> missing;
    for (const std::string& name : names)
      if (std::none_of(component_.actions.begin(), component_.actions.end(),
                       [&](const Action& action) { return action.name == name; }))
        missing.push_back("'" + name + "'");
    const bool is_misspelt = std::any_of(  // which was said
        component_.actions.begin(), component_.actions.end(), [&](const Action& action) {
          return std::find(names.begin(), names.end(), action.name) == names.end();
        });
    if (missing.empty() || is_misspelt) return;
    context_.error(node_, fmt::format("a {} needs the action{} {}", node_.tag,
                                      missing.size() == 1 ? "" : "s", fmt::join(missing, " and ")));
  }

  ReadContext& context_;
  const YamlNode& node_;
  MapReader map_;
  std::optional<double> clock_hz_;
  std::vector<ArchExpression>& expressions_;
  bool has_class_ = false;             ///< `component_class` is written
  std::optional<ClassNumbers> class_;  ///< what it says; nothing after a mistake
  Component component_;
};

}  // namespace

bool is_component_tag(const std::string& tag) {
  return tag == "!Memory" || tag == "!Toll" || tag == "!Container" || tag == "!Network" ||
         tag == "!Compute";
}

std::optional<Component> read_component(ReadContext& context, const YamlNode& node,
                                        std::optional<double> clock_hz,
                                        std::vector<ArchExpression>& expressions) {
  return ComponentReader(context, node, clock_hz, expressions).read();
}

}  // namespace sluice
