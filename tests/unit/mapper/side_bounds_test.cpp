#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

#include "mapper/common/side_thread.h"
#include "mapper/run/told_bound.h"

namespace sluice {
namespace {

TEST(OwnBound, IsIdleWhereOthersHaveBroughtTheBestMappingNearToTheirs) {
  MapperControl control;
  ToldBound told(&control);
  OwnBound own(told, control.bound);
  Incumbent incumbent;
  told.set_proving(true);
  EXPECT_FALSE(own.is_idle(incumbent));  // nothing is known
  control.bound(100);
  own.tell(90);
  EXPECT_EQ(told.best(), 100);
  EXPECT_FALSE(own.is_idle(incumbent));  // there is no mapping
  incumbent.offer(106, {});
  EXPECT_FALSE(own.is_idle(incumbent));
  incumbent.offer(104, {});
  EXPECT_TRUE(own.is_idle(incumbent));
  own.tell(101);
  EXPECT_EQ(told.best(), 101);
  EXPECT_FALSE(own.is_idle(incumbent));  // the best bound is its own
  control.bound(102);
  EXPECT_TRUE(own.is_idle(incumbent));
  told.set_proving(false);
  EXPECT_FALSE(own.is_idle(incumbent));  // there is no search to leave it to
}

TEST(OwnBound, TellsOnWhatASearchAsksToBeTold) {
  double last = 0;
  MapperControl control;
  control.bound = [&last](double bound) { last = bound; };
  const ToldBound told(&control);
  OwnBound own(told, control.bound);
  own.tell(5);
  own.tell(3);
  EXPECT_EQ(last, 5);  // it knew better
  EXPECT_EQ(told.best(), 5);
}

TEST(SideThread, IsAwakeOnceItIsWoken) {
  std::atomic<bool> goes_on = false;
  SideThread thread(nullptr, [&](SideThread& own) {
    goes_on = own.pause(1e6);
    EXPECT_TRUE(own.is_awake());
    EXPECT_TRUE(own.pause(1e6));  // there are no more
  });
  EXPECT_FALSE(thread.is_awake());
  EXPECT_TRUE(thread.is_at_work());
  thread.wake();
  while (thread.is_at_work()) std::this_thread::yield();
  EXPECT_TRUE(goes_on);
  thread.finish();
}

TEST(SideThread, SaysWhetherItHasSomethingToDo) {
  std::atomic<bool> is_idle = false;
  SideThread thread(nullptr, [&](SideThread& own) {
    own.set_at_work(false);
    is_idle = true;
    EXPECT_FALSE(own.pause(1e6));
    own.set_at_work(true);
  });
  while (!is_idle) std::this_thread::yield();
  EXPECT_FALSE(thread.is_at_work());
  thread.ask_to_end();
  thread.finish();
  EXPECT_FALSE(thread.is_at_work());  // it has ended
}

TEST(SideThread, WaitsUntilItIsToEnd) {
  std::atomic<bool> has_begun = false;
  std::atomic<int> ended = 0;
  SideThread thread(nullptr, [&](SideThread& own) {
    EXPECT_TRUE(own.pause(0));
    has_begun = true;
    EXPECT_FALSE(own.pause(1e6));
    EXPECT_TRUE(own.flag()->load());
    ++ended;
  });
  while (!has_begun) std::this_thread::yield();
  thread.finish();
  EXPECT_EQ(ended, 1);
  thread.finish();  // again: nothing more
}

TEST(SideThread, EndsWhereTheSearchIsCancelled) {
  std::atomic<bool> cancel = true;
  std::atomic<bool> ended = false;
  SideThread thread(&cancel, [&ended](SideThread& own) {
    while (own.pause(0.001)) {
    }
    ended = true;
  });
  while (!ended) std::this_thread::yield();
  thread.finish();
}

TEST(SideThread, PassesOnWhatItsBodyThrows) {
  SideThread thread(nullptr, [](SideThread&) { throw std::runtime_error("no"); });
  EXPECT_THROW(thread.finish(), std::runtime_error);
}

}  // namespace
}  // namespace sluice
