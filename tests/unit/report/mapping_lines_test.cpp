#include "report/document/mapping_lines.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sluice/frontend/load.h"

namespace sluice::cli {
namespace {

const char* const kSpecs = R"yaml(
workload:
  rank_sizes: {M: 4, N: 2}
  bits_per_value: {All: 8}
  einsums: ["Y[m] = A[m,n] * B[n]", "Z[m] = exp(Y[m])"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: PE, spatial: [{name: x, fanout: 4}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";

struct Lines : ::testing::Test {
  Specs specs = load_specs_from_text({{"case.yaml", kSpecs}}, {}).value();
  MappingFromJson plain{*specs.workload, *specs.arch};
  MappingLines lines{*specs.workload, *specs.arch};

  template <class Reader>
  static std::string outcome(Reader read) {
    try {
      const Mapping mapping = read();
      return std::to_string(mapping.nodes.size()) + " nodes";
    } catch (const std::exception& mistake) {
      return mistake.what();
    }
  }
  /// Both readers say the same of a line: the mapping, or what is wrong with it.
  void expect_alike(const std::string& line) {
    const auto read_plain = [&] { return plain.read(nlohmann::json::parse(line)); };
    const auto read_lines = [&] { return lines.read(line); };
    ASSERT_EQ(outcome(read_lines), outcome(read_plain)) << line;
    try {
      EXPECT_EQ(read_lines(), read_plain()) << line;
    } catch (const std::exception&) {
    }
  }
};

const std::string kY =
    R"({"node":"Temporal","rank_variable":"m","tile_shape":2},{"node":"Spatial","rank_variable":["m"],)"
    R"("tile_shape":1,"component":"PE","name":"x"},{"node":"Temporal","rank_variable":"n","tile_shape":1,)"
    R"("initial_tile_shape":2},{"node":"Compute","einsum":"Y","component":"MAC"})";
const std::string kBacking = R"({"node":"Storage","tensors":["A","B","Y","Z"],"component":"DRAM"})";
const std::string kZ = R"({"node":"Compute","einsum":"Z","component":"MAC"})";

std::string whole(const std::string& y = kY) {
  return R"({"nodes":[)" + kBacking +
         R"(,{"node":"Sequential","nodes":[{"node":"Nested","nodes":[)" + y +
         R"(]},{"node":"Nested","nodes":[)" + kZ + "]}]}]}";
}

TEST_F(Lines, ReadsWhatThePlainReaderReads) {
  for (int time = 0; time < 2; ++time) {  // the second time everything is known
    expect_alike(whole());
    expect_alike(R"({"mapping":)" + whole() + "}");
    expect_alike(R"({"energy_j":1.5,"mapping":)" + whole() + R"(,"more":[{"a":{"b":2}}]})");
    expect_alike(R"({"nodes":[ )" + kBacking + " , " + kZ + "\t] }");
    expect_alike(R"({"nodes":[]})");
  }
}

std::string pipeline(const std::string& keys) {
  return R"({"nodes":[)" + kBacking + R"(,{"node":"Pipeline",)" + keys +
         R"("nodes":[{"node":"Nested","nodes":[)" + kY + R"(]},{"node":"Nested","nodes":[)" + kZ +
         "]}]}]}";
}

TEST_F(Lines, ReadsRegionsAndForwards) {
  const std::string line = pipeline(R"("over":"x","shares":[3,1],"forward":{"Y":"DRAM"},)");
  expect_alike(line);
  const Mapping mapping = lines.read(line);
  const auto& split = std::get<SplitNode>(mapping.nodes.at(1).kind);
  EXPECT_EQ(split.over, "x");
  EXPECT_EQ(split.shares, (std::vector<std::int64_t>{3, 1}));
  ASSERT_EQ(split.forward.size(), 1U);
  EXPECT_EQ((*specs.workload)[split.forward[0].first].name, "Y");
  for (const char* wrong : {R"("over":"x",)", R"("shares":[2],)", R"("over":"x","shares":[0,1],)",
                            R"("over":"x","shares":3,)", R"("forward":["Y"],)"}) {
    expect_alike(pipeline(wrong));
    EXPECT_THROW(lines.read(pipeline(wrong)), std::exception) << wrong;
  }
}

std::string stored(const std::string& keys) {
  return R"({"nodes":[{"node":"Storage","tensors":["B"],"component":"DRAM")" + keys + "}]}";
}

// As the YAML form's `shared_by`, `over` and `along`.
TEST_F(Lines, ReadsATileThatPeersShare) {
  const std::string line = stored(R"(,"shared_by":2,"over":"x","along":"n")");
  expect_alike(line);
  const auto node = std::get<StorageNode>(lines.read(line).nodes.at(0).kind);
  EXPECT_EQ(node.shared_by, 2);
  EXPECT_EQ(node.over, "x");
  ASSERT_TRUE(node.along);
  EXPECT_EQ((*specs.workload)[*node.along].name, "n");
  for (const char* wrong :
       {R"(,"over":"x")", R"(,"along":"n")", R"(,"shared_by":0)", R"(,"shared_by":2,"along":"q")",
        R"(,"sliding":true,"incremental":true)"}) {
    expect_alike(stored(wrong));
    EXPECT_THROW(lines.read(stored(wrong)), std::exception) << wrong;
  }
}

TEST_F(Lines, SaysWhatIsWrongWithTheLineItself) {
  for (const std::string& line :
       {std::string("3"), std::string("[0]"), std::string("{}"), std::string(R"({"nodes":3})"),
        std::string(R"({"nodes":[0,{"node":"Compute"}]})"),
        std::string(R"({"nodes":[{"node":"Compute"},0]})"),
        std::string(R"({"nodes":[{"node":"Storage {\"}","tensors":[]}]})"),
        std::string(R"({"nodes":[{"node":"Temporal","rank_variable":"m","tile_shape":0}]})"),
        whole(kY + "," + kY + ",7"), whole("{}"), whole(R"({"node":"Nested","nodes":[]})")})
    expect_alike(line);
}

// Every line that one stroke makes of a good one.
TEST_F(Lines, AgreesOnBrokenLines) {
  const std::string good = whole();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string missing = good, other = good;
    missing.erase(i, 1);
    other[i] = "{}[]\",0x"[i % 8];
    expect_alike(missing);
    expect_alike(other);
  }
}

}  // namespace
}  // namespace sluice::cli
