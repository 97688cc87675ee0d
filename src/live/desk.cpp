#include "live/desk.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "data/values.h"
#include "live/rejection.h"

namespace sluice::live {
namespace {

Bytes bytes_of(const data::Tensors& tensors) {
  std::size_t total = 0;
  for (const data::Tensor& tensor : tensors) total += tensor.size;
  return Bytes(static_cast<std::int64_t>(total));
}

// Workers of its tenant see this arena and no other. Usually the inputs are there; those from the journal are not.
// False: there is no room.
bool bring_inputs(const Target& target, std::shared_ptr<const data::Tensors>& inputs) {
  data::Arena& arena = *target.arena;
  if (std::ranges::all_of(*inputs, [&](const data::Tensor& tensor) { return tensor.block.is_in(arena); })) return true;
  auto brought = data::brought_into(arena, *inputs);
  if (brought) inputs = std::make_shared<const data::Tensors>(std::move(*brought));
  return brought.has_value();
}

Answer not_deployed(RequestId id, const std::string& application) {
  return {.request = id,
          .kind = AnswerKind::rejected,
          .reason = RejectReason::not_deployed,
          .error = str("there is no application '", application, "' any more")};
}

Answer no_room(RequestId id, const Target& target, const data::Tensors& inputs) {
  return {.request = id,
          .kind = AnswerKind::rejected,
          .reason = RejectReason::queue_full,
          .needed = static_cast<double>(bytes_of(inputs).count()),
          .available = static_cast<double>(target.arena->capacity() - target.arena->used()),
          .error = "no room for its inputs now"};
}

}  // namespace

Desk::Desk(bus::Door& door, data::ObjectStore& objects, std::function<std::shared_ptr<const Snapshot>()> snapshot,
           bus::Objects* elsewhere)
    : door_(door), objects_(objects), snapshot_(std::move(snapshot)), elsewhere_(elsewhere) {
  if (elsewhere != nullptr) resolver_.emplace(*elsewhere, objects_);
}

std::shared_ptr<const Target> Desk::find(const std::string& tenant, const std::string& application) const {
  const auto snapshot = snapshot_();
  const Model* model = snapshot->find(tenant, application);
  return model == nullptr ? nullptr : model->target;
}

// What the data say about the way, as far as it is known when the request begins.
void Desk::describe(bus::Arrival& arrival, const Target& target) const {
  auto known =
      data::Values(objects_, *target.application, {arrival.request}, *target.arena).known_after(StageId::none());
  arrival.application = target.id;
  arrival.error = known ? std::string() : known.error().message;
  arrival.verdicts = known ? std::move(known->verdicts) : std::vector<Verdict>();
  arrival.fan_outs = known ? std::move(known->fan_outs) : std::vector<FanOut>();
}

std::optional<bus::Arrival> Desk::open(Errand& errand) {
  Call& call = errand.call;
  auto target = call.target != nullptr ? call.target : find(call.principal.tenant, call.application);
  if (target == nullptr) return errand.answer(not_deployed(errand.id, call.application)), std::nullopt;
  if (!bring_inputs(*target, call.inputs)) {
    return errand.answer(no_room(errand.id, *target, *call.inputs)), std::nullopt;
  }
  bus::Arrival arrival{.request = errand.id,
                       .application = target->id,
                       .objective = call.objective,
                       .timeout = call.timeout,
                       .priority = call.priority,
                       .asynchronous = errand.asynchronous,
                       .bytes = bytes_of(*call.inputs),
                       .verdicts = {},
                       .fan_outs = {},
                       .error = {}};
  objects_.open(errand.id, call.inputs);
  describe(arrival, *target);
  {
    const std::lock_guard lock(mutex_);
    waiting_.emplace(errand.id, Waiting{std::move(errand.answer), std::move(target), std::move(call.held)});
  }
  return arrival;
}

void Desk::close(Errand& errand) {
  auto waiting = leave(errand.id);
  objects_.release(errand.id);
  errand.answer = std::move(waiting->answer);
  errand.call.held = std::move(waiting->held);
}

bool Desk::call(Errand& errand) {
  auto arrival = open(errand);
  if (!arrival || door_.offer({&*arrival, 1}, *this)) return true;
  close(errand);
  return false;
}

bool Desk::call_together(std::span<Errand> errands) {
  std::vector<bus::Arrival> arrivals;
  std::vector<Errand*> opened;
  for (Errand& errand : errands) {
    auto arrival = open(errand);
    if (!arrival) {
      errand.answer = nullptr;
      continue;
    }
    arrivals.push_back(std::move(*arrival));
    opened.push_back(&errand);
  }
  if (arrivals.empty() || door_.offer(arrivals, *this)) return true;
  for (Errand* errand : opened) close(*errand);
  return false;
}

void Desk::cancel(const Principal& principal, RequestId request) {
  {
    const std::lock_guard lock(mutex_);
    const auto it = waiting_.find(request);
    if (it == waiting_.end() || !principal.sees(it->second.target->application->tenant)) return;
  }
  door_.cancel(request);
}

std::optional<Desk::Waiting> Desk::leave(RequestId request) {
  const std::lock_guard lock(mutex_);
  auto node = waiting_.extract(request);
  return node.empty() ? std::nullopt : std::optional(std::move(node.mapped()));
}

std::optional<bus::AnswerTaken> Desk::answered(bus::Answered answered) {
  auto waiting = leave(answered.request);
  if (!waiting) return bus::AnswerTaken{.request = answered.request, .error = {}};
  if (answered.kind != AnswerKind::finished) return take(std::move(*waiting), std::move(answered), data::Tensors{});
  if (resolver_ && !answered.places.empty() && fetch(*waiting, answered)) return std::nullopt;
  const Target& target = *waiting->target;
  auto outputs =
      data::Values(objects_, *target.application, {answered.request, answered.outermost}, *target.arena).outputs();
  return take(std::move(*waiting), std::move(answered), std::move(outputs));
}

bus::AnswerTaken Desk::take(Waiting waiting, bus::Answered answered, Result<data::Tensors> outputs) {
  bus::AnswerTaken taken{.request = answered.request, .error = {}};
  const Application& application = *waiting.target->application;
  Answer out{.request = answered.request,
             .kind = answered.kind,
             .reason = answered.reason,
             .needed = answered.needed,
             .available = answered.available,
             .retry_after = answered.retry_after,
             .error = std::move(answered.error),
             .latency = answered.latency,
             .slack = answered.slack,
             .cost = answered.cost.to_dollars(),
             .version = waiting.target->version};
  if (answered.stage.valid()) out.stage = application.workflow.at(answered.stage).name;
  if (out.kind == AnswerKind::rejected) out.error = rejection_text(out, application.name);
  if (outputs) {
    out.outputs = std::move(*outputs);
  } else {
    out.kind = AnswerKind::failed;
    out.error = taken.error = outputs.error().message;
  }
  objects_.release(answered.request);
  if (elsewhere_ != nullptr) elsewhere_->forget(answered.request);
  taken_.push_back({std::move(waiting.answer), std::move(out)});
  return taken;
}

// False: everything is here, or nothing of it can be had.
bool Desk::fetch(Waiting& waiting, bus::Answered& answered) {
  const RequestId request = answered.request;
  auto outputs = std::make_shared<Result<data::Tensors>>(data::Tensors{});
  auto ticket = resolver_->resolve(
      {.request = request,
       .places = answered.places,
       .arena = waiting.target->arena,
       .attempt =
           [this, outputs, target = waiting.target, run = answered.outermost, request](data::Missing& missing) {
             *outputs =
                 data::Values(objects_, *target->application, {request, run}, *target->arena, &missing).outputs();
           },
       .done = [this, request](const bus::Resolver::Missed&) { fetched(request); }});
  if (!ticket) return false;
  fetching_.emplace(request, Fetching{std::move(waiting), std::move(answered), outputs, std::move(ticket)});
  return true;
}

void Desk::fetched(RequestId request) {
  auto node = fetching_.extract(request);
  Fetching& all = node.mapped();
  door_.taken(take(std::move(all.waiting), std::move(all.answered), std::move(*all.outputs)));
  settle();
}

// A caller who is told may call again at once.
void Desk::settle() {
  settling_.swap(taken_);
  for (Telling& telling : settling_) telling.caller(std::move(telling.answer));
  settling_.clear();
}

// Another version has taken its place: the same inputs may say something else about its way.
void Desk::moved(bus::Arrival arrival) {
  std::shared_ptr<const Target> before;
  {
    const std::lock_guard lock(mutex_);
    const auto it = waiting_.find(arrival.request);
    if (it == waiting_.end()) return;
    before = it->second.target;
  }
  const Application& old = *before->application;
  const auto target = find(old.tenant, old.name);
  const auto give_up = [&](Answer answer) {
    const auto waiting = leave(arrival.request);
    objects_.release(arrival.request);
    if (waiting) waiting->answer(std::move(answer));
  };
  if (target == nullptr || target->id == before->id) return give_up(not_deployed(arrival.request, old.name));
  {
    const std::lock_guard lock(mutex_);
    waiting_[arrival.request].target = target;
  }
  describe(arrival, *target);
  if (door_.offer({&arrival, 1}, *this)) return;
  give_up({.request = arrival.request, .kind = AnswerKind::rejected, .reason = RejectReason::queue_full});
}

}  // namespace sluice::live
