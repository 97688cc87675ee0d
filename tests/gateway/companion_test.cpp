// Work that the server's thread does between its connections.
#include "gateway/companion.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "gateway/client.h"
#include "gateway/handlers.h"

namespace sluice::gateway {
namespace {

class CompanionTest : public testing::Test {
 protected:
  ~CompanionTest() override { ::close(bell_); }
  Companion companion() {
    return {.descriptor = bell_,
            .lend =
                [this](std::function<void()> soon) {
                  thread_ = std::this_thread::get_id();
                  soon_ = std::move(soon);
                },
            .work =
                [this] {
                  EXPECT_EQ(std::this_thread::get_id(), thread_);
                  std::uint64_t ignored = 0;
                  (void)!::read(bell_, &ignored, sizeof ignored);
                  ++worked_;
                  if (waiting_ != nullptr) reply(std::exchange(waiting_, nullptr), "from the companion");
                },
            .take_back = [this] { ++returned_; }};
  }
  void ring() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(bell_, &one, sizeof one), ssize_t{sizeof one});
  }

  int bell_ = ::eventfd(0, EFD_NONBLOCK);
  std::thread::id thread_;
  std::function<void()> soon_;
  Respond waiting_;
  std::atomic<int> worked_ = 0, returned_ = 0;
};

TEST_F(CompanionTest, WorksWheneverItsDescriptorIsReadable) {
  Calls handler(describe);
  const auto server = HttpServer::start({.listen = "127.0.0.1:0"}, handler, companion()).value();
  for (int i = 1; i <= 3; ++i) {
    ring();
    wait_until([&] { return worked_ >= i; });
  }
}

TEST_F(CompanionTest, WorksSoonForARequestOfTheSameThreadWithoutABell) {
  Calls handler([this](const Request&, const Respond& respond) {
    EXPECT_EQ(std::this_thread::get_id(), thread_);
    waiting_ = respond;
    soon_();
    soon_();  // once is enough
    EXPECT_EQ(worked_, 0);
  });
  const auto server = HttpServer::start({.listen = "127.0.0.1:0"}, handler, companion()).value();
  Client client(server->port());
  client.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.receive().body, "from the companion");
  server->stop(Duration::s(1));
  EXPECT_EQ(worked_, 1);
}

TEST_F(CompanionTest, IsGivenBackOnceWhenTheServerStops) {
  Calls handler(describe);
  auto server = HttpServer::start({.listen = "127.0.0.1:0", .threads = 3}, handler, companion()).value();
  server->stop(Duration());
  EXPECT_EQ(returned_, 1);
  server.reset();
  EXPECT_EQ(returned_, 1);
}

TEST_F(CompanionTest, IsNotTakenByAServerThatCannotListen) {
  Calls handler(describe);
  const auto first = serve(handler);
  EXPECT_FALSE(HttpServer::start({.listen = first->address()}, handler, companion()).ok());
  EXPECT_EQ(thread_, std::thread::id());
  EXPECT_EQ(returned_, 0);
}

}  // namespace
}  // namespace sluice::gateway
