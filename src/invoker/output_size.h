// OutputSize: how much space to grant for the outputs of a function before it asks. What is declared is exact; where
// nothing is, what came lately is a guess. A guess that is too small costs a message each way; one that is too large
// costs fresh pages for every batch: after one answer of 60 MiB a function that copies small texts ran 200 times slower
// for ever. So a guess halves with every batch that needs less, and is never large.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice::invoker {

class OutputSize {
 public:
  static constexpr std::size_t kLeast = 4096, kGuessMost = std::size_t{1} << 20;

  // Bytes of a row as declared; 0: not declared, or not of a fixed size.
  explicit OutputSize(std::size_t declared = 0) : declared_(declared) {}

  [[nodiscard]] std::size_t space_for(std::uint32_t rows) const {
    return std::max({kLeast, with_spare(declared_ * rows), std::min(with_spare(recent_ * rows), kGuessMost)});
  }
  // The largest row of a batch that is over.
  void seen(std::size_t row_bytes) { recent_ = std::max(row_bytes, recent_ / 2); }

 private:
  static std::size_t with_spare(std::size_t bytes) { return bytes + bytes / 4; }
  std::size_t declared_, recent_ = 0;
};

}  // namespace sluice::invoker
