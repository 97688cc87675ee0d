#include "engine/torch_weights.h"

#include <torch/csrc/jit/ir/ir.h>

#include <cstring>

namespace sluice::engine {
namespace {

constexpr std::size_t kAlignment = 512;  // as libtorch's own allocator has it

at::Tensor converted(const at::Tensor& tensor, const WeightForm& form) {
  at::Tensor out = tensor.is_floating_point() ? tensor.to(form.precision) : tensor;
  return out.dim() == 4 && form.channels_last ? out.contiguous(at::MemoryFormat::ChannelsLast) : out.contiguous();
}

}  // namespace

at::Tensor in_form(const at::Tensor& input, const WeightForm& form) {
  const bool last = input.dim() == 4 && form.channels_last;
  if (!input.is_floating_point()) return last ? input.contiguous(at::MemoryFormat::ChannelsLast) : input;
  const auto format = last ? at::MemoryFormat::ChannelsLast : at::MemoryFormat::Contiguous;
  return input.to(form.precision, false, false, format);  // both at once
}

TorchWeights::TorchWeights(torch::jit::Module& module, WeightForm form, at::Device device)
    : form_(form), device_(device) {
  find(module.get_method("forward").graph()->block());
}

void TorchWeights::find(torch::jit::Block* block) {
  namespace attr = torch::jit::attr;
  for (torch::jit::Node* node : block->nodes()) {
    for (torch::jit::Block* inner : node->blocks()) find(inner);
    if (node->kind() != torch::jit::prim::Constant || !node->hasAttribute(attr::value)) continue;
    if (node->output()->type()->kind() == c10::TypeKind::DeviceObjType) {
      node->s_(attr::value, device_.str());
      continue;
    }
    if (node->kindOf(attr::value) != torch::jit::AttributeKind::t) continue;
    const at::Tensor tensor = node->t(attr::value);
    if (tensor.dim() == 0) continue;  // a number: it goes with the kernel that uses it
    Weight weight{.constant = node, .tensor = converted(tensor, form_), .offset = bytes_};
    bytes_ += (weight.tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
    weights_.push_back(std::move(weight));
  }
}

void TorchWeights::pack(std::span<std::byte> to) const {
  for (const Weight& weight : weights_)
    std::memcpy(to.data() + weight.offset, weight.tensor.data_ptr(), weight.tensor.nbytes());
}

void TorchWeights::point_to(void* address) {
  for (Weight& weight : weights_) {
    const auto options = weight.tensor.options().device(device_);
    at::Tensor placed = at::from_blob(
        static_cast<std::byte*>(address) + weight.offset, weight.tensor.sizes(), weight.tensor.strides(), [](void*) {},
        options);
    weight.constant->t_(torch::jit::attr::value, placed);
    weight.tensor = std::move(placed);
  }
}

}  // namespace sluice::engine
