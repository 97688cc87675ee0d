// KeptOutputs: what a worker keeps on its GPU for batches to come, by its place in the arena, which is granted to
// nobody else until the server has released it. Any thread.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "engine/kept_output.h"
#include "wire/messages.h"

namespace sluice::worker {

class KeptOutputs {
 public:
  using Output = std::shared_ptr<const engine::KeptOutput>;
  struct Kept {
    std::uint64_t size = 0;
    Output output;  // null: nothing is kept there
  };
  struct Part {
    Output output;           // null: nothing is kept there
    std::size_t within = 0;  // where the part begins
  };

  // False: some of this place is that of another one.
  [[nodiscard]] bool add(const wire::Space& place, Output output);
  // What holds all of this place: rows lie inside of what was kept as a whole.
  [[nodiscard]] Part holding(const wire::Space& place) const;
  // What begins there.
  [[nodiscard]] Kept at(std::uint64_t offset) const;
  // Forgets and returns what begins there; null: nothing.
  [[nodiscard]] Output take(std::uint64_t offset);

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Kept> kept_;  // guarded by mutex_; by offset, none of them overlap
};

}  // namespace sluice::worker
