#include "sim/oracle/oracles.h"

namespace sluice::sim {

void Oracles::note(std::string wrong) {
  if (broken_.empty()) broken_ = std::move(wrong);
}

void Oracles::observed(const Event& event, Time now) {
  history_.observed(event, now);
  liveness_.observed(event, now);
  for (const History::EndedBatch& batch : history_.ended()) {
    repeats_.ended(batch);
    failures_.ended(history_, batch);
  }
}

void Oracles::decided(const Commands& commands, Time now) {
  note(liveness_.wrong(history_, now));
  for (const Command& command : commands.list) judge(command, now);
}

void Oracles::judge(const Command& command, Time now) {
  if (const auto* batch = std::get_if<StartBatch>(&command.action)) {
    note(tenants_.started(history_, *batch));
    if (broken_.empty()) note(repeats_.started(history_, *batch));
    circles_.started(history_, *batch);
  } else if (const auto* load = std::get_if<LoadInstance>(&command.action)) {
    circles_.loaded(history_, *load);
  } else if (const auto* evict = std::get_if<EvictInstance>(&command.action)) {
    note(circles_.evicted(history_, *evict));
  } else if (const auto* reply = std::get_if<Reply>(&command.action)) {
    note(failures_.answered(history_, *reply));
    repeats_.forget(reply->request);
  }
  history_.decided(command, now);
}

}  // namespace sluice::sim
