#include "engine/torch_tune.h"

#include <ATen/Functions.h>
#include <c10/cuda/CUDACachingAllocator.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <utility>

#include "engine/torch_graph.h"

namespace sluice::engine {
namespace {

constexpr double kUnknown = 1e9;        // milliseconds, of what cannot be recorded
constexpr std::uint32_t kCompared = 2;  // rows of which answers are compared: a CPU takes long
constexpr std::uint32_t kTimed =
    8;  // rows that are timed: few enough for what is small, enough to show what layouts are worth

// Of the CPU, or of the GPU. Nothing: some inputs are not declared, or have no fixed shape.
std::optional<std::vector<TorchInput>> made_up(const TorchCall& call, std::uint32_t rows) {
  std::vector<TorchInput> out;
  if (call.inputs().empty()) return std::nullopt;
  for (const Port& port : call.inputs()) {
    const auto type = scalar_type(port.type);
    if (!type || std::ranges::any_of(port.shape, [](std::int64_t length) { return length <= 0; })) return std::nullopt;
    std::vector<std::int64_t> shape(port.shape);
    shape.insert(shape.begin(), rows);
    // Whole numbers are often indices: 0 and 1 are in every table, and rows differ. Bytes are pictures.
    const double most = at::isFloatingType(*type) ? 1 : port.type == DataType::uint8 ? 256 : 2;
    out.push_back({port.name, (at::rand(shape) * most).to(*type), {}});
  }
  return out;
}

std::vector<TorchInput> on(const at::Device& device, const std::vector<TorchInput>& inputs) {
  std::vector<TorchInput> out;
  for (const TorchInput& input : inputs) out.push_back({input.name, input.stacked.to(device), {}});
  return out;
}

std::vector<TorchInput> first_row(const std::vector<TorchInput>& inputs) {
  std::vector<TorchInput> out;
  for (const TorchInput& input : inputs) out.push_back({input.name, input.stacked.narrow(0, 0, 1), {}});
  return out;
}

// How far from what is right: the L2 norm of the difference by that of what is right. Infinite where sizes differ, or
// one is a number and the other is not.
double distance(const std::vector<TorchOutput>& right, const std::vector<TorchOutput>& seen) {
  constexpr double kFar = std::numeric_limits<double>::infinity();
  if (right.size() != seen.size()) return kFar;
  double worst = 0;
  for (std::size_t i = 0; i < right.size(); ++i) {
    at::Tensor a = right[i].tensor.to(at::kDouble), b = seen[i].tensor.to(at::kCPU).to(at::kDouble);
    if (a.sizes() != b.sizes()) return kFar;
    const at::Tensor numbers = a.isfinite();
    if (!numbers.equal(b.isfinite())) return kFar;
    a = a.where(numbers, at::zeros_like(a));
    b = b.where(numbers, at::zeros_like(b));
    worst = std::max(worst, (a - b).norm().item<double>() / std::max(a.norm().item<double>(), 1e-12));
  }
  return worst;
}

std::vector<WeightForm> candidates(const GpuForm& wanted) {
  std::vector<WeightForm> out;
  const auto add = [&](at::ScalarType precision) {
    if (wanted.layout != MemoryLayout::channels_first) out.push_back({precision, true});
    if (wanted.layout != MemoryLayout::channels_last) out.push_back({precision, false});
  };
  if (wanted.precision == Precision::bf16) add(at::kBFloat16);
  if (wanted.precision == Precision::best || wanted.precision == Precision::fp16) add(at::kHalf);
  if (wanted.precision == Precision::best || wanted.precision == Precision::fp32) add(at::kFloat);
  return out;
}

// As many rows as are timed, the same ones again and again.
TorchGraph::Fill filled_with(const std::vector<TorchInput>& inputs) {
  return [&inputs](const std::vector<TorchInput>& to) -> Status {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      for (std::int64_t row = 0; row < kTimed; row += kCompared)
        to[i].stacked.narrow(0, row, kCompared).copy_(inputs[i].stacked);
    }
    return Done{};
  };
}

// Milliseconds of the device; nothing: it fails, or is too far off. What it leaves is gone when it returns.
std::optional<double> judged(TorchCudaModel& model, const std::vector<TorchInput>& inputs,
                             const std::vector<TorchOutput>& right, bool given, TorchLane& lane) {
  constexpr double kTooFar = 2e-2;
  constexpr int kTimes = 10;
  {
    const std::shared_lock others(model.gpu().quiet);
    std::vector<TorchOutput> seen;
    const Status ran = model.forward(on(model.device(), inputs), kCompared, seen);
    if (!lane.lane.wait() || !ran) return std::nullopt;
    if (!given && !(distance(right, seen) <= kTooFar)) return std::nullopt;
  }
  InputShapes shapes;
  for (const TorchInput& input : inputs)
    shapes.push_back({input.name, *data_type(input.stacked.scalar_type()), input.stacked.sizes().vec()});
  for (InputShape& input : shapes) input.shape.front() = kTimed;
  const std::unique_lock alone(model.gpu().quiet);
  const auto graph = TorchGraph::capture(model, shapes, kTimed, filled_with(inputs), lane);
  if (!graph || *graph == nullptr) return lane.lane.wait() ? std::optional(kUnknown) : std::nullopt;
  double least = kUnknown;
  for (int i = 0; i < kTimes; ++i) {
    const auto took = (*graph)->replay_alone(lane);
    if (!took) return std::nullopt;
    least = std::min(least, took->to_ms());
  }
  return least;
}

Result<std::unique_ptr<TorchCudaModel>> made(cuda::SharedGpu& gpu, const torch::jit::Module& frozen,
                                             const TorchCall& call, WeightForm form, std::optional<Bytes> most) {
  const std::shared_lock others(gpu.quiet);
  return TorchCudaModel::make(gpu, frozen, call, form, most);
}

}  // namespace

GpuForm form_of(const WeightForm& form) {
  const Precision precision = form.precision == at::kHalf       ? Precision::fp16
                              : form.precision == at::kBFloat16 ? Precision::bf16
                                                                : Precision::fp32;
  return {precision, form.channels_last ? MemoryLayout::channels_last : MemoryLayout::channels_first};
}

Result<Tuned> tuned(cuda::SharedGpu& gpu, torch::jit::Module& frozen, const TorchCall& call, const GpuForm& wanted,
                    std::optional<Bytes> most) {
  const auto forms = candidates(wanted);
  const auto lane = TorchLane::of_this_thread(gpu, cuda::Slices::kForLoads);
  if (!lane) return lane.error();
  const auto inputs = wanted.known() && wanted.checked ? std::nullopt : made_up(call, kCompared);
  Tuned out{.model = {}, .rows_apart = wanted.rows_apart, .checked = wanted.checked};
  std::vector<TorchOutput> right, alone, first;
  // What a CPU cannot do with made-up inputs says nothing about real ones.
  const bool comparable = inputs && call.forward(frozen, *inputs, kCompared, right).ok() &&
                          call.forward(frozen, first_row(*inputs), 1, alone).ok();
  if (comparable) {
    for (const TorchOutput& output : right)
      first.push_back({output.name, output.row, output.type, output.tensor.narrow(0, 0, 1)});
    out.rows_apart = distance(first, alone) > 1e-3;
    out.checked = true;
  }
  if (!comparable || wanted.known()) {  // nothing is left to be found out
    auto model = made(gpu, frozen, call, wanted.precision == Precision::best ? forms.back() : forms.front(), most);
    if (!model) return model.error();
    out.model = std::move(*model);
    return out;
  }
  const bool given = wanted.precision != Precision::best;
  double best = std::numeric_limits<double>::infinity();
  for (const WeightForm& form : forms) {
    if (out.model != nullptr && form.precision == at::kFloat && !given) break;  // half is fast and close enough
    auto model = made(gpu, frozen, call, form, most);
    if (!model) return model.error();
    const auto took = judged(**model, *inputs, right, given || form.precision == at::kFloat, **lane);
    const std::unique_lock quietly(gpu.quiet);  // one of two goes
    if (took && *took < best) {
      best = *took;
      out.model = std::move(*model);
    }
    model->reset();
    c10::cuda::CUDACachingAllocator::emptyCache();
  }
  if (out.model != nullptr) return out;
  return Error{ErrorCode::invalid, "it fails on a GPU with inputs that were made up from what is declared"};
}

}  // namespace sluice::engine
