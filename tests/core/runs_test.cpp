// The workflow engine alone: results, losses and cancellations in; what is ready and what is over out.
#include "core/runs.h"

#include <gtest/gtest.h>

#include "core/scene.h"

namespace sluice::core {
namespace {

using Said = std::vector<std::string>;

// Requests of one application. Effects are told as "a" (ready), "a#2" (its third item), "over", "failed at a: E",
// "began again"; what is withdrawn is not told.
class Flow {
 public:
  explicit Flow(std::vector<Stage> stages, std::uint32_t attempts_max = 3) : runs_(controls_, attempts_max) {
    const auto application = application_of(std::move(stages));
    const std::vector<policy::SharedFunctionId> shared(3, policy::SharedFunctionId(0));
    controls_.push_back(make_control(ApplicationId(0), application, *make_plans(*application, {}), shared, queues_));
  }
  Said begin(Slot request = 0, std::vector<Verdict> verdicts = {}, std::vector<FanOut> fan_outs = {}) {
    runs_.begin(request,
                {.id = RequestId(request),
                 .application = ApplicationId(0),
                 .verdicts = std::move(verdicts),
                 .fan_outs = std::move(fan_outs)},
                now_);
    return said();
  }
  // The oldest that is ready starts; it is kept as `running`.
  Place start() {
    const Place place = ready_.front();
    ready_.erase(ready_.begin());
    runs_.started(place, InvokerId(0));
    return place;
  }
  Place take_last() {
    const Place place = ready_.back();
    ready_.pop_back();
    return place;
  }
  Said ends(const Place& place, std::uint32_t invoker = 0, double mb = 1) {
    runs_.succeeded(place, InvokerId(invoker), {.bytes = Bytes::mb(mb)}, now_);
    return said();
  }
  Said fails(const Place& place, const std::string& error = "Crashed", bool machine = true) {
    runs_.failed(place, error, machine, now_);
    return said();
  }
  Said expires(const Place& place) {
    runs_.expired(place, now_);
    return said();
  }
  Said loses(std::uint32_t invoker) {
    runs_.lose(InvokerId(invoker), {}, now_);
    return said();
  }
  Said cancelled() {
    runs_.cancel(0, now_);
    return said();
  }
  Said at(double ms) {
    now_ = Time::from_ns(Duration::ms(ms).count_ns());
    runs_.fire(now_);
    return said();
  }
  [[nodiscard]] Runs& runs() { return runs_; }
  [[nodiscard]] const std::vector<InvokerId>& inputs_at() const { return inputs_at_; }
  [[nodiscard]] std::size_t waiting() const { return ready_.size(); }

 private:
  Said said() {
    Said out;
    inputs_at_.clear();
    for (const Runs::Effect& effect : runs_.effects()) {
      if (const auto* ready = std::get_if<Runs::Ready>(&effect)) {
        const auto& stage = *runs_.control_of(ready->place).stage;
        out.push_back(ready->place.item == 0 ? stage.name : str(stage.name, "#", ready->place.item));
        ready_.push_back(ready->place);
        inputs_at_.push_back(ready->inputs_at);
      } else if (std::holds_alternative<Runs::BeganAgain>(effect)) {
        out.push_back("began again");
      } else if (const auto* ended = std::get_if<Runs::Ended>(&effect)) {
        const bool well = ended->outcome == RequestOutcome::finished;
        const bool called_off = ended->outcome == RequestOutcome::cancelled;
        out.push_back(well         ? "over"
                      : called_off ? "cancelled"
                                   : str("failed at ", ended->stage.value(), ": ", ended->error));
      }
    }
    runs_.effects().clear();
    std::erase_if(ready_, [&](const Place& place) { return !runs_.expects(place); });
    return out;
  }

  std::vector<Control> controls_;
  Queues queues_;
  Runs runs_;
  Time now_;
  std::vector<Place> ready_;
  std::vector<InvokerId> inputs_at_;
};

Stage each(std::string name, std::vector<std::uint32_t> after, std::vector<Stage> body = {}) {
  Stage out = stage(std::move(name), std::move(after));
  out.foreach = Foreach{};
  if (body.empty()) return out;
  out.kind = Stage::Kind::pass;
  out.function = FunctionId::none();
  out.foreach->body = {{.stages = std::move(body)}};
  return out;
}

Stage once(Stage out) {
  out.idempotent = false;
  return out;
}

TEST(Runs, AChainMovesOnWithItsResultsAndIsOverAtItsEnd) {
  Flow flow({stage("a"), stage("b", {0})});
  EXPECT_EQ(flow.begin(), Said{"a"});
  EXPECT_EQ(flow.ends(flow.start()), Said{"b"});
  EXPECT_EQ(flow.ends(flow.start()), Said{"over"});
}

TEST(Runs, AResultThatComesTwiceChangesNothing) {
  Flow flow({stage("a"), stage("b", {0})});
  (void)flow.begin();
  const Place a = flow.start();
  (void)flow.ends(a);
  EXPECT_EQ(flow.ends(a), Said{});
  EXPECT_EQ(flow.fails(a), Said{});
}

TEST(Runs, ACancelledRequestExpectsNothing) {
  Flow flow({stage("a"), stage("b", {0})});
  (void)flow.begin();
  const Place a = flow.start();
  EXPECT_EQ(flow.cancelled(), Said{"cancelled"});
  EXPECT_FALSE(flow.runs().expects(a));
  EXPECT_EQ(flow.ends(a), Said{});
}

TEST(Runs, AttemptsAreCountedForEveryInvocationByItself) {
  Flow flow({each("a", {})}, 1);
  EXPECT_EQ(flow.begin(0, {}, {{StageId(0), 4}}), (Said{"a", "a#1", "a#2", "a#3"}));
  std::vector<Place> items;
  for (int i = 0; i < 4; ++i) items.push_back(flow.start());
  // One crash with four items in the batch is one failure of each.
  for (const Place& item : items) EXPECT_EQ(flow.fails(item).size(), 1u);
  EXPECT_EQ(flow.waiting(), 4u);
  const Place again = flow.start();
  EXPECT_EQ(again.attempts, 1u);
  EXPECT_EQ(flow.fails(again), Said{"failed at 0: Crashed"});
}

TEST(Runs, WhatExpiredDidNotRunAndIsTriedAsOftenAsNeedBe) {
  Flow flow({once(stage("a"))}, 1);
  (void)flow.begin();
  for (int i = 0; i < 5; ++i) EXPECT_EQ(flow.expires(flow.start()), Said{"a"});
  EXPECT_EQ(flow.ends(flow.start()), Said{"over"});
}

TEST(Runs, WhatMustNotRunTwiceIsRememberedWhenTheRunOfItsItemIsOver) {
  Flow flow({each("items", {}, {once(stage("pay"))}), stage("last", {0})});
  EXPECT_EQ(flow.begin(0, {}, {{StageId(0), 2}}), (Said{"pay", "pay"}));
  EXPECT_EQ(flow.ends(flow.start(), 0), Said{});  // the first item is over
  EXPECT_EQ(flow.loses(0), Said{"failed at 0: ObjectLost"});
}

TEST(Runs, WhatMustNotRunTwiceMayBeginAgainBeforeItRan) {
  Flow flow({stage("a"), once(stage("b", {0}))});
  (void)flow.begin();
  (void)flow.ends(flow.start(), 3);
  EXPECT_EQ(flow.loses(3), (Said{"began again", "a"}));
}

TEST(Runs, ItemsLeaveTheirOutputsOnSeveralMachinesAndEachCanBeLost) {
  for (const std::uint32_t lost : {1u, 2u}) {
    Stage last = stage("last", {0});
    last.wait = Duration::ms(5);
    Flow flow({each("a", {}), last});
    (void)flow.begin(0, {}, {{StageId(0), 2}});
    const Place first = flow.start(), second = flow.start();
    (void)flow.ends(first, 1);
    (void)flow.ends(second, 2);
    EXPECT_EQ(flow.loses(7), Said{});
    EXPECT_EQ(flow.loses(lost), (Said{"began again", "a", "a#1"}));
  }
}

TEST(Runs, ReadersGoWhereMostIs) {
  Flow flow({each("items", {}, {stage("a")}), stage("last", {0})});
  (void)flow.begin(0, {}, {{StageId(0), 3}});
  const Place one = flow.start(), two = flow.start(), three = flow.start();
  (void)flow.ends(one, 1, 3);
  (void)flow.ends(two, 2, 2);
  EXPECT_EQ(flow.ends(three, 2, 2), Said{"last"});
  EXPECT_EQ(flow.inputs_at(), std::vector{InvokerId(2)});
}

TEST(Runs, OneLossCountsOnce) {
  // Four items read what is lost: the request begins again once, not four times.
  Flow flow({stage("a"), each("b", {0})}, 1);
  (void)flow.begin(0, {}, {{StageId(1), 4}});
  (void)flow.ends(flow.start(), 5);
  std::vector<Place> items;
  for (int i = 0; i < 4; ++i) items.push_back(flow.start());
  EXPECT_EQ(flow.loses(5), Said{});  // they have read it
  EXPECT_EQ(flow.fails(items[0]), (Said{"began again", "a"}));
  for (int i = 1; i < 4; ++i) EXPECT_EQ(flow.fails(items[static_cast<std::size_t>(i)]), Said{});
}

TEST(Runs, ItemsThatBecomeReadyTogetherMissTheSameInputsOnce) {
  Stage wait = each("b", {0});
  wait.wait = Duration::ms(10);
  Flow flow({stage("a"), wait}, 1);
  (void)flow.begin(0, {}, {{StageId(1), 4}});
  (void)flow.ends(flow.start(), 5);
  EXPECT_EQ(flow.loses(5), (Said{"began again", "a"}));
  (void)flow.ends(flow.start(), 6);
  EXPECT_EQ(flow.at(10), (Said{"b", "b#1", "b#2", "b#3"}));
}

TEST(Runs, TimersGoWithTheirRequest) {
  Stage later = stage("b", {0});
  later.wait = Duration::s(3600);
  Flow flow({stage("a"), later});
  (void)flow.begin();
  (void)flow.ends(flow.start());
  ASSERT_TRUE(flow.runs().next_timer().has_value());
  EXPECT_EQ(flow.cancelled(), Said{"cancelled"});
  EXPECT_FALSE(flow.runs().next_timer().has_value());
}

TEST(Runs, ARunThatIsSavedAndLoadedGoesOn) {
  const std::vector<Stage> stages = {each("items", {}, {stage("a"), stage("b", {0})}), stage("last", {0})};
  Flow flow(stages), other(stages);
  (void)flow.begin(0, {}, {{StageId(0), 2}});
  const Place one = flow.start();
  std::string bytes;
  Archive saving = Archive::saving(bytes);
  flow.runs().visit(saving);
  Archive loading = Archive::loading(bytes);
  other.runs().visit(loading);
  ASSERT_TRUE(loading.ok() && loading.at_end());
  EXPECT_EQ(other.ends(one), Said{"b"});
}

// Work that grows with the square of the items would take minutes here.
TEST(Runs, ManyItemsAreLinear) {
  constexpr std::uint32_t kItems = 50'000;
  Flow flow({each("items", {}, {stage("a")}), stage("last", {0})});
  (void)flow.begin(0, {}, {{StageId(0), kItems}});
  Runs& runs = flow.runs();
  EXPECT_EQ(flow.waiting(), kItems);
  std::vector<Place> places;
  while (flow.waiting() > 0) places.push_back(flow.take_last());
  std::size_t ready = 0;
  for (const Place& place : places) {
    runs.started(place, InvokerId(place.run % 7));
    runs.succeeded(place, InvokerId(place.run % 7), {.bytes = Bytes(1000)}, Time());
    for (const Runs::Effect& effect : runs.effects()) ready += std::holds_alternative<Runs::Ready>(effect) ? 1 : 0;
    runs.effects().clear();
  }
  EXPECT_EQ(ready, 1u);
}

}  // namespace
}  // namespace sluice::core
