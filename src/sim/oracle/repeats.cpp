#include "sim/oracle/repeats.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::sim {

std::string Repeats::started(const History& history, const StartBatch& batch) {
  for (const BatchMember& member : batch.members) {
    const Stage& stage = history.stage_of(member);
    if (stage.idempotent) continue;
    if (!started_[member.request].insert({member.path, member.stage, member.item}).second)
      return str("stage '", stage.name, "' of request ", member.request.value(),
                 " must not run twice and was started again");
  }
  return "";
}

void Repeats::ended(const History::EndedBatch& batch) {
  const auto ran = [&](const BatchMember& member) {
    if (batch.how == History::EndedBatch::How::expired) return false;
    return std::none_of(batch.results.begin(), batch.results.end(), [&](const InvocationResult& r) {
      return r.id == member.invocation && r.outcome == Outcome::not_run;
    });
  };
  for (const BatchMember& member : batch.start.members) {
    if (ran(member)) continue;
    if (const auto it = started_.find(member.request); it != started_.end())
      it->second.erase({member.path, member.stage, member.item});
  }
}

}  // namespace sluice::sim
