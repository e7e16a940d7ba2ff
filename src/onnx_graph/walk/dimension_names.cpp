#include "onnx_graph/walk/dimension_names.h"

#include <cctype>
#include <cmath>

#include "sluice/support/expression.h"

namespace sluice::onnx_graph {

std::string as_variable(const std::string& symbol) {
  std::string name;
  for (const char c : symbol) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) name = "d" + name;
  return name;
}

std::vector<std::string> terms_of(const std::string& symbol) {
  const auto expression = Expression::parse(symbol);
  return expression ? expression->names() : std::vector<std::string>{symbol};
}

std::optional<std::int64_t> composed_size(const std::string& symbol, const SizeLookup& known) {
  const auto expression = Expression::parse(symbol);
  if (!expression || expression->names().empty()) return std::nullopt;
  ExpressionScope scope;
  scope.lookup = [&](const std::string& name) -> std::optional<ExpressionValue> {
    const auto size = known(name);
    return size ? std::optional<ExpressionValue>(static_cast<double>(*size)) : std::nullopt;
  };
  const auto value = expression->evaluate(scope);
  const double* size = value ? std::get_if<double>(&*value) : nullptr;
  if (size == nullptr || !(*size >= 0 && *size < 0x1p53) || *size != std::floor(*size))
    return std::nullopt;
  return static_cast<std::int64_t>(*size);
}

}  // namespace sluice::onnx_graph
