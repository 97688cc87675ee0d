#include "invoker/session.h"

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "domain/limits.h"

namespace sluice::invoker {
namespace {

// Whether an output may be where the worker says it is.
bool may_be_there(const wire::Placed& output, bool keep) {
  if (output.device == wire::kHost) return true;
  return keep && output.device == 0 && output.size > limits::kept_bytes_min && output.info.type != DataType::bytes;
}

}  // namespace

Session::Session(WorkerProcess process, std::shared_ptr<data::Arena> arena, Options options)
    : process_(std::move(process)), arena_(std::move(arena)), options_(options) {}

Status Session::tell(const wire::ToWorker& message, const std::vector<int>& descriptors) {
  if (const Status encoded = wire::encode(message, bytes_); !encoded) return encoded;
  return process_.channel.send(bytes_, descriptors);
}

Status Session::hello() {
  return tell(wire::Hello{.arena_bytes = arena_->capacity(),
                          .lanes = options_.lanes,
                          .mode = options_.mode,
                          .slices = options_.slices,
                          .pinned = options_.slices > 0},
              {arena_->descriptor()});
}

// A worker that others join too was made before their models were known: the file comes with the message.
Status Session::load(std::uint32_t number, const Function& function, const Body& body, GpuForm form) {
  CHECK(functions_.emplace(number, State::loading).second);
  Body told = body;
  if (!process_.model.empty()) told.model = process_.model;
  wire::Load load{.function = number,
                  .name = function.name,
                  .body = std::move(told),
                  .inputs = function.inputs,
                  .outputs = function.outputs};
  if (options_.slices == 0) return tell(wire::ToWorker(std::move(load)));
  load.device = 0;  // it sees one GPU alone
  load.memory = function.memory;
  load.body.form = form;
  wire::Descriptor model;
  if (body.runtime == Runtime::torch) model = wire::Descriptor(::open(body.model.c_str(), O_RDONLY | O_CLOEXEC));
  const std::vector<int> along = model.valid() ? std::vector{model.get()} : std::vector<int>();
  return tell(wire::ToWorker(std::move(load)), along);
}

Status Session::move(std::uint32_t number, Level level) {
  const auto function = functions_.find(number);
  CHECK(options_.slices > 0 && function != functions_.end() && function->second == State::loaded);
  function->second = State::moving;
  return tell(wire::Move{.function = number, .level = level});
}

bool Session::is_loading(std::uint32_t number) const {
  const auto function = functions_.find(number);
  return function != functions_.end() && function->second == State::loading;
}

Status Session::unload(std::uint32_t number) {
  const auto function = functions_.find(number);
  CHECK(function != functions_.end() && function->second == State::loaded);
  function->second = State::unloading;
  return tell(wire::Unload{number});
}

Status Session::run(wire::Run run, data::Block space, std::vector<data::Block> held) {
  run.outputs = {space.offset(), space.size()};
  const std::uint64_t batch = run.batch;
  const bool keep = run.keep;
  if (const Status told = tell(wire::ToWorker(std::move(run))); !told) return told;
  asked_.push_back({.batch = batch, .keep = keep, .space = std::move(space), .held = std::move(held)});
  return Done{};
}

Status Session::cancel(std::uint64_t batch) {
  const auto it = asked(batch);
  if (it == asked_.end() || std::exchange(it->cancelled, true)) return Done{};
  return tell(wire::Cancel{batch});
}

Status Session::fetch(std::uint64_t offset, data::Block space) {
  fetching_.insert_or_assign(offset, std::move(space));
  return tell(wire::Fetch{offset});
}

Status Session::release(std::uint64_t offset) {
  return tell(wire::Release{offset});
}

std::vector<Session::Asked>::iterator Session::asked(std::uint64_t batch) {
  return std::find_if(asked_.begin(), asked_.end(), [&](const Asked& one) { return one.batch == batch; });
}

bool Session::hung_up() const {
  if (process_.channel.descriptor() < 0) return true;
  pollfd closed{process_.channel.descriptor(), 0, 0};
  return ::poll(&closed, 1, 0) > 0 && (closed.revents & POLLHUP) != 0;
}

Session::Heard Session::hear() {
  switch (process_.channel.receive(bytes_)) {
    case wire::Received::nothing:
      return Nothing{};
    case wire::Received::closed:
      return Closed{};
    case wire::Received::message:
      break;
  }
  auto message = wire::decode_from_worker(bytes_);
  if (!message) return Broken{"wrote rubbish"};
  return std::visit([this](auto& one) { return this->on(one); }, *message);
}

Session::Heard Session::on(wire::Loaded& loaded) {
  const auto function = functions_.find(loaded.function);
  if (function == functions_.end() || function->second != State::loading) {
    return Broken{"said that it has loaded what it was not asked to"};
  }
  if (loaded.error.empty()) {
    function->second = State::loaded;
  } else {
    functions_.erase(function);
  }
  loaded.batches = std::clamp(loaded.batches, 1u, options_.lanes);
  return std::move(loaded);
}

Session::Heard Session::on(wire::Unloaded& unloaded) {
  const auto function = functions_.find(unloaded.function);
  if (function == functions_.end() || function->second != State::unloading) {
    return Broken{"said that it has unloaded what it was not asked to"};
  }
  functions_.erase(function);
  return unloaded;
}

Session::Heard Session::on(wire::Moved& moved) {
  const auto function = functions_.find(moved.function);
  if (function == functions_.end() || function->second != State::moving) {
    return Broken{"said that it has moved what it was not asked to"};
  }
  function->second = State::loaded;
  return std::move(moved);
}

Session::Heard Session::on(wire::Ran& ran) {
  const auto it = asked(ran.batch);
  if (it == asked_.end()) return Broken{"answered what it was not asked"};
  if (ran.cancelled && !it->cancelled) return Broken{"gave up a batch that nobody cancelled"};
  const auto there = [&](const wire::Placed& output) { return may_be_there(output, it->keep); };
  if (!std::ranges::all_of(ran.outputs, there)) return Broken{"kept an output on a device that it was not asked to"};
  Answer answer{.ran = std::move(ran), .space = std::move(it->space)};
  asked_.erase(it);
  return answer;
}

Session::Heard Session::on(wire::Wanted& wanted) {
  const auto it = asked(wanted.batch);
  if (it == asked_.end()) return Broken{"asked for space for no batch"};
  wire::Grant grant{.batch = wanted.batch};
  if (auto space = space_of(static_cast<std::size_t>(wanted.bytes))) {
    grant.outputs = {space->offset(), space->size()};
    it->space = std::move(*space);
  }
  if (tell(wire::ToWorker(grant)) || hung_up()) return Nothing{};
  return Broken{"does not read what it is told"};
}

Session::Heard Session::on(wire::Fetched& fetched) {
  if (fetching_.erase(fetched.offset) == 0) return Broken{"fetched what it was not asked to"};
  return std::move(fetched);
}

std::optional<data::Block> Session::space_of(std::size_t bytes) const {
  auto space = arena_->allocate(bytes);
  if (space && options_.own_pages) arena_->populate(*space);
  return space;
}

}  // namespace sluice::invoker
