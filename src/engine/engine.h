// The seam between a worker and what runs a function: torch, a program, an emulation. One engine holds one function.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "data/tensor.h"
#include "domain/function.h"

namespace sluice::engine {

inline constexpr std::int32_t kAllRows = -1;

// Stacked (the first dimension is the rows of the batch), or of one row alone.
struct BatchTensor {
  data::TensorView tensor;
  std::int32_t row = kAllRows;
};

struct Batch {
  std::uint32_t rows = 1;
  std::uint32_t threads = 1;
  Duration emulated;  // how long an emulated function takes
  Time deadline;      // of the oldest
  std::vector<BatchTensor> inputs;
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
};

struct Outputs {
  std::vector<BatchTensor> tensors;     // in the space taken
  std::vector<std::string> row_errors;  // none, or one a row, empty where it succeeded
};

// Different engines may be used by different threads at the same time.
class Engine {
 public:
  virtual ~Engine() = default;
  // Once, before anything runs. `function` has inputs and outputs as declared, or none.
  [[nodiscard]] virtual Status load(const Function& function, const Body& body, std::uint32_t threads) = 0;
  // Whether run() may be called again while it runs. Known once it is loaded.
  [[nodiscard]] virtual bool concurrent() const = 0;
  // An error fails the whole batch, and the engine can go on.
  [[nodiscard]] virtual Result<Outputs> run(const Batch& batch, BatchContext& context) = 0;
};

// An error names the runtime and what is missing: `torch` is there only where it was built with libtorch.
[[nodiscard]] Result<std::unique_ptr<Engine>> make_engine(Runtime runtime);

}  // namespace sluice::engine
