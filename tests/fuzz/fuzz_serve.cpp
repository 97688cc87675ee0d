// Whatever a server sends, a worker answers, goes on or ends: it neither crashes nor stands still. Both ways to serve,
// with real threads; engines emulate, so that no input starts a program.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "data/arena.h"
#include "engine/emulated_engine.h"
#include "wire/messages.h"
#include "worker/serve.h"

using namespace sluice;

namespace {

constexpr std::int64_t kArena = 1 << 16;
constexpr int kMessagesMax = 64;

// Emulates any runtime, and never for long.
class Quick : public engine::Engine {
 public:
  explicit Quick(bool concurrent) : concurrent_(concurrent) {}
  Status load(const Function& function, const Body& body, std::uint32_t threads) override {
    if (body.model == "missing") return Error{ErrorCode::not_found, "missing"};
    return inner_->load(function, body, threads);
  }
  [[nodiscard]] bool concurrent() const override { return concurrent_; }
  Result<engine::Outputs> run(const engine::Batch& batch, engine::BatchContext& context) override {
    engine::Batch quick = batch;
    quick.emulated = std::clamp(batch.emulated, Duration{}, Duration::us(200));
    return inner_->run(quick, context);
  }

 private:
  bool concurrent_;
  std::unique_ptr<engine::Engine> inner_ = engine::make_emulated_engine();
};

Result<std::unique_ptr<engine::Engine>> make(Runtime runtime) {
  if (runtime == Runtime::kernel) return Error{ErrorCode::unavailable, "no kernel"};
  return std::unique_ptr<engine::Engine>(std::make_unique<Quick>(runtime != Runtime::torch));
}

wire::Placed placed(FuzzedDataProvider& data) {
  wire::Placed out{
      .info = {data.ConsumeRandomLengthString(4),
               static_cast<DataType>(data.ConsumeIntegralInRange<int>(0, static_cast<int>(DataType::bytes))),
               {}}};
  for (int i = data.ConsumeIntegralInRange<int>(0, 3); i > 0; --i) {
    out.info.shape.push_back(data.ConsumeIntegralInRange<std::int64_t>(-1, 8));
  }
  out.row = data.ConsumeIntegralInRange<std::int32_t>(-2, 4);
  out.offset = data.ConsumeIntegralInRange<std::uint64_t>(0, kArena + 8);
  out.size = data.ConsumeIntegralInRange<std::uint64_t>(0, 64);
  out.device = data.ConsumeIntegralInRange<std::int32_t>(-1, 0);
  return out;
}

wire::ToWorker message(FuzzedDataProvider& data) {
  const auto function = data.ConsumeIntegralInRange<std::uint32_t>(0, 3);
  const auto batch = data.ConsumeIntegralInRange<std::uint64_t>(0, 5);
  const wire::Space space{data.ConsumeIntegralInRange<std::uint64_t>(0, kArena),
                          data.ConsumeIntegralInRange<std::uint64_t>(0, 4096)};
  switch (data.ConsumeIntegralInRange<int>(0, 6)) {
    case 0: {
      wire::Load load{.function = function, .name = "f"};
      load.body.runtime = static_cast<Runtime>(data.ConsumeIntegralInRange<int>(0, 4));
      load.body.model = data.ConsumeBool() ? "" : "missing";
      if (data.ConsumeBool())
        load.outputs = {{"y", DataType::uint8, {data.ConsumeIntegralInRange<std::int64_t>(-1, 5000)}}};
      load.device = data.ConsumeIntegralInRange<std::int32_t>(-1, 0);
      return load;
    }
    case 1:
      return wire::Unload{function};
    case 2:
    case 3: {
      wire::Run run{.batch = batch, .function = function, .rows = data.ConsumeIntegralInRange<std::uint32_t>(0, 5)};
      run.emulated = Duration::us(data.ConsumeIntegralInRange<std::int32_t>(-1, 300));
      run.positions = {0, data.ConsumeIntegral<std::uint8_t>()};
      for (int i = data.ConsumeIntegralInRange<int>(0, 2); i > 0; --i) run.inputs.push_back(placed(data));
      run.outputs = space;
      return run;
    }
    case 4:
      return wire::Grant{batch, space};
    case 5:
      return wire::Cancel{batch};
    default:
      return wire::Stop{};
  }
}

void speak(wire::Channel& server, data::Arena& arena, FuzzedDataProvider& data) {
  std::string bytes;
  const wire::Hello hello{.version = data.ConsumeIntegralInRange<std::uint32_t>(2, 2 + (data.ConsumeBool() ? 0 : 1)),
                          .arena_bytes = static_cast<std::uint64_t>(kArena),
                          .lanes = data.ConsumeIntegralInRange<std::uint32_t>(0, 4)};
  (void)wire::encode(wire::ToWorker(hello), bytes);
  (void)server.send(bytes, {arena.descriptor()});
  for (int i = 0; i < kMessagesMax && data.remaining_bytes() > 0; ++i) {
    if (data.ConsumeIntegralInRange<int>(0, 9) == 0) {
      bytes = data.ConsumeRandomLengthString(200);
      if (bytes.empty()) continue;
    } else if (!wire::encode(message(data), bytes)) {
      continue;
    }
    if (!server.send(bytes)) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::shared_ptr<data::Arena> arena = std::move(data::Arena::make(Bytes(kArena)).value());
  FuzzedDataProvider input(data, size);
  auto ends = std::move(wire::Channel::pair().value());
  speak(ends.first, *arena, input);
  ::shutdown(ends.first.descriptor(), SHUT_WR);
  (void)worker::serve(std::move(ends.second), make);
  return 0;
}
