#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "sluice/support/error.h"
#include "sluice/workload/workload.h"

namespace sluice {
namespace {

constexpr std::size_t kMaxTensorsOfEinsum = 64;

constexpr std::size_t kRoles = 7;
constexpr std::string_view kBits = ".bits_per_value";

/// What names mean in one Einsum: its own tensors, renames and roles are evaluated once; every
/// other tensor of the workload is the empty set. There are a dozen names or so: they are searched.
struct NameTable {
  struct Set {
    std::string name;
    NameSet set;
  };
  std::vector<Set> sets;               ///< a later one hides an earlier one of the same name
  std::vector<double> bits_per_value;  ///< per tensor of the Einsum
  NameSet operations;
  const Workload* workload = nullptr;
  std::function<std::optional<ExpressionValue>(const std::string&)> extra;

  const NameSet* find(std::string_view name) const {
    for (auto entry = sets.rbegin(); entry != sets.rend(); ++entry)
      if (entry->name == name) return &entry->set;
    return nullptr;
  }

  /// `name` is the set, and `name.bits_per_value` the bits of its tensor (0 if it is empty; nothing
  /// if it holds several, whose bits would be ambiguous).
  std::optional<ExpressionValue> value(std::string_view name) const {
    if (name == "ops") return operations;
    if (const NameSet* set = find(name)) return *set;
    if (!name.ends_with(kBits)) return std::nullopt;
    const NameSet* set = find(name.substr(0, name.size() - kBits.size()));
    if (!set || (set->bits & (set->bits - 1)) != 0) return std::nullopt;
    if (set->bits == 0) return 0.0;
    return bits_per_value[static_cast<std::size_t>(__builtin_ctzll(set->bits))];
  }
};

/// The mask of those of the Einsum's tensors for which `predicate` holds.
template <class Predicate>
NameSet mask_where(const std::vector<TensorId>& tensors, Predicate predicate) {
  NameSet set;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (predicate(tensors[i])) set.bits |= std::uint64_t{1} << i;
  return set;
}

NameSet operation_kinds(const Einsum& einsum) {
  NameSet set;
  for (const OperationCount& count : operations_per_point(einsum.expression))
    set.bits |= std::uint64_t{1} << static_cast<int>(count.kind);
  return set;
}

NameSet accessed(const Einsum& einsum, const std::vector<TensorId>& tensors, bool as_output) {
  return mask_where(tensors, [&](TensorId t) {
    for (const TensorAccess& access : einsum.accesses)
      if (access.tensor == t && access.is_output == as_output) return true;
    return false;
  });
}

void add_role_sets(NameTable& table, const Workload& workload, const TensorRoles& roles,
                   const Einsum& einsum, const std::vector<TensorId>& tensors) {
  const auto add = [&](const char* name, NameSet set) { table.sets.push_back({name, set}); };
  add("All", mask_where(tensors, [](TensorId) { return true; }));
  add("Nothing", NameSet{});
  add("Inputs", accessed(einsum, tensors, false));
  add("Outputs", accessed(einsum, tensors, true));
  add("Intermediates", mask_where(tensors, [&](TensorId t) { return roles.is_intermediate(t); }));
  add("Shared", mask_where(tensors, [&](TensorId t) { return roles.is_shared(t); }));
  add("Persistent", mask_where(tensors, [&](TensorId t) { return workload[t].persistent; }));
}

/// A tensor that this Einsum does not use: no elements, of no width.
std::optional<ExpressionValue> foreign_tensor(const Workload& workload, const std::string& name) {
  if (find_tensor(workload, name)) return NameSet{};
  if (name.ends_with(kBits) && find_tensor(workload, name.substr(0, name.size() - kBits.size())))
    return 0.0;
  return std::nullopt;
}

}  // namespace

ExpressionScope tensor_set_scope(
    const Workload& workload, const TensorRoles& roles, EinsumId einsum_id,
    std::function<std::optional<ExpressionValue>(const std::string&)> extra) {
  const Einsum& einsum = workload[einsum_id];
  const std::vector<TensorId> tensors = tensors_of(einsum);
  SLUICE_CHECK(tensors.size() <= kMaxTensorsOfEinsum,
               "the Einsum " + einsum.name + " has more than 64 tensors");
  auto table = std::make_shared<NameTable>();
  table->extra = std::move(extra);
  table->workload = &workload;
  table->sets.reserve(tensors.size() + kRoles + einsum.renames.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    table->sets.push_back({workload[tensors[i]].name, NameSet{std::uint64_t{1} << i}});
    table->bits_per_value.push_back(find_access(einsum, tensors[i])->bits_per_value);
  }
  add_role_sets(*table, workload, roles, einsum, tensors);
  for (const Rename& rename : einsum.renames)
    table->sets.push_back({rename.name, mask_where(tensors, [&](TensorId t) {
                             return std::find(rename.tensors.begin(), rename.tensors.end(), t) !=
                                    rename.tensors.end();
                           })});
  table->operations = operation_kinds(einsum);

  ExpressionScope scope;
  scope.universe = mask_where(tensors, [](TensorId) { return true; });
  scope.lookup = [table](const std::string& name) -> std::optional<ExpressionValue> {
    if (table->extra) {
      if (auto value = table->extra(name)) return value;
    }
    if (auto value = table->value(name)) return value;
    return foreign_tensor(*table->workload, name);
  };
  scope.literal_element = [lookup =
                               scope.lookup](const std::string& name) -> std::optional<NameSet> {
    if (const auto kind = operation_from_name(name))
      return NameSet{std::uint64_t{1} << static_cast<int>(*kind)};
    const auto named = lookup(name);
    const NameSet* set = named ? std::get_if<NameSet>(&*named) : nullptr;
    return set ? std::optional(*set) : std::nullopt;
  };
  return scope;
}

}  // namespace sluice
