// Mappers and latency policies from outside.
#include "sluice/mapper/registry.h"

#include <gmock/gmock.h>

#include "sluice/mapper/options_table.h"
#include "sluice/mapper/run_mapper.h"
#include "sluice/mapper/selection.h"

namespace sluice {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Finds an empty mapping, with the collectives that nobody asked about.
class Lazy final : public Mapper {
 public:
  std::string name() const override { return "lazy"; }
  std::string description() const override { return "does nothing"; }
  bool makes_collectives() const override { return true; }
  tl::expected<MapperResult, NoMapping> map(const BoundProblem&, const MapperOptions&,
                                            const MapperControl&) const override {
    MapperResult result;
    result.mappings.emplace_back();
    return result;
  }
};

class Doubled final : public LatencyMethod {
 public:
  std::string name() const override { return "doubled"; }
  LatencyBreakdown latency(const CountedMapping& counted) const override {
    return {{"all", 2 * counted.overlap_s()}};
  }
};

MapperRegistry with_lazy() {
  MapperRegistry mappers = standard_mappers();
  mappers.emplace<Lazy>();
  return mappers;
}

TEST(MapperRegistry, HasTheMappersOfSluiceInTheOrderOfTheList) {
  EXPECT_THAT(standard_mappers().names(), ElementsAre("fused", "compound", "exhaustive", "random",
                                                      "anneal", "genetic", "iterative"));
}

TEST(MapperRegistry, RunsAMapperFromOutsideAndRefusesForIt) {
  const MapperRegistry mappers = with_lazy();
  MapperOptions options;
  EXPECT_TRUE(run_mapper(*mappers.find("lazy"), {}, options, {}));
  options.row_fusion = true;
  const auto no = run_mapper(*mappers.find("lazy"), {}, options, {});
  ASSERT_FALSE(no);
  EXPECT_EQ(no.error().reason, "the mapper lazy knows perfect factors without row_fusion only");
}

TEST(MapperRegistry, NamesAMapperFromOutsideWhereOthersRefuse) {
  BoundProblem problem;
  problem.workload.tensors.resize(1);
  MapperOptions options;
  options.constraints.collectives.push_back({"gathered", TensorId(0), {}, {}, {}});
  const Mapper& random = *standard_mappers().find("random");
  EXPECT_THAT(refused_request(random, problem, options, with_lazy())->nearest_relaxation,
              HasSubstr("another mapper (compound, lazy)"));
  EXPECT_THAT(run_mapper(random, problem, options, {}, with_lazy()).error().nearest_relaxation,
              HasSubstr("another mapper (compound, lazy)"));
}

TEST(MapperRegistry, WithoutFusedTheFirstIsTaken) {
  MapperRegistry mappers;
  mappers.emplace<Lazy>();
  EXPECT_EQ(default_mapper({}, {}, mappers).mapper, mappers.find("lazy"));
  EXPECT_THROW((void)default_mapper({}, {}, MapperRegistry{}), std::invalid_argument);
}

TEST(LatencyOption, TakesPoliciesFromOutsideByName) {
  MapperOptions options;
  const MapperOption& latency = *find_mapper_option("latency");
  EXPECT_THAT(latency.set(options, "doubled").error(),
              HasSubstr("one of overlap, pipeline, staged"));
  options.policies.emplace<Doubled>();
  ASSERT_TRUE(latency.set(options, "doubled"));
  EXPECT_EQ(latency.get(options), "doubled");
  EXPECT_THAT(latency.set(options, "dubled").error(), HasSubstr("did you mean 'doubled'?"));
}

// Whose bounds know the three policies of the model must not be asked for another one.
TEST(LatencyOption, MappersThatDoNotKnowAPolicyRefuse) {
  MapperOptions options;
  options.policies.emplace<Doubled>();
  ASSERT_TRUE(find_mapper_option("latency")->set(options, "doubled"));
  for (const char* name : {"fused", "compound"})
    EXPECT_TRUE(refused_request(*standard_mappers().find(name), {}, options)) << name;
  for (const char* name : {"exhaustive", "random"})
    EXPECT_FALSE(refused_request(*standard_mappers().find(name), {}, options)) << name;
}

}  // namespace
}  // namespace sluice
