// What goes out: commands to the invokers, answers to callers, snapshots to readers.
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "domain/wiring.h"
#include "live/ports_of.h"
#include "live/runner.h"

namespace sluice::live {
namespace {

bool for_invoker(const Action& action) {
  return std::visit(
      [](const auto& a) {
        return requires {
          a.invoker;
        };
      },
      action);
}

}  // namespace

void Runner::deliver(Commands& commands) {
  for (Command& command : commands.list) {
    if (auto* start = std::get_if<StartBatch>(&command.action)) {
      history_.started(*start, now_);
      Batch& batch = batches_[start->id];
      const BatchMember& oldest = start->members.front();
      batch = {start->application, oldest.path, oldest.stage, static_cast<std::uint32_t>(start->members.size()), {}};
      for (const BatchMember& member : start->members) batch.waited += now_ - member.ready;
    } else if (const auto* refused = std::get_if<Reject>(&command.action)) {
      reject(*refused);
    } else if (const auto* replied = std::get_if<Reply>(&command.action)) {
      reply(*replied);
    } else if (const auto* order = std::get_if<MakePlans>(&command.action)) {
      planning_.make(*order, scheduler_->work_of(*order));
    }
    if (!for_invoker(command.action) || keep_release(command)) continue;
    link_.send(command);
  }
}

// Objects stay until the gateway has fetched what it needs of them.
bool Runner::keep_release(Command& command) {
  const auto* release = std::get_if<ReleaseObjects>(&command.action);
  if (release == nullptr || untaken_.empty()) return false;
  const auto it = untaken_.find(release->request);
  if (it == untaken_.end()) return false;
  it->second.releases.push_back(std::move(command));
  return true;
}

void Runner::reject(const Reject& refused) {
  bus::Answered out{.request = refused.request, .kind = bus::Answered::Kind::rejected};
  out.reason = refused.reason;
  out.needed = refused.needed;
  out.available = refused.available;
  out.retry_after = refused.retry_after;
  answer(std::move(out), RequestState::rejected);
}

void Runner::reply(const Reply& replied) {
  const auto it = pending_.find(replied.request);
  if (it == pending_.end()) return;
  const Pending& pending = it->second;
  bus::Answered out{.request = replied.request};
  out.stage = replied.stage;
  out.error = replied.error;
  out.cost = replied.cost;
  out.outermost = replied.outermost;
  out.places = replied.places;
  RequestState state = now_ <= pending.deadline ? RequestState::met : RequestState::late;
  switch (replied.outcome) {
    case RequestOutcome::finished:
      break;
    case RequestOutcome::failed:
      out.kind = bus::Answered::Kind::failed;
      state = RequestState::failed;
      break;
    case RequestOutcome::deadline_exceeded:
      out.kind = bus::Answered::Kind::deadline_exceeded;
      state = RequestState::failed;
      break;
    case RequestOutcome::cancelled:
      out.kind = bus::Answered::Kind::cancelled;
      state = RequestState::cancelled;
      break;
  }
  answer(std::move(out), state);
}

void Runner::answer(bus::Answered out, RequestState state) {
  auto node = pending_.extract(out.request);
  if (node.empty()) return;
  const Pending& pending = node.mapped();
  if (pending.timeout) timeouts_.erase({*pending.timeout, out.request});
  out.latency = now_ - pending.arrival;
  out.slack = pending.deadline - now_;
  Untaken untaken{.application = pending.application, .answered = out, .state = state, .releases = {}};
  const auto taken = pending.gateway->answered(std::move(out));
  if (!taken) return void(untaken_.emplace(untaken.answered.request, std::move(untaken)));
  ended(untaken, *taken);
  pending.gateway->settle();
}

void Runner::read(bus::AnswerTaken& taken) {
  auto node = untaken_.extract(taken.request);
  if (node.empty()) return;
  ended(node.mapped(), taken);
  for (Command& release : node.mapped().releases) link_.send(release);
}

void Runner::ended(const Untaken& untaken, const bus::AnswerTaken& taken) {
  const bus::Answered& answered = untaken.answered;
  const RequestState state = taken.error.empty() ? untaken.state : RequestState::failed;
  const bool finished = answered.kind == bus::Answered::Kind::finished && taken.error.empty();
  const Dollars cost = answered.cost.to_dollars();
  ModelStats& stats = deployed_[untaken.application.index()].stats;
  --stats.pending;
  stats.cost += cost;
  stats.met += state == RequestState::met ? 1 : 0;
  stats.late += state == RequestState::late ? 1 : 0;
  stats.rejected += state == RequestState::rejected ? 1 : 0;
  stats.failed += state == RequestState::failed ? 1 : 0;
  stats.cancelled += state == RequestState::cancelled ? 1 : 0;
  Counted& counted = finished ? stats.success : stats.fail;
  ++counted.count;
  counted.ns += static_cast<std::uint64_t>(answered.latency.count_ns());
  history_.ended(answered.request, {.state = state,
                                    .at = now_,
                                    .cost = cost,
                                    .stage = answered.stage,
                                    .error = taken.error.empty() ? answered.error : taken.error});
}

NodeInfo Runner::node_of(const policy::Invoker& invoker) {
  NodeInfo out{.id = invoker.id,
               .name = str("node-", invoker.id.value()),
               .state = invoker.usable ? "READY" : "DRAINING",
               .vcpu = invoker.vcpu,
               .vcpu_free = invoker.vcpu_free,
               .running = invoker.running,
               .memory = invoker.memory,
               .memory_free = invoker.memory_free};
  for (const policy::Gpu& gpu : invoker.gpus) {
    out.gpus.push_back({gpu.slices, gpu.free_count(), gpu.memory, gpu.memory_free});
  }
  return out;
}

Model Runner::model_of(const std::string& tenant, const std::string& name, const Deployed& deployed) {
  return {.tenant = tenant,
          .name = name,
          .version = deployed.version,
          .state = ModelState::ready,
          .reason = deployed.reason,
          .application = deployed.application,
          .target = deployed.target,
          .is_function = deployed.is_function,
          .inputs = deployed.inputs,
          .outputs = deployed.outputs,
          .batch_max = deployed.batch_max,
          .stats = deployed.stats};
}

void Runner::publish() {
  auto next = std::make_shared<Snapshot>();
  next->at = published_ = now_;
  next->started = started_;
  for (const auto& [tenant, names] : names_) {
    for (const auto& [name, id] : names) next->models.push_back(model_of(tenant, name, deployed_[id.index()]));
  }
  for (const auto& [name, model] : missing_) next->models.push_back(model);
  std::sort(next->models.begin(), next->models.end(), [](const Model& a, const Model& b) {
    return std::tie(a.tenant, a.is_function, a.name) < std::tie(b.tenant, b.is_function, b.name);
  });
  for (const policy::Invoker& invoker : scheduler_->books().invokers()) next->nodes.push_back(node_of(invoker));
  next->in_system = scheduler_->requests_in_system();
  next->mailbox_size = mailbox_.size();
  next->mailbox_max = mailbox_.max();
  next->objects_used = Bytes(static_cast<std::int64_t>(arenas_.used()));
  next->objects_max = Bytes(static_cast<std::int64_t>(arenas_.max()));
  next->bytes_in = bytes_in_;
  next->retries = scheduler_->counters().retries;
  next->decisions = decisions_;
  next->steps = steps_;
  next->planned_here = scheduler_->planned_here();
  tell_.describe(*next);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
  changed_ = false;
}

}  // namespace sluice::live
