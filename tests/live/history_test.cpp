#include "live/history.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <csignal>
#include <ctime>
#include <memory>
#include <new>
#include <thread>

#include "support/eventually.h"

namespace sluice::live {
namespace {

std::shared_ptr<const Application> application_of(std::size_t stages) {
  auto out = std::make_shared<Application>();
  out->name = "app";
  out->functions.push_back({.name = "f"});
  for (std::size_t i = 0; i < stages; ++i) out->workflow.stages.push_back({.name = "s", .function = FunctionId(0)});
  return out;
}

void serve(History& history, std::uint64_t id, std::shared_ptr<const Application> application) {
  const std::size_t stages = application->workflow.size();
  history.arrived({.id = RequestId(id), .application = std::move(application)});
  for (std::uint32_t s = 0; s < stages; ++s) {
    StartBatch start{.id = BatchId(id * 1000 + s)};
    start.members.push_back({.request = RequestId(id), .stage = StageId(s)});
    history.started(start, Time());
    history.finished(BatchFinished{.id = start.id}, Time());
  }
  history.ended(RequestId(id), {});
}

TEST(History, ForgetsTheOldestBeyondItsNumber) {
  History history(3);
  const auto application = application_of(1);
  for (std::uint64_t id = 0; id < 5; ++id) serve(history, id, application);
  EXPECT_EQ(history.list({.limit = 100}).size(), 3u);
  EXPECT_FALSE(history.find(RequestId(1)).has_value());
  EXPECT_TRUE(history.find(RequestId(2)).has_value());
}

TEST(History, OneLongRequestKeepsNoneOfTheOthers) {
  History history(3);
  const auto application = application_of(1);
  history.arrived({.id = RequestId(0), .application = application});
  for (std::uint64_t id = 1; id < 100; ++id) serve(history, id, application);
  EXPECT_EQ(history.list({.limit = 100}).size(), 4u);
  for (std::uint64_t id = 1; id < 97; ++id) EXPECT_FALSE(history.find(RequestId(id)).has_value()) << id;
}

TEST(History, KeepsFewerRequestsOfManyStages) {
  constexpr std::size_t kBytes = 1u << 20;
  const auto kept = [](std::size_t stages) {
    History history(10'000, kBytes);
    const auto application = application_of(stages);
    for (std::uint64_t id = 0; id < 1000; ++id) serve(history, id, application);
    return history.list({.limit = 10'000}).size();
  };
  EXPECT_EQ(kept(1), 1000u);
  EXPECT_LT(kept(200), 60u);
  EXPECT_GT(kept(200), 5u);
}

TEST(History, DoesNotHoldApplicationsForRequestsItForgot) {
  constexpr std::size_t kBytes = 1u << 20;
  History history(10'000, kBytes);
  std::vector<std::weak_ptr<const Application>> deployed;
  for (std::uint64_t id = 0; id < 100; ++id) {
    const auto application = application_of(100);
    deployed.push_back(application);
    serve(history, id, application);
  }
  const auto held = std::count_if(deployed.begin(), deployed.end(), [](const auto& a) { return !a.expired(); });
  EXPECT_LT(static_cast<std::size_t>(held) * 100 * sizeof(Stage), kBytes);
  EXPECT_FALSE(deployed.back().expired());
}

// The memory of one that was forgotten serves the next.
TEST(History, SaysWhatAStageWaitedFor) {
  const auto at = [](double ms) { return Time::from_ns(1'000'000'000) + Duration::ms(ms); };
  History history(3);
  history.arrived({.id = RequestId(1), .application = application_of(2), .arrival = at(0)});
  history.loaded(InstanceId(7), at(30));
  const auto run = [&](std::uint64_t batch, double start, double end, BatchMember member, const BatchReason& reason) {
    member.request = RequestId(1);
    StartBatch command{.id = BatchId(batch), .instance = InstanceId(7)};
    command.members.push_back(std::move(member));
    command.reason = reason;
    history.started(command, at(start));
    history.finished(BatchFinished{.id = command.id}, at(end));
  };
  run(1, 60, 80, {.stage = StageId(0), .ready = at(10)},
      {.considered = 14, .no_room = 2, .company_from = at(20), .company_until = at(50)});
  run(2, 85, 90, {.stage = StageId(1), .ready = at(80)}, {.company_from = at(20), .company_until = at(50)});
  run(3, 195, 200, {.stage = StageId(1), .attempt = 1, .ready = at(190)}, {});
  const std::vector<StageRecord> stages = history.find(RequestId(1))->stages;
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0].loading, Duration::ms(20));  // from ready until it was loaded
  EXPECT_EQ(stages[0].company, Duration::ms(20));  // less what it was loading meanwhile
  EXPECT_EQ(stages[0].reason.considered, 14u);
  EXPECT_EQ(stages[0].reason.no_room, 2u);
  EXPECT_EQ(stages[1].loading, Duration());
  EXPECT_EQ(stages[1].company, Duration()) << "the pause was over before it was ready";
  EXPECT_EQ(stages[1].retry, Duration());
  EXPECT_EQ(stages[2].retry, Duration::ms(100));
}

TEST(History, ShowsNothingOfThoseItForgot) {
  History history(1);
  history.arrived({.id = RequestId(1), .application = application_of(2), .version = 7, .asynchronous = true});
  StartBatch start{.id = BatchId(1)};
  start.members.push_back({.request = RequestId(1), .stage = StageId(0)});
  history.started(start, Time());
  history.log(BatchId(1), "a line");
  history.failed(BatchId(1), "broken", Time());
  history.ended(RequestId(1), {.state = RequestState::failed, .cost = 3, .stage = StageId(0), .error = "broken"});
  const auto before = history.find(RequestId(1));
  for (std::uint64_t id = 2; id < 6; ++id) serve(history, id, application_of(1));
  const auto last = history.find(RequestId(5));
  ASSERT_TRUE(before && last);
  EXPECT_EQ(before->error, "broken");
  EXPECT_EQ(last->version, 1u);
  EXPECT_FALSE(last->asynchronous);
  EXPECT_TRUE(last->error.empty() && last->stage.empty());
  EXPECT_EQ(last->cost, 0);
  ASSERT_EQ(last->stages.size(), 1u);
  EXPECT_TRUE(last->stages[0].error.empty() && last->stages[0].log.empty());
  history.arrived({.id = RequestId(9), .application = application_of(1)});
  EXPECT_EQ(history.find(RequestId(9))->state, RequestState::running);
  EXPECT_TRUE(history.find(RequestId(9))->stages.empty());
}

TEST(History, WhatRunsIsNeverForgotten) {
  History history(1, 1);
  history.arrived({.id = RequestId(1), .application = application_of(50)});
  for (std::uint64_t id = 2; id < 5; ++id) serve(history, id, application_of(50));
  EXPECT_TRUE(history.find(RequestId(1)).has_value());
  EXPECT_FALSE(history.find(RequestId(4)).has_value());
}

TEST(History, ARequestThatComesAgainIsListedAsItCameLast) {
  History history(10);
  const auto application = application_of(1);
  history.arrived({.id = RequestId(1), .application = application, .arrival = Time::from_ns(1)});
  history.ended(RequestId(1), {.state = RequestState::rejected});
  history.arrived({.id = RequestId(1), .application = application, .arrival = Time::from_ns(2)});
  ASSERT_EQ(history.list({.limit = 100}).size(), 1u);
  EXPECT_EQ(history.list({.limit = 100})[0].state, RequestState::running);
  history.ended(RequestId(1), {.state = RequestState::met});
  ASSERT_EQ(history.list({.limit = 100}).size(), 1u);
  EXPECT_EQ(history.find(RequestId(1))->state, RequestState::met);
}

TEST(History, ForgettingTheFirstOfARequestThatCameAgainKeepsTheLast) {
  History history(2);
  for (int i = 0; i < 2; ++i) serve(history, 1, application_of(1));
  serve(history, 2, application_of(1));
  EXPECT_TRUE(history.find(RequestId(1)).has_value());
  serve(history, 3, application_of(1));
  EXPECT_FALSE(history.find(RequestId(1)).has_value());
}

TEST(History, ListsTheNewestFirstWhateverEndedFirst) {
  History history(100);
  const auto application = application_of(1);
  for (std::uint64_t id = 1; id <= 4; ++id) {
    history.arrived({.id = RequestId(id), .application = application, .arrival = Time::from_ns(std::int64_t(id))});
  }
  for (const std::uint64_t id : {4u, 1u, 3u}) history.ended(RequestId(id), {});
  const auto listed = history.list({.limit = 3});
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(listed[0].id, RequestId(4));
  EXPECT_EQ(listed[1].id, RequestId(3));
  EXPECT_EQ(listed[2].id, RequestId(2));
}

// An application in memory that can be closed: whoever looks at it then is kept there until it is opened.
class Closable {
 public:
  Closable() {
    memory_ = ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct sigaction action {};
    action.sa_sigaction = [](int, siginfo_t* about, void*) { keep(about->si_addr); };
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &action, &before_);
    application_ = new (memory_) Application(*application_of(1));
  }
  ~Closable() {
    std::destroy_at(application_);
    ::sigaction(SIGSEGV, &before_, nullptr);
    ::munmap(memory_, kBytes);
  }
  Closable(const Closable&) = delete;
  Closable& operator=(const Closable&) = delete;

  [[nodiscard]] std::shared_ptr<const Application> application() const {
    return {application_, [](const auto*) {}};
  }
  void close() {
    opened_ = looked = false;
    ::mprotect(memory_, kBytes, PROT_NONE);
  }
  void open() { opened_ = true; }
  static inline std::atomic<bool> looked = false;

 private:
  static constexpr std::size_t kBytes = 1u << 16;
  static_assert(sizeof(Application) <= kBytes);

  static void keep(const void* at) {
    const auto* begin = static_cast<const char*>(memory_);
    if (at < begin || at >= begin + kBytes) std::abort();
    looked = true;
    for (const timespec moment{.tv_sec = 0, .tv_nsec = 1'000'000}; !opened_;) ::nanosleep(&moment, nullptr);
    ::mprotect(memory_, kBytes, PROT_READ | PROT_WRITE);
  }

  static inline void* memory_ = nullptr;
  static inline std::atomic<bool> opened_ = false;
  struct sigaction before_ {};
  Application* application_ = nullptr;
};

// A reader stands still in the middle of a copy that may have many megabytes: the scheduler's thread goes on.
TEST(History, AReaderHoldsUpNobodyWhileItCopies) {
  Closable closable;
  History history(10);
  serve(history, 1, closable.application());
  const auto listing = [&] { EXPECT_EQ(history.list({.limit = 100}).size(), 1u); };
  const auto finding = [&] { EXPECT_TRUE(history.find(RequestId(1)).has_value()); };
  for (const std::function<void()>& reading : {std::function<void()>(listing), std::function<void()>(finding)}) {
    closable.close();
    std::thread reader(reading);
    EXPECT_TRUE(test::eventually([] { return Closable::looked.load(); }));
    std::atomic<bool> written = false;
    std::thread writer([&] {
      history.unloaded(InstanceId(1));
      written = true;
    });
    EXPECT_TRUE(test::eventually([&] { return written.load(); }));
    closable.open();
    reader.join();
    writer.join();
  }
}

}  // namespace
}  // namespace sluice::live
