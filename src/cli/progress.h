// A bar with an estimate of the time left, on a terminal only. May be told from several threads.
#pragma once
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace sluice::cli {

class Progress {
 public:
  Progress(std::string what, std::uint64_t total);  // 0: expect() says it later
  ~Progress();
  void add(std::uint64_t amount);
  void say(std::string what);                          // what is being done now; drawn at once
  void expect(std::uint64_t more) { total_ += more; }  // there is more to do

 private:
  void draw();
  std::string what_;
  std::atomic<std::uint64_t> total_, done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
  std::mutex mutex_;
  bool terminal_;
};

}  // namespace sluice::cli
