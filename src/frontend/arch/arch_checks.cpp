#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/arch/arch_reader.h"
#include "frontend/names/expression_names.h"
#include "sluice/arch/memory_further_out.h"
#include "sluice/model/binding.h"

namespace sluice {
namespace {

using Type = ArchExpression::Type;

class ExpressionChecker {
 public:
  ExpressionChecker(ReadContext& context, const Workload& workload, const Arch& arch)
      : context_(context), workload_(workload), arch_(arch) {
    roles_ = tensor_roles(workload);
    scopes_.resize(workload.einsums.size());
  }

  /// The Einsums are named where the expression has a value for others.
  void check(const ArchExpression& source) {
    source_ = &source;
    warn_of_two_meanings(source);
    std::optional<ExpressionError> first;
    std::vector<std::size_t> failing;
    for (std::size_t e = 0; e < scopes_.size(); ++e) {
      const auto error = error_of(source, scope_of(e));
      if (!error && source.only_where_needed) return;
      if (!error) continue;
      if (!first) first = error;
      failing.push_back(e);
    }
    if (!first) return;
    explain_width_of_several(*first, source, failing.front());
    explain_memory(*first, source);
    if (failing.size() < scopes_.size()) first->message += ", for " + names_of(failing);
    if (first->hint.empty() && first->message.starts_with("unknown name")) {
      const std::string name = name_at(source.place->text, first->offset);
      const bool is_role = name == "input" || name == "weight" || name == "output";
      if (is_role && !undefined_roles_.insert(name).second) return;  // said once
      first->hint = is_role ? kHowToDefineRoles : did_you_mean(name, known_names());
    }
    context_.error(*source.place, *first);
  }

 private:
  static constexpr std::size_t kMostNamed = 4;
  static constexpr const char* kHowToDefineRoles =
      "the workload says which tensors play this role: 'renames: {input: Inputs, weight: Nothing, "
      "output: Outputs}' for all Einsums, 'renames: {input: A, weight: W}' for one with weights";

  /// `the Einsums A, B and 3 more`
  std::string names_of(const std::vector<std::size_t>& einsums) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kMostNamed, einsums.size()); ++i)
      names.push_back(workload_.einsums[einsums[i]].name);
    return fmt::format("the Einsum{} {}{}", einsums.size() == 1 ? "" : "s", fmt::join(names, ", "),
                       einsums.size() > kMostNamed
                           ? fmt::format(" and {} more", einsums.size() - kMostNamed)
                           : "");
  }

  const ExpressionScope& scope_of(std::size_t e) {
    if (!scopes_[e])
      scopes_[e] =
          tensor_set_scope(workload_, roles_, EinsumId(e),
                           [this](const std::string& name) { return memory_tensors(name); });
    return *scopes_[e];
  }

  /// In rules of what a memory keeps a name that is a tensor's, too, means the memory.
  void warn_of_two_meanings(const ArchExpression& source) {
    for (const std::string& name : source.expression.names())
      if (memory_tensors(name) && find_tensor(workload_, name))
        context_.warning(
            *source.place,
            fmt::format("'{}' is the memory here, and what it holds, not the tensor", name),
            "give one of them another name");
  }

  /// What a memory holds is chosen by the mapping; any set has the right type.
  std::optional<ExpressionValue> memory_tensors(const std::string& name) const {
    if (!source_->knows_memories) return std::nullopt;
    const auto own = find_component(arch_, source_->component);
    return own && memory_further_out(arch_, *own, name) ? std::optional(NameSet{}) : std::nullopt;
  }

  /// A memory where none is known, or none that stands so far in.
  void explain_memory(ExpressionError& error, const ArchExpression& source) const {
    if (!error.message.starts_with("unknown name")) return;
    const std::string name = name_at(source.place->text, error.offset);
    const auto component = find_component(arch_, name);
    if (!component || !arch_[*component].holds_tensors()) return;
    if (source.knows_memories) {
      error.message = fmt::format("{} names {}, which does not stand further out than {}",
                                  source.what, name, source.component);
      error.hint = "what a memory keeps may depend on what memories further out hold";
    } else {
      error.message =
          fmt::format("{} must be a set of tensors, and {} is a memory", source.what, name);
      error.hint = "memories may be named in keep, may_keep and back";
    }
  }

  /// `weight.bits_per_value` is unknown where `weight` is several tensors.
  void explain_width_of_several(ExpressionError& error, const ArchExpression& source,
                                std::size_t einsum) {
    constexpr std::string_view kBits = ".bits_per_value";
    for (const std::string& name : source.expression.names()) {
      if (!name.ends_with(kBits) || error.message != fmt::format("unknown name '{}'", name))
        continue;
      const std::string owner = name.substr(0, name.size() - kBits.size());
      if (!scope_of(einsum).lookup(owner)) continue;
      error.message = fmt::format("'{}' must be one tensor, and is several", owner);
      error.hint =
          fmt::format("give every Einsum one tensor of this role: 'renames: {{{}: ...}}'", owner);
    }
  }

  std::optional<ExpressionError> error_of(const ArchExpression& source,
                                          const ExpressionScope& tensors) const {
    ExpressionScope scope = tensors;
    if (source.over_actions)
      if (const auto component = find_component(arch_, source.component))
        scope = action_scope(arch_[*component], scope, [](std::size_t) { return 1.0; });
    const auto value = source.expression.evaluate(scope);
    if (!value) return value.error();
    return type_error(source, *value);
  }

  static std::optional<ExpressionError> type_error(const ArchExpression& source,
                                                   const ExpressionValue& value) {
    const char* needed = nullptr;
    if (source.type == Type::kTensorSet && !std::holds_alternative<NameSet>(value))
      needed = "a set of tensors";
    if (source.type == Type::kNumber && !std::holds_alternative<double>(value)) needed = "a number";
    if (source.type == Type::kTruth && !std::holds_alternative<bool>(value))
      needed = "true or false";
    if (needed != nullptr)
      return ExpressionError{
          fmt::format("{} must be {}, not {}", source.what, needed, describe(*source.place)),
          0,
          {}};
    const double* number = std::get_if<double>(&value);
    if (number != nullptr && *number < 0)
      return ExpressionError{
          fmt::format("{} must not be negative, but it is {}", source.what, *number), 0, {}};
    return std::nullopt;
  }

  std::vector<std::string> known_names() const {
    std::set<std::string> names(set_names().begin(), set_names().end());
    for (const Tensor& tensor : workload_.tensors) names.insert(tensor.name);
    for (const Einsum& einsum : workload_.einsums)
      for (const Rename& rename : einsum.renames) names.insert(rename.name);
    for (const Component& component : arch_.components)
      if (component.holds_tensors()) names.insert(component.name);
    names.insert("ops");
    return {names.begin(), names.end()};
  }

  ReadContext& context_;
  const Workload& workload_;
  const Arch& arch_;
  TensorRoles roles_;
  std::set<std::string> undefined_roles_;               ///< that were reported
  std::vector<std::optional<ExpressionScope>> scopes_;  ///< by EinsumId, made when needed
  const ArchExpression* source_ = nullptr;              ///< that is checked
};

/// Any name may be one of a workload's tensors: `n` tensors in each set, 8 bits a value.
ExpressionScope scope_of_any_workload(std::size_t n) {
  const NameSet all{(std::uint64_t{1} << n) - 1};
  ExpressionScope scope;
  scope.universe = all;
  scope.lookup = [all](const std::string& name) -> std::optional<ExpressionValue> {
    if (name.ends_with(".bits_per_value")) return 8.0;
    if (name.find('.') != std::string::npos) return std::nullopt;
    return all;
  };
  scope.literal_element = [all](const std::string&) { return std::optional(all); };
  return scope;
}

/// A name in an expression that no workload makes known.
std::optional<ExpressionError> error_for_all_workloads(const ArchExpression& source,
                                                       const Arch& arch) {
  const auto component = find_component(arch, source.component);
  const auto error_in = [&](ExpressionScope scope) -> std::optional<ExpressionError> {
    if (source.over_actions && component)
      scope = action_scope(arch[*component], scope, [](std::size_t) { return 1.0; });
    const auto value = source.expression.evaluate(scope);
    return value ? std::nullopt : std::optional(value.error());
  };
  std::optional<ExpressionError> error;
  for (const std::size_t n_tensors : {1, 2, 3}) {
    error = error_in(scope_of_any_workload(n_tensors));
    if (!error) return std::nullopt;
  }
  // A set where a number is needed: most likely a name that is no tensor's.
  ExpressionScope known = scope_of_any_workload(2);
  known.lookup = [&arch,
                  any = known.lookup](const std::string& name) -> std::optional<ExpressionValue> {
    static const std::set<std::string> kRoles = {"input", "weight", "output", "ops"};
    const auto memory = find_component(arch, name);
    const bool is_known =
        kRoles.count(name) > 0 || memory ||
        std::find(set_names().begin(), set_names().end(), name) != set_names().end() ||
        name.find('.') != std::string::npos;
    return is_known ? any(name) : std::nullopt;
  };
  const auto unknown = error_in(std::move(known));
  const auto is_it = [](const auto& own) {
    return own && own->message.starts_with("unknown name");
  };
  return is_it(unknown) ? unknown : is_it(error) ? error : std::nullopt;
}

}  // namespace

void check_arch_expressions(ReadContext& context, const std::vector<ArchExpression>& expressions,
                            const Workload& workload, const Arch& arch) {
  ExpressionChecker checker(context, workload, arch);
  for (const ArchExpression& expression : expressions) checker.check(expression);
}

void check_arch_expressions(ReadContext& context, const std::vector<ArchExpression>& expressions,
                            const Arch& arch) {
  for (const ArchExpression& expression : expressions) {
    if (expression.type != Type::kNumber || expression.only_where_needed) continue;
    if (const auto error = error_for_all_workloads(expression, arch))
      context.error(*expression.place, *error);
  }
}

}  // namespace sluice
