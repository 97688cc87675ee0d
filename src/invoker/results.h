// Results: what a worker says it has made, checked, as tensors of the members of its batch. A worker may be broken or
// hostile: nothing outside of the space it was given is believed.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "data/arena.h"
#include "data/tensor.h"
#include "domain/function.h"
#include "wire/messages.h"

namespace sluice::invoker {

struct RowResult {
  std::string error;  // empty: succeeded
  data::Tensors outputs;
};

// What stands for an output that the worker has kept on its GPU; null: it cannot have.
using KeepOutput = std::function<std::shared_ptr<data::Kept>(const wire::Placed&)>;

// One result a row. An error if the answer as a whole makes no sense: then the worker is not to be trusted any more; it
// says what the worker did ("answered for other rows").
[[nodiscard]] Result<std::vector<RowResult>> results_of(const wire::Ran& ran, std::uint32_t rows,
                                                        const data::Block& space, const Function& function,
                                                        const KeepOutput& keep = {});

}  // namespace sluice::invoker
