// `sluice sweep`, `design` and `compare` as programs: streams, exit statuses, files, and what is
// left of a run that is killed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "support/folders.h"
#include "support/run_program.h"

namespace sluice::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using Json = nlohmann::json;

const std::vector<std::string> kSweep = {
    "sweep",  "matmul",   "simple",
    "--set",  "M=128",    "--set",
    "K=128",  "--vary",   "arch.GlobalBuffer.size=4KiB..512KiB:x2",
    "--vary", "N=64,128", "--json"};

std::vector<std::string> sweep_into(const std::string& file, std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = kSweep;
  arguments.insert(arguments.end(), {"-o", file});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// The runs without what the clock says of them.
Json runs_of(const std::string& document) {
  Json runs = Json::parse(document)["runs"];
  for (Json& run : runs)
    for (const char* key : {"seconds", "mappings_evaluated"}) run.erase(key);
  return runs;
}

/// A file system in memory; not mounted where this user may not do that.
class SmallDisk {
 public:
  explicit SmallDisk(const std::string& folder) : folder_(folder) {
    is_mounted_ = mount("sluice-test", folder.c_str(), "tmpfs", 0, "size=160k") == 0;
  }
  ~SmallDisk() {
    if (is_mounted_) umount2(folder_.c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool is_mounted() const { return is_mounted_; }
  bool grow() const {
    return mount("sluice-test", folder_.c_str(), "tmpfs", MS_REMOUNT, "size=8m") == 0;
  }
  /// Takes all the space that is left, down to the last byte.
  void fill() const {
    std::ofstream file(folder_ + "/ballast", std::ios::binary);
    while (file.put('x').flush()) {
    }
  }

 private:
  std::string folder_;
  bool is_mounted_ = false;
};

/// Starts the program, and kills it after so many milliseconds.
void run_and_kill(const std::vector<std::string>& arguments, int milliseconds) {
  std::vector<std::string> all = arguments;
  all.insert(all.begin(), sluice_program());
  std::vector<char*> pointers;
  for (std::string& argument : all) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)!freopen("/dev/null", "w", stdout);
    execv(pointers.front(), pointers.data());
    _exit(127);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Sweep, ThatIsKilledGoesOnToTheSameResults) {
  const TemporaryFolder folder;
  const ProgramRun whole = run_sluice(sweep_into(folder / "whole.sqlite"));
  ASSERT_EQ(whole.exit_status, 0) << whole.err;
  EXPECT_EQ(Json::parse(whole.out)["runs"].size(), 16u);
  for (const int milliseconds : {30, 80, 150, 60})
    run_and_kill(sweep_into(folder / "killed.sqlite"), milliseconds);
  const ProgramRun resumed = run_sluice(sweep_into(folder / "killed.sqlite"));
  ASSERT_EQ(resumed.exit_status, 0) << resumed.err;
  EXPECT_EQ(runs_of(resumed.out), runs_of(whole.out));
}

TEST(Sweep, DoesNothingTwice) {
  const TemporaryFolder folder;
  const ProgramRun first = run_sluice(sweep_into(folder / "runs.sqlite"));
  const ProgramRun second = run_sluice(sweep_into(folder / "runs.sqlite", {"--progress", "plain"}));
  EXPECT_EQ(second.out, first.out);  // to the second that each run took
  EXPECT_THAT(second.err, HasSubstr("16 of 16 runs"));
  EXPECT_THAT(second.err, HasSubstr("16 of them known"));
}

TEST(Sweep, WritesATableAndAPlot) {
  const TemporaryFolder folder;
  const ProgramRun run =
      run_sluice(sweep_into(folder / "runs.sqlite", {"--csv", folder / "runs.csv", "--plot",
                                                     "arch.GlobalBuffer.size,energy_j"}));
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const std::string csv = read_text(folder / "runs.csv");
  EXPECT_THAT(csv, HasSubstr("arch.GlobalBuffer.size,N,workload,architecture,status,energy_j"));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 17);
  EXPECT_THAT(read_text(folder / "runs.svg"), HasSubstr("N 128"));
}

TEST(Sweep, SaysWhatIsWrongAndLosesNothing) {
  const TemporaryFolder folder;
  const ProgramRun unknown = run_sluice(
      {"sweep", "matmul", "simple", "--vary", "arch.Globl.size=1,2", "-o", folder / "none.sqlite"});
  EXPECT_EQ(unknown.exit_status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--vary arch.Globl.size=1"));
  EXPECT_FALSE(std::filesystem::exists(folder / "none.sqlite"));
  const std::string notes = folder.write("notes.txt", std::string(500, 'x'));
  const ProgramRun other = run_sluice(sweep_into(notes));
  EXPECT_EQ(other.exit_status, 2);
  EXPECT_THAT(other.err, HasSubstr("notes.txt is no SQLite database"));
  EXPECT_EQ(read_text(notes), std::string(500, 'x'));
  const ProgramRun plot = run_sluice(sweep_into(folder / "runs.sqlite", {"--plot", "N,energi_j"}));
  EXPECT_EQ(plot.exit_status, 2);
  EXPECT_THAT(plot.err, HasSubstr("did you mean `energy_j`?"));
}

TEST(Sweep, RefusesAFieldThatIsGivenTwice) {
  const ProgramRun twice = run_sluice({"sweep", "matmul", "simple", "--set", "M=64", "--set",
                                       "K=64", "--vary", "N=4,8", "--vary", "N=16"});
  EXPECT_EQ(twice.exit_status, 2);
  EXPECT_THAT(twice.err, HasSubstr("--vary N=16: error: `N` varies twice: `--vary N=4,8`"));
  EXPECT_THAT(twice.err, HasSubstr("hint: give all values at once: N=4,8,16"));
  const ProgramRun set =
      run_sluice({"sweep", "matmul", "simple", "--set", "N=4", "--vary", "N=8,16"});
  EXPECT_EQ(set.exit_status, 2);
  EXPECT_THAT(set.err, HasSubstr("`N` varies, and `set` gives it one value, 4"));
}

// Of a matmul of 64 and one of 128 each has a best run, although all of the second cost more.
TEST(Sweep, HasOneBestRunForEachWorkload) {
  const TemporaryFolder folder;
  for (const char* size : {"64", "128"})
    folder.write(std::string("w") + size + ".yaml",
                 std::string("workload:\n  name: w") + size + "\n  rank_sizes: {M: " + size +
                     ", K: 64, N: 64}\n  bits_per_value: {All: 8}\n  einsums: "
                     "[\"Z[m,n] = A[m,k] * B[k,n]\"]\n");
  const std::string file = folder.write("sweep.yaml", R"(
sweep:
  workloads: [w64.yaml, w128.yaml]
  architectures: [simple]
  grid: {arch.GlobalBuffer.size: [4KiB, 256KiB]}
)");
  const ProgramRun json = run_sluice({"sweep", file, "--json", "--threads", "1"});
  ASSERT_EQ(json.exit_status, 0) << json.err;
  const Json document = Json::parse(json.out);
  EXPECT_EQ(document["objective"], "edp_js");
  EXPECT_EQ(document["best"], Json::parse(R"([{"workload": "w64", "run": 1},
                                              {"workload": "w128", "run": 3}])"));
  const ProgramRun text = run_sluice({"sweep", file, "--threads", "1"});
  EXPECT_THAT(text.out, HasSubstr("best of w64"));
  EXPECT_THAT(text.out, HasSubstr("best of w128"));
}

TEST(Sweep, KeepsWhatItHasWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  std::string call = "trap '' XFSZ; ulimit -f 120; " + sluice_program();
  for (const std::string& argument : sweep_into(folder / "runs.sqlite"))
    call += " '" + argument + "'";
  const ProgramRun full = run_program("/bin/bash", {"-c", call});
  EXPECT_EQ(full.exit_status, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("the runs that were saved are in it"));
  const ProgramRun resumed = run_sluice(sweep_into(folder / "runs.sqlite"));
  EXPECT_EQ(resumed.exit_status, 0) << resumed.err;
  EXPECT_EQ(runs_of(resumed.out), runs_of(run_sluice(kSweep).out));
}

TEST(Sweep, OnAFullDiskSaysSoAndGoesOnWhereThereIsSpaceAgain) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path());
  if (!disk.is_mounted()) GTEST_SKIP() << "only root may mount a small file system";
  const std::vector<std::string> call = sweep_into(folder / "runs.sqlite");
  const ProgramRun full = run_sluice(call);
  EXPECT_EQ(full.exit_status, 3) << full.err;
  EXPECT_THAT(full.err, HasSubstr("runs.sqlite: database or disk is full"));
  EXPECT_THAT(full.err, HasSubstr("the runs that were saved are in it"));
  disk.fill();
  EXPECT_EQ(run_sluice(call).exit_status, 3);  // not a byte is left
  ASSERT_TRUE(disk.grow());
  std::filesystem::remove(folder / "ballast");
  const std::string page = folder / "page.html";
  EXPECT_EQ(run_sluice({"report", folder / "runs.sqlite", "-o", page}).exit_status, 0);  // has some
  const ProgramRun resumed = run_sluice(call);
  EXPECT_EQ(resumed.exit_status, 0) << resumed.err;
  EXPECT_EQ(runs_of(resumed.out), runs_of(run_sluice(kSweep).out));
}

TEST(Sweep, GoesIntoAReportWithEveryRun) {
  const TemporaryFolder folder;
  const std::string file = folder / "runs.sqlite", page = folder / "page.html";
  const ProgramRun swept = run_sluice(sweep_into(file));
  ASSERT_EQ(swept.exit_status, 0) << swept.err;
  ASSERT_EQ(
      run_sluice({"report", file, folder.write("runs.json", swept.out), "-o", page}).exit_status,
      0);
  const std::string text = read_text(page);
  for (const Json& run : Json::parse(swept.out)["runs"]) {  // once from each
    const std::string energy = "\"energy_j\": " + run["energy_j"].dump();
    EXPECT_NE(text.find(energy), text.rfind(energy)) << energy;
  }
  const std::string empty = folder / "empty.sqlite";
  ASSERT_EQ(run_sluice({"sweep", "matmul", "simple", "--vary", "arch.GlobalBuffer.size=1B", "--set",
                        "arch.GlobalBuffer.tensors={keep: All}", "-o", empty})
                .exit_status,
            1);
  EXPECT_EQ(run_sluice({"report", empty, "-o", page}).exit_status, 0);  // a run without a mapping
}

TEST(Sweep, TakesFilesOfOtherToolsAsMapDoes) {
  const TemporaryFolder folder;
  const std::string arch = folder.write("arch.yaml", R"(
architecture:
  version: 0.2
  subtree:
  - name: System
    local:
    - {name: DRAM, class: DRAM, attributes: {word-bits: 8, block-size: 4}}
    - {name: GLB, class: SRAM, attributes: {word-bits: 8, depth: 8192}}
    - {name: MAC, class: intmac, attributes: {word-bits: 8}}
)");
  const std::string problem = folder.write("prob.yaml", R"(
problem:
  shape:
    name: GEMM
    dimensions: [M, N, K]
    data-spaces:
    - {name: A, projection: [[[M]], [[K]]]}
    - {name: B, projection: [[[K]], [[N]]]}
    - {name: Z, projection: [[[M]], [[N]]], read-write: True}
  instance: {M: 16, N: 16, K: 16}
)");
  const std::string energies = folder.write("ert.yaml", R"(
DRAM: {read: 512, write: 512}
GLB: {read: 8, write: 8}
MAC: {compute: 0.5}
)");
  const ProgramRun swept = run_sluice(
      {"sweep", problem, arch, "--ert", energies, "--vary", "arch.GLB.size=256B,1KiB", "--json"});
  ASSERT_EQ(swept.exit_status, 0) << swept.err;
  for (const Json& run : Json::parse(swept.out)["runs"]) {
    const std::string size = run["settings"]["arch.GLB.size"];
    const ProgramRun mapped = run_sluice(
        {"map", problem, arch, "--ert", energies, "--set", "arch.GLB.size=" + size, "--json"});
    EXPECT_EQ(run["energy_j"], Json::parse(mapped.out)["mappings"][0]["energy_j"]) << size;
  }
}

TEST(Sweep, FilesMayNameNetworksOfTheLibrary) {
  const TemporaryFolder folder;
  const std::string file = folder.write("sweep.yaml", R"(
sweep: {workloads: [mlp_s], architectures: simple, grid: {arch.GlobalBuffer.size: [64KiB, 128KiB]}}
)");
  const ProgramRun run = run_sluice({"sweep", file, "--json"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["runs"].size(), 2U);
}

TEST(Design, PrintsAndWritesTheBest) {
  const TemporaryFolder folder;
  const std::string file = folder.write("design.yaml", R"(
design:
  workloads: {workload: matmul, set: {M: 64, K: 64, N: 64}}
  architecture: simple
  variables: {arch.GlobalBuffer.size: 1KiB..64KiB:x2, arch.MainMemory.read.throughput: [16GB/s, 32GB/s]}
)");
  const ProgramRun run = run_sluice({"design", file, "-o", folder / "best"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("proven best of all designs within the budgets"));
  EXPECT_THAT(run.out, HasSubstr("14 designs"));  // 7 × 2
  const Json document = Json::parse(read_text(folder / "best/result.json"));
  EXPECT_EQ(document["schema"], "sluice.design/1");
  const ProgramRun again =
      run_sluice({"evaluate", "matmul", folder / "best/arch.yaml", folder / "best/mapping_1.yaml",
                  "--set", "M=64", "--set", "K=64", "--set", "N=64", "--json"});
  ASSERT_EQ(again.exit_status, 0) << again.err;
  EXPECT_EQ(Json::parse(again.out)["mappings"][0]["edp_js"], document["best"]["objective"]);
}

TEST(Compare, SaysWhatDiffers) {
  const TemporaryFolder folder;
  for (const auto& [name, size] : {std::pair{"small", "1KiB"}, std::pair{"large", "64KiB"}})
    ASSERT_EQ(run_sluice({"map", "matmul", "simple", "--set", "M=64", "--objective",
                          name == std::string("small") ? "energy" : "edp", "--set",
                          std::string("arch.GlobalBuffer.size=") + size, "-o", folder / name})
                  .exit_status,
              0);
  const ProgramRun run = run_sluice({"compare", folder / "small", folder / "large"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.err, IsEmpty());
  EXPECT_THAT(run.out, HasSubstr("objective"));
  EXPECT_THAT(run.out, HasSubstr("Energy by component"));
  EXPECT_THAT(run.out, HasSubstr("\n- "));
  const ProgramRun same = run_sluice({"compare", folder / "small", folder / "small/result.json"});
  EXPECT_THAT(same.out, HasSubstr("Nothing differs"));
  const ProgramRun wrong = run_sluice({"compare", folder / "small", folder / "small/mapping.yaml"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("mapping.yaml: error: this is no result document"));
}

TEST(Evaluate, ListsSeveralMappingsByFile) {
  const TemporaryFolder folder;
  for (const char* objective : {"energy", "latency"})
    run_sluice({"map", "matmul", "simple", "--set", "M=64", "--objective", objective, "-o",
                folder / objective});
  const ProgramRun run =
      run_sluice({"evaluate", "matmul", "simple", "--set", "M=64", folder / "energy/mapping.yaml",
                  folder / "latency/mapping.yaml"});
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("energy/mapping.yaml:"));
  EXPECT_THAT(run.out, HasSubstr("latency/mapping.yaml:"));
}

}  // namespace
}  // namespace sluice::testing
