// Collective algorithms from outside the model.
#include "sluice/model/collective_algorithm.h"

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// Everyone sends all to rank 0 at once, and rank 0 sends the sum back: two steps, 2 · (P − 1) · V.
/// With `rounds` it does so in vain before.
class Star final : public CollectiveAlgorithm {
 public:
  explicit Star(int rounds = 1) : rounds_(rounds) {}
  std::string name() const override { return "star"; }
  bool performs(CollectiveType type) const override { return type == CollectiveType::kAllReduce; }
  void count(CollectiveTally& tally) const override {
    const std::int64_t all = tally.request().values;
    for (int round = 0; round < rounds_; ++round) {
      for (std::int64_t rank = 1; rank < tally.participants(); ++rank)
        tally.send(rank, 0, all, CollectiveTally::Arrival::kCombined);
      tally.end_step();
      for (std::int64_t rank = 1; rank < tally.participants(); ++rank) tally.send(0, rank, all);
      tally.end_step();
    }
  }

 private:
  int rounds_;
};

/// V = 24 values of 2 bit on four participants where every pair has a link of its own.
CollectiveRequest four_of(CollectiveType type) {
  Network network;
  network.topology = Topology::kAllToAll;
  network.channel_width_bits = 8;
  network.link_bandwidth = 1e9;
  network.router_latency_s = 1;
  network.queue_latency_s = 0;
  return {type, {{{network, {4}}}, {{0, 0, 4}}, {}}, 24, 2, 0};
}

CollectiveAlgorithms with_star(int rounds = 1) {
  CollectiveAlgorithms algorithms = standard_collective_algorithms();
  algorithms.emplace<Star>(rounds);
  return algorithms;
}

// 2 · 3 messages of 48 bit over one link each, one after the other 2; 3 · 24 sums.
TEST(CollectiveAlgorithm, FromOutsideIsCountedByItsMessages) {
  const CollectiveRequest request = four_of(CollectiveType::kAllReduce);
  const CollectiveCounts counts = count_collective(request, "star", with_star());
  EXPECT_EQ(counts.total, (CollectiveQuantities{2, 288, 288}));
  EXPECT_EQ(counts.combined_values, 72);
}

TEST(CollectiveAlgorithm, OfWhichNobodyToldIsNotThere) {
  const CollectiveRequest request = four_of(CollectiveType::kAllReduce);
  EXPECT_EQ(why_no_collective(request, "star"), "There is no collective algorithm 'star'.");
  EXPECT_EQ(why_no_collective(request, "star", with_star()), std::nullopt);
  EXPECT_EQ(why_no_collective(four_of(CollectiveType::kGather), "star", with_star()),
            "The algorithm star has no gather.");
}

// Routers alone take time, 1 s a hop. `direct` takes 2 steps, `ring` 6; alone, `star` takes them
// all.
TEST(CollectiveAlgorithm, TakesPartInAuto) {
  CollectiveAlgorithms only_star;
  only_star.emplace<Star>();
  const CollectiveRequest request = four_of(CollectiveType::kAllReduce);
  EXPECT_EQ(price_collective(request, "auto", 1e9, only_star).algorithm, "star");
  EXPECT_NE(price_collective(request, "auto", 1e9).algorithm, "star");
}

// A thread remembers prices; another algorithm of the same name has its own.
TEST(CollectiveAlgorithm, OfTheSameNameInAnotherRegistryIsAnother) {
  const CollectiveRequest request = four_of(CollectiveType::kAllReduce);
  for (const int rounds : {1, 2, 1, 3})
    EXPECT_EQ(price_collective(request, "star", 1e9, with_star(rounds)).counts.total.latency_hops,
              2 * rounds);
}

}  // namespace
}  // namespace sluice
