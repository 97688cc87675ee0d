#include "engine/torch_graph.h"

#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAStream.h>

#include <algorithm>

#include "engine/torch_kept.h"

namespace sluice::engine {

Result<TorchLane*> TorchLane::of_this_thread(cuda::SharedGpu& gpu, std::uint64_t position) {
  thread_local std::unique_ptr<TorchLane> own;
  const auto lane = cuda::Lane::of_this_thread(*gpu.slices, position);
  if (!lane) return lane.error();
  if (own == nullptr) {
    own = std::make_unique<TorchLane>(TorchLane{**lane, gpu, at::cuda::graph_pool_handle(), nullptr});
    const auto stream = reinterpret_cast<cudaStream_t>((*lane)->stream());
    c10::cuda::setCurrentCUDAStream(
        c10::cuda::getStreamFromExternal(stream, static_cast<c10::DeviceIndex>(gpu.number)));
  }
  return own.get();
}

std::optional<InputShapes> shapes_of(const Batch& batch, const std::vector<Port>& declared) {
  InputShapes out;
  std::vector<std::vector<bool>> seen;  // of each input its rows
  for (const BatchTensor& brought : batch.inputs) {
    const data::TensorView& view = brought.tensor;
    const std::int32_t row = brought.row;
    if (!declared.empty() && std::ranges::find(declared, view.info.name, &Port::name) == declared.end()) continue;
    std::vector<std::int64_t> shape(view.info.shape.begin(), view.info.shape.end());
    if (row != kAllRows) shape.insert(shape.begin(), batch.rows);
    auto known = std::ranges::find(out, view.info.name, &InputShape::name);
    if (known == out.end()) {
      if (!scalar_type(view.info.type)) return std::nullopt;
      known = out.insert(out.end(), {view.info.name, view.info.type, std::move(shape)});
      seen.emplace_back(batch.rows);
    } else if (known->type != view.info.type || known->shape != shape) {
      return std::nullopt;
    }
    std::vector<bool>& rows = seen[static_cast<std::size_t>(known - out.begin())];
    if (row == kAllRows) {
      rows.assign(batch.rows, true);
    } else {
      rows[static_cast<std::size_t>(row)] = true;
    }
  }
  const auto whole = [](const std::vector<bool>& rows) { return std::ranges::find(rows, false) == rows.end(); };
  return out.size() >= declared.size() && std::ranges::all_of(seen, whole) ? std::optional(std::move(out))
                                                                           : std::nullopt;
}

namespace {

// Whatever came of it, nothing is being recorded afterwards. False: nothing was.
bool end_capture(at::cuda::CUDAGraph& graph, const at::Device& device, at::cuda::MempoolId_t pool) {
  try {
    graph.capture_end();
    return true;
  } catch (const std::exception& exception) {
    (void)torch_error(exception);
  }
  // One of them may have ended already, which is an error to them.
  try {
    c10::cuda::CUDACachingAllocator::endAllocateToPool(device.index(), pool);
  } catch (const std::exception&) {
  }
  try {
    at::getHostAllocator(at::kCUDA)->end_allocate_to_pool(pool);
  } catch (const std::exception&) {
  }
  return false;
}

// False: there is none, and the pool cannot be used.
bool make_anchor(TorchLane& lane, const at::Device& device) {
  auto anchor = std::make_unique<at::cuda::CUDAGraph>();
  at::Tensor something = at::zeros({1}, at::TensorOptions(at::kFloat).device(device));
  anchor->capture_begin(lane.pool, cudaStreamCaptureModeThreadLocal);
  something.add_(1);
  if (!end_capture(*anchor, device, lane.pool)) return false;
  lane.anchor = std::move(anchor);
  return true;
}

}  // namespace

Result<std::unique_ptr<TorchGraph>> TorchGraph::capture(TorchCudaModel& model, const InputShapes& shapes,
                                                        std::uint32_t rows, const Fill& fill, TorchLane& lane) {
  constexpr int kWarmUps = 3;  // libraries take their workspaces then
  if (lane.anchor == nullptr && !make_anchor(lane, model.device())) return std::unique_ptr<TorchGraph>();
  auto out = std::make_unique<TorchGraph>();
  for (const InputShape& input : shapes) {
    const auto options = at::TensorOptions(*scalar_type(input.type)).device(model.device());
    out->inputs_.push_back({input.name, at::zeros(input.shape, options), {}});
  }
  if (const Status filled = fill(out->inputs_); !filled) return filled.error();
  for (int i = 0; i < kWarmUps; ++i) {
    std::vector<TorchOutput> outputs;
    if (const Status warmed = model.forward(out->inputs_, rows, outputs); !warmed) return warmed.error();
  }
  if (const Status done = lane.lane.wait(); !done) return done.error();
  c10::cuda::CUDACachingAllocator::emptyCache();  // what warming up took is not there twice
  const auto recorded = out->record(model, rows, lane);
  if (!recorded) return recorded.error();
  if (!*recorded) out.reset();
  return out;
}

Result<bool> TorchGraph::record(TorchCudaModel& model, std::uint32_t rows, const TorchLane& lane) {
  Status ran = Done{};
  graph_.capture_begin(lane.pool, cudaStreamCaptureModeThreadLocal);
  try {
    ran = model.forward(inputs_, rows, outputs_);
  } catch (const std::exception& exception) {
    ran = torch_error(exception);
  }
  const bool ended = end_capture(graph_, model.device(), lane.pool);
  if (!ran && ran.error().code == ErrorCode::too_large) return ran.error();
  return ended && ran.ok();
}

Status copy_in(const Batch& batch, const std::vector<TorchInput>& to, cuda::Lane& lane) {
  for (const BatchTensor& brought : batch.inputs) {
    const data::TensorView& view = brought.tensor;
    const std::int32_t row = brought.row;
    if (view.bytes.empty()) continue;
    const auto input = std::ranges::find(to, view.info.name, &TorchInput::name);
    if (input == to.end()) continue;  // not declared
    const std::size_t before = row == kAllRows ? 0 : static_cast<std::size_t>(row) * view.bytes.size();
    const auto address = reinterpret_cast<CUdeviceptr>(input->stacked.data_ptr()) + before;
    const Status put = brought.kept == nullptr
                           ? lane.copy_in(address, view.bytes.data(), view.bytes.size())
                           : lane.copy_on_device(address, brought.kept->address() + brought.within, view.bytes.size());
    if (!put) return put;
  }
  return Done{};
}

Result<Outputs> TorchGraph::replay(const Batch& batch, TorchLane& lane, BatchContext& context) {
  if (const Status put = copy_in(batch, inputs_, lane.lane); !put) return put.error();
  if (const Status begun = lane.lane.begin(); !begun) return begun.error();
  graph_.replay();
  if (const Status ended = lane.lane.end(); !ended) return ended.error();
  auto out = copied(outputs_, lane, {.keep = batch.keep, .expected = expected_}, context);
  // Slept too long is slept for nothing: it falls at once, and rises slowly.
  if (out) expected_ = expected_ > Duration{} ? std::min(expected_ * 1.1, out->on_device) : out->on_device;
  return out;
}

Result<Duration> TorchGraph::replay_alone(TorchLane& lane) {
  if (const Status begun = lane.lane.begin(); !begun) return begun.error();
  graph_.replay();
  if (const Status ended = lane.lane.end(); !ended) return ended.error();
  if (const Status done = lane.lane.wait(); !done) return done.error();
  return lane.lane.measured();
}

Result<Outputs> copied(const std::vector<TorchOutput>& outputs, const TorchLane& on, CopyOut how,
                       BatchContext& context) {
  cuda::Lane& lane = on.lane;
  auto placed = place_outputs(outputs, context);
  if (!placed) return placed.error();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto bytes = (*placed)[i].tensor.bytes;
    if (bytes.empty()) continue;
    if (how.keep) {
      auto kept = kept_copy(outputs[i].tensor, bytes.size(), on);
      if (!kept) return kept.error();
      (*placed)[i].kept = std::move(*kept);
      if ((*placed)[i].kept != nullptr) continue;
    }
    const auto from = reinterpret_cast<CUdeviceptr>(outputs[i].tensor.data_ptr());
    if (const Status put = lane.copy_out(bytes.data(), from, bytes.size()); !put) return put.error();
  }
  if (const Status done = lane.wait(how.expected, [&] { context.nearly_done(); }); !done) return done.error();
  return Outputs{.tensors = std::move(*placed), .on_device = lane.measured()};
}

}  // namespace sluice::engine
