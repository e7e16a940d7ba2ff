#include "sluice/workload/backward.h"

#include <gmock/gmock.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "sluice/frontend/load.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Workload workload_from(const std::string& body) {
  const Result<Specs> specs =
      load_specs_from_text({{"w.yaml", "workload:\n  bits_per_value: {All: 8}\n" + body}}, {});
  if (!specs) throw std::runtime_error(to_string(specs.error()));
  return *specs->workload;
}

/// The Einsums that a training step adds, as text.
std::vector<std::string> backward_of(const std::string& body, const BackwardOptions& options = {}) {
  const Workload forward = workload_from(body);
  const Result<Workload> step = derive_backward(forward, options);
  if (!step) return {to_string(step.error())};
  std::vector<std::string> lines;
  const std::string text = to_yaml(*step);
  const std::size_t n_forward = forward.einsums.size();
  std::size_t n = 0;
  for (std::size_t at = text.find("  - "); at != std::string::npos; at = text.find("  - ", at + 1))
    if (n++ >= n_forward) lines.push_back(text.substr(at + 4, text.find('\n', at) - at - 4));
  return lines;
}

std::string error_of(const std::string& body, const BackwardOptions& options = {}) {
  const Result<Workload> step = derive_backward(workload_from(body), options);
  return step ? "no error" : to_string(step.error());
}

TEST(DeriveBackward, ExchangesTheRolesOfOperandsAndResult) {
  BackwardOptions options;
  options.gradients_of = {"A", "W"};
  EXPECT_THAT(
      backward_of("  rank_sizes: {M: 4, N: 3, K: 2}\n  einsums: ['Z[m,n] = A[m,k] * W[k,n]']\n",
                  options),
      ElementsAre("\"grad_A[m,k] = grad_Z[m,n] * W[k,n]\"",
                  "\"grad_W[k,n] = grad_Z[m,n] * A[m,k]\""));
}

TEST(DeriveBackward, PassesTheGradientOfAChoiceToWhatWasTaken) {
  BackwardOptions options;
  options.gradients_of = {"A", "B"};
  EXPECT_THAT(backward_of("  rank_sizes: {M: 4}\n  einsums: ['Z[m] = select(C[m], A[m], B[m])']\n",
                          options),
              ElementsAre("\"grad_A[m] = select(C[m], grad_Z[m], 0)\"",
                          "\"grad_B[m] = select(C[m], 0, grad_Z[m])\""));
}

TEST(DeriveBackward, LeavesOutTheGradientOfWhatDiffersFromSampleToSample) {
  EXPECT_THAT(
      backward_of("  rank_sizes: {M: 4, N: 3, K: 2}\n  einsums: ['Z[m,n] = A[m,k] * W[k,n]']\n"),
      ElementsAre("\"grad_W[k,n] = grad_Z[m,n] * A[m,k]\""));
}

// N §2: the gradient to the input has the window and stride of the layer; that to the weights
// reads what the layer read.
TEST(DeriveBackward, WritesTheGradientOfAConvolutionsInputByWindows) {
  BackwardOptions options;
  options.gradients_of = {"I", "W"};
  EXPECT_THAT(
      backward_of(
          "  rank_sizes: {X: 7, P: 3, C: 2, K: 2}\n  iteration_space_shape: {r: 0 <= r < 3}\n"
          "  einsums: ['O[k,p] = I[c,X:2*p+r] * W[k,c,r]']\n",
          options),
      ElementsAre("\"grad_I[c,X:2*p+r] = grad_O[k,p] * W[k,c,r]\"",
                  "\"grad_W[k,c,r] = grad_O[k,p] * I[c,X:2*p+r]\""));
}

// Arrays take products of an input and one weight. Where W was, the gradient of Z is.
TEST(DeriveBackward, GivesTheRoleOfAWeightToWhatTakesItsPlace) {
  BackwardOptions options;
  options.gradients_of = {"A", "W"};
  EXPECT_THAT(
      backward_of("  rank_sizes: {M: 4, N: 3, K: 2}\n  einsums:\n"
                  "  - {einsum: 'Z[m,n] = A[m,k] * W[k,n]', renames: {input: A, weight: W}}\n",
                  options),
      ElementsAre(
          "{einsum: \"grad_A[m,k] = grad_Z[m,n] * W[k,n]\", renames: {input: grad_Z, weight: W}}",
          "{einsum: \"grad_W[k,n] = grad_Z[m,n] * A[m,k]\", renames: {input: A, weight: "
          "grad_Z}}"));
}

// D reads A[0,0], A[1,1], A[2,2]: the gradient of the other six is 0.
TEST(DeriveBackward, LeavesZerosBesideADiagonal) {
  const Result<Workload> step =
      derive_backward(workload_from("  rank_sizes: {B: 2, M: 3, M1: 3, M2: 3}\n"
                                    "  einsums: ['D[b,m] = X[b,m] * A[M1:m,M2:m]']\n"),
                      {});
  ASSERT_TRUE(step) << to_string(step.error());
  EXPECT_THAT(to_yaml(*step), HasSubstr("initial: {grad_A: 0}"));
}

TEST(DeriveBackward, PassesAGradientThroughASumAsACopy) {
  BackwardOptions options;
  options.gradients_of = {"A", "B"};
  EXPECT_THAT(backward_of("  rank_sizes: {M: 4}\n  einsums: ['Z[m] = A[m] + B[m]']\n", options),
              ElementsAre("{einsum: \"grad_A[m] = grad_Z[m]\", is_copy_operation: true}",
                          "{einsum: \"grad_B[m] = grad_Z[m]\", is_copy_operation: true}"));
}

TEST(DeriveBackward, AddsUpWhatComesFromSeveralReaders) {
  EXPECT_THAT(
      backward_of("  rank_sizes: {M: 4}\n  einsums: ['T[m] = exp(W[m])', 'Y[m] = T[m] * T[m]', "
                  "'Z[m] = sqrt(T[m])']\n"),
      ElementsAre("\"grad_T_from_Z[m] = grad_Z[m] * (0.5 / Z[m])\"",
                  "\"grad_T_from_Y[m] = grad_Y[m] * T[m] + grad_Y[m] * T[m]\"",
                  "\"grad_T[m] = grad_T_from_Z[m] + grad_T_from_Y[m]\"",
                  "\"grad_W[m] = grad_T[m] * T[m]\""));
}

TEST(DeriveBackward, CountsPointsThatDifferInNothingThatIsRead) {
  EXPECT_THAT(backward_of("  rank_sizes: {N: 5}\n  einsums: ['Z[] = sum(A[n] * 2)']\n"),
              ElementsAre("\"grad_A[n] = grad_Z[] * 2\""));
}

TEST(DeriveBackward, MakesIntermediatesAgainWhereAsked) {
  BackwardOptions options;
  options.recompute = {"T"};
  EXPECT_THAT(backward_of("  rank_sizes: {M: 4}\n  einsums: ['T[m] = exp(W[m])', 'Z[m] = T[m] * "
                          "sin(T[m])']\n",
                          options),
              ElementsAre("\"T_again[m] = exp(W[m])\"",
                          "\"grad_T[m] = grad_Z[m] * T_again[m] * cos(T_again[m]) + grad_Z[m] * "
                          "sin(T_again[m])\"",
                          "\"grad_W[m] = grad_T[m] * T_again[m]\""));
}

// Each maker of a part gets its own part of the gradient; the parts are made again together.
TEST(DeriveBackward, DividesTheGradientOfAConcatenation) {
  const std::string body =
      "  rank_sizes: {A: 2, B: 3}\n  einsums: ['T[N:a] = W[a] * 2', 'T[N:b+2] = V[b] * 3', "
      "'Z[n] = exp(T[n])']\n";
  BackwardOptions options;
  options.gradients_of = {"W", "V"};
  EXPECT_THAT(backward_of(body, options),
              ElementsAre("\"grad_T[n] = grad_Z[n] * Z[n]\"", "\"grad_V[b] = grad_T[N:b+2] * 3\"",
                          "\"grad_W[a] = grad_T[N:a] * 2\""));
  options.recompute = {"T"};
  EXPECT_THAT(backward_of("  rank_sizes: {A: 2, B: 3}\n  einsums: ['T[N:a] = W[a] * 2', "
                          "'T[N:b+2] = V[b] * 3', 'Z[n] = T[n] * T[n]']\n",
                          options),
              ElementsAre("\"T_again[N:a] = W[a] * 2\"",
                          "{name: T_2_again, einsum: \"T_again[N:b+2] = V[b] * 3\"}",
                          "\"grad_T[n] = grad_Z[n] * T_again[n] + grad_Z[n] * T_again[n]\"",
                          "\"grad_V[b] = grad_T[N:b+2] * 3\"", "\"grad_W[a] = grad_T[N:a] * 2\""));
}

TEST(DeriveBackward, UpdatesWeightsByTheOptimizer) {
  BackwardOptions options;
  options.optimizer = Optimizer::kSgd;
  EXPECT_THAT(
      backward_of("  rank_sizes: {M: 4}\n  einsums: ['Z[m] = W[m] * 3']\n", options),
      ElementsAre("\"grad_W[m] = grad_Z[m] * 3\"", "\"W_next[m] = W[m] - 0.001 * grad_W[m]\""));
}

TEST(DeriveBackward, NamesWhatIsWrong) {
  const std::string body =
      "  rank_sizes: {M: 4}\n  einsums: ['T[m] = exp(W[m])', 'Z[m] = T[m] * 2']\n";
  BackwardOptions options;
  options.gradients_of = {"V"};
  EXPECT_THAT(error_of(body, options), HasSubstr("there is no tensor V"));
  options.gradients_of = {"T"};
  EXPECT_THAT(error_of(body, options), HasSubstr("T is made by the workload"));
  options = {};
  options.recompute = {"W"};
  EXPECT_THAT(error_of(body, options), HasSubstr("W is an input"));
}

// H is what C of the same step makes, C what H of the step before has left: backwards H passes to C
// in the same step, C to H of the step before.
TEST(DeriveBackward, WalksRecurrencesThroughSeveralEinsumsBackwards) {
  BackwardOptions options;
  options.gradients_of = {"W"};
  EXPECT_THAT(
      backward_of("  rank_sizes: {I: 4}\n  initial: {H: 0}\n  einsums: ['C[i] = H[i] * W[i]', "
                  "'H[i+1] = C[i] * V[i]']\n",
                  options),
      ElementsAre("\"grad_C_passed[i] = (grad_H_passed[I_STATE:i] + grad_H_given[I_STATE:-i+4]) * "
                  "V[I:-i+3]\"",
                  "\"grad_H_passed[I_STATE:i+1] = grad_C_passed[i] * W[I:-i+3]\"",
                  "\"grad_H[i_state] = grad_H_passed[I_STATE:-i_state+4] + "
                  "grad_H_given[i_state]\"",
                  "\"grad_C[i] = grad_C_passed[I:-i+3]\"",
                  "\"grad_W[i] = grad_C[i] * H[I_STATE:i]\""));
}

TEST(DeriveBackward, RefusesRecurrencesThatReachFurtherBack) {
  EXPECT_THAT(error_of("  rank_sizes: {I: 4}\n  initial: {H: 0}\n  einsums: ['H[i+2] = H[i] * "
                       "W[i]']\n"),
              HasSubstr("H is a state that H does not read as T[i] or T[i+1] to make T[i+1]: its "
                        "recurrence has no backward pass yet"));
}

}  // namespace
}  // namespace sluice
