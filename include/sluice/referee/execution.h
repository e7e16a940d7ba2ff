#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sluice/mapping/mapping.h"

namespace sluice {

/// Numbers of tensors, row-major over their ranks.
using TensorValues = std::map<TensorId, std::vector<double>>;

/// How far a run is: points walked or checked of all of them.
struct ExecutionProgress {
  std::string phase;
  std::int64_t done = 0, all = 0;
};

/// One thing that happened: everything of one kind that happens in the same step, all instances.
struct ExecutionStep {
  enum class Kind : std::uint8_t { kFill, kDrain, kCompute, kReserve, kRelease, kCollective };
  Kind kind = Kind::kCompute;
  EinsumId einsum;
  std::optional<TensorId> tensor;
  std::optional<ComponentId> from;       ///< memory that is read; the compute of a kCompute
  std::optional<ComponentId> to;         ///< memory that is written; the memory of a reservation
  std::int64_t read = 0;                 ///< values read at `from`; operations of a kCompute
  std::int64_t written = 0;              ///< values written at `to`
  double bits = 0;                       ///< of one instance's reservation
  std::int64_t instances = 1;            ///< that take part
  std::vector<std::int64_t> loop_steps;  ///< step of each enclosing temporal loop, outermost first
  std::string points;                    ///< of the first instance: `K[0, 2..3]`
};

struct ExecutionOptions {
  std::uint64_t seed = 0;      ///< of the input numbers: integers in -2..3
  TensorValues inputs;         ///< of inputs (tensors that no Einsum makes): these instead
  bool record_values = false;  ///< fill Execution::values
  double max_bytes = 0;        ///< memory that the run may take; 0: half of the machine's
  std::function<void(const ExecutionStep&)> on_step;       ///< told each step; may be empty
  std::function<void(const ExecutionProgress&)> progress;  ///< called now and then; may be empty
  const std::atomic<bool>* cancel = nullptr;  ///< once it is set, the run ends: `cancelled`
};

/// Values (of the tensor's own width) or operations of one action, over the whole run.
struct CountRow {
  EinsumId einsum;
  ComponentId component;
  std::optional<TensorId> tensor;  ///< none for operations
  std::string action;              ///< read, write, compute, or an operation kind
  std::int64_t count = 0;
  double bits = 0;  ///< in the component's own width; 0 for operations
  friend bool operator==(const CountRow&, const CountRow&) = default;
};

/// What one tensor's transfers put on one network (docs/model.md, "Networks").
struct NetworkCount {
  EinsumId einsum;
  ComponentId component;
  TensorId tensor;
  double volume_bits = 0;   ///< at every node that receives or sends them
  double bit_hops = 0;      ///< Σ over messages of bits × links
  double latency_hops = 0;  ///< busiest instance: Σ over transfers of the longest route
  bool implicit = true;     ///< between a memory and what is below it; else a collective's
  /// All tiles of each loop of the Einsum are alike. If not, the model gives upper bounds only.
  bool is_even = true;
  friend bool operator==(const NetworkCount&, const NetworkCount&) = default;
};

struct PeakOccupancy {
  ComponentId component;
  double peak_bits = 0;      ///< largest over instances and time
  double capacity_bits = 0;  ///< infinity where unbounded
  /// False where tiles differ below a pipelined or parallel split: the largest of all children
  /// need not meet, and the model gives an upper bound only.
  bool is_even = true;
  friend bool operator==(const PeakOccupancy&, const PeakOccupancy&) = default;
};

/// An Einsum has something to do with a component: a node there, its compute, or something that
/// crosses it.
struct ComponentUse {
  EinsumId einsum;
  ComponentId component;
  friend auto operator<=>(const ComponentUse&, const ComponentUse&) = default;
};

/// Instances of a memory with whole actions (`partial_actions`) in which an Einsum has one of its
/// tensors, at any time. Both tensors of a copy are its input.
struct InstanceUse {
  EinsumId einsum;
  ComponentId component;
  TensorId tensor;
  std::int64_t instances = 0;
  friend bool operator==(const InstanceUse&, const InstanceUse&) = default;
};

/// What went wrong in a run.
enum class ComplaintKind : std::uint8_t {
  kUnsupported,    ///< a node that cannot be executed yet
  kStructure,      ///< storage order, place of spatial loops, fanout, compute, missing storage
  kCoverage,       ///< an iteration point is left out
  kRecomputation,  ///< an iteration point runs twice, or a backing value is made twice
  kAbsentValue,    ///< a value is used that is not there: nobody has made it, or it was dropped
  kCapacity,       ///< live tiles exceed a memory
  kWrongNumber,    ///< a result differs from the plain evaluation
};
std::string complaint_name(ComplaintKind kind);

struct Complaint {
  ComplaintKind kind;
  std::string message;  ///< complete sentence with names and numbers
  friend bool operator==(const Complaint&, const Complaint&) = default;
};

/// The numeric check: every element of every tensor that an Einsum makes.
struct NumericCheck {
  std::int64_t compared = 0;
  std::int64_t differing = 0;
  std::int64_t exact = 0;  ///< equal to the last bit
  double largest_relative_error = 0;
  friend bool operator==(const NumericCheck&, const NumericCheck&) = default;
};

struct Execution {
  std::vector<CountRow> counts;          ///< non-zero, ordered by Einsum, component, tensor, action
  std::vector<NetworkCount> networks;    ///< ordered by Einsum, component, tensor
  std::vector<PeakOccupancy> occupancy;  ///< memories, in document order
  std::vector<ComponentUse> uses;        ///< ascending: power-gated components leak in these only
  std::vector<InstanceUse> instances;    ///< ordered by Einsum, component, tensor
  std::vector<Complaint> complaints;     ///< empty: the mapping is legal and computes the truth
  NumericCheck numbers;
  std::int64_t merge_values = 0;    ///< reads for merging partial sums that no one counted
  std::int64_t padding_values = 0;  ///< counted values that lie outside a rank
  std::int64_t compute_steps = 0;   ///< steps in which some compute worked
  bool cancelled = false;           ///< the run was ended before its end: nothing else is filled
  /// Of every tensor: inputs, and what the run made; not a number where it made nothing.
  TensorValues values;

  bool is_legal() const { return complaints.empty(); }
  /// Whether it was not run at all: too large, or with nodes that cannot be executed yet.
  bool is_unsupported() const {
    return !complaints.empty() && std::all_of(complaints.begin(), complaints.end(), [](auto& c) {
      return c.kind == ComplaintKind::kUnsupported;
    });
  }
};

}  // namespace sluice
