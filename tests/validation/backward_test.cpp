// Gradients of every workload of the library, at small sizes, against central differences of the
// plain evaluation.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"
#include "sluice/referee/execute.h"
#include "sluice/support/library_dir.h"
#include "sluice/workload/backward.h"

namespace sluice {
namespace {

namespace fs = std::filesystem;
using Variables = std::map<std::string, std::string>;

std::vector<std::string> library_workloads() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(library_dir() / "workloads"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Workload loaded(const std::string& name, const Variables& variables) {
  LoadOptions options;
  options.variables = variables;
  options.library_dirs = {(library_dir() / "workloads").string()};
  Result<Specs> specs =
      load_specs({(library_dir() / "workloads" / (name + ".yaml")).string()}, options);
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  return *specs->workload;
}

bool is_image_network(const std::string& name) {
  return name.starts_with("resnet") || name.starts_with("mobilenet");
}

/// Images a seventh as wide under the same windows, all else at most 4.
std::int64_t smaller(const Rank& rank, bool is_image) {
  if (is_image && (rank.name[0] == 'R' || rank.name[0] == 'S')) return rank.size;
  if (is_image && rank.size % 7 == 0) return rank.size / 7;
  return std::min<std::int64_t>(rank.size, 4);
}

/// What the library has none of: recurrences through several Einsums (an LSTM's cell, a chain that
/// hands a value from one state to the next), a choice, and tensors in parts, whole, sliced and in
/// windows.
const std::map<std::string, std::string>& own_workloads() {
  static const std::map<std::string, std::string> workloads = {{"lstm_cell", R"yaml(workload:
  rank_sizes: {I: 3, M: 2, C: 2}
  bits_per_value: {All: 8}
  initial: {H: 0.5, S: 0.25}
  iteration_space_shape: {i: 0 <= i < 3}
  einsums:
  - G[i,m] = sigmoid(X[i,m] + F[m] * H[i,m])
  - R[i,m] = H[i,M:c] * W[c,m]
  - U[i,m] = tanh(R[i,m])
  - S[i+1,m] = G[i,m] * S[i,m] + U[i,m]
  - H[i+1,m] = tanh(S[i+1,m])
  - Z[m] = H[I:3,m] * V[m]
)yaml"},
                                                               {"two_states", R"yaml(workload:
  rank_sizes: {I: 4}
  bits_per_value: {All: 8}
  initial: {H: 1, C: 0.5}
  einsums:
  - C[i+1] = H[i] * W[i] + C[i]
  - H[i+1] = C[i+1] * V[i]
  - Z[i] = H[i+1] * C[i]
)yaml"},
                                                               {"choice", R"yaml(workload:
  rank_sizes: {M: 4}
  bits_per_value: {All: 8}
  einsums:
  - Z[m] = select(step(A[m]), A[m] * B[m], 2 * B[m]) + C[m]
)yaml"},
                                                               {"parts", R"yaml(workload:
  rank_sizes: {M: 3, A: 2, B: 3, K: 2}
  bits_per_value: {All: 8}
  iteration_space_shape: {s: 0 <= s < 2}
  einsums:
  - T[m,N:a] = X[m,k] * W[k,a]
  - T[m,N:b+2] = X[m,k] * V[k,b]
  - Y[m,b] = T[m,N:b+s] * F[s]
  - Z[m,b] = T[m,N:b+2] * Y[m,b]
)yaml"}};
  return workloads;
}

std::vector<std::string> all_workloads() {
  std::vector<std::string> names = library_workloads();
  for (const auto& [name, text] : own_workloads()) names.push_back(name);
  return names;
}

Workload small_workload(const std::string& name) {
  if (const auto own = own_workloads().find(name); own != own_workloads().end()) {
    Result<Specs> specs = load_specs_from_text({{name + ".yaml", own->second}}, {});
    if (!specs) throw std::runtime_error(to_string(specs.error()));
    return *specs->workload;
  }
  Variables variables;
  if (name.starts_with("flash_attention")) variables["N_BLOCKS"] = "3";
  if (name.starts_with("flash_self")) variables = {{"N", "6"}, {"BLOCK", "2"}};
  Variables settings = variables;
  for (const Rank& rank : loaded(name, variables).ranks)
    if (!rank.name.ends_with("_STATE"))
      settings["workload.rank_sizes." + rank.name] =
          std::to_string(smaller(rank, is_image_network(name)));
  return loaded(name, settings);
}

std::vector<double> random_numbers(const Workload& workload, TensorId tensor,
                                   std::mt19937& random) {
  std::uniform_real_distribution<double> draw(0.2, 1);
  std::vector<double> numbers(static_cast<std::size_t>(tensor_volume(workload, tensor)));
  // More positive ones: deep networks of rectified sums would die out.
  for (double& number : numbers) number = (random() % 3 == 0 ? -1 : 1) * draw(random);
  return numbers;
}

double inner_product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

class GradientsOf : public ::testing::TestWithParam<std::string> {
 protected:
  /// Random inputs, and random weights of the results in the loss.
  void draw_numbers() {
    for (std::size_t t = 0; t < step_.tensors.size(); ++t)
      if (const TensorId tensor(t); !roles_.is_made(tensor) && !roles_.consumers[t].empty())
        numbers_[tensor] = random_numbers(step_, tensor, random_);
  }

  /// What the results are weighted with: the gradients that the step takes as inputs.
  double loss(const TensorValues& inputs) const {
    TensorValues values = plain_evaluation(forward_, 1, of_forward(inputs));
    double sum = 0;
    for (std::size_t t = 0; t < forward_.tensors.size(); ++t) {
      for (const char* ending : {"", "_given"}) {
        const auto given = find_tensor(step_, gradient_name(forward_.tensors[t].name) + ending);
        if (given && inputs.count(*given) > 0)
          sum += inner_product(values.at(TensorId(t)), inputs.at(*given));
      }
    }
    return sum;
  }

  TensorValues of_forward(TensorValues inputs) const {
    std::erase_if(
        inputs, [&](const auto& entry) { return entry.first.index() >= forward_.tensors.size(); });
    return inputs;
  }

  /// Along a random direction of one input.
  void expect_slope(TensorId tensor, const std::vector<double>& gradient) {
    constexpr double kStep = 1e-5;
    const std::vector<double> direction = random_numbers(step_, tensor, random_);
    const auto at = [&](double step) {
      TensorValues moved = numbers_;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[tensor][i] += step * direction[i];
      return loss(moved);
    };
    const double difference = (at(kStep) - at(-kStep)) / (2 * kStep);
    const double rounding = 1e-15 / kStep * std::abs(at(0));
    double scale = 0;
    for (std::size_t i = 0; i < direction.size(); ++i)
      scale += std::abs(gradient[i] * direction[i]);
    EXPECT_NEAR(inner_product(gradient, direction), difference, 1e-4 * scale + rounding)
        << step_[tensor].name;
    n_moving_ += scale > 0 ? 1 : 0;
  }

  void expect_gradients(const BackwardOptions& options) {
    Result<Workload> step = derive_backward(forward_, options);
    ASSERT_TRUE(step) << to_string(step.error());
    step_ = std::move(*step);
    roles_ = tensor_roles(step_);
    draw_numbers();
    const TensorValues values = plain_evaluation(step_, 1, numbers_);
    int checked = 0;
    for (std::size_t t = 0; t < forward_.tensors.size(); ++t) {
      const auto gradient = find_tensor(step_, gradient_name(step_.tensors[t].name));
      if (roles_.is_made(TensorId(t)) || !gradient || !roles_.is_made(*gradient)) continue;
      ++checked;
      expect_slope(TensorId(t), values.at(*gradient));
    }
    // Rectifiers and clamps may stop some.
    EXPECT_GE(4 * n_moving_, 3 * checked);
    EXPECT_GT(n_moving_, 0);
  }

  Workload forward_ = small_workload(GetParam());
  Workload step_;
  TensorRoles roles_;
  TensorValues numbers_;
  std::mt19937 random_{7};
  int n_moving_ = 0;  // inputs that change the loss
};

TEST_P(GradientsOf, EqualCentralDifferences) { expect_gradients({}); }

TEST_P(GradientsOf, AreTheSameWhereIntermediatesAreMadeAgain) {
  BackwardOptions options;
  options.recompute = {"all"};
  expect_gradients(options);
}

void expect_same_read_back(const Workload& forward, const BackwardOptions& options) {
  const Result<Workload> step = derive_backward(forward, options);
  ASSERT_TRUE(step) << to_string(step.error());
  const std::string text = to_yaml(*step);
  const Result<Specs> again = load_specs_from_text({{"step.yaml", text}}, {});
  ASSERT_TRUE(again) << to_string(again.error()) << text;
  EXPECT_EQ(to_yaml(*again->workload), text);
  ASSERT_EQ(again->workload->einsums.size(), step->einsums.size());
  for (std::size_t e = 0; e < step->einsums.size(); ++e) {
    const Einsum &a = step->einsums[e], &b = again->workload->einsums[e];
    EXPECT_EQ(a.expression, b.expression) << a.name;
    ASSERT_EQ(a.iteration_space.size(), b.iteration_space.size()) << a.name;
    for (const VariableRange& range : a.iteration_space) {
      const auto same = find_rank_variable(*again->workload, (*step)[range.variable].name);
      ASSERT_TRUE(same) << a.name;
      EXPECT_EQ(variable_size(b, *same), range.size) << a.name;
    }
  }
}

TEST_P(GradientsOf, ReadBackTheSame) {
  BackwardOptions options;
  options.optimizer = Optimizer::kAdam;
  expect_same_read_back(forward_, options);
  options.recompute = {"all"};
  expect_same_read_back(forward_, options);
}

INSTANTIATE_TEST_SUITE_P(Library, GradientsOf, ::testing::ValuesIn(all_workloads()),
                         [](const auto& of) {
                           std::string name = of.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

}  // namespace
}  // namespace sluice
