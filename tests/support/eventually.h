// Waiting for what another thread or process does, with an end to it: a test that would wait for ever fails instead.
#pragma once
#include <chrono>
#include <functional>
#include <thread>

namespace sluice::test {

// True as soon as `holds` is true; false if that takes half a minute, more than any busy machine needs.
[[nodiscard]] inline bool eventually(const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace sluice::test
