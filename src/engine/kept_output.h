// Outputs that stay in the memory of a GPU for the stages after them, and how much they may take there together.
// Engines make and read them; a worker (worker/kept_outputs.h) knows them by their place in the arena.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"

namespace sluice::engine {

// Never changed once its batch is answered. Its memory is free when the last holder lets go, in whichever thread.
class KeptOutput {
 public:
  virtual ~KeptOutput() = default;
  // As every engine of the same device takes it.
  [[nodiscard]] virtual std::uintptr_t address() const = 0;
  // Copies all of it to memory of the machine, and waits for that. Any thread. REQUIRES: `to` is as large as it is.
  [[nodiscard]] virtual Status copy_to(std::span<std::byte> to) const = 0;
};

// Any thread.
class KeptBudget {
 public:
  explicit KeptBudget(Bytes most) : most_(static_cast<std::size_t>(most.count())) {}
  // Part of a GPU with that much memory, so little that nobody has to book it.
  [[nodiscard]] static Bytes part_of(Bytes memory) {
    constexpr Bytes kMost(std::int64_t{1} << 30);
    return std::min(kMost, Bytes(memory.count() / 100));
  }

  // What one output takes, given back when it goes.
  class Share {
   public:
    Share(KeptBudget& of, std::size_t bytes) : of_(&of), bytes_(bytes) {}
    Share(Share&& other) noexcept : of_(std::exchange(other.of_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (of_ != nullptr) of_->used_ -= bytes_;
    }

   private:
    KeptBudget* of_;
    std::size_t bytes_;
  };
  // Nothing: it would be too much. The budget must outlive the share.
  [[nodiscard]] std::optional<Share> take(std::size_t bytes) {
    std::size_t used = used_;
    do {
      if (bytes > most_ - used) return std::nullopt;
    } while (!used_.compare_exchange_weak(used, used + bytes));
    return Share(*this, bytes);
  }

 private:
  std::size_t most_;
  std::atomic<std::size_t> used_ = 0;  // never more than most_
};

}  // namespace sluice::engine
