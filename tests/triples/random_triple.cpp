#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "sluice/frontend/load.h"
#include "triples/triple.h"

namespace sluice::triples {
namespace {

/// Draws that depend on the seed alone, on every platform.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed * 0x9E3779B97F4A7C15ULL + 7) {}
  std::int64_t below(std::size_t n) { return static_cast<std::int64_t>(engine_() % n); }
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  const T& any(const std::vector<T>& values) {
    return values[static_cast<std::size_t>(below(values.size()))];
  }
  std::string text_of(const std::vector<std::string>& values) { return any(values); }

 private:
  std::mt19937_64 engine_;
};

// --- workloads ----------------------------------------------------------------------------------

struct WorkloadForm {
  std::vector<std::string> einsums;  ///< the name of each is its output
  std::vector<std::string> ranks;    ///< that have a size of their own
  std::vector<std::string> bounds;
  int weight = 1;
};

const std::vector<WorkloadForm>& workload_forms() {
  static const std::vector<WorkloadForm> forms = {
      {{"C[m,n] = A[m,k] * B[k,n]"}, {"M", "N", "K"}, {}, 4},
      {{"C[m] = A[m,k] * B[k,n]"}, {"M", "N", "K"}, {}, 1},
      {{"Y[p,o] = X[XP:p+r,c] * W[r,c,o]"}, {"P", "O", "C"}, {"0 <= r < 3"}, 3},
      {{"Y[p] = X[XP:2*p+r] * W[r]"}, {"P"}, {"0 <= r < 3"}, 2},
      {{"Y[p] = X[XP:p+r] * W[r]"}, {"P", "XP"}, {"0 <= r < 3"}, 2},
      {{"Y[p,q] = X[XH:p+r,XW:q+s] * W[r,s]"}, {"P", "Q"}, {"0 <= r < 2", "0 <= s < 3"}, 2},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[m,l] = T[m,n] * V[n,l]"}, {"M", "N", "K", "L"}, {}, 4},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[x,l] = T[M:x,N:y] * V[N:y,l]"}, {"M", "N", "K", "L"}, {}, 3},
      {{"T[m,n] = A[m,k] * B[k,n]", "U[m,n] = exp(T[m,n])", "Z[m,n] = T[m,n] + U[m,n]"},
       {"M", "N", "K"},
       {},
       3},
      {{"MX[m] = max(S[m,n])", "EX[m,n] = exp(S[m,n] - MX[m])", "DN[m] = sum(EX[m,n])",
        "Z[m,n] = EX[m,n] / DN[m]"},
       {"M", "N"},
       {},
       3},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       3},
      {{"T[p,c] = X[XP:p+r,c] * W[r,c]", "Y[q,o] = T[P:2*q+s,c] * V[s,c,o]"},
       {"Q", "C", "O"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:3*q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 2"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[o] = Y[Q:o+t] * H[t]"},
       {"O"},
       {"0 <= r < 2", "0 <= s < 2", "0 <= t < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "U[q] = T[P:q] + Y[q]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      {{"T[p] = X[XP:p+r] * W[r]", "U[p] = exp(T[p])", "Y[q] = U[P:2*q+s] * V[s]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       2},
      // Rows that nobody reads or that do not exist; values at another place; borders on both
      // sides.
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+r] * W[r]"}, {"P", "I"}, {"0 <= r < 2"}, 1},
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+1] * W[p]"}, {"P"}, {}, 1},
      {{"T[i] = X[i] * U[i]", "Q[j] = T[I:j+1] * W[j]", "Y[p] = Q[J:p+r] * H[r]"},
       {"P"},
       {"0 <= r < 2"},
       2},
      {{"T[i] = X[i] * U[i]", "Y[p] = T[I:p+2*r-1] * W[r]"}, {"P", "I"}, {"0 <= r < 3"}, 2},
      {{"T[i,j] = X[i,j] * U[j]", "Y[p,q] = T[I:p+2*r-1,J:q+s-1] * W[r,s]"},
       {"P", "I", "Q", "J"},
       {"0 <= r < 2", "0 <= s < 2"},
       1},
      // Several readers of rows.
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[z] = T[P:z] * H[z]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       1},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:2*q+s] * V[s]", "Z[z] = T[P:z+t] * H[t]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 2", "0 <= t < 2"},
       1},
      {{"T[p] = X[XP:p+r] * W[r]", "Y[q] = T[P:q+s] * V[s]", "Z[q] = T[P:q+1] * Y[q]"},
       {"Q"},
       {"0 <= r < 2", "0 <= s < 3"},
       1},
      {{"R[i+1,m] = max(R[i,m], L[i,m])", "D[i,m] = R[i,m] - R[i+1,m]"}, {"I", "M"}, {}, 2},
      // A state whose reduction may be spread over instances.
      {{"S[i+1,m] = S[i,m] * A[i,k,m]"}, {"I", "M", "K"}, {}, 1},
      {{"T[i,m] = X[i,m] * U[m]", "S[p+1,m] = T[I:p+r,m] * S[p,m]"}, {"P", "M"}, {"0 <= r < 2"}, 1},
      {{"B[i,m] = A[i,m] + C[i,m]", "A[i+1,m] = B[i,m] * C[i,m]"}, {"I", "M"}, {}, 1},
      {{"U[m,n] = T[m,n]", "V[m] = sum(U[m,n])"}, {"M", "N"}, {}, 2},
      {{"U[m,n] = T[m,n]", "W[m,n] = T[m,n]", "V[m] = U[m,n] * W[m,n]"}, {"M", "N"}, {}, 2},
      {{"T[m,n] = A[m,n] * B[n]", "U[n,m] = T[M:n,N:m]"}, {"M", "N"}, {}, 1},
      {{"P[m] = X[m] * F[m]", "Q[m,n] = X[m] * G[n]"}, {"M", "N"}, {}, 1},
      {{"T[m] = A[m,k] * B[k]", "U[m] = T[m] + A[m,k]"}, {"M", "K"}, {}, 1}};
  return forms;
}

std::string output_name(const std::string& einsum) { return einsum.substr(0, einsum.find('[')); }

/// What is copied has one width.
bool has_copies(const Triple& triple) {
  return std::any_of(triple.einsums.begin(), triple.einsums.end(),
                     [](const EinsumSpec& einsum) { return einsum.is_copy; });
}

void draw_workload(Dice& dice, Triple& triple) {
  std::vector<const WorkloadForm*> drawn;
  for (const WorkloadForm& form : workload_forms())
    drawn.insert(drawn.end(), static_cast<std::size_t>(form.weight), &form);
  const WorkloadForm& form = *dice.any(drawn);
  const std::vector<std::int64_t> sizes = form.einsums.size() + form.ranks.size() > 5
                                              ? std::vector<std::int64_t>{1, 2, 2, 3, 4}
                                              : std::vector<std::int64_t>{1, 2, 3, 4, 4, 5, 6};
  for (const std::string& rank : form.ranks) triple.rank_sizes.emplace_back(rank, dice.any(sizes));
  if (form.einsums.back().starts_with("U[n,m]") &&
      dice.chance(70))  // a transposed reader reads all of it
    triple.rank_sizes[1].second = triple.rank_sizes[0].second;
  triple.bounds = form.bounds;
  for (const std::string& text : form.einsums)
    triple.einsums.push_back({text, output_name(text), false, dice.chance(4) ? 2 : 1});
  for (EinsumSpec& einsum : triple.einsums)
    if (einsum.text == einsum.name + "[m,n] = T[m,n]") einsum.is_copy = dice.chance(80);
  if (form.einsums[0].starts_with("R[i+1") && dice.chance(50)) triple.initial = "R: -inf";
  if (form.einsums.back().starts_with("S[")) triple.initial = "S: 2";
  if (dice.chance(20) && !has_copies(triple))
    triple.bits_per_value = triple.einsums[0].name + ": 4, Other: 16";
  if (dice.chance(8)) triple.n_instances = 2;
  if (dice.chance(10)) triple.persistent = "Inputs - Intermediates";
}

// --- architectures ------------------------------------------------------------------------------

DimensionSpec draw_dimension(Dice& dice, const std::string& name) {
  return {name, static_cast<int>(2 + dice.below(3)),
          dice.text_of({"All", "All", "Nothing", "Inputs", "Outputs"}),
          dice.chance(4) ? dice.text_of({"Outputs", "Inputs"}) : ""};
}

ComponentSpec plain_memory(Dice& dice, const std::string& name) {
  ComponentSpec spec;
  spec.name = name;
  spec.is_double = dice.chance(12);
  spec.counts_merging = dice.chance(12);
  return spec;
}

void draw_arch(Dice& dice, Triple& triple) {
  const auto memory = [&](Dice& d, const std::string& name) {
    ComponentSpec spec = plain_memory(d, name);
    if (d.chance(8) && !has_copies(triple))
      spec.bits_per_value = d.any(triple.einsums).name + ": 32";
    return spec;
  };
  const auto add_toll = [&](const char* name) {
    ComponentSpec toll;
    toll.kind = ComponentSpec::Kind::kToll;
    toll.name = name;
    toll.direction = dice.text_of({"down", "up", "up_and_down"});
    triple.components.push_back(toll);
  };
  triple.components.push_back(memory(dice, "DRAM"));
  if (dice.chance(15)) add_toll("Link");
  ComponentSpec buffer = memory(dice, "GB");
  if (dice.chance(15)) buffer.size = std::to_string(8 * (4 + dice.below(60)));
  if (dice.chance(15)) buffer.spatial.push_back(draw_dimension(dice, "g"));
  triple.components.push_back(buffer);
  ComponentSpec elements;
  elements.kind = ComponentSpec::Kind::kContainer;
  elements.name = "PE";
  elements.spatial = {draw_dimension(dice, "x"), draw_dimension(dice, "y")};
  triple.components.push_back(elements);
  if (dice.chance(25)) add_toll("Port");
  ComponentSpec registers = memory(dice, "RF");
  if (dice.chance(10)) registers.size = std::to_string(8 * (1 + dice.below(12)));
  triple.components.push_back(registers);
  ComponentSpec unit;
  unit.kind = ComponentSpec::Kind::kCompute;
  unit.by_kind = dice.chance(30);
  if (dice.chance(15)) {
    unit.name = "SIMD";
    unit.in_fork = true;
    unit.enabled = "len(All) == 2";
    triple.components.push_back(unit);
    unit.in_fork = false;
    unit.enabled.clear();
  }
  unit.name = "MAC";
  if (dice.chance(15)) unit.spatial.push_back(draw_dimension(dice, "c"));
  triple.components.push_back(unit);
}

// --- mappings -----------------------------------------------------------------------------------

using Tiles = std::map<RankVariableId, std::int64_t>;

class MappingDraw {
 public:
  MappingDraw(Dice& dice, Triple& triple, const Workload& workload)
      : dice_(dice),
        triple_(triple),
        w_(workload),
        roles_(tensor_roles(workload)),
        perfect_(dice.chance(65)) {
    for (const Einsum& einsum : w_.einsums) {
      tiles_.emplace_back();
      for (const VariableRange& range : einsum.iteration_space)
        tiles_.back()[range.variable] = range.size;
    }
    held_.resize(w_.einsums.size());
  }

  void run() {
    std::vector<NodeSpec>& root = triple_.nodes;
    draw_backing(root);
    if (w_.einsums.size() == 1) {
      nest(root, 0);
    } else {
      fused(root);
    }
    if (dice_.chance(12)) spoil();
  }

 private:
  // Where each intermediate is backed.
  enum class Home { kOutside, kBufferAbove, kBufferBelow, kBranches };

  void draw_backing(std::vector<NodeSpec>& root) {
    std::vector<std::string> outside;
    for (std::size_t t = 0; t < w_.tensors.size(); ++t) {
      const TensorId id(t);
      Home home = Home::kOutside;
      if (roles_.is_intermediate(id)) {
        const auto draw = dice_.below(10);
        home = draw < 3   ? Home::kOutside
               : draw < 5 ? Home::kBufferAbove
               : draw < 9 ? Home::kBufferBelow
                          : Home::kBranches;
      }
      homes_.push_back(home);
      if (home == Home::kOutside) outside.push_back(w_.tensors[t].name);
    }
    while (!outside.empty()) {
      const std::size_t take = dice_.chance(70) ? outside.size() : 1;
      NodeSpec node = storage("DRAM", {outside.begin(), outside.begin() + static_cast<long>(take)});
      root.push_back(node);
      outside.erase(outside.begin(), outside.begin() + static_cast<long>(take));
    }
    if (has("Link") && dice_.chance(70)) add_toll(root, "Link", all_einsums());
  }

  std::vector<std::size_t> all_einsums() const {
    std::vector<std::size_t> all;
    for (std::size_t e = 0; e < w_.einsums.size(); ++e) all.push_back(e);
    return all;
  }

  void add_toll(std::vector<NodeSpec>& list, const std::string& toll,
                const std::vector<std::size_t>& einsums) {
    std::set<std::string> names;
    for (std::size_t e : einsums)
      for (TensorId tensor : tensors_of(w_.einsums[e]))
        if (homes_[tensor.index()] == Home::kOutside && dice_.chance(70))
          names.insert(w_[tensor].name);
    if (!names.empty()) list.push_back(storage(toll, {names.begin(), names.end()}));
  }

  bool has(const std::string& component) const {
    return std::any_of(triple_.components.begin(), triple_.components.end(),
                       [&](const ComponentSpec& c) { return c.name == component; });
  }
  const ComponentSpec& component(const std::string& name) const {
    return *std::find_if(triple_.components.begin(), triple_.components.end(),
                         [&](const ComponentSpec& c) { return c.name == name; });
  }

  static NodeSpec storage(const std::string& component, std::vector<std::string> tensors) {
    NodeSpec node;
    node.names = std::move(tensors);
    node.component = component;
    return node;
  }

  /// A smaller tile.
  std::int64_t tile_below(std::int64_t tile) {
    std::vector<std::int64_t> choices;
    for (std::int64_t smaller = 1; smaller <= tile; ++smaller)
      if (!perfect_ || tile % smaller == 0) choices.push_back(smaller);
    return dice_.any(choices);
  }

  /// Variables of the Einsums that walk one rank of a tensor they exchange, readers first.
  std::vector<RankVariableId> shared_class() {
    std::vector<std::vector<RankVariableId>> classes;
    for (const Einsum& maker : w_.einsums)
      for (const AffineExpression& made : maker.output().projection) {
        if (made.terms.empty()) continue;
        std::vector<RankVariableId> found = {made.terms[0].variable};
        const std::size_t rank = static_cast<std::size_t>(&made - maker.output().projection.data());
        for (const Einsum& reader : w_.einsums)
          for (const TensorAccess& access : reader.accesses)
            if (access.tensor == maker.output().tensor && !access.is_output &&
                !access.projection[rank].terms.empty())
              found.insert(found.begin(), access.projection[rank].terms[0].variable);
        std::vector<RankVariableId> distinct;
        for (RankVariableId v : found)
          if (std::find(distinct.begin(), distinct.end(), v) == distinct.end())
            distinct.push_back(v);
        classes.push_back(distinct);
      }
    std::vector<RankVariableId> drawn = dice_.any(classes);
    for (std::size_t i = 0; i < classes.size() && dice_.chance(70); ++i) join(drawn, classes[i]);
    if (dice_.chance(8)) std::reverse(drawn.begin(), drawn.end());
    return drawn;
  }

  /// Adds the other variables of a class that has one in common: readers of readers come first.
  static void join(std::vector<RankVariableId>& variables,
                   const std::vector<RankVariableId>& others) {
    const auto has = [](const std::vector<RankVariableId>& list, RankVariableId v) {
      return std::find(list.begin(), list.end(), v) != list.end();
    };
    if (std::none_of(others.begin(), others.end(),
                     [&](RankVariableId v) { return has(variables, v); }))
      return;
    for (RankVariableId v : others)
      if (!has(variables, v)) variables.insert(variables.begin(), v);
  }

  NodeSpec loop_over(const std::vector<RankVariableId>& variables, std::int64_t tile) const {
    NodeSpec node;
    node.kind = NodeSpec::Kind::kTemporal;
    for (RankVariableId v : variables) node.names.push_back(w_[v].name);
    node.tile = tile;
    return node;
  }

  void shared_loop(std::vector<NodeSpec>& list, bool is_spatial) {
    const std::vector<RankVariableId> variables = shared_class();
    std::int64_t smallest = 0;
    for (std::size_t e = 0; e < w_.einsums.size(); ++e)
      for (RankVariableId v : variables)
        if (tiles_[e].count(v)) {
          smallest = smallest ? std::min(smallest, tiles_[e][v]) : tiles_[e][v];
          break;
        }
    const std::int64_t tile = tile_below(std::max<std::int64_t>(1, smallest));
    NodeSpec node = loop_over(variables, tile);
    if (is_spatial) {
      node.kind = NodeSpec::Kind::kSpatial;
      node.component = "GB";
      node.dimension = "g";
    }
    list.push_back(node);
    for (std::size_t e = w_.einsums.size(); e-- > 0;)
      for (RankVariableId v : variables)
        if (tiles_[e].count(v)) {
          const std::int64_t rows = rows_for_windows(e, v, variables);
          tiles_[e][v] = std::min(tiles_[e][v], rows > 0 ? rows : tile);
          break;
        }
  }

  /// Rows that the readers of windows on what an Einsum makes along `made` need at a time; 0 if
  /// there is none.
  std::int64_t rows_for_windows(std::size_t maker, RankVariableId made,
                                const std::vector<RankVariableId>& walked) {
    const TensorAccess& output = w_.einsums[maker].output();
    std::int64_t rows = 0;
    for (std::size_t e = maker + 1; e < w_.einsums.size(); ++e)
      for (const TensorAccess& access : w_.einsums[e].accesses)
        for (std::size_t r = 0; r < access.projection.size(); ++r) {
          const AffineExpression& index = access.projection[r];
          const bool along = std::any_of(walked.begin(), walked.end(), [&](RankVariableId v) {
            return index.coefficient_of(v) != 0;
          });
          if (access.is_output || access.tensor != output.tensor || !along ||
              output.projection[r].coefficient_of(made) == 0)
            continue;
          // What a reader needs value by value for windows on its own output.
          const bool passes_on =
              index.terms.size() == 1 && rows_for_windows(e, index.terms[0].variable, walked) > 0;
          if (index.terms.size() < 2 && !passes_on) continue;
          std::int64_t needed = 1;
          for (const AffineTerm& term : index.terms)
            needed += term.coefficient * (tiles_[e][term.variable] - 1);
          rows = std::max(rows, needed);
        }
    return rows;
  }

  void backing_in_buffer(std::vector<NodeSpec>& list, Home home) {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < homes_.size(); ++t)
      if (homes_[t] == home) names.push_back(w_.tensors[t].name);
    if (names.empty()) return;
    for (const std::string& name : names) in_buffer_everywhere(name);
    if (dice_.chance(50)) {
      list.push_back(storage("GB", names));
    } else {
      for (const std::string& name : names) list.push_back(storage("GB", {name}));
    }
  }

  void in_buffer_everywhere(const std::string& tensor) {
    for (auto& held : held_) held.insert("GB/" + tensor);
  }

  /// A buffer node above the split, of a tensor that is backed outside; for all or for one Einsum.
  void private_above(std::vector<NodeSpec>& list) {
    std::vector<std::string> names;
    for (std::size_t t = 0; t < homes_.size(); ++t)
      if (homes_[t] == Home::kOutside && !held_[0].count("GB/" + w_.tensors[t].name))
        names.push_back(w_.tensors[t].name);
    if (names.empty()) return;
    const std::string name = dice_.any(names);
    NodeSpec node = storage("GB", {name});
    node.persistent = dice_.chance(15);
    if (dice_.chance(25)) {
      const std::size_t e = static_cast<std::size_t>(dice_.below(w_.einsums.size()));
      if (held_[e].count("GB/" + name)) return;
      held_[e].insert("GB/" + name);
      node.einsums = {w_.einsums[e].name};
    } else {
      for (const auto& held : held_)
        if (held.count("GB/" + name)) return;
      in_buffer_everywhere(name);
    }
    list.push_back(node);
  }

  void fused(std::vector<NodeSpec>& root) {
    const auto above = [&] {
      if (dice_.chance(20)) private_above(root);
    };
    const bool spread = !component("GB").spatial.empty() && dice_.chance(50);
    const std::int64_t loops = dice_.any(std::vector<std::int64_t>{0, 1, 1, 1, 2});
    std::int64_t outer = dice_.chance(30) ? loops : 0;
    for (std::int64_t l = 0; l < outer; ++l) shared_loop(root, false);
    if (spread) shared_loop(root, true);
    backing_in_buffer(root, Home::kBufferAbove);
    above();
    for (std::int64_t l = outer; l < loops; ++l) {
      shared_loop(root, false);
      above();
    }
    backing_in_buffer(root, Home::kBufferBelow);
    above();
    NodeSpec split;
    split.kind = NodeSpec::Kind::kSequential;
    const std::size_t n = w_.einsums.size();
    const bool nested = n > 2 && dice_.chance(20);
    for (std::size_t e = 0; e < n; ++e) {
      if (nested && e == n - 2) {
        NodeSpec inner;
        inner.kind = NodeSpec::Kind::kSequential;
        inner.children = {branch(e), branch(e + 1)};
        split.children.push_back({inner});
        break;
      }
      split.children.push_back(branch(e));
    }
    root.push_back(split);
  }

  std::vector<NodeSpec> branch(std::size_t e) {
    std::vector<NodeSpec> list;
    const std::string memory = dice_.chance(50) || !held_[e].empty() ? "GB" : "DRAM";
    for (TensorId tensor : tensors_of(w_.einsums[e]))
      if (homes_[tensor.index()] == Home::kBranches) {
        list.push_back(storage("GB", {w_[tensor].name}));
        held_[e].insert("GB/" + w_[tensor].name);
      }
    (void)memory;
    nest(list, e);
    return list;
  }

  /// Everything below the shared part for one Einsum.
  void nest(std::vector<NodeSpec>& list, std::size_t e) {
    if (w_.einsums.size() == 1 && !component("GB").spatial.empty() && dice_.chance(40))
      spatial_loop(list, e, "GB", "g");
    std::vector<NodeSpec> outer = loops(e, dice_.any(std::vector<std::int64_t>{0, 1, 1, 2, 3}));
    insert_storages(outer, e, "GB", 45);
    list.insert(list.end(), outer.begin(), outer.end());
    const bool on_fork = has("SIMD") && tensors_of(w_.einsums[e]).size() == 2 && dice_.chance(50);
    for (const char* dimension : {"x", "y"})
      if (dice_.chance(25)) spatial_loop(list, e, "PE", dimension);
    if (has("Port") && dice_.chance(60)) {
      std::vector<std::string> names;
      for (TensorId tensor : tensors_of(w_.einsums[e]))
        if (dice_.chance(60)) names.push_back(w_[tensor].name);
      if (!names.empty()) list.push_back(storage("Port", names));
    }
    std::vector<NodeSpec> inner = loops(e, dice_.any(std::vector<std::int64_t>{0, 0, 1, 2}));
    std::vector<NodeSpec> last = last_loops(e);
    insert_storages(inner, e, "RF", 25);
    list.insert(list.end(), inner.begin(), inner.end());
    if (!component(on_fork ? "SIMD" : "MAC").spatial.empty() && !on_fork && dice_.chance(30))
      spatial_loop(list, e, "MAC", "c");
    list.insert(list.end(), last.begin(), last.end());
    NodeSpec compute;
    compute.kind = NodeSpec::Kind::kCompute;
    compute.names = {w_.einsums[e].name};
    compute.component = on_fork ? "SIMD" : "MAC";
    list.push_back(compute);
  }

  RankVariableId any_variable(std::size_t e) {
    return dice_.any(w_.einsums[e].iteration_space).variable;
  }

  std::vector<NodeSpec> loops(std::size_t e, std::int64_t n) {
    std::vector<NodeSpec> list;
    for (; n > 0; --n) {
      const RankVariableId v = any_variable(e);
      const std::int64_t tile = tile_below(tiles_[e][v]);
      list.push_back(loop_over({v}, tile));
      if (dice_.chance(4) && tile < tiles_[e][v]) list.back().first_tile = tile + 1;
      tiles_[e][v] = tile;
    }
    return list;
  }

  void spatial_loop(std::vector<NodeSpec>& list, std::size_t e, const std::string& component_name,
                    const std::string& dimension) {
    const RankVariableId v = any_variable(e);
    int fanout = 2;
    for (const DimensionSpec& d : component(component_name).spatial)
      if (d.name == dimension) fanout = d.fanout;
    const std::int64_t tile = tile_below(tiles_[e][v]);
    if ((tiles_[e][v] + tile - 1) / tile > fanout && !dice_.chance(3)) return;
    NodeSpec node = loop_over({v}, tile);
    node.kind = NodeSpec::Kind::kSpatial;
    node.component = component_name;
    node.dimension = dimension;
    list.push_back(node);
    tiles_[e][v] = tile;
  }

  std::vector<NodeSpec> last_loops(std::size_t e) {
    std::vector<RankVariableId> variables;
    for (const auto& [variable, tile] : tiles_[e])
      if (tile > 1 || dice_.chance(20)) variables.push_back(variable);
    for (std::size_t i = variables.size(); i > 1; --i)
      std::swap(variables[i - 1], variables[static_cast<std::size_t>(dice_.below(i))]);
    std::vector<NodeSpec> list;
    for (RankVariableId v : variables) list.push_back(loop_over({v}, 1));
    return list;
  }

  void insert_storages(std::vector<NodeSpec>& list, std::size_t e, const std::string& memory_name,
                       int percent) {
    for (TensorId tensor : tensors_of(w_.einsums[e])) {
      const std::string& name = w_[tensor].name;
      if (!dice_.chance(percent) || (held_[e].count(memory_name + "/" + name) && !dice_.chance(2)))
        continue;
      held_[e].insert(memory_name + "/" + name);
      NodeSpec node = storage(memory_name, {name});
      node.persistent = dice_.chance(4);
      node.sliding = dice_.chance(40) && reads_a_window(w_.einsums[e], tensor);
      list.insert(list.begin() + dice_.below(list.size() + 1), node);
    }
  }

  static bool reads_a_window(const Einsum& einsum, TensorId tensor) {
    for (const TensorAccess& access : einsum.accesses)
      for (const AffineExpression& index : access.projection)
        if (access.tensor == tensor && !access.is_output && index.terms.size() > 1) return true;
    return false;
  }

  /// One thing that is likely to be against the rules.
  void spoil() {
    std::vector<NodeSpec>* list = &triple_.nodes;
    while (list->back().kind == NodeSpec::Kind::kSequential && dice_.chance(70))
      list = &list->back()
                  .children[static_cast<std::size_t>(dice_.below(list->back().children.size()))];
    const std::size_t at = static_cast<std::size_t>(dice_.below(list->size()));
    NodeSpec& node = (*list)[at];
    switch (dice_.below(4)) {
      case 0:
        if (at + 1 < list->size()) list->erase(list->begin() + static_cast<long>(at));
        break;
      case 1:
        if (at + 2 < list->size()) std::swap((*list)[at], (*list)[at + 1]);
        break;
      case 2:
        if (node.kind == NodeSpec::Kind::kTemporal) node.tile += 1;
        break;
      default:
        if (node.kind == NodeSpec::Kind::kSequential)
          std::swap(node.children.front(), node.children.back());
        break;
    }
  }

  Dice& dice_;
  Triple& triple_;
  const Workload& w_;
  TensorRoles roles_;
  bool perfect_;
  std::vector<Tiles> tiles_;                 ///< per Einsum
  std::vector<Home> homes_;                  ///< per tensor
  std::vector<std::set<std::string>> held_;  ///< per Einsum: "memory/tensor"
};

/// A network in front of some of the fanouts.
void draw_networks(Dice& dice, Triple& triple) {
  if (!dice.chance(25)) return;
  for (std::size_t c = triple.components.size(); c-- > 0;) {
    if (triple.components[c].spatial.empty() || triple.components[c].in_fork || !dice.chance(60))
      continue;
    ComponentSpec network;
    network.kind = ComponentSpec::Kind::kNetwork;
    network.name = "Net" + triple.components[c].name;
    network.topology = dice.text_of({"mesh", "mesh", "torus", "ring", "all_to_all", "bus", "tree"});
    network.enters_at_edge = network.topology == "mesh" && dice.chance(50);
    network.is_packed = network.topology == "mesh" && dice.chance(50);
    network.frees_returning_sums = dice.chance(40);
    network.frees_repeats = dice.chance(30);
    triple.components.insert(triple.components.begin() + static_cast<long>(c), network);
  }
}

void draw_incremental(Dice& dice, std::vector<NodeSpec>& nodes, int percent) {
  for (NodeSpec& node : nodes) {
    if (node.kind == NodeSpec::Kind::kStorage && node.component != "DRAM" && !node.sliding)
      node.incremental = dice.chance(percent);
    for (std::vector<NodeSpec>& child : node.children) draw_incremental(dice, child, percent);
  }
}

/// Nodes that keep their tile from visit to visit.
void draw_incremental(Dice& dice, Triple& triple) {
  if (dice.chance(triple.einsums.size() > 1 ? 20 : 35))
    draw_incremental(dice, triple.nodes, dice.chance(50) ? 100 : 50);
}

void clear_incremental(std::vector<NodeSpec>& nodes) {
  for (NodeSpec& node : nodes) {
    node.incremental = false;
    for (std::vector<NodeSpec>& child : node.children) clear_incremental(child);
  }
}

void draw_concurrent(Dice& dice, std::vector<NodeSpec>& nodes) {
  for (NodeSpec& node : nodes) {
    if (node.kind == NodeSpec::Kind::kSequential)
      node.split = dice.text_of({"Pipeline", "Pipeline", "Pipeline", "Parallel", "Sequential"});
    for (std::vector<NodeSpec>& child : node.children) draw_concurrent(dice, child);
  }
}

/// Children of splits that run at the same time; with dice of its own.
void make_concurrent(Triple& triple, std::uint64_t seed) {
  Dice dice(seed ^ 0xC0C0C0C0C0C0ULL);
  clear_incremental(triple.nodes);
  draw_concurrent(dice, triple.nodes);
}

std::optional<Workload> workload_of(const Triple& triple) {
  Triple bare = triple;
  bare.components.clear();
  std::string text = to_yaml(bare);
  text = text.substr(0, text.find("arch:\n"));
  auto specs = load_specs_from_text({{"triple.yaml", text}}, {});
  if (!specs || !specs->workload) return std::nullopt;
  return std::move(specs->workload);
}

}  // namespace

Triple random_triple(std::uint64_t seed) {
  Dice dice(seed);
  while (true) {
    Triple triple;
    draw_workload(dice, triple);
    const auto workload = workload_of(triple);
    if (!workload) continue;
    draw_arch(dice, triple);
    MappingDraw(dice, triple, *workload).run();
    draw_incremental(dice, triple);
    draw_networks(dice, triple);
    for (ComponentSpec& component : triple.components)
      component.frees_drains = component.kind == ComponentSpec::Kind::kMemory && dice.chance(12);
    if (triple.einsums.size() > 1 && Dice(seed ^ 0x9191919191ULL).chance(12))
      make_concurrent(triple, seed);
    return triple;
  }
}

Triple concurrent_triple(std::uint64_t seed) {
  Triple triple = random_triple(seed);
  make_concurrent(triple, seed);
  return triple;
}

}  // namespace sluice::triples
