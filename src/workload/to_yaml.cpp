#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sluice/workload/workload.h"
#include "support/yaml_text.h"
#include "workload/einsum_printer.h"

namespace sluice {
namespace {

/// Prints what the reader cannot infer, in a fixed order of keys.
class WorkloadPrinter {
 public:
  explicit WorkloadPrinter(const Workload& workload) : workload_(workload) {
    common_bits_.resize(workload.tensors.size());
    common_ranges_.resize(workload.rank_variables.size());
    for (const Einsum& einsum : workload.einsums) {
      for (const TensorAccess& access : einsum.accesses) {
        auto& bits = common_bits_[access.tensor.index()];
        if (!bits) bits = access.bits_per_value;
      }
      for (const VariableRange& range : einsum.iteration_space) note_range(einsum, range);
    }
  }

  std::string print() const {
    std::string text = "workload:\n";
    const auto line = [&](const char* key, const std::string& value) {
      text += fmt::format("  {}: {}\n", key, value);
    };
    if (!workload_.name.empty()) line("name", yaml_scalar(workload_.name));
    if (workload_.n_instances != 1) line("n_instances", std::to_string(workload_.n_instances));
    line("rank_sizes", rank_sizes());
    line("bits_per_value", bits());
    if (const auto names = persistent_tensors(); !names.empty())
      line("persistent_tensors", names.size() == 1 ? names[0] : yaml_list(names));
    if (const YamlFlowMap values = initial(); !values.empty()) line("initial", values.text());
    if (const YamlFlowMap bounds = common_bounds(); !bounds.empty())
      line("iteration_space_shape", bounds.text());
    text += "  einsums:\n";
    for (const Einsum& einsum : workload_.einsums) text += "  - " + print(einsum) + "\n";
    return text;
  }

 private:
  /// What all Einsums say about a variable's range.
  struct CommonRange {
    std::optional<VariableRange> range;
    bool differs = false;
    bool needs_bound = false;
  };

  /// A plain index of a rank of the same size bounds the variable by itself.
  bool is_implied(const Einsum& einsum, const VariableRange& range) const {
    if (range.minimum != 0) return false;
    for (const TensorAccess& access : einsum.accesses)
      for (std::size_t i = 0; i < access.projection.size(); ++i)
        if (access.projection[i].is_plain_variable() &&
            access.projection[i].terms[0].variable == range.variable &&
            workload_[workload_[access.tensor].ranks[i]].size == range.size)
          return true;
    return false;
  }

  void note_range(const Einsum& einsum, const VariableRange& range) {
    CommonRange& common = common_ranges_[range.variable.index()];
    if (!common.range) common.range = range;
    common.differs = common.differs || *common.range != range;
    common.needs_bound = common.needs_bound || !is_implied(einsum, range);
  }

  std::string rank_sizes() const {
    YamlFlowMap sizes;
    for (const Rank& rank : workload_.ranks) sizes.add(rank.name, std::to_string(rank.size));
    return sizes.text();
  }

  std::vector<std::string> persistent_tensors() const {
    std::vector<std::string> names;
    for (const Tensor& tensor : workload_.tensors)
      if (tensor.persistent) names.push_back(tensor.name);
    return names;
  }

  double bits_of(const Tensor& tensor) const {
    return common_bits_[static_cast<std::size_t>(&tensor - workload_.tensors.data())].value_or(0);
  }

  /// `{All: 8}`, or the rarer widths by tensor and the most frequent one as Other.
  std::string bits() const {
    std::map<double, int> frequency;
    for (const Tensor& tensor : workload_.tensors) ++frequency[bits_of(tensor)];
    if (frequency.empty()) return "{}";
    const auto most =
        std::max_element(frequency.begin(), frequency.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    YamlFlowMap map;
    if (frequency.size() == 1) return map.add("All", yaml_number(most->first)).text();
    for (const Tensor& tensor : workload_.tensors)
      if (bits_of(tensor) != most->first) map.add(tensor.name, yaml_number(bits_of(tensor)));
    return map.add("Other", yaml_number(most->first)).text();
  }

  YamlFlowMap initial() const {
    YamlFlowMap map;
    for (const Tensor& tensor : workload_.tensors)
      if (tensor.initial) map.add(tensor.name, yaml_number(*tensor.initial));
    return map;
  }

  void add_bound(YamlFlowMap& map, const VariableRange& range) const {
    const std::string& name = workload_[range.variable].name;
    map.add(name, fmt::format("{} <= {} < {}", range.minimum, name, range.minimum + range.size));
  }

  YamlFlowMap common_bounds() const {
    YamlFlowMap map;
    for (const CommonRange& common : common_ranges_)
      if (common.range && common.needs_bound && !common.differs) add_bound(map, *common.range);
    return map;
  }

  YamlFlowMap own_bounds(const Einsum& einsum) const {
    YamlFlowMap map;
    for (const VariableRange& range : einsum.iteration_space)
      if (common_ranges_[range.variable.index()].differs && !is_implied(einsum, range))
        add_bound(map, range);
    return map;
  }

  YamlFlowMap own_bits(const Einsum& einsum) const {
    YamlFlowMap map;
    for (const TensorId tensor : tensors_of(einsum)) {
      const double bits = find_access(einsum, tensor)->bits_per_value;
      if (bits != common_bits_[tensor.index()]) map.add(workload_[tensor].name, yaml_number(bits));
    }
    return map;
  }

  YamlFlowMap renames(const Einsum& einsum) const {
    YamlFlowMap map;
    for (const Rename& rename : einsum.renames) {
      std::string set;
      for (const TensorId tensor : rename.tensors)
        set += (set.empty() ? "" : " | ") + workload_[tensor].name;
      map.add(rename.name, set.empty() ? "Nothing" : set);
    }
    return map;
  }

  std::string print(const Einsum& einsum) const {
    const std::string text = yaml_scalar(print_einsum(workload_, einsum));
    YamlFlowMap map;
    if (einsum.name != workload_[einsum.output().tensor].name)
      map.add("name", yaml_scalar(einsum.name));
    const bool named = !map.empty();
    map.add("einsum", text);
    const std::string plain = map.text();
    if (einsum.is_copy_operation) map.add("is_copy_operation", "true");
    if (einsum.n_instances != 1) map.add("n_instances", std::to_string(einsum.n_instances));
    if (const YamlFlowMap own = own_bits(einsum); !own.empty())
      map.add("bits_per_value", own.text());
    if (const YamlFlowMap own = own_bounds(einsum); !own.empty())
      map.add("iteration_space_shape", own.text());
    if (const YamlFlowMap own = renames(einsum); !own.empty()) map.add("renames", own.text());
    return !named && map.text() == plain ? text : map.text();
  }

  const Workload& workload_;
  std::vector<std::optional<double>> common_bits_;  ///< by TensorId: of its first access
  std::vector<CommonRange> common_ranges_;          ///< by RankVariableId
};

}  // namespace

std::string to_yaml(const Workload& workload) { return WorkloadPrinter(workload).print(); }

}  // namespace sluice
