#include "worker/alarm.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

namespace sluice::worker {
namespace {

struct Sockets {
  Sockets() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0); }
  ~Sockets() {
    for (const int end : ends) ::close(end);
  }
  std::array<int, 2> ends{};
};

TEST(Alarm, LetsTheReaderGoOnlyWhenThereIsSomethingToRead) {
  Sockets sockets;
  Alarm alarm;
  std::atomic<bool> returned = false;
  std::thread reader([&] {
    alarm.sleep_until_readable(sockets.ends[0]);
    returned = true;
  });
  for (int i = 0; i < 2'000; ++i) {  // now asleep, now awake
    alarm.ring();
    ::usleep(i % 50 == 0 ? 1'000 : 0);
  }
  EXPECT_FALSE(returned);
  EXPECT_EQ(::send(sockets.ends[1], "x", 1, 0), 1);
  reader.join();
}

TEST(Alarm, WakesAReaderThatSleeps) {
  constexpr int kRings = 20;
  Sockets sockets;
  Alarm alarm;
  std::atomic<long> slept = 0;
  std::thread reader([&] {
    alarm.sleep_until_readable(sockets.ends[0]);
    rusage used{};
    ::getrusage(RUSAGE_THREAD, &used);
    slept = used.ru_nvcsw;
  });
  for (int i = 0; i < kRings; ++i) {
    ::usleep(5'000);  // by then it sleeps again, on all but the busiest machines
    alarm.ring();
  }
  ::usleep(5'000);
  EXPECT_EQ(::send(sockets.ends[1], "x", 1, 0), 1);
  reader.join();
  EXPECT_GE(slept, kRings / 2);
}

TEST(Alarm, NoticesTheEndOfTheOtherSide) {
  Sockets sockets;
  Alarm alarm;
  std::thread reader([&] { alarm.sleep_until_readable(sockets.ends[0]); });
  ::usleep(2'000);
  ::shutdown(sockets.ends[1], SHUT_RDWR);
  reader.join();
}

}  // namespace
}  // namespace sluice::worker
