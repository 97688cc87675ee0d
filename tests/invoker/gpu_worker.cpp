// A worker on a GPU that is not there: everything but its engine is the real one's. What the engine does is the name of
// the function that it is told to load. What it keeps is in memory of its own, and the arena has rubbish in its place:
// a tensor that is read without having been fetched is seen to be wrong.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "domain/limits.h"
#include "engine/model_file.h"
#include "engine/place.h"
#include "wire/channel.h"
#include "wire/confinement.h"
#include "worker/confine.h"
#include "worker/serve.h"

namespace sluice {
namespace {

constexpr Bytes kKeptMost = Bytes::mb(8);  // little, so that tests come beyond it
constexpr std::byte kRubbish{0xEE};

class FakeKept : public engine::KeptOutput {
 public:
  FakeKept(engine::KeptBudget::Share share, std::span<const std::byte> bytes)
      : share_(std::move(share)), bytes_(bytes.begin(), bytes.end()) {}
  [[nodiscard]] std::uintptr_t address() const override { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
  [[nodiscard]] Status copy_to(std::span<std::byte> to) const override {
    std::ranges::copy(bytes_, to.begin());
    return Done{};
  }

 private:
  engine::KeptBudget::Share share_;
  std::vector<std::byte> bytes_;
};

// Where an input lies, be it on the "device".
std::span<const std::byte> bytes_of(const engine::BatchTensor& input) {
  if (input.kept == nullptr) return input.tensor.bytes;
  return {reinterpret_cast<const std::byte*>(input.kept->address()) + input.within, input.tensor.bytes.size()};
}

void keep(engine::BatchTensor& output) {
  static engine::KeptBudget budget(kKeptMost);
  auto share = budget.take(output.tensor.bytes.size());
  if (!share) return;
  output.kept = std::make_shared<const FakeKept>(std::move(*share), output.tensor.bytes);
  std::ranges::fill(output.tensor.bytes, kRubbish);
}

class FakeGpu : public engine::Engine {
 public:
  Status load(const Function& function, const Body& body, const engine::LoadInto& into) override {
    name_ = function.name;
    if (!into.gpu && name_.starts_with("adds")) return Done{};
    if (!into.gpu) return Error{ErrorCode::invalid, "it was not asked for a GPU"};
    if (into.gpu->pinned.empty()) return Error{ErrorCode::invalid, "the arena is not pinned"};
    form_ = body.form;
    engine::ModelFile file(body.model, into.model);
    if (name_ == "model" && into.model < 0) return Error{ErrorCode::invalid, "no model came along"};
    if (name_ == "model" && !std::getline(file.stream(), first_line_)) return Error{ErrorCode::invalid, "no line"};
    return Done{};
  }
  [[nodiscard]] bool concurrent() const override { return true; }
  [[nodiscard]] bool keeps() const override { return true; }
  [[nodiscard]] OnGpu on_gpu() const override {
    const bool known = form_.known();
    return {.form = {.precision = Precision::fp16, .layout = MemoryLayout::channels_last, .rows_apart = known},
            .memory = name_ == "large" ? Bytes::gb(2) : Bytes::mb(1)};
  }
  Status move(Level level) override {
    if (name_ == "stays" && level == Level::host) return Error{ErrorCode::internal, "it is stuck"};
    if (name_ == "returns-not" && level == Level::device) return Error{ErrorCode::too_large, "no memory"};
    there_ = level == Level::device;
    return Done{};
  }
  // As many outputs as inputs, of the same form. Of "adds-…" each byte is that of the input and one, else the position.
  Result<engine::Outputs> run(const engine::Batch& batch, engine::BatchContext& context) override {
    if (!there_) return Error{ErrorCode::invalid, "it is not on its device"};
    if (name_ == "waits" && !context.sleep_until(std::numeric_limits<std::int64_t>::max()))
      return Error{ErrorCode::unavailable, "cancelled"};
    std::vector<engine::PlannedOutput> planned;
    for (const engine::BatchTensor& input : batch.inputs)
      planned.push_back({input.tensor.info, input.row, input.tensor.bytes.size()});
    auto tensors = engine::place(std::move(planned), context);
    if (!tensors) return tensors.error();
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      const std::span<std::byte> bytes = (*tensors)[i].tensor.bytes;
      if (name_.starts_with("adds")) {
        std::ranges::transform(bytes_of(batch.inputs[i]), bytes.begin(),
                               [](std::byte byte) { return static_cast<std::byte>(std::to_integer<int>(byte) + 1); });
      } else {
        std::ranges::fill(bytes, static_cast<std::byte>(batch.positions.slices));
      }
      if (batch.keep && (bytes.size() > limits::kept_bytes_min || name_ == "adds-and-keeps-all")) keep((*tensors)[i]);
    }
    const auto on_device = std::ranges::count_if(batch.inputs, [](const auto& input) { return input.kept != nullptr; });
    std::fprintf(stderr, "%zu inputs, %s\n", batch.inputs.size(), first_line_.c_str());
    if (on_device > 0) std::fprintf(stderr, "%td of them on the device\n", on_device);
    return engine::Outputs{.tensors = std::move(*tensors),
                           .on_device = Duration::us(1),
                           .first = runs_++ == 0,
                           .graphs = {.kept = 3, .captured = runs_ == 2, .never = name_ == "by-kernel"}};
  }

 private:
  std::string name_, first_line_;
  GpuForm form_;
  std::atomic<bool> there_ = true;
  std::atomic<int> runs_ = 0;
};

int serve(int socket) {
  wire::Channel channel{wire::Descriptor(socket)};
  std::string message;
  if (channel.receive(message) != wire::Received::message) return 1;
  const auto confinement = wire::decode_confinement(message);
  if (!confinement || !worker::confine(*confinement, ::getppid())) return 1;
  const auto make = [](Runtime, engine::Device) -> Result<std::unique_ptr<engine::Engine>> {
    return std::unique_ptr<engine::Engine>(std::make_unique<FakeGpu>());
  };
  return worker::serve(std::move(channel), make) ? 0 : 1;
}

}  // namespace
}  // namespace sluice

int main(int, char** arguments) {
  return sluice::serve(std::atoi(arguments[2]));
}
