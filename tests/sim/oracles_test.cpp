// The oracles of soak: forged histories, each with one fault that the oracle must name and its lawful twin.
#include "sim/oracle/oracles.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace sluice::sim {
namespace {

Function function(std::string name) {
  ProfileTable table;
  table.rows.push_back({.configuration = configuration(4, 1, 1), .mean_ms = 10, .sd_ms = 0});
  return {.name = std::move(name),
          .cpu = Body{},
          .gpu = Body{},
          .memory = Bytes::gb(1),
          .cold_start = {Duration::ms(1), Duration::ms(1), Duration::ms(1)},
          .profile = std::move(table)};
}

// A history that is written by hand: machine 0 with two GPUs, a batch an invocation unless said otherwise.
class Forged {
 public:
  explicit Forged(const core::Limits& limits = {}) : oracles_(limits) {
    see(InvokerJoined{.id = InvokerId(0), .epoch = 1, .capacity = {.vcpu = 8, .gpus = 2}, .warm = true});
  }
  Forged& deploy(std::uint32_t id, std::string tenant, Stage stage = {}) {
    Application application{.name = str("a", id), .tenant = std::move(tenant)};
    application.objective.latency = Duration::ms(100);
    application.functions.push_back(function("f"));
    stage.name = "s";
    stage.function = FunctionId(0);
    application.workflow.stages.push_back(std::move(stage));
    return see(ApplicationDeployed{ApplicationId(id), std::make_shared<const Application>(std::move(application))});
  }
  Forged& arrive(std::uint64_t request, std::uint32_t application = 0) {
    return see(RequestArrived{
        .id = RequestId(request), .application = ApplicationId(application), .deadline = now_ + Duration::ms(100)});
  }
  Forged& load(std::uint64_t instance, std::uint32_t application = 0) {
    return say(LoadInstance{.invoker = InvokerId(0),
                            .instance = InstanceId(instance),
                            .application = ApplicationId(application),
                            .function = FunctionId(0)});
  }
  Forged& evict(std::uint64_t instance) {
    return say(EvictInstance{.invoker = InvokerId(0), .instance = InstanceId(instance)});
  }
  Forged& fail_load(std::uint64_t instance) {
    return see(LoadFailed{.invoker = InvokerId(0), .instance = InstanceId(instance), .error = "LoadFailed"});
  }
  Forged& start(std::uint64_t batch, std::vector<std::uint64_t> requests, InstanceId instance = InstanceId::none(),
                std::uint32_t application = 0) {
    StartBatch start{.id = BatchId(batch),
                     .invoker = InvokerId(0),
                     .instance = instance,
                     .application = ApplicationId(application),
                     .function = FunctionId(0),
                     .configuration = configuration(1, 1, 1)};
    for (const std::uint64_t request : requests) {
      start.members.push_back({.invocation = InvocationId(batch * 10 + request),
                               .request = RequestId(request),
                               .run = 1,
                               .stage = StageId(0)});
    }
    return say(start);
  }
  Forged& crash(std::uint64_t batch) { return see(BatchFailed{.id = BatchId(batch), .error = "WorkerCrashed"}); }
  Forged& fail(std::uint64_t batch, std::uint64_t request) {
    return see(BatchFinished{
        .id = BatchId(batch),
        .results = {{.id = InvocationId(batch * 10 + request), .outcome = Outcome::failed, .error = "FunctionError"}}});
  }
  Forged& answer(std::uint64_t request, std::string error = "") {
    return say(Reply{.request = RequestId(request),
                     .outcome = error.empty() ? RequestOutcome::finished : RequestOutcome::failed,
                     .error = std::move(error)});
  }
  Forged& pass(Duration time) {
    now_ += time;
    oracles_.decided({}, now_);
    return *this;
  }
  Forged& pass_undecided(Duration time) {
    now_ += time;
    return *this;
  }
  Forged& see(const Event& event) {
    oracles_.observed(event, now_);
    return *this;
  }
  Forged& say(Action action) {
    Commands commands;
    commands.list.push_back({.action = std::move(action)});
    oracles_.decided(commands, now_);
    return *this;
  }
  [[nodiscard]] bool well() const { return oracles_.broken().empty(); }
  [[nodiscard]] bool finds(std::string_view text) const { return oracles_.broken().find(text) != std::string::npos; }

 private:
  Oracles oracles_;
  Time now_;
};

Stage unrepeatable() {
  Stage out;
  out.idempotent = false;
  return out;
}

TEST(Oracles, TenantsShareNoBatch) {
  EXPECT_TRUE(Forged().deploy(0, "a").deploy(1, "a").arrive(1, 0).arrive(2, 0).start(1, {1, 2}).well());
  EXPECT_TRUE(Forged().deploy(0, "a").deploy(1, "b").arrive(1, 0).arrive(2, 1).start(1, {1, 2}).finds(
      "of tenant 'a' holds a request of tenant 'b'"));
}

TEST(Oracles, TenantsShareNoInstance) {
  Forged lawful, planted;
  lawful.deploy(0, "a").deploy(1, "a").load(7, 1).arrive(1).start(1, {1}, InstanceId(7));
  planted.deploy(0, "a").deploy(1, "b").load(7, 1).arrive(1).start(1, {1}, InstanceId(7));
  EXPECT_TRUE(lawful.well());
  EXPECT_TRUE(planted.finds("runs on an instance of another function or tenant"));
}

TEST(Oracles, NothingStartsForARequestThatIsOver) {
  Forged planted;
  planted.deploy(0, "a").arrive(1).start(1, {1}).answer(1).start(2, {1});
  EXPECT_TRUE(planted.finds("which is over"));
}

TEST(Oracles, WhatIsNotIdempotentRunsOnce) {
  Forged lawful, planted, expired;
  lawful.deploy(0, "a").arrive(1).start(1, {1}).crash(1).start(2, {1});
  planted.deploy(0, "a", unrepeatable()).arrive(1).start(1, {1}).crash(1).start(2, {1});
  expired.deploy(0, "a", unrepeatable()).arrive(1).start(1, {1}).see(BatchExpired{BatchId(1)}).start(2, {1});
  EXPECT_TRUE(lawful.well());
  EXPECT_TRUE(planted.finds("must not run twice"));
  EXPECT_TRUE(expired.well());
}

TEST(Oracles, OneInvocationHasToFailAsOftenAsItMay) {
  const core::Limits limits{.attempts_max = 2};
  Forged lawful(limits), planted(limits), duplicated(limits);
  lawful.deploy(0, "a").arrive(1).start(1, {1}).crash(1).start(2, {1}).crash(2).start(3, {1}).crash(3);
  EXPECT_TRUE(lawful.answer(1, "WorkerCrashed").well());
  planted.deploy(0, "a").arrive(1).start(1, {1}).crash(1).start(2, {1}).crash(2);
  EXPECT_TRUE(planted.answer(1, "WorkerCrashed").finds("without as many failures"));
  duplicated.deploy(0, "a").arrive(1).start(1, {1}).crash(1).crash(1).crash(1);  // one failure, told three times
  EXPECT_TRUE(duplicated.answer(1, "WorkerCrashed").finds("without as many failures"));
}

TEST(Oracles, AnErrorOfTheFunctionCountsAtOnceUnlessTheStageTriesAgain) {
  Stage tries;
  tries.retry = Retry{.attempts = 1};
  Forged once, again;
  EXPECT_TRUE(once.deploy(0, "a").arrive(1).start(1, {1}).fail(1, 1).answer(1, "FunctionError").well());
  again.deploy(0, "a", tries).arrive(1).start(1, {1}).fail(1, 1).answer(1, "FunctionError");
  EXPECT_TRUE(again.finds("without as many failures"));
}

TEST(Oracles, LoadsCountOnlyWhileTheRequestIsThere) {
  Forged lawful, planted;
  lawful.deploy(0, "a").arrive(1).load(1).fail_load(1).load(2).fail_load(2).load(3).fail_load(3);
  EXPECT_TRUE(lawful.answer(1, "LoadFailed").well());
  planted.deploy(0, "a").load(1).fail_load(1).load(2).fail_load(2).pass(Duration::ms(1)).arrive(1).load(3).fail_load(3);
  EXPECT_TRUE(planted.answer(1, "LoadFailed").finds("without as many failures"));
}

TEST(Oracles, NobodyIsCancelledUnasked) {
  Forged lawful, planted;
  const Reply cancelled{.request = RequestId(1), .outcome = RequestOutcome::cancelled};
  EXPECT_TRUE(lawful.deploy(0, "a").arrive(1).see(RequestCancelled{RequestId(1)}).say(cancelled).well());
  EXPECT_TRUE(planted.deploy(0, "a").arrive(1).say(cancelled).finds("nobody asked for it"));
}

TEST(Oracles, ARequestThatCouldRunDoes) {
  Forged lawful, planted, busy, drained;
  lawful.deploy(0, "a").arrive(1).pass(Duration::s(1)).start(1, {1}).pass(Duration::s(60));
  EXPECT_TRUE(lawful.well());
  EXPECT_TRUE(planted.deploy(0, "a").arrive(1).pass(Duration::s(3)).finds("could run for"));
  busy.deploy(0, "a").arrive(1).arrive(2).start(1, {2}).pass(Duration::s(60));  // another one has the machine
  EXPECT_TRUE(busy.well());
  drained.deploy(0, "a").see(InvokerDraining{InvokerId(0)}).arrive(1).pass(Duration::s(60));
  EXPECT_TRUE(drained.well());
  EXPECT_TRUE(drained.pass(Duration::s(3600)).finds("waits for ever"));
}

TEST(Oracles, AMachineThatIsTakenAtLastWasIdleUntilThen) {
  Forged planted;
  planted.deploy(0, "a").arrive(1).pass_undecided(Duration::s(3)).arrive(2).start(1, {2});
  EXPECT_TRUE(planted.finds("request 1 could run for"));
}

QuotaChanged quota(std::optional<std::uint32_t> vcpu, std::optional<std::uint32_t> slices = {}) {
  return {.tenant = "a", .vcpu = vcpu, .slices = slices};
}

// A batch here takes one vCPU and one slice.
TEST(Oracles, ATenantTakesNoMoreThanItsQuota) {
  Forged lawful, planted, lowered, other;
  lawful.deploy(0, "a").see(quota(2, 1)).arrive(1).arrive(2).start(1, {1}).crash(1).start(2, {2});
  EXPECT_TRUE(lawful.well());
  planted.deploy(0, "a").see(quota(2, 1)).arrive(1).arrive(2).start(1, {1}).start(2, {2});
  EXPECT_TRUE(planted.finds("takes more than the quota of tenant 'a' leaves"));
  lowered.deploy(0, "a").arrive(1).arrive(2).start(1, {1}).see(quota(0)).pass(Duration::ms(1));  // what runs goes on
  EXPECT_TRUE(lowered.well());
  EXPECT_TRUE(lowered.start(2, {2}).finds("takes more than the quota"));
  other.deploy(0, "b").see(quota(0)).arrive(1).start(1, {1});
  EXPECT_TRUE(other.well());
}

TEST(Oracles, WhoHasNoQuotaCannotRunAndThenHasToRun) {
  Forged lawful, planted, taken;
  lawful.deploy(0, "a").see(quota(4, 0)).arrive(1).pass(Duration::s(60));
  EXPECT_TRUE(lawful.well());
  EXPECT_TRUE(lawful.see(quota(4, 1)).pass(Duration::s(2)).well());
  EXPECT_TRUE(lawful.pass(Duration::s(1)).finds("could run for"));
  EXPECT_TRUE(planted.deploy(0, "a").see(quota(1, 1)).arrive(1).pass(Duration::s(3)).finds("could run for"));
  taken.see(InvokerJoined{.id = InvokerId(1), .epoch = 1, .capacity = {.vcpu = 8, .gpus = 2}, .warm = true});
  taken.deploy(0, "a").see(quota(1, 1)).arrive(1).arrive(2).start(1, {2}).pass(Duration::s(60));
  EXPECT_TRUE(taken.well());  // machine 1 runs nothing, but the other request has all that the tenant may take
  EXPECT_TRUE(taken.crash(1).pass(Duration::s(3)).finds("could run for"));
}

TEST(Oracles, LoadsAreNoExcuse) {
  Forged planted;
  planted.deploy(0, "a").arrive(1);
  for (std::uint64_t i = 0; i < 40 && planted.well(); ++i) planted.load(i).pass(Duration::ms(100));
  EXPECT_TRUE(planted.finds("could run for"));
}

TEST(Oracles, NothingIsLoadedInCircles) {
  Forged lawful, planted;
  lawful.deploy(0, "a").arrive(1);
  planted.deploy(0, "a").arrive(1);
  for (std::uint64_t i = 0; i < 100; ++i) {
    planted.load(i).evict(i);
    lawful.load(i).start(i, {1}).crash(i).evict(i);
  }
  EXPECT_TRUE(planted.finds("times and never ran"));
  EXPECT_FALSE(lawful.finds("never ran"));
}

TEST(Oracles, LoadsThatFailAreNoCircle) {
  Forged failing;
  failing.deploy(0, "a").arrive(1);
  for (std::uint64_t i = 0; i < 100; ++i) failing.load(i).fail_load(i);
  EXPECT_FALSE(failing.finds("never ran"));
}

}  // namespace
}  // namespace sluice::sim
