// Operations, multiply-adds and parameters by hand, where views, packed weights and borders are
// counted easily wrong.
#include <gmock/gmock.h>

#include "sluice/onnx_graph/import_onnx.h"
#include "unit/onnx_graph/model_file.h"

namespace sluice::onnx_graph {
namespace {

using ::testing::HasSubstr;

OnnxImport imported_counts(const ModelFile& file) {
  const auto result = import_onnx(file.write("counts.onnx"));
  if (!result) throw std::runtime_error(to_string(result.error()));
  return *result;
}

std::int64_t operations(const OnnxImport& made, const std::string& type) {
  for (const OnnxOperator& entry : made.operators)
    if (entry.type == type) return entry.operations;
  return 0;
}

// 15 additions, behind 15 copies that write the repetitions down.
TEST(OnnxCounts, ASumOverRepetitionsAddsEachOfThem) {
  ModelFile file;
  file.add_input("x", {1, 3});
  file.add_integers("shape", {5, 3});
  file.add_integers("axes", {0});
  file.add_node("Expand", {"x", "shape"}, "t");
  file.add_node("ReduceSum", {"t", "axes"}, "y");
  file.add_output("y");
  EXPECT_EQ(operations(imported_counts(file), "ReduceSum"), 5 * 3 + 5 * 3);
}

TEST(OnnxCounts, APartThatStandsTwiceInAConcatIsCopiedTwice) {
  ModelFile file;
  file.add_input("x", {2, 3});
  file.add_node("Relu", {"x"}, "f");
  set_integer(file.add_node("Concat", {"f", "f"}, "e"), "axis", 1);
  file.add_node("Cos", {"e"}, "y");
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(operations(made, "Concat"), 2 * 6);
  EXPECT_THAT(made.workload, HasSubstr("f[m,d] = max"));
}

// What a Conv makes stands 64 times in what the graph puts out: written once a value.
TEST(OnnxCounts, RepetitionsThatTheGraphPutsOutAreWritten) {
  ModelFile file;
  file.add_input("x", {1, 8});
  file.add_weight("w", {8, 4});
  file.add_integers("shape", {64, 4});
  file.add_node("MatMul", {"x", "w"}, "c");
  file.add_node("Expand", {"c", "shape"}, "y");
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(operations(made, "Expand"), 64 * 4);
  EXPECT_THAT(made.notes.at(0).message, HasSubstr("repeats values: priced as a copy"));
}

// 6 × 5 into at most 12 × 20: twice as large, 12 × 10; into at least 12 × 20: 24 × 20.
TEST(OnnxCounts, AResizeKeepsTheAspectRatioWhereItsPolicySaysSo) {
  for (const auto& [policy, places] :
       {std::pair("not_larger", 12 * 10), std::pair("not_smaller", 24 * 20)}) {
    ModelFile file(18);
    file.add_input("x", {1, 2, 6, 5});
    file.add_weight("w", {3, 2, 1, 1});
    file.add_integers("sizes", {12, 20});
    auto& resize = file.add_node("Resize", {"x", "", "", "sizes"}, "r");
    set_integers(resize, "axes", {2, 3});
    auto* attribute = resize.add_attribute();
    attribute->set_name("keep_aspect_ratio_policy");
    attribute->set_type(onnx::AttributeProto::STRING);
    attribute->set_s(policy);
    file.add_node("Conv", {"r", "w"}, "y");
    file.add_output("y");
    EXPECT_EQ(imported_counts(file).macs, places * 3 * 2) << policy;
  }
}

TEST(OnnxCounts, ShapesOfWhatIsWorkedOutBeforeTheRunAreNoParameters) {
  ModelFile file;
  file.add_input("x", {2, 6});
  file.add_weight("w", {12, 3});
  file.add_integers("shape", {6, 6});
  file.add_node("Reshape", {"w", "shape"}, "v");
  file.add_node("MatMul", {"x", "v"}, "y");
  file.add_output("y");
  EXPECT_EQ(imported_counts(file).parameters, 12 * 3);
}

// Two factors of 8 × 2 and 2 × 6, without numbers: 8 × 6 values are there at run time.
TEST(OnnxCounts, AProductOfConstantsIsWorkedOutBeforeAndCountsAsWhatIsThere) {
  ModelFile file;
  file.add_input("x", {3, 8});
  file.add_weight("a", {8, 2});
  file.add_weight("b", {2, 6});
  file.add_node("MatMul", {"a", "b"}, "w");
  file.add_node("MatMul", {"x", "w"}, "y");
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(made.einsums, 1);
  EXPECT_EQ(made.macs, 3 * 8 * 6);
  EXPECT_EQ(made.parameters, 8 * 6);
}

// Nor are functions of them: of angles, the initializer of 4 frequencies is all that counts.
TEST(OnnxCounts, TablesThatFollowFromShapesAreNoParameters) {
  ModelFile mask;
  mask.add_input("x", {300, 300});
  mask.add_integers("shape", {300, 300});
  mask.add_node("ConstantOfShape", {"shape"}, "ones");
  mask.add_node("Trilu", {"ones"}, "triangle");
  mask.add_node("Add", {"x", "triangle"}, "y");
  mask.add_output("y");
  EXPECT_EQ(imported_counts(mask).parameters, 0);
  EXPECT_EQ(operations(imported_counts(mask), "Trilu"), 0);
  ModelFile angles;
  angles.add_input("x", {6, 4});
  angles.add_integers("from", {0}, true);
  angles.add_integers("to", {6}, true);
  angles.add_integers("step", {1}, true);
  angles.add_integers("axis", {1});
  angles.add_weight("frequencies", {1, 4});
  angles.add_node("Range", {"from", "to", "step"}, "places");
  angles.add_node("Unsqueeze", {"places", "axis"}, "column");
  set_integer(angles.add_node("Cast", {"column"}, "real"), "to", 1);
  angles.add_node("MatMul", {"real", "frequencies"}, "angles");
  angles.add_node("Cos", {"angles"}, "cos");
  angles.add_node("Mul", {"x", "cos"}, "y");
  angles.add_output("y");
  EXPECT_EQ(imported_counts(angles).parameters, 4);
  EXPECT_EQ(imported_counts(angles).einsums, 1);
}

// Files without their weights have 8 × 6 equal values instead.
TEST(OnnxCounts, EqualValuesThatStandForWeightsAreParameters) {
  ModelFile file;
  file.add_input("x", {3, 8});
  file.add_integers("shape", {8, 6});
  file.add_node("ConstantOfShape", {"shape"}, "w");
  file.add_node("MatMul", {"x", "w"}, "y");
  file.add_output("y");
  EXPECT_EQ(imported_counts(file).parameters, 8 * 6);
}

// A kernel of 1 on a plane of 4 × 4 in a border of 1: 16 of 36 places have a product each channel.
TEST(OnnxCounts, PlacesThatSeePaddingAloneAreZeros) {
  ModelFile file;
  file.add_input("x", {1, 3, 4, 4});
  file.add_weight("w", {2, 3, 1, 1});
  set_integers(file.add_node("Conv", {"x", "w"}, "y"), "pads", {1, 1, 1, 1});
  file.add_output("y");
  EXPECT_THAT(imported_counts(file).workload, HasSubstr("initial: {y: 0}"));
}

TEST(OnnxCounts, ScalesOfBlocksAreNoParametersAndRealNumbersKeepTheirWidth) {
  ModelFile file(21);
  file.add_input("x", {2, 8});
  file.add_weight("w", {8, 6});
  file.model().mutable_graph()->mutable_initializer(0)->set_data_type(22);  // int4
  file.add_weight("s", {2, 6});
  auto& node = file.add_node("DequantizeLinear", {"w", "s"}, "real");
  set_integer(node, "axis", 0);
  set_integer(node, "block_size", 4);
  file.add_node("MatMul", {"x", "real"}, "y");
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(made.parameters, 8 * 6);
  EXPECT_EQ(operations(made, "DequantizeLinear"), 8 * 6);
  EXPECT_THAT(made.workload, HasSubstr("\"w\": 4"));
  EXPECT_THAT(made.workload, HasSubstr("Other: 32"));
}

// 40 = two blocks of 16 and one of 8.
TEST(OnnxCounts, TheLastBlockOfPackedWeightsMayBeAShorterOne) {
  ModelFile file;
  file.add_input("x", {2, 3, 40});
  file.add_weight("w", {6, 3, 8});
  file.add_weight("s", {18});
  auto& node = file.add_node("MatMulNBits", {"x", "w", "s"}, "y");
  node.set_domain("com.microsoft");
  for (const auto& [name, value] :
       std::map<std::string, int>{{"K", 40}, {"N", 6}, {"bits", 4}, {"block_size", 16}})
    set_integer(node, name, value);
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(made.macs, 2 * 3 * 40 * 6);
  EXPECT_EQ(made.parameters, 40 * 6);
}

// 6 rows, two of four experts each: 12 pairs, 3 an expert, through 8 × 16 and 16 × 8 weights.
TEST(OnnxCounts, RowsGoThroughKOfTheExperts) {
  for (const bool is_packed : {false, true}) {
    ModelFile file;
    file.add_input("x", {6, 8});
    file.add_input("router", {6, 4});
    file.add_weight("w1", {4, 16, is_packed ? 4 : 8});
    file.add_weight("s1", {4, 16});
    file.add_weight("w2", {4, 8, is_packed ? 8 : 16});
    file.add_weight("s2", {4, 8});
    auto& node = is_packed ? file.add_node("QMoE", {"x", "router", "w1", "s1", "", "w2", "s2"}, "y")
                           : file.add_node("MoE", {"x", "router", "w1", "", "w2"}, "y");
    node.set_domain("com.microsoft");
    set_integer(node, "k", 2);
    file.add_output("y");
    const OnnxImport made = imported_counts(file);
    EXPECT_EQ(made.macs, 6 * 2 * 2 * 8 * 16);
    EXPECT_EQ(made.parameters, 4 * 2 * 8 * 16);
  }
}

// The first dimension of the second operand becomes that of its rows: [4, 3, 5] as [3, 4, 5].
TEST(OnnxCounts, ABatchThatStandsBehindTheRowsIsTurned) {
  ModelFile file;
  file.add_input("x", {3, 2, 4});
  file.add_weight("w", {4, 3, 5});
  auto& node = file.add_node("FusedMatMul", {"x", "w"}, "y");
  node.set_domain("com.microsoft");
  set_integer(node, "transBatchB", 1);
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(made.macs, 3 * 2 * 4 * 5);
  EXPECT_EQ(made.tensors.back().shape, (std::vector<std::int64_t>{3, 2, 5}));
}

// One row of 1,000: 64 values of four bits, two scales.
TEST(OnnxCounts, RowsOfAPackedTableAreReadOneForEachIndex) {
  ModelFile file;
  file.add_input("i", {1});
  file.add_weight("table", {1000, 32});
  file.model().mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::UINT8);
  file.add_weight("scales", {1000, 2});
  auto& node = file.add_node("GatherBlockQuantized", {"table", "i", "scales"}, "y");
  node.set_domain("com.microsoft");
  set_integer(node, "block_size", 32);
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(operations(made, "com.microsoft::GatherBlockQuantized"), 64);
  EXPECT_EQ(made.parameters, 1000 * 64);
}

// 4 × 4 places, 5 channels out of 3, a kernel of 3 × 3.
TEST(OnnxCounts, ConvolutionsOfLastChannelsAndDeformedOnesHaveTheirProducts) {
  ModelFile last, deformed;
  last.add_input("x", {1, 6, 6, 3});
  last.add_weight("w", {5, 3, 3, 3});
  last.add_node("NhwcConv", {"x", "w"}, "y").set_domain("com.microsoft");
  last.add_output("y");
  deformed.add_input("x", {1, 3, 6, 6});
  deformed.add_weight("w", {5, 3, 3, 3});
  deformed.add_input("offsets", {1, 18, 4, 4});
  deformed.add_node("DeformConv", {"x", "w", "offsets"}, "y");
  deformed.add_output("y");
  EXPECT_EQ(imported_counts(last).macs, 4 * 4 * 5 * 3 * 9);
  EXPECT_EQ(imported_counts(last).tensors.back().shape, (std::vector<std::int64_t>{1, 4, 4, 5}));
  EXPECT_EQ(imported_counts(deformed).macs, 4 * 4 * 5 * 3 * 9);
}

TEST(OnnxCounts, AFusedConvolutionOfLastChannelsHasItsProductsAndActivation) {
  ModelFile file;
  file.add_input("x", {1, 6, 6, 3});
  file.add_weight("w", {4, 3, 3, 3});
  file.add_weight("b", {4});
  auto& node = file.add_node("NhwcFusedConv", {"x", "w", "b"}, "y");
  node.set_domain("com.microsoft");
  file.add_output("y");
  const OnnxImport made = imported_counts(file);
  EXPECT_EQ(made.macs, 4 * 4 * 4 * 3 * 9);
  EXPECT_EQ(made.parameters, 4 * 3 * 9 + 4);
  EXPECT_EQ(made.tensors.back().shape, (std::vector<std::int64_t>{1, 4, 4, 4}));
}

TEST(OnnxCounts, PlacesThatAreKnownAreNoParameters) {
  ModelFile file;
  file.add_input("x", {3, 7});
  file.add_input("u", {7});
  file.add_integers("i", {2});
  file.add_node("ScatterND", {"x", "i", "u"}, "y");
  file.add_output("y");
  EXPECT_EQ(imported_counts(file).parameters, 0);
}

// 200 indices without a rule: two are a run of some step, but hardly three.
TEST(OnnxCounts, KnownIndicesWithoutARuleAreSaidToBeKnown) {
  ModelFile file;
  file.add_input("x", {100, 3});
  std::vector<int> indices;
  for (int i = 0; i < 200; ++i) indices.push_back(i * i % 97);
  file.add_integers("i", indices);
  file.add_node("Gather", {"x", "i"}, "g");
  file.add_node("Exp", {"g"}, "y");
  file.add_output("y");
  EXPECT_THAT(imported_counts(file).notes.at(0).message, HasSubstr("more than 64 runs"));
}

}  // namespace
}  // namespace sluice::onnx_graph
