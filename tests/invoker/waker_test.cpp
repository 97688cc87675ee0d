#include "invoker/waker.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "data/clock.h"

namespace sluice::invoker {
namespace {

class WakerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(waker_.start().ok()); }
  [[nodiscard]] bool would_wake() const {
    pollfd readable{.fd = waker_.descriptor(), .events = POLLIN, .revents = 0};
    return ::poll(&readable, 1, 0) == 1;
  }
  std::vector<std::uint64_t> take() {
    std::array<std::uint64_t, 8> keys{};
    const std::size_t count = waker_.take(keys);
    return {keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  Waker waker_;
};

TEST_F(WakerTest, TellsWhichDescriptorsAreReadable) {
  std::array<int, 2> one{}, other{};
  ASSERT_EQ(::pipe(one.data()), 0);
  ASSERT_EQ(::pipe(other.data()), 0);
  waker_.watch(one[0], 7);
  waker_.watch(other[0], 8);
  EXPECT_FALSE(would_wake());
  ASSERT_EQ(::write(other[1], "x", 1), 1);
  EXPECT_TRUE(would_wake());
  EXPECT_EQ(take(), std::vector<std::uint64_t>{8});
  for (const int descriptor : {one[0], one[1], other[0], other[1]}) ::close(descriptor);
}

// A process that is being made has such a copy for a moment.
TEST_F(WakerTest, ForgetsADescriptorOfWhichSomebodyHasACopy) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int copy = ::dup(ends[0]);
  waker_.watch(ends[0], 7);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  waker_.forget(ends[0]);
  ::close(ends[0]);
  EXPECT_FALSE(would_wake());
  ::close(copy);
  ::close(ends[1]);
}

TEST_F(WakerTest, TheBellIsHeardByWhoListensAndCostsOthersNothing) {
  waker_.ring();
  EXPECT_FALSE(would_wake());
  waker_.listen(Time::max());
  waker_.ring();
  EXPECT_TRUE(would_wake());
  EXPECT_TRUE(take().empty());
  EXPECT_FALSE(would_wake());
  waker_.ring();  // whoever took is awake
  EXPECT_FALSE(would_wake());
}

TEST_F(WakerTest, WaitsForABellFromAnotherThread) {
  waker_.listen(Time::max());
  std::thread other([&] { waker_.ring(); });
  waker_.wait();
  other.join();
  EXPECT_TRUE(would_wake());
}

TEST_F(WakerTest, WakesAtTheTimeAndAtASoonerOne) {
  const Time began = data::now();
  waker_.listen(began + Duration::s(3'000));
  waker_.listen(began + Duration::ms(2));
  waker_.wait();
  EXPECT_GE(data::now(), began + Duration::ms(2));
  EXPECT_TRUE(take().empty());
  EXPECT_FALSE(would_wake());
}

TEST_F(WakerTest, ATimeThatHasPassedWakesAtOnce) {
  waker_.listen(data::now() - Duration::s(1));
  waker_.wait();
  EXPECT_TRUE(take().empty());
}

// Setting the timer is left out when it is set for sooner: the wait may end early, never late.
TEST_F(WakerTest, WakesNoLaterThanAnEarlierWishEvenIfALaterOneFollows) {
  const Time began = data::now();
  waker_.listen(began + Duration::ms(2));
  waker_.listen(began + Duration::ms(4));
  waker_.wait();
  (void)take();
  waker_.listen(began + Duration::ms(4));
  waker_.wait();
  EXPECT_GE(data::now(), began + Duration::ms(4));
}

}  // namespace
}  // namespace sluice::invoker
