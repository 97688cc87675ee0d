// What goes out: commands to the invokers, answers to callers, snapshots to readers.
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "data/values.h"
#include "domain/wiring.h"
#include "live/ports_of.h"
#include "live/rejection.h"
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
    }
    if (for_invoker(command.action)) link_.send(command);
  }
}

void Runner::reject(const Reject& refused) {
  const auto it = pending_.find(refused.request);
  if (it == pending_.end()) return;
  Answer out{.kind = AnswerKind::rejected,
             .reason = refused.reason,
             .needed = refused.needed,
             .available = refused.available,
             .retry_after = refused.retry_after};
  out.error = rejection_text(out, deployed_[it->second.application.index()].application->name);
  answer(refused.request, std::move(out), RequestState::rejected, StageId::none());
}

void Runner::reply(const Reply& replied) {
  const auto it = pending_.find(replied.request);
  if (it == pending_.end()) return;
  const Pending& pending = it->second;
  const Application& application = *deployed_[pending.application.index()].application;
  Answer out{.error = replied.error, .cost = replied.cost.to_dollars()};
  if (replied.stage.valid()) out.stage = application.workflow.at(replied.stage).name;
  RequestState state = now_ <= pending.deadline ? RequestState::met : RequestState::late;
  switch (replied.outcome) {
    case RequestOutcome::finished: {
      auto outputs = data::Values(objects_, application, {replied.request, replied.outermost},
                                  *deployed_[pending.application.index()].arena)
                         .outputs();
      if (outputs) {
        out.outputs = std::move(*outputs);
        break;
      }
      out.kind = AnswerKind::failed;
      out.error = outputs.error().message;
      state = RequestState::failed;
      break;
    }
    case RequestOutcome::failed:
      out.kind = AnswerKind::failed;
      state = RequestState::failed;
      break;
    case RequestOutcome::deadline_exceeded:
      out.kind = AnswerKind::deadline_exceeded;
      state = RequestState::failed;
      break;
    case RequestOutcome::cancelled:
      out.kind = AnswerKind::cancelled;
      state = RequestState::cancelled;
      break;
  }
  answer(replied.request, std::move(out), state, replied.stage);
}

void Runner::answer(RequestId id, Answer out, RequestState state, StageId stage) {
  objects_.release(id);
  auto node = pending_.extract(id);
  if (node.empty()) return;
  Pending& pending = node.mapped();
  if (pending.timeout) timeouts_.erase({*pending.timeout, id});
  out.request = id;
  out.latency = now_ - pending.arrival;
  out.slack = pending.deadline - now_;
  out.version = deployed_[pending.application.index()].version;
  ModelStats& stats = deployed_[pending.application.index()].stats;
  --stats.pending;
  stats.cost += out.cost;
  stats.met += state == RequestState::met ? 1 : 0;
  stats.late += state == RequestState::late ? 1 : 0;
  stats.rejected += state == RequestState::rejected ? 1 : 0;
  stats.failed += state == RequestState::failed ? 1 : 0;
  stats.cancelled += state == RequestState::cancelled ? 1 : 0;
  Counted& counted = out.kind == AnswerKind::finished ? stats.success : stats.fail;
  ++counted.count;
  counted.ns += static_cast<std::uint64_t>(out.latency.count_ns());
  history_.ended(id, {.state = state, .at = now_, .cost = out.cost, .stage = stage, .error = out.error});
  if (pending.answer) pending.answer(std::move(out));
}

NodeInfo Runner::node_of(const policy::Invoker& invoker) const {
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
  tell_.describe(*next);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
  changed_ = false;
}

}  // namespace sluice::live
