// A recorded run again: the same commands, or the first decision that differs.
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "record/recording.h"

namespace sluice::record {
namespace {

// Replays `log` with its own scheduler, or with the one named.
Result<Replayed> replayed(const std::string& log, const std::string& scheduler = "") {
  std::istringstream in(log);
  auto reader = LogReader::open(in);
  if (!reader) return reader.error();
  LogHeader header = reader->header();
  if (!scheduler.empty()) header.scheduler = scheduler;
  auto fresh = make_scheduler(header);
  if (!fresh) return fresh.error();
  return replay(*reader, **fresh);
}

std::string error_of(const std::vector<Observed>& events) {
  std::string log;
  LogWriter writer(log);
  writer.header({.scheduler = "fifo"});
  for (const Observed& observed : events) writer.observed(observed.event, observed.at);
  const auto run = replayed(log);
  return run.ok() ? "" : run.error().message;
}

TEST(Replay, GivesTheSameCommandsWithEveryScheduler) {
  for (const std::string_view name : policy::scheduler_names()) {
    const auto run = replayed(recorded(std::string(name)));
    ASSERT_TRUE(run.ok()) << run.error().message;
    EXPECT_FALSE(run->difference.has_value()) << name << ", decision " << run->difference->decision;
    EXPECT_EQ(run->decisions, 25u) << name;
    EXPECT_GT(run->events, 20u) << name;
    EXPECT_GT(run->commands, 24u) << name;  // every request is accepted or rejected, and answered
    EXPECT_FALSE(run->cut_off.has_value());
  }
}

TEST(Replay, StopsAtTheFirstDecisionOfAnotherPolicyThatDiffers) {
  const auto run = replayed(recorded("sluice"), "fifo");
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_TRUE(run->difference.has_value());
  EXPECT_EQ(run->difference->decision, 2u);  // the first one with a request
  EXPECT_EQ(run->difference->events, 4u);
  EXPECT_EQ(run->difference->recorded.at, Time::from_ns(1'000'000));
  EXPECT_NE(run->difference->recorded.hash, run->difference->replayed.hash);
  EXPECT_EQ(run->decisions, 2u);
}

TEST(Replay, FindsAnEventThatIsMissing) {
  // The log without one of its records, found by reading it.
  const std::string log = recorded("sluice");
  std::istringstream in(log);
  auto reader = LogReader::open(in);
  ASSERT_TRUE(reader.ok());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(reader->next().ok());  // deployed, two machines, decided
  const std::uint64_t begin = reader->offset();
  ASSERT_TRUE(reader->next().ok());  // the first request
  const auto run = replayed(log.substr(0, begin) + log.substr(reader->offset()));
  ASSERT_TRUE(run.ok()) << run.error().message;
  ASSERT_TRUE(run->difference.has_value());
  EXPECT_EQ(run->difference->decision, 2u);
  EXPECT_EQ(run->difference->replayed.commands, 0u);
}

TEST(Replay, GoesAsFarAsATornLogIsWhole) {
  const std::string log = recorded("sluice");
  const auto run = replayed(log.substr(0, log.size() - 3));
  ASSERT_TRUE(run.ok()) << run.error().message;
  EXPECT_FALSE(run->difference.has_value());
  EXPECT_TRUE(run->cut_off.has_value());
  EXPECT_EQ(run->decisions, 24u);
}

TEST(Replay, RefusesADamagedLog) {
  std::string log = recorded("sluice");
  log[log.size() / 2] = static_cast<char>(log[log.size() / 2] ^ 1);
  const auto run = replayed(log);
  ASSERT_FALSE(run.ok());
  EXPECT_NE(run.error().message.find("the record at byte "), std::string::npos) << run.error().message;
}

TEST(Replay, RefusesASchedulerThatIsNotThere) {
  const auto run = replayed(recorded("sluice"), "sluise");
  ASSERT_FALSE(run.ok());
  EXPECT_EQ(run.error().message, "there is no scheduler 'sluise'. Did you mean 'sluice'?");
}

TEST(Replay, RefusesEventsTheSchedulerMustNotBeTold) {
  const Time now = Time::from_ns(5);
  const auto app = small_application();
  EXPECT_EQ(error_of({{now, ApplicationDeployed{ApplicationId(0), app}}}), "");
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  says(error_of({{now, ApplicationDeployed{ApplicationId(1), app}}}), "it has id 1, the next one is 0");
  says(error_of({{now, ApplicationDeployed{ApplicationId(0), nullptr}}}), "deployed without its content");
  auto broken = std::make_shared<Application>(*app);
  broken->workflow.stages[1].after = {StageId(9)};
  says(error_of({{now, ApplicationDeployed{ApplicationId(0), broken}}}),
       "application 'app': its ids or numbers make no");
  broken->workflow.stages[1].after = {StageId(1)};
  says(error_of({{now, ApplicationDeployed{ApplicationId(0), broken}}}),
       "application 'app': stages wait for each other");
  says(error_of({{now, RequestArrived{.id = RequestId(1), .application = ApplicationId(0)}}}), "was never deployed");
  says(error_of({{now, RequestArrived{.id = RequestId(1)}}}), "was never deployed");
  says(error_of({{now, InvokerJoined{.id = InvokerId(4'000'000)}}}), "beyond the limits");
  const NodeGroup machine{.vcpu = 4, .gpus = 1};
  says(error_of({{now, InvokerJoined{.id = InvokerId(0),
                                     .capacity = machine,
                                     .instances = {{.id = InstanceId(0),
                                                    .application = ApplicationId(0),
                                                    .function = FunctionId(0),
                                                    .level = Level::device,
                                                    .gpu = 7}}}}}),
       "an instance on GPU 7 of 1");
  says(error_of({{now,
                  InvokerJoined{
                      .id = InvokerId(0), .capacity = machine, .running = {{.id = BatchId(0), .positions = {7, 1}}}}}}),
       "a batch on GPU 7 of 1");
  says(error_of({{now, InvokerLost{}}, {Time::from_ns(4), InvokerLost{}}}), "time goes back from 5 ns to 4 ns");
}

TEST(Replay, ProfilesThatCannotBePlannedAreErrorsOfTheLog) {
  const Time now = Time::from_ns(5);
  const auto changed = [&](FunctionId function, std::shared_ptr<const Profile> profile) {
    return error_of({{now, ApplicationDeployed{ApplicationId(0), small_application()}},
                     {now, ProfileChanged{ApplicationId(0), function, std::move(profile)}}});
  };
  const auto says = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  const ProfileTable good{.rows = {{.configuration = configuration(1, 1, 1), .mean_ms = 5}}};
  ProfileTable bad = good;
  bad.rows[0].mean_ms = -1;
  EXPECT_EQ(changed(FunctionId(0), std::make_shared<Profile>(good)), "");
  says(changed(FunctionId(0), nullptr), "a profile is changed without its content");
  says(changed(FunctionId(3), std::make_shared<Profile>(good)), "it has no function 3");
  says(changed(FunctionId(0), std::make_shared<Profile>(Profile{})), "application 'app'");
  says(changed(FunctionId(0), std::make_shared<Profile>(bad)), "application 'app'");
}

TEST(Replay, BranchesThatCannotBeAreErrorsOfTheLog) {
  const Time now = Time::from_ns(5);
  const auto known = [&](double share, double items) {
    return error_of({{now, ApplicationDeployed{ApplicationId(0), small_application()}},
                     {now, BranchesKnown{ApplicationId(0), {{"a", share}}, {{"b", items}}}}});
  };
  EXPECT_EQ(known(0.5, 3), "");
  EXPECT_NE(known(1.5, 3).find("application 'app': stage 'a' has a share of 1.5"), std::string::npos);
  EXPECT_NE(known(std::nan(""), 3).find("has a share of"), std::string::npos);
  EXPECT_NE(known(0.5, 1e9).find("stage 'b' has"), std::string::npos);
}

// What ran says nothing: its invocations are tried again, and nothing is learned from it.
TEST(Replay, ABatchThatFinishesWithoutResultsIsReplayed) {
  record::Run run({.scheduler = "sluice"});
  run.see(ApplicationDeployed{ApplicationId(0), small_application()}, 0);
  run.see(InvokerJoined{.id = InvokerId(0), .epoch = 1, .capacity = {.vcpu = 2, .gpus = 1}, .warm = true}, 0);
  run.see(RequestArrived{.id = RequestId(0), .application = ApplicationId(0), .deadline = Time::from_ns(200'000'000)},
          0);
  run.decide();
  run.see(BatchFinished{.id = BatchId(0), .measured = Duration::ms(10), .held = Duration::ms(10)}, 100);
  run.decide();
  const auto again = replayed(run.log());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_FALSE(again->difference.has_value());
  EXPECT_EQ(again->decisions, 2u);
}

}  // namespace
}  // namespace sluice::record
