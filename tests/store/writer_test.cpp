// The writer's thread: everything posted is answered once, after it is on disk.
#include "store/writer.h"

#include <future>

#include "store/reader.h"
#include "store/worlds.h"

namespace sluice::store {
namespace {

Writer::Work putting(std::uint64_t id) {
  return [id](Store& store) { return store.put_request(a_request(id), "input"); };
}

// Keeps the writer busy until release(), so that what is posted meanwhile waits.
class Gate {
 public:
  explicit Gate(Writer& writer) {
    writer.post(
        [this](Store&) -> Status {
          entered_.set_value();
          released_.get_future().wait();
          return Done{};
        },
        [](const Status&) {});
    entered_.get_future().wait();
  }
  void release() { released_.set_value(); }

 private:
  std::promise<void> entered_, released_;
};

struct Answers {
  std::vector<std::pair<int, Status>> all;
  Writer::Done of(int number) {
    return [this, number](Status status) { all.emplace_back(number, std::move(status)); };
  }
};

TEST(Writer, AnswersAfterTheCommitOfTheWholeGroup) {
  const TemporaryDirectory directory;
  Writer writer(opened(directory));
  const auto reader = Reader::open(directory.path());
  Gate gate(writer);
  std::vector<std::size_t> seen;  // by a reader, when each answer comes
  for (std::uint64_t id = 1; id <= 3; ++id) {
    writer.post(putting(id), [&](const Status& status) {
      EXPECT_TRUE(status);
      seen.push_back(reader->list({})->size());
    });
  }
  gate.release();
  writer.stop();
  EXPECT_EQ(seen, (std::vector<std::size_t>{3, 3, 3}));
}

TEST(Writer, TellsEachItsOwnRefusal) {
  const TemporaryDirectory directory;
  Writer writer(opened(directory));
  Gate gate(writer);
  Answers answers;
  writer.post(putting(1), answers.of(1));
  writer.post(putting(1), answers.of(2));
  writer.post(putting(2), answers.of(3));
  gate.release();
  writer.stop();
  ASSERT_EQ(answers.all.size(), 3u);
  EXPECT_TRUE(answers.all[0].second);
  EXPECT_EQ(code_of(answers.all[1].second), ErrorCode::already_exists);
  EXPECT_TRUE(answers.all[2].second);
}

TEST(Writer, RefusesAtOnceWhatTheQueueCannotHold) {
  const TemporaryDirectory directory;
  Writer writer(opened(directory), 2);
  Gate gate(writer);
  Answers answers, refused;
  writer.post(putting(1), answers.of(1));
  writer.post(putting(2), answers.of(2));
  writer.post(putting(3), refused.of(3));
  ASSERT_EQ(refused.all.size(), 1u);
  EXPECT_EQ(refused.all[0].second.error(),
            (Error{ErrorCode::unavailable, "the store is busy: 2 changes wait for the disk already"}));
  gate.release();
  writer.stop();
  EXPECT_EQ(answers.all.size(), 2u);
}

TEST(Writer, DrainsWhenItStopsAndTakesNothingAfterwards) {
  const TemporaryDirectory directory;
  {
    Writer writer(opened(directory));
    Gate gate(writer);
    Answers answers;
    for (int id = 1; id <= 1'000; ++id) writer.post(putting(static_cast<std::uint64_t>(id)), answers.of(id));
    gate.release();
    writer.stop();
    ASSERT_EQ(answers.all.size(), 1'000u);
    for (int i = 0; i < 1'000; ++i) EXPECT_EQ(answers.all[static_cast<std::size_t>(i)].first, i + 1);
    writer.post(putting(2'000), answers.of(0));
    EXPECT_EQ(code_of(answers.all.back().second), ErrorCode::unavailable);
  }
  EXPECT_EQ(opened(directory).unfinished_requests()->size(), 1'000u);
}

TEST(Writer, MayBePostedToFromManyThreadsAndFromAnswers) {
  const TemporaryDirectory directory;
  {
    Writer writer(opened(directory));
    std::vector<std::thread> posters;
    std::atomic<int> answered = 0;
    for (std::uint64_t t = 0; t < 4; ++t) {
      posters.emplace_back([&, t] {
        for (std::uint64_t i = 0; i < 100; ++i) {
          const std::uint64_t id = t * 100 + i;
          writer.post(putting(id), [&, id](const Status& put) {
            EXPECT_TRUE(put);
            writer.post([id](Store& store) { return store.finish_request(RequestId(id), met(1), "out"); },
                        [&](const Status& finished) {
                          EXPECT_TRUE(finished);
                          if (++answered == 400) answered.notify_all();
                        });
          });
        }
      });
    }
    for (std::thread& poster : posters) poster.join();
    for (int n = answered; n < 400; n = answered) answered.wait(n);
  }
  EXPECT_EQ(opened(directory).list({.state = State::met, .limit = 1'000})->size(), 400u);
}

}  // namespace
}  // namespace sluice::store
