// GraphUse: what CUDA graphs a function has on a GPU, as its worker tells with every batch.
#pragma once
#include <cstdint>

namespace sluice {

struct GraphUse {
  std::uint32_t kept = 0;  // for numbers of rows, shapes and positions
  bool captured = false;   // one of them with this batch
  bool never = false;      // it cannot be recorded: it runs kernel by kernel for ever
  friend bool operator==(const GraphUse&, const GraphUse&) = default;
  void visit(auto& archive) { archive(kept, captured, never); }
};

}  // namespace sluice
