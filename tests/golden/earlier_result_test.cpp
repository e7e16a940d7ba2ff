// What `-o` says about the result that stands in its folder already.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EarlierResultTest : public ::testing::Test {
 protected:
  /// What a command on the folder says on standard error.
  std::string said(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"-o", folder_.path()});
    const ProgramRun run = run_sluice(arguments);
    EXPECT_EQ(run.exit_status, 0) << run.err;
    return run.err;
  }

  /// As a search that a budget ended leaves it.
  void leave_open() const {
    auto document = nlohmann::json::parse(read_text(folder_ / "result.json"));
    document["search"]["ended_by"] = "budget";
    std::ofstream(folder_ / "result.json") << document.dump();
  }

  nlohmann::json document() const {
    return nlohmann::json::parse(read_text(folder_ / "result.json"));
  }

  TemporaryFolder folder_;
};

TEST_F(EarlierResultTest, IsReplacedWithAWarningWhereItIsOfOtherOptionsOrSpecs) {
  EXPECT_THAT(said({"map", "matmul", "simple"}), IsEmpty());
  EXPECT_THAT(said({"map", "matmul", "simple", "--budget", "60s"}), IsEmpty());
  EXPECT_THAT(said({"map", "matmul", "simple", "--objective", "energy"}),
              AllOf(HasSubstr("warning: the result in " + folder_.path() + " will be replaced"),
                    HasSubstr("objective edp, now energy\n")));
  EXPECT_THAT(said({"map", "matmul", "simple", "--objective", "energy", "--set", "M=512"}),
              HasSubstr("something else: in matmul `rank_sizes: {M: 1024, K: 1024, N: 1024}`, now "
                        "`rank_sizes: {M: 512, K: 1024, N: 1024}`"));
  EXPECT_THAT(said({"map", "matmul_chain", "simple", "--objective", "energy"}),
              HasSubstr("workload matmul, now matmul_chain"));
  EXPECT_THAT(said({"evaluate", "matmul_chain", "simple", folder_ / "mapping.yaml"}),
              HasSubstr("command map, now evaluate"));
}

TEST_F(EarlierResultTest, SaysThatASearchGoesOn) {
  said({"map", "matmul", "simple"});
  leave_open();
  EXPECT_THAT(said({"map", "matmul", "simple", "--seed", "3"}),
              AllOf(HasSubstr("goes on from the search in " + folder_.path() +
                              ": its best edp is 470 µJ·s\n"),
                    Not(HasSubstr("warning"))));
}

TEST_F(EarlierResultTest, IsNotLostWhereItsDocumentIsDamaged) {
  const auto search = [this](const std::string& budget) {
    return said({"map", "matmul_chain", "simple", "--mapper", "anneal", "--budget", budget});
  };
  search("300evals");
  const auto first = document();
  std::ofstream(folder_ / "result.json") << "{\"mappings\": [";
  EXPECT_THAT(search("3evals"),
              AllOf(HasSubstr("warning: " + (folder_ / "result.json") + " is damaged"),
                    HasSubstr("goes on from the search in " + folder_.path()),
                    HasSubstr("keeps the mapping in " + folder_.path())));
  EXPECT_EQ(document()["mappings"][0]["edp_js"], first["mappings"][0]["edp_js"]);
}

TEST_F(EarlierResultTest, IsNoFolder) {
  std::filesystem::create_directory(folder_ / "result.json");
  const ProgramRun run = run_sluice({"map", "matmul", "simple", "-o", folder_.path()});
  EXPECT_EQ(run.exit_status, 3);
  EXPECT_THAT(run.err, HasSubstr("result.json: it is a folder"));
}

// 300 draws end at a budget of evaluations; that the second search draws less must not matter.
TEST_F(EarlierResultTest, KeepsTheBetterOfTwoSearchesThatProveNothing) {
  const auto search = [this](const std::string& budget) {
    return said({"map", "matmul_chain", "simple", "--mapper", "anneal", "--budget", budget});
  };
  EXPECT_THAT(search("300evals"), IsEmpty());
  const auto first = document();
  EXPECT_EQ(first["search"]["ended_by"], "budget");
  EXPECT_THAT(search("3evals"), AllOf(HasSubstr("goes on from the search in"),
                                      HasSubstr("keeps the mapping in " + folder_.path())));
  EXPECT_EQ(document()["mappings"], first["mappings"]);
}

// A proof is of the mapping, whatever is searched for a moment afterwards.
TEST_F(EarlierResultTest, KeepsWhatIsProvenOfAMapping) {
  said({"map", "matmul", "simple"});
  const auto first = document();
  EXPECT_EQ(first["guarantee"]["kind"], "optimal");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(said({"map", "matmul", "simple", "--mapper", "anneal", "--budget", "20evals"}),
                HasSubstr("keeps the mapping in " + folder_.path()));
    EXPECT_EQ(document()["mappings"], first["mappings"]);
    EXPECT_EQ(document()["guarantee"]["kind"], "optimal");
  }
}

TEST_F(EarlierResultTest, KeepsFrontsAndListsThatAreProven) {
  const std::vector<std::vector<std::string>> several = {{"--objective", "energy,latency"},
                                                         {"--top", "3"}};
  for (std::vector<std::string> search : several) {
    search.insert(search.begin(), {"map", "matmul", "simple"});
    said(search);
    const auto first = document();
    EXPECT_EQ(first["guarantee"]["kind"], "optimal");
    search.insert(search.end(), {"--mapper", "random", "--budget", "1evals"});
    EXPECT_THAT(said(search), HasSubstr("keeps those mappings in " + folder_.path()));
    EXPECT_EQ(document()["mappings"], first["mappings"]);
    EXPECT_EQ(document()["guarantee"]["kind"], "optimal");
    std::filesystem::remove(folder_ / "result.json");
  }
}

// Of two fronts that nothing is proven of, the front of both: no point of it is beaten by either.
TEST_F(EarlierResultTest, PutsTwoFrontsTogether) {
  const auto search = [this](const std::string& budget, const std::string& seed) {
    return said({"map", "matmul_chain", "simple", "--mapper", "random", "--objective",
                 "energy,latency", "--budget", budget, "--seed", seed});
  };
  search("300evals", "1");
  const auto first = document()["mappings"];
  EXPECT_THAT(search("3evals", "2"), HasSubstr("keeps those mappings in " + folder_.path()));
  const auto both = document()["mappings"];
  for (const auto& before : first)
    EXPECT_TRUE(std::any_of(both.begin(), both.end(), [&](const auto& now) {
      return now["energy_j"] <= before["energy_j"] && now["latency_s"] <= before["latency_s"];
    }));
}

// A search that has no time to find anything knows what was found before all the same.
TEST_F(EarlierResultTest, StaysWhereTheNextSearchFindsNothing) {
  const std::vector<std::string> search = {"map", "llama3_8b", "simple", "--mapper", "anneal"};
  const auto with = [&](const std::string& budget) {
    std::vector<std::string> arguments = search;
    arguments.insert(arguments.end(), {"--budget", budget});
    return said(arguments);
  };
  with("1evals");
  const auto first = document();
  EXPECT_THAT(with("0.0001s"), HasSubstr("keeps the mapping in " + folder_.path()));
  EXPECT_EQ(document()["status"], "ok");
  EXPECT_EQ(document()["mappings"], first["mappings"]);
  EXPECT_EQ(document()["guarantee"]["leaves_out"], first["guarantee"]["leaves_out"]);
}

// What was proven stays where a shorter search finds less.
TEST_F(EarlierResultTest, KeepsWhatWasProven) {
  const std::vector<std::string> search = {"map", "matmul", "simple", "--mapper", "exhaustive"};
  EXPECT_THAT(said(search), IsEmpty());
  const auto proven = document();
  auto shorter = search;
  shorter.insert(shorter.end(), {"--budget", "3evals"});
  EXPECT_THAT(said(shorter), AllOf(HasSubstr("keeps the mapping in"), Not(HasSubstr("goes on"))));
  EXPECT_EQ(document()["mappings"], proven["mappings"]);
  EXPECT_EQ(document()["guarantee"]["kind"], "optimal");
}

// A limit of time leaves the bound that no mapping is below, one of evaluations knows none.
TEST_F(EarlierResultTest, ABoundStaysKnown) {
  const auto search = [this](const std::string& budget) {
    said({"map", "matmul_chain", "simple", "--mapper", "anneal", "--budget", budget});
    return document()["guarantee"];
  };
  const auto first = search("60s,300evals");
  ASSERT_EQ(first["kind"], "gap");
  ASSERT_GT(first["bound"], 0);
  const auto second = search("3evals");
  EXPECT_EQ(second["kind"], "gap");
  EXPECT_EQ(second["bound"], first["bound"]);
}

TEST_F(EarlierResultTest, IsGoneOnFromByAnyMapperOfTheSameSpace) {
  const std::vector<std::string> search = {"map", "matmul", "simple", "--mapper"};
  const auto by = [&](std::vector<std::string> mapper) {
    mapper.insert(mapper.begin(), search.begin(), search.end());
    return said(mapper);
  };
  EXPECT_THAT(by({"anneal", "--budget", "3000evals"}), IsEmpty());
  const auto annealed = document();
  EXPECT_THAT(by({"random", "--budget", "1evals"}),
              AllOf(HasSubstr("goes on from the search in " + folder_.path() +
                              ", by the mapper anneal: its best edp is"),
                    HasSubstr("keeps the mapping in"), Not(HasSubstr("warning"))));
  EXPECT_EQ(document()["mappings"], annealed["mappings"]);
  EXPECT_THAT(by({"fused"}), HasSubstr(", by the mapper random: its best edp is"));
  EXPECT_EQ(document()["guarantee"]["kind"], "optimal");
  EXPECT_LE(document()["mappings"][0]["edp_js"].get<double>(),
            annealed["mappings"][0]["edp_js"].get<double>() * (1 + 1e-12));
  EXPECT_THAT(by({"compound"}), HasSubstr("mapper fused, now compound"));
}

TEST_F(EarlierResultTest, KeepsItsBoundWhicheverMapperOfTheSpaceLooksOn) {
  const auto by = [&](const char* mapper, const char* budget) {
    said({"map", "matmul_chain", "simple", "--mapper", mapper, "--budget", budget});
    return document()["guarantee"];
  };
  const auto first = by("anneal", "60s,300evals");
  ASSERT_EQ(first["kind"], "gap");
  for (const char* mapper : {"random", "genetic", "random"}) {
    const auto later = by(mapper, "3evals");
    EXPECT_EQ(later["kind"], "gap") << mapper;
    EXPECT_GE(later["bound"], first["bound"]) << mapper;
  }
}

TEST_F(EarlierResultTest, EitherGoesOnOrIsReplaced) {
  const std::vector<std::string> first = {"map",    "matmul",   "simple",  "--mapper",
                                          "random", "--budget", "100evals"};
  EXPECT_THAT(said(first), IsEmpty());
  auto other = first;
  other.insert(other.end(), {"--objective", "energy", "--set", "arch.GlobalBuffer.size=4MiB"});
  EXPECT_THAT(
      said(other),
      AllOf(
          HasSubstr("objective edp, now energy; in GlobalBuffer `size: 1 MiB`, now `size: 4 MiB`"),
          Not(HasSubstr("goes on"))));
}

// Two products on a network with one instance behind it: all that compound can make costs more than
// what fused makes.
constexpr const char* kOneInstance = R"yaml(
workload:
  name: pair
  rank_sizes: {M: 1, N0: 1, N1: 1, N2: 2}
  bits_per_value: {All: 8}
  einsums: ["T1[m,n1] = T0[m,n0] * W0[n0,n1]", "T2[m,n2] = T1[m,n1] * W1[n1,n2]"]
arch:
  nodes:
  - !Memory {name: L0, size: inf, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}], tensors: {keep: ~Intermediates, may_keep: All}}
  - !Memory {name: L1, size: 24, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 1e-12, throughput: inf}], tensors: {keep: All}}
  - !Network {name: NoC, topology: all_to_all, link_bandwidth: 64e9, hop_energy: 0}
  - !Memory {name: L2, size: inf, actions: [{name: read, energy: 0, throughput: inf}, {name: write, energy: 0, throughput: inf}]}
  - !Compute {name: MAC, actions: [{name: compute, energy: 0, throughput: inf}]}
)yaml";

TEST_F(EarlierResultTest, StaysWhereItIsBetterThanTheBestOfAnotherSpace) {
  const TemporaryFolder specs;
  const std::string pair = specs.write("pair.yaml", kOneInstance);
  const auto search = [&](const char* mapper) {
    return said({"map", pair, "--objective", "energy", "--mapper", mapper});
  };
  search("fused");
  const double best = document()["mappings"][0]["energy_j"];
  auto by_compound = document();  // as walks beside it leave it
  by_compound["mapper"] = by_compound["options"]["mapper"] = "compound";
  by_compound["guarantee"]["kind"] = "none";
  std::ofstream(folder_ / "result.json") << by_compound.dump();
  EXPECT_THAT(search("compound"), HasSubstr("keeps the mapping in "));
  EXPECT_EQ(document()["mappings"][0]["energy_j"].get<double>(), best);
  EXPECT_NE(document()["guarantee"]["kind"], "optimal");
  const TemporaryFolder other;  // where nothing better is known, the space has its own best
  run_sluice({"map", pair, "--objective", "energy", "--mapper", "compound", "-o", other.path()});
  EXPECT_GT(nlohmann::json::parse(read_text(other / "result.json"))["mappings"][0]["energy_j"],
            best);
}

// No collective pays where nothing fans out.
TEST_F(EarlierResultTest, OfOneInstanceBehindANetworkIsByFused) {
  const TemporaryFolder specs;
  said({"map", specs.write("pair.yaml", kOneInstance), "--objective", "energy"});
  EXPECT_EQ(document()["mapper"], "fused");
}

}  // namespace
}  // namespace sluice::testing
