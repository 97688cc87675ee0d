// TorchGraph: a model for one number of rows and one shape of inputs at one position, recorded once and then launched
// as a whole. And the lane it is recorded and launched by.
#pragma once
#include "engine/torch_cuda_model.h"

#include <ATen/cuda/CUDAGraph.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/lane.h"

namespace sluice::engine {

// A lane as libtorch sees it: its stream is current there. Its graphs share one pool of memory, because they never run
// at the same time and what they leave is copied away before the next one begins.
struct TorchLane {
  cuda::Lane& lane;
  cuda::SharedGpu& gpu;
  at::cuda::MempoolId_t pool;
  std::unique_ptr<at::cuda::CUDAGraph>
      anchor;  // the first to use the pool: without any it would go, and never come back

  // That of the calling thread. `position` as in cuda::Slices.
  [[nodiscard]] static Result<TorchLane*> of_this_thread(cuda::SharedGpu& gpu, std::uint64_t position);
};

struct InputShape {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<std::int64_t> shape;  // rows first
  auto operator<=>(const InputShape&) const = default;
};
using InputShapes = std::vector<InputShape>;

// What a graph has to be made for, of the inputs that are declared, or of all where none is. Nothing: rows differ, or
// an input is missing in some, or libtorch has no such type.
[[nodiscard]] std::optional<InputShapes> shapes_of(const Batch& batch, const std::vector<Port>& declared);

// What a batch brings, to where a graph reads it.
[[nodiscard]] Status copy_in(const Batch& batch, const std::vector<TorchInput>& to, cuda::Lane& lane);

class TorchGraph {
 public:
  using Fill = std::function<Status(const std::vector<TorchInput>& inputs)>;
  // `fill` gives its inputs values, with which it is run before: zeros may be nothing that the model can use. Alone on
  // the GPU but for replays. Null: the model cannot be recorded, for example because it looks at values on the way. An
  // error: it fails with these values. May throw what libtorch throws. REQUIRES: gpu.quiet is held alone.
  [[nodiscard]] static Result<std::unique_ptr<TorchGraph>> capture(TorchCudaModel& model, const InputShapes& shapes,
                                                                   std::uint32_t rows, const Fill& fill,
                                                                   TorchLane& lane);

  // REQUIRES: the batch has the shapes it was made for.
  [[nodiscard]] Result<Outputs> replay(const Batch& batch, TorchLane& lane, BatchContext& context);
  // Its kernels alone, with whatever its inputs are; as long as the device took.
  [[nodiscard]] Result<Duration> replay_alone(TorchLane& lane);

 private:
  // False: it cannot be. An error: there is no memory for it.
  [[nodiscard]] Result<bool> record(TorchCudaModel& model, std::uint32_t rows, const TorchLane& lane);

  at::cuda::CUDAGraph graph_;
  std::vector<TorchInput> inputs_;    // written before every replay
  std::vector<TorchOutput> outputs_;  // read after it
  Duration expected_;
};

struct CopyOut {
  bool keep = false;  // large outputs may stay on the device
  Duration expected;  // until the device is done
};
// To where the server reads them, or where later batches do, once the device is done.
[[nodiscard]] Result<Outputs> copied(const std::vector<TorchOutput>& outputs, const TorchLane& on, CopyOut how,
                                     BatchContext& context);

}  // namespace sluice::engine
