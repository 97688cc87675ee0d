#include "live/journal.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "data/clock.h"
#include "data/tensor_blob.h"
#include "invoker/gather.h"

namespace sluice::live {
namespace {

store::State stored(RequestState state) {
  return static_cast<store::State>(state);
}

RequestState state_of(const Answer& answer) {
  switch (answer.kind) {
    case AnswerKind::finished:
      return answer.slack >= Duration{} ? RequestState::met : RequestState::late;
    case AnswerKind::rejected:
      return RequestState::rejected;
    case AnswerKind::cancelled:
      return RequestState::cancelled;
    case AnswerKind::failed:
    case AnswerKind::deadline_exceeded:
      return RequestState::failed;
  }
  return RequestState::failed;
}

RequestRecord record_of(const store::RequestRecord& kept) {
  return {.id = kept.request.id,
          .tenant = kept.request.tenant,
          .application = kept.request.application,
          .caller_id = kept.request.caller_id,
          .version = kept.answer.version,
          .arrival = kept.request.arrival,
          .deadline = kept.request.arrival + kept.request.objective,
          .finished = kept.answer.finished,
          .state = static_cast<RequestState>(kept.answer.state),
          .asynchronous = true,
          .cost = kept.answer.cost,
          .stage = kept.answer.stage,
          .error = kept.answer.error};
}

// What the backlog knows an application by. No tenant's name has a '/'.
std::string key_of(const std::string& tenant, const std::string& application) {
  return str(tenant, "/", application);
}
struct Owned {
  std::string tenant, application;
};
Owned owned(const std::string& key) {
  const std::size_t slash = key.find('/');
  return {key.substr(0, slash), key.substr(slash + 1)};
}

// The application that a request is of, if this start cannot run that: `name` is its own, or that of a function of it.
const Model* unavailable_owner(std::span<const Model> models, const std::string& name) {
  for (const Model& model : models) {
    if (model.state == ModelState::unavailable && (name == model.name || name.starts_with(model.name + ".")))
      return &model;
  }
  return nullptr;
}

}  // namespace

Journal::Journal(Options options, store::Writer& writer, store::Reader& reader, data::Arenas& arenas, Desk& desk,
                 const std::vector<store::Request>& unfinished)
    : options_(std::move(options)), writer_(writer), reader_(reader), arenas_(arenas), desk_(desk) {
  for (const store::Request& request : unfinished)
    backlog_.add(key_of(request.tenant, request.application), request.id);
  thread_ = std::thread([this] { run(); });
}

void Journal::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Journal::pause() {
  const std::lock_guard lock(mutex_);
  paused_ = true;
}

std::size_t Journal::waiting() const {
  const std::lock_guard lock(mutex_);
  return backlog_.size();
}

void Journal::say(Remark remark) const {
  remark.component = "requests";
  if (options_.say) options_.say(remark);
}

// Inputs become bytes in the writer's thread: copying them here would hold up the scheduler.
void Journal::accept(RequestId id, Call call, std::function<void(Result<RequestId>)> accepted) {
  if (const std::size_t now = waiting(); now >= options_.waiting_max) {
    return accepted(Error{ErrorCode::unavailable, str("the journal is full: ", now, " accepted requests wait, at most ",
                                                      options_.waiting_max)});
  }
  store::Request request{.id = id,
                         .tenant = call.principal.tenant,
                         .application = call.application,
                         .arrival = data::now(),
                         .objective = call.objective.value(),
                         .timeout = call.timeout,
                         .priority = call.priority,
                         .caller_id = call.caller_id};
  auto inputs = call.inputs;
  writer_.post([request = std::move(request),
                inputs](store::Store& s) { return s.put_request(request, data::to_blob(*inputs)); },
               [this, id, call = std::move(call), accepted = std::move(accepted)](const Status& status) mutable {
                 if (!status) return accepted(status.error());
                 accepted(id);
                 let_in_fresh(id, std::move(call));
               });
}

// Behind those of its application that wait, and not where they leave no room for others.
void Journal::let_in_fresh(RequestId id, Call call) {
  const std::string application = key_of(call.principal.tenant, call.application);
  const auto wait = [&] {
    backlog_.add(application, id);
    backlog_.set_ready(application, true);
    changed_.notify_one();
  };
  std::uint64_t turn = 0;
  {
    const std::lock_guard lock(mutex_);
    if (backlog_.size_of(application) > 0 || crowded(0)) return wait();
    turn = backlog_.next_turn();
  }
  Desk::Errand errand{
      id, std::move(call),
      [this, fresh = Backlog::Waiting{application, id, turn}](const Answer& answer) { answered(fresh, false, answer); },
      true};
  if (desk_.call(errand)) return;
  const std::lock_guard lock(mutex_);
  wait();
}

// Half of the memory is left to callers who wait, and to what functions leave.
bool Journal::crowded(std::size_t more) const {
  return arenas_.used() + more > arenas_.max() / 2;
}

void Journal::applications_changed(const Snapshot& snapshot) {
  std::vector<std::pair<std::string, RequestId>> removed;
  std::string kept;
  {
    const std::lock_guard lock(mutex_);
    for (const std::string& key : backlog_.applications()) {
      const auto [tenant, name] = owned(key);
      const Model* model = snapshot.find(tenant, name);
      const bool ready = model != nullptr && model->state == ModelState::ready;
      const Model* missing = ready ? nullptr : unavailable_owner(snapshot.models_of(tenant), name);
      backlog_.set_ready(key, ready);
      if (missing != nullptr && !told_)
        kept += str(kept.empty() ? "" : ", ", backlog_.size_of(key), " accepted requests of '", name, "'");
      if (ready || missing != nullptr) continue;
      for (const RequestId id : backlog_.remove_all(key)) removed.emplace_back(name, id);
    }
    told_ = true;
  }
  changed_.notify_one();
  if (!kept.empty())
    say({.level = Remark::Level::warning, .text = str(kept, " are kept until what they need is here again")});
  for (const auto& [name, id] : removed)
    finish(id, store::State::rejected, str("application '", name, "' was removed"));
}

bool Journal::cancel(const Principal& principal, RequestId id) {
  {
    const std::lock_guard lock(mutex_);
    const auto key = backlog_.application_of(id);
    if (!key || !principal.sees(owned(*key).tenant)) return false;
    (void)backlog_.remove(id);
  }
  finish(id, store::State::cancelled, "");
  return true;
}

// When to try next to let one in; nothing: when something changes.
std::optional<Time> Journal::due() const {
  if (paused_ || !told_ || let_in_ >= options_.let_in_max) return std::nullopt;
  const auto at = backlog_.due();
  return at ? std::optional(std::max(*at, no_room_until_)) : std::nullopt;
}

// Nobody says when the arena or the mailbox has room again: then it is tried again soon.
void Journal::run() {
  constexpr Duration kTryAgain = Duration::ms(50);
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto at = due();
    const Time now = data::now();
    if (!at) {
      changed_.wait(lock);
      continue;
    }
    const auto waiting = *at <= now ? backlog_.take(now) : std::nullopt;
    if (!waiting) {
      changed_.wait_for(lock, std::chrono::nanoseconds(std::max<std::int64_t>(1, (*at - now).count_ns())));
      continue;
    }
    const bool alone = let_in_++ == 0;
    lock.unlock();
    const Outcome outcome = let_in(*waiting, alone);
    lock.lock();
    if (outcome == Outcome::let_in) continue;
    --let_in_;
    if (outcome != Outcome::no_room) continue;
    backlog_.put_back(*waiting, Time());
    no_room_until_ = now + kTryAgain;
  }
}

// With its whole objective: the time while it could not be served is not held against it.
Journal::Outcome Journal::let_in(const Backlog::Waiting& waiting, bool alone) {
  if (!alone && crowded(0)) return Outcome::no_room;
  const auto record = reader_.find(waiting.id);
  const auto inputs = reader_.inputs_of(waiting.id);
  if (!record || !inputs) return Outcome::no_room;
  if (!*record || !*inputs) return Outcome::settled;
  if ((*inputs)->size() > arenas_.max()) {
    say({.level = Remark::Level::warning,
         .text = str("an accepted request of '", owned(waiting.application).application, "' has ", (*inputs)->size(),
                     " bytes, which is larger than all memory for tensors, ", arenas_.max(),
                     ": it is kept for a start with more"),
         .request = waiting.id.value()});
    return Outcome::settled;
  }
  if (!alone && crowded((*inputs)->size())) return Outcome::no_room;
  const auto own = arenas_.of(data::Arenas::kServer);
  if (!own) return Outcome::no_room;
  auto tensors = data::from_blob(**inputs, **own);
  if (!tensors && tensors.error().code == ErrorCode::unavailable) return Outcome::no_room;
  if (!tensors) {
    finish(waiting.id, store::State::failed, tensors.error().message);
    return Outcome::settled;
  }
  const store::Request& request = (*record)->request;
  Desk::Errand errand{waiting.id,
                      {.principal = {.tenant = request.tenant, .role = Role::caller},
                       .application = request.application,
                       .target = nullptr,
                       .inputs = std::make_shared<const data::Tensors>(std::move(*tensors)),
                       .objective = request.objective,
                       .timeout = request.timeout,
                       .priority = request.priority,
                       .caller_id = request.caller_id},
                      [this, waiting](const Answer& answer) { answered(waiting, true, answer); },
                      true};
  return desk_.call(errand) ? Outcome::let_in : Outcome::no_room;
}

// Whether it waits again instead of being answered so. One that waited was accepted long ago: it takes turns with the
// others until the machines have room. Memory that was short is tried again unless it had the arena to itself.
bool Journal::passes(const Answer& answer, bool waited) const {
  if (answer.kind == AnswerKind::rejected)
    return waited && (answer.reason == RejectReason::overloaded || answer.reason == RejectReason::queue_full);
  return answer.kind == AnswerKind::failed && answer.error.starts_with(invoker::kObjectStoreFull) &&
         (let_in_ > 0 || arenas_.used() > 0);
}

void Journal::answered(const Backlog::Waiting& waiting, bool waited, const Answer& answer) {
  bool again = false;
  {
    const std::lock_guard lock(mutex_);
    if (waited) --let_in_;
    again = passes(answer, waited);
    no_room_until_ = Time();
    constexpr Duration kSoon = Duration::ms(20), kLate = Duration::s(1);
    if (again) backlog_.put_back(waiting, data::now() + std::clamp(answer.retry_after.value_or(kSoon), kSoon, kLate));
  }
  changed_.notify_one();
  if (!again) finish(waiting.id, answer);
}

void Journal::finish(RequestId id, const Answer& answer) {
  Kept kept{.answer = {.state = stored(state_of(answer)),
                       .finished = data::now(),
                       .cost = answer.cost,
                       .stage = answer.stage,
                       .error = answer.error,
                       .version = answer.version}};
  if (answer.kind == AnswerKind::finished) kept.outputs = answer.outputs;
  write_answer(id, std::make_shared<const Kept>(std::move(kept)));
}

void Journal::finish(RequestId id, store::State state, std::string error) {
  write_answer(id, std::make_shared<const Kept>(
                       Kept{.answer = {.state = state, .finished = data::now(), .error = std::move(error)}}));
}

void Journal::write_answer(RequestId id, const std::shared_ptr<const Kept>& kept) {
  writer_.post(
      [id, kept](store::Store& s) {
        const bool finished = kept->answer.state == store::State::met || kept->answer.state == store::State::late;
        return s.finish_request(id, kept->answer, finished ? data::to_blob(kept->outputs) : std::string());
      },
      [this, id, kept](const Status& status) { written(id, kept, status); });
}

// An answer must not be lost because the writer is busy or the disk is full: it is tried again after the next that is
// kept. One that is too large for the store would be too large after every restart.
void Journal::written(RequestId id, const std::shared_ptr<const Kept>& kept, const Status& status) {
  if (!status && status.error().code == ErrorCode::too_large)
    return finish(id, store::State::failed, str("its outputs cannot be kept: ", status.error().message));
  std::vector<std::function<void()>> again;
  {
    const std::lock_guard lock(mutex_);
    const bool passes =
        !status && (status.error().code == ErrorCode::unavailable || status.error().code == ErrorCode::io);
    if (passes) {
      unwritten_.emplace_back([this, id, kept] { write_answer(id, kept); });
    } else {
      again.swap(unwritten_);
    }
  }
  for (auto& task : again) task();
}

std::vector<RequestRecord> Journal::list(const RequestQuery& query) const {
  store::RequestQuery kept{.tenant = query.tenant, .application = query.application, .limit = query.limit};
  if (query.state) kept.state = stored(*query.state);
  std::vector<RequestRecord> out;
  const auto records = reader_.list(kept);
  if (!records) return out;
  for (const store::RequestRecord& record : *records) out.push_back(record_of(record));
  return out;
}

std::optional<RequestRecord> Journal::find(RequestId request) const {
  const auto kept = reader_.find(request);
  if (!kept || !*kept) return std::nullopt;
  return record_of(**kept);
}

// In memory of its own: an answer that is kept can be fetched while there is no room for new requests.
std::shared_ptr<const data::Tensors> Journal::outputs_of(RequestId request) const {
  const auto blob = reader_.outputs_of(request);
  if (!blob || !*blob) return nullptr;
  constexpr std::size_t kSpare = 1u << 20;  // for what rounding adds to many tensors
  const auto own = data::Arena::make(Bytes(static_cast<std::int64_t>(2 * (*blob)->size() + kSpare)));
  if (!own) return nullptr;
  auto tensors = data::from_blob(**blob, **own);
  return tensors ? std::make_shared<const data::Tensors>(std::move(*tensors)) : nullptr;
}

}  // namespace sluice::live
