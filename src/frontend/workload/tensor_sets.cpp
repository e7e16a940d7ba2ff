#include "frontend/workload/tensor_sets.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "frontend/names/expression_names.h"

namespace sluice {
namespace {

class TensorSets {
 public:
  TensorSets(ReadContext& context, const WorkloadSource& source, Workload& workload)
      : context_(context), source_(source), workload_(workload), roles_(tensor_roles(workload)) {
    for (std::size_t i = 0; i < workload.tensors.size(); ++i)
      tensor_ids_.emplace(workload.tensors[i].name, i);
    const auto note = [this](const std::vector<RenameSource>& renames) {
      for (const RenameSource& rename : renames) rename_names_.insert(rename.name);
    };
    for (const RenamesOfEinsum& entry : source.renames) {
      note(entry.renames);
      renames_of_[entry.einsum].push_back(&entry);
    }
    for (const EinsumSource& einsum : source.einsums) note(einsum.renames);
  }

  void run() {
    check_rename_entries();
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e) add_renames(e);
    for (const SetSource& set : source_.persistent) mark_persistent(set);
    for (const BitsSource& bits : source_.bits)
      if (const auto tensor = tensor_named(bits.place->text)) bits_by_name_[*tensor] = &bits;
    if (source_.has_bad_bits) return;
    if (has_any_bits())
      for (std::size_t e = 0; e < workload_.einsums.size(); ++e) set_bits(e);
    else
      context_.error(*source_.place, "no tensor has bits_per_value",
                     "for example 'bits_per_value: {All: 8}'");
  }

 private:
  void check_rename_entries() {
    std::vector<std::string> names = {"default"};
    for (const EinsumSource& einsum : source_.einsums) {
      names.push_back(einsum.name);
      if (!einsum.name_in_layer.empty()) names.push_back(einsum.name_in_layer);
    }
    const std::unordered_set<std::string> known(names.begin(), names.end());
    for (const RenamesOfEinsum& entry : source_.renames)
      if (known.count(entry.einsum) == 0)
        context_.error(*entry.place, fmt::format("unknown Einsum '{}'", entry.einsum),
                       did_you_mean(entry.einsum, names));
  }

  std::optional<ExpressionValue> evaluate(const Expression& expression,
                                          const ExpressionScope& scope, const YamlNode& place,
                                          std::size_t e) {
    const auto value = expression.evaluate(scope);
    if (value) return *value;
    ExpressionError error = value.error();
    if (error.hint.empty() && error.message.starts_with("unknown name"))
      error.hint = did_you_mean(name_at(place.text, error.offset), known_names(e));
    context_.error(place, error);
    return std::nullopt;
  }

  std::vector<std::string> known_names(std::size_t e) const {
    std::vector<std::string> names = set_names();
    for (const Tensor& tensor : workload_.tensors) names.push_back(tensor.name);
    for (const Rename& rename : workload_.einsums[e].renames) names.push_back(rename.name);
    return names;
  }

  std::optional<NameSet> evaluate_set(const Expression& expression, const ExpressionScope& scope,
                                      const YamlNode& place, std::size_t e) {
    const auto value = evaluate(expression, scope, place, e);
    if (!value) return std::nullopt;
    if (const NameSet* set = std::get_if<NameSet>(&*value)) return *set;
    context_.error(place, fmt::format("a set of tensors is needed here, not {}", describe(place)));
    return std::nullopt;
  }

  ExpressionScope scope(std::size_t e) const {
    return tensor_set_scope(workload_, roles_, EinsumId(e));
  }

  std::vector<TensorId> members(std::size_t e, NameSet set) const {
    std::vector<TensorId> result;
    const std::vector<TensorId> tensors = tensors_of(workload_.einsums[e]);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if ((set.bits >> i & 1U) != 0) result.push_back(tensors[i]);
    std::sort(result.begin(), result.end());
    return result;
  }

  // --- renames ----------------------------------------------------------------------------------

  /// The sources that hold for one Einsum, its own first; each name once.
  std::vector<const RenameSource*> rename_sources(std::size_t e) const {
    std::vector<const RenameSource*> chosen;
    const auto add = [&](const std::vector<RenameSource>& renames) {
      for (const RenameSource& rename : renames) {
        const bool taken =
            std::any_of(chosen.begin(), chosen.end(),
                        [&](const RenameSource* other) { return other->name == rename.name; });
        if (!taken) chosen.push_back(&rename);
      }
    };
    const EinsumSource& own = source_.einsums[e];
    add(own.renames);
    for (const std::string& einsum : {own.name, own.name_in_layer, std::string("default")})
      if (const auto entries = renames_of_.find(einsum); entries != renames_of_.end())
        for (const RenamesOfEinsum* entry : entries->second) add(entry->renames);
    return chosen;
  }

  /// In the order of the sources; one that names another is evaluated after it.
  void add_renames(std::size_t e) {
    const std::vector<const RenameSource*> sources = rename_sources(e);
    std::vector<const RenameSource*> open = sources;
    while (!open.empty()) {
      const auto ready = std::find_if(open.begin(), open.end(), [&](const RenameSource* rename) {
        const std::vector<std::string> names = rename->source.names();
        return std::none_of(open.begin(), open.end(), [&](const RenameSource* other) {
          return std::find(names.begin(), names.end(), other->name) != names.end() &&
                 tensor_ids_.count(other->name) == 0;
        });
      });
      if (ready == open.end()) {
        context_.error(*open[0]->place,
                       fmt::format("the rename '{}' depends on itself", open[0]->name));
        return;
      }
      add_rename(e, **ready);
      open.erase(ready);
    }
    sort_renames(workload_.einsums[e].renames, sources);
  }

  static void sort_renames(std::vector<Rename>& renames,
                           const std::vector<const RenameSource*>& sources) {
    const auto rank = [&](const Rename& rename) {
      return std::find_if(sources.begin(), sources.end(),
                          [&](const RenameSource* s) { return s->name == rename.name; });
    };
    std::sort(renames.begin(), renames.end(),
              [&](const Rename& a, const Rename& b) { return rank(a) < rank(b); });
  }

  void add_rename(std::size_t e, const RenameSource& source) {
    const ExpressionScope names = scope(e);
    const auto set = evaluate_set(source.source, names, *source.place, e);
    if (!set) return;
    Rename rename{source.name, members(e, *set)};
    if (source.expected_count) check_count(e, source, rename, names);
    workload_.einsums[e].renames.push_back(std::move(rename));
  }

  void check_count(std::size_t e, const RenameSource& source, const Rename& rename,
                   const ExpressionScope& names) {
    const auto value = evaluate(*source.expected_count, names, *source.count_place, e);
    if (!value) return;
    const double* count = std::get_if<double>(&*value);
    if (count == nullptr)
      context_.error(*source.count_place, "expected_count must be a number");
    else if (*count != static_cast<double>(rename.tensors.size()))
      context_.error(*source.count_place,
                     fmt::format("'{}' has {} tensors in the Einsum {}, but {} expected",
                                 rename.name, rename.tensors.size(), workload_.einsums[e].name,
                                 *count == 1 ? "1 is" : fmt::format("{} are", *count)),
                     "give the Einsum 'renames' of its own");
  }

  bool has_any_bits() const {
    return !source_.bits.empty() ||
           std::any_of(source_.einsums.begin(), source_.einsums.end(), [](const EinsumSource& e) {
             return !e.bits.empty() ||
                    std::any_of(e.accesses.begin(), e.accesses.end(),
                                [](const AccessSource& a) { return a.bits_per_value.has_value(); });
           });
  }

  // --- persistence and bits ---------------------------------------------------------------------

  /// The tensor that a set expression consists of, where it is nothing but its name.
  std::optional<TensorId> tensor_named(const std::string& text) const {
    const auto found = tensor_ids_.find(text);
    if (found == tensor_ids_.end() || rename_names_.count(text) != 0) return std::nullopt;
    return TensorId(found->second);
  }

  void mark_persistent(const SetSource& set) {
    if (const auto tensor = tensor_named(set.place->text)) {
      workload_.tensors[tensor->index()].persistent = true;
      return;
    }
    for (std::size_t e = 0; e < workload_.einsums.size(); ++e)
      if (const auto value = evaluate_set(set.tensors, scope(e), *set.place, e))
        for (const TensorId tensor : members(e, *value))
          workload_.tensors[tensor.index()].persistent = true;
  }

  /// The Einsum's own entries come before the workload's; an access's own number before both.
  void set_bits(std::size_t e) {
    Einsum& einsum = workload_.einsums[e];
    const ExpressionScope names = scope(e);
    assign_bits(e, source_.bits, assign_bits_by_name(e), names);
    assign_bits(e, source_.einsums[e].bits, {}, names);
    for (std::size_t a = 0; a < einsum.accesses.size(); ++a) {
      const AccessSource& access = source_.einsums[e].accesses[a];
      if (access.bits_per_value) einsum.accesses[a].bits_per_value = *access.bits_per_value;
      if (einsum.accesses[a].bits_per_value > 0) continue;
      context_.error_inside(*access.place.node, access.place.offset,
                            fmt::format("the tensor {} has no bits_per_value", access.tensor),
                            "for example 'bits_per_value: {All: 8}'");
    }
  }

  /// Keys that are nothing but a tensor's name, without evaluating every one for every Einsum.
  NameSet assign_bits_by_name(std::size_t e) {
    NameSet covered;
    const std::vector<TensorId> tensors = tensors_of(workload_.einsums[e]);
    for (TensorAccess& access : workload_.einsums[e].accesses) {
      const auto found = bits_by_name_.find(access.tensor);
      if (found == bits_by_name_.end()) continue;
      access.bits_per_value = found->second->bits;
      const auto place = std::find(tensors.begin(), tensors.end(), access.tensor);
      covered.bits |= std::uint64_t{1} << static_cast<unsigned>(place - tensors.begin());
    }
    return covered;
  }

  void assign_bits(std::size_t e, const std::vector<BitsSource>& sources, NameSet covered,
                   const ExpressionScope& names) {
    const BitsSource* other = nullptr;
    const auto assign = [&](NameSet set, double bits) {
      const std::vector<TensorId> tensors = members(e, set);
      for (TensorAccess& access : workload_.einsums[e].accesses)
        if (std::find(tensors.begin(), tensors.end(), access.tensor) != tensors.end())
          access.bits_per_value = bits;
    };
    for (const BitsSource& source : sources) {
      if (source.is_other) other = &source;
      if (source.is_other || is_assigned_by_name(source)) continue;
      const auto set = evaluate_set(source.tensors, names, *source.place, e);
      if (!set) continue;
      const NameSet both{covered.bits & set->bits};
      if (both.bits != 0)
        context_.error(
            *source.place,
            fmt::format("two keys of bits_per_value cover {}", workload_[members(e, both)[0]].name),
            "'Other' stands for the tensors that no other key covers");
      covered.bits |= set->bits;
      assign(*set, source.bits);
    }
    if (other != nullptr) assign(NameSet{names.universe.bits & ~covered.bits}, other->bits);
  }

  bool is_assigned_by_name(const BitsSource& source) const {
    const auto tensor = tensor_named(source.place->text);
    if (!tensor) return false;
    const auto found = bits_by_name_.find(*tensor);
    return found != bits_by_name_.end() && found->second == &source;
  }

  ReadContext& context_;
  const WorkloadSource& source_;
  Workload& workload_;
  TensorRoles roles_;
  std::unordered_map<std::string, std::size_t> tensor_ids_;
  std::set<std::string> rename_names_;
  std::unordered_map<std::string, std::vector<const RenamesOfEinsum*>> renames_of_;  ///< by Einsum
  std::unordered_map<TensorId, const BitsSource*> bits_by_name_;
};

}  // namespace

void apply_tensor_sets(ReadContext& context, const WorkloadSource& source, Workload& workload) {
  TensorSets(context, source, workload).run();
}

}  // namespace sluice
