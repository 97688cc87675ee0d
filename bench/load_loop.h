// Load on an HTTP server from one thread, with plain sockets and epoll, so that it costs little beside the server.
// Closed loop: every connection asks again as soon as it is answered. Open loop: requests leave at a rate whatever the
// answers do, each on a connection that is idle; latency counts from when a request was due. For http_load.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "bench/load_figures.h"

namespace sluice::bench {

struct LoadOptions {
  std::string host = "127.0.0.1", target = "/v2/health/live", body, headers;
  std::uint16_t port = 8000;
  std::size_t connections = 64;        // open from the beginning
  std::size_t connections_max = 4096;  // open loop: none idle opens another one, up to so many; then requests wait
  double seconds = 5, warmup = 0.5;
  double drain = 2;       // open loop: seconds in which what was asked may still be answered
  double rate = 0;        // a second; 0: closed loop
  bool poisson = false;   // open loop: gaps drawn from an exponential distribution, always the same ones
  double slo_ms = 0;      // 0: none
  std::vector<int> pids;  // of the server, for its CPU time
  bool json = false;
};

class LoadLoop {
 public:
  explicit LoadLoop(const LoadOptions& options);
  ~LoadLoop();
  LoadLoop(const LoadLoop&) = delete;
  LoadLoop& operator=(const LoadLoop&) = delete;

  // False, told on stderr: the server cannot be reached, or hung up.
  [[nodiscard]] bool run();

 private:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int socket = -1;
    std::string in;
    std::size_t unsent = 0;  // bytes of its request
    Clock::time_point due;   // of the request that is under way
  };

  [[nodiscard]] bool open_one();
  void ask(std::size_t connection, Clock::time_point due);
  void send(Connection& connection);
  [[nodiscard]] bool ask_what_is_due(Clock::time_point now);
  [[nodiscard]] bool wait(Clock::time_point now, Clock::time_point until);
  [[nodiscard]] bool take(std::size_t connection);
  void note(int status, Clock::time_point due, Clock::time_point now);
  void now_idle(std::size_t connection, Clock::time_point now);
  [[nodiscard]] std::vector<double> server_cpu() const;

  LoadOptions options_;
  int epoll_;
  std::string request_;
  std::vector<Connection> connections_;
  std::vector<std::size_t> idle_;          // the last one is asked next
  std::deque<Clock::time_point> waiting_;  // due, but no connection is idle
  LoadFigures figures_;
  std::mt19937_64 draws_;
  Clock::time_point next_due_, from_, end_;
  std::uint64_t asked_ = 0, answered_ = 0;  // of those that count
};

}  // namespace sluice::bench
