#include "oracle/problem/random_problem.h"

#include <algorithm>

#include "oracle/problem/dice.h"

namespace sluice::oracle {
namespace {

using Projection = std::vector<std::pair<std::string, std::string>>;

/// Grows a workload Einsum by Einsum; every tensor is [B,] M, N<i> with fresh variable names where
/// asked.
class WorkloadDraw {
 public:
  WorkloadDraw(Dice& dice, ProblemSpec& spec) : dice_(dice), spec_(spec) {}

  void run() {
    count_ = dice_.one_of({1, 1, 2, 2, 2, 2, 3, 3, 3, 4});
    batched_ = count_ <= 3 && dice_.chance(15);
    renamed_ = dice_.chance(25);
    if (batched_) size("B", 2);
    size("M", dice_.chance(20) ? extent() + 2 : extent());
    Value first = input("T0", new_rank());
    values_.push_back(first);
    for (int i = 1; i <= count_; ++i) add_einsum(i);
  }

 private:
  struct Value {
    std::string tensor;
    std::string rank;         ///< its last rank
    std::string first = "M";  ///< the one before
  };

  int extent() {
    switch (count_) {
      case 1:
        return dice_.one_of({2, 3, 4, 4, 6, 8});
      case 2:
        return dice_.one_of({1, 2, 2, 3, 4, 4, 6});
      case 3:
        return dice_.one_of({1, 2, 2, 3, 4});
      default:
        return dice_.one_of({1, 2, 2, 2, 3});
    }
  }

  void size(const std::string& rank, int value) {
    spec_.rank_sizes.emplace_back(rank, std::max(1, value));
  }

  std::string new_rank() {
    const std::string rank = "N" + std::to_string(next_rank_++);
    size(rank, extent());
    return rank;
  }

  Value input(const std::string& name, const std::string& rank) { return {name, rank}; }

  std::string variable(const std::string& rank, int einsum) const {
    std::string name;
    for (char c : rank) name += static_cast<char>(std::tolower(c));
    return renamed_ ? name + "_" + std::to_string(einsum) : name;
  }

  AccessSpec access(const Value& value, int einsum) const {
    AccessSpec spec{value.tensor, {}};
    if (batched_) spec.projection.emplace_back("B", variable("B", einsum));
    spec.projection.emplace_back(value.first, variable(value.first, einsum));
    spec.projection.emplace_back(value.rank, variable(value.rank, einsum));
    return spec;
  }

  /// An earlier value, most often the last one; sometimes an older one, which then lives longer.
  const Value& operand() {
    if (dice_.chance(75)) return values_.back();
    return values_[static_cast<std::size_t>(dice_.below(static_cast<int>(values_.size())))];
  }

  void add_einsum(int i) {
    EinsumSpec einsum;
    einsum.name = "E" + std::to_string(i);
    const std::string out = "T" + std::to_string(i);
    const Value source = operand();
    const int kind = dice_.below(100);
    if (kind < 50) {
      matmul(einsum, source, out, i);
    } else if (kind < 62) {
      elementwise(einsum, source, out, i);
    } else if (kind < 74) {
      join(einsum, source, out, i);
    } else if (kind < 82) {
      reduction(einsum, source, out, i);
    } else if (kind < 95) {
      convolution(einsum, source, out, i);
    } else {
      elementwise(einsum, source, out, i);
      einsum.is_copy = true;
    }
    if (dice_.chance(6)) einsum.n_instances = 2;
    spec_.einsums.push_back(std::move(einsum));
  }

  void matmul(EinsumSpec& einsum, const Value& source, const std::string& out, int i) {
    const Value result{out, new_rank(), source.first};
    einsum.weight = "W" + std::to_string(i);
    AccessSpec weight{einsum.weight, {}};
    if (batched_ && dice_.chance(50)) weight.projection.emplace_back("B", variable("B", i));
    weight.projection.emplace_back(source.rank, variable(source.rank, i));
    weight.projection.emplace_back(result.rank, variable(result.rank, i));
    einsum.inputs = {access(source, i), weight};
    finish(einsum, result, i);
  }

  void elementwise(EinsumSpec& einsum, const Value& source, const std::string& out, int i) {
    einsum.inputs = {access(source, i)};
    finish(einsum, {out, source.rank, source.first}, i);
  }

  /// Two operands of one shape (a residual connection, a diamond), or a bias.
  void join(EinsumSpec& einsum, const Value& source, const std::string& out, int i) {
    const Value* other = nullptr;
    for (const Value& value : values_)
      if (value.tensor != source.tensor && value.rank == source.rank && value.first == source.first)
        other = &value;
    einsum.inputs = {access(source, i)};
    if (other) {
      einsum.inputs.push_back(access(*other, i));
    } else {
      einsum.weight = "W" + std::to_string(i);
      einsum.inputs.push_back({einsum.weight, {{source.rank, variable(source.rank, i)}}});
    }
    finish(einsum, {out, source.rank, source.first}, i);
  }

  /// Sums the last rank away and puts a new one, whose weight does not depend on it.
  void reduction(EinsumSpec& einsum, const Value& source, const std::string& out, int i) {
    einsum.inputs = {access(source, i)};
    AccessSpec output{out, {}};
    if (batched_) output.projection.emplace_back("B", variable("B", i));
    output.projection.emplace_back(source.first, variable(source.first, i));
    einsum.output = output;  // of one rank less: nobody reads it
  }

  /// A one-dimensional convolution over the rank before the last; with channels, or depthwise.
  void convolution(EinsumSpec& einsum, const Value& source, const std::string& out, int i) {
    const int window = dice_.one_of({2, 2, 3});
    const int stride = dice_.chance(25) ? 2 : 1;
    const int rows = extent_of(source.first);
    const int results = (rows - window) / stride + 1;
    if (rows < window || results < 1) {
      matmul(einsum, source, out, i);
      return;
    }
    const bool depthwise = dice_.chance(30);
    const std::string height = "P" + std::to_string(i);
    const std::string p = variable(height, i);
    const std::string r = "r" + std::to_string(i);
    size(height, results);
    const Value result{out, depthwise ? source.rank : new_rank(), height};
    einsum.bounds.push_back("0 <= " + r + " < " + std::to_string(window));
    AccessSpec image = access(source, i);
    image.projection[batched_ ? 1 : 0].second = (stride == 2 ? "2*" : "") + p + " + " + r;
    einsum.weight = "W" + std::to_string(i);
    AccessSpec weight{einsum.weight, {{"R" + std::to_string(i), r}}};
    weight.projection.emplace_back(source.rank, variable(source.rank, i));
    if (!depthwise) weight.projection.emplace_back(result.rank, variable(result.rank, i));
    size("R" + std::to_string(i), window);
    einsum.inputs = {image, weight};
    finish(einsum, result, i);
  }

  int extent_of(const std::string& rank) const {
    for (const auto& [name, value] : spec_.rank_sizes)
      if (name == rank) return value;
    return 0;
  }

  void finish(EinsumSpec& einsum, const Value& result, int i) {
    einsum.output = access(result, i);
    values_.push_back(result);
  }

  Dice& dice_;
  ProblemSpec& spec_;
  std::vector<Value> values_;
  int next_rank_ = 0;
  int count_ = 1;
  bool batched_ = false;
  bool renamed_ = false;
};

FanoutSpec draw_fanout(Dice& dice, const std::string& name) {
  FanoutSpec fanout;
  fanout.name = name;
  fanout.fanout = dice.one_of({2, 2, 3, 4});
  fanout.may_reuse =
      dice.text_of({"All", "All", "Nothing", "Inputs", "input", "weight", "Outputs"});
  if (dice.chance(20)) fanout.reuse = dice.text_of({"input", "output", "weight"});
  if (dice.chance(25)) fanout.min_usage = dice.text_of({"1", "0.5"});
  return fanout;
}

std::vector<FanoutSpec> draw_spatial(Dice& dice, int percent, const std::string& prefix) {
  std::vector<FanoutSpec> spatial;
  if (!dice.chance(percent)) return spatial;
  spatial.push_back(draw_fanout(dice, prefix + "X"));
  if (dice.chance(15)) spatial.push_back(draw_fanout(dice, prefix + "Y"));
  return spatial;
}

MemorySpec draw_memory(Dice& dice, const std::string& name, int energy) {
  MemorySpec memory;
  memory.name = name;
  memory.read_energy = energy * (1 + dice.below(3));
  memory.write_energy = energy * (1 + dice.below(3));
  memory.read_throughput = dice.text_of({"inf", "8", "16", "32"});
  memory.write_throughput = dice.text_of({"inf", "8", "16", "64"});
  if (dice.chance(15)) memory.leak = dice.text_of({"0.125", "1", "4"});
  if (dice.chance(10)) memory.bits_per_action = dice.one_of({2, 4, 8});
  if (dice.chance(15)) memory.total_latency = "max(a.n_calls / a.throughput for a in actions)";
  return memory;
}

std::string draw_size(Dice& dice, int largest) {
  if (dice.chance(10)) return "inf";
  return std::to_string(8 * (2 + dice.below(largest)));
}

ComputeSpec draw_compute(Dice& dice, const std::string& name) {
  ComputeSpec compute;
  compute.name = name;
  compute.energy = 1 + dice.below(3);
  compute.throughput = dice.text_of({"0.5", "1", "2", "4"});
  if (dice.chance(20)) compute.leak = dice.text_of({"0.125", "1"});
  compute.spatial = draw_spatial(dice, 15, "C");
  return compute;
}

void draw_arch(Dice& dice, ProblemSpec& spec) {
  MemorySpec main = draw_memory(dice, "MainMemory", 16);
  main.keep = dice.chance(15) ? "All" : "~Intermediates";
  main.may_keep = dice.chance(80) ? "All" : "";
  spec.memories.push_back(main);

  MemorySpec buffer = draw_memory(dice, "GlobalBuffer", 2);
  buffer.keep =
      dice.text_of({"~MainMemory", "~MainMemory", "~MainMemory", "All", "Inputs | ~MainMemory"});
  if (dice.chance(65)) buffer.may_keep = "All";
  buffer.size = draw_size(dice, 40);
  buffer.spatial = draw_spatial(dice, 12, "G");
  if (dice.chance(8)) buffer.bits_per_value = "output: 16";
  spec.memories.push_back(buffer);

  if (dice.chance(35)) {
    MemorySpec local = draw_memory(dice, "LocalBuffer", 1);
    local.keep = dice.text_of({"weight", "input", "output", "Nothing", "All"});
    if (dice.chance(30)) local.may_keep = "All";
    local.size = draw_size(dice, 12);
    local.spatial = draw_spatial(dice, 50, "L");
    spec.memories.push_back(local);
  }
  spec.compute = draw_compute(dice, "MAC");
  if (dice.chance(15)) {
    ForkSpec fork;
    fork.compute = draw_compute(dice, "ScalarUnit");
    if (dice.chance(70)) {
      fork.compute.enabled = "len(All) == 2";
      spec.compute.enabled = "len(All) == 3";
    }
    if (dice.chance(40)) {
      fork.memory = draw_memory(dice, "ScalarBuffer", 1);
      fork.memory->keep = dice.text_of({"output", "Nothing", "input"});
      if (dice.chance(30)) fork.memory->may_keep = "All";
      fork.memory->size = draw_size(dice, 12);
    }
    spec.fork = fork;
  }
}

}  // namespace

ProblemSpec random_problem(std::uint64_t seed, const Extras& extras) {
  Dice dice(seed);
  ProblemSpec spec;
  const bool many_loops = extras.many_loops && dice.chance(9);
  if (!many_loops) WorkloadDraw(dice, spec).run();
  spec.bits_per_value = dice.text_of({"All: 8", "All: 8", "All: 16", "weight: 4, Other: 8"});
  if (dice.chance(15)) spec.persistent = "weight - Intermediates";
  if (dice.chance(10)) spec.n_instances = 1 + dice.below(3);
  if (many_loops)
    draw_many_loops(dice, spec);
  else
    draw_arch(dice, spec);
  spec.max_fused_loops =
      dice.one_of({0, 1, 1, 2, kUnlimitedLoops, kUnlimitedLoops, kUnlimitedLoops});
  spec.max_fused_loops_per_rank = dice.one_of({1, 1, 1, 2});
  Extras further = extras;
  if (many_loops) further = {.behaviours = extras.behaviours, .leakage = extras.leakage};
  add_extras(spec, seed, further);
  return spec;
}

}  // namespace sluice::oracle
