#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "sluice/model/binding.h"
#include "sluice/model/einsum_chains.h"
#include "spreads.h"

namespace sluice {

/// A tensor of an Einsum on the way to a compute. Memories are counted from the outside in.
struct ChainTensor {
  const BoundAccess* access = nullptr;
  TensorId tensor;
  std::vector<std::size_t> memories;    ///< that may hold it
  std::vector<char> must;               ///< per memory of these, as all below: it must hold it
  std::vector<double> bits;             ///< of a value
  std::vector<double> read_j, write_j;  ///< of a value
  std::vector<double> read_s, write_s;  ///< of a value, one instance
  /// Values of an action of which a part costs as much as all of it; 0: a part costs its part.
  std::vector<double> whole_read, whole_write;
  std::vector<double> drain_j;                 ///< reading a value that is written back
  std::vector<std::vector<TileLimit>> limits;  ///< of its tiles
  double values = 0;                           ///< that the Einsum touches
  /// Of these the first one from (to) the outermost memory is compulsory traffic, which is left
  /// out.
  double compulsory = 0;
  double share = 1;              ///< of a node's cost, where other Einsums may share it
  bool is_backed_first = false;  ///< in the first of its memories
  std::size_t last_backing = 0;  ///< the innermost of its memories that may back it
  /// Per variable: its temporal loops may stand above the first node.
  std::vector<char> may_be_cut;
  /// Per variable: its spatial loops may.
  std::vector<char> may_be_spread;
  bool has_windows = false;
  /// Persistent: its first node is outside of all loops, spatial ones too.
  bool is_above_all = false;
  /// Otherwise it may stand above all loops in any memory: its operands alone are counted.
  bool has_nodes = true;
  /// Per gap: of its instances, those for which one value is the same, at most.
  std::vector<double> most_same;

  bool slides() const { return has_windows && !access->is_output; }
  /// Of the instances that spatial loops with these factors use, those for which one value is the
  /// same.
  double same_in(const Factors64& factors) const;
  /// Whether the gap's instances share what a memory outside of it hands in, down to `inner`.
  bool is_between(const SpatialGap& gap, std::size_t outer, std::size_t inner) const;
  bool equals(const ChainTensor& other) const;
};

/// So many values as actions move of which each moves `whole` values, or 0: as many as there are.
inline double in_whole_actions(double values, double whole) {
  constexpr double kRounding = 1e-12;  // of what is a multiple but for it
  return whole == 0 ? values : whole * std::ceil(values / whole * (1 - kRounding));
}

/// An Einsum's tensors that bounds know, on the way to a compute.
struct ChainTensors {
  /// `most_spreads`: in one list (EinsumChains).
  ChainTensors(const BoundProblem& problem, EinsumId einsum, const BoundCompute& compute,
               Counted counted, std::size_t most_spreads);

  /// Energy of the operand that the compute takes from (hands to) the i-th of the tensor's
  /// memories (J).
  double operand_energy(const ChainTensor& tensor, std::size_t i, const Spread& spread) const;
  /// Values of the operand that the memory hands to the compute (takes), and sums that come back.
  struct Moves {
    double moved = 0, returned = 0;
  };
  Moves operand_moves(const ChainTensor& tensor, std::size_t i, const Spread& spread) const;
  /// Values of whole actions of all instances in use of the i-th of a tensor's memories: what these
  /// read (write) is a multiple of it. 0 where parts of actions cost their part, where nobody
  /// knows, and for outputs further in, whose actions serve both neighbours.
  struct WholeActions {
    double read = 0, write = 0;
  };
  WholeActions whole_actions(const ChainTensor& tensor, std::size_t i, const Spread& spread) const;
  /// Of a tensor's operands, from the memory that is cheapest for them.
  double least_operand_energy(const ChainTensor& tensor, const Spread& spread) const;
  /// Of all tensors' operands and nodes, if each value came once to where it is needed.
  double least_energy(const Spread& spread) const;
  /// What a memory moves costs so much more for each second that its instances are busy together.
  void charge_for_time(std::size_t memory, double j_per_s);
  /// What the outermost memories move, so many of them, costs this share of its energy.
  void discount(std::size_t n_memories, double share);
  /// Tile shapes of a spread, and for each the memories of the innermost nodes; of all spreads of a
  /// group, at most.
  double n_states(const Spread& spread) const;
  /// Whether all numbers here are those of another Einsum, names aside.
  bool equals(const ChainTensors& other) const;
  /// Whether loops move windows of an input.
  bool have_windows() const;
  /// Instances, further in than the memory `outer` and not further in than `inner`, for which one
  /// value of the tensor is the same, at most.
  double spread_between(const ChainTensor& tensor, std::size_t outer, std::size_t inner,
                        const Spread& spread) const;

  /// How long the busiest memory works for these at least, if each value came once (s).
  double least_busy_seconds(const Spread& spread) const;

  std::vector<std::size_t> memories;  ///< places on the way to the compute
  std::vector<double> size_bits;      ///< per memory
  std::vector<char> forces_order;     ///< per memory
  std::vector<double> instances;      ///< per memory
  std::vector<char> separate_ports;   ///< per memory
  std::vector<ChainTensor> tensors;
  bool knows_all = true;             ///< no access of the Einsum is missing
  std::shared_ptr<Spreads> spreads;  ///< copies have the same
  Factors64 sizes;                   ///< per variable
  double points = 0;                 ///< of all runs of the Einsum

 private:
  double open_same_in(const ChainTensor& tensor, std::size_t outer, std::size_t inner,
                      const Spread& spread) const;
  template <class Node, class Operand>
  double least_way(const ChainTensor& tensor, const Node& node, const Operand& operand) const;
  /// Values that all nodes at a memory take or hand back, and that their feeder gives or gets.
  struct Filled {
    double inside = 0, outside = 0;
  };
  /// Of the i-th of the tensor's memories, fed from the one `from`.
  Filled least_filled(const ChainTensor& tensor, std::size_t from, std::size_t i,
                      const Spread& spread) const;
  double least_energy(const ChainTensor& tensor, const Spread& spread) const;
  double least_busy_seconds(const ChainTensor& tensor, std::size_t memory, bool reads, bool writes,
                            const Spread& spread) const;
};

}  // namespace sluice
