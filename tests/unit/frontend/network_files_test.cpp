#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network/forward_layers.h"
#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"
#include "sluice/network/network_table.h"
#include "sluice/workload/backward.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string path_of(const std::string& network) {
  return (testing::repository_dir() / "library" / "networks" / (network + ".csv")).string();
}

std::int64_t points(const Einsum& einsum) {
  std::int64_t product = 1;
  for (const VariableRange& range : einsum.iteration_space) product *= range.size;
  return product;
}

class NetworkAsWorkload : public ::testing::TestWithParam<std::string> {};

// Each Einsum has a point for each operation of its layer; those that join m operands have one for
// m. States from outside that stand beside what layers make are copied there.
TEST_P(NetworkAsWorkload, HasTheOperationsOfItsTable) {
  const auto specs = load_specs({path_of(GetParam())}, {});
  ASSERT_TRUE(specs) << to_string(specs.error());
  const auto network = load_network(GetParam());
  ASSERT_TRUE(network);
  std::int64_t layers = 0;
  for (const Einsum& einsum : specs->workload->einsums) {
    const NetworkLayer& layer = network->layers[*find_layer(*network, einsum.name)];
    if (is_input(layer)) {
      EXPECT_EQ(points(einsum), layer.channels_out) << einsum.name;
      continue;
    }
    const std::int64_t joined = layer.kind == LayerKind::kElementwise ? operands(layer) : 1;
    EXPECT_EQ(points(einsum) * joined, operations(layer)) << einsum.name;
    ++layers;
  }
  EXPECT_EQ(layers, totals(*network).layers);
}

INSTANTIATE_TEST_SUITE_P(Library, NetworkAsWorkload,
                         ::testing::Values("alex_net", "alex_net_bp", "googlenet", "googlenet_bp",
                                           "lstm_gnmt", "lstm_gnmt_bp", "lstm_phoneme",
                                           "lstm_showtell", "vgg_net", "vgg_net_bp", "vgg19_net",
                                           "resnet50", "resnet50_bp", "resnet152", "mobilenet",
                                           "mobilenet_bp", "zfnet", "zfnet_bp", "mlp_l", "mlp_l_bp",
                                           "mlp_m", "mlp_s"));

std::string written_network(const std::string& rows) {
  const testing::TemporaryFolder folder;
  const auto imported =
      import_specs({folder.write("net.csv", "layer,type,C,K,HO,WO,R,S,stride,prevs\n" + rows)}, {});
  return imported ? imported->workload : to_string(imported.error());
}

// 8 rows are padded to (8 − 1) · 1 + 3 = 10, one at each side; at stride 2 to (4 − 1) · 2 + 3 = 9,
// one before.
TEST(NetworkTable, BecomesEinsumsWithPadding) {
  const std::string text = written_network(
      "input,input,,3,8,8,1,1,1,\na,conv,3,4,8,8,3,3,1,input\nb,dwconv,4,4,4,4,3,3,2,a\n"
      "c,conv,4,5,4,4,1,1,1,b\nd,eltwise,10,5,4,4,1,1,1,c|c\ne,fc,5,6,1,1,4,4,1,d\n");
  EXPECT_THAT(text,
              HasSubstr("a[n,k1,p1,q1] = Image[n,k0,P0:p1+r3-1,Q0:q1+s3-1] * W_a[k1,k0,r3,s3]"));
  EXPECT_THAT(text, HasSubstr("b[n,k1,p2,q2] = a[n,k1,P1:2*p2+r3-1,Q1:2*q2+s3-1] * W_b[k1,r3,s3]"));
  EXPECT_THAT(text, HasSubstr("c[n,k3,p2,q2] = b[n,k1,p2,q2] * W_c[k3,k1]"));
  EXPECT_THAT(text, HasSubstr("d[n,k3,p2,q2] = c[n,k3,p2,q2] + c[n,k3,p2,q2]"));
  EXPECT_THAT(text, HasSubstr("e[n,k5] = d[n,k3,p2,q2] * W_e[k5,k3,p2,q2]"));
}

TEST(NetworkTable, NamesTheLayersThatAreNoEinsums) {
  const std::string refused = written_network(
      "input,input,,3,8,8,1,1,1,\na,conv,3,4,8,8,1,1,1,input\na_back_w,conv_bw,4,3,8,8,1,1,1,a\n"
      "b,pool,4,4,8,8,1,1,1,a\nc,pool_bd,3,3,8,8,1,1,1,a_back_w\n"
      "d,eltwise_bd,4,8,8,8,1,1,1,a\ne_back,conv_bd,4,5,8,8,1,1,1,a\n");
  EXPECT_THAT(refused, HasSubstr("net.csv:6:1: error: `c` reads `a_back_w`, a gradient of weights, "
                                 "as values of a plane"));
  EXPECT_THAT(refused, HasSubstr("`d` is the gradient of several operands, side by side"));
  EXPECT_THAT(refused, HasSubstr("`e_back` is the gradient of a layer with other channels"));
  EXPECT_THAT(written_network("input,input,,3,8,8,1,1,1,\na,pool_bw,3,3,8,8,1,1,1,input\n"),
              HasSubstr("`pool_bw`: layers of this type have no weights"));
}

TEST(NetworkTable, RefusesOperandsOfOtherChannelsAndLayersTwiceSideBySide) {
  const std::string refused = written_network(
      "input,input,,3,8,8,1,1,1,\nx,input,,5,8,8,1,1,1,\na,eltwise,8,4,8,8,1,1,1,input|x\n"
      "b,conv,6,4,8,8,1,1,1,input|input\n");
  EXPECT_THAT(refused, HasSubstr("net.csv:4:1: error: `a` joins parts of what it reads: an operand "
                                 "of it has 4 channels"));
  EXPECT_THAT(refused, HasSubstr("net.csv:5:1: error: `b` reads `input` twice, side by side"));
  EXPECT_THAT(refused, Not(HasSubstr("again with others")));
}

TEST(NetworkTable, TellsMistakesInNamesAtTheirRows) {
  EXPECT_THAT(written_network("input,input,,3,8,8,1,1,1,\na-b,conv,3,4,8,8,1,1,1,input\n"),
              HasSubstr("net.csv:3:1: error: `a-b` is no name of an Einsum"));
  const testing::TemporaryFolder folder;
  const auto specs =
      load_specs({folder.write("net.csv",
                               "layer,type,C,K,HO,WO,R,S,stride,prevs\ninput,input,,3,8,8,1,1,1,\n"
                               "All,conv,3,4,8,8,1,1,1,input\nb,conv,4,4,8,8,1,1,1,All\n")},
                 {});
  ASSERT_FALSE(specs);
  EXPECT_THAT(to_string(specs.error()),
              HasSubstr("net.csv:3:1: error: no tensor may be called 'All'"));
  EXPECT_THAT(to_string(specs.error()), HasSubstr("  All,conv,3,4,8,8,1,1,1,input\n"));
}

TEST(NetworkTable, NamesWeightsAndImageLikeNoLayer) {
  const std::string text = written_network(
      "input,input,,3,8,8,1,1,1,\nImage,conv,3,4,8,8,1,1,1,input\n"
      "W_a,conv,4,4,8,8,1,1,1,Image\na,conv,4,4,8,8,1,1,1,W_a\n");
  EXPECT_THAT(text, HasSubstr("Image[n,k1,p0,q0] = Image_[n,k0,p0,q0] * W_Image[k1,k0]"));
  EXPECT_THAT(text, HasSubstr("a[n,k3,p0,q0] = W_a[n,k2,p0,q0] * W_a_[k3,k2]"));
}

// The plane of a gradient of weights is the gradient of the input beside it; a local layer's goes
// to all neighbours, a sum's to its operand as it is. `a_back_x` is that of the last operand with
// as many channels: from channel 3 on.
TEST(NetworkTable, ReadsTheGradientsOfKaplasTables) {
  const std::string text = written_network(
      "input,input,,3,1,1,1,1,1,\nh,fc,3,3,1,1,1,1,1,input\na,fc,6,4,1,1,1,1,1,h|input\n"
      "a_back_x,fc_bd,4,3,1,1,1,1,1,a\na_back_x_w,fc_bw,4,3,1,1,1,1,1,a\n"
      "b,local_bd,3,6,1,1,1,1,1,a_back_x_w\nc,eltwise_bd,6,6,1,1,1,1,1,b\n");
  EXPECT_THAT(text, HasSubstr("a_back_x[n,k3] = a[n,k2] * W_a[k2,"));
  EXPECT_THAT(text, HasSubstr("b[n,K5:2*k3+j2] = sum(a_back_x[n,k3])"));
  EXPECT_THAT(text, HasSubstr("c[n,k5] = sum(b[n,k5])"));
}

// b reads a before the tensor of both is whole, and c stands beside a, and beside b and a.
TEST(NetworkTable, CopiesWhatIsReadBeforeAllPartsAreMadeOrStandsInSeveral) {
  const std::string text = written_network(
      "input,input,,3,8,8,1,1,1,\na,conv,3,4,8,8,1,1,1,input\nb,conv,4,2,8,8,1,1,1,a\n"
      "c,conv,6,5,8,8,1,1,1,a|b\nd,conv,11,3,8,8,1,1,1,a|b|c\n");
  EXPECT_THAT(text, HasSubstr("  - einsum: a[n,k1,p0,q0] = Image"));
  EXPECT_THAT(text, HasSubstr("name: a_in_a_to_b\n    einsum: a_to_b[n,C1:k1,P1:p0,Q1:q0] = "
                              "a[n,k1,p0,q0]"));
  EXPECT_THAT(text, HasSubstr("name: a_in_a_to_c\n    einsum: a_to_c[n,C1:k1,"));
  EXPECT_THAT(text, HasSubstr("name: b_in_a_to_c\n    einsum: a_to_c[n,C1:k2+4,"));
  EXPECT_THAT(text, HasSubstr("name: c\n    einsum: a_to_c[n,C1:k3+6,"));
  EXPECT_THAT(text, HasSubstr("d[n,k4,p1,q1] = a_to_c[n,c1,p1,q1] * W_d[k4,c1]"));
}

// As weights do: arrays take products of an input and one weight. Only weights stay.
TEST(NetworkTable, GivesTheRoleOfWeightsToTheGradientInTheirPlace) {
  const std::string text = written_network(
      "input,input,,3,1,1,1,1,1,\ngiven,input,,4,1,1,1,1,1,\na,fc,3,4,1,1,1,1,1,input\n"
      "a_back_w,fc_bw,4,3,1,1,1,1,1,given\n");
  EXPECT_THAT(text, HasSubstr("a_back_w[K2:k1,k0] = given[n,k1] * Image[n,k0]\n    renames: "
                              "{input: Image, weight: given}"));
  EXPECT_THAT(text, HasSubstr("persistent_tensors: weight - Intermediates - given\n"));
}

// 4 and 2 channels side by side: b's begin at 4. Who reads a alone reads its channels of both.
TEST(NetworkTable, PutsLayersThatAreReadTogetherIntoOneTensor) {
  const std::string text = written_network(
      "input,input,,3,8,8,1,1,1,\npx_a,conv,3,4,8,8,1,1,1,input\npx_b,conv,3,2,8,8,1,1,1,input\n"
      "c,conv,6,5,8,8,1,1,1,px_a|px_b\nd,pool,4,4,4,4,2,2,2,px_a\n");
  EXPECT_THAT(text,
              HasSubstr("name: px_a\n    einsum: px[n,C1:k1,p1,q1] = Image[n,k0,P0:p1,Q0:q1]"));
  EXPECT_THAT(text, HasSubstr("name: px_b\n    einsum: px[n,C1:k2+4,p1,q1] = "));
  EXPECT_THAT(text, HasSubstr("c[n,k3,p1,q1] = px[n,c1,p1,q1] * W_c[k3,c1]"));
  EXPECT_THAT(text, HasSubstr("d[n,k1,p4,q4] = max(px[n,C1:k1,P1:2*p4+r2,Q1:2*q4+s2])"));
}

// A 3 × 3 window fits 6 times into 8 rows; of weights and values it reads the forward layer's.
TEST(NetworkTable, FindsWhatGradientsReadAgainByTheirNames) {
  const std::string text = written_network(
      "input,input,,3,8,8,1,1,1,\na,conv,3,4,8,8,3,3,1,input\na_back,conv_bd,4,3,8,8,3,3,1,a\n"
      "a_back_w,conv_bw,4,3,8,8,3,3,1,a\n");
  EXPECT_THAT(text, HasSubstr("a_back[n,k2,P2:y2+r3,Q2:x2+s3] = a[n,k1,P1:y2,Q1:x2] * "
                              "W_a[k1,K0:k2,r3,s3]"));
  EXPECT_THAT(text, HasSubstr("a_back_w[k1,k0,r3,s3] = a[n,k1,P1:y3,Q1:x3] * "
                              "Image[n,k0,P0:y3+r3,Q0:x3+s3]"));
  EXPECT_THAT(text, HasSubstr("Y2: 6"));
}

/// A gradient as a table and as a derived training step have it.
struct GradientFacts {
  std::int64_t values = 0, points = 0;
};

std::optional<GradientFacts> derived(const Workload& step, const NetworkLayer& gradient,
                                     const std::string& weights) {
  for (const Einsum& einsum : step.einsums) {
    const std::string& made = step[einsum.output().tensor].name;
    const auto read = find_tensor(step, weights);
    const bool is_wanted = gradient.gradient == Gradient::kOfWeights
                               ? made == gradient_name(weights)
                               : made.starts_with("grad_") && find_access(einsum, *read) != nullptr;
    if (is_wanted)
      return GradientFacts{tensor_volume(step, einsum.output().tensor), points(einsum)};
  }
  return std::nullopt;
}

class TrainingTable : public ::testing::TestWithParam<const char*> {};

// KAPLA's rules (docs/networks.md): as many values of each gradient, and as many multiply-adds
// where its planes, which have no padding, are whole: windows of one, and fully connected layers.
TEST_P(TrainingTable, HasTheGradientsThatAreDerivedFromTheForwardOne) {
  const std::string name = GetParam();
  const auto forward = load_specs({path_of(name)}, {});
  ASSERT_TRUE(forward) << to_string(forward.error());
  BackwardOptions options;
  const TensorRoles roles = tensor_roles(*forward->workload);
  for (std::size_t t = 0; t < forward->workload->tensors.size(); ++t)
    if (!roles.is_made(TensorId(t)))
      options.gradients_of.push_back(forward->workload->tensors[t].name);
  const auto step = derive_backward(*forward->workload, options);
  ASSERT_TRUE(step) << to_string(step.error());
  const auto table = load_network(name + "_bp");
  ASSERT_TRUE(table);
  int compared = 0;
  for (const NetworkLayer& gradient : table->layers) {
    if (gradient.gradient == Gradient::kNone || gradient.kind == LayerKind::kPool) continue;
    const auto of = forward_layer(*table, gradient);
    ASSERT_TRUE(of) << gradient.name;
    const auto found = derived(*step, gradient, "W_" + table->layers[of->layer].name);
    ASSERT_TRUE(found) << gradient.name;
    const bool is_whole = gradient.kind == LayerKind::kFullyConnected ||
                          (gradient.window_height == 1 && gradient.stride == 1);
    const std::int64_t plane = gradient.channels_out * gradient.height * gradient.width;
    EXPECT_EQ(found->values, gradient.gradient == Gradient::kOfWeights ? weights(gradient) : plane)
        << gradient.name;
    if (is_whole)
      EXPECT_EQ(found->points, operations(gradient)) << gradient.name;
    else
      EXPECT_GE(found->points, operations(gradient)) << gradient.name;
    ++compared;
  }
  EXPECT_GE(compared, 8);
}

INSTANTIATE_TEST_SUITE_P(Library, TrainingTable,
                         ::testing::Values("mlp_l", "vgg_net", "zfnet", "mobilenet", "resnet50"));

TEST(NetworkTable, IsImportedAlone) {
  const auto imported = import_specs({path_of("mlp_s"), path_of("mlp_m")}, {});
  ASSERT_FALSE(imported);
  EXPECT_THAT(to_string(imported.error()), HasSubstr("imported alone, without other files"));
}

}  // namespace
}  // namespace sluice
