// What goes out: commands to the invokers, answers to callers, snapshots to readers.
#include "base/text.h"
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

NodeInfo node_of(const policy::Invoker& invoker) {
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

}  // namespace

void Runner::deliver(Commands& commands) {
  for (Command& command : commands.list) {
    if (auto* start = std::get_if<StartBatch>(&command.action)) {
      history_.started(*start, now_);
      batches_.started(*start, now_);
    } else if (const auto* refused = std::get_if<Reject>(&command.action)) {
      callers_.answer(*refused, now_);
    } else if (const auto* replied = std::get_if<Reply>(&command.action)) {
      callers_.answer(*replied, now_);
    } else if (const auto* order = std::get_if<MakePlans>(&command.action)) {
      planning_.make(*order, scheduler_->work_of(*order));
    }
    if (!for_invoker(command.action) || callers_.keep_release(command)) continue;
    link_.send(command);
  }
}

void Runner::publish() {
  auto next = std::make_shared<Snapshot>();
  next->at = published_ = now_;
  next->started = started_;
  next->models = directory_.models();
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
  listeners_.describe(*next);
  std::atomic_store(&snapshot_, std::shared_ptr<const Snapshot>(std::move(next)));
  changed_ = false;
}

}  // namespace sluice::live
