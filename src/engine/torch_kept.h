// Outputs that stay on the GPU for the stages after them: copies in memory of libtorch's allocator, which keeps to what
// the worker may take. What a graph leaves is in its pool, where the next graph of the same position writes.
#pragma once
#include "engine/torch_graph.h"

#include <memory>

namespace sluice::engine {

// Puts a copy of the first `bytes` of `from` on the lane's stream. Null: it is small, or there is no room for it.
// REQUIRES: gpu.quiet is not held by this thread. The copy is used once the lane has waited.
[[nodiscard]] Result<std::shared_ptr<const KeptOutput>> kept_copy(const at::Tensor& from, std::size_t bytes,
                                                                  const TorchLane& lane);

}  // namespace sluice::engine
