// What `map` and `evaluate` write: documents, folders, summaries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

std::string spec(const std::string& name) {
  return (repository_dir() / "tests/golden/examples" / name).string();
}

/// The document without what may differ between two runs.
Json without_search(const std::string& text) {
  Json document = Json::parse(text);
  document.erase("search");
  return document;
}

TEST(Results, SummaryOfFusedAttention) {
  const ProgramRun run = run_sluice({"evaluate", spec("1_fused_attention.yaml")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_TRUE(matches_golden_file("golden/evaluate_fused_attention.txt", run.out));
}

TEST(Results, DocumentOfFusedAttention) {
  const ProgramRun run = run_sluice({"evaluate", spec("1_fused_attention.yaml"), "--json"});
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_TRUE(matches_golden_file("golden/evaluate_fused_attention.json", run.out));
}

TEST(Results, DrawingsOfFusedAttention) {
  const ProgramRun run = run_sluice({"show", spec("1_fused_attention.yaml")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_TRUE(matches_golden_file("golden/show_fused_attention.txt", run.out));
}

TEST(Results, CanonicalYamlPrintsTheSameAgain) {
  const TemporaryFolder folder;
  const std::string once = run_sluice({"show", "--yaml", spec("1_fused_attention.yaml")}).out;
  const std::string file = folder.write("canonical.yaml", once);
  EXPECT_EQ(run_sluice({"show", "--yaml", file}).out, once);
}

TEST(Results, RowsAddUpToTheTotals) {
  const ProgramRun run = run_sluice({"evaluate", spec("1_fused_attention.yaml"), "--json"});
  const Json mapping = Json::parse(run.out)["mappings"][0];
  double energy = 0;
  for (const Json& row : mapping["energy"]) energy += row["energy_j"].get<double>();
  EXPECT_EQ(energy, mapping["energy_j"].get<double>());
  EXPECT_EQ(mapping["latency_s"], 352.0);  // 32 + 32 + 160 + 32 + 32 + 64
}

TEST(Results, EvaluateReadsBackWhatMapWrote) {
  const TemporaryFolder folder;
  const ProgramRun mapped = run_sluice({"map", "matmul", "simple", "-o", folder / "out", "--json"});
  ASSERT_EQ(mapped.exit_status, 0) << mapped.err;
  EXPECT_EQ(read_text(folder / "out/result.json"), mapped.out);
  const ProgramRun evaluated =
      run_sluice({"evaluate", "matmul", "simple", folder / "out/mapping.yaml", "--json"});
  ASSERT_EQ(evaluated.exit_status, 0) << evaluated.err;
  EXPECT_EQ(Json::parse(evaluated.out)["mappings"], Json::parse(mapped.out)["mappings"]);
}

TEST(Results, DoNotDependOnThreadsOrOnTheRun) {
  const std::vector<std::string> call = {"map",   "matmul_chain", "simple",   "--json",
                                         "--set", "N_EINSUMS=3",  "--threads"};
  std::vector<Json> documents;
  for (const char* threads : {"1", "2", "8", "2"}) {
    std::vector<std::string> arguments = call;
    arguments.emplace_back(threads);
    documents.push_back(without_search(run_sluice(arguments).out));
  }
  for (const Json& document : documents) EXPECT_EQ(document, documents.front());
}

TEST(Results, AnIllegalMappingGivesEveryReasonAndStatusOne) {
  const TemporaryFolder folder;
  std::string text = read_text(spec("1_fused_attention.yaml"));
  text.replace(text.find("size: 2048"), 10, "size: 1000");  // the mapping peaks at 1,056 bits
  const ProgramRun run = run_sluice({"evaluate", folder.write("small.yaml", text), "--json"});
  EXPECT_EQ(run.exit_status, 1);
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["status"], "illegal");
  const Json violation = document["mappings"][0]["violations"][0];
  EXPECT_EQ(violation["kind"], "capacity");
  EXPECT_EQ(violation["component"], "GB");
  EXPECT_EQ(violation["excess_bits"], 56.0);
}

TEST(Results, SeveralMappingsAreEvaluatedInOrder) {
  const TemporaryFolder folder;
  const std::string text = read_text(spec("1_fused_attention.yaml"));
  const std::string mapping = text.substr(text.find("mapping:"));
  const std::string two = folder.write("two.yaml", text + "---\n" + mapping);
  const ProgramRun run = run_sluice({"evaluate", two, "--json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["mappings"].size(), 2u);
}

TEST(Results, EveryMappingFileCounts) {
  const TemporaryFolder folder;
  const std::string text = read_text(spec("1_fused_attention.yaml"));
  const std::size_t arch = text.find("arch:");
  const std::size_t mapping = text.find("mapping:");
  const std::string workload_file = folder.write("w.yaml", text.substr(0, arch));
  const std::string arch_file = folder.write("a.yaml", text.substr(arch, mapping - arch));
  const std::string first = folder.write("m1.yaml", text.substr(mapping));
  const std::string second = folder.write("m2.yaml", text.substr(mapping));
  const ProgramRun run =
      run_sluice({"evaluate", workload_file, arch_file, first, second, "--json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["mappings"].size(), 2u);
}

TEST(Results, NoLegalMappingIsAnHonestNo) {
  const TemporaryFolder folder;
  std::string text = read_text(spec("1_fused_attention.yaml"));
  text.replace(text.find("size: 2048"), 10, "size: 8");
  text.erase(text.find("mapping:"));
  const ProgramRun run = run_sluice({"map", folder.write("tiny.yaml", text), "--json"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["status"], "no_mapping");
  EXPECT_EQ(document["reason"]["component"], "GB");
}

TEST(Results, TheExampleOfTheReadmeMaps) {
  const TemporaryFolder folder;
  const std::string readme = read_text((repository_dir() / "README.md").string());
  const std::size_t begin = readme.find("```yaml\n") + 8;
  const std::string file =
      folder.write("own.yaml", readme.substr(begin, readme.find("```", begin) - begin));
  const ProgramRun run = run_sluice({"map", file});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("own on own"));
  EXPECT_THAT(run.out, HasSubstr("proven optimal for EDP"));
}

TEST(Results, CheckTellsMistakesWithTheirPlaces) {
  const TemporaryFolder folder;
  const std::string file = folder.write("bad.yaml", "mapper: {max_fused_lops: 1, top: 0}\n");
  const ProgramRun run = run_sluice({"check", file});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("bad.yaml:1:10: error: "));
  EXPECT_THAT(run.err, HasSubstr("did you mean 'max_fused_loops'?"));
  EXPECT_THAT(run.err, HasSubstr("bad.yaml:1:34: error: "));
  EXPECT_THAT(run.err, HasSubstr("2 errors\n"));
}

TEST(Results, AFolderThatCannotBeMadeIsFileTrouble) {
  const TemporaryFolder folder;
  const std::string file = folder.write("file", "");
  const ProgramRun run = run_sluice({"map", "matmul", "simple", "-o", file + "/below"});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_THAT(run.out, IsEmpty());
}

TEST(Results, SaysThatPrimesLeaveComputesIdle) {
  const TemporaryFolder folder;
  const std::string problem = folder.write("problem.yaml", R"yaml(
workload:
  rank_sizes: {M: 13, K: 11}
  bits_per_value: {All: 8}
  einsums: ["C[m] = A[m,k] * B[k]"]
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Row, spatial: [{name: x, fanout: 8, may_reuse: All}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml");
  const ProgramRun perfect = run_sluice({"map", problem});
  EXPECT_THAT(perfect.err, HasSubstr("note: with tiles that divide the sizes (m = 13, k = 11) the "
                                     "computes do 12 % of what they could, at most\n"));
  EXPECT_THAT(run_sluice({"map", problem, "--imperfect-factors", "unfused"}).err,
              Not(HasSubstr("note:")));
  EXPECT_THAT(run_sluice({"map", problem, "--set", "M=16"}).err, Not(HasSubstr("note:")));
}

// A front of GPT-3 takes longer than that; walks have the best of each objective meanwhile.
TEST(Results, AFrontThatABudgetEndedHasNoPointThatAnotherBeats) {
  const ProgramRun run = run_sluice(
      {"map", "gpt3_6.7b", "tpu_v4i", "--json", "--objective", "energy,latency", "--budget", "1s"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const Json document = Json::parse(run.out);
  EXPECT_EQ(document["guarantee"]["kind"], "none");
  for (const Json& a : document["mappings"])
    for (const Json& b : document["mappings"])
      EXPECT_TRUE(a == b || a["energy_j"] < b["energy_j"] || a["latency_s"] < b["latency_s"]);
}

TEST(Results, WarnOfInputsThatNoMemoryHas) {
  const TemporaryFolder folder;
  std::ofstream(folder / "chip.yaml") << R"yaml(workload:
  rank_sizes: {M: 1, N: 1024, K: 1024}
  bits_per_value: {All: 8}
  einsums: ["L[m,n] = X[m,k] * W[k,n]"]
arch:
  nodes:
  - !Memory {name: Flash, size: 1 MiB, tensors: {keep: Persistent}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Memory {name: SRAM, size: 64 KiB, tensors: {keep: ~Persistent}, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Compute {name: ALU, actions: [{name: compute, energy: 1, throughput: 1}]}
)yaml";
  const std::string chip = folder / "chip.yaml";
  const char* warning =
      "warning: W (1 MiB) does not fit in SRAM, the outermost memory that holds it: its tiles are "
      "there, and what brings them costs nothing\n";
  const ProgramRun run = run_sluice({"map", chip, "-o", folder / "out"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, HasSubstr(warning));
  EXPECT_THAT(run_sluice({"evaluate", chip, folder / "out/mapping.yaml"}).err, HasSubstr(warning));
  EXPECT_THAT(run_sluice({"map", chip, "--set", "arch.SRAM.size=2MiB"}).err,
              Not(HasSubstr("does not fit")));
}

TEST(Results, ProgressIsPlainLinesOnStandardErrorWhereAsked) {
  EXPECT_THAT(run_sluice({"map", "matmul", "simple"}).err, IsEmpty());
  EXPECT_THAT(run_sluice({"map", "matmul", "simple", "--progress", "plain"}).err,
              HasSubstr("progress: "));
}

TEST(DefaultMapper, IsCompoundWhereCollectivesMayPay) {
  const auto mapper_of = [](const char* workload) {
    return Json::parse(
        run_sluice({"map", workload, "comet_edge", "--budget", "0.5s", "--json"}).out)["mapper"];
  };
  EXPECT_EQ(mapper_of("gemm_softmax"), "compound");
  EXPECT_EQ(mapper_of("matmul"), "fused");
}

TEST(Sources, SayWhichClassGaveANumberAndWhichTheArchitectureGives) {
  std::vector<std::string> map = {"map",   "gemm_softmax",    "comet_edge",        "comet_gemm4",
                                  "--set", "FOR_SEARCH=True", "--max-fused-loops", "1"};
  auto as_json = map;
  as_json.emplace_back("--json");
  std::map<std::string, Json> sources;
  const Json document = Json::parse(run_sluice(as_json).out);
  for (const Json& row : document["sources"])
    sources[row["component"].get<std::string>() + "." + row["number"].get<std::string>()] = row;
  EXPECT_THAT(sources["DRAM.read"]["source"].get<std::string>(), HasSubstr("Micron"));
  EXPECT_NEAR(sources["DRAM.read"]["value"].get<double>(), 5.295e-12, 1e-15);
  EXPECT_THAT(sources["GB.write"]["source"].get<std::string>(),
              HasSubstr("SRAM(size 2 MiB, width 512 bit"));
  EXPECT_TRUE(sources["Register.read"]["source"].is_null());
  EXPECT_THAT(run_sluice(map).out, Not(HasSubstr("Sources")));
  map.emplace_back("--sources");
  EXPECT_THAT(run_sluice(map).out,
              HasSubstr("PE compute, area\n    SystolicPE(clock 1e+09 Hz): HISIM"));
}

}  // namespace
}  // namespace sluice::testing
