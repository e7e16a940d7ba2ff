#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oracle/problem/dice.h"
#include "sluice/mapper/mapper.h"
#include "sluice/model/binding.h"

namespace sluice::oracle {

/// A small workload, architecture and search options, as text fields that print as one YAML file.
/// Energies are integers, throughputs and leakage powers of two: every sum of costs is exact.

struct AccessSpec {
  std::string tensor;
  std::vector<std::pair<std::string, std::string>> projection;  ///< rank → index expression
};

struct EinsumSpec {
  std::string name;
  std::vector<AccessSpec> inputs;
  AccessSpec output;
  bool is_copy = false;
  int n_instances = 1;
  std::string weight;               ///< the input that is called `weight`, or empty
  std::vector<std::string> bounds;  ///< `0 <= r < 3`: variables that are no rank of their own
};

/// Whether a rank is read or written through a sum of variables.
bool has_window(const AccessSpec& access);

struct FanoutSpec {
  std::string name;
  int fanout = 2;
  std::string may_reuse = "All";
  std::string reuse;      ///< empty: not given
  std::string min_usage;  ///< empty: not given
};

/// A memory, or what may stand between memories.
enum class HolderKind { kMemory, kToll, kContainer, kNetwork };

/// Fields of a network; energies, times and widths as powers of two.
struct NetworkSpec {
  std::string topology = "mesh";
  bool from_edge = false, free_sums = false, grows_trees = false;
  std::string ports;  ///< empty: not given
  std::string implicit_time = "receivers";
  int hop_energy = 1, channel_width = 1;
  std::string link_bandwidth = "inf", router_latency = "0", queue_latency = "0";
  friend bool operator==(const NetworkSpec&, const NetworkSpec&) = default;
};

struct MemorySpec {
  std::string name;
  HolderKind kind = HolderKind::kMemory;
  std::string size = "inf";
  std::string keep, may_keep, back;  ///< empty: not given
  int read_energy = 1, write_energy = 1;
  std::string read_throughput = "inf", write_throughput = "inf";
  std::string leak = "0";
  std::string bits_per_value;  ///< empty, or the inside of a flow mapping
  int bits_per_action = 1;
  int values_per_action = 0;  ///< 0: bits_per_action counts
  std::string total_latency;  ///< empty: the default
  std::vector<FanoutSpec> spatial;
  std::string direction;                               ///< tolls; empty: the default
  std::vector<std::vector<std::string>> tensor_order;  ///< options of groups of tensors
  bool any_order = false;                              ///< free of the memory hierarchy
  bool is_double = false, separate_ports = false;      ///< buffering, ports
  bool counted_merges = false, free_drains = false, whole_actions = false, power_gated = false;
  NetworkSpec network;  ///< of a network
  std::string array;    ///< of a container: dataflow of a systolic array, or empty
};

struct ComputeSpec {
  std::string name;
  std::string enabled;  ///< empty: always
  int energy = 1;
  std::string throughput = "1";
  std::string total_latency;  ///< empty: not given
  std::string leak = "0";
  bool power_gated = false;
  std::vector<FanoutSpec> spatial;
};

/// A memory (or none) with a compute below it, on its own branch of the hierarchy.
struct ForkSpec {
  std::optional<MemorySpec> memory;
  ComputeSpec compute;
};

struct ProblemSpec {
  std::vector<std::pair<std::string, int>> rank_sizes;
  std::string bits_per_value = "All: 8";
  std::string persistent;  ///< set expression, a tensor's name, or empty
  int n_instances = 1;
  std::vector<EinsumSpec> einsums;
  std::vector<std::string> filled;   ///< made tensors whose other elements are 0 (`initial`)
  std::vector<MemorySpec> memories;  ///< outermost first
  std::optional<ForkSpec> fork;      ///< stands after memories[fork_place]
  ComputeSpec compute;
  int max_fused_loops = kUnlimitedLoops;
  int max_fused_loops_per_rank = 1;
};

/// The memory after which a fork stands: GlobalBuffer, or the last one.
std::size_t fork_place(const ProblemSpec& spec);

/// The whole as one YAML document (workload, arch, mapper).
std::string to_yaml(const ProblemSpec& spec);

/// The same as IR values, bound; made without the front end (a test loads the document and
/// compares). Throws InternalError with the diagnostics where it is refused: the generator makes
/// legal problems.
BoundProblem bind_problem(const ProblemSpec& spec);
MapperOptions options_of(const ProblemSpec& spec);

/// Kinds of input that random_problem adds to a plain problem, each in some of the cases.
struct Extras {
  bool tolls = false;             ///< and containers
  bool behaviours = false;        ///< double buffers, separate ports, counted merges, power gating
  bool free_orders = false;       ///< of storage nodes
  bool inner_persistent = false;  ///< persistent tensors backed below the outermost memory
  bool double_variables = false;  ///< two variables in one index
  bool recurrences = false;       ///< of one Einsum
  bool cycles = false;            ///< recurrences of two Einsums
  bool normalisations = false;    ///< a sum that is read with the values that were summed
  bool windowed_outputs = false;  ///< transposed convolutions, and what reads them
  bool shared_windows = false;    ///< one loop moves windows of two inputs
  bool ports = false;             ///< several instances of the outermost memory
  bool leakage = false;           ///< of every component, with and without power gating
  bool networks = false;          ///< that cost energy or time
  bool many_loops = false;        ///< four or five memories, Einsums of five to seven variables
  bool arrays = false;            ///< systolic ones
  bool several_makers = false;    ///< Einsums that make disjoint boxes of one tensor
  bool stepped_usage = false;     ///< `min_usage` of a fanout, where Einsums are recurrent
  bool whole_actions = false;     ///< `partial_actions: whole`, of actions of several values
  bool weights_apart = false;     ///< what a recurrence reads is backed in several memories
  bool copies = false;            ///< of intermediate tensors, read in their place
  bool operands = false;          ///< Einsums of three to five inputs
  bool backs = false;             ///< `back` of memories further in
  bool free_ends = false;         ///< no time in the outermost memory and the computes
  bool diagonals = false;         ///< one variable walks two ranks of a tensor
};
inline constexpr Extras kAllExtras = {true, true, true, true, true, true, true, true,
                                      true, true, true, true, true, true, true, true,
                                      true, true, true, true, true, true, true, true};

/// Those in which `fused` proves its optimum: elsewhere it proves a bound.
inline constexpr Extras kProvenExtras = [] {
  Extras extras = kAllExtras;
  extras.whole_actions = false;
  return extras;
}();

struct NamedExtra {
  const char* name;
  bool Extras::*drawn;
};
/// As in `sluice_fuzz --extras`.
const std::vector<NamedExtra>& named_extras();

/// Whether Einsums read what they, or later ones, made in the step before.
bool is_recurrent(const ProblemSpec& spec);

/// Which of the kinds that strangers brought a problem is of: cycles, windowed_outputs,
/// shared_windows, ports, leakage, networks, many_loops, arrays, several_makers, stepped_usage,
/// whole_actions, weights_apart (of cycles), copies, operands, backs, free_ends, diagonals.
Extras extras_of(const ProblemSpec& spec);

/// The problem of one seed.
ProblemSpec random_problem(std::uint64_t seed, const Extras& extras = {});

/// A problem with many places for loops and few mappings.
void draw_many_loops(Dice& dice, ProblemSpec& spec);

/// Adds to a problem what `extras` allows, by the draws of `seed`.
void add_extras(ProblemSpec& spec, std::uint64_t seed, const Extras& extras);

/// Simpler variants of a problem, the boldest first: for shrinking a failure.
std::vector<ProblemSpec> simpler_problems(const ProblemSpec& spec);

}  // namespace sluice::oracle
