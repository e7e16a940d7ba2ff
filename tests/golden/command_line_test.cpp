// Exit statuses, streams and texts of the program itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/folders.h"
#include "support/golden_file.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(CommandLine, TellsItsVersion) {
  const ProgramRun run = run_sluice({"--version"});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.out, StartsWith("sluice 0."));
  EXPECT_THAT(run.err, IsEmpty());
}

TEST(CommandLine, ExplainsEveryCommandAndOption) {
  std::string text;
  for (const char* command : {"", "map", "bounds", "evaluate", "execute", "sweep", "design",
                              "compare", "import", "check", "show", "list"}) {
    const ProgramRun run =
        command[0] == '\0' ? run_sluice({"--help"}) : run_sluice({command, "--help"});
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_THAT(run.err, IsEmpty());
    text += "$ sluice " + std::string(command) + (command[0] == '\0' ? "" : " ") + "--help\n" +
            run.out + "\n";
  }
  EXPECT_TRUE(matches_golden_file("golden/help.txt", text));
}

TEST(CommandLine, SaysThatItsOutputCannotBeWritten) {
  for (const char* command : {"--help", "list workloads", "show matmul", "check matmul simple",
                              "schema arch", "map matmul simple --set M=4"}) {
    const ProgramRun run =
        run_program("/bin/sh", {"-c", sluice_program() + " " + command + " > /dev/full"});
    EXPECT_EQ(run.exit_status, 3) << command;
    EXPECT_THAT(run.err, HasSubstr("error: cannot write to standard output")) << command;
  }
}

TEST(CommandLine, ListsWhatThereIs) {
  EXPECT_THAT(run_sluice({"list", "workloads"}).out, HasSubstr("gpt3_6.7b "));
  EXPECT_THAT(run_sluice({"list", "architectures"}).out, HasSubstr("tpu_v4i"));
  EXPECT_THAT(run_sluice({"list", "shapes"}).out, HasSubstr("comet_gemm12"));
  EXPECT_THAT(run_sluice({"list", "mappers"}).out, HasSubstr("fused"));
  EXPECT_THAT(run_sluice({"list", "objectives"}).out, HasSubstr("edp"));
}

struct WrongCall {
  std::vector<std::string> arguments;
  int exit_status;
  std::string message;  ///< on standard error
};

class WrongCalls : public ::testing::TestWithParam<WrongCall> {};

TEST_P(WrongCalls, SayWhatIsWrongOnStandardErrorOnly) {
  const ProgramRun run = run_sluice(GetParam().arguments);
  EXPECT_EQ(run.exit_status, GetParam().exit_status);
  EXPECT_THAT(run.out, IsEmpty());
  EXPECT_THAT(run.err, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    CommandLine, WrongCalls,
    ::testing::Values(
        WrongCall{{}, 2, "see sluice --help"},
        WrongCall{{"evaluat"}, 2, "did you mean `evaluate`?"}, WrongCall{{"map"}, 2, "required"},
        WrongCall{
            {"map", "matmul", "simple", "--objectve", "edp"}, 2, "did you mean `--objective`?"},
        WrongCall{{"map", "matmul", "simple", "--top", "0"}, 2, "from 1 to 1000"},
        WrongCall{{"map", "matmul", "simple", "--objective", "speed"}, 2, "--objective speed"},
        WrongCall{{"map", "matmul", "simple", "--mapper", "fusd"}, 2, "did you mean `fused`?"},
        WrongCall{{"map", "matmul", "simple", "--mapper", "random", "--budget", "0evals"},
                  2,
                  "a positive time such as 60s, 500ms or 5min, a number of mappings to price such "
                  "as 1e6evals"},
        WrongCall{{"map", "matmul", "simple", "--budget", "10evals"}, 2, "give it a time"},
        WrongCall{{"map", "matmul", "simple", "--set", "M"}, 2, "--set NAME=VALUE"},
        WrongCall{{"map", "matmul", "simple", "--why", "--objective", "energy,latency"},
                  2,
                  "--why explains the best mapping for one objective"},
        WrongCall{{"map", "gpt3_67b", "tpu_v4i"}, 2, "did you mean `gpt3_6.7b`?"},
        WrongCall{{"map", "matmul", "tpu_v4"}, 2, "did you mean `tpu_v4i`?"},
        WrongCall{{"map", "matmul"}, 2, "no architecture"},
        WrongCall{{"evaluate", "matmul", "simple"}, 2, "no mapping"},
        WrongCall{
            {"show", "gemm_softmax", "simple", "comet_gem5"}, 2, "did you mean `comet_gemm5`?"},
        WrongCall{{"check", "missing.yaml"}, 3, "cannot read missing.yaml"},
        WrongCall{{"check", "/"}, 3, "it is a folder"},
        WrongCall{{"list", "colours"}, 2, "colours"}));

TEST(CommandLine, PrintsMistakesAsADocumentWithJson) {
  const ProgramRun run = run_sluice({"map", "gpt3_67b", "tpu_v4i", "--json"});
  EXPECT_EQ(run.exit_status, 2);
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["schema"], "sluice.result/1");
  EXPECT_EQ(document["status"], "error");
  EXPECT_EQ(document["diagnostics"][0]["severity"], "error");
  EXPECT_THAT(document["diagnostics"][0]["hint"].get<std::string>(), HasSubstr("gpt3_6.7b"));
}

TEST(CommandLine, SuggestsSpecFilesOfLikeNamesOnly) {
  const TemporaryFolder folder;
  for (const char* name : {"gemm.yaml", "hw.yaml", "gem.txt"}) folder.write(name, "");
  EXPECT_THAT(run_sluice({"check", folder / "gem.yaml"}).err,
              HasSubstr("did you mean `" + folder / "gemm.yaml" + "`?"));
  EXPECT_THAT(run_sluice({"check", folder / "ml.yaml"}).err, Not(HasSubstr("hint")));
  EXPECT_THAT(run_sluice({"check", folder / "matmul.yaml"}).err,
              HasSubstr("the library has `matmul`, without an ending"));
}

constexpr const char* kMeshed = R"(
workload:
  rank_sizes: {M: 8, K: 8, N: 8}
  bits_per_value: {All: 8}
  einsums: ["C[m,n] = A[m,k] * B[k,n]"]
arch:
  clock: 1 GHz
  nodes:
  - !Memory {name: DRAM, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 8 pJ, throughput: 8 GB/s}, {name: write, energy: 8 pJ, throughput: 8 GB/s}]}
  - !Network {name: NoC, topology: mesh, link_bandwidth: 1 GB/s, hop_energy: 1 pJ/bit}
  - !Memory {name: RF, size: 600, spatial: [{name: x, fanout: 4}], tensors: {keep: All}, actions: [{name: read, energy: 1 pJ, throughput: 64 GB/s}, {name: write, energy: 1 pJ, throughput: 64 GB/s}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
mapping:
  nodes:
  - !Storage {tensors: [A, B, C], component: DRAM}
  - !Spatial {rank_variable: m, tile_shape: 2, name: x, component: RF}
  - !Storage {tensors: [B], component: RF}
  - !Temporal {rank_variable: m, tile_shape: 1}
  - !Temporal {rank_variable: n, tile_shape: 1}
  - !Temporal {rank_variable: k, tile_shape: 1}
  - !Compute {einsum: C, component: MAC}
)";

// B: 8 · 8 values of 8 bits in every element, 512; 600 bits are enough, 500 are not.
std::string meshed(const std::string& size) {
  std::string text = kMeshed;
  return text.replace(text.find("600"), 3, size);
}

TEST(Evaluate, PricesNetworksUnderBothPolicies) {
  const TemporaryFolder folder;
  const std::string file = folder.write("meshed.yaml", meshed("600"));
  const auto overlap = nlohmann::json::parse(run_sluice({"evaluate", file, "--json"}).out);
  EXPECT_EQ(overlap["latency_policy"], "overlap");
  EXPECT_FALSE(overlap["mappings"][0]["collectives"].empty());
  EXPECT_TRUE(overlap["mappings"][0]["breakdown"].is_null());
  const auto pipeline =
      nlohmann::json::parse(run_sluice({"evaluate", file, "--json", "--latency", "pipeline"}).out);
  EXPECT_EQ(pipeline["latency_policy"], "pipeline");
  EXPECT_TRUE(pipeline["mappings"][0]["breakdown"]["fill_s"].is_number());
  EXPECT_TRUE(pipeline["mappings"][0]["latency_cycles"].is_number());
}

TEST(Evaluate, NamesThePlaceOfAViolation) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"evaluate", folder.write("small.yaml", meshed("500"))});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("small.yaml:21:5: RF holds 500 bits; the Einsum C needs 512 "
                                 "(B 512 = [8×8] × 8 bits), 12 too many."));
}

TEST(Evaluate, PricesAStreamOfMappings) {
  const TemporaryFolder folder;
  const std::string file = folder.write("meshed.yaml", meshed("600"));
  const auto document = nlohmann::json::parse(run_sluice({"evaluate", file, "--json"}).out);
  const nlohmann::json good = document["mappings"][0]["mapping"];
  nlohmann::json other = good;
  other["nodes"].erase(1);
  const std::string lines = folder.write(
      "lines.jsonl", good.dump() + "\n" + other.dump() + "\n\n{\"nodes\": [{}]}\n{nodes}\n");
  const ProgramRun run = run_sluice({"evaluate", file, "--batch", lines});
  EXPECT_EQ(run.exit_status, 2);
  std::vector<nlohmann::json> results;
  std::istringstream out(run.out);
  for (std::string line; std::getline(out, line);) results.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results[0]["energy_j"], document["mappings"][0]["energy_j"]);
  EXPECT_EQ(results[0]["latency_s"], document["mappings"][0]["latency_s"]);
  EXPECT_EQ(results[1]["status"], "ok");  // without the spatial loop: eight rows in one element
  EXPECT_EQ(results[2]["status"], "error");
  EXPECT_EQ(results[2]["line"], 4);
  EXPECT_EQ(results[3]["message"], "this is no JSON: character 3 makes no sense");
}

TEST(Map, RecordsTheConvergenceOfAMapperWithABudget) {
  const auto document = nlohmann::json::parse(
      run_sluice({"map", "matmul", "simple", "--mapper", "random", "--budget", "50evals", "--json"})
          .out);
  EXPECT_EQ(document["guarantee"]["kind"], "none");
  const auto& curve = document["search"]["convergence"];
  EXPECT_EQ(curve.back()["evaluations"], 50);
  EXPECT_EQ(curve.back()["objective"], document["mappings"][0]["edp_js"]);
}

TEST(Bounds, AreTheOptimaOfTheirObjectivesAtEachValue) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"bounds", "matmul_chain", "simple", "--set", "N_EINSUMS=2",
                                     "--vary", "M=64..128:x2", "--json", "-o", folder.path()});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["schema"], "sluice.bounds/1");
  ASSERT_EQ(document["points"].size(), 2u);
  for (const auto& point : document["points"])
    for (const char* objective : {"energy", "latency"}) {
      const auto found = nlohmann::json::parse(
          run_sluice({"map", "matmul_chain", "simple", "--set", "N_EINSUMS=2", "--set",
                      "M=" + point["value"].get<std::string>(), "--objective", objective, "--json"})
              .out);
      const std::string number = objective == std::string("energy") ? "energy_j" : "latency_s";
      EXPECT_EQ(point["fused"][number]["value"], found["mappings"][0][number]);
      EXPECT_LE(point["fused"][number]["value"], point["alone"][number]["value"]);
    }
  std::ifstream csv(folder.path() + "/bounds.csv");
  std::string header;
  std::getline(csv, header);
  EXPECT_THAT(header, StartsWith("M,alone_traffic_bits,alone_traffic_bits_bound,alone_energy_j"));
}

TEST(Bounds, SaysWhichValueIsWrong) {
  const ProgramRun run =
      run_sluice({"bounds", "matmul", "simple", "--vary", "arch.GlobalBufer.size=1,2"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("--vary arch.GlobalBufer.size=1: error: 'arch' has no"));
  EXPECT_THAT(run_sluice({"bounds", "matmul", "simple", "--vary", "M=1..8"}).err,
              HasSubstr("does not say the step"));
  EXPECT_THAT(run_sluice({"bounds", "matmul", "simple", "--budget", "10evals"}).err,
              HasSubstr("give it a time"));
}

TEST(Bounds, RefuseAFieldThatIsGivenTwice) {
  const ProgramRun set =
      run_sluice({"bounds", "matmul", "simple", "--set", "M=4", "--vary", "M=8,16"});
  EXPECT_EQ(set.exit_status, 2);
  EXPECT_THAT(set.err, HasSubstr("`M` varies, and `set` gives it one value, 4"));
  const ProgramRun hidden = run_sluice(
      {"bounds", "matmul", "simple", "--vary", "M=8,16", "--set", "workload.rank_sizes.M=4"});
  EXPECT_EQ(hidden.exit_status, 2);
  EXPECT_THAT(hidden.err, HasSubstr("`M` changes nothing beside `workload.rank_sizes.M`"));
}

TEST(Map, RefusesAVariableThatIsSetTwice) {
  const ProgramRun run = run_sluice({"map", "matmul", "simple", "--set", "M=4", "--set", "M=8"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("`--set M=8`: `M` is set already, by `--set M=4`"));
}

TEST(Map, RefusesAnOptionThatIsGivenTwice) {
  const ProgramRun run =
      run_sluice({"map", "matmul", "tpu_v4i", "--threads", "2", "--ert", "x", "--threads", "1"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("--threads takes one value and is given twice: 2, 1"));
}

// 8 bits make 8 pJ of 1 pJ/bit, and nothing of 1 pJ.
TEST(Check, WarnsOfBitsOfAnOperation) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"check", folder.write("arch.yaml", R"(
arch:
  nodes:
  - !Compute
    name: MAC
    actions:
    - {name: compute, energy: 1 pJ, throughput: 1 GHz, bits_per_action: 8}
    - {name: mul, energy: 1 pJ/bit, throughput: 1 GHz, bits_per_action: 8}
    - {name: add, energy: 1 pJ, throughput: 8 Gbit/s, bits_per_action: 8}
    - {name: div, energy: 1 pJ/bit, throughput: 700 MB/s}
)")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:7:73: warning: 'bits_per_action' of a !Compute has no "
                                 "effect: its actions are operations"));
  EXPECT_THAT(run.err, Not(HasSubstr("arch.yaml:8")));
  EXPECT_THAT(run.err, Not(HasSubstr("arch.yaml:9")));
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:10:27: warning: the energy of a !Compute in J/bit"));
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:10:49: warning: the throughput of a !Compute in bit/s "
                                 "is taken for that of operations of one bit"));
}

TEST(Check, SaysThatNothingHasToPassAToll) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"check", folder.write("arch.yaml", R"(
arch:
  nodes:
  - !Toll {name: Bus, actions: [{name: read, energy: 1 pJ, throughput: inf}]}
  - !Toll {name: Link, tensors: {keep: All}, actions: [{name: read, energy: 1 pJ, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1 pJ, throughput: 1 GHz}]}
)")});
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.err, HasSubstr("arch.yaml:4:5: warning: nothing has to pass the !Toll 'Bus'"));
  EXPECT_THAT(run.err, Not(HasSubstr("'Link'")));
}

TEST(Bounds, SayWhereThereIsNoMapping) {
  const ProgramRun run =
      run_sluice({"bounds", "matmul", "simple", "--vary", "arch.MainMemory.size=1,1GiB"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("no legal mapping: "));
  EXPECT_EQ(
      run_sluice({"bounds", "matmul", "simple", "--set", "arch.MainMemory.size=1"}).exit_status, 1);
}

TEST(Map, RefusesToVisitALargeSpaceWithoutABudget) {
  const ProgramRun run = run_sluice({"map", "attention", "simple", "--mapper", "exhaustive"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("the mapper exhaustive visits every mapping"));
  EXPECT_THAT(run.out, HasSubstr("--budget"));
}

std::string packed() {
  const std::string text = kMeshed;
  return std::string(text).replace(text.find("topology: mesh"), 14,
                                   "topology: mesh, layout: packed");
}

TEST(Map, ProvesItsOptimumWithNetworksThatCost) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"map", folder.write("meshed.yaml", meshed("600")), "--json"});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  const auto document = nlohmann::json::parse(run.out);
  EXPECT_EQ(document["mapper"], "fused");
  EXPECT_EQ(document["guarantee"]["kind"], "optimal");
}

TEST(Map, SaysThatItDoesNotKnowPackedNetworksThatCost) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_sluice({"map", folder.write("meshed.yaml", packed()), "--mapper", "fused"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("the mapper fused does not know packed networks"));
  EXPECT_THAT(run.out, HasSubstr("compound, exhaustive, random, anneal"));
}

TEST(Map, RefusesArraysInsideArraysByName) {
  const TemporaryFolder folder;
  const ProgramRun run = run_sluice({"map", folder.write("nested.yaml", R"(workload:
  rank_sizes: {M: 5, K: 5, N: 5}
  bits_per_value: {All: 8}
  einsums: ["Z[m,n] = A[m,k] * B[k,n]"]
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: All}, actions: [{name: read, energy: 64, throughput: 8}, {name: write, energy: 64, throughput: 8}]}
  - !Container {name: Outer, array: {kind: systolic, dataflow: ws, rows: r, cols: c}, spatial: [{name: r, fanout: 2}, {name: c, fanout: 2}]}
  - !Container {name: Inner, array: {kind: systolic, dataflow: ws, rows: r, cols: c}, spatial: [{name: r, fanout: 5}, {name: c, fanout: 5}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)"),
                                     "--mapper", "fused"});
  EXPECT_EQ(run.exit_status, 1) << run.err;
  EXPECT_THAT(run.out, HasSubstr("the mapper fused does not know arrays within arrays: Inner"));
}

// Registers behind the mesh hold inputs only: no collective may pay there.
TEST(Map, StaysWithFusedWhereNothingExchangedIsHeldBehindANetwork) {
  const TemporaryFolder folder;
  const auto mapper_with = [&](const std::string& kept) {
    const ProgramRun run = run_sluice(
        {"map",
         folder.write(
             "chain.yaml",
             R"(workload:
  rank_sizes: {M: 4, K: 4, N: 4}
  bits_per_value: {All: 8}
  einsums:
  - {einsum: "H[m,k] = A[m,n] * V[n,k]", renames: {weight: V}}
  - {einsum: "Z[m,n] = H[m,k] * W[k,n]", renames: {weight: W}}
arch:
  nodes:
  - !Memory {name: Main, size: inf, tensors: {keep: ~Intermediates, may_keep: All}, actions: [{name: read, energy: 64, throughput: 8}, {name: write, energy: 64, throughput: 8}]}
  - !Memory {name: Buffer, size: 1024, tensors: {keep: ~Main, may_keep: All}, actions: [{name: read, energy: 4, throughput: 8}, {name: write, energy: 4, throughput: 8}]}
  - !Network {name: Mesh, topology: mesh, hop_energy: 1, link_bandwidth: inf}
  - !Container {name: PE, spatial: [{name: x, fanout: 2}]}
  - !Memory {name: Register, size: 64, tensors: {keep: )" +
                 kept +
                 R"(}, actions: [{name: read, energy: 1, throughput: 8}, {name: write, energy: 1, throughput: 8}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)"),
         "--json"});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return nlohmann::json::parse(run.out)["mapper"].get<std::string>();
  };
  EXPECT_EQ(mapper_with("weight"), "fused");
  EXPECT_EQ(mapper_with("All"), "compound");
}

TEST(Map, TakesCompoundWhereNobodyChoseAMapperAndFusedCannotPrice) {
  const TemporaryFolder folder;
  const std::string file = folder.write("meshed.yaml", packed());
  const ProgramRun run = run_sluice({"map", file});
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("searched by the mapper compound: the mapper fused does not know "
                                 "packed networks that cost energy or time"));
  EXPECT_EQ(nlohmann::json::parse(run_sluice({"map", file, "--json"}).out)["mapper"], "compound");
}

TEST(Map, SaysThatItDoesNotKnowUnevenTilesOnArrays) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_sluice({"map", "matmul", folder.write("array.yaml", R"(mapper: {mapper: fused}
arch:
  nodes:
  - !Memory {name: DRAM, size: inf, actions: [{name: read, energy: 1, throughput: 1}, {name: write, energy: 1, throughput: 1}]}
  - !Container {name: Array, array: {kind: systolic, dataflow: ws, rows: r, cols: c}, spatial: [{name: r, fanout: 2}, {name: c, fanout: 2}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 1, throughput: 1}]}
)"),
                  "--imperfect-factors", "unfused"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out,
              HasSubstr("uneven tiles on arrays that take cycles to fill and drain: Array"));
}

TEST(Map, SaysWhichMappersKnowAPolicy) {
  const ProgramRun run =
      run_sluice({"map", "matmul", "simple", "--mapper", "fused", "--latency", "staged"});
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("does not know other latency policies than overlap"));
  EXPECT_THAT(run.out, HasSubstr("exhaustive, random, anneal"));
}

TEST(Map, PricesByThePolicyOfTheSearch) {
  const TemporaryFolder folder;
  for (const std::string policy : {"overlap", "pipeline", "staged"}) {
    const std::string out = folder / policy;
    const auto found = nlohmann::json::parse(
        run_sluice({"map", "matmul", "simple", "--mapper", "random", "--budget", "200evals",
                    "--latency", policy, "--json", "-o", out})
            .out);
    EXPECT_EQ(found["latency_policy"], policy);
    const auto priced =
        nlohmann::json::parse(run_sluice({"evaluate", "matmul", "simple", out + "/mapping.yaml",
                                          "--latency", policy, "--json"})
                                  .out);
    EXPECT_EQ(found["mappings"][0]["latency_s"], priced["mappings"][0]["latency_s"]);
    EXPECT_EQ(found["mappings"][0]["breakdown"], priced["mappings"][0]["breakdown"]);
  }
}

TEST(CommandLine, GoesOnFromAnInterruptedSearchInTheSameFolder) {
  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) / "sluice_interrupted";
  std::filesystem::remove_all(folder);
  const auto map = [&](const std::string& workload) {
    return run_sluice(
        {"map", workload, "simple", "-v", "--json", "--threads", "1", "-o", folder.string()});
  };
  const ProgramRun first = map("matmul_chain");
  ASSERT_EQ(first.exit_status, 0) << first.err;
  EXPECT_THAT(first.err, Not(HasSubstr("goes on from")));
  const auto interrupt = [&] {
    auto document = nlohmann::json::parse(first.out);
    document["status"] = "interrupted";
    std::ofstream(folder / "result.json") << document.dump();
  };
  interrupt();
  const ProgramRun second = map("matmul_chain");
  EXPECT_THAT(second.err, HasSubstr("goes on from the search in " + folder.string()));
  EXPECT_EQ(nlohmann::json::parse(second.out)["mappings"],
            nlohmann::json::parse(first.out)["mappings"]);
  interrupt();
  const ProgramRun other = map("matmul");  // what stands there is a mapping of something else
  EXPECT_EQ(other.exit_status, 0) << other.err;
  EXPECT_THAT(other.err, Not(HasSubstr("goes on from")));
}

TEST(CommandLine, GoesOnFromASearchThatABudgetEnded) {
  const TemporaryFolder folder;
  const auto map = [&] {
    return run_sluice({"map", "matmul_chain", "simple", "-v", "--json", "--threads", "1", "-o",
                       folder.path() + "/out"});
  };
  const ProgramRun first = map();
  ASSERT_EQ(first.exit_status, 0) << first.err;
  auto document = nlohmann::json::parse(first.out);
  document["search"]["ended_by"] = "budget";
  std::ofstream(folder.path() + "/out/result.json") << document.dump();
  EXPECT_THAT(map().err, HasSubstr("goes on from the search in"));
  EXPECT_THAT(map().err, Not(HasSubstr("goes on from")));  // proven since
}

// What the scout of this search finds has 1.43 times the optimal EDP.
TEST(CommandLine, GoesOnFromAnInterruptedSearchAndKeepsItsPromiseOfAnEpsilon) {
  const TemporaryFolder folder;
  const auto map = [&](const std::string& epsilon) {
    const ProgramRun run = run_sluice(
        {"map", "swiglu", "snowcat", "--json", "--epsilon", epsilon, "-o", folder.path()});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return nlohmann::json::parse(run.out);
  };
  auto optimum = map("0");
  optimum["status"] = "interrupted";
  optimum["options"]["epsilon"] = "0.0001";
  std::ofstream(folder / "result.json") << optimum.dump();
  const auto resumed = map("0.0001");
  EXPECT_EQ(resumed["guarantee"]["kind"], "within_epsilon");
  EXPECT_LE(resumed["mappings"][0]["edp_js"].get<double>(),
            1.0001 * optimum["mappings"][0]["edp_js"].get<double>());
}

// Residency, which imported mappings have, costs less than any mapping that is searched.
TEST(Map, NamesWhatItsSpaceLeavesOut) {
  const auto guarantee =
      nlohmann::json::parse(run_sluice({"map", "matmul", "simple", "--json"}).out)["guarantee"];
  EXPECT_EQ(guarantee["leaves_out"][0]["name"], "incremental nodes");
  EXPECT_THAT(guarantee["space"].get<std::string>(), HasSubstr("leaves out: incremental nodes,"));
}

std::string with_unknown_time() {
  std::string text = kMeshed;
  text.erase(text.find("  - !Network"),
             text.find("  - !Memory {name: RF") - text.find("  - !Network"));
  const std::string known = "energy: 1 pJ, throughput: 1 GHz";
  return text.replace(text.find(known), known.size(), "energy: 1 pJ, throughput: null");
}

TEST(Evaluate, SaysNullWhereATimeIsUnknown) {
  const TemporaryFolder folder;
  const std::string file = folder.write("specs.yaml", with_unknown_time());
  const auto document = nlohmann::json::parse(run_sluice({"evaluate", file, "--json"}).out);
  const auto& mapping = document["mappings"][0];
  EXPECT_TRUE(mapping["latency_s"].is_null());
  EXPECT_TRUE(mapping["edp_js"].is_null());
  EXPECT_GT(mapping["energy_j"].get<double>(), 0);
  EXPECT_THAT(run_sluice({"evaluate", file}).out,
              HasSubstr("no throughput is known for compute of MAC"));
}

TEST(Map, RanksNothingByATimeThatIsUnknown) {
  const TemporaryFolder folder;
  const std::string file = folder.write("specs.yaml", with_unknown_time());
  const ProgramRun by_edp = run_sluice({"map", file});
  EXPECT_EQ(by_edp.exit_status, 2);
  EXPECT_THAT(
      by_edp.err,
      HasSubstr("the time of the action compute of MAC is null, so edp cannot be compared"));
  const ProgramRun by_energy = run_sluice({"map", file, "--objective", "energy", "--json"});
  EXPECT_EQ(by_energy.exit_status, 0) << by_energy.err;
  const auto mapping = nlohmann::json::parse(by_energy.out)["mappings"][0];
  EXPECT_TRUE(mapping["latency_s"].is_null());
  EXPECT_GT(mapping["energy_j"].get<double>(), 0);
}

// A worse mapping than the one in the folder, from a search that proves nothing.
TEST(Map, KeepsTheMappingOfAnInterruptedSearchUntilItFindsABetterOne) {
  const TemporaryFolder folder;
  const auto map = [&](const char* budget, const char* seed) {
    const ProgramRun run = run_sluice({"map", "matmul", "simple", "--mapper", "random", "--budget",
                                       budget, "--seed", seed, "--json", "-o", folder.path()});
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return nlohmann::json::parse(run.out);
  };
  auto good = map("3000evals", "1");
  good["status"] = "interrupted";
  std::ofstream(folder / "result.json") << good.dump();
  EXPECT_EQ(map("1evals", "2")["mappings"], good["mappings"]);
}

TEST(Outputs, NeedNames) {
  for (const char* option : {"-o", "--report"}) {
    const ProgramRun run = run_sluice({"map", "matmul", "simple", option, ""});
    EXPECT_EQ(run.exit_status, 2) << option;
    EXPECT_THAT(run.err, HasSubstr("expected a name")) << option;
  }
}

}  // namespace
}  // namespace sluice::testing
