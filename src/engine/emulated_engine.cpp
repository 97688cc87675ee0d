#include "engine/emulated_engine.h"

#include <ctime>

#include <sys/prctl.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "engine/place.h"

namespace sluice::engine {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// Timers of this thread are late by a nanosecond, not by the usual 50,000.
void be_precise() {
  [[maybe_unused]] thread_local const int kOnce = ::prctl(PR_SET_TIMERSLACK, 1);
}

// Zero bytes are zeros of every type, and empty texts.
constexpr std::size_t kEmptyText = sizeof(std::uint32_t);

Result<PlannedOutput> zeros_of(const Port& port, std::uint32_t rows) {
  data::TensorInfo info{port.name, port.type, {static_cast<std::int64_t>(rows)}};
  for (const std::int64_t length : port.shape) info.shape.push_back(length < 0 ? 1 : length);
  const auto count = data::element_count(info.shape);
  const std::size_t each = port.type == DataType::bytes ? kEmptyText : data::element_size(port.type);
  std::size_t bytes = 0;
  if (!count || __builtin_mul_overflow(*count, each, &bytes)) {
    return Error{ErrorCode::too_large, str("output `", port.name, "` is too large")};
  }
  return PlannedOutput{.info = std::move(info), .bytes = bytes};
}

class EmulatedEngine : public Engine {
 public:
  Status load(const Function& function, const Body&, const LoadInto& into) override {
    outputs_ = function.outputs;
    has_gpu_ = into.gpu.has_value();
    return Done{};
  }
  // It needs nothing that could be moved.
  Status move(Level level) override { return has_gpu_ ? Status(Done{}) : Engine::move(level); }
  [[nodiscard]] bool concurrent() const override { return true; }

  // Until an instant, not for a length: what was computed meanwhile is part of the time. An instant that has passed is
  // not slept for, which would take as long as the timer is coarse.
  Result<Outputs> run(const Batch& batch, BatchContext& context) override {
    const std::int64_t end_ns = now_ns() + std::max<std::int64_t>(batch.emulated.count_ns(), 0);
    auto outputs = outputs_.empty() ? copies(batch, context) : zeros(batch.rows, context);
    if (!outputs || now_ns() >= end_ns) return outputs;
    be_precise();
    if (!context.sleep_until(end_ns)) return Error{ErrorCode::unavailable, "cancelled"};
    return outputs;
  }

 private:
  Result<Outputs> zeros(std::uint32_t rows, OutputSpace& space) const {
    std::vector<PlannedOutput> planned;
    for (const Port& port : outputs_) {
      auto output = zeros_of(port, rows);
      if (!output) return output.error();
      planned.push_back(std::move(*output));
    }
    auto tensors = place(std::move(planned), space);
    if (!tensors) return tensors.error();
    for (const BatchTensor& output : *tensors) std::ranges::fill(output.tensor.bytes, std::byte{0});
    return Outputs{.tensors = std::move(*tensors)};
  }

  static Result<Outputs> copies(const Batch& batch, OutputSpace& space) {
    std::vector<PlannedOutput> planned;
    for (const BatchTensor& input : batch.inputs)
      planned.push_back({input.tensor.info, input.row, input.tensor.bytes.size()});
    auto tensors = place(std::move(planned), space);
    if (!tensors) return tensors.error();
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      std::ranges::copy(batch.inputs[i].tensor.bytes, (*tensors)[i].tensor.bytes.begin());
    }
    return Outputs{.tensors = std::move(*tensors)};
  }

  std::vector<Port> outputs_;
  bool has_gpu_ = false;
};

}  // namespace

std::unique_ptr<Engine> make_emulated_engine() {
  return std::make_unique<EmulatedEngine>();
}

}  // namespace sluice::engine
