// The property test of the executor must notice any mistake of the model. Each of these models
// makes one; random triples from seed 1 on must show it.
#include <gtest/gtest.h>

#include "triples/broken_models.h"

namespace sluice {
namespace {

class BrokenModels : public ::testing::TestWithParam<std::size_t> {};

TEST_P(BrokenModels, AreCaught) {
  const triples::BrokenModel& model = triples::broken_models()[GetParam()];
  constexpr std::uint64_t kMostCases = 2000;  // as many as the property test draws
  for (std::uint64_t seed = 1; seed <= kMostCases; ++seed) {
    const auto loaded = triples::load(triples::random_triple(seed, triples::kAllKinds), nullptr);
    ASSERT_TRUE(loaded);
    if (!triples::differences(*loaded, model).empty()) return;
  }
  FAIL() << "no random triple shows that the model " << model.name;
}

INSTANTIATE_TEST_SUITE_P(All, BrokenModels,
                         ::testing::Range(std::size_t{0}, triples::broken_models().size()),
                         [](const auto& entry) {
                           std::string name = triples::broken_models()[entry.param].name;
                           for (char& c : name)
                             if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace sluice
