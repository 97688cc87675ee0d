// Output space in ordinary memory.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace sluice::test {

class Memory : public engine::OutputSpace {
 public:
  explicit Memory(std::size_t most = 1 << 20) : most_(most) {}
  Result<std::span<std::byte>> take(std::size_t bytes) override {
    if (bytes > most_) return Error{ErrorCode::unavailable, "full"};
    bytes_.resize(bytes);
    return std::span(bytes_);
  }
  [[nodiscard]] std::size_t taken() const { return bytes_.size(); }
  [[nodiscard]] std::size_t offset(const engine::BatchTensor& output) const {
    return static_cast<std::size_t>(output.tensor.bytes.data() - bytes_.data());
  }

 private:
  std::size_t most_;
  std::vector<std::byte> bytes_;
};

inline std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace sluice::test
