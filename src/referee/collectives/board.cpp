#include "board.h"

#include <algorithm>
#include <numeric>

#include "referee/points/scalar.h"
#include "sluice/support/error.h"

namespace sluice::referee {

Board::Board(const CollectiveRequest& request, Reduction op)
    : group_(request.group), bits_per_value_(request.bits_per_value), op_(op) {
  std::size_t participants = 1;
  for (const CollectiveDimension& dimension : group_.over)
    participants *= static_cast<std::size_t>(dimension.participants);
  buffers_.resize(participants);
  run_.networks.resize(group_.networks.size());
}

std::vector<CollectiveItem> Board::items(
    int participant, const std::function<bool(const CollectiveItem&)>& wanted) const {
  std::vector<CollectiveItem> result;
  for (const auto& [item, value] : buffers_[static_cast<std::size_t>(participant)])
    if (wanted(item)) result.push_back(item);
  return result;
}

void Board::send(int from, int to, const std::vector<CollectiveItem>& items, Sender sender) {
  if (items.empty()) return;
  SLUICE_CHECK(from != to, "a participant sends to itself");
  Message message{from, to, {}, sender == Sender::kForgets};
  for (const CollectiveItem& item : items) message.content[item] = buffer(from).at(item);
  messages_.push_back(std::move(message));
}

void Board::end_step() {
  count_step();
  for (const Message& message : messages_)
    if (message.sender_forgets)
      for (const auto& [item, value] : message.content) buffer(message.from).erase(item);
  for (const Message& message : messages_)
    for (const auto& [item, value] : message.content) {
      const auto [at, is_new] = buffer(message.to).try_emplace(item, value);
      if (is_new) continue;
      at->second = combine(at->second, value);
      ++run_.combined_values;
    }
  messages_.clear();
}

void Board::count_step() {
  std::vector<std::int64_t> longest(group_.networks.size(), 0);
  const auto total = [](const std::vector<std::int64_t>& links) {
    return std::accumulate(links.begin(), links.end(), std::int64_t{0});
  };
  for (const Message& message : messages_) {
    const std::vector<std::int64_t> links = links_between(
        group_, place_of_rank(group_, message.from), place_of_rank(group_, message.to));
    const double bits = static_cast<double>(message.content.size()) * bits_per_value_;
    run_.total.volume_bits += bits;
    run_.total.bit_hops += bits * static_cast<double>(total(links));
    for (std::size_t n = 0; n < links.size(); ++n) {
      if (links[n] > 0) run_.networks[n].volume_bits += bits;
      run_.networks[n].bit_hops += bits * static_cast<double>(links[n]);
    }
    // Of equally long routes the one with more links further out.
    if (std::make_pair(total(links), links) > std::make_pair(total(longest), longest))
      longest = links;
  }
  run_.total.latency_hops += total(longest);
  for (std::size_t n = 0; n < longest.size(); ++n) run_.networks[n].latency_hops += longest[n];
}

double Board::combine(double a, double b) const {
  SLUICE_CHECK(op_ != Reduction::kNone,
               "a value arrives where there is one, and nothing says how to combine them");
  return combined(op_, a, b);
}

}  // namespace sluice::referee
