// A worker on a GPU that is not there: everything but its engine is the real one's. What the engine does is the name of
// the function that it is told to load.
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>

#include "engine/model_file.h"
#include "engine/place.h"
#include "wire/channel.h"
#include "wire/confinement.h"
#include "worker/confine.h"
#include "worker/serve.h"

namespace sluice {
namespace {

class FakeGpu : public engine::Engine {
 public:
  Status load(const Function& function, const Body& body, const engine::LoadInto& into) override {
    name_ = function.name;
    if (!into.gpu) return Error{ErrorCode::invalid, "it was not asked for a GPU"};
    if (into.gpu->pinned.empty()) return Error{ErrorCode::invalid, "the arena is not pinned"};
    form_ = body.form;
    engine::ModelFile file(body.model, into.model);
    if (name_ == "model" && into.model < 0) return Error{ErrorCode::invalid, "no model came along"};
    if (name_ == "model" && !std::getline(file.stream(), first_line_)) return Error{ErrorCode::invalid, "no line"};
    return Done{};
  }
  [[nodiscard]] bool concurrent() const override { return true; }
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
  // Says where each of its inputs lies: -1 for stacked ones, else the row.
  Result<engine::Outputs> run(const engine::Batch& batch, engine::BatchContext& context) override {
    if (!there_) return Error{ErrorCode::invalid, "it is not on its device"};
    if (name_ == "waits") (void)context.sleep_until(0);
    std::vector<engine::PlannedOutput> planned;
    for (const auto& [tensor, row] : batch.inputs) planned.push_back({tensor.info, row, tensor.bytes.size()});
    auto tensors = engine::place(std::move(planned), context);
    if (!tensors) return tensors.error();
    for (std::size_t i = 0; i < tensors->size(); ++i) {
      for (std::byte& byte : (*tensors)[i].tensor.bytes) byte = static_cast<std::byte>(batch.positions.slices);
    }
    std::fprintf(stderr, "%zu inputs, %s\n", batch.inputs.size(), first_line_.c_str());
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
