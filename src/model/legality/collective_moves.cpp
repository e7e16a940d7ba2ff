#include <map>

#include "model/legality/collective_subject.h"
#include "model/tree/finish_nests.h"
#include "model/tree/lookups.h"

namespace sluice {
namespace {

/// The rules of a collective from one layout to another.
class MoveChecker : CollectiveSubject {
 public:
  explicit MoveChecker(const CollectiveSubject& subject) : CollectiveSubject(subject) {}

  bool check() {
    if (flat_.readers.empty()) return refuse("no Einsum of its split reads the tensor after it.");
    const NestStorage* sent = backing_of(problem_, tree_, *maker_, node_.tensor);
    if (!sent) return false;  // reported
    if (sent->component != node_.src)
      return refuse("its src is " + report_.name(node_.src) + ", but the Einsum " +
                    report_.name(maker_->einsum) + " leaves the tensor in " +
                    report_.name(sent->component) + ".");
    if (depth_of(node_.dst) < 0)
      return add(ViolationKind::kUnsupportedNode,
                 report_.name(node_.dst) + " is not on the way to " +
                     report_.name(maker_->compute->component) + "; the model cannot price that.");
    for (const auto& [name, at] : node_.root)
      if (at != 0)
        return add(ViolationKind::kUnsupportedNode, "a child without loops over " + name +
                                                        " works on its instance 0; another root "
                                                        "cannot be priced.");
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (leaves_something_everywhere() && depth_of(over_[i].component) > depth_of(node_.dst))
        return refuse("the dimension " + node_.over[i] + " is below " + report_.name(node_.dst) +
                      "; all its instances share one, to which a gather would bring it.");
    const End maker{maker_, sent->loops_above};
    if (!check_way(maker)) return false;
    for (const FlatCollective::Reader& at : flat_.readers) {
      const End reader{&tree_.nests[static_cast<std::size_t>(at.place)], at.loops};
      if (!reader.nest->compute) return false;  // reported
      if (!check_reader(reader) || !check_way(reader) || !check_layouts(maker, reader))
        return false;
      if (brings_slices() && slicing(reader, true) != slicing(first_reader(), true))
        return refuse("the Einsums " + report_.name(first_reader().nest->einsum) + " and " +
                      report_.name(reader.nest->einsum) + " slice it differently.");
    }
    for (std::size_t i = 0; i < over_.size(); ++i)
      if (used(over_[i]) == 1)
        return refuse("no loop spreads the tensor over the dimension " + node_.over[i] +
                      "; it has one participant.");
    return true;
  }

 private:
  /// What the loops above a node do in one dimension.
  enum class Spread : std::uint8_t { kNone, kSlices, kCopies, kMixed };
  struct End {
    const Nest* nest = nullptr;
    int loops = 0;  ///< above its node of the tensor
  };

  /// Each participant ends with something in a memory of its own.
  bool leaves_something_everywhere() const {
    return node_.type == CollectiveType::kAllReduce || node_.type == CollectiveType::kAllGather ||
           node_.type == CollectiveType::kReduceScatter || node_.type == CollectiveType::kAllToAll;
  }

  bool check_reader(const End& reader) {
    const int place = tree_.place_of[reader.nest->einsum.index()];
    if (place < flat_.place || place >= flat_.split_end)
      return refuse("the Einsum " + report_.name(reader.nest->einsum) +
                    " reads the tensor outside its split.");
    const NestStorage* received = backing_of(problem_, tree_, *reader.nest, node_.tensor);
    if (received->component == node_.dst) return true;
    return refuse("its dst is " + report_.name(node_.dst) + ", but the Einsum " +
                  report_.name(reader.nest->einsum) + " reads the tensor in " +
                  report_.name(received->component) + ".");
  }

  /// Loops between the split and a node of the tensor: only those that the collective undoes.
  bool check_way(const End& end) {
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (loop.trips == 1) continue;
      const std::string text = "the loop over " + variable_name(*end.nest, loop) +
                               " of the Einsum " + report_.name(end.nest->einsum) + " ";
      if (loop.first > 0 || loop.trips * loop.tile != loop.enclosing)
        return add(ViolationKind::kUnsupportedNode,
                   text + "does not divide evenly; the model cannot price that.");
      const bool above = is_above(loop.node);
      const bool over = loop.spatial && is_over({loop.component, loop.dimension});
      if (!above && !over)
        return refuse(text + "stands between the split and the node of the tensor; " +
                      (loop.spatial ? "`over` does not name its dimension."
                                    : "only spatial loops over the dimensions in `over` may."));
      if (above && !loop.spatial && spread_by(end, loop) == Spread::kCopies)
        return refuse(text + "goes on reducing or repeats it: each of its steps would need all.");
    }
    return true;
  }

  /// Layouts by type: docs/collectives.md.
  bool check_layouts(const End& maker, const End& reader) {
    using T = CollectiveType;
    const bool from_one = node_.type == T::kBroadcast || node_.type == T::kScatter;
    const bool from_parts = node_.type == T::kAllReduce || node_.type == T::kReduceScatter;
    const bool to_slices = brings_slices();
    const Spread made = from_one ? Spread::kNone : from_parts ? Spread::kCopies : Spread::kSlices;
    const std::string read_by = "the Einsum " + report_.name(reader.nest->einsum);
    for (std::size_t i = 0; i < over_.size(); ++i) {
      const std::string where = " in the dimension " + node_.over[i];
      const Spread before = spread_in(maker, over_[i]), after = spread_in(reader, over_[i]);
      if (before != made)
        return refuse("the loops of the Einsum " + report_.name(maker_->einsum) + " leave " +
                      layout(before, true) + where + ", but it takes " + layout(made, true) + ".");
      const bool fits = to_slices ? after == Spread::kSlices
                        : node_.type == T::kGather
                            ? after == Spread::kNone
                            : after == Spread::kNone || after == Spread::kCopies;
      if (!fits)
        return refuse("the loops of " + read_by + " want " + layout(after, false) + where +
                      ", but it brings " +
                      layout(to_slices                  ? Spread::kSlices
                             : node_.type == T::kGather ? Spread::kNone
                                                        : Spread::kCopies,
                             false) +
                      ".");
      const std::int64_t participants = from_one ? used(over_[i]) : instances_of(maker, over_[i]);
      const std::int64_t mine = instances_of(reader, over_[i]);
      if (to_slices && mine != participants)
        return refuse(read_by + " uses " + std::to_string(mine) + " instances of " + node_.over[i] +
                      "; " + std::to_string(participants) + " take part.");
      if (!from_one && mine > participants)
        return refuse(read_by + " uses " + std::to_string(mine) + " instances of " + node_.over[i] +
                      "; it brings the tensor to " + std::to_string(participants) + ".");
    }
    if (!is_read_as_made(maker, reader))
      return add(ViolationKind::kUnsupportedNode,
                 read_by + " reads other values than are made; the model cannot price that.");
    if (node_.type != T::kAllToAll) return true;
    if (slicing(maker, false).size() > 1 || slicing(reader, true).size() > 1)
      return refuse("an instance has no equal part for each other one: the loops of the Einsum " +
                    report_.name(maker_->einsum) + " or of " + read_by +
                    " slice it along several ranks.");
    if (slicing(maker, false).begin()->first == slicing(reader, true).begin()->first)
      return refuse(read_by + " slices the rank that is sliced already; nothing is to be brought.");
    return true;
  }

  bool brings_slices() const {
    return node_.type == CollectiveType::kReduceScatter || node_.type == CollectiveType::kScatter ||
           node_.type == CollectiveType::kAllToAll;
  }
  End first_reader() const {
    const FlatCollective::Reader& first = flat_.readers.front();
    return {&tree_.nests[static_cast<std::size_t>(first.place)], first.loops};
  }

  static std::string layout(Spread spread, bool made) {
    switch (spread) {
      case Spread::kNone:
        return "all of it at one instance";
      case Spread::kSlices:
        return "a slice at each instance";
      case Spread::kCopies:
        return made ? "a part of the sums at each instance" : "a copy at each instance";
      case Spread::kMixed:
        return "slices as well as copies";
    }
    return "";
  }

  const NestLoop& loop_of(const End& end, int l) const {
    return tree_.loops[end.nest->loops_begin + static_cast<std::uint32_t>(l)];
  }
  bool is_over(FannedDimension dimension) const {
    return std::find(over_.begin(), over_.end(), dimension) != over_.end();
  }
  Spread spread_by(const End& end, const NestLoop& loop) const {
    const BoundEinsum& einsum = problem_[end.nest->einsum];
    const auto local = static_cast<std::size_t>(einsum.local_tensor[node_.tensor.index()]);
    switch (einsum.relevance[local][static_cast<std::size_t>(loop.variable)]) {
      case Relevance::kRelevant:
        return Spread::kSlices;
      case Relevance::kIrrelevant:
        return Spread::kCopies;
      case Relevance::kPartial:
        break;
    }
    return Spread::kMixed;
  }
  Spread spread_in(const End& end, FannedDimension dimension) const {
    Spread found = Spread::kNone;
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || loop.trips == 1 ||
          FannedDimension{loop.component, loop.dimension} != dimension)
        continue;
      const Spread spread = spread_by(end, loop);
      found = found == Spread::kNone || found == spread ? spread : Spread::kMixed;
    }
    return found;
  }
  std::int64_t instances_of(const End& end, FannedDimension dimension) const {
    return instances_in(tree_, *end.nest, end.loops, dimension);
  }
  const BoundAccess& access_of(const End& end, bool reads) const {
    const BoundEinsum& einsum = problem_[end.nest->einsum];
    const int local = einsum.local_tensor[node_.tensor.index()];
    for (const BoundAccess& access : einsum.accesses)
      if (access.tensor == local && access.is_output != reads) return access;
    return einsum.accesses.back();
  }
  /// The sizes of the variables below the split, over all instances of `over`.
  std::vector<std::int64_t> whole_tiles(const End& end) const {
    std::vector<std::int64_t> tiles;
    for (const VariableRange& range : problem_.workload[end.nest->einsum].iteration_space)
      tiles.push_back(range.size);
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || !is_over({loop.component, loop.dimension}))
        tiles[static_cast<std::size_t>(loop.variable)] /= loop.trips;
    }
    return tiles;
  }
  /// Whether the reader wants just the values that there are below the split.
  bool is_read_as_made(const End& maker, const End& reader) const {
    const BoundEinsum& einsum = problem_[reader.nest->einsum];
    const BoundAccess& made = access_of(maker, false);
    const std::vector<std::int64_t> made_tiles = whole_tiles(maker), tiles = whole_tiles(reader);
    for (const BoundAccess& read : einsum.accesses) {
      if (read.tensor != einsum.local_tensor[node_.tensor.index()] || read.is_output) continue;
      for (std::size_t r = 0; r < read.index.size(); ++r)
        if (read.index[r].constant != made.index[r].constant ||
            tile_extent(read.index[r], tiles.data()) !=
                tile_extent(made.index[r], made_tiles.data()))
          return false;
    }
    return true;
  }
  /// Per rank of the tensor: the dimensions of `over` and how often their loops cut it, outermost
  /// first.
  using Slicing = std::map<std::size_t, std::vector<std::pair<std::size_t, std::int64_t>>>;
  Slicing slicing(const End& end, bool reads) const {
    Slicing found;
    const BoundAccess& access = access_of(end, reads);
    for (int l = 0; l < end.loops; ++l) {
      const NestLoop& loop = loop_of(end, l);
      if (!loop.spatial || loop.trips == 1) continue;
      const auto dimension =
          std::find(over_.begin(), over_.end(), FannedDimension{loop.component, loop.dimension});
      if (dimension == over_.end()) continue;
      for (std::size_t r = 0; r < access.index.size(); ++r)
        for (const BoundTerm& term : access.index[r].terms)
          if (term.variable == loop.variable)
            found[r].emplace_back(static_cast<std::size_t>(dimension - over_.begin()), loop.trips);
    }
    return found;
  }
};

}  // namespace

bool check_move(const CollectiveSubject& subject) { return MoveChecker(subject).check(); }

}  // namespace sluice
