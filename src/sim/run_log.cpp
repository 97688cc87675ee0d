#include "sim/run_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace sluice::sim {
namespace {

constexpr std::string_view kRequestHead =
    "t,request_id,workflow_id,outcome,reject_code,latency,deadline,deadline_met,slack,cost,is_coldstart,is_warmup\n";
constexpr std::string_view kActionHead =
    "t,action_id,action_type,status,invoker_id,gpu_id,slice,workflow_id,stage,model_id,batch_size,vcpu,share,"
    "queue_wait,worker_action_received,load_duration,transfer_duration,expected_exec_duration,worker_exec_duration,"
    "expected_exec_complete,worker_exec_complete,controller_action_duration,requests_queued,requests\n";

// Cells of one line; text is quoted where it must be.
class Line {
 public:
  explicit Line(std::string& out) : out_(out) { out_.clear(); }
  template <class Value>
  Line& cell(const Value& value) {
    separate();
    detail::append(out_, value);
    return *this;
  }
  Line& text(std::string_view value) {
    separate();
    if (value.find_first_of(",\"\r\n") == std::string_view::npos) {
      out_ += value;
      return *this;
    }
    out_ += '"';
    for (const char c : value) out_.append(c == '"' ? 2 : 1, c);
    out_ += '"';
    return *this;
  }
  // Dollars to the pico-dollar.
  Line& dollars(PicoDollars cost) {
    constexpr std::int64_t kUnit = 1'000'000'000'000;
    const std::string rest = str(cost.count() % kUnit);
    separate();
    detail::append(out_, cost.count() / kUnit);
    out_ += '.';
    out_.append(12 - rest.size(), '0');
    out_ += rest;
    return *this;
  }
  void end(std::ostream& to) {
    out_ += '\n';
    to.write(out_.data(), static_cast<std::streamsize>(out_.size()));
  }

 private:
  void separate() {
    if (!std::exchange(first_, false)) out_ += ',';
  }
  std::string& out_;
  bool first_ = true;
};

Time oldest(std::span<const BatchMember> members, Time otherwise) {
  for (const BatchMember& member : members) otherwise = std::min(otherwise, member.ready);
  return otherwise;
}

}  // namespace

std::string_view name(Ending ending) {
  constexpr std::string_view kNames[] = {"met", "late", "rejected", "failed", "cancelled"};
  return kNames[static_cast<std::size_t>(ending)];
}

std::string_view name(RejectReason reason) {
  constexpr std::string_view kNames[] = {"slo_infeasible", "queue_full",   "quota_exceeded", "no_capacity",
                                         "cost_exceeded",  "not_deployed", "not_reservable", "overloaded"};
  static_assert(std::size(kNames) == static_cast<std::size_t>(last_of(RejectReason{})) + 1);
  return kNames[static_cast<std::size_t>(reason)];
}

std::string_view name(ActionKind kind) {
  constexpr std::string_view kNames[] = {"infer", "load", "evict"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name(ActionEnd end) {
  constexpr std::string_view kNames[] = {"succeeded", "failed", "lost"};
  return kNames[static_cast<std::size_t>(end)];
}

RunLog::RunLog(std::ostream& requests, std::ostream& actions) : requests_(requests), actions_(actions) {
  requests_ << kRequestHead;
  actions_ << kActionHead;
}

void RunLog::request(const RequestRow& row) {
  Line line(line_);
  line.cell(row.arrival.count_ns()).cell(row.id.value()).text(row.application_name).text(name(row.ending));
  line.text(row.reason ? name(*row.reason) : "");
  line.cell((row.finish - row.arrival).count_ns()).cell((row.deadline - row.arrival).count_ns());
  line.cell(row.ending == Ending::met ? 1 : 0).cell((row.deadline - row.finish).count_ns()).dollars(row.cost);
  line.cell(row.cold ? 1 : 0).cell(row.measured ? 0 : 1);
  line.end(requests_);
}

void RunLog::action(const ActionRow& row) {
  Line line(line_);
  const Duration received = row.started - row.decided;
  const Duration before = received + row.loading + row.transfer;
  line.cell(row.decided.count_ns()).cell(row.id).text(name(row.kind)).text(name(row.end));
  line.cell(row.invoker.value()).cell(row.positions.gpu).cell(row.positions.slices);
  line.text(row.application_name).text(row.stage).text(row.function);
  line.cell(row.configuration.batch).cell(row.configuration.vcpu).cell(row.configuration.slices);
  line.cell((row.decided - oldest(row.members, row.decided)).count_ns()).cell(received.count_ns());
  line.cell(row.loading.count_ns()).cell(row.transfer.count_ns());
  line.cell(row.expected.count_ns()).cell(row.measured.count_ns());
  line.cell((before + row.expected).count_ns()).cell((before + row.measured).count_ns());
  line.cell((row.finished - row.decided).count_ns()).cell(row.queued);
  std::string requests;
  for (const BatchMember& member : row.members) {
    if (!requests.empty()) requests += ';';
    detail::append(requests, member.request.value());
  }
  line.text(requests).end(actions_);
}

}  // namespace sluice::sim
