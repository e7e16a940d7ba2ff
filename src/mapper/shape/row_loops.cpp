#include "row_loops.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <optional>

#include "einsum_shape.h"
#include "trip_choices.h"

namespace sluice::fused {
namespace {

/// The tiles of a variable in a loop: the first one, the later ones.
struct Tiles {
  std::int64_t first = 1, later = 1;
  std::int64_t held = 1;  // rows that the output's backing node holds
  bool operator==(const Tiles&) const = default;
};

/// An Einsum under the loop: its variable, and its tiles for each tile of the reader (none: there
/// is no such loop over its variable).
struct Member {
  std::size_t einsum = 0;
  std::uint32_t variable = 0;
  bool even = true;
  std::vector<std::optional<Tiles>> tiles;
  std::vector<std::int32_t> rank_of;  // per local tensor
  std::vector<bool> rows;             // per local tensor: read, or made for a reader, as s·q + r
  std::vector<bool> carries;          // of these: with more rows in a window than a step moves it
};

/// One rank of a tensor as an access walks it with a variable.
struct Walked {
  std::int32_t rank = -1;
  const BoundIndex* index = nullptr;
  std::int64_t coefficient = 0;
  /// One plain variable at another place: of a reader with tiles of its own neither rows nor the
  /// same tiles.
  bool shifted() const { return index->terms.size() == 1 && coefficient == 1 && !plain(); }
  bool plain() const {
    return index->terms.size() == 1 && coefficient == 1 && index->constant == 0 &&
           index->slack == 0;
  }
};

/// The loop that an Einsum shares with the makers of what it reads as s·q + r.
class Frame {
 public:
  Frame(const BoundProblem& problem, const std::vector<EinsumShape>& shapes, std::size_t reader,
        std::uint32_t variable)
      : problem_(problem), shapes_(shapes), size_(shapes[reader].sizes[variable]) {
    Member end = make_member(reader, variable);
    for (std::int64_t n = 2; n <= std::min(size_, kLargestRows); ++n) {
      const std::int64_t tile = size_ / n;
      if (size_ % n != 0 || tile > kLargestRows) continue;
      trips_.push_back(n);
      end.tiles.emplace_back(Tiles{tile, tile, tile});
    }
    members_.push_back(std::move(end));
    for (std::size_t at = 0; at < members_.size(); ++at) {  // grows on the way
      visit_inputs(at);
      visit_output(at);
    }
  }

  /// Whether some tensor is handed on row by row.
  bool shares_rows() const {
    return std::any_of(members_.begin(), members_.end(), [](const Member& member) {
      return std::find(member.rows.begin(), member.rows.end(), true) != member.rows.end();
    });
  }

  const std::deque<Member>& members() const { return members_; }

  RowLoop row_loop(const Member& member, std::int64_t frame) const {
    RowLoop loop{frame, member.variable, member.even, size_, {}, member.rank_of, member.carries};
    for (std::size_t i = 0; i < trips_.size(); ++i)
      if (const auto& tiles = member.tiles[i];
          tiles && std::max({trips_[i], tiles->first, tiles->later, tiles->held}) <= kLargestRows)
        loop.trips.push_back(
            row_trips({frame, trips_[i], tiles->first, tiles->later, tiles->held}));
    return loop;
  }

 private:
  Member make_member(std::size_t einsum, std::uint32_t variable) const {
    const std::size_t n = shapes_[einsum].tensors.size();
    return {einsum,
            variable,
            true,
            {},
            std::vector<std::int32_t>(n, -1),
            std::vector<bool>(n, false),
            std::vector<bool>(n, false)};
  }

  /// How an Einsum alone walks a tensor with a variable; nothing where it does in several ways.
  std::optional<Walked> walk(std::size_t einsum, std::size_t tensor, std::uint32_t variable,
                             bool output) const {
    std::optional<Walked> result;
    for (const BoundAccess& access : problem_.einsums[einsum].accesses) {
      if (access.tensor != static_cast<int>(tensor)) continue;
      if (access.is_output != output || result) return std::nullopt;
      for (std::size_t r = 0; r < access.index.size(); ++r)
        for (const BoundTerm& term : access.index[r].terms) {
          if (term.variable != static_cast<int>(variable)) continue;
          if (result || term.coefficient <= 0) return std::nullopt;
          result = Walked{static_cast<std::int32_t>(r), &access.index[r], term.coefficient};
        }
      if (!result) return std::nullopt;
    }
    return result;
  }

  std::optional<std::size_t> local(std::size_t einsum, TensorId tensor) const {
    const int at = problem_.einsums[einsum].local_tensor[tensor.index()];
    if (at < 0) return std::nullopt;
    return static_cast<std::size_t>(at);
  }

  /// The makers of what a member reads.
  void visit_inputs(std::size_t at) {
    for (std::size_t t = 0; t < shapes_[members_[at].einsum].tensors.size(); ++t) {
      const Member& reader = members_[at];
      const LocalTensor& tensor = shapes_[reader.einsum].tensors[t];
      const std::optional<EinsumId> sole = problem_.roles.sole_maker(tensor.id);
      if (!tensor.is_input || tensor.is_output || !sole) continue;
      const std::size_t maker = sole->index();
      const auto read = walk(reader.einsum, t, reader.variable, false);
      // Whose rows follow from others' takes values at another place as rows.
      if (maker >= reader.einsum || !read || (read->shifted() && reader.even)) continue;
      const bool alone = problem_.roles.consumers[tensor.id.index()].size() == 1;
      if (!alone && !(read->plain() && reader.even)) continue;
      const auto variable = maker_variable(maker, tensor.id, read->rank);
      if (!variable) continue;
      Member member = make_member(maker, *variable);
      member.even = reader.even && read->plain();
      for (std::size_t i = 0; i < trips_.size(); ++i)
        member.tiles.push_back(made_for(reader, i, *read, shapes_[maker].sizes[*variable]));
      connect(at, t, std::move(member), *local(maker, tensor.id), read->rank, !read->plain(),
              window(reader, *read) > read->coefficient);
    }
  }

  /// The variable with which an Einsum makes a rank of its output, if it does so one by one.
  std::optional<std::uint32_t> maker_variable(std::size_t maker, TensorId tensor,
                                              std::int32_t rank) const {
    const EinsumShape& shape = shapes_[maker];
    for (std::uint32_t v = 0; v < shape.sizes.size(); ++v) {
      const auto made = walk(maker, *local(maker, tensor), v, true);
      if (made && made->rank == rank && made->plain() && !shape.carried[v]) return v;
    }
    return std::nullopt;
  }

  /// Rows that a reader takes for each value of its variable.
  std::int64_t window(const Member& reader, const Walked& read) const {
    const std::vector<std::int64_t>& sizes = shapes_[reader.einsum].sizes;
    std::int64_t rows = 1 + read.index->slack;
    for (const BoundTerm& term : read.index->terms)
      if (term.variable != static_cast<int>(reader.variable))
        rows += std::max<std::int64_t>(term.coefficient, 0) *
                (sizes[static_cast<std::size_t>(term.variable)] - 1);
    return rows;
  }

  /// The tiles in which `size` values are made for a reader, if they take as many steps as its own.
  std::optional<Tiles> made_for(const Member& reader, std::size_t i, const Walked& read,
                                std::int64_t size) const {
    const std::optional<Tiles>& theirs = reader.tiles[i];
    if (!theirs) return std::nullopt;
    const std::int64_t of_one = window(reader, read);
    const auto rows = [&](std::int64_t tile) { return read.coefficient * (tile - 1) + of_one; };
    Tiles tiles;
    tiles.first = std::clamp<std::int64_t>(read.index->constant + rows(theirs->first), 1, size);
    tiles.later = std::clamp<std::int64_t>(read.coefficient * theirs->later, 1, size);
    tiles.held = std::max(rows(theirs->first), rows(theirs->later));
    const std::int64_t last = size - tiles.first - tiles.later * (trips_[i] - 2);
    if (last < 1 || last > tiles.later) return std::nullopt;
    if (trips_[i] == 2) tiles.later = last;
    return tiles;
  }

  /// Who reads what an even member makes, in the same tiles.
  void visit_output(std::size_t at) {
    if (!members_[at].even) return;
    const Member& maker = members_[at];
    const Einsum& einsum = problem_.workload.einsums[maker.einsum];
    const TensorId output = einsum.output().tensor;
    if (problem_.roles.has_several_makers(output)) return;
    const std::size_t own = *local(maker.einsum, output);
    const auto made = walk(maker.einsum, own, maker.variable, true);
    if (!made || !made->plain()) return;
    for (EinsumId reader : problem_.roles.consumers[output.index()]) {
      const std::size_t e = reader.index();
      if (e <= members_[at].einsum) continue;
      for (std::uint32_t v = 0; v < shapes_[e].sizes.size(); ++v) {
        const auto read = walk(e, *local(e, output), v, false);
        if (!read || read->rank != made->rank || !read->plain()) continue;
        Member member = make_member(e, v);
        member.tiles = members_[at].tiles;
        connect(at, own, std::move(member), *local(e, output), made->rank, false, false);
      }
    }
  }

  /// Adds a member, or another tensor between two of them.
  void connect(std::size_t at, std::size_t tensor, Member other, std::size_t their_tensor,
               std::int32_t rank, bool rows, bool carries) {
    auto known = std::find_if(members_.begin(), members_.end(),
                              [&](const Member& m) { return m.einsum == other.einsum; });
    if (known == members_.end()) {
      members_.push_back(std::move(other));
      known = members_.end() - 1;
    } else if (known->variable != other.variable || known->tiles != other.tiles) {
      return;
    }
    Member& mine = members_[at];
    mine.rank_of[tensor] = known->rank_of[their_tensor] = rank;
    if (rows) mine.rows[tensor] = known->rows[their_tensor] = true;
    if (carries) mine.carries[tensor] = known->carries[their_tensor] = true;
  }

  const BoundProblem& problem_;
  const std::vector<EinsumShape>& shapes_;
  const std::int64_t size_;
  std::vector<std::int64_t> trips_;
  std::deque<Member> members_;
};

}  // namespace

void add_row_loops(const BoundProblem& problem, std::vector<EinsumShape>* shapes) {
  for (EinsumShape& shape : *shapes)
    for (LocalTensor& tensor : shape.tensors) tensor.rows.assign(shape.sizes.size(), false);
  std::int64_t frames = 0;
  for (std::size_t e = 0; e < shapes->size(); ++e) {
    for (std::uint32_t v = 0; v < (*shapes)[e].sizes.size(); ++v) {
      if ((*shapes)[e].sizes[v] == 1 || (*shapes)[e].carried[v]) continue;
      const Frame frame(problem, *shapes, e, v);
      if (!frame.shares_rows() || frames == kMostFrames) continue;
      ++frames;
      for (const Member& member : frame.members()) {
        EinsumShape& shape = (*shapes)[member.einsum];
        RowLoop loop = frame.row_loop(member, frames);
        if (loop.trips.empty()) continue;
        shape.row_loops.push_back(std::move(loop));
        for (std::size_t t = 0; t < shape.tensors.size(); ++t)
          if (member.rows[t]) shape.tensors[t].rows[member.variable] = true;
      }
    }
  }
}

}  // namespace sluice::fused
