// The batch dimension of inputs that nobody declares. Used by the gateway for requests and by Sample.
#pragma once
#include <algorithm>

#include "data/tensor.h"

namespace sluice::live {

// Only a leading 1 can be told from the dimensions of one item, so that is the rule: if every input has one, it is the
// batch dimension and is taken off those that have further dimensions; [1] and [] stay as they are. True if any was.
// Caveat: an item whose own first dimension is 1, as a grey picture [1, H, W], has to be sent with a batch dimension,
// or declared.
[[nodiscard]] inline bool take_batch_dimension_off(data::Tensors& inputs) {
  const auto leads = [](const data::Tensor& tensor) {
    return tensor.info.shape.empty() || tensor.info.shape.front() == 1;
  };
  if (!std::ranges::all_of(inputs, leads)) return false;
  bool any = false;
  for (data::Tensor& tensor : inputs) {
    if (tensor.info.shape.size() < 2) continue;
    tensor.info.shape.pop_front();
    any = true;
  }
  return any;
}

}  // namespace sluice::live
