#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "link_walk.h"
#include "sluice/referee/collective_run.h"

namespace sluice::referee {

/// The buffers of all participants. Messages of one step are sent from what the buffers held before
/// it and arrive together at its end. Who already has a value combines it with the one that
/// arrives; who has none stores it.
class Board {
 public:
  Board(const CollectiveRequest& request, Reduction op);

  enum class Sender : bool { kKeeps, kForgets };
  /// Nothing is sent where `items` is empty.
  void send(int from, int to, const std::vector<CollectiveItem>& items, Sender sender);
  void end_step();

  int participants() const { return static_cast<int>(buffers_.size()); }
  CollectiveBuffer& buffer(int participant) {
    return buffers_[static_cast<std::size_t>(participant)];
  }
  bool has(int participant, const CollectiveItem& item) const {
    return buffers_[static_cast<std::size_t>(participant)].contains(item);
  }
  /// What a participant holds and `wanted` picks.
  std::vector<CollectiveItem> items(
      int participant, const std::function<bool(const CollectiveItem&)>& wanted =
                           [](const CollectiveItem&) { return true; }) const;

  CollectiveRun& run() { return run_; }

 private:
  struct Message {
    int from = 0, to = 0;
    CollectiveBuffer content;
    bool sender_forgets = false;
  };

  double combine(double a, double b) const;
  void count_step();

  const CollectiveGroup& group_;
  double bits_per_value_;
  Reduction op_;
  std::vector<CollectiveBuffer> buffers_;
  std::vector<Message> messages_;
  CollectiveRun run_;
};

}  // namespace sluice::referee
