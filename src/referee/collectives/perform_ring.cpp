#include <functional>

#include "performers.h"

namespace sluice::referee {
namespace {

using Sender = Board::Sender;
using Line = std::vector<int>;  ///< ranks, each with the next as its neighbour, the last the first

/// Rings that work at the same time: all participants in one, or one for every row of a dimension.
class Rings {
 public:
  /// `position`: of a rank in its line; `root`: the position where rooted collectives begin.
  Rings(Board& board, const Task& task, std::vector<Line> lines, std::function<int(int)> position,
        int root)
      : board_(board),
        task_(task),
        lines_(std::move(lines)),
        position_(std::move(position)),
        root_(root),
        length_(static_cast<int>(lines_.front().size())) {}

  /// Partial sums travel round until they reach their owner's position.
  void reduce_scatter() {
    hand_on(Sender::kForgets,
            [&](int own, const CollectiveItem& item) { return (goal(item) + 1) % length_ == own; });
  }

  void all_gather() {
    hand_on(Sender::kKeeps, [](int, const CollectiveItem&) { return true; });
  }

  void all_to_all() {
    for (int step = 1; step < length_; ++step) {
      for (const Line& line : lines_)
        for (int own = 0; own < length_; ++own)
          board_.send(rank(line, own), rank(line, own + 1),
                      board_.items(rank(line, own),
                                   [&](const CollectiveItem& item) { return goal(item) != own; }),
                      Sender::kForgets);
      board_.end_step();
    }
  }

  void broadcast() {
    for (int step = 1; step < length_; ++step) {
      for (const Line& line : lines_)
        board_.send(rank(line, root_ + step - 1), rank(line, root_ + step),
                    board_.items(rank(line, root_ + step - 1)), Sender::kKeeps);
      board_.end_step();
    }
  }

  void scatter() {
    for (int step = 1; step < length_; ++step) {
      const int own = (root_ + step - 1) % length_;
      for (const Line& line : lines_)
        board_.send(rank(line, own), rank(line, own + 1),
                    board_.items(rank(line, own),
                                 [&](const CollectiveItem& item) { return goal(item) != own; }),
                    Sender::kForgets);
      board_.end_step();
    }
  }

  void gather() {
    for (int step = 1; step < length_; ++step) {
      const int own = root_ + length_ - step;
      for (const Line& line : lines_)
        board_.send(rank(line, own), rank(line, own - 1), board_.items(rank(line, own)),
                    Sender::kForgets);
      board_.end_step();
    }
  }

 private:
  int rank(const Line& line, int position) const {
    return line[static_cast<std::size_t>(position % length_)];
  }
  int goal(const CollectiveItem& item) const {
    return position_(task_.owner[static_cast<std::size_t>(item.second)]);
  }

  /// Everyone sends what `first` picks, then in each step what the step before brought.
  template <class First>
  void hand_on(Sender sender, First first) {
    std::vector<std::vector<CollectiveItem>> to_send(
        static_cast<std::size_t>(board_.participants()));
    for (const Line& line : lines_)
      for (int own = 0; own < length_; ++own)
        to_send[static_cast<std::size_t>(rank(line, own))] = board_.items(
            rank(line, own), [&](const CollectiveItem& item) { return first(own, item); });
    for (int step = 1; step < length_; ++step) {
      std::vector<std::vector<CollectiveItem>> arrived(to_send.size());
      for (const Line& line : lines_)
        for (int own = 0; own < length_; ++own) {
          const auto from = static_cast<std::size_t>(rank(line, own));
          board_.send(rank(line, own), rank(line, own + 1), to_send[from], sender);
          arrived[static_cast<std::size_t>(rank(line, own + 1))] = to_send[from];
        }
      board_.end_step();
      to_send = std::move(arrived);
    }
  }

  Board& board_;
  const Task& task_;
  std::vector<Line> lines_;
  std::function<int(int)> position_;
  int root_;
  int length_;
};

/// Ranks by their coordinates in the dimensions of `over`.
struct Grid {
  std::vector<int> extents;

  int stride(std::size_t d) const {
    int product = 1;
    for (std::size_t inner = d + 1; inner < extents.size(); ++inner) product *= extents[inner];
    return product;
  }
  int coordinate(int rank, std::size_t d) const { return rank / stride(d) % extents[d]; }

  std::vector<Line> lines_along(std::size_t d, int participants) const {
    std::vector<Line> lines;
    for (int start = 0; start < participants; ++start) {
      if (coordinate(start, d) != 0) continue;
      Line& line = lines.emplace_back();
      for (int i = 0; i < extents[d]; ++i) line.push_back(start + i * stride(d));
    }
    return lines;
  }
};

}  // namespace

bool perform_ring(Board& board, const Task& task) {
  Line everyone;
  for (int p = 0; p < board.participants(); ++p) everyone.push_back(p);
  Rings ring(
      board, task, {everyone}, [](int rank) { return rank; }, task.root());
  switch (task.type()) {
    case CollectiveType::kAllReduce:
      ring.reduce_scatter();
      ring.all_gather();
      break;
    case CollectiveType::kReduceScatter:
      ring.reduce_scatter();
      break;
    case CollectiveType::kAllGather:
      ring.all_gather();
      break;
    case CollectiveType::kBroadcast:
      ring.broadcast();
      break;
    case CollectiveType::kGather:
      ring.gather();
      break;
    case CollectiveType::kScatter:
      ring.scatter();
      break;
    case CollectiveType::kAllToAll:
      ring.all_to_all();
      break;
  }
  return true;
}

bool perform_per_dimension(Board& board, const Task& task) {
  Grid grid;
  for (const CollectiveDimension& dimension : task.request.group.over)
    grid.extents.push_back(static_cast<int>(dimension.participants));
  const std::size_t n = grid.extents.size();
  const auto along = [&](std::size_t d) {
    return Rings(
        board, task, grid.lines_along(d, board.participants()),
        [&grid, d](int rank) { return grid.coordinate(rank, d); }, grid.coordinate(task.root(), d));
  };
  const auto inwards = [&](void (Rings::*phase)()) {
    for (std::size_t d = 0; d < n; ++d) {
      Rings rings = along(d);
      (rings.*phase)();
    }
  };
  const auto outwards = [&](void (Rings::*phase)()) {
    for (std::size_t d = n; d-- > 0;) {
      Rings rings = along(d);
      (rings.*phase)();
    }
  };
  switch (task.type()) {
    case CollectiveType::kAllReduce:
      outwards(&Rings::reduce_scatter);
      inwards(&Rings::all_gather);
      break;
    case CollectiveType::kReduceScatter:
      outwards(&Rings::reduce_scatter);
      break;
    case CollectiveType::kAllGather:
      inwards(&Rings::all_gather);
      break;
    case CollectiveType::kBroadcast:
      inwards(&Rings::broadcast);
      break;
    case CollectiveType::kGather:
      outwards(&Rings::gather);
      break;
    case CollectiveType::kScatter:
      inwards(&Rings::scatter);
      break;
    case CollectiveType::kAllToAll:
      outwards(&Rings::all_to_all);
      break;
  }
  return true;
}

}  // namespace sluice::referee
