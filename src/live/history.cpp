#include "live/history.h"

#include <algorithm>
#include <unordered_set>

namespace sluice::live {
namespace {

constexpr std::size_t kLogLinesMax = 200;  // of one invocation
constexpr std::size_t kSpansUsual = 16;

std::size_t bytes_of(const Application& application) {
  return sizeof(Application) + application.workflow.size() * sizeof(Stage);
}

}  // namespace

History::Shared& History::unfinished(RequestId id) {
  if (spare_.empty() || unfinished_.contains(id)) return unfinished_[id];
  spare_.key() = id;
  return unfinished_.insert(std::move(spare_)).position->second;
}

void History::arrived(const Arrived& arrived) {
  const std::lock_guard lock(mutex_);
  if (++requests_of_[arrived.application.get()] == 1) bytes_ += bytes_of(*arrived.application);
  const bool again = unfinished_.contains(arrived.id);
  Shared& place = unfinished(arrived.id);
  if (again) release(*place);
  if (again || !place) place = std::make_shared<Entry>();
  Entry& entry = *place;
  entry.arrived = arrived;
  entry.ended = {.state = RequestState::running};
  entry.spans.clear();
  entry.spans.reserve(std::min<std::size_t>(arrived.application->workflow.size(), kSpansUsual));
  entry.bytes = 0;
}

History::Entry* History::running(RequestId id) {
  const auto it = unfinished_.find(id);
  return it == unfinished_.end() ? nullptr : it->second.get();
}

void History::started(const StartBatch& start, Time now) {
  const std::lock_guard lock(mutex_);
  const auto loaded = loaded_.find(start.instance);
  if (!spare_batch_.empty()) {
    spare_batch_.key() = start.id;
    spare_batch_.mapped().clear();
    batches_.insert(std::move(spare_batch_));
  }
  std::vector<Member>& members = batches_[start.id];
  members.reserve(start.members.size());
  for (const BatchMember& member : start.members) {
    Entry* entry = running(member.request);
    if (entry == nullptr) continue;
    members.push_back({member.request, member.invocation, entry->spans.size()});
    const bool cold = loaded != loaded_.end() && loaded->second > member.ready;
    entry->spans.push_back({.path = member.path,
                            .stage = member.stage,
                            .ready = member.ready,
                            .start = now,
                            .invoker = start.invoker,
                            .configuration = start.configuration,
                            .positions = start.positions,
                            .members = static_cast<std::uint32_t>(start.members.size()),
                            .attempt = member.attempt,
                            .item = member.item,
                            .cold = cold,
                            .loaded = cold ? loaded->second : Time(),
                            .reason = start.reason});
  }
}

void History::finished(const BatchFinished& event, Time now) {
  const std::lock_guard lock(mutex_);
  const auto it = batches_.find(event.id);
  if (it == batches_.end()) return;
  for (const Member& member : it->second) {
    Entry* entry = running(member.request);
    if (entry == nullptr || member.span >= entry->spans.size()) continue;
    Span& span = entry->spans[member.span];
    span.end = now;
    for (const InvocationResult& result : event.results) {
      if (result.id == member.invocation) span.error = result.error;
    }
  }
  end_batch(it);
}

void History::end_batch(Batches::iterator batch) {
  spare_batch_ = batches_.extract(batch);
}

void History::failed(BatchId batch, const std::string& error, Time now) {
  const std::lock_guard lock(mutex_);
  const auto it = batches_.find(batch);
  if (it == batches_.end()) return;
  for (const Member& member : it->second) {
    Entry* entry = running(member.request);
    if (entry == nullptr || member.span >= entry->spans.size()) continue;
    entry->spans[member.span].end = now;
    entry->spans[member.span].error = error;
  }
  end_batch(it);
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
  auto node = unfinished_.extract(id);
  if (node.empty()) return;
  Entry& entry = *node.mapped();
  entry.ended = ended;
  entry.bytes = sizeof(Entry) + ended.error.size();
  for (const Span& span : entry.spans) {
    entry.bytes += sizeof(Span) + span.error.size();
    for (const std::string& line : span.log) entry.bytes += sizeof(std::string) + line.size();
  }
  bytes_ += entry.bytes;
  finished_.push_back(node.mapped());
  const auto before = ended_.find(id);
  if (before != ended_.end())
    before->second = std::move(node.mapped());
  else
    ended_.insert(std::move(node));
  while (!finished_.empty() && (finished_.size() > finished_max_ || bytes_ > bytes_max_)) forget_oldest();
}

void History::release(const Entry& entry) {
  const Application* application = entry.arrived.application.get();
  bytes_ -= entry.bytes;
  if (--requests_of_[application] > 0) return;
  bytes_ -= bytes_of(*application);
  requests_of_.erase(application);
}

void History::forget_oldest() {
  const Shared oldest = std::move(finished_.front());
  finished_.pop_front();
  release(*oldest);
  const auto it = ended_.find(oldest->arrived.id);
  if (it == ended_.end() || it->second != oldest) return;
  spare_ = ended_.extract(it);
  if (oldest->read || oldest->spans.capacity() > kSpansUsual) return spare_.mapped().reset();
  oldest->arrived.application.reset();
}

void History::log(BatchId batch, const std::string& line) {
  const std::lock_guard lock(mutex_);
  const auto it = batches_.find(batch);
  if (it == batches_.end()) return;
  for (const Member& member : it->second) {
    Entry* entry = running(member.request);
    if (entry == nullptr || member.span >= entry->spans.size()) continue;
    std::vector<std::string>& lines = entry->spans[member.span].log;
    if (lines.size() < kLogLinesMax) lines.push_back(line);
  }
}

RequestRecord History::head_of(const Entry& entry) {
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
  return out;
}

// How long after the end of the attempt before it this one was ready; none: it is the first.
Duration History::retried_after(const Entry& entry, std::size_t span) {
  const Span& again = entry.spans[span];
  for (std::size_t i = span; again.attempt > 0 && i-- > 0;) {
    const Span& before = entry.spans[i];
    const bool same = before.stage == again.stage && before.item == again.item && before.path == again.path;
    if (same && before.attempt + 1 == again.attempt) return std::max(Duration(), again.ready - before.end);
  }
  return {};
}

StageRecord History::stage_of(const Entry& entry, std::size_t index) {
  const Application& application = *entry.arrived.application;
  const Span& span = entry.spans[index];
  const Stage& stage = workflow_of(application, span.path).at(span.stage);
  const Time loaded = span.cold ? std::min(span.loaded, span.start) : span.ready;
  const Time company_from = std::max(loaded, span.reason.company_from);
  return {.stage = stage_name(application, span.path, span.stage),
          .function = application.function(stage.function).name,
          .ready = span.ready,
          .start = span.start,
          .end = span.end,
          .invoker = span.invoker,
          .configuration = span.configuration,
          .positions = span.positions,
          .members = span.members,
          .attempt = span.attempt,
          .cold = span.cold,
          .loading = loaded - span.ready,
          .company = std::max(Duration(), std::min(span.start, span.reason.company_until) - company_from),
          .retry = retried_after(entry, index),
          .reason = span.reason,
          .error = span.error,
          .log = span.log};
}

RequestRecord History::record_of(const Entry& entry) {
  RequestRecord out = head_of(entry);
  for (std::size_t i = 0; i < entry.spans.size(); ++i) out.stages.push_back(stage_of(entry, i));
  return out;
}

// Of those that have ended pointers are copied under the lock, and records are made of them outside. Only requests that
// run are read under it.
std::vector<RequestRecord> History::list(const RequestQuery& query) const {
  const auto wanted = [&](const Entry& entry) {
    return (query.tenant.empty() || entry.arrived.application->tenant == query.tenant) &&
           (query.application.empty() || entry.arrived.application->name == query.application) &&
           (!query.state || entry.ended.state == *query.state);
  };
  std::vector<RequestRecord> out;
  std::vector<std::shared_ptr<const Entry>> ended;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, entry] : unfinished_) {
      if (wanted(*entry)) out.push_back(head_of(*entry));
    }
    ended.assign(finished_.begin(), finished_.end());
    for (const auto& entry : ended) entry->read = true;
  }
  std::erase_if(ended, [&](const auto& entry) { return !wanted(*entry); });
  const auto newer = [](const auto& a, const auto& b) { return a->arrived.arrival > b->arrived.arrival; };
  const std::size_t most = std::min(query.limit, ended.size());
  std::partial_sort(ended.begin(), ended.begin() + static_cast<std::ptrdiff_t>(most), ended.end(), newer);
  for (std::size_t i = 0; i < most; ++i) out.push_back(record_of(*ended[i]));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.arrival > b.arrival; });
  std::unordered_set<RequestId> seen;  // one that came again is listed as it came last
  std::erase_if(out, [&](const RequestRecord& record) { return !seen.insert(record.id).second; });
  if (out.size() > query.limit) out.resize(query.limit);
  return out;
}

// A copy of what runs, with the stages that began last.
std::optional<RequestRecord> History::find(RequestId id) const {
  constexpr std::size_t kSpansMax = 1000;
  std::shared_ptr<const Entry> entry;
  {
    const std::lock_guard lock(mutex_);
    if (const auto running = unfinished_.find(id); running != unfinished_.end()) {
      const Entry& from = *running->second;
      auto copy = std::make_shared<Entry>();
      copy->arrived = from.arrived;
      copy->ended = from.ended;
      const std::size_t most = std::min(kSpansMax, from.spans.size());
      copy->spans.assign(from.spans.end() - static_cast<std::ptrdiff_t>(most), from.spans.end());
      entry = std::move(copy);
    } else if (const auto it = ended_.find(id); it != ended_.end()) {
      entry = it->second;
      entry->read = true;
    }
  }
  return entry ? std::optional(record_of(*entry)) : std::nullopt;
}

}  // namespace sluice::live
