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

// What is kept under the place of an input that is on a device; nothing is read. An error says what is wrong with it.
Result<KeptOutputs::Part> kept_part(const wire::Placed& input, const engine::Engine& engine, const Memory& memory) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::invalid, str("is on device ", input.device, why)};
  };
  if (memory.kept == nullptr) return refuse(", and this worker has none");
  if (!engine.keeps()) return refuse(", where its engine reads nothing");
  auto part = memory.kept->holding({input.offset, input.size});
  if (input.device != 0 || part.output == nullptr) return refuse(", where nothing is kept under its place");
  if (data::byte_size(input.info.type, input.info.shape) != input.size)
    return refuse(" in another size than its shape");
  return part;
}

std::optional<std::string> wrong(const wire::Placed& input, std::uint32_t rows, const Mapping& mapping) {
  const auto bytes = mapping.at(input.offset, input.size);
  if (!bytes) return "is outside of the shared memory";
  if (input.info.shape.size() > limits::tensor_rank_max + 1) return "has too many dimensions";
  if (input.device == wire::kHost && !data::well_formed(input.info, *bytes))
    return str("has ", input.size, " bytes, which its shape does not have");
  if (input.row == wire::kAllRows) {
    const bool stacked = !input.info.shape.empty() && input.info.shape.front() == static_cast<std::int64_t>(rows);
    return stacked ? std::nullopt : std::optional(str("does not have the ", rows, " rows of the batch"));
  }
  if (input.row < 0 || static_cast<std::uint32_t>(input.row) >= rows) return str("is of row ", input.row, " of ", rows);
  return std::nullopt;
}

void answer_with(engine::Outputs outputs, const Mapping& mapping, BatchAnswer& answer) {
  wire::Ran& ran = answer.ran;
  ran.row_errors = std::move(outputs.row_errors);
  ran.on_device = outputs.on_device;
  ran.first = outputs.first;
  ran.graphs = outputs.graphs;
  const std::size_t share = wire::message_bytes_max / 2 / std::max<std::size_t>(ran.row_errors.size(), 1);
  for (std::string& error : ran.row_errors) shorten(error, std::min(share, kErrorLength));
  for (engine::BatchTensor& output : outputs.tensors) {
    const std::uint64_t offset = mapping.offset_of(output.tensor.bytes);
    const std::int32_t device = output.kept == nullptr ? wire::kHost : 0;
    ran.outputs.push_back({std::move(output.tensor.info), output.row, offset, output.tensor.bytes.size(), device});
    answer.kept.push_back(std::move(output.kept));
  }
}

}  // namespace

Result<engine::Batch> batch_of(const wire::Run& run, const engine::Engine& engine, const Memory& memory) {
  const Mapping& mapping = memory.mapping;
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
                      .inputs = {},
                      .keep = run.keep && memory.kept != nullptr && engine.keeps()};
  for (const wire::Placed& input : run.inputs) {
    const auto refuse = [&](const std::string& reason) {
      return Error{ErrorCode::invalid, str("input `", printable(input.info.name), "` ", reason)};
    };
    KeptOutputs::Part part;
    if (input.device != wire::kHost) {
      auto kept = kept_part(input, engine, memory);
      if (!kept) return refuse(kept.error().message);
      part = std::move(*kept);
    }
    if (const auto reason = wrong(input, run.rows, mapping)) return refuse(*reason);
    batch.inputs.push_back({{input.info, *mapping.at(input.offset, input.size)}, input.row, part.output, part.within});
  }
  return batch;
}

BatchAnswer run_batch(const wire::Run& run, engine::Engine& engine, const Memory& memory, GrantedSpace& space) {
  BatchAnswer answer{.ran = {.batch = run.batch}};
  wire::Ran& ran = answer.ran;
  const auto batch = batch_of(run, engine, memory);
  if (!batch) {
    ran.error = batch.error().message;
    return answer;
  }
  const Stopwatch stopwatch;
  auto outputs = engine.run(*batch, space);
  ran.took = stopwatch.elapsed() - space.waited();
  if (outputs) {
    answer_with(std::move(*outputs), memory.mapping, answer);
  } else {
    ran.error = outputs.error().message;
    if (ran.error.empty()) ran.error = "the function failed without a reason";
  }
  return answer;
}

bool send(wire::Channel& channel, wire::Ran ran) {
  KeptOutputs none;
  return send(channel, BatchAnswer{.ran = std::move(ran)}, none);
}

bool send(wire::Channel& channel, BatchAnswer answer, KeptOutputs& kept) {
  shorten(answer.ran.error, kErrorLength);
  wire::Ran failed{.batch = answer.ran.batch, .took = answer.ran.took};
  const std::vector<wire::Placed> outputs = answer.ran.outputs;
  std::string bytes;
  Status possible = wire::encode(wire::FromWorker(std::move(answer.ran)), bytes);
  std::size_t added = 0;
  for (; possible && added < answer.kept.size(); ++added) {
    const wire::Space place{outputs[added].offset, outputs[added].size};
    if (answer.kept[added] != nullptr && !kept.add(place, answer.kept[added]))
      possible = Error{ErrorCode::invalid, "the space for outputs is that of something that is kept"};
  }
  if (possible) return channel.send(bytes).ok();
  failed.error = possible.error().message;
  // The last one that was tried is another's.
  for (std::size_t i = 0; i + 1 < added; ++i) {
    if (answer.kept[i] != nullptr) (void)kept.take(outputs[i].offset);
  }
  return send(channel, wire::FromWorker(std::move(failed)));
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
