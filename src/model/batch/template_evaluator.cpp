#include "sluice/model/template_evaluator.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_map>

#include "model/batch/template_program.h"
#include "model/tree/flatten.h"
#include "model/tree/row_tiles.h"
#include "sluice/model/evaluate.h"

namespace sluice {
namespace {

/// Whether a loop has one trip: its tile is no smaller than any of these outer ones.
struct TrivialityTest {
  int loop = 0;
  std::vector<OuterTile> outer;
};

/// Which loops have more than one trip: a bit a test.
using TrivialLoops = std::vector<std::uint64_t>;

struct TrivialLoopsHash {
  std::size_t operator()(const TrivialLoops& key) const {
    std::uint64_t hash = 0;
    for (std::uint64_t word : key) hash = (hash ^ word) * 0x9E3779B97F4A7C15U + (hash >> 31);
    return static_cast<std::size_t>(hash ^ (hash >> 29));
  }
};

struct KnownStructure {
  int sightings = 0;
  bool tried = false;
  std::optional<TemplateProgram> program;
  std::vector<std::uint32_t> pending;  ///< variants that wait for a full batch
};

/// Structures by key, for keys of one word: open addressing, no larger than what it is made for.
class StructureTable {
 public:
  explicit StructureTable(std::size_t most) : slots_(std::bit_ceil(2 * most)) {}

  /// The place of a key: empty (null) where it is new.
  KnownStructure*& find(std::uint64_t key) {
    std::size_t slot = (key * 0x9E3779B97F4A7C15U) >> 32;
    for (;; ++slot) {
      Slot& place = slots_[slot & (slots_.size() - 1)];
      if (!place.structure) place.key = key;
      if (place.key == key) return place.structure;
    }
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    KnownStructure* structure = nullptr;
  };
  std::vector<Slot> slots_;
};

/// The loops of a tree in the order of its text, and the tests that tell structures apart.
class StructureTests {
 public:
  StructureTests(const BoundProblem& problem, NodeList& nodes) : problem_(problem) {
    innermost_.assign(problem.workload.rank_variables.size(), {});
    for (const Einsum& einsum : problem.workload.einsums)
      for (const VariableRange& range : einsum.iteration_space) note_size(range);
    walk(nodes);
    if (!uniform_) add_nest_tests(nodes);
  }

  std::vector<Node*> loops;
  std::vector<TrivialityTest> tests;
  bool has_first_tiles = false;

 private:
  void note_size(const VariableRange& range) {
    OuterTile& outer = innermost_[range.variable.index()];
    uniform_ &= outer.size == 1 || outer.size == range.size;
    outer.size = std::max(outer.size, range.size);
  }

  void walk(NodeList& nodes) {
    const std::vector<OuterTile> outside = innermost_;
    for (Node& node : nodes) {
      if (const auto* temporal = std::get_if<TemporalNode>(&node.kind))
        add(node, temporal->variables, temporal->initial_tile_shape.has_value());
      if (const auto* spatial = std::get_if<SpatialNode>(&node.kind))
        add(node, spatial->variables, spatial->initial_tile_shape.has_value());
      if (auto* split = std::get_if<SplitNode>(&node.kind))
        for (NodeList& child : split->children) walk(child);
    }
    innermost_ = outside;
  }

  void add(Node& node, const std::vector<RankVariableId>& variables, bool has_first_tile) {
    has_first_tiles |= has_first_tile;
    uniform_ &= variables.size() == 1;
    const int loop = static_cast<int>(loops.size());
    loops.push_back(&node);
    TrivialityTest& test = tests.emplace_back();
    test.loop = loop;
    for (RankVariableId variable : variables) test.outer.push_back(innermost_[variable.index()]);
    if (variables.size() == 1) innermost_[variables[0].index()].loop = loop;
  }

  /// Einsums may know a loop by different variables or sizes: then each has tests of its own.
  void add_nest_tests(const NodeList& nodes) {
    const Mapping mapping{nodes, {}};
    std::unordered_map<const Node*, int> index;
    std::vector<const Node*> copies;
    collect(mapping.nodes, copies);
    for (std::size_t l = 0; l < copies.size(); ++l) index.emplace(copies[l], static_cast<int>(l));
    ViolationReport report(problem_, mapping);
    const FlatTree tree = flatten(problem_, mapping, report);
    for (const Nest& nest : tree.nests) {
      std::vector<OuterTile> outer;
      for (const VariableRange& range : problem_.workload[nest.einsum].iteration_space)
        outer.push_back({-1, range.size});
      for (auto l = nest.loops_begin; l < nest.loops_end; ++l) {
        OuterTile& enclosing = outer[static_cast<std::size_t>(tree.loops[l].variable)];
        const int loop = index.at(tree.loops[l].node);
        tests.push_back({loop, {enclosing}});
        enclosing.loop = loop;
      }
    }
  }

  static void collect(const NodeList& nodes, std::vector<const Node*>& loops) {
    for (const Node& node : nodes) {
      if (std::holds_alternative<TemporalNode>(node.kind) ||
          std::holds_alternative<SpatialNode>(node.kind))
        loops.push_back(&node);
      if (const auto* split = std::get_if<SplitNode>(&node.kind))
        for (const NodeList& child : split->children) collect(child, loops);
    }
  }

  const BoundProblem& problem_;
  std::vector<OuterTile> innermost_;  ///< per rank variable, on the current path
  bool uniform_ = true;               ///< every loop has one variable, every variable one size
};

bool has_state(const BoundProblem& problem) {
  for (const BoundEinsum& einsum : problem.einsums)
    for (const BoundAccess& access : einsum.held)
      for (const BoundIndex& index : access.index)
        if (index.slack > 0 || index.others > 0) return true;
  return false;
}

bool has_concurrent_split(const NodeList& nodes) {
  for (const Node& node : nodes) {
    const auto* split = std::get_if<SplitNode>(&node.kind);
    if (!split) continue;
    if (split->kind != SplitKind::kSequential) return true;
    for (const NodeList& child : split->children)
      if (has_concurrent_split(child)) return true;
  }
  return false;
}

}  // namespace

class TemplateEvaluator::Implementation {
 public:
  Implementation(const BoundProblem& problem, Mapping structure)
      : problem_(problem), mapping_(std::move(structure)), tests_(problem_, mapping_.nodes) {
    any_program_ = !tests_.has_first_tiles && !problem_.shares_rows &&
                   !problem_.holds_unlike_boxes && !has_state(problem_) &&
                   !has_concurrent_split(mapping_.nodes);
    key_.resize((tests_.tests.size() + 63) / 64);
    for (std::size_t t = 0; t < tests_.tests.size(); ++t)
      for (const OuterTile& outer : tests_.tests[t].outer)
        comparisons_.push_back({tests_.tests[t].loop, outer, static_cast<int>(t)});
    if (key_.size() == 1) table_.emplace(kMostStructures);
    for (Node* node : tests_.loops) loops_.push_back(node);
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  std::size_t n_loops() const { return loops_.size(); }

  const Mapping& variant(const std::int64_t* tile_shapes) {
    for (std::size_t l = 0; l < loops_.size(); ++l) {
      if (auto* temporal = std::get_if<TemporalNode>(&tests_.loops[l]->kind))
        temporal->tile_shape = tile_shapes[l];
      if (auto* spatial = std::get_if<SpatialNode>(&tests_.loops[l]->kind))
        spatial->tile_shape = tile_shapes[l];
    }
    return mapping_;
  }

  void price(const std::int64_t* tile_shapes, std::size_t n, VariantCost* results) {
    tile_shapes_ = tile_shapes;
    results_ = results;
    for (std::size_t v = 0; v < n; ++v) {
      KnownStructure* known = any_program_ ? structure_of(row(v)) : nullptr;
      if (!known || !known->program) {
        results[v] = price_alone(row(v));
        continue;
      }
      if (known->pending.empty()) waiting_.push_back(known);
      known->pending.push_back(static_cast<std::uint32_t>(v));
      if (known->pending.size() == kLanes) flush(*known);
    }
    for (KnownStructure* known : waiting_) flush(*known);
    waiting_.clear();
  }

 private:
  /// Programs that pay: a structure is seen again, and memory stays bounded.
  static constexpr int kSightingsBeforeProgram = 2;
  static constexpr std::size_t kMostStructures = 1U << 14;

  const std::int64_t* row(std::size_t v) const { return tile_shapes_ + v * loops_.size(); }

  static std::int64_t tile_of(const OuterTile& outer, const std::int64_t* tiles) {
    return outer.loop < 0 ? outer.size : tiles[outer.loop];
  }

  /// A loop has one trip unless its tile is smaller than an outer one.
  void set_key(const std::int64_t* tiles) {
    if (key_.size() == 1) {
      std::uint64_t many = 0;
      for (const Comparison& c : comparisons_)
        many |= static_cast<std::uint64_t>(tiles[c.loop] < tile_of(c.outer, tiles)) << c.test;
      key_[0] = many;
      return;
    }
    std::fill(key_.begin(), key_.end(), 0);
    for (const Comparison& c : comparisons_)
      key_[static_cast<std::size_t>(c.test) / 64] |=
          static_cast<std::uint64_t>(tiles[c.loop] < tile_of(c.outer, tiles)) << (c.test % 64);
  }

  /// The entry of the current key, or null where there is no room for another one.
  KnownStructure* entry() {
    if (table_) {
      KnownStructure*& place = table_->find(key_[0]);
      if (place) return place;
      if (structures_.size() >= kMostStructures) return nullptr;
      return place = &structures_[key_];
    }
    const auto found = structures_.find(key_);
    if (found != structures_.end()) return &found->second;
    return structures_.size() >= kMostStructures ? nullptr : &structures_[key_];
  }

  KnownStructure* structure_of(const std::int64_t* tiles) {
    set_key(tiles);
    KnownStructure* known = entry();
    if (!known || known->tried || ++known->sightings < kSightingsBeforeProgram) return known;
    known->program = TemplateProgram::build(problem_, variant(tiles), loops_);
    // An illegal representative says nothing about the structure: the next one may be legal.
    known->tried = known->program.has_value() || known->sightings > kMostSightings;
    return known;
  }
  static constexpr int kMostSightings = 64;

  VariantCost price_alone(const std::int64_t* tiles) {
    const auto totals = evaluate_totals(problem_, variant(tiles));
    return totals ? VariantCost{totals->energy_j, totals->latency_s, true} : VariantCost{};
  }

  void flush(KnownStructure& known) {
    if (known.pending.empty()) return;
    const std::int64_t* rows[kLanes] = {};
    VariantCost costs[kLanes];
    const std::size_t n = known.pending.size();
    for (std::size_t i = 0; i < n; ++i) rows[i] = row(known.pending[i]);
    const std::uint32_t left_out = known.program->run(rows, n, workspace_, costs);
    for (std::size_t i = 0; i < n; ++i)
      results_[known.pending[i]] = (left_out >> i) & 1 ? price_alone(rows[i]) : costs[i];
    known.pending.clear();
  }

  BoundProblem problem_;
  Mapping mapping_;
  StructureTests tests_;
  std::vector<const Node*> loops_;
  bool any_program_ = false;
  std::unordered_map<TrivialLoops, KnownStructure, TrivialLoopsHash> structures_;
  /// One bit of the key: set where the loop's tile is smaller than this outer one.
  struct Comparison {
    int loop = 0;
    OuterTile outer;
    int test = 0;
  };
  std::vector<Comparison> comparisons_;
  std::optional<StructureTable> table_;  ///< into `structures_`, for keys of one word
  TrivialLoops key_;
  std::vector<KnownStructure*> waiting_;
  TemplateProgram::Workspace workspace_;
  const std::int64_t* tile_shapes_ = nullptr;
  VariantCost* results_ = nullptr;
};

TemplateEvaluator::TemplateEvaluator(const BoundProblem& problem, Mapping structure)
    : implementation_(std::make_unique<Implementation>(problem, std::move(structure))) {}
TemplateEvaluator::TemplateEvaluator(TemplateEvaluator&&) noexcept = default;
TemplateEvaluator& TemplateEvaluator::operator=(TemplateEvaluator&&) noexcept = default;
TemplateEvaluator::~TemplateEvaluator() = default;

std::size_t TemplateEvaluator::n_loops() const { return implementation_->n_loops(); }

Mapping TemplateEvaluator::variant(const std::int64_t* tile_shapes) const {
  return implementation_->variant(tile_shapes);
}

void TemplateEvaluator::price(const std::int64_t* tile_shapes, std::size_t n,
                              VariantCost* results) {
  implementation_->price(tile_shapes, n, results);
}

std::vector<VariantCost> TemplateEvaluator::price(const std::vector<std::int64_t>& tile_shapes) {
  std::vector<VariantCost> results(n_loops() == 0 ? 0 : tile_shapes.size() / n_loops());
  price(tile_shapes.data(), results.size(), results.data());
  return results;
}

}  // namespace sluice
