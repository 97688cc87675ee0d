// Gather: the inputs of the members of a batch as a worker wants them: stacked, in one place. Where all members come in
// order from one batch before, they lie one after the other already and nothing is copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "data/arena.h"
#include "data/tensor.h"
#include "invoker/process_id.h"
#include "wire/messages.h"

namespace sluice::invoker {

struct Gathered {
  std::vector<wire::Placed> inputs;
  std::vector<data::Block> held;  // must live as long as the worker may read
  std::size_t copied = 0;         // bytes
};

// Members whose inputs have the same names, types and shapes, and so can be stacked: positions, oldest first.
[[nodiscard]] std::vector<std::vector<std::uint32_t>> stackable(std::span<const data::Tensors> members);

// How the error of an invocation begins that failed for want of memory, not by its own fault.
inline constexpr std::string_view kObjectStoreFull = "ObjectStoreFull";

// REQUIRES: all of one group of stackable(). An error if there is no room for the copy.
[[nodiscard]] Result<Gathered> gather(std::span<const data::Tensors* const> members, data::Arena& arena);
// The same for a worker on a GPU, which copies to its device anyway: rows that are apart stay where they are, and so
// does what this worker keeps.
[[nodiscard]] Gathered as_they_lie(std::span<const data::Tensors* const> members, ProcessId worker);

}  // namespace sluice::invoker
