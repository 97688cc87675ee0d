// The gateway's end of the door, with a scheduler that does as it is told.
#include "live/desk.h"

#include <gtest/gtest.h>

#include <deque>

#include "data/arenas.h"

namespace sluice::live {
namespace {

class Hall final : public bus::Door {
 public:
  bool offer(std::span<bus::Arrival> arrivals, bus::Gateway& from) override {
    if (full) return false;
    for (bus::Arrival& arrival : arrivals) arrived.push_back(std::move(arrival));
    together.push_back(arrivals.size());
    gateway = &from;
    return true;
  }
  void cancel(RequestId request) override { cancelled.push_back(request); }
  void taken(bus::AnswerTaken taken) override { late.push_back(std::move(taken)); }

  bool full = false;
  std::deque<bus::Arrival> arrived;
  std::vector<std::size_t> together;  // how many each offer brought
  std::vector<RequestId> cancelled;
  std::vector<bus::AnswerTaken> late;  // not at once
  bus::Gateway* gateway = nullptr;
};

// Machines that send one object when they are told to.
class Elsewhere final : public bus::Objects {
 public:
  std::uint64_t fetch(const bus::ObjectName& name, std::span<const InvokerId> places, std::shared_ptr<data::Arena>,
                      OnFetched told) override {
    asked.push_back(name);
    from.assign(places.begin(), places.end());
    under_way = std::move(told);
    return asked.size();
  }
  void give_up(std::uint64_t) override {}
  bool is_here(InvokerId) const override { return false; }
  std::span<const bus::Asker> askers(RequestId) const override { return {}; }
  void forget(RequestId request) override { forgotten.push_back(request); }

  std::vector<bus::ObjectName> asked;
  std::vector<InvokerId> from;
  std::vector<RequestId> forgotten;
  OnFetched under_way;
};

std::shared_ptr<const Application> one_stage() {
  auto out = std::make_shared<Application>();
  out->name = "app";
  out->functions.push_back({.name = "f"});
  out->workflow.stages.push_back({.name = "f", .function = FunctionId(0)});
  out->outputs.push_back({.name = "y", .from = {StageId(0), "x"}});
  return out;
}

class DeskTest : public testing::Test {
 protected:
  DeskTest() { deploy(1); }

  void deploy(std::uint32_t version) {
    const auto application = one_stage();
    auto next = std::make_shared<Snapshot>();
    auto target =
        std::make_shared<const Target>(Target{ApplicationId(version), application, *arenas_.of("default"), version});
    next->models.push_back({.name = "app", .version = version, .application = application, .target = target});
    snapshot_ = std::move(next);
  }
  void remove() { snapshot_ = std::make_shared<Snapshot>(); }

  Desk::Errand errand(std::uint64_t id) {
    auto block = (*arenas_.of("default"))->allocate(4);
    auto inputs = std::make_shared<data::Tensors>();
    inputs->push_back({.info = {"x", DataType::int8, {4}}, .block = *block, .size = 4});
    return {.id = RequestId(id),
            .call = {.application = "app", .target = snapshot_->models.front().target, .inputs = std::move(inputs)},
            .answer = [this](Answer answer) { answers_.push_back(std::move(answer)); }};
  }
  void leave_outputs(std::uint64_t id, std::uint64_t run) {
    objects_.put(RequestId(id), {.outermost = run, .stage = StageId(0)},
                 objects_.get(RequestId(id), {.outermost = data::kRequestInputs}));
  }

  data::Arenas arenas_{{.all = Bytes::mb(1), .per_tenant = {}}};
  data::ObjectStore objects_;
  Hall hall_;
  std::shared_ptr<const Snapshot> snapshot_;
  Desk desk_{hall_, objects_, [this] { return snapshot_; }};
  std::vector<Answer> answers_;
};

TEST_F(DeskTest, TellsTheSchedulerOfBytesAndTheCallerOfOutputs) {
  auto one = errand(1);
  ASSERT_TRUE(desk_.call(one));
  ASSERT_EQ(hall_.arrived.size(), 1u);
  EXPECT_EQ(hall_.arrived.front().application, ApplicationId(1));
  EXPECT_EQ(hall_.arrived.front().bytes, Bytes(4));
  leave_outputs(1, 9);
  const auto taken = desk_.answered({.request = RequestId(1), .outermost = 9});
  ASSERT_TRUE(taken && taken->error.empty());
  EXPECT_TRUE(answers_.empty());  // not before it is on record
  desk_.settle();
  EXPECT_TRUE(hall_.late.empty());
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().kind, AnswerKind::finished);
  EXPECT_EQ(answers_.front().outputs.size(), 1u);
  EXPECT_EQ(answers_.front().version, 1u);
  EXPECT_EQ(objects_.requests(), 0u);
}

TEST_F(DeskTest, OutputsThatAreNotThereAreAFailureForBothSides) {
  auto one = errand(1);
  ASSERT_TRUE(desk_.call(one));
  const auto taken = desk_.answered({.request = RequestId(1), .outermost = 9});
  ASSERT_TRUE(taken);
  EXPECT_FALSE(taken->error.empty());
  desk_.settle();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().kind, AnswerKind::failed);
}

TEST_F(DeskTest, OutputsOfAnotherMachineAreFetchedBeforeTheAnswerIsTaken) {
  Elsewhere elsewhere;
  Desk desk(
      hall_, objects_, [this] { return snapshot_; }, &elsewhere);
  auto one = errand(1);
  const data::SharedTensors sent = one.call.inputs;
  ASSERT_TRUE(desk.call(one));
  bus::Answered finished{.request = RequestId(1), .outermost = 9};
  finished.places = {InvokerId(3)};
  EXPECT_FALSE(desk.answered(std::move(finished)));
  desk.settle();
  EXPECT_TRUE(answers_.empty());
  ASSERT_EQ(elsewhere.asked.size(), 1u);
  EXPECT_EQ(elsewhere.asked.front().key.stage, StageId(0));
  EXPECT_EQ(elsewhere.from, std::vector{InvokerId(3)});
  elsewhere.under_way({.tensors = sent, .said = {}});
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().kind, AnswerKind::finished);
  ASSERT_EQ(answers_.front().outputs.size(), 1u);
  EXPECT_EQ(answers_.front().outputs.front().info.name, "y");
  ASSERT_EQ(hall_.late.size(), 1u);
  EXPECT_TRUE(hall_.late.front().error.empty());
  EXPECT_EQ(elsewhere.forgotten, std::vector{RequestId(1)});
  EXPECT_EQ(objects_.requests(), 0u);
}

TEST_F(DeskTest, OutputsThatNobodyHasAreAFailure) {
  Elsewhere elsewhere;
  Desk desk(
      hall_, objects_, [this] { return snapshot_; }, &elsewhere);
  auto one = errand(1);
  ASSERT_TRUE(desk.call(one));
  bus::Answered finished{.request = RequestId(1), .outermost = 9};
  finished.places = {InvokerId(3)};
  EXPECT_FALSE(desk.answered(std::move(finished)));
  elsewhere.under_way({.tensors = nullptr, .said = {{.place = InvokerId(3), .kind = bus::Said::Kind::absent}}});
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().kind, AnswerKind::failed);
  EXPECT_FALSE(hall_.late.front().error.empty());
}

TEST_F(DeskTest, AFullSchedulerLeavesTheErrandAsItWas) {
  hall_.full = true;
  auto one = errand(1);
  EXPECT_FALSE(desk_.call(one));
  EXPECT_TRUE(one.answer && answers_.empty());
  EXPECT_EQ(objects_.requests(), 0u);
  hall_.full = false;
  EXPECT_TRUE(desk_.call(one));
}

TEST_F(DeskTest, RowsOfOneRequestAreOfferedTogetherOrNotAtAll) {
  std::vector<Desk::Errand> rows;
  for (const std::uint64_t id : {1u, 2u, 3u}) rows.push_back(errand(id));
  hall_.full = true;
  EXPECT_FALSE(desk_.call_together(rows));
  EXPECT_EQ(objects_.requests(), 0u);
  for (const Desk::Errand& row : rows) EXPECT_TRUE(row.answer);
  hall_.full = false;
  EXPECT_TRUE(desk_.call_together(rows));
  EXPECT_EQ(hall_.together, std::vector<std::size_t>{3});
  EXPECT_TRUE(answers_.empty());
}

TEST_F(DeskTest, ARowThatCannotBeCalledIsAnsweredAndTheOthersAreCalled) {
  std::vector<Desk::Errand> rows;
  for (const std::uint64_t id : {1u, 2u}) rows.push_back(errand(id));
  rows.front().call.target = nullptr;
  rows.front().call.application = "gone";
  EXPECT_TRUE(desk_.call_together(rows));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().request, RequestId(1));
  EXPECT_EQ(hall_.together, std::vector<std::size_t>{1});
}

TEST_F(DeskTest, WhatWasReplacedMeanwhileGoesToTheNewVersion) {
  auto one = errand(1);
  ASSERT_TRUE(desk_.call(one));
  deploy(2);
  desk_.moved(std::move(hall_.arrived.front()));
  ASSERT_EQ(hall_.arrived.size(), 2u);
  EXPECT_EQ(hall_.arrived.back().application, ApplicationId(2));
  leave_outputs(1, 3);
  (void)desk_.answered({.request = RequestId(1), .outermost = 3});
  desk_.settle();
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().version, 2u);
}

TEST_F(DeskTest, WhatWasRemovedMeanwhileIsRefused) {
  auto one = errand(1);
  ASSERT_TRUE(desk_.call(one));
  remove();
  desk_.moved(std::move(hall_.arrived.front()));
  ASSERT_EQ(answers_.size(), 1u);
  EXPECT_EQ(answers_.front().reason, RejectReason::not_deployed);
  EXPECT_EQ(objects_.requests(), 0u);
}

TEST_F(DeskTest, NobodyCancelsTheRequestOfAnotherTenant) {
  auto one = errand(1);
  ASSERT_TRUE(desk_.call(one));
  desk_.cancel({.tenant = "other", .role = Role::caller}, RequestId(1));
  EXPECT_TRUE(hall_.cancelled.empty());
  desk_.cancel({.tenant = "default", .role = Role::caller}, RequestId(1));
  EXPECT_EQ(hall_.cancelled, std::vector{RequestId(1)});
}

}  // namespace
}  // namespace sluice::live
