// The journal: what was accepted is found, answered once, listed, and forgotten in order.
#include "store/reader.h"
#include "store/worlds.h"

namespace sluice::store {
namespace {

using Ids = std::vector<std::uint64_t>;

TEST(Journal, KeepsARequestUntilItIsAnswered) {
  const TemporaryDirectory directory;
  Request request = a_request(7);
  request.timeout = Duration::s(9);
  request.priority = 200;
  request.caller_id = "mine \"42\"";
  ASSERT_TRUE(opened(directory).put_request(request, std::string_view("in\0put", 6)));
  Store store = opened(directory);
  EXPECT_EQ(*store.find(RequestId(7)), (RequestRecord{request, {}}));
  EXPECT_EQ(*store.inputs_of(RequestId(7)), std::string("in\0put", 6));
  EXPECT_EQ(*store.outputs_of(RequestId(7)), std::nullopt);
  EXPECT_EQ(*store.unfinished_requests(), std::vector{request});
}

TEST(Journal, KeepsTheAnswerInsteadOfTheInputs) {
  const TemporaryDirectory directory;
  const Answer answer{State::failed, at(8), 1e-9, "segmentation", "worker crashed", 3};
  {
    Store store = opened(directory);
    ASSERT_TRUE(store.put_request(a_request(7), "input"));
    ASSERT_TRUE(store.finish_request(RequestId(7), answer, ""));
  }
  Store store = opened(directory);
  EXPECT_EQ(*store.find(RequestId(7)), (RequestRecord{a_request(7), answer}));
  EXPECT_EQ(*store.inputs_of(RequestId(7)), std::nullopt);
  EXPECT_EQ(*store.outputs_of(RequestId(7)), std::string());
  EXPECT_EQ(*store.unfinished_requests(), std::vector<Request>{});
}

TEST(Journal, LetsTheFirstAnswerWin) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.put_request(a_request(7), ""));
  ASSERT_TRUE(store.finish_request(RequestId(7), met(8), "first"));
  const Status second = store.finish_request(RequestId(7), met(9), "second");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), (Error{ErrorCode::already_exists, "request 7 is already answered"}));
  EXPECT_EQ(*store.outputs_of(RequestId(7)), "first");
  EXPECT_EQ((*store.find(RequestId(7)))->answer, met(8));
}

TEST(Journal, RefusesAnIdItHasAndAnAnswerToNothing) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.put_request(a_request(7), "first"));
  const Status again = store.put_request(a_request(7), "second");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error(), (Error{ErrorCode::already_exists, "request 7 is already in the journal"}));
  EXPECT_EQ(*store.inputs_of(RequestId(7)), "first");
  EXPECT_EQ(code_of(store.finish_request(RequestId(8), met(9), "")), ErrorCode::not_found);
  EXPECT_EQ(*store.find(RequestId()), std::nullopt);  // an id out of range, as a caller may send
}

TEST(Journal, GoesOnAfterARefusalInsideOfABatch) {
  const TemporaryDirectory directory;
  {
    Store store = opened(directory);
    ASSERT_TRUE(store.begin_batch());
    ASSERT_TRUE(store.put_request(a_request(1), ""));
    EXPECT_FALSE(store.put_request(a_request(1), ""));
    EXPECT_FALSE(store.finish_request(RequestId(5), met(9), ""));
    ASSERT_TRUE(store.put_request(a_request(2), ""));
    ASSERT_TRUE(store.commit());
  }
  EXPECT_EQ(ids(*opened(directory).unfinished_requests()), (Ids{1, 2}));
}

TEST(Journal, GivesUnfinishedRequestsById) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (const std::uint64_t id : {30u, 10u, 40u, 20u}) ASSERT_TRUE(store.put_request(a_request(id), ""));
  ASSERT_TRUE(store.finish_request(RequestId(20), met(50), ""));
  EXPECT_EQ(ids(*store.unfinished_requests()), (Ids{10, 30, 40}));
}

TEST(Journal, ListsNewestFirstByApplicationAndState) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (std::uint64_t id = 1; id <= 6; ++id) {
    ASSERT_TRUE(store.put_request(a_request(id, id % 2 == 0 ? "even" : "odd"), ""));
  }
  ASSERT_TRUE(store.finish_request(RequestId(3), met(9), ""));
  ASSERT_TRUE(store.finish_request(RequestId(4), met(9), ""));
  ASSERT_TRUE(store.finish_request(RequestId(5), {.state = State::late, .finished = at(9)}, ""));
  const auto listed = [&](const RequestQuery& query) { return ids(*store.list(query)); };
  EXPECT_EQ(listed({}), (Ids{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(listed({.limit = 2}), (Ids{6, 5}));
  EXPECT_EQ(listed({.limit = 0}), Ids{});
  EXPECT_EQ(listed({.limit = static_cast<std::size_t>(-1)}).size(), 6u);
  EXPECT_EQ(listed({.application = "odd"}), (Ids{5, 3, 1}));
  EXPECT_EQ(listed({.application = "none"}), Ids{});
  EXPECT_EQ(listed({.state = State::met}), (Ids{4, 3}));
  EXPECT_EQ(listed({.state = State::running}), (Ids{6, 2, 1}));
  EXPECT_EQ(listed({.application = "even", .state = State::running, .limit = 1}), Ids{6});
}

// Requests 1 to `count`, answered a second after the other with outputs of 100 bytes, so that the first goes first.
void finish_many(Store& store, std::uint64_t count) {
  for (std::uint64_t id = 1; id <= count; ++id) {
    ASSERT_TRUE(store.put_request(a_request(id), "input"));
    ASSERT_TRUE(store.finish_request(RequestId(id), met(static_cast<std::int64_t>(id)), std::string(100, 'x')));
  }
}

TEST(Bounds, ForgetTheFirstFinishedBeyondACount) {
  const TemporaryDirectory directory;
  Store store = opened(directory, {.finished_max = 3});
  ASSERT_TRUE(store.put_request(a_request(100), ""));  // unfinished ones are never forgotten
  finish_many(store, 10);
  EXPECT_EQ(ids(*store.list({})), (Ids{100, 10, 9, 8}));
}

TEST(Bounds, ForgetTheFirstFinishedBeyondBytesOfOutputs) {
  const TemporaryDirectory directory;
  Store store = opened(directory, {.outputs_max = Bytes(399)});
  finish_many(store, 10);
  EXPECT_EQ(ids(*store.list({})), (Ids{10, 9, 8}));
}

TEST(Bounds, CountTheIdsOfCallersAsBytes) {
  const TemporaryDirectory directory;
  Store store = opened(directory, {.outputs_max = Bytes(10)});
  for (std::uint64_t id = 1; id <= 3; ++id) {
    Request request = a_request(id);
    request.caller_id = "12345";
    ASSERT_TRUE(store.put_request(request, ""));
    ASSERT_TRUE(store.finish_request(RequestId(id), met(static_cast<std::int64_t>(id)), ""));
  }
  EXPECT_EQ(ids(*store.list({})), (Ids{3, 2}));
}

TEST(Bounds, GoByTheTimeOfTheAnswerThenById) {
  const TemporaryDirectory directory;
  Store store = opened(directory, {.finished_max = 2});
  for (std::uint64_t id = 1; id <= 4; ++id) ASSERT_TRUE(store.put_request(a_request(id), ""));
  ASSERT_TRUE(store.finish_request(RequestId(1), met(20), ""));
  ASSERT_TRUE(store.finish_request(RequestId(3), met(10), ""));
  ASSERT_TRUE(store.finish_request(RequestId(4), met(20), ""));
  EXPECT_EQ(ids(*store.list({})), (Ids{4, 2, 1}));
  ASSERT_TRUE(store.finish_request(RequestId(2), met(20), ""));
  EXPECT_EQ(ids(*store.list({})), (Ids{4, 2}));
}

TEST(Bounds, KeepTheNewestHoweverLarge) {
  const TemporaryDirectory directory;
  Store store = opened(directory, {.outputs_max = Bytes(50)});
  finish_many(store, 3);
  EXPECT_EQ(ids(*store.list({})), Ids{3});
}

TEST(Bounds, HoldAlsoWhenTheyWereLowered) {
  const TemporaryDirectory directory;
  {
    Store store = opened(directory);
    finish_many(store, 10);
  }
  Store store = opened(directory, {.finished_max = 4});
  EXPECT_EQ(ids(*store.list({})), (Ids{10, 9, 8, 7}));
}

TEST(Bounds, CountRightAfterAnUndoneBatch) {
  const TemporaryDirectory directory;
  {
    Store store = opened(directory);
    finish_many(store, 2);
    ASSERT_TRUE(store.begin_batch());
    ASSERT_TRUE(store.put_request(a_request(3), ""));
    ASSERT_TRUE(store.finish_request(RequestId(3), met(3), ""));
  }
  Store store = opened(directory, {.finished_max = 2});
  EXPECT_EQ(ids(*store.list({})), (Ids{2, 1}));
}

TEST(Reader, SeesWhatIsCommittedOnly) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  const auto reader = Reader::open(directory.path());
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_TRUE(store.put_request(a_request(1), ""));
  ASSERT_TRUE(store.begin_batch());
  ASSERT_TRUE(store.finish_request(RequestId(1), met(2), "output"));
  EXPECT_EQ((*reader->find(RequestId(1)))->answer.state, State::running);
  EXPECT_EQ(*reader->outputs_of(RequestId(1)), std::nullopt);
  ASSERT_TRUE(store.commit());
  EXPECT_EQ((*reader->find(RequestId(1)))->answer, met(2));
  EXPECT_EQ(*reader->outputs_of(RequestId(1)), "output");
  EXPECT_EQ(ids(*reader->list({})), Ids{1});
}

TEST(Journal, ListsTheRequestsOfATenant) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  Request theirs = a_request(2);
  theirs.tenant = "acme";
  ASSERT_TRUE(store.put_request(a_request(1), ""));
  ASSERT_TRUE(store.put_request(theirs, ""));
  EXPECT_EQ(ids(*store.list({})), (std::vector<std::uint64_t>{2, 1}));
  EXPECT_EQ(ids(*store.list({.tenant = "acme"})), std::vector<std::uint64_t>{2});
  EXPECT_EQ(ids(*store.list({.tenant = "default", .application = "photos", .state = State::running})),
            std::vector<std::uint64_t>{1});
  EXPECT_EQ((*store.find(RequestId(2)))->request, theirs);
}

}  // namespace
}  // namespace sluice::store
