// A mapping that the model cannot price is not called illegal, anywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

/// A gather to another root than the model has a price for.
std::string unpriced_file() {
  return (repository_dir() / "tests/errors/cases/mapping_gather_to_another_root.yaml").string();
}

TEST(Unpriced, HasAHeadlineAStatusAndAnExitStatusOfItsOwn) {
  const ProgramRun run = run_sluice({"evaluate", unpriced_file()});
  EXPECT_EQ(run.exit_status, 4);
  EXPECT_THAT(run.out, HasSubstr("cannot be priced yet, for 1 reason:"));
  EXPECT_THAT(run.out, Not(HasSubstr("illegal")));
  const Json document = Json::parse(run_sluice({"evaluate", unpriced_file(), "--json"}).out);
  EXPECT_EQ(document["status"], "unpriced");
  EXPECT_EQ(document["mappings"][0]["violations"][0]["kind"], "unsupported_node");
}

TEST(Unpriced, IsNoMistakeOfASpec) {
  const ProgramRun run = run_sluice({"check", unpriced_file()});
  EXPECT_EQ(run.exit_status, 4);
  EXPECT_THAT(run.err, HasSubstr("warning: mapping 1 cannot be priced yet"));
  EXPECT_THAT(run.err, Not(HasSubstr("illegal")));
}

TEST(Unpriced, IsSaidOfALineOfAStream) {
  const Json document = Json::parse(run_sluice({"evaluate", unpriced_file(), "--json"}).out);
  const TemporaryFolder folder;
  const std::string lines =
      folder.write("lines.jsonl", document["mappings"][0]["mapping"].dump() + "\n");
  const ProgramRun run = run_sluice({"evaluate", unpriced_file(), "--batch", lines});
  EXPECT_EQ(run.exit_status, 4) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr(R"("status":"unpriced")"));
}

}  // namespace
}  // namespace sluice::testing
