// What a run leaves behind: its logs, and what a report is made from.
#include "sim/run_log.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "base/text.h"
#include "sim/run_shape.h"
#include "sim/run_window.h"
#include "sim/world.h"
#include "spec/load.h"

namespace sluice::sim {
namespace {

using Row = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line, char separator) {
  std::vector<std::string> out;
  std::istringstream in(line);
  for (std::string cell; std::getline(in, cell, separator);) out.push_back(cell);
  return out;
}

// A table without quoted cells.
std::vector<Row> table(const std::string& text) {
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> head = split(line, ',');
  std::vector<Row> rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line, ',');
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (i == 0) rows.emplace_back();
      rows.back()[head[i]] = cells[i];
    }
  }
  return rows;
}

Experiment experiment(const std::string& path, std::uint64_t requests) {
  const spec::Loaded loaded = spec::load(path);
  EXPECT_TRUE(loaded.document.has_value());
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = requests;
  out.workload.warmup = requests / 10;
  return out;
}

RunResult watch(const Experiment& experiment, Observer* observer, const Faults& faults = {},
                const std::string& scheduler = "sluice") {
  auto world = World::make(experiment, {.scheduler = scheduler, .faults = faults, .observer = observer});
  EXPECT_TRUE(world.ok());
  return (*world)->run();
}

struct Logged {
  RunResult result;
  std::string requests, actions;
};
Logged logged(const Experiment& experiment, const Faults& faults = {}, const std::string& scheduler = "sluice") {
  std::ostringstream requests, actions;
  RunLog log(requests, actions);
  RunResult result = watch(experiment, &log, faults, scheduler);
  return {std::move(result), requests.str(), actions.str()};
}

const Faults kFaults{.crash_per_event = 0.002, .batch_fails = 0.02, .cancel = 0.05, .slow = 0.02};

TEST(RunLog, RequestsAddUpToTheResult) {
  const Logged run = logged(experiment("examples/esg/moderate_heavy.yaml", 600), kFaults);
  std::map<std::string, std::uint64_t> outcomes;
  double cost = 0;
  std::uint64_t rows = 0;
  for (const Row& row : table(run.requests)) {
    if (row.at("is_warmup") == "1") continue;
    ++rows;
    ++outcomes[row.at("outcome")];
    cost += *parse_double(row.at("cost"));
    EXPECT_EQ(row.at("deadline_met") == "1", row.at("outcome") == "met");
    EXPECT_EQ(*parse_int(row.at("deadline")) - *parse_int(row.at("latency")), *parse_int(row.at("slack")));
  }
  EXPECT_EQ(rows, run.result.requests);
  EXPECT_EQ(outcomes["met"], run.result.met);
  EXPECT_EQ(outcomes["late"], run.result.late);
  EXPECT_EQ(outcomes["failed"], run.result.failed);
  EXPECT_EQ(outcomes["cancelled"], run.result.cancelled);
  EXPECT_GT(run.result.cancelled, 0u);
  EXPECT_NEAR(cost, run.result.cost, 1e-9);
}

TEST(RunLog, EveryBatchIsThereOnceAndItsMembersAreRequests) {
  const Logged run = logged(experiment("examples/esg/moderate_heavy.yaml", 600), kFaults);
  std::set<std::string> requests, actions;
  for (const Row& row : table(run.requests)) EXPECT_TRUE(requests.insert(row.at("request_id")).second);
  std::uint64_t members = 0, lost = 0;
  for (const Row& row : table(run.actions)) {
    EXPECT_TRUE(actions.insert(row.at("action_id")).second) << row.at("action_id");
    for (const std::string& request : split(row.at("requests"), ';')) {
      EXPECT_TRUE(requests.contains(request)) << request;
      ++members;
    }
    lost += row.at("status") == "lost";
    EXPECT_GE(*parse_int(row.at("queue_wait")), 0);
    if (row.at("status") == "succeeded") {
      EXPECT_EQ(row.at("worker_exec_complete"), row.at("controller_action_duration"));
    }
  }
  EXPECT_EQ(actions.size(), run.result.batches);
  EXPECT_EQ(members, run.result.members);
  EXPECT_GT(lost, 0u);
}

std::string two_lines(const std::string& text) {
  return text.substr(0, text.find('\n', text.find('\n') + 1));
}

// The columns of docs/simulating.md; change both together.
TEST(RunLog, HasTheColumnsOfTheDocumentation) {
  const Logged run = logged(experiment("examples/esg/strict_light.yaml", 10), {}, "fifo");
  EXPECT_EQ(
      two_lines(run.requests),
      "t,request_id,workflow_id,outcome,reject_code,latency,deadline,deadline_met,slack,cost,is_coldstart,is_warmup\n"
      "105285908,1,image-classification,late,,505571023,420800000,0,-84771023,0.000098861356,0,0");
  EXPECT_EQ(two_lines(run.actions),
            "t,action_id,action_type,status,invoker_id,gpu_id,slice,workflow_id,stage,model_id,batch_size,vcpu,share,"
            "queue_wait,worker_action_received,load_duration,transfer_duration,expected_exec_duration,"
            "worker_exec_duration,expected_exec_complete,worker_exec_complete,controller_action_duration,"
            "requests_queued,requests\n"
            "46869308,0,infer,succeeded,0,0,1,background-elimination,super-resolution,super-resolution,1,1,1,"
            "0,10000,0,0,86000000,87930360,86010000,87940360,87940360,0,0");
}

TEST(RunLog, QuotesWhatNeedsQuotes) {
  std::ostringstream requests, actions;
  RunLog log(requests, actions);
  log.request({.id = RequestId(7),
               .application_name = "a, \"b\"",
               .deadline = Time::from_ns(5),
               .ending = Ending::rejected,
               .reason = RejectReason::queue_full,
               .cost = PicoDollars(1'000'000'000'042)});
  EXPECT_NE(requests.str().find("0,7,\"a, \"\"b\"\"\",rejected,queue_full,0,5,0,5,1.000000000042,0,1\n"),
            std::string::npos)
      << requests.str();
}

TEST(Observer, ChangesNothing) {
  const Experiment moderate = experiment("examples/esg/moderate_heavy.yaml", 300);
  std::ostringstream requests, actions;
  RunLog log(requests, actions);
  EXPECT_EQ(watch(moderate, &log, kFaults).hash, watch(moderate, nullptr, kFaults).hash);
}

TEST(RunShape, CountsEveryRequestAndPutsHitsBelowOne) {
  const Experiment moderate = experiment("examples/esg/moderate_heavy.yaml", 2'000);
  RunShape shape(moderate.applications.size(), moderate.workload.warmup);
  const RunResult result = watch(moderate, &shape);
  std::uint64_t in_time = 0, all = 0;
  for (const RunShape::Shares& shares : shape.shares()) {
    for (std::size_t i = 0; i < shares.counts.size(); ++i) {
      all += shares.counts[i];
      if (i < RunShape::kBinsPerObjective) in_time += shares.counts[i];
    }
    all += shares.slower;
  }
  EXPECT_EQ(in_time, result.met);
  EXPECT_EQ(all, result.met + result.late);
  EXPECT_GT(result.late, 0u);
}

TEST(RunShape, ARequestThatJustMetItsObjectiveIsNotLate) {
  RunShape shape(1, 0);
  shape.request(
      {.id = RequestId(0), .deadline = Time::from_ns(1'000), .finish = Time::from_ns(1'000), .measured = true});
  EXPECT_EQ(shape.shares()[0].counts.size(), RunShape::kBinsPerObjective);
  shape.request({.id = RequestId(1),
                 .deadline = Time::from_ns(1'000'000),
                 .finish = Time::from_ns(1'000'001),
                 .ending = Ending::late,
                 .measured = true});
  EXPECT_EQ(shape.shares()[0].counts.size(), RunShape::kBinsPerObjective + 1);
}

TEST(RunShape, TheWindowHoldsTheSlowestOfBothRunsWhereItCan) {
  RunShape one(1, 0), other(1, 0);
  const auto add = [](RunShape& shape, std::uint64_t id, double share) {
    shape.request({.id = RequestId(id),
                   .deadline = Time::from_ns(1'000'000),
                   .finish = Time::from_ns(static_cast<std::int64_t>(share * 1e6)),
                   .ending = share > 1 ? Ending::late : Ending::met,
                   .measured = true});
  };
  for (std::uint64_t id = 500; id < 10'000; ++id) {
    add(one, id, id == 7'050 ? 1.5 : id == 1'000 ? 1.1 : 0.9);
    add(other, id, id == 7'950 ? 3.0 : 0.5);
  }
  const std::uint64_t first = RunShape::choose_window({&one, &other}, 2'000);
  EXPECT_LE(first, 7'050u);
  EXPECT_GT(first + 2'000, 7'950u);
  EXPECT_EQ(RunShape::choose_window({&one}, 20'000), 500u);  // longer than the run: from the warm-up on
}

TEST(RunWindow, KeepsTheRequestsAskedForAndAllOfTheirBatches) {
  const Experiment moderate = experiment("examples/esg/moderate_heavy.yaml", 600);
  RunWindow window(200, 100);
  (void)watch(moderate, &window);
  EXPECT_EQ(window.requests().size(), 100u);
  std::map<std::uint64_t, Time> last;  // when the last batch of a request was over
  for (const RunWindow::Action& action : window.actions()) {
    bool ours = false;
    for (const BatchMember& member : action.members) {
      ours = ours || (member.request.value() >= 200 && member.request.value() < 300);
      last[member.request.value()] = action.row.finished;
    }
    EXPECT_TRUE(ours);
    EXPECT_LT(action.stage, window.stages().size());
  }
  for (const RequestRow& row : window.requests()) EXPECT_EQ(last[row.id.value()], row.finish) << row.id.value();
}

}  // namespace
}  // namespace sluice::sim
