// Objects of other machines: what a stage reads, what conditions compare and what a caller gets, wherever it was made.
#include <gtest/gtest.h>

#include <algorithm>

#include "bus/cluster.h"
#include "domain/limits.h"

namespace sluice::bus {
namespace {

const std::vector<InvokerId> kNone;
InvokerId at(std::uint32_t n) {
  return InvokerId(n);
}
Stage each(const std::string& name, const Reference& over, std::vector<std::uint32_t> after = {}) {
  Stage out = stage(name, std::move(after));
  out.foreach = Foreach{.over = over};
  return out;
}

// The seeds of the weather: none, and some that are bad.
constexpr std::uint64_t kWeathers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};

TEST(Objects, TheSecondStageOfAChainReadsWhatTheFirstLeftElsewhere) {
  for (const std::uint64_t seed : kWeathers) {
    Cluster cluster(application_of({stage("a"), stage("b", {0})}), {.seed = seed});
    cluster.leave(0, 0, {3, 4}, {2});
    const auto b = cluster.read(1, 1, {at(0)});
    EXPECT_FALSE(b->done);
    cluster.steps(300);
    EXPECT_TRUE(b->done);
    EXPECT_EQ(b->text, "[2]: 3 4");
    EXPECT_TRUE(b->missed.silent.empty());
  }
}

TEST(Objects, TheInputsOfTheRequestAreWithItsGateway) {
  Cluster cluster(application_of({stage("a")}), {});
  const auto a = cluster.read(1, 0, kNone);
  cluster.steps(10);
  EXPECT_EQ(a->text, "[2]: 1 2");
}

TEST(Objects, WhatIsHereIsAskedOfNobody) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.leave(1, 0, {3, 4}, {2});
  const auto b = cluster.read(1, 1, {at(0)});
  EXPECT_TRUE(b->done);
  EXPECT_EQ(b->text, "[2]: 3 4");
  EXPECT_EQ(cluster.node(1).exchange->counters().asked, 0u);
}

TEST(Objects, WhatWasFetchedIsHereAfterwards) {
  Cluster cluster(application_of({stage("a"), stage("b", {0}), stage("c", {0})}), {});
  cluster.leave(0, 0, {3, 4}, {2});
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(10);
  const auto asked = cluster.node(1).exchange->counters().asked;
  EXPECT_TRUE(cluster.read(1, 2, {at(0)})->done);
  EXPECT_EQ(cluster.node(1).exchange->counters().asked, asked);
}

TEST(Objects, ItemsThatRanOnSeveralMachinesAreStackedOnAThird) {
  for (const std::uint64_t seed : kWeathers) {
    Cluster cluster(application_of({each("items", {StageId::none(), "x"}), stage("all", {0})}),
                    {.machines = 3, .seed = seed});
    cluster.gateway().store.open(kRequest, floats(*cluster.gateway().arena, std::vector<float>(20), {20}));
    std::string expected = "[20,1]:";
    for (std::uint32_t i = 0; i < 20; ++i) {
      cluster.leave(i % 2, 0, {static_cast<float>(i)}, {1}, i);
      expected += str(" ", i);
    }
    const auto all = cluster.read(2, 1, {at(0), at(1)});
    cluster.steps(600);
    EXPECT_EQ(all->text, expected) << seed;
  }
}

TEST(Objects, OutputsAreCollectedFromSeveralMachines) {
  Cluster cluster(application_of({stage("a"), stage("b")}), {});
  cluster.leave(0, 0, {3}, {1});
  cluster.leave(1, 1, {4}, {1});
  const auto out = cluster.outputs(2, {at(0), at(1)});
  cluster.steps(20);
  EXPECT_EQ(out->text, "[1]: 3; [1]: 4");
}

TEST(Objects, ALargeObjectComesInParts) {
  for (const std::uint64_t seed : kWeathers) {
    std::vector<float> many(10'000);
    for (std::size_t i = 0; i < many.size(); ++i) many[i] = static_cast<float>(i);
    Cluster cluster(application_of({stage("a"), stage("b", {0})}),
                    {.seed = seed, .exchange = {.first_bytes = 100, .part_bytes = 1'000}});
    cluster.leave(0, 0, many, {10'000});
    const auto b = cluster.read(1, 1, {at(0)});
    cluster.steps(6'000);
    EXPECT_EQ(b->text, text(*floats(*cluster.node(1).arena, many, {10'000}))) << seed;
  }
}

// A stage that ran twice leaves another object under the same name: parts of the two are never mixed.
TEST(Objects, AnObjectThatIsReplacedWhileItIsFetchedComesWhole) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {.exchange = {.first_bytes = 100, .part_bytes = 100}});
  cluster.leave(0, 0, std::vector<float>(1'000, 1), {1'000});
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(5);
  cluster.leave(0, 0, std::vector<float>(1'000, 2), {1'000});
  cluster.steps(300);
  ASSERT_TRUE(b->done);
  EXPECT_TRUE(b->text.find('1', 8) == std::string::npos || b->text.find('2', 8) == std::string::npos);
}

TEST(Objects, ManyAtOnceAllCome) {
  Cluster cluster(application_of({each("items", {StageId::none(), "x"}), stage("all", {0})}),
                  {.machines = 2, .seed = 3, .exchange = {.fetches_max = 3, .bytes_max = 500}});
  cluster.gateway().store.open(kRequest, floats(*cluster.gateway().arena, std::vector<float>(40), {40}));
  for (std::uint32_t i = 0; i < 40; ++i) cluster.leave(0, 0, {static_cast<float>(i)}, {1}, i);
  const auto all = cluster.read(1, 1, {at(0)});
  cluster.steps(2'000);
  EXPECT_TRUE(all->text.ends_with(" 38 39")) << all->text;
}

TEST(Objects, MoreThanMayWaitFindNobody) {
  Cluster cluster(application_of({each("items", {StageId::none(), "x"}), stage("all", {0})}),
                  {.exchange = {.fetches_max = 1, .waiting_max = 1}});
  std::vector<Fetched> out;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const InvokerId places[] = {at(0)};
    (void)cluster.node(1).exchange->fetch({kRequest, {kRun, StageId(0), i, {}}}, places, cluster.node(1).arena,
                                          [&](Fetched fetched) { out.push_back(std::move(fetched)); });
  }
  cluster.steps(50);
  ASSERT_EQ(out.size(), 3u);
  EXPECT_EQ(out[0].said[0].kind, Said::Kind::silent);  // the last one, at once
  EXPECT_EQ(out[1].said[0].kind, Said::Kind::absent);
  EXPECT_EQ(out[2].said[0].kind, Said::Kind::absent);
}

TEST(Objects, AnObjectThatIsTooLargeDoesNotCome) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {.exchange = {.bytes_max = 1'000}});
  cluster.leave(0, 0, std::vector<float>(1'000), {1'000});
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(50);
  EXPECT_EQ(b->missed.silent, std::set{at(0)});
}

TEST(Objects, AFullArenaIsNoPlaceForAnObject) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.leave(0, 0, std::vector<float>(1'000), {1'000});
  cluster.node(1).arena = data::Arena::make(Bytes(256)).value();
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(50);
  EXPECT_EQ(b->missed.silent, std::set{at(0)});
}

TEST(Objects, APlaceThatIsGoneIsSilent) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.leave(0, 0, {3, 4}, {2});
  cluster.cut(0);
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(390);
  EXPECT_FALSE(b->done);
  cluster.steps(20);
  EXPECT_TRUE(b->done);
  EXPECT_EQ(b->missed.silent, std::set{at(0)});
}

TEST(Objects, APlaceThatGoesWhileItSendsIsSilentAndAnotherSendsInstead) {
  for (const bool other : {false, true}) {
    Cluster cluster(application_of({stage("a"), stage("b", {0})}),
                    {.machines = 3, .exchange = {.first_bytes = 100, .part_bytes = 100}});
    cluster.leave(0, 0, std::vector<float>(1'000, 3), {1'000});
    const auto b = cluster.read(2, 1, {at(0), at(1)});
    cluster.steps(5);
    if (other) cluster.leave(1, 0, std::vector<float>(1'000, 3), {1'000});
    cluster.cut(0);
    cluster.steps(1'000);
    ASSERT_TRUE(b->done);
    EXPECT_EQ(b->missed.silent, std::set{at(0)}) << other;  // machine 1 had nothing when it was asked
  }
  Cluster cluster(application_of({stage("a"), stage("b", {0})}),
                  {.machines = 3, .exchange = {.first_bytes = 100, .part_bytes = 100}});
  for (const std::uint32_t n : {0u, 1u}) cluster.leave(n, 0, std::vector<float>(100, 3), {100});
  const auto b = cluster.read(2, 1, {at(0), at(1)});
  cluster.steps(3);
  cluster.cut(0);
  cluster.steps(1'000);
  EXPECT_TRUE(b->text.starts_with("[100]: 3 3 3"));
}

TEST(Objects, APlaceThatForgotTheRequestSaysSo) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.node(0).store.release(kRequest);
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(15);
  EXPECT_FALSE(b->done);
  cluster.steps(15);
  EXPECT_TRUE(b->done);
  EXPECT_EQ(b->missed.unknowing, std::set{at(0)});
  EXPECT_TRUE(b->missed.silent.empty());
}

TEST(Objects, APlaceThatIsToldOfTheRequestAMomentLaterIsAskedAgain) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.node(0).store.release(kRequest);
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.steps(5);
  cluster.node(0).store.expect(kRequest);
  cluster.steps(25);
  EXPECT_TRUE(b->done);
  EXPECT_FALSE(b->missed.any());
}

TEST(Objects, WorkThatIsGivenUpIsNotGoneOnWith) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.leave(0, 0, {3, 4}, {2});
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.node(1).tickets.clear();
  cluster.steps(10);
  EXPECT_FALSE(b->done);
}

TEST(Objects, ARequestThatEndsWhileItsObjectsComeIsTriedOnceMore) {
  Cluster cluster(application_of({stage("a"), stage("b", {0})}), {});
  cluster.leave(0, 0, {3, 4}, {2});
  const auto b = cluster.read(1, 1, {at(0)});
  cluster.node(1).store.release(kRequest);
  cluster.steps(50);
  EXPECT_TRUE(b->done);
  EXPECT_LT(cluster.node(1).exchange->counters().asked, 10u);
}

// --- conditions

TEST(Objects, AConditionComparesWhatTwoMachinesLeft) {
  Stage c = stage("c", {0, 1});
  c.when = Condition{.kind = Condition::Kind::all, .terms = {above(0, 2), above(1, 2)}};
  Cluster cluster(application_of({stage("a"), stage("b"), c}), {});
  cluster.leave(0, 0, {3}, {1});
  const auto a = cluster.known(0, 0, kNone);
  cluster.leave(1, 1, {4}, {1});
  const auto b = cluster.known(1, 1, {at(0)});
  cluster.steps(20);
  EXPECT_EQ(a->text, "");
  EXPECT_EQ(b->text, "2: yes ");
}

TEST(Objects, AListMadeOfItemsOnSeveralMachinesIsCounted) {
  Cluster cluster(application_of({each("items", {StageId::none(), "x"}), each("again", {StageId(0), "x"}, {0})}), {});
  for (const std::uint32_t n : {0u, 1u})
    cluster.node(n).store.open(kRequest, floats(*cluster.node(n).arena, {1, 2}, {2}));
  cluster.leave(0, 0, {3}, {1}, 0);
  cluster.leave(1, 0, {4}, {1}, 1);
  const auto last = cluster.known(1, 0, {at(0)});
  cluster.steps(20);
  EXPECT_EQ(last->text, "1: 2 ");
}

// Machines are told to start one after the other, each named those before it, and end whenever they like. Whoever ends
// last in whatever weather, somebody says the verdict, nobody says a wrong one, and all of them come to an end.
void everybody_ends(std::uint64_t seed, bool storm) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << (storm ? ", storm" : ""));
  Rng rng(seed);
  const auto machines = static_cast<std::uint32_t>(2 + rng.below(4));
  std::vector<Stage> stages;
  std::vector<std::uint32_t> all;
  std::vector<Condition> terms;
  for (std::uint32_t m = 0; m < machines; ++m) {
    stages.push_back(stage(str("s", m)));
    all.push_back(m);
    terms.push_back(above(m, 0));
  }
  stages.push_back(stage("then", all));
  stages.back().when = Condition{.kind = Condition::Kind::all, .terms = terms};
  Cluster cluster(application_of(std::move(stages)),
                  {.machines = machines, .seed = storm ? seed : 0, .slow = storm ? 0 : seed});
  // When each ends, in steps; often at the same one.
  std::vector<std::uint64_t> ends;
  for (std::uint32_t m = 0; m < machines; ++m) ends.push_back(rng.below(1 + rng.below(12)));
  std::vector<std::uint32_t> order = all;  // in which they were told to start
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  std::vector<std::shared_ptr<Cluster::Reading>> readings;
  for (std::uint64_t step = 0; step < 12; ++step) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (ends[order[i]] != step) continue;
      std::vector<InvokerId> places;
      for (std::size_t before = 0; before < i; ++before) places.push_back(at(order[before]));
      cluster.leave(order[i], order[i], {1}, {1});
      readings.push_back(cluster.known(order[i], order[i], places));
    }
    cluster.step();
  }
  cluster.steps(300);
  const std::string verdict = str(machines, ": yes ");
  bool said = false;
  for (const auto& reading : readings) {
    ASSERT_TRUE(reading->done);
    ASSERT_TRUE(reading->missed.silent.empty());
    ASSERT_TRUE(reading->text.empty() || reading->text == verdict) << reading->text;
    said = said || reading->text == verdict;
  }
  ASSERT_TRUE(said);
}

TEST(Objects, OfMachinesThatEndInAnyOrderOneKnowsTheCondition) {
  for (std::uint64_t seed = 1; seed <= 6'000; ++seed) {
    everybody_ends(seed, seed % 2 == 0);
    if (HasFatalFailure()) return;
  }
}

// --- any bytes

ObjectMessage an_ask() {
  return Ask{
      .number = 5, .from = at(1), .held = 2, .name = {kRequest, {kRun, StageId(3), 4, {{StageId(1), 2}}}}, .most = 9};
}
ObjectMessage an_answer() {
  return Answer{.number = 5, .kind = Answer::Kind::part, .held = 1, .copy = 2, .total = 9, .offset = 3, .bytes = "abc"};
}

TEST(ObjectFrame, GivesBackWhatWasPut) {
  for (const ObjectMessage& message : {an_ask(), an_answer()}) {
    const std::string bytes = encode(message);
    const auto decoded = decode_object_message(bytes);
    ASSERT_TRUE(decoded);
    EXPECT_EQ(encode(*decoded), bytes);
  }
}

TEST(ObjectFrame, RefusesEveryCutAndEveryAddition) {
  for (const ObjectMessage& message : {an_ask(), an_answer()}) {
    const std::string bytes = encode(message);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_object_message(std::string_view(bytes).substr(0, size))) << size;
    EXPECT_FALSE(decode_object_message(bytes + "x"));
  }
}

TEST(ObjectFrame, SaysThatTheOtherEndIsOfAnotherVersion) {
  std::string bytes = encode(an_ask());
  bytes[0] = 9;
  EXPECT_EQ(decode_object_message(bytes).error().message,
            "the other end speaks version 9 about objects, this one 1; both have to be of one build");
}

TEST(ObjectFrame, RefusesWhatMakesNoSense) {
  const auto refused = [](const ObjectMessage& message) { return !decode_object_message(encode(message)); };
  Ask ask = std::get<Ask>(an_ask());
  ask.most = 0;
  EXPECT_TRUE(refused(ask));
  ask.most = object_part_bytes_max + 1;
  EXPECT_TRUE(refused(ask));
  ask = std::get<Ask>(an_ask());
  ask.name.key.path.resize(limits::foreach_depth_max + 1);
  EXPECT_TRUE(refused(ask));
  Answer answer = std::get<Answer>(an_answer());
  answer.total = 5;  // the part ends after it
  EXPECT_TRUE(refused(answer));
  answer = std::get<Answer>(an_answer());
  answer.offset = ~std::uint64_t{0};
  EXPECT_TRUE(refused(answer));
  answer = std::get<Answer>(an_answer());
  answer.kind = Answer::Kind::absent;  // with bytes
  EXPECT_TRUE(refused(answer));
  answer.kind = Answer::Kind::part;
  answer.bytes.clear();
  EXPECT_TRUE(refused(answer));
}

// Whoever answers says what it likes: nothing breaks, and the end comes.
TEST(Objects, SurvivesAnswersThatLie) {
  Rng rng(11);
  for (int round = 0; round < 300; ++round) {
    Wire there, back;
    End mine(there, back);
    data::ObjectStore store;
    store.expect(kRequest);
    const auto arena = data::Arena::make(Bytes::mb(1)).value();
    ObjectExchange exchange(store, {.here = {at(1)}, .bytes_max = 10'000, .first_bytes = 64, .part_bytes = 64});
    exchange.connect(at(0), mine);
    const InvokerId places[] = {at(0)};
    bool told = false;
    (void)exchange.fetch({kRequest, {kRun, StageId(0), 0, {}}}, places, arena, [&](const Fetched&) { told = true; });
    Time now = Time::from_ns(1'000'000'000);
    for (int i = 0; i < 1'000 && !told; ++i) {
      now = now + Duration::ms(10);
      exchange.work(now);
      std::string frame;
      while (there.take(frame)) {
        const auto question = std::get<Ask>(decode_object_message(frame).value());
        Answer lie{.number = question.number + (rng.chance(0.1) ? 1 : 0),
                   .kind = static_cast<Answer::Kind>(rng.below(4)),
                   .held = rng.below(3),
                   .copy = rng.below(2),
                   .total = rng.below(400),
                   .offset = rng.chance(0.7) ? question.offset : rng.below(400)};
        if (lie.kind == Answer::Kind::part) lie.bytes = std::string(1 + rng.below(100), 'x');
        std::string bytes = encode(lie);
        if (rng.chance(0.1)) bytes[rng.below(bytes.size())] = static_cast<char>(rng.below(256));
        back.put(std::move(bytes));
      }
    }
    EXPECT_TRUE(told) << round;
  }
}

// --- what is remembered is bounded

TEST(Objects, RemembersTheAskersOfSoManyRequests) {
  Wire there, back;
  End mine(there, back);
  data::ObjectStore store;
  ObjectExchange exchange(store, {.here = {at(0)}, .requests_asked_max = 10});
  exchange.connect(at(1), mine);
  for (std::uint64_t r = 0; r < 100; ++r) {
    back.put(encode(
        Ask{.number = r, .from = at(1), .held = 1, .name = {RequestId(r), {kRun, StageId(0), 0, {}}}, .most = 1}));
  }
  exchange.work(Time::from_ns(1));
  EXPECT_TRUE(exchange.askers(RequestId(89)).empty());
  ASSERT_EQ(exchange.askers(RequestId(90)).size(), 1u);
  EXPECT_EQ(exchange.askers(RequestId(90))[0].place, at(1));
  exchange.forget(RequestId(90));
  EXPECT_TRUE(exchange.askers(RequestId(90)).empty());
}

}  // namespace
}  // namespace sluice::bus
