#include "sluice/network/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "sluice/network/network_table.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kHeader =
    "layer,type,C,K,HO,WO,R,S,stride,prevs\ninput,input,,3,8,8,1,1,1,\n";

std::string mistakes(const std::string& rows) {
  const auto network = read_network_table(kHeader + rows, "net.csv");
  return network ? "" : to_string(network.error());
}

NetworkLayer layer(const std::string& row) {
  const auto network = read_network_table(kHeader + row, "net.csv");
  if (!network) throw std::runtime_error(to_string(network.error()));
  return network->layers.at(1);
}

/// Layers, operations of one sample and weights of each shipped network: published totals of the
/// networks' own papers, and of KAPLA's tables for training (docs/networks.md).
struct KnownTotals {
  const char* name;
  std::int64_t layers;
  std::int64_t operations;
  std::int64_t weights;
};
std::ostream& operator<<(std::ostream& out, const KnownTotals& known) { return out << known.name; }

class ShippedNetwork : public ::testing::TestWithParam<KnownTotals> {};

TEST_P(ShippedNetwork, HasItsTotals) {
  const auto network = load_network(GetParam().name);
  ASSERT_TRUE(network) << to_string(network.error());
  const NetworkTotals sum = totals(*network);
  EXPECT_EQ(sum.layers, GetParam().layers);
  EXPECT_EQ(sum.operations, GetParam().operations);
  EXPECT_EQ(sum.weights, GetParam().weights);
}

INSTANTIATE_TEST_SUITE_P(Library, ShippedNetwork,
                         ::testing::Values(KnownTotals{"alex_net", 19, 725508992, 60954656},
                                           KnownTotals{"alex_net_bp", 55, 1854018016, 60954656},
                                           KnownTotals{"googlenet", 63, 1587096768, 6990272},
                                           KnownTotals{"googlenet_bp", 229, 4969960224, 10784448},
                                           KnownTotals{"lstm_gnmt", 33, 32033000, 32000000},
                                           KnownTotals{"lstm_gnmt_bp", 102, 64082000, 32000000},
                                           KnownTotals{"lstm_phoneme", 10, 170100, 168980},
                                           KnownTotals{"lstm_showtell", 9, 2101760, 2097152},
                                           KnownTotals{"mlp_l", 4, 3181000, 3181000},
                                           KnownTotals{"mlp_l_bp", 12, 9543000, 3181000},
                                           KnownTotals{"mlp_m", 4, 1411500, 1411500},
                                           KnownTotals{"mlp_s", 3, 519500, 519500},
                                           KnownTotals{"mobilenet", 29, 568790528, 4209088},
                                           KnownTotals{"mobilenet_bp", 87, 1701388608, 4209088},
                                           KnownTotals{"resnet152", 208, 11310614528, 60040384},
                                           KnownTotals{"resnet50", 72, 3870918656, 25502912},
                                           KnownTotals{"resnet50_bp", 206, 9984097216, 25502912},
                                           KnownTotals{"vgg19_net", 24, 19638183936, 143652544},
                                           KnownTotals{"vgg_net", 21, 15476385792, 138344128},
                                           KnownTotals{"vgg_net_bp", 63, 43504971264, 138344128},
                                           KnownTotals{"zfnet", 11, 2479873760, 107616032},
                                           KnownTotals{"zfnet_bp", 33, 6413920800, 107616032}),
                         [](const auto& entry) { return std::string(entry.param.name); });

TEST(NetworkNames, AreAllThatAreTested) { EXPECT_EQ(network_names().size(), 22); }

// 5 × 5 outputs · 4 channels · 3 inputs · 3 × 3 = 2,700; weights 3 · 4 · 9 = 108; input (5 − 1) · 1
// + 3 = 7.
TEST(NetworkLayer, OfAConvolutionCountsAllPairsOfChannels) {
  const NetworkLayer conv = layer("c,conv,3,4,6,6,3,3,1,input\n");
  EXPECT_EQ(operations(conv), 3888);
  EXPECT_EQ(weights(conv), 108);
  EXPECT_EQ(input_height(conv), 8);
}

// A 3 × 3 window fits 8 − 3 + 1 = 6 times into the 8 × 8 gradient: 6 · 6 · 2 · 3 · 9 operations.
TEST(NetworkLayer, OfAGradientSlidesOverTheLargerPlane) {
  const NetworkLayer gradient = layer("g,conv_bd,3,2,8,8,3,3,1,input\n");
  EXPECT_EQ(input_height(gradient), 6);
  EXPECT_EQ(operations(gradient), 1944);
}

TEST(NetworkTable, SaysWhatIsWrongWithARow) {
  EXPECT_THAT(mistakes("c,convolution,3,4,5,5,3,3,1,input\n"),
              HasSubstr("net.csv:3: error: `convolution` is no type of layer"));
  EXPECT_THAT(
      mistakes("c,conv,3,4,5,5,3,3,0,input\n"),
      HasSubstr("net.csv:3: error: stride is `0`; it must be a whole number from 1 to 1e9"));
  EXPECT_THAT(mistakes("c,conv,3,4,5,5,3,3,1,later\n"),
              HasSubstr("net.csv:3: error: `c` reads `later`, which no earlier row defines"));
  EXPECT_THAT(mistakes("c,conv,2,4,5,5,3,3,1,input\n"),
              HasSubstr("`c` reads 2 channels, but 3 are written by `input`"));
  EXPECT_THAT(mistakes("g,conv_bd,3,4,2,2,3,3,1,input\n"),
              HasSubstr("the window of `g` (3 × 3) is larger than its plane (2 × 2)"));
  EXPECT_THAT(mistakes("c,dwconv,3,4,5,5,3,3,1,input\n"),
              HasSubstr("`c` reads 3 channels and writes 4; they must be equal"));
  EXPECT_THAT(mistakes("c,conv,3,4,5,5,3,3,1,\n"), HasSubstr("`c` reads no layer"));
  EXPECT_THAT(mistakes("input,input,,3,8,8,1,1,1,\n"),
              HasSubstr("a second layer is named `input`"));
}

TEST(NetworkTable, SaysWhatIsWrongWithEveryRowThatCanBeRead) {
  const std::string said = mistakes(
      "a,conv,3,4,9,9,3,3,1,input\nb,conv,3,4,8,8,3,3,0,input\nc,conv,9,4,8,8,3,3,1,b\n"
      "d,conv,2,4,8,8,3,3,1,input\n");
  EXPECT_THAT(said, HasSubstr("net.csv:3: error: `a` reads a plane of 11 × 11"));
  EXPECT_THAT(said, HasSubstr("heights that fit are 9 to 11, widths 9 to 11"));
  EXPECT_THAT(said, HasSubstr("net.csv:4: error: stride is `0`"));
  EXPECT_THAT(said, Not(HasSubstr("net.csv:5")));  // b's own mistake
  EXPECT_THAT(said, HasSubstr("net.csv:6: error: `d` reads 2 channels"));
}

// 8 rows have ⌊(8 + 2p − 3)/2⌋ + 1 windows of 3: 3 without padding, whose last row no window
// reaches; 4 with one row at each side. 3 columns at stride 2 with one at each side: 2 windows.
TEST(NetworkTable, TakesPlanesThatWindowsDoNotFill) {
  EXPECT_EQ(mistakes("a,conv,3,4,3,4,3,3,2,input\n"), "");
  EXPECT_EQ(mistakes("a,pool,3,3,2,2,4,4,4,input\nb,conv,3,4,1,1,2,2,2,a\n"), "");
  EXPECT_EQ(mistakes("a,conv,3,4,3,3,3,3,3,input\nb,conv,4,4,2,2,3,3,2,a\n"), "");
  EXPECT_THAT(mistakes("a,conv,3,4,2,4,3,3,2,input\n"),
              HasSubstr("heights that fit are 3 to 6, widths 7 to 10"));
}

TEST(NetworkTable, SaysWhatALayerOfItsTypeHasNot) {
  EXPECT_THAT(mistakes("e,eltwise,3,3,8,8,3,3,1,input\n"),
              HasSubstr("`e` has a window of 3 × 3 with stride 1; layers of this type have none"));
  EXPECT_THAT(mistakes("e,local,3,1,4,4,1,1,2,input\n"), HasSubstr("with stride 2"));
  EXPECT_THAT(mistakes("f,fc,3,4,8,8,1,1,1,input\n"), HasSubstr("an fc layer writes one"));
  EXPECT_THAT(mistakes("x,input,3,4,8,8,1,1,1,\n"),
              HasSubstr("the input `x` reads nothing, but C is 3"));
  EXPECT_THAT(mistakes("x,input,,4,8,8,1,1,2,\n"), HasSubstr("the input `x` has a window"));
  EXPECT_THAT(mistakes(",conv,3,4,8,8,1,1,1,input\n"), HasSubstr("a layer needs a name"));
}

TEST(NetworkTable, TakesNoDifferentPlanesTogether) {
  EXPECT_THAT(mistakes("a,conv,3,4,7,7,2,2,1,input\nb,conv,7,4,7,7,2,2,1,a|input\n"),
              HasSubstr("`b` reads `input` (8 × 8) together with `a` (7 × 7); their planes must be "
                        "alike"));
}

TEST(NetworkTable, AcceptsNoCycle) {
  EXPECT_THAT(mistakes("a,conv,3,3,8,8,1,1,1,b\nb,conv,3,3,8,8,1,1,1,a\n"),
              HasSubstr("net.csv:3: error: `a` reads `b`, which no earlier row defines"));
}

TEST(LoadNetwork, SuggestsTheNearestName) {
  const auto network = load_network("alexnet");
  ASSERT_FALSE(network);
  EXPECT_EQ(network.error()[0].message, "there is no network `alexnet`");
  EXPECT_EQ(network.error()[0].hint, "did you mean `alex_net`?");
}

}  // namespace
}  // namespace sluice
