#include "engine/torch_cuda_model.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <torch/csrc/jit/passes/frozen_conv_add_relu_fusion.h>
#include <torch/csrc/jit/runtime/graph_executor.h>

#include <utility>

#include "base/text.h"

namespace sluice::engine {

torch::jit::Module read_frozen(std::istream& file) {
  torch::jit::setGraphExecutorOptimize(true);  // see read_model() in torch_engine.cpp
  torch::jit::Module module = torch::jit::load(file, at::kCPU);
  if (module.hasattr("training")) {
    module.eval();
    module = torch::jit::freeze(module);
  }
  torch::jit::setGraphExecutorOptimize(false);
  return module;
}

// A convolution with the sum and the ReLU behind it becomes one kernel: ResNet-50 takes two thirds of the time.
Result<std::unique_ptr<TorchCudaModel>> TorchCudaModel::make(cuda::SharedGpu& gpu, const torch::jit::Module& frozen,
                                                             const TorchCall& call, WeightForm form,
                                                             std::optional<Bytes> most) {
  std::unique_ptr<TorchCudaModel> out(new TorchCudaModel(gpu, call, form));
  if (frozen.parameters().size() + frozen.buffers().size() > 0) {
    return Error{ErrorCode::invalid,
                 "it has tensors that cannot be frozen into its graph, so that it runs on CPUs only"};
  }
  out->module_ = frozen.clone();
  TorchWeights weights(out->module_, form, out->device());
  auto range = cuda::WeightRange::make(gpu.driver, gpu.handle, weights.bytes());
  if (!range) return range.error();
  if (const Bytes wanted(static_cast<std::int64_t>((*range)->reserved())); most && wanted > *most) {
    return Error{ErrorCode::too_large, str("its weights take ", cuda::in_megabytes(wanted),
                                           " of the GPU, and `memory:` says ", cuda::in_megabytes(*most))};
  }
  out->weights_ = std::move(*range);
  weights.pack(out->weights_->host());
  if (const Status placed = out->come_back(); !placed) return placed.error();
  weights.point_to(reinterpret_cast<void*>(out->weights_->address()));
  auto graph = out->module_.get_method("forward").graph();
  torch::jit::FuseFrozenConvAddRelu(graph);
  return out;
}

Status TorchCudaModel::come_back() {
  const auto whole = gpu_.slices->for_loads();
  if (!whole) return whole.error();
  Status placed = weights_->place((*whole)->stream);
  if (!placed && placed.error().code == ErrorCode::too_large) {  // there may be room that nobody uses
    c10::cuda::CUDACachingAllocator::emptyCache();
    placed = weights_->place((*whole)->stream);
  }
  if (!placed) return placed;
  return cuda::checked(gpu_.driver, gpu_.driver.cuStreamSynchronize((*whole)->stream), "the device");
}

Status TorchCudaModel::forward(const std::vector<TorchInput>& inputs, std::uint32_t rows,
                               std::vector<TorchOutput>& out) {
  std::vector<TorchInput> formed;
  for (const TorchInput& input : inputs) {
    TorchInput one{input.name, {}, {}};
    if (input.stacked.defined()) one.stacked = in_form(input.stacked, form_);
    for (const at::Tensor& row : input.rows) one.rows.push_back(row.defined() ? in_form(row, form_) : row);
    formed.push_back(std::move(one));
  }
  if (const Status ran = call_.forward(module_, formed, rows, out); !ran) return ran;
  for (TorchOutput& output : out) {
    // Where nothing is declared, callers see full precision whatever is used inside.
    if (call_.outputs().empty() && output.tensor.is_floating_point() && output.type != DataType::fp64)
      output.type = DataType::fp32;
    output.tensor = output.tensor.to(device(), *scalar_type(output.type)).contiguous();  // some are made on the CPU
  }
  return Done{};
}

}  // namespace sluice::engine
