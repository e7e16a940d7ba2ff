#include "kapla/blocking/fetches.h"

#include <gtest/gtest.h>

namespace sluice::kapla {
namespace {

Scheme scheme(const PerLoop<std::int64_t>& outer, const PerLoop<std::int64_t>& outer_order,
              const PerLoop<std::int64_t>& inner, const PerLoop<std::int64_t>& inner_order) {
  Scheme scheme;
  scheme.blocking = {outer, inner, {1, 1, 1}};
  scheme.orders = {outer_order, inner_order};
  return scheme;
}

// Loops outside in: output channels ×3, samples ×4, input channels ×2. Weights change with the
// innermost one: each of the 4 samples fetches them. Inputs, too, once for each of 3 output
// channels. Outputs change with samples: the input channels inside leave them.
TEST(Fetches, CountLoopsOutsideTheInnermostThatChangesATensor) {
  const Fetches fetches =
      fetches_of(LayerShape{}, scheme({2, 3, 4}, {0, 2, 1}, {1, 1, 1}, {0, 1, 2}), {});
  EXPECT_EQ(fetches[0], (PerOperand<std::int64_t>{4, 3, 1}));
}

// Input channels ×2 outside of output channels ×3: partial sums are written, and read again for the
// second: 2 · 2 − 1.
TEST(Fetches, BringBackWhatIsWritten) {
  const Fetches fetches =
      fetches_of(LayerShape{}, scheme({2, 3, 1}, {1, 0, 2}, {1, 1, 1}, {0, 1, 2}), {});
  EXPECT_EQ(fetches[0], (PerOperand<std::int64_t>{1, 1, 3}));
}

// The registers keep weights while nothing inside changes them; without reuse each of the 4 samples
// fills them anew.
TEST(Fetches, OfRegistersThatKeepNothingCountEveryStep) {
  const Scheme samples_inside = scheme({1, 1, 1}, {0, 1, 2}, {1, 1, 4}, {0, 1, 2});
  EXPECT_EQ(fetches_of(LayerShape{}, samples_inside, {true, true, true})[1][kWeights], 1);
  EXPECT_EQ(fetches_of(LayerShape{}, samples_inside, {false, true, true})[1][kWeights], 4);
}

// In gradients of weights the weights come and go: 4 samples outside of the input channels: 2 · 4 −
// 1; the output is read.
TEST(Fetches, OfGradientsOfWeightsWriteWeights) {
  LayerShape layer;
  layer.written = kWeights;
  const Fetches fetches = fetches_of(layer, scheme({2, 1, 4}, {0, 1, 2}, {1, 1, 1}, {0, 1, 2}), {});
  EXPECT_EQ(fetches[0], (PerOperand<std::int64_t>{7, 1, 1}));
}

}  // namespace
}  // namespace sluice::kapla
