#include "record/replay.h"

#include "base/text.h"
#include "policy/catalog.h"
#include "record/command_hash.h"
#include "record/event_check.h"

namespace sluice::record {

Result<std::unique_ptr<core::Scheduler>> make_scheduler(const LogHeader& header) {
  auto policies = policy::make_scheduler(header.scheduler, header.parameters);
  if (!policies) return policies.error();
  return std::make_unique<core::Scheduler>(std::move(policies).value(), header.limits, header.transfer);
}

policy::Derive derives_of(const LogHeader& header, const std::vector<NodeGroup>& machines) {
  return policy::derives_of(header.scheduler, header.parameters, machines);
}

Status load_save(const LogHeader& header, std::string_view save, core::Scheduler& scheduler) {
  if (hash_of_save(save) != header.begins_with)
    return Error{ErrorCode::invalid, "the save is damaged, or not the one that the log goes on from"};
  return scheduler.load(save);
}

Result<Replayed> replay(LogReader& log, core::Scheduler& scheduler) {
  Replayed out;
  EventCheck allowed(scheduler);
  Commands commands;
  for (;;) {
    const std::uint64_t byte = log.offset();
    const auto refused = [byte](const Error& error) {
      return Error{error.code, str("the record at byte ", byte, " of the log cannot be replayed: ", error.message)};
    };
    const auto record = log.next();
    if (!record && log.cut_off()) out.cut_off = record.error();
    if (!record && !log.cut_off()) return record.error();
    if (!record || !*record) return out;
    if (const auto* observed = std::get_if<Observed>(&**record)) {
      if (const Status status = allowed.check(*observed); !status) return refused(status.error());
      scheduler.observe(observed->event, observed->at);
      ++out.events;
      continue;
    }
    const Decided& recorded = std::get<Decided>(**record);
    if (const Status status = allowed.check(recorded.at); !status) return refused(status.error());
    commands.list.clear();
    scheduler.decide(recorded.at, commands);
    ++out.decisions;
    out.commands += commands.list.size();
    const Decided replayed{.at = recorded.at, .commands = commands.list.size(), .hash = hash_of(commands)};
    if (replayed == recorded) continue;
    out.difference = {.events = out.events, .decision = out.decisions, .recorded = recorded, .replayed = replayed};
    return out;
  }
}

}  // namespace sluice::record
