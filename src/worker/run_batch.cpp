#include "worker/run_batch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "worker/stopwatch.h"

namespace sluice::worker {
namespace {

// So that an answer fits a message whatever a function has to say: errors of rows share half of it.
constexpr std::size_t kErrorLength = 2048;

void shorten(std::string& text, std::size_t length_max) {
  if (text.size() > length_max || !valid_utf8(text)) text = printable(text, length_max);
}

std::optional<std::string> wrong(const wire::Placed& input, std::uint32_t rows, const Mapping& mapping) {
  if (input.device != wire::kHost) return str("is on device ", input.device, ", and this worker has none");
  const auto bytes = mapping.at(input.offset, input.size);
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

void answer_with(engine::Outputs outputs, const Mapping& mapping, wire::Ran& ran) {
  ran.row_errors = std::move(outputs.row_errors);
  ran.on_device = outputs.on_device;
  ran.first = outputs.first;
  ran.graphs = outputs.graphs;
  const std::size_t share = wire::message_bytes_max / 2 / std::max<std::size_t>(ran.row_errors.size(), 1);
  for (std::string& error : ran.row_errors) shorten(error, std::min(share, kErrorLength));
  for (engine::BatchTensor& output : outputs.tensors) {
    const std::uint64_t offset = mapping.offset_of(output.tensor.bytes);
    ran.outputs.push_back({std::move(output.tensor.info), output.row, offset, output.tensor.bytes.size()});
  }
}

}  // namespace

Result<engine::Batch> batch_of(const wire::Run& run, const Mapping& mapping) {
  if (run.rows == 0 || run.rows > limits::batch_max) {
    return Error{ErrorCode::invalid, str("a batch has ", run.rows, " rows, it may have 1 to ", limits::batch_max)};
  }
  if (!mapping.at(run.outputs.offset, run.outputs.size)) {
    return Error{ErrorCode::invalid, "the space for outputs is outside of the shared memory"};
  }
  engine::Batch batch{.rows = run.rows,
                      .threads = std::max(run.threads, 1u),
                      .emulated = run.emulated,
                      .deadline = run.deadline,
                      .positions = run.positions,
                      .inputs = {}};
  for (const wire::Placed& input : run.inputs) {
    if (const auto reason = wrong(input, run.rows, mapping)) {
      return Error{ErrorCode::invalid, str("input `", printable(input.info.name), "` ", *reason)};
    }
    batch.inputs.push_back({{input.info, *mapping.at(input.offset, input.size)}, input.row});
  }
  return batch;
}

wire::Ran run_batch(const wire::Run& run, engine::Engine& engine, const Mapping& mapping, GrantedSpace& space) {
  wire::Ran ran{.batch = run.batch};
  const auto batch = batch_of(run, mapping);
  if (!batch) {
    ran.error = batch.error().message;
    return ran;
  }
  const Stopwatch stopwatch;
  auto outputs = engine.run(*batch, space);
  ran.took = stopwatch.elapsed() - space.waited();
  if (outputs) {
    answer_with(std::move(*outputs), mapping, ran);
  } else {
    ran.error = outputs.error().message;
    if (ran.error.empty()) ran.error = "the function failed without a reason";
  }
  return ran;
}

bool send(wire::Channel& channel, wire::Ran ran) {
  shorten(ran.error, kErrorLength);
  wire::Ran too_large{.batch = ran.batch, .took = ran.took};
  std::string bytes;
  const Status encoded = wire::encode(wire::FromWorker(std::move(ran)), bytes);
  if (encoded) return channel.send(bytes).ok();
  too_large.error = encoded.error().message;
  return send(channel, wire::FromWorker(std::move(too_large)));
}

bool send(wire::Channel& channel, wire::Loaded loaded) {
  shorten(loaded.error, kErrorLength);
  return send(channel, wire::FromWorker(std::move(loaded)));
}

bool send(wire::Channel& channel, const wire::FromWorker& message) {
  std::string bytes;
  return wire::encode(message, bytes).ok() && channel.send(bytes).ok();
}

}  // namespace sluice::worker
