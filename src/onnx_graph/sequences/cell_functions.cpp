#include "onnx_graph/sequences/cell_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "onnx_graph/cascade/formulas.h"

namespace sluice::onnx_graph {
namespace {

/// A function with the numbers that it has where the node gives none.
struct KnownFunction {
  const char* name;
  int n_numbers;
  double alpha, beta;
  Expr (*function)(const Expr&, double, double);
};

const KnownFunction kFunctions[] = {
    {"tanh", 0, 0, 0, [](const Expr& x, double, double) { return apply("tanh", {x}); }},
    {"relu", 0, 0, 0, [](const Expr& x, double, double) { return positive(x); }},
    {"sigmoid", 0, 0, 0, [](const Expr& x, double, double) { return sigmoid(x); }},
    {"softsign", 0, 0, 0, [](const Expr& x, double, double) { return softsign(x); }},
    {"softplus", 0, 0, 0, [](const Expr& x, double, double) { return softplus(x); }},
    {"leakyrelu", 1, 0.01, 0, [](const Expr& x, double a, double) { return leaky_relu(x, a); }},
    {"thresholdedrelu", 1, 1, 0,
     [](const Expr& x, double a, double) { return thresholded_relu(x, a); }},
    {"elu", 1, 1, 0, [](const Expr& x, double a, double) { return elu(x, a); }},
    {"hardsigmoid", 2, 0.2, 0.5, hard_sigmoid},
    {"affine", 2, 1, 0,
     [](const Expr& x, double a, double b) { return number(a) * x + number(b); }},
    {"scaledtanh", 2, 1, 1,
     [](const Expr& x, double a, double b) { return number(a) * apply("tanh", {number(b) * x}); }},
};

const KnownFunction* function_named(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const auto* found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                   [&](const KnownFunction& known) { return name == known.name; });
  return found == std::end(kFunctions) ? nullptr : found;
}

int n_reads(const Expr& e) {
  int n = e.kind == Expr::Kind::kAccess ? 1 : 0;
  for (const Expr& operand : e.operands) n += n_reads(operand);
  return n;
}

/// Numbers of an attribute, one after the other.
class Numbers {
 public:
  Numbers(const NodeContext& context, const std::string& attribute) {
    if (const Attribute* found = context.node().find(attribute)) numbers_ = found->floats;
  }
  double next(double otherwise) { return at_ < numbers_.size() ? numbers_[at_++] : otherwise; }

 private:
  std::vector<double> numbers_;
  std::size_t at_ = 0;
};

std::vector<std::string> names_of(const NodeContext& context, const std::vector<std::string>& usual,
                                  std::int64_t directions) {
  if (const Attribute* given = context.node().find("activations")) {
    if (given->strings.size() != usual.size() * static_cast<std::size_t>(directions))
      context.fail(fmt::format("its attribute activations has {} names, not {} for each direction",
                               given->strings.size(), usual.size()));
    return given->strings;
  }
  std::vector<std::string> names;
  for (std::int64_t d = 0; d < directions; ++d)
    names.insert(names.end(), usual.begin(), usual.end());
  return names;
}

}  // namespace

Expr CellFunction::clipped(Expr x) const {
  return clip > 0 ? onnx_graph::clipped(std::move(x), -clip, clip) : x;
}

std::vector<CellFunction> cell_functions(const NodeContext& context,
                                         const std::vector<std::string>& usual,
                                         std::int64_t directions, std::vector<std::string>& notes) {
  Numbers alphas(context, "activation_alpha"), betas(context, "activation_beta");
  const double clip = context.real("clip", 0);
  std::vector<CellFunction> functions;
  for (const std::string& name : names_of(context, usual, directions)) {
    const KnownFunction* known = function_named(name);
    if (known == nullptr) {
      notes.push_back(fmt::format("the activation {} is priced as Tanh", name));
      known = &kFunctions[0];
    }
    CellFunction function{known->function};
    if (known->n_numbers > 0) function.alpha = alphas.next(known->alpha);
    if (known->n_numbers > 1) function.beta = betas.next(known->beta);
    function.clip = clip;
    function.reads_once = n_reads(function.of(read(0))) == 1;
    functions.push_back(function);
  }
  return functions;
}

}  // namespace sluice::onnx_graph
