// Everything an event can hold survives the log.
#include <gtest/gtest.h>

#include <filesystem>

#include "record/command_hash.h"
#include "record/event_codec.h"
#include "record/well_formed.h"
#include "spec/load.h"

namespace sluice::record {
namespace {

constexpr Time kNow = Time::from_ns(1'700'000'000'000'000'000);

std::string encoded(const Event& event) {
  std::string out;
  encode(event, kNow, out);
  return out;
}

// The same event with a value in every field, one of each kind.
std::vector<Event> every_event() {
  const NodeGroup machine{.count = 1,
                          .vcpu = 16,
                          .memory = Bytes::gb(8),
                          .gpus = 2,
                          .slices_per_gpu = 5,
                          .gpu_memory = Bytes::gb(141),
                          .device = DeviceKind("h200"),
                          .layout = SliceLayout::buddy};
  const std::vector<Verdict> verdicts = {{StageId(1), true}, {StageId(2), false, {{StageId(3), 4}}}};
  const std::vector<FanOut> fan_outs = {{StageId(3), 7, {{StageId(1), 2}, {StageId(3), 4}}}};
  ProfileTable table{
      .rows = {{.configuration = configuration(4, 2, 1), .mean_ms = 6.5, .sd_ms = 0.25, .busy_mean_ms = 7}}};
  return {
      ApplicationDeployed{ApplicationId(3), std::make_shared<Application>(Application{.name = "a"})},
      ApplicationRemoved{ApplicationId(4)},
      RequestAnnounced{ApplicationId(1), kNow, 9},
      RequestArrived{RequestId(1), ApplicationId(2), TenantId(3), kNow, PicoDollars(5), Bytes(7), 1, verdicts,
                     fan_outs},
      RequestCancelled{RequestId(8)},
      BatchExpired{BatchId(10)},
      BatchFinished{BatchId(11),
                    {{InvocationId(4), Outcome::timed_out, "Late", verdicts, fan_outs, Bytes(12)}, {}},
                    Duration::ms(3),
                    Duration::ms(4)},
      BatchFailed{BatchId(12), "Broken"},
      InstanceLoaded{InvokerId(1), InstanceId(2), Level::host, Duration::ms(1)},
      LoadFailed{InvokerId(1), InstanceId(2), "NoMemory"},
      InstanceUnloaded{InvokerId(1), InstanceId(2), Level::process},
      InvokerJoined{InvokerId(5),
                    6,
                    2,
                    machine,
                    true,
                    {{InstanceId(1), ApplicationId(2), FunctionId(3), Level::device, 3, 4, Level::host}},
                    {{BatchId(7), InstanceId(1), configuration(4, 2, 1), {3, 5}, {InvocationId(1), InvocationId(2)}}},
                    {RequestId(8)}},
      InvokerChanged{InvokerId(6), machine},
      InvokerDraining{InvokerId(7)},
      InvokerLost{InvokerId(8), 9, 2},
      ObjectLost{InvokerId(1), RequestId(2)},
      ProfileChanged{ApplicationId(1), FunctionId(2), std::make_shared<Profile>(table)},
      BranchesKnown{ApplicationId(1), {{"a", 0.25}}, {{"each/b", 7}}},
      QuotaChanged{"acme", 4, std::nullopt},
      PlansMade{ApplicationId(3), 12},
      CallsExpected{ApplicationId(5), false},
  };
}

TEST(RoundTrip, EveryKindOfEvent) {
  const std::vector<Event> events = every_event();
  ASSERT_EQ(events.size(), std::variant_size_v<Event>);
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].index(), i);
    const std::string bytes = encoded(events[i]);
    const auto again = decode(bytes);
    ASSERT_TRUE(again.ok()) << "event kind " << i << ": " << again.error().message;
    EXPECT_EQ(again->at, kNow);
    EXPECT_EQ(again->event.index(), i);
    EXPECT_EQ(encoded(again->event), bytes) << "event kind " << i;
  }
}

TEST(RoundTrip, EventsThatAreCutOffOrTooLongAreRefused) {
  for (const Event& event : every_event()) {
    const std::string bytes = encoded(event);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode(bytes.substr(0, size)).ok()) << "kind " << event.index() << ", " << size << " bytes";
    EXPECT_FALSE(decode(bytes + '\0').ok());
  }
}

TEST(RoundTrip, NothingOfAnApplicationIsLost) {
  std::size_t applications = 0;
  std::vector<std::filesystem::path> paths = {"tests/fuzz/corpus/yaml/everything.yaml"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator("examples")) paths.push_back(entry.path());
  for (const std::filesystem::path& path : paths) {
    const spec::Loaded loaded = spec::load(path.string());
    if (!loaded.document || !std::holds_alternative<Application>(*loaded.document)) continue;
    ++applications;
    const auto original = std::make_shared<Application>(std::get<Application>(*loaded.document));
    const auto again = decode(encoded(ApplicationDeployed{ApplicationId(0), original}));
    ASSERT_TRUE(again.ok()) << path;
    EXPECT_EQ(*std::get<ApplicationDeployed>(again->event).application, *original) << path;
    EXPECT_TRUE(well_formed(*original)) << path;
  }
  EXPECT_GE(applications, 10u);
}

// Hostile bytes are refused or read, and never more than that: the fuzz target looks further.
TEST(RoundTrip, ChangedBytesNeverBreakTheDecoder) {
  const spec::Loaded loaded = spec::load("tests/fuzz/corpus/yaml/everything.yaml");
  ASSERT_TRUE(loaded.document.has_value());
  const std::string bytes = encoded(
      ApplicationDeployed{ApplicationId(0), std::make_shared<Application>(std::get<Application>(*loaded.document))});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\xFF', '\x7F', '\x01', '\0'}) {
      std::string changed = bytes;
      changed[i] = value;
      const auto again = decode(changed);
      if (!again.ok()) continue;
      std::string bytes_again;
      encode(again->event, again->at, bytes_again);
      EXPECT_EQ(bytes_again, changed) << i;
    }
  }
}

TEST(CommandHash, SeesEveryFieldOfACommand) {
  const StartBatch start{.id = BatchId(1), .members = {{.invocation = InvocationId(1)}}, .expected = Duration::ms(1)};
  const auto hash = [](CommandId id, Action action, Work work = {}) {
    return hash_of(Commands{.list = {{id, std::move(action), work}}});
  };
  const std::uint64_t one = hash(CommandId(0), start);
  EXPECT_EQ(hash(CommandId(0), start), one);
  EXPECT_NE(hash(CommandId(1), start), one);
  EXPECT_NE(hash(CommandId(0), start, {.searches = 1}), one);
  StartBatch other = start;
  other.expected = Duration::ms(2);
  EXPECT_NE(hash(CommandId(0), other), one);
  other = start;
  other.members.front().attempt = 1;
  EXPECT_NE(hash(CommandId(0), other), one);
  EXPECT_NE(hash_of(Commands{}), one);
}

}  // namespace
}  // namespace sluice::record
