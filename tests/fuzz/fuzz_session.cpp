// Whatever a worker says, the server's side of the conversation takes it for an answer to what it asked or reports it;
// nothing outside of the space that was granted is believed.
#include <fuzzer/FuzzedDataProvider.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"
#include "data/arena.h"
#include "invoker/results.h"
#include "invoker/session.h"

using namespace sluice;

namespace {

constexpr std::int64_t kArena = 1 << 16;
constexpr std::uint32_t kRows = 2;
constexpr int kTurnsMax = 100;

class Conversation {
 public:
  explicit Conversation(FuzzedDataProvider& data) : data_(data) {
    auto ends = std::move(wire::Channel::pair().value());
    invoker::WorkerProcess process;
    process.channel = std::move(ends.first);
    worker_.emplace(std::move(ends.second));
    session_.emplace(std::move(process), arena_, invoker::Session::Options{.lanes = 4});
    (void)session_->hello();
    for (std::uint32_t f = 0; f < 3; ++f) (void)session_->load(f, function_, {});
  }

  void go_on() {
    for (int turn = 0; turn < kTurnsMax && data_.remaining_bytes() > 0; ++turn) {
      ask();
      std::string bytes;
      while (session_->process().channel.descriptor() >= 0 &&
             ::recv(worker_->descriptor(), nullptr, 0, MSG_DONTWAIT | MSG_TRUNC) > 0) {
      }
      if (data_.ConsumeIntegralInRange<int>(0, 7) == 0) {
        bytes = data_.ConsumeRandomLengthString(100);
      } else if (!wire::encode(said(), bytes)) {
        continue;
      }
      if (bytes.empty() || !worker_->send(bytes)) continue;
      if (!heard(session_->hear())) return;
    }
  }

 private:
  // What the server does meanwhile, as an agent would: only what it may.
  void ask() {
    const auto number = data_.ConsumeIntegralInRange<std::uint32_t>(0, 2);
    switch (data_.ConsumeIntegralInRange<int>(0, 3)) {
      case 0:
        if (auto space = session_->space_of(data_.ConsumeIntegralInRange<std::size_t>(0, 4096))) {
          (void)session_->run({.batch = next_++, .function = number, .rows = kRows}, std::move(*space), {});
        }
        break;
      case 1:
        (void)session_->cancel(data_.ConsumeIntegralInRange<std::uint64_t>(0, next_));
        break;
      case 2:
        if (loaded_[number]) {
          loaded_[number] = false;
          (void)session_->unload(number);
        }
        break;
      default:
        break;
    }
  }
  wire::FromWorker said() {
    const auto batch = data_.ConsumeIntegralInRange<std::uint64_t>(0, next_);
    const auto function = data_.ConsumeIntegralInRange<std::uint32_t>(0, 3);
    switch (data_.ConsumeIntegralInRange<int>(0, 4)) {
      case 0:
        return wire::Loaded{.function = function,
                            .error = data_.ConsumeBool() ? "" : "no",
                            .batches = data_.ConsumeIntegral<std::uint32_t>()};
      case 1:
        return wire::Unloaded{function};
      case 2:
        return wire::Wanted{batch, data_.ConsumeBool() ? data_.ConsumeIntegral<std::uint64_t>()
                                                       : data_.ConsumeIntegralInRange<std::uint64_t>(0, 5000)};
      default: {
        wire::Ran ran{.batch = batch, .cancelled = data_.ConsumeIntegralInRange<int>(0, 7) == 0};
        if (data_.ConsumeBool()) ran.row_errors.resize(data_.ConsumeIntegralInRange<std::size_t>(0, 3));
        for (int i = data_.ConsumeIntegralInRange<int>(0, 2); i > 0; --i) ran.outputs.push_back(output());
        ran.took = Duration::ns(data_.ConsumeIntegral<std::int64_t>());
        return ran;
      }
    }
  }
  wire::Placed output() {
    wire::Placed out{.info = {"y", data_.ConsumeBool() ? DataType::bytes : DataType::uint8, {}}};
    for (int i = data_.ConsumeIntegralInRange<int>(0, 3); i > 0; --i) {
      out.info.shape.push_back(data_.ConsumeIntegralInRange<std::int64_t>(-1, 40));
    }
    out.row = data_.ConsumeIntegralInRange<std::int32_t>(-2, 3);
    out.offset = data_.ConsumeBool() ? data_.ConsumeIntegral<std::uint64_t>()
                                     : data_.ConsumeIntegralInRange<std::uint64_t>(0, 4096);
    out.size = data_.ConsumeIntegralInRange<std::uint64_t>(0, 200);
    return out;
  }
  // False: the session is over.
  bool heard(invoker::Session::Heard heard) {
    if (const auto* loaded = std::get_if<wire::Loaded>(&heard)) {
      CHECK(loaded->function < 3 && loaded->batches >= 1 && loaded->batches <= 4);
      loaded_[loaded->function] = loaded->error.empty();
    }
    if (const auto* answer = std::get_if<invoker::Session::Answer>(&heard)) {
      const auto rows = invoker::results_of(answer->ran, kRows, answer->space, function_);
      CHECK(!rows || rows->size() == kRows);
      for (std::size_t r = 0; rows && r < rows->size(); ++r) {
        for (const data::Tensor& tensor : (*rows)[r].outputs) {
          CHECK(tensor.offset + tensor.size <= answer->space.size());
        }
      }
    }
    return !std::holds_alternative<invoker::Session::Broken>(heard) &&
           !std::holds_alternative<invoker::Session::Closed>(heard);
  }

  FuzzedDataProvider& data_;
  const Function function_{.name = "f"};
  std::shared_ptr<data::Arena> arena_ = std::move(data::Arena::make(Bytes(kArena)).value());
  std::optional<wire::Channel> worker_;
  std::optional<invoker::Session> session_;
  std::uint64_t next_ = 0;
  bool loaded_[3] = {};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzedDataProvider input(data, size);
  Conversation(input).go_on();
  return 0;
}
