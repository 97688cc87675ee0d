#include "worker/serve.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "domain/limits.h"
#include "engine/engine.h"
#include "wire/messages.h"
#include "worker/granted_space.h"
#include "worker/mapping.h"
#include "worker/stopwatch.h"

namespace sluice::worker {
namespace {

// So that an answer fits a message whatever a function has to say: errors of rows share half of it.
constexpr std::size_t kErrorLength = 2048;

void shorten(std::string& text, std::size_t length_max) {
  if (text.size() > length_max || !valid_utf8(text)) text = printable(text, length_max);
}

class Worker {
 public:
  explicit Worker(wire::Channel& channel) : channel_(channel) {}

  Status load(const wire::Load& load, const std::vector<wire::Descriptor>& descriptors);
  // False: the server is gone.
  [[nodiscard]] bool run(const wire::Run& run);
  [[nodiscard]] bool loaded() const { return engine_ != nullptr; }

 private:
  Status make(const wire::Load& load, const std::vector<wire::Descriptor>& descriptors);
  [[nodiscard]] Result<engine::Batch> batch_of(const wire::Run& run) const;
  [[nodiscard]] std::optional<std::string> wrong(const wire::Placed& input, std::uint32_t rows) const;
  void answer_with(engine::Outputs outputs, wire::Ran& ran) const;
  [[nodiscard]] bool send(wire::Ran ran);

  wire::Channel& channel_;
  std::optional<Mapping> mapping_;
  std::unique_ptr<engine::Engine> engine_;
};

Status Worker::load(const wire::Load& load, const std::vector<wire::Descriptor>& descriptors) {
  const Stopwatch stopwatch;
  const Status made = make(load, descriptors);
  wire::Loaded answer{.error = made ? "" : made.error().message, .took = stopwatch.elapsed()};
  shorten(answer.error, kErrorLength);
  std::string message;
  if (const auto encoded = wire::encode(answer, message); !encoded) return encoded.error();
  if (const auto sent = channel_.send(message); !sent) return sent.error();
  return made;
}

Status Worker::make(const wire::Load& load, const std::vector<wire::Descriptor>& descriptors) {
  if (load.version != wire::kVersion) {
    return Error{ErrorCode::invalid,
                 str("the server speaks version ", load.version, " of the worker protocol, this worker ",
                     wire::kVersion, "; both have to be of one build")};
  }
  if (descriptors.size() != 1) return Error{ErrorCode::invalid, "no shared memory came along"};
  auto mapping = Mapping::map(descriptors.front(), load.arena_bytes);
  if (!mapping) return mapping.error();
  auto engine = engine::make_engine(load.body.runtime);
  if (!engine) return engine.error();
  const Function function{.name = load.function, .inputs = load.inputs, .outputs = load.outputs};
  if (auto ready = (*engine)->load(function, load.body, std::max(load.threads, 1u)); !ready) return ready;
  mapping_ = std::move(*mapping);
  engine_ = std::move(*engine);
  return Done{};
}

bool Worker::run(const wire::Run& run) {
  wire::Ran ran{.batch = run.batch};
  const auto batch = batch_of(run);
  const auto granted = mapping_->at(run.outputs.offset, run.outputs.size);
  if (!batch || !granted) {
    ran.error = batch ? "the space for outputs is outside of the shared memory" : batch.error().message;
    return send(std::move(ran));
  }
  GrantedSpace space(channel_, *mapping_, run.batch, *granted);
  const Stopwatch stopwatch;
  auto outputs = engine_->run(*batch, space);
  ran.took = stopwatch.elapsed() - space.waited();
  if (space.lost()) return false;
  if (outputs) {
    answer_with(std::move(*outputs), ran);
  } else {
    ran.error = outputs.error().message;
    if (ran.error.empty()) ran.error = "the function failed without a reason";
  }
  return send(std::move(ran));
}

Result<engine::Batch> Worker::batch_of(const wire::Run& run) const {
  if (run.rows == 0 || run.rows > limits::batch_max) {
    return Error{ErrorCode::invalid, str("a batch has ", run.rows, " rows, it may have 1 to ", limits::batch_max)};
  }
  engine::Batch batch{.rows = run.rows,
                      .threads = std::max(run.threads, 1u),
                      .emulated = run.emulated,
                      .deadline = run.deadline,
                      .inputs = {}};
  for (const wire::Placed& input : run.inputs) {
    if (const auto reason = wrong(input, run.rows)) {
      return Error{ErrorCode::invalid, str("input `", printable(input.info.name), "` ", *reason)};
    }
    batch.inputs.push_back({{input.info, *mapping_->at(input.offset, input.size)}, input.row});
  }
  return batch;
}

std::optional<std::string> Worker::wrong(const wire::Placed& input, std::uint32_t rows) const {
  const auto bytes = mapping_->at(input.offset, input.size);
  if (!bytes) return "is outside of the shared memory";
  if (input.info.shape.size() > limits::tensor_rank_max + 1) return "has too many dimensions";
  if (!data::well_formed(input.info, *bytes)) return str("has ", input.size, " bytes, which its shape does not have");
  if (input.row == wire::kAllRows) {
    const bool stacked = !input.info.shape.empty() && input.info.shape.front() == static_cast<std::int64_t>(rows);
    return stacked ? std::nullopt : std::optional(str("does not have the ", rows, " rows of the batch"));
  }
  if (input.row < 0 || static_cast<std::uint32_t>(input.row) >= rows) return str("is of row ", input.row, " of ", rows);
  return std::nullopt;
}

void Worker::answer_with(engine::Outputs outputs, wire::Ran& ran) const {
  ran.row_errors = std::move(outputs.row_errors);
  const std::size_t share = wire::message_bytes_max / 2 / std::max<std::size_t>(ran.row_errors.size(), 1);
  for (std::string& error : ran.row_errors) shorten(error, std::min(share, kErrorLength));
  for (engine::BatchTensor& output : outputs.tensors) {
    const std::uint64_t offset = mapping_->offset_of(output.tensor.bytes);
    ran.outputs.push_back({std::move(output.tensor.info), output.row, offset, output.tensor.bytes.size()});
  }
}

bool Worker::send(wire::Ran ran) {
  shorten(ran.error, kErrorLength);
  std::string message;
  if (const auto encoded = wire::encode(ran, message); !encoded) {
    const wire::Ran too_large{.batch = ran.batch, .error = encoded.error().message, .took = ran.took};
    if (!wire::encode(too_large, message)) return false;
  }
  return channel_.send(message).ok();
}

Error out_of_turn(const char* what) {
  return {ErrorCode::invalid, str("the server sent ", what, ", which is not its turn")};
}

}  // namespace

Status serve(wire::Channel channel) {
  Worker worker(channel);
  std::string message;
  for (;;) {
    std::vector<wire::Descriptor> descriptors;
    if (channel.receive(message, &descriptors) != wire::Received::message) return Done{};
    const auto decoded = wire::decode_to_worker(message);
    if (!decoded) return decoded.error();
    if (std::holds_alternative<wire::Stop>(*decoded)) return Done{};
    if (const auto* load = std::get_if<wire::Load>(&*decoded)) {
      if (worker.loaded()) return out_of_turn("a second Load");
      if (auto ready = worker.load(*load, descriptors); !ready) return ready;
    } else if (const auto* run = std::get_if<wire::Run>(&*decoded)) {
      if (!worker.loaded()) return out_of_turn("Run before Load");
      if (!worker.run(*run)) return Done{};
    } else {
      return out_of_turn("Grant to nothing wanted");
    }
  }
}

}  // namespace sluice::worker
