#include "sim/oracle/failures.h"

#include <algorithm>

#include "base/text.h"

namespace sluice::sim {
namespace {

bool names(const Retry& retry, const std::string& error) {
  return retry.on.empty() || std::any_of(retry.on.begin(), retry.on.end(), [&](const std::string& name) {
           return error == name || error.starts_with(name + ":");
         });
}

bool fails_with(const Workflow& workflow, const std::string& error) {
  return std::any_of(workflow.stages.begin(), workflow.stages.end(), [&](const Stage& stage) {
    if (stage.kind == Stage::Kind::fail && stage.failure.error == error) return true;
    return stage.foreach && !stage.foreach->body.empty() && fails_with(stage.foreach->body.front(), error);
  });
}

}  // namespace

// Failures of an invocation after which it is tried again.
std::uint32_t Failures::allowed(const Stage& stage, const std::string& error, Cause cause) const {
  if (cause == Cause::not_run) return limits_.attempts_max;
  if (!stage.idempotent) return 0;
  return std::max(cause == Cause::machine ? limits_.attempts_max : 0,
                  stage.retry && names(*stage.retry, error) ? stage.retry->attempts : 0);
}

void Failures::count(const History& history, const BatchMember& member, const std::string& error, Cause cause) {
  if (history.call(member.request) == nullptr) return;
  Count& count = counts_[member.request][{member.outermost(), member.path, member.stage, member.item}];
  ++count.failures;
  count.allowed = allowed(history.stage_of(member), error, cause);
  count.error = error;
}

void Failures::ended(const History& history, const History::EndedBatch& batch) {
  if (batch.how == History::EndedBatch::How::expired) return;
  for (const BatchMember& member : batch.start.members) {
    if (batch.how == History::EndedBatch::How::failed) {
      count(history, member, batch.error, Cause::machine);
      continue;
    }
    const auto result = std::find_if(batch.results.begin(), batch.results.end(),
                                     [&](const InvocationResult& r) { return r.id == member.invocation; });
    if (result == batch.results.end())
      count(history, member, "NoResult", Cause::machine);
    else if (result->outcome != Outcome::succeeded)
      count(history, member, result->error, result->outcome == Outcome::not_run ? Cause::not_run : Cause::function);
  }
}

bool Failures::justified(const History& history, const Reply& reply, const History::Call& call) const {
  const Application& application = history.application(call.application);
  if (const auto it = counts_.find(reply.request); it != counts_.end()) {
    for (const auto& [invocation, count] : it->second) {
      if (count.error == reply.error && count.failures > count.allowed) return true;
    }
  }
  if (reply.error == "ObjectLost") return call.losses > (call.ran_unrepeatable ? 0 : limits_.attempts_max);
  if (reply.error == "QueueFull") return limits_.queue_max < core::Limits{}.queue_max;
  if (fails_with(application.workflow, reply.error)) return true;
  // Its function failed to load, while this request was there.
  for (FunctionId::rep f = 0; f < application.functions.size(); ++f) {
    const auto failed = std::count_if(
        history.failed_loads().begin(), history.failed_loads().end(), [&](const History::FailedLoad& load) {
          return load.at >= call.arrival && load.error == reply.error &&
                 history.same_function({load.application, load.function}, {call.application, FunctionId(f)});
        });
    if (failed >= static_cast<std::ptrdiff_t>(limits_.attempts_max)) return true;
  }
  return false;
}

std::string Failures::answered(const History& history, const Reply& reply) {
  const History::Call* call = history.call(reply.request);
  if (call == nullptr) return str("request ", reply.request.value(), " was answered and is not there");
  std::string wrong;
  if (reply.outcome == RequestOutcome::cancelled && !call->cancelled)
    wrong = str("request ", reply.request.value(), " was cancelled and nobody asked for it");
  if (reply.outcome == RequestOutcome::failed && !justified(history, reply, *call))
    wrong = str("request ", reply.request.value(), " failed with ", reply.error,
                " without as many failures as it is allowed");
  counts_.erase(reply.request);
  return wrong;
}

}  // namespace sluice::sim
