// LSTM, GRU and RNN: parameters and operations by hand. T = 5 steps, B = 2 sequences, I = 3 inputs,
// H = 4 states: 40 values of each gate.
#include <gmock/gmock.h>

#include "sluice/onnx_graph/import_onnx.h"
#include "unit/onnx_graph/model_file.h"

namespace sluice::onnx_graph {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kValues = 5 * 2 * 4;

/// A node with weights of `directions`; further inputs and attributes are the test's.
class Recurrent {
 public:
  Recurrent(const std::string& type, int gates, int directions = 1) {
    file_.add_input("x", {5, 2, 3});
    file_.add_weight("W", {directions, gates * 4, 3});
    file_.add_weight("R", {directions, gates * 4, 4});
    file_.add_weight("B", {directions, 2 * gates * 4});
    node_ = &file_.add_node(type, {"x", "W", "R", "B"}, "y");
    file_.add_output("y");
  }

  void add_weight(std::size_t place, const std::string& name, const std::vector<int>& shape) {
    file_.add_weight(name, shape);
    while (node_->input_size() < static_cast<int>(place)) node_->add_input("");
    node_->add_input(name);
  }
  onnx::AttributeProto& add(const std::string& attribute,
                            onnx::AttributeProto::AttributeType type) {
    auto* added = node_->add_attribute();
    added->set_name(attribute);
    added->set_type(type);
    return *added;
  }
  void set(const std::string& attribute, int value) {
    add(attribute, onnx::AttributeProto::INT).set_i(value);
  }
  void set_activations(const std::vector<std::string>& names) {
    auto& added = add("activations", onnx::AttributeProto::STRINGS);
    for (const std::string& name : names) added.add_strings(name);
  }
  OnnxImport imported() const {
    const auto result = import_onnx(file_.write("recurrent.onnx"));
    if (!result) throw std::runtime_error(to_string(result.error()));
    return *result;
  }

 private:
  ModelFile file_;
  onnx::NodeProto* node_ = nullptr;
};

// Each gate: 3 + 4 multiply-adds, two biases, the sum of both products, a function. The cell: two
// products and a sum; the state: a function and a product.
constexpr std::int64_t kLstm = 4 * (3 + 4 + 2 + 1 + 1) + 3 + 2;

TEST(ImportRecurrent, AnLstmHasFourGatesACellAndAState) {
  const OnnxImport made = Recurrent("LSTM", 4).imported();
  EXPECT_EQ(made.parameters, 16 * 3 + 16 * 4 + 2 * 16);
  EXPECT_EQ(made.macs, kValues * 4 * (3 + 4));
  EXPECT_EQ(made.operators.at(0).operations, kValues * kLstm);
  EXPECT_THAT(made.workload, HasSubstr("y_cell_cell["));  // the next step reads it
}

TEST(ImportRecurrent, ThreePeepholesAreAProductAndASumEach) {
  Recurrent lstm("LSTM", 4);
  lstm.add_weight(7, "P", {1, 3 * 4});
  const OnnxImport made = lstm.imported();
  EXPECT_EQ(made.parameters, 16 * 3 + 16 * 4 + 2 * 16 + 3 * 4);
  EXPECT_EQ(made.operators.at(0).operations, kValues * (kLstm + 3 * 2));
}

// Four gates and the state clip what their functions read by two operations each. Softsign is three
// operations; the forget gate is one minus the input gate, instead of a sum, a clip and a function.
TEST(ImportRecurrent, ActivationsClipAndInputForgetAreThoseOfTheNode) {
  Recurrent lstm("LSTM", 4);
  lstm.set_activations({"Relu", "Tanh", "Softsign"});
  lstm.add("clip", onnx::AttributeProto::FLOAT).set_f(0.5F);
  lstm.set("input_forget", 1);
  const OnnxImport made = lstm.imported();
  EXPECT_EQ(made.operators.at(0).operations, kValues * (kLstm + 5 * 2 + 2 - (1 + 2 + 1) + 1));
  EXPECT_THAT(made.workload, Not(HasSubstr("sigmoid")));
  EXPECT_THAT(made.notes.at(0).message, HasSubstr("input_forget"));
}

// Update and reset: 3 + 4, two biases, a sum, a function. The new state: the reset's product as
// well. Behind them 1 − z, two products, a sum.
TEST(ImportRecurrent, TheResetOfAGruIsAProductBeforeOrAfterTheWeights) {
  constexpr std::int64_t kGru = 3 * (3 + 4 + 2 + 1 + 1) + 1 + 4;
  for (const int after : {0, 1}) {
    Recurrent gru("GRU", 3);
    gru.set("linear_before_reset", after);
    const OnnxImport made = gru.imported();
    EXPECT_EQ(made.parameters, 12 * 3 + 12 * 4 + 2 * 12);
    EXPECT_EQ(made.macs, kValues * 3 * (3 + 4));
    EXPECT_EQ(made.operators.at(0).operations, kValues * kGru) << after;
  }
}

TEST(ImportRecurrent, AnRnnTakesTheFunctionThatItNames) {
  Recurrent rnn("RNN", 1);
  rnn.set_activations({"LeakyRelu"});
  rnn.add("activation_alpha", onnx::AttributeProto::FLOATS).add_floats(0.25F);
  const OnnxImport made = rnn.imported();
  EXPECT_THAT(made.workload, Not(HasSubstr("tanh")));
  EXPECT_THAT(made.workload, HasSubstr("0.25 * min("));
  // The sum is made first: max, min, a product and a sum read it twice.
  EXPECT_EQ(made.operators.at(0).operations, kValues * (3 + 4 + 2 + 1 + 4));
}

TEST(ImportRecurrent, BothDirectionsMakePartsOfOneTensor) {
  const OnnxImport made = Recurrent("LSTM", 4, 2).imported();
  EXPECT_EQ(made.operators.at(0).operations, 2 * kValues * kLstm);
  ASSERT_EQ(made.tensors.back().name, "y");
  EXPECT_TRUE(made.tensors.back().is_whole);
  EXPECT_EQ(made.tensors.back().shape, (std::vector<std::int64_t>{5, 2, 2, 4}));
}

TEST(ImportRecurrent, WhatIsNotReadIsNamed) {
  Recurrent lstm("LSTM", 4);
  lstm.add_weight(5, "h", {1, 2, 4});
  lstm.set_activations({"Sigmoid", "Wavy", "Tanh"});
  const OnnxImport made = lstm.imported();
  EXPECT_THAT(made.notes.at(0).message, HasSubstr("initial_h is not read"));
  EXPECT_THAT(made.notes.at(0).message, HasSubstr("the activation Wavy is priced as Tanh"));
}

}  // namespace
}  // namespace sluice::onnx_graph
