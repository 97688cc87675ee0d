#include "live/history.h"

#include <algorithm>

namespace sluice::live {
namespace {

constexpr std::size_t kLogLinesMax = 200;  // of one invocation

std::size_t bytes_of(const Application& application) {
  return sizeof(Application) + application.workflow.size() * sizeof(Stage);
}

}  // namespace

void History::arrived(const Arrived& arrived) {
  const std::lock_guard lock(mutex_);
  entries_[arrived.id].arrived = arrived;
  if (++requests_of_[arrived.application.get()] == 1) bytes_ += bytes_of(*arrived.application);
  order_.push_back(arrived.id);
  // Those that were forgotten meanwhile.
  while (!order_.empty() && !entries_.contains(order_.front())) order_.pop_front();
}

void History::started(const StartBatch& start, Time now) {
  const std::lock_guard lock(mutex_);
  const auto loaded = loaded_.find(start.instance);
  std::vector<Member>& members = running_[start.id];
  for (const BatchMember& member : start.members) {
    const auto it = entries_.find(member.request);
    if (it == entries_.end()) continue;
    members.push_back({member.request, member.invocation, it->second.spans.size()});
    it->second.spans.push_back({.path = member.path,
                                .stage = member.stage,
                                .ready = member.ready,
                                .start = now,
                                .invoker = start.invoker,
                                .configuration = start.configuration,
                                .members = static_cast<std::uint32_t>(start.members.size()),
                                .attempt = member.attempt,
                                .cold = loaded != loaded_.end() && loaded->second > member.ready});
  }
}

void History::finished(const BatchFinished& event, Time now) {
  const std::lock_guard lock(mutex_);
  const auto it = running_.find(event.id);
  if (it == running_.end()) return;
  for (const Member& member : it->second) {
    const auto entry = entries_.find(member.request);
    if (entry == entries_.end()) continue;
    Span& span = entry->second.spans[member.span];
    span.end = now;
    for (const InvocationResult& result : event.results) {
      if (result.id == member.invocation) span.error = result.error;
    }
  }
  running_.erase(it);
}

void History::failed(BatchId batch, const std::string& error, Time now) {
  const std::lock_guard lock(mutex_);
  const auto it = running_.find(batch);
  if (it == running_.end()) return;
  for (const Member& member : it->second) {
    const auto entry = entries_.find(member.request);
    if (entry == entries_.end()) continue;
    entry->second.spans[member.span].end = now;
    entry->second.spans[member.span].error = error;
  }
  running_.erase(it);
}

void History::loaded(InstanceId instance, Time now) {
  const std::lock_guard lock(mutex_);
  loaded_[instance] = now;
}

void History::unloaded(InstanceId instance) {
  const std::lock_guard lock(mutex_);
  loaded_.erase(instance);
}

void History::ended(RequestId id, const Ended& ended) {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end() || it->second.bytes > 0) return;
  Entry& entry = it->second;
  entry.ended = ended;
  entry.bytes = sizeof(Entry) + ended.error.size();
  for (const Span& span : entry.spans) {
    entry.bytes += sizeof(Span) + span.error.size();
    for (const std::string& line : span.log) entry.bytes += sizeof line + line.size();
  }
  bytes_ += entry.bytes;
  finished_.push_back(id);
  while (!finished_.empty() && (finished_.size() > finished_max_ || bytes_ > bytes_max_)) forget_oldest();
}

void History::forget_oldest() {
  const auto it = entries_.find(finished_.front());
  finished_.pop_front();
  const Application* application = it->second.arrived.application.get();
  bytes_ -= it->second.bytes;
  if (--requests_of_[application] == 0) {
    bytes_ -= bytes_of(*application);
    requests_of_.erase(application);
  }
  entries_.erase(it);
}

void History::log(BatchId batch, const std::string& line) {
  const std::lock_guard lock(mutex_);
  const auto it = running_.find(batch);
  if (it == running_.end()) return;
  for (const Member& member : it->second) {
    const auto entry = entries_.find(member.request);
    if (entry == entries_.end()) continue;
    std::vector<std::string>& lines = entry->second.spans[member.span].log;
    if (lines.size() < kLogLinesMax) lines.push_back(line);
  }
}

RequestRecord History::record_of(const Entry& entry) {
  const Application& application = *entry.arrived.application;
  RequestRecord out{.id = entry.arrived.id,
                    .tenant = application.tenant,
                    .application = application.name,
                    .version = entry.arrived.version,
                    .arrival = entry.arrived.arrival,
                    .deadline = entry.arrived.deadline,
                    .finished = entry.ended.at,
                    .state = entry.ended.state,
                    .asynchronous = entry.arrived.asynchronous,
                    .cost = entry.ended.cost,
                    .error = entry.ended.error};
  if (entry.ended.stage.valid()) out.stage = application.workflow.at(entry.ended.stage).name;
  for (const Span& span : entry.spans) {
    const Stage& stage = workflow_of(application, span.path).at(span.stage);
    out.stages.push_back({.stage = stage_name(application, span.path, span.stage),
                          .function = application.function(stage.function).name,
                          .ready = span.ready,
                          .start = span.start,
                          .end = span.end,
                          .invoker = span.invoker,
                          .configuration = span.configuration,
                          .members = span.members,
                          .attempt = span.attempt,
                          .cold = span.cold,
                          .error = span.error,
                          .log = span.log});
  }
  return out;
}

std::vector<RequestRecord> History::list(const RequestQuery& query) const {
  const std::lock_guard lock(mutex_);
  std::vector<RequestRecord> out;
  for (auto id = order_.rbegin(); id != order_.rend() && out.size() < query.limit; ++id) {
    const auto it = entries_.find(*id);
    if (it == entries_.end()) continue;
    const Entry& entry = it->second;
    if (!query.tenant.empty() && entry.arrived.application->tenant != query.tenant) continue;
    if (!query.application.empty() && entry.arrived.application->name != query.application) continue;
    if (query.state && entry.ended.state != *query.state) continue;
    out.push_back(record_of(entry));
  }
  return out;
}

std::optional<RequestRecord> History::find(RequestId id) const {
  const std::lock_guard lock(mutex_);
  const auto it = entries_.find(id);
  if (it == entries_.end()) return std::nullopt;
  return record_of(it->second);
}

}  // namespace sluice::live
