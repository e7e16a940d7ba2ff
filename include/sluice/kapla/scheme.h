#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sluice/kapla/directives.h"
#include "sluice/support/diagnostic.h"

namespace sluice::kapla {

/// The three tensors of a layer, and the place of each in a triple.
enum Operand : std::size_t { kWeights, kInput, kOutput };
/// The three loops of a layer: input channels, output channels, samples (and folds of rows).
enum Loop : std::size_t { kInputChannels, kOutputChannels, kSamples };
/// What a layer can be divided by among nodes.
enum Divided : std::size_t { kByOutputChannels, kByPlane, kBySamples, kByInputChannels };
/// Where words are read and written.
enum Memory : std::size_t { kDram, kGlobalBuffer, kArrayBus, kRegisters };

template <class T>
using PerOperand = std::array<T, 3>;
template <class T>
using PerLoop = std::array<T, 3>;
template <class T>
using PerMemory = std::array<T, 4>;

/// Two numbers of a grid: rows down, columns across.
struct Extent {
  std::int64_t h = 1;
  std::int64_t w = 1;
  std::int64_t size() const { return h * w; }
  friend auto operator<=>(const Extent&, const Extent&) = default;
};

/// How a layer is divided among the nodes of a region.
struct Partition {
  std::array<Divided, 4> order{};  ///< outermost first
  std::array<Extent, 4> parts;     ///< by Divided
  friend bool operator==(const Partition&, const Partition&) = default;
};

/// The directives of a scheme: levels `REGF` and `GBUF`, tensors `W`, `I` and `O`.
struct SchemeDirectives {
  LayerDirectives layer;
  bool is_searched = false;  ///< found by the exhaustive search over directives, not by the solver
};

/// One layer's mapping, as a line of a schemes file says it. Blocking factors and orders are those
/// between DRAM and global buffer (0), global buffer and registers (1), registers and ALU (2).
struct Scheme {
  SourceLocation place;
  std::string run;
  std::string layer;
  std::int64_t segment = 0;
  std::int64_t region = 0;  ///< in the segment
  std::int64_t slot = 0;    ///< in the region, in time
  std::int64_t nodes = 1;   ///< of the region
  Partition partition;
  std::array<PerLoop<std::int64_t>, 3> blocking{};
  std::array<PerLoop<std::int64_t>, 2> orders{};  ///< 0 is innermost
  std::array<PerOperand<double>, 2> unit_size{};  ///< words of a pass: global buffer, registers
  bool source_is_dram = true;
  bool destination_is_dram = true;
  std::optional<SchemeDirectives> directives;
};

/// What a scheme costs. Words are of 16 bits.
struct SchemeCost {
  std::array<PerOperand<double>, 2> size{};  ///< held words of a node: global buffer, registers
  std::array<PerOperand<std::int64_t>, 2> fetch{};  ///< how often each level fetches its tensors
  PerMemory<PerOperand<double>> access{};           ///< words, over all nodes
  PerOperand<double> remote_buffer{};               ///< words from or to other nodes' buffers
  PerOperand<double> hops{};                        ///< words × links, to memory and between nodes
  double node_hops = 0;                             ///< of these, between nodes
  double operations = 0;
  std::int64_t array_cycles = 0;
  std::int64_t bus_cycles = 0;
  std::int64_t dram_cycles = 0;
  double energy_j = 0;
};

}  // namespace sluice::kapla
