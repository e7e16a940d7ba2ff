#include "sluice/onnx_graph/import_onnx.h"

#include <gmock/gmock.h>

#include "unit/onnx_graph/model_file.h"

namespace sluice::onnx_graph {
namespace {

using ::testing::HasSubstr;

const OnnxOperator& operator_of(const OnnxImport& imported, const std::string& type) {
  for (const OnnxOperator& entry : imported.operators)
    if (entry.type == type) return entry;
  throw std::runtime_error("there is no " + type);
}

TEST(ImportOnnx, AConvolutionHasTheMultiplyAddsOfItsWindowsAndThePaddingInItsIndex) {
  ModelFile file;
  file.add_input("x", {1, 3, 8, 8});
  file.add_weight("w", {4, 3, 3, 3});
  set_integers(file.add_node("Conv", {"x", "w"}, "y"), "pads", {1, 1, 1, 1});
  file.add_output("y");
  const auto imported = import_onnx(file.write("conv.onnx"));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->macs, 4 * 8 * 8 * 3 * 3 * 3);
  EXPECT_EQ(imported->parameters, 4 * 3 * 3 * 3);
  EXPECT_EQ(imported->einsums, 1);
  EXPECT_THAT(imported->workload, HasSubstr("y[k,p,q] = x[c,H:p+r-1,W:q+s-1] * w[k,c,r,s]"));
}

TEST(ImportOnnx, HeadsBecomeRanksAndTheirTransposeIsFree) {
  ModelFile file;
  file.add_input("x", {5, 8});
  file.add_weight("w", {8, 12});
  file.add_node("MatMul", {"x", "w"}, "y");
  auto* shape = file.add_node("Constant", {}, "shape").add_attribute();
  shape->set_name("value_ints");
  shape->set_type(onnx::AttributeProto::INTS);
  for (const int size : {5, 3, 4}) shape->add_ints(size);
  file.add_node("Reshape", {"y", "shape"}, "heads");
  set_integers(file.add_node("Transpose", {"heads"}, "turned"), "perm", {1, 0, 2});
  file.add_node("Exp", {"turned"}, "z");
  file.add_output("z");
  const auto imported = import_onnx(file.write("heads.onnx"));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->einsums, 2);
  EXPECT_EQ(operator_of(*imported, "Transpose").how, OnnxOperator::How::kFree);
  EXPECT_THAT(imported->workload, ::testing::Not(HasSubstr("4*")));  // no digits left
}

TEST(ImportOnnx, AnOperatorWithoutARuleIsPricedForEachValueAndNamed) {
  ModelFile file;
  file.add_input("x", {3, 4});
  file.add_node("Mystery", {"x"}, "y").set_domain("org.unknown");
  file.add_output("y");
  const auto imported = import_onnx(file.write("mystery.onnx"));
  ASSERT_TRUE(imported) << to_string(imported.error());
  const OnnxOperator& mystery = operator_of(*imported, "org.unknown::Mystery");
  EXPECT_EQ(mystery.how, OnnxOperator::How::kApproximated);
  EXPECT_EQ(mystery.operations, 3 * 4);
  ASSERT_EQ(imported->notes.size(), 1U);
  EXPECT_THAT(imported->notes[0].message, HasSubstr("1 × org.unknown::Mystery approximated"));
  EXPECT_THAT(imported->notes[0].hint, HasSubstr("n_y"));
}

TEST(ImportOnnx, ASymbolicDimensionAsksForItsSize) {
  ModelFile file;
  file.add_symbolic_input("x", "batch", 4);
  file.add_node("Relu", {"x"}, "y");
  file.add_output("y");
  const std::string path = file.write("symbolic.onnx");
  const auto refused = import_onnx(path);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].hint, HasSubstr("--set batch=1"));
  const auto imported = import_onnx(path, {{{"batch", "6"}}});
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->activation_values, 2 * 6 * 4);
}

// 16 values of the input, 16 of Relu, 64 of Exp; what the views between put out is nobody's.
TEST(ImportOnnx, ViewsPutOutNoActivationValues) {
  ModelFile file;
  file.add_input("x", {1, 4, 2, 2});
  file.add_node("Relu", {"x"}, "a");
  auto* size = file.add_node("DepthToSpace", {"a"}, "b").add_attribute();
  size->set_name("blocksize");
  size->set_type(onnx::AttributeProto::INT);
  size->set_i(2);
  auto& resize = file.add_node("Upsample", {"b"}, "c");
  auto* scales = resize.add_attribute();
  scales->set_name("scales");
  scales->set_type(onnx::AttributeProto::FLOATS);
  for (const float scale : {1.0F, 1.0F, 2.0F, 1.0F}) scales->add_floats(scale);
  auto* repeats = file.add_node("Constant", {}, "repeats").add_attribute();
  repeats->set_name("value_ints");
  repeats->set_type(onnx::AttributeProto::INTS);
  for (const int times : {1, 1, 1, 2}) repeats->add_ints(times);
  file.add_node("Tile", {"c", "repeats"}, "d");
  file.add_node("Exp", {"d"}, "y");
  file.add_output("y");
  const auto imported = import_onnx(file.write("views.onnx"));
  ASSERT_TRUE(imported) << to_string(imported.error());
  for (const char* type : {"DepthToSpace", "Upsample", "Tile"})
    EXPECT_EQ(operator_of(*imported, type).how, OnnxOperator::How::kFree) << type;
  EXPECT_EQ(imported->activation_values, 16 + 16 + 64);
}

TEST(ImportOnnx, PartsOfAConcatenationAreWrittenWhereTheyBelong) {
  ModelFile file;
  file.add_input("x", {5, 8});
  file.add_weight("a", {8, 2});
  file.add_weight("b", {8, 3});
  file.add_node("MatMul", {"x", "a"}, "xa");
  file.add_node("MatMul", {"x", "b"}, "xb");
  auto* axis = file.add_node("Concat", {"xa", "xb"}, "y").add_attribute();
  axis->set_name("axis");
  axis->set_type(onnx::AttributeProto::INT);
  axis->set_i(1);
  file.add_output("y");
  const auto imported = import_onnx(file.write("concat.onnx"));
  ASSERT_TRUE(imported) << to_string(imported.error());
  EXPECT_EQ(imported->einsums, 2);
  EXPECT_EQ(operator_of(*imported, "Concat").how, OnnxOperator::How::kFree);
}

TEST(ImportOnnx, ACycleIsNamed) {
  ModelFile file;
  file.add_input("x", {4});
  file.add_node("Add", {"x", "b"}, "a");
  file.add_node("Relu", {"a"}, "b");
  file.add_output("b");
  const auto refused = import_onnx(file.write("cycle.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message, HasSubstr("follows from its own result"));
}

TEST(ImportOnnx, WhatNothingMakesIsNamedWithTheNearestName) {
  ModelFile file;
  file.add_input("picture", {4});
  file.add_node("Relu", {"pictur"}, "y");
  file.add_output("y");
  const auto refused = import_onnx(file.write("missing.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message, HasSubstr("'pictur', which nothing makes"));
  EXPECT_EQ(refused.error()[0].hint, "did you mean 'picture'?");
}

TEST(ImportOnnx, SizesThatCannotBeCountedAreAnError) {
  ModelFile file;
  file.add_input("x", {2000000000, 2000000000, 2000000000});
  file.add_node("Relu", {"x"}, "y");
  file.add_output("y");
  const auto refused = import_onnx(file.write("huge.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message, HasSubstr("more values than can be counted"));
}

}  // namespace
}  // namespace sluice::onnx_graph
