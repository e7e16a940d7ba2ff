// What is said about a graph as a whole: nodes that are left out, shapes, sizes and files that do
// not hold what they say.
#include <gmock/gmock.h>

#include "sluice/onnx_graph/import_onnx.h"
#include "unit/onnx_graph/model_file.h"

namespace sluice::onnx_graph {
namespace {

using ::testing::HasSubstr;

OnnxImport imported(const ModelFile& file, const OnnxOptions& options = {}) {
  const auto result = import_onnx(file.write("notes.onnx"), options);
  if (!result) throw std::runtime_error(to_string(result.error()));
  return *result;
}

TEST(OnnxNotes, ANodeThatNoOutputNeedsIsLeftOutAndNamed) {
  ModelFile file;
  file.add_input("x", {2, 3});
  file.add_weight("w", {3, 4});
  file.add_weight("v", {3, 500});
  file.add_node("MatMul", {"x", "w"}, "y");
  file.add_node("MatMul", {"x", "v"}, "dead");
  file.add_output("y");
  const OnnxImport made = imported(file);
  EXPECT_EQ(made.macs, 2 * 3 * 4);
  EXPECT_EQ(made.parameters, 3 * 4);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_THAT(made.notes[0].message, HasSubstr("1 node is left out"));
  EXPECT_THAT(made.notes[0].hint, HasSubstr("n_dead (MatMul)"));
}

TEST(OnnxNotes, ABodyKeepsWhatItReadsAlive) {
  ModelFile file;
  file.add_input("x", {2, 3});
  file.add_node("Relu", {"x"}, "outer");
  auto& branch = file.add_node("If", {"yes"}, "y");
  file.add_integers("yes", {1}, true);
  for (const char* name : {"then_branch", "else_branch"}) {
    auto* attribute = branch.add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::GRAPH);
    auto* inner = attribute->mutable_g()->add_node();
    inner->set_op_type("Exp");
    inner->add_input("outer");
    inner->add_output("inner");
    attribute->mutable_g()->add_output()->set_name("inner");
  }
  file.add_output("y");
  EXPECT_EQ(imported(file).einsums, 1);  // Relu and Exp together
}

TEST(OnnxNotes, AShapeInTheFileThatTheOperatorsContradictIsNoted) {
  ModelFile file;
  file.add_input("x", {2, 3});
  file.add_node("Relu", {"x"}, "y");
  file.add_output("y", {2, 5});
  const OnnxImport made = imported(file);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(made.notes[0].hint, "'y' is [2, 5] in the file, [2, 3] by its operators");
}

// 20 values, of rank 2: all may be other than zero, or as many as --set says.
TEST(OnnxNotes, ASizeThatValuesDecideIsTheLargestOneOrThatWhichIsSet) {
  ModelFile file;
  file.add_input("x", {4, 5});
  file.add_node("NonZero", {"x"}, "places");
  file.add_output("places");
  const OnnxImport guessed = imported(file);
  EXPECT_THAT(guessed.notes.at(0).message, HasSubstr("--set places_dim_1=SIZE"));
  EXPECT_EQ(guessed.tensors.back().shape, (std::vector<std::int64_t>{2, 20}));
  const OnnxImport set = imported(file, {{{"places_dim_1", "7"}}});
  EXPECT_EQ(set.tensors.back().shape, (std::vector<std::int64_t>{2, 7}));
  EXPECT_FALSE(import_onnx(file.write("notes.onnx"), {{{"places_dim_1", "21"}}}));
}

// Two pictures, three classes, at most 5 boxes of each.
TEST(OnnxNotes, BoxesThatAreKeptAreRowsOfThree) {
  ModelFile file;
  file.add_input("boxes", {2, 16, 4});
  file.add_input("scores", {2, 3, 16});
  file.add_integers("most", {5});
  file.add_node("NonMaxSuppression", {"boxes", "scores", "most"}, "kept");
  file.add_output("kept");
  EXPECT_EQ(imported(file).tensors.back().shape, (std::vector<std::int64_t>{2 * 3 * 5, 3}));
}

TEST(OnnxNotes, AnOpsetOutsideOfTheKnownOnesIsNoted) {
  for (const int opset : {6, 7, 26, 27}) {
    ModelFile file(opset);
    file.add_input("x", {4});
    file.add_node("Relu", {"x"}, "y");
    file.add_output("y");
    EXPECT_EQ(imported(file).notes.size(), opset < 7 || opset > 26 ? 1U : 0U) << opset;
  }
}

// Six values of four bytes.
TEST(OnnxNotes, ATensorWithTooFewBytesIsAnError) {
  ModelFile file;
  file.add_input("x", {2, 2});
  file.add_weight("w", {2, 3});
  file.model().mutable_graph()->mutable_initializer(0)->set_raw_data(std::string(20, '\0'));
  file.add_node("MatMul", {"x", "w"}, "y");
  file.add_output("y");
  const auto refused = import_onnx(file.write("short.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message,
              HasSubstr("'w' of shape [2, 3] has 20 bytes of values, not 24"));
}

/// x · w, whose 2 × 3 values stand in a file beside the model.
ModelFile model_with_external_weight(const std::string& location, const std::string& offset) {
  ModelFile file;
  file.add_input("x", {2, 2});
  file.add_weight("w", {2, 3});
  auto* weight = file.model().mutable_graph()->mutable_initializer(0);
  weight->set_data_location(onnx::TensorProto::EXTERNAL);
  for (const auto& [key, value] : {std::pair("location", location), std::pair("offset", offset)}) {
    auto* entry = weight->add_external_data();
    entry->set_key(key);
    entry->set_value(value);
  }
  file.add_node("MatMul", {"x", "w"}, "y");
  file.add_output("y");
  return file;
}

// Six values of four bytes, behind four others.
TEST(OnnxNotes, ValuesInAFileBesideTheModelAreRead) {
  const float values[] = {9, 1, 2, 3, 4, 5, 6};
  const std::string bytes(reinterpret_cast<const char*>(values), sizeof(values));
  write_bytes("weights.bin", bytes);
  EXPECT_EQ(imported(model_with_external_weight("weights.bin", "4")).numbers.at("w"),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(imported(model_with_external_weight("missing.bin", "4")).numbers.count("w"), 0U);
  for (const auto& [location, offset, message] :
       {std::tuple("weights.bin", "5", "24 bytes of values from byte 5 of 'weights.bin' on"),
        std::tuple("../weights.bin", "0", "outside of the model's folder"),
        std::tuple("weights.bin", "-4", "no number of bytes")}) {
    const auto refused =
        import_onnx(model_with_external_weight(location, offset).write("beside.onnx"));
    ASSERT_FALSE(refused) << location << offset;
    EXPECT_THAT(refused.error()[0].message, HasSubstr(message));
  }
}

TEST(OnnxNotes, AnAttributeThatTheOperatorDoesNotHaveIsSaidToBeIgnored) {
  ModelFile file;
  file.add_input("x", {1, 2, 6, 6});
  file.add_weight("w", {3, 2, 1, 1});
  set_integers(file.add_node("Conv", {"x", "w"}, "y"), "stride", {2, 2});
  file.add_output("y");
  const OnnxImport made = imported(file);
  ASSERT_EQ(made.notes.size(), 1U);
  EXPECT_EQ(made.notes[0].severity, Severity::kWarning);
  EXPECT_THAT(made.notes[0].message, HasSubstr("attribute 'stride'"));
  EXPECT_EQ(made.notes[0].hint, "did you mean 'strides'? at n_y");
}

TEST(OnnxNotes, AShapeThatIsTakenFromAnInputIsSaidToBeAndBlamed) {
  ModelFile file;
  file.add_input("x", {3, 8});
  file.add_weight("w", {4, 5});
  file.add_node("Foo", {"x"}, "h").set_domain("com.acme");
  file.add_output("h");
  EXPECT_THAT(imported(file).notes.at(0).message,
              HasSubstr("the shape of 'h' is taken from its first input"));
  file.add_node("MatMul", {"h", "w"}, "y");
  file.add_output("y");
  const auto refused = import_onnx(file.write("guess.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message, HasSubstr("the shape of 'h' is not known"));
}

TEST(OnnxNotes, ADimensionThatIsASumOfOthersIsWorkedOut) {
  ModelFile file;
  file.add_symbolic_input("past", "past_length", 8);
  file.add_symbolic_input("new", "length", 8);
  file.add_symbolic_input("mask", "past_length + length", 8);
  set_integer(file.add_node("Concat", {"past", "new"}, "all"), "axis", 0);
  file.add_node("Add", {"all", "mask"}, "y");
  file.add_output("y");
  EXPECT_EQ(imported(file, {{{"past_length", "7"}, {"length", "2"}}}).tensors.back().shape,
            (std::vector<std::int64_t>{9, 8}));
  const auto refused = import_onnx(file.write("sum.onnx"), {{{"past_length", "7"}}});
  ASSERT_FALSE(refused);
  for (const Diagnostic& mistake : refused.error())
    EXPECT_THAT(mistake.hint,
                ::testing::AllOf(HasSubstr("--set length=1"), ::testing::Not(HasSubstr("=7"))));
}

TEST(OnnxNotes, InputsThatNothingReadsAreNoTensorsOfTheWorkload) {
  ModelFile file;
  file.add_input("x", {4});
  file.add_input("unread", {5});
  file.add_node("Relu", {"x"}, "y");
  file.add_output("y");
  std::vector<std::string> names;
  for (const OnnxTensor& tensor : imported(file).tensors) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "y"}));
}

TEST(OnnxNotes, ASequenceIsNoTensor) {
  ModelFile file;
  file.add_input("x", {4});
  file.add_node("SequenceConstruct", {"x"}, "list");
  file.add_node("Relu", {"list"}, "y");
  file.add_output("y");
  const auto refused = import_onnx(file.write("list.onnx"));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error()[0].message, HasSubstr("'list' is a sequence"));
}

}  // namespace
}  // namespace sluice::onnx_graph
