#include <gtest/gtest.h>

#include <random>

#include "sluice/onnx_graph/import_onnx.h"
#include "unit/onnx_graph/model_file.h"

namespace sluice::onnx_graph {
namespace {

/// A little of everything that has a rule, and something that has none.
std::string sound_model() {
  ModelFile file;
  file.add_input("x", {1, 4, 6, 6});
  file.add_weight("w", {8, 2, 3, 3});
  file.add_weight("v", {128, 5});
  auto& conv = file.add_node("Conv", {"x", "w"}, "c");
  set_integers(conv, "pads", {1, 1, 1, 1});
  auto* group = conv.add_attribute();
  group->set_name("group");
  group->set_type(onnx::AttributeProto::INT);
  group->set_i(2);
  file.add_node("Relu", {"c"}, "r");
  auto& pool = file.add_node("MaxPool", {"r"}, "p");
  set_integers(pool, "kernel_shape", {3, 3});
  set_integers(pool, "strides", {1, 1});
  file.add_node("Shape", {"p"}, "s");
  set_integers(file.add_node("Transpose", {"p"}, "t"), "perm", {0, 2, 3, 1});
  file.add_node("Flatten", {"t"}, "f");
  file.add_node("Gemm", {"f", "v"}, "g");
  file.add_node("Softmax", {"g"}, "m");
  file.add_node("Unique", {"g"}, "u");
  file.add_node("Concat", {"g", "m"}, "k");
  file.add_output("k");
  return file.bytes();
}

TEST(HostileModels, EveryPrefixOfAModelIsAnErrorOrAModel) {
  const std::string bytes = sound_model();
  for (std::size_t n = 0; n < bytes.size(); n += 7) {
    const auto imported = import_onnx(write_bytes("prefix.onnx", bytes.substr(0, n)));
    if (!imported) {
      EXPECT_FALSE(imported.error().empty());
    }
  }
}

TEST(HostileModels, DamagedModelsAreErrorsOrModels) {
  const std::string sound = sound_model();
  std::mt19937 random(5);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = sound;
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << below(8)));
          break;
        case 2:
          bytes.erase(at, 1 + below(8));
          break;
        default:
          bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(16)));
      }
      if (bytes.empty()) bytes = sound;
    }
    const auto imported = import_onnx(write_bytes("damaged.onnx", bytes));
    if (!imported) {
      EXPECT_FALSE(imported.error().empty()) << round;
    }
  }
}

}  // namespace
}  // namespace sluice::onnx_graph
