#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sluice/frontend/import.h"
#include "sluice/frontend/load.h"
#include "sluice/network/network_table.h"
#include "support/folders.h"
#include "support/run_program.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;

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
// m.
TEST_P(NetworkAsWorkload, HasTheOperationsOfItsTable) {
  const auto specs = load_specs({path_of(GetParam())}, {});
  ASSERT_TRUE(specs) << to_string(specs.error());
  const auto network = load_network(GetParam());
  ASSERT_TRUE(network);
  EXPECT_EQ(specs->workload->einsums.size(), static_cast<std::size_t>(totals(*network).layers));
  for (const Einsum& einsum : specs->workload->einsums) {
    const NetworkLayer& layer = network->layers[*find_layer(*network, einsum.name)];
    EXPECT_EQ(points(einsum) * operands(layer), operations(layer)) << einsum.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Library, NetworkAsWorkload,
                         ::testing::Values("vgg_net", "vgg19_net", "resnet50", "resnet152",
                                           "mobilenet", "zfnet", "mlp_l", "mlp_m", "mlp_s"));

std::string workload_of(const std::string& rows) {
  const testing::TemporaryFolder folder;
  const auto imported =
      import_specs({folder.write("net.csv", "layer,type,C,K,HO,WO,R,S,stride,prevs\n" + rows)}, {});
  return imported ? imported->workload : to_string(imported.error());
}

// 8 rows are padded to (8 − 1) · 1 + 3 = 10, one at each side; at stride 2 to (4 − 1) · 2 + 3 = 9,
// one before.
TEST(NetworkTable, BecomesEinsumsWithPadding) {
  const std::string text = workload_of(
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
  const auto refused = load_specs({path_of("alex_net")}, {});
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      to_string(refused.error()),
      HasSubstr("alex_net.csv:11:1: error: `conv3_a` reads 2 layers side by side (concatenation)"));
  EXPECT_THAT(to_string(load_specs({path_of("mlp_l_bp")}, {}).error()),
              HasSubstr("`fc4_back` is the gradient of an input"));
}

TEST(NetworkTable, IsImportedAlone) {
  const auto imported = import_specs({path_of("mlp_s"), path_of("mlp_m")}, {});
  ASSERT_FALSE(imported);
  EXPECT_THAT(to_string(imported.error()), HasSubstr("imported alone, without other files"));
}

}  // namespace
}  // namespace sluice
