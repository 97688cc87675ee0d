// What the threads of one server share, and one of them with its connections. Internal to the server.
#pragma once
#include <atomic>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include "gateway/body_buffer.h"
#include "gateway/companion.h"
#include "gateway/http_server.h"
#include "invoker/task_thread.h"

namespace sluice::gateway {

// Concrete executors: the type-erased default costs an allocation per operation.
using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using Clock = std::chrono::steady_clock;
using Timer =
    boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, boost::asio::io_context::executor_type>;

class Connection;

struct ServerShared {
  ServerShared(ServerOptions o, bool l, Handler& h, Companion c)
      : options(std::move(o)), local(l), handler(h), companion(std::move(c)), bodies(options.bodies_bytes_max) {}
  const ServerOptions options;
  const bool local;  // only this machine can reach it
  Handler& handler;  // not used any more once the server has stopped
  const Companion companion;
  ByteBudget bodies;
  // Serves what would hold up others (large_request.h); stopped by the server.
  invoker::TaskThread large{invoker::TaskThread::Tasks::large};
  std::atomic<std::size_t> connections = 0;
};

// One thread: an event loop, its connections and their timeouts. Kept alive by its connections, since answers may come
// after the server is gone. All functions but stop(), close_all(), ended() and context() in its own thread.
class IoThread {
 public:
  IoThread(std::shared_ptr<ServerShared> shared, bool with_companion);

  [[nodiscard]] boost::asio::io_context& context() { return context_; }
  [[nodiscard]] ServerShared& shared() { return *shared_; }
  // As of the last look at the clock, at most one tick ago.
  [[nodiscard]] Clock::time_point now() const { return now_; }
  [[nodiscard]] bool stopping() const { return stopping_; }
  [[nodiscard]] bool ended() const { return ended_; }  // run() has returned: nothing posted will happen
  // Until stopped and the last connection is gone.
  void run();
  void add(std::shared_ptr<Connection> connection);
  void remove(const std::shared_ptr<Connection>& connection);

  void stop();       // connections without a request end now, others after it
  void close_all();  // now

 private:
  void tick();
  void finish_if_empty();
  [[nodiscard]] std::vector<std::shared_ptr<Connection>> all() const;

  std::shared_ptr<ServerShared> shared_;
  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::optional<CompanionWork> companion_;
  Timer timer_;
  Clock::duration period_;
  Clock::time_point now_ = Clock::now();
  bool stopping_ = false;
  std::atomic<bool> ended_ = false;
  std::unordered_set<std::shared_ptr<Connection>> connections_;
};

}  // namespace sluice::gateway
