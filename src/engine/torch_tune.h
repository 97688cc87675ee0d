// In which form a network computes on a GPU: what is fastest of those whose answers are close enough to those of the
// CPU in full precision. Measured with inputs that are made up from what the function declares.
#pragma once
#include "engine/torch_cuda_model.h"

#include "domain/gpu_form.h"

namespace sluice::engine {

struct Tuned {
  std::unique_ptr<TorchCudaModel> model;
  bool rows_apart = false;  // its rows influence each other: they must not be batched
  bool checked = false;     // whether they do
};

// `wanted` where it says more than `best`; nothing is measured where it says all. Without declared inputs of fixed
// shapes nothing can be measured: then it is full precision unless the document says otherwise. `most`: that its
// weights may take. REQUIRES: the thread is that of loads.
[[nodiscard]] Result<Tuned> tuned(cuda::SharedGpu& gpu, torch::jit::Module& frozen, const TorchCall& call,
                                  const GpuForm& wanted, std::optional<Bytes> most);

[[nodiscard]] GpuForm form_of(const WeightForm& form);

}  // namespace sluice::engine
