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
  Progress(std::string what, std::uint64_t total);
  ~Progress();
  void add(std::uint64_t amount);

 private:
  void draw();
  std::string what_;
  std::uint64_t total_;
  std::atomic<std::uint64_t> done_ = 0;
  std::chrono::steady_clock::time_point start_, drawn_;
  std::mutex mutex_;
  bool terminal_;
};

}  // namespace sluice::cli
