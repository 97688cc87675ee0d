// The seam between a worker and what runs a function: torch, a program, an emulation. One engine holds one function.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "domain/event_parts.h"
#include "domain/function.h"
#include "domain/gpu_form.h"
#include "domain/gpu_mode.h"
#include "domain/graph_use.h"
#include "engine/kept_output.h"

namespace sluice::engine {

inline constexpr std::int32_t kAllRows = -1;

// Stacked (the first dimension is the rows of the batch), or of one row alone.
struct BatchTensor {
  data::TensorView tensor;
  std::int32_t row = kAllRows;
  // Where its bytes are if they are on the device: then those of `tensor` are anything. Null: they are there.
  std::shared_ptr<const KeptOutput> kept = {};
  std::size_t within = 0;  // of what is kept: where it begins
};

struct Batch {
  std::uint32_t rows = 1;
  std::uint32_t threads = 1;
  Duration emulated;         // how long an emulated function takes
  Time deadline;             // of the oldest
  SlicePositions positions;  // of the GPU; none on CPUs
  std::vector<BatchTensor> inputs;
  bool keep =
      false;  // outputs of more than limits::kept_bytes_min may stay on the device, where there is room for them
};

// A GPU as a worker may use it.
struct Gpu {
  std::int32_t device = 0;  // among those that the process sees
  GpuMode mode = GpuMode::green;
  std::uint32_t slices = 0;
  std::span<std::byte> pinned;  // shared memory whose pages stay where they are: the device may copy from there itself
};

struct LoadInto {
  std::uint32_t threads = 1;
  std::optional<Gpu> gpu;       // none: CPUs
  std::optional<Bytes> memory;  // of the GPU that it may take; none: whatever there is
  int model = -1;               // the file of the body, open for reading; negative: it is read by its name
};

// Where an engine puts its outputs: memory that the server can read.
class OutputSpace {
 public:
  virtual ~OutputSpace() = default;
  // All outputs of a batch are asked for at once, since more space moves what was there. An error if there is none.
  [[nodiscard]] virtual Result<std::span<std::byte>> take(std::size_t bytes) = 0;
};

// What an engine may ask of the worker while it runs a batch.
class BatchContext : public OutputSpace {
 public:
  // Sleeps until an instant of CLOCK_MONOTONIC, in nanoseconds. False: the batch was cancelled meanwhile, and the
  // engine may give it up with any error.
  [[nodiscard]] virtual bool sleep_until(std::int64_t instant_ns) = 0;
  // The batch ends within some hundred microseconds: the worker may get ready for the next one.
  virtual void nearly_done() {}
};

struct Outputs {
  std::vector<BatchTensor> tensors;     // in the space taken
  std::vector<std::string> row_errors;  // none, or one a row, empty where it succeeded
  Duration on_device;                   // execution as the GPU measured it; none on CPUs
  bool first = false;                   // it took longer than later ones will: something was prepared on the way
  GraphUse graphs;                      // on a GPU
};

// Different engines may be used by different threads at the same time.
class Engine {
 public:
  virtual ~Engine() = default;
  // Once, before anything runs. `function` has inputs and outputs as declared, or none.
  [[nodiscard]] virtual Status load(const Function& function, const Body& body, const LoadInto& into) = 0;
  // Whether run() may be called again while it runs. Known once it is loaded. On a GPU every position has a thread of
  // its own, which runs its batches alone and always.
  [[nodiscard]] virtual bool concurrent() const = 0;
  // An error fails the whole batch, and the engine can go on.
  [[nodiscard]] virtual Result<Outputs> run(const Batch& batch, BatchContext& context) = 0;
  // Whether it takes inputs that are on its device, and may leave outputs there.
  [[nodiscard]] virtual bool keeps() const { return false; }
  // Takes what it needs to run off its device (`host`), or puts it back (`device`). REQUIRES: no batch of it is under
  // way.
  [[nodiscard]] virtual Status move(Level /*level*/) { return Error{ErrorCode::invalid, "it is on no device"}; }
  // What became of a form that is `best`, and of the device's memory. Known once it is loaded.
  struct OnGpu {
    GpuForm form;
    Bytes memory;  // of weights; graphs take more, one by one
  };
  [[nodiscard]] virtual OnGpu on_gpu() const { return {}; }
};

enum class Device { cpu, gpu };

// An error names the runtime and what is missing: `torch` is there only where it was built with libtorch, on GPUs where
// that has CUDA.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(Runtime runtime, Device device);

}  // namespace sluice::engine
