#include "sluice/sweep/sweep_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "small_specs.h"

namespace sluice {
namespace {

using ::testing::HasSubstr;
using testing::SmallSpecs;
using testing::TemporaryFolder;

SweepRun made_up_run() {
  SweepRun run;
  run.key = "k";
  run.workload = "w";
  run.arch = "a";
  run.status = "ok";
  run.mapper = "fused";
  run.guarantee = "optimal";
  run.bound = 2;
  run.operations = 8;
  run.mappings = {{1,
                   2,
                   2,
                   0,
                   4,
                   std::nullopt,
                   0.5,
                   "mapping: []\n",
                   {{"DRAM", 1, 0.5, 0.25, 64, std::nullopt}}}};
  run.timing = {0.1, 12};
  return run;
}

BoundProblem small_problem() {
  const SmallSpecs specs;
  const auto plan = plan_sweep(specs.request(), {});
  return sweep_inputs(plan->request, plan->points.front(), {})->problem;
}

std::string refusal_of(const std::string& path) {
  const auto database = SweepDatabase::open(path);
  return database ? "" : database.error().front().message;
}

void make_database(const std::string& path, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
  sqlite3_close(database);
}

TEST(SweepDatabase, KeepsARunWithAllOfItsNumbers) {
  const TemporaryFolder folder;
  const SweepRun run = made_up_run();
  {
    auto database = SweepDatabase::open(folder / "runs.sqlite");
    ASSERT_TRUE(database);
    ASSERT_TRUE(database->save(run, small_problem()));
    ASSERT_TRUE(database->save(run, small_problem()));  // changes nothing
  }
  const auto database = SweepDatabase::open(folder / "runs.sqlite");
  ASSERT_TRUE(database);
  EXPECT_TRUE(*database->has("k"));
  EXPECT_FALSE(*database->has("other"));
  const auto found = *database->find("k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->mappings, run.mappings);
  EXPECT_EQ(found->bound, 2.0);
  EXPECT_EQ(found->area_m2, std::nullopt);
  EXPECT_EQ(found->timing.mappings_evaluated, 12.0);
}

TEST(SweepDatabase, RefusesFilesOfSomethingElse) {
  const TemporaryFolder folder;
  EXPECT_THAT(refusal_of(folder.write("notes.txt", std::string(200, 'x'))),
              HasSubstr("notes.txt is no SQLite database"));
  make_database(folder / "other.sqlite", "CREATE TABLE cats (name TEXT)");
  EXPECT_THAT(refusal_of(folder / "other.sqlite"),
              HasSubstr("is a database of something else: it has the table cats"));
  EXPECT_THAT(refusal_of(folder / "no/such/folder.sqlite"), HasSubstr("cannot open"));
  ASSERT_EQ(refusal_of(folder / "runs.sqlite"), "");
  make_database(folder / "runs.sqlite", "PRAGMA user_version = 99");
  EXPECT_THAT(refusal_of(folder / "runs.sqlite"), HasSubstr("of another version of Sluice"));
}

TEST(SweepDatabase, TakesAnEmptyFile) {
  const TemporaryFolder folder;
  EXPECT_EQ(refusal_of(folder.write("empty.sqlite", "")), "");
}

}  // namespace
}  // namespace sluice
