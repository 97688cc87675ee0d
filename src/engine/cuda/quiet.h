// Quiet: a lock for many or one. Who wants it alone is not kept waiting by those who come after: that the system's own
// is fair is nowhere promised.
#pragma once
#include <mutex>
#include <shared_mutex>

namespace sluice::engine::cuda {

class Quiet {
 public:
  void lock() {
    const std::lock_guard gate(gate_);
    inner_.lock();
  }
  void unlock() { inner_.unlock(); }
  void lock_shared() {
    const std::lock_guard gate(gate_);
    inner_.lock_shared();
  }
  void unlock_shared() { inner_.unlock_shared(); }

 private:
  std::mutex gate_;  // held by who waits to be alone
  std::shared_mutex inner_;
};

}  // namespace sluice::engine::cuda
