#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/import/timeloop/timeloop_names.h"
#include "sluice/support/checked.h"
#include "support/yaml_text.h"

namespace sluice::timeloop {
namespace {

constexpr double kDefaultCycle = 1e-9;

class ArchWriter {
 public:
  ArchWriter(ImportContext& context, Specs& specs, const EnergyTable* energies, PlacedText& places)
      : context_(context),
        places_(places),
        specs_(specs),
        energies_(energies),
        clock_hz_(std::round(1 / specs.cycle_s.value_or(kDefaultCycle))),
        workload_bits_(word_bits_of(context, specs)) {}

  std::string write() {
    text_ = fmt::format("arch:\n  clock: {}\n  nodes:\n", yaml_number(clock_hz_));
    for (Level& level : specs_.levels) {
      if (level.node != nullptr) text_ += places_.mark(level.node->position);
      if (level.kind == Level::Kind::kStorage) storage(level);
      if (level.kind == Level::Kind::kFanout) fanout(level);
      if (level.kind == Level::Kind::kCompute) compute(level);
      if (level.node != nullptr) leave_out_unused(level);
    }
    note_left_out();
    if (!without_energy_.empty())
      context_.note(fmt::format("no energies are given for {}: they are null, and so is every "
                                "energy that depends on them",
                                fmt::join(without_energy_, ", ")),
                    "--ert FILE gives energies per action");
    if (energies_ != nullptr) energies_->note_unused(context_);
    return text_;
  }

 private:
  /// Attributes of one name that have no counterpart.
  struct LeftOut {
    const YamlNode* first = nullptr;
    std::vector<std::string> components;
  };

  /// That say how Accelergy's models work out an energy or an area, and nothing to Timeloop.
  static bool is_for_energy_models(const std::string& attribute) {
    static const std::set<std::string> kKnown = {"technology",
                                                 "tech_node",
                                                 "voltage",
                                                 "type",
                                                 "latency",
                                                 "cycle_time",
                                                 "cycle_seconds",
                                                 "n_banks",
                                                 "num_banks",
                                                 "n_rdwr_ports",
                                                 "n_rw_ports",
                                                 "n_rd_ports",
                                                 "n_wr_ports",
                                                 "num_ports",
                                                 "width",
                                                 "adder_width",
                                                 "multiplier_width",
                                                 "precision",
                                                 "mantissa",
                                                 "exponent",
                                                 "energy_scale",
                                                 "area_scale",
                                                 "num_pipeline_stages",
                                                 "action_latency_cycles"};
    return kKnown.count(attribute) > 0;
  }

  /// What is misspelt is said at once, the rest for all components together.
  void leave_out_unused(const Level& level) {
    for (const auto& [key, node] : level.attributes.unused()) {
      const std::string likely = level.attributes.likely(key);
      if (!is_for_energy_models(key) && !likely.empty()) {
        context_.note_or_warn(
            *node,
            fmt::format("the attribute '{}' of {} has no counterpart and is left out", key,
                        level.name),
            fmt::format("did you mean '{}'?", likely));
        continue;
      }
      LeftOut& left_out = left_out_[key];
      if (left_out.first == nullptr) left_out.first = node;
      left_out.components.push_back(level.name);
    }
  }

  void note_left_out() {
    std::vector<std::string> of_models;
    const YamlNode* first = nullptr;
    for (const auto& [key, left_out] : left_out_) {
      if (!is_for_energy_models(key)) {
        context_.note(*left_out.first,
                      fmt::format("the attribute '{}' of {} has no counterpart and is left out",
                                  key, fmt::join(left_out.components, ", ")));
        continue;
      }
      if (first == nullptr) first = left_out.first;
      of_models.push_back(key);
    }
    if (first != nullptr)
      context_.note(*first, fmt::format("attributes for models of energy and area say nothing "
                                        "here: {}",
                                        fmt::join(of_models, ", ")));
  }

  /// Words of one access, and of the whole memory.
  struct Shape {
    double word_bits = 0;
    double block_words = 1;
    std::optional<double> words;
    double access_share = 1;  ///< of an access's energy, for each instance that it serves
  };

  Shape shape_of(Level& level) {
    Attributes& attributes = level.attributes;
    Shape shape;
    shape.word_bits = attributes.number(context_, {"word_bits", "word_width", "datawidth"}, false)
                          .value_or(workload_bits_);
    const auto block = attributes.number(context_, {"block_size", "n_words"});
    auto cluster = attributes.number(context_, {"cluster_size"}, false);
    const auto width = attributes.number(context_, {"width", "memory_width", "data_storage_width"});
    shape.block_words = block.value_or(1);
    if (width && !block)
      shape.block_words = std::floor(*width / cluster.value_or(1) / shape.word_bits);
    if (shape.block_words < 1) {
      context_.note(*level.node, fmt::format("a word of {} is wider than its memory; one access "
                                             "moves one word",
                                             level.name));
      shape.block_words = 1;
    }
    if (width && block && !cluster)
      cluster = std::floor(*width / (shape.word_bits * shape.block_words));
    if (cluster.value_or(1) > 1) shape.access_share = access_share(level, *cluster);
    const auto depth = attributes.number(context_, {"depth", "memory_depth", "data_storage_depth"});
    const auto entries = attributes.number(context_, {"entries"});
    const auto kilobytes = attributes.number(context_, {"sizeKB"});
    if (int(entries.has_value()) + int(depth.has_value()) + int(kilobytes.has_value()) > 1)
      context_.note(*level.node, fmt::format("{} gives its size more than once: {} counts",
                                             level.name, entries ? "'entries'" : "'depth'"));
    if (entries)
      shape.words = *entries;
    else if (depth)
      shape.words = *depth * shape.block_words;
    else if (kilobytes)
      shape.words = *kilobytes * 1024 * 8 / shape.word_bits;
    const double copies = attributes.number(context_, {"multiple_buffering"}).value_or(1);
    if (shape.words && copies > 0) shape.words = std::floor(*shape.words / copies);
    return shape;
  }

  /// An access of a cluster serves all its instances at once. Timeloop spreads the instances that
  /// the mapping uses over as many clusters as there are.
  double access_share(const Level& level, double cluster_size) {
    const auto used = static_cast<double>(n_used_);
    const double clusters = std::ceil(static_cast<double>(n_instances_) / cluster_size);
    const double share = std::min(used, clusters) / used;
    context_.note(
        *level.node,
        fmt::format("{} instances of {} make a cluster, of which an access serves all "
                    "that are used: {}, so each is charged {} of its energy",
                    cluster_size, level.name, yaml_number(1 / share), yaml_number(share)));
    return share;
  }

  static bool is_dram(const std::string& type) {
    return type.find("DRAM") != std::string::npos || type.find("dram") != std::string::npos;
  }

  void storage(Level& level) {
    const Shape shape = shape_of(level);
    const std::string name = component_name(level);
    text_ += fmt::format("  - !Memory\n    name: {}\n    size: {}\n", name,
                         shape.words ? yaml_number(*shape.words * shape.word_bits) : "inf");
    if (!shape.words && !is_outermost_ && !is_dram(level.type))
      context_.note(*level.node,
                    fmt::format("{} has no 'depth', 'entries' or 'sizeKB': its size is "
                                "unlimited",
                                name));
    // In Timeloop a tile stays over the loops that do not move it, whatever the memories further
    // out keep between these: its node may stand above theirs.
    text_ += is_outermost_ ? "    tensors: {keep: All}\n"
                           : "    tensors: {may_keep: All, force_memory_hierarchy_order: false}\n";
    is_outermost_ = false;
    if (shape.word_bits != workload_bits_)
      text_ += fmt::format("    bits_per_value: {{All: {}}}\n", yaml_number(shape.word_bits));
    text_ += "    draining_reads: free\n";
    leakage(level);
    // Timeloop rounds accesses of blocks up for each data space, action and instance.
    if (shape.block_words > 1) text_ += "    partial_actions: whole\n";
    Attributes& attributes = level.attributes;
    const auto half = attributes.number(context_, {"bandwidth"});
    const auto shared = attributes.number(context_, {"shared_bandwidth"});
    auto read = attributes.number(context_, {"read_bandwidth"});
    auto write = attributes.number(context_, {"write_bandwidth"});
    if (half && !read) read = *half / 2;
    if (half && !write) write = *half / 2;
    if (shared && (read || write))
      context_.note(*level.node,
                    fmt::format("{} has a shared bandwidth and one for each direction: the shared "
                                "one is left out",
                                level.name));
    if (read || write)
      text_ += "    ports: separate\n";
    else
      read = write = shared;
    attributes.find({"class"});
    note_neutral(attributes);
    text_ += "    actions:\n";
    action(level, "read", read, shape);
    action(level, "write", write, shape);
    network(level, shape);
  }

  /// The network below a storage: Timeloop's routes start in the middle of the left edge, run along
  /// X first, and charge each hop's wires and router; one instance alone costs no hops. What
  /// bypasses the storage behind the network pays the hops that it would pay if it were kept there.
  void network(Level& level, const Shape& shape) {
    const double hop = level.attributes.number(context_, {"energy_per_hop"}).value_or(0);
    const double router = level.attributes.number(context_, {"router_energy"}).value_or(0);
    if (hop + router == 0 || &level == &specs_.levels.back() ||
        (&level + 1)->kind != Level::Kind::kFanout || !(&level + 1)->is_spread)
      return;
    level.attributes.find({"reduction_supported"});  // sums that come back pay no hops either way
    has_network_ = true;
    const bool is_bypassed = &level + 1 != &specs_.levels.back() && (&level + 2)->is_bypassed;
    const bool bypassed = is_bypassed && specs_.is_perfect;
    if (is_bypassed && !bypassed)
      context_.note(*level.node,
                    fmt::format("what bypasses {} pays hops each time, as the factors do not "
                                "divide; in Timeloop only when it moves",
                                (&level + 2)->name));
    text_ += fmt::format(
        "  - !Network\n    name: {}_network\n    topology: mesh\n    entry: edge\n"
        "    layout: packed\n    returning_sums: free\n{}"
        "    link_bandwidth: inf\n    hop_energy: {}\n    bits_per_hop_energy: {}\n",
        component_name(level), bypassed ? "    repeated_values: free\n" : "",
        yaml_number((hop + router) * kPico), yaml_number(shape.word_bits));
    if (router != 0)
      context_.note(*level.node,
                    fmt::format("the router energy of {} is charged once a hop; Timeloop adds the "
                                "router at the entry",
                                level.name));
  }

  /// See mapping_text: what stands for links between neighbours.
  void links(const Level& fanout) {
    if (specs_.linked.empty() || &fanout + 2 != &specs_.levels.back() + 1) return;
    text_ += fmt::format(
        "  - !Memory\n    name: {}\n    size: inf\n    tensors: {{keep: Nothing, may_keep: {}, "
        "force_memory_hierarchy_order: false}}\n"
        "    draining_reads: free\n    actions:\n"
        "    - {{name: read, energy: 0, throughput: inf}}\n"
        "    - {{name: write, energy: 0, throughput: inf}}\n",
        links_name(fanout), set_of(specs_.linked));
  }

  /// A set expression for data spaces. Their names are words of it where Sluice has sets so called.
  std::string set_of(const std::vector<std::string>& names) const {
    std::string text;
    for (const std::string& name : names) {
      std::string one = sluice_name(name);
      if (name == "Inputs")
        for (const DataSpace& other : specs_.problem->data_spaces)
          if (!other.is_output && other.name != name) one += " - " + sluice_name(other.name);
      text += (text.empty() ? "(" : " | (") + one + ")";
    }
    return yaml_scalar(text);
  }

  /// Attributes whose usual value says what is so anyway.
  void note_neutral(Attributes& attributes) {
    const auto neutral = [&](const char* key, std::initializer_list<const char*> values) {
      Attributes looked = attributes;
      const YamlNode* node = looked.find({key});
      if (node != nullptr && std::find(values.begin(), values.end(), node->text) != values.end())
        attributes.find({key});
    };
    neutral("allow_overbooking", {"false", "False"});
    neutral("reduction_supported", {"true", "True"});
    neutral("min_utilization", {"0", "0.0"});
    neutral("has_power_gating", {"false", "False"});
    neutral("power_gated_at", {"", "null"});
    attributes.find({"version"});
    attributes.expect({"global_cycle_seconds"});
    Attributes looked = attributes;
    const auto cycle = looked.number(context_, {"global_cycle_seconds"});
    if (cycle && std::abs(*cycle * clock_hz_ - 1) < 1e-6) attributes.find({"global_cycle_seconds"});
  }

  void action(Level& level, const char* name, std::optional<double> words_per_cycle,
              const Shape& shape) {
    YamlFlowMap map;
    map.add("name", name).add("energy", energy_text(level, name, shape.access_share));
    const double bits = shape.block_words * shape.word_bits;
    map.add("throughput", words_per_cycle
                              ? yaml_number(*words_per_cycle / shape.block_words * clock_hz_)
                              : "inf");
    map.add("bits_per_action", yaml_number(bits));
    text_ += fmt::format("    - {}\n", map.text());
  }

  std::string energy_text(Level& level, const std::string& action, double share = 1) {
    if (energies_ != nullptr)
      if (const auto energy = energies_->energy(level.name, alternatives(action)))
        return yaml_number(*energy * share);
    const char* own = action == "compute" ? "energy" : "vector_access_energy";
    if (const auto energy = level.attributes.number(context_, {own}))
      return yaml_number(*energy * kPico * share);
    const std::string name = fmt::format("{}.{}", component_name(level), action);
    if (std::find(without_energy_.begin(), without_energy_.end(), name) == without_energy_.end())
      without_energy_.push_back(name);
    return "null";
  }

  /// The names under which tables of energies know an action, Timeloop's own first.
  static std::vector<std::string> alternatives(const std::string& action) {
    if (action == "read") return {"random_read", "read", "repeated_read", "access"};
    if (action == "write")
      return {"random_fill", "random_write", "fill", "write", "random_update", "update", "access"};
    return {"random_compute", "mac_random", "mult_random", "compute_random", "mac",
            "mult",           "compute",    "mac_compute", "multiply"};
  }

  void fanout(Level& level) {
    if (level.fanout_x == 1 && level.fanout_y == 1) return;
    text_ += fmt::format("  - !Container\n    name: {}\n    spatial:\n", component_name(level));
    const std::int64_t n_below = checked_multiply(level.fanout_x, level.fanout_y);
    n_instances_ = checked_multiply(n_instances_, n_below);
    n_used_ = checked_multiply(n_used_, level.n_used.value_or(n_below));
    std::vector<std::string> unshared;  // data spaces
    for (const Directive& directive : specs_.mapping)
      if (directive.kind == Directive::Kind::kSpatial &&
          std::find(level.spatial_targets.begin(), level.spatial_targets.end(), directive.target) !=
              level.spatial_targets.end())
        unshared.insert(unshared.end(), directive.no_reuse.begin(), directive.no_reuse.end());
    const auto dimension = [&](const char* name, std::int64_t fanout) {
      YamlFlowMap map;
      map.add("name", name).add("fanout", std::to_string(fanout));
      if (!unshared.empty()) map.add("may_reuse", fmt::format("~({})", set_of(unshared)));
      text_ += fmt::format("    - {}\n", map.text());
    };
    if (level.fanout_x > 1 || level.fanout_y == 1 || has_network_) dimension("X", level.fanout_x);
    has_network_ = false;
    if (level.fanout_y > 1) dimension("Y", level.fanout_y);
    links(level);
  }

  void compute(Level& level) {
    level.attributes.find({"word_bits"});
    level.attributes.find({"word_width"});
    level.attributes.find({"datawidth"});
    note_neutral(level.attributes);
    YamlFlowMap map;
    map.add("name", "compute").add("energy", energy_text(level, "compute"));
    map.add("throughput", yaml_number(clock_hz_));
    text_ += fmt::format("  - !Compute\n    name: {}\n", component_name(level));
    leakage(level);
    text_ += fmt::format("    actions:\n    - {}\n", map.text());
  }

  /// Timeloop charges the leakage of the storage instances that a mapping uses, none of computes.
  void leakage(const Level& level) {
    if (energies_ == nullptr) return;
    const auto leakage = energies_->leakage(level.name, 1 / clock_hz_);
    if (!leakage || leakage->power_w == 0) return;
    if (level.kind == Level::Kind::kCompute) {
      context_.note(*leakage->place,
                    fmt::format("the leakage of {}, {} W in each instance, is left out, as "
                                "Timeloop does",
                                level.name, yaml_number(*leakage->power_w)),
                    "`leak_power` of the imported component counts it");
      return;
    }
    const double used = static_cast<double>(n_used_) / static_cast<double>(n_instances_);
    text_ += fmt::format("    leak_power: {}\n", yaml_number(*leakage->power_w * used));
    if (n_used_ < n_instances_)
      context_.note(*leakage->place,
                    fmt::format("{} of {} instances of {} leak, those that the mapping uses; "
                                "Timeloop takes the others for switched off",
                                n_used_, n_instances_, level.name));
  }

  std::string component_name(const Level& level) {
    const std::string name = sluice_name(level.name);
    if (name != level.name && level.node != nullptr)
      context_.note(*level.node, fmt::format("{} is called {} here", level.name, name));
    return name;
  }

  ImportContext& context_;
  PlacedText& places_;
  Specs& specs_;
  const EnergyTable* energies_;
  double clock_hz_;
  double workload_bits_;
  bool is_outermost_ = true;
  bool has_network_ = false;                   ///< right above
  std::int64_t n_instances_ = 1, n_used_ = 1;  ///< of the level that is written
  std::string text_;
  std::map<std::string, LeftOut> left_out_;  ///< by attribute
  std::vector<std::string> without_energy_;
};

}  // namespace

std::string arch_text(ImportContext& context, Specs& specs, const EnergyTable* energies,
                      PlacedText& places) {
  places = {};
  return places.finish(ArchWriter(context, specs, energies, places).write());
}

}  // namespace sluice::timeloop
