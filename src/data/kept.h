// Kept: the bytes of a stretch of an arena that a worker has left in the memory of its GPU. Tensors of them share it;
// when the last one goes, whoever made it hears of that, in whichever thread it happens, and the worker may forget
// them.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "data/arena.h"
#include "domain/ids.h"

namespace sluice::data {

struct KeptPlace {
  std::uint64_t keeper = 0;            // number of the worker process
  InvokerId invoker;                   // where that is
  Block space;                         // the bytes are inside of it, once they were fetched
  std::uint64_t offset = 0, size = 0;  // in the arena
};

class Kept {
 public:
  using Gone = std::function<void(KeptPlace)>;
  Kept(KeptPlace place, Gone gone) : place_(std::move(place)), gone_(std::move(gone)) {}
  ~Kept() { gone_(std::move(place_)); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  [[nodiscard]] const KeptPlace& place() const { return place_; }
  // Whether the arena has the bytes as well.
  [[nodiscard]] bool fetched() const { return state_ == State::fetched; }
  // Whether the worker is gone, and nobody has them.
  [[nodiscard]] bool lost() const { return state_ == State::lost; }
  void note_fetched() { state_ = State::fetched; }
  void note_lost() {
    State expected = State::on_device;
    (void)state_.compare_exchange_strong(expected, State::lost);
  }

 private:
  enum class State : std::uint8_t { on_device, fetched, lost };
  KeptPlace place_;
  Gone gone_;
  std::atomic<State> state_ = State::on_device;
};

}  // namespace sluice::data
