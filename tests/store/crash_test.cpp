// kill -9 at random points: whatever a process said was kept is there for the next one, and nothing twice.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <semaphore>
#include <set>

#include "base/rng.h"
#include "store/worlds.h"
#include "store/writer.h"

namespace sluice::store {
namespace {

// What a child process says: a request is accepted, or (the highest bit) answered.
using Word = std::uint64_t;
constexpr Word kAnswered = Word{1} << 63;

struct Child {
  pid_t process = 0;
  int words = -1;  // where it is heard
};

Child start(const std::function<void(int)>& body) {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  const pid_t process = ::fork();
  CHECK(process >= 0);
  if (process == 0) {
    ::close(ends[0]);
    body(ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  return {process, ends[0]};
}

void say(int out, Word word) {
  CHECK(::write(out, &word, sizeof word) == sizeof word);
}

// Hears `count` words, kills the child wherever it is by then, and hears what it had said before.
std::vector<Word> heard_until_killed(const Child& child, std::uint64_t count) {
  std::vector<Word> words;
  Word word = 0;
  while (::read(child.words, &word, sizeof word) == sizeof word) {
    words.push_back(word);
    if (words.size() == count) ::kill(child.process, SIGKILL);
  }
  int status = 0;
  ::waitpid(child.process, &status, 0);
  ::close(child.words);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) << "the child ended by itself";
  return words;
}

std::string input_of(std::uint64_t id) {
  return std::string(id * 37 % 2'000, static_cast<char>('a' + id % 26));
}

// Accepts requests `first`, … in batches of one to eight and answers every second of the batch before, until killed.
void write_batches(const std::string& directory, std::uint64_t first, int out) {
  auto store = Store::open(directory);
  Rng rng(first);
  std::vector<std::uint64_t> before;
  for (std::uint64_t id = first;;) {
    std::vector<Word> words;
    std::vector<std::uint64_t> batch;
    CHECK(store->begin_batch());
    for (std::uint64_t n = rng.below(8) + 1; n > 0; --n, ++id) {
      CHECK(store->put_request(a_request(id), input_of(id)));
      batch.push_back(id);
      words.push_back(id);
    }
    for (const std::uint64_t old : before) {
      if (old % 2 == 1) continue;
      CHECK(store->finish_request(RequestId(old), met(static_cast<std::int64_t>(old)), input_of(old)));
      words.push_back(old | kAnswered);
    }
    CHECK(store->commit());
    for (const Word word : words) say(out, word);
    before = std::move(batch);
  }
}

// The same through the writer's thread, 64 at a time.
void write_posts(const std::string& directory, std::uint64_t first, int out) {
  auto store = Store::open(directory);
  Writer writer(std::move(store).value());
  std::counting_semaphore<64> room(64);
  for (std::uint64_t id = first;; ++id) {
    room.acquire();
    const auto accepted = [&writer, &room, id, out](const Status& put) {
      CHECK(put);
      say(out, id);
      room.release();
      if (id % 2 == 1) return;
      writer.post(
          [id](Store& s) { return s.finish_request(RequestId(id), met(static_cast<std::int64_t>(id)), input_of(id)); },
          [id, out](const Status& finished) {
            CHECK(finished);
            say(out, id | kAnswered);
          });
    };
    writer.post([id](Store& s) { return s.put_request(a_request(id), input_of(id)); }, accepted);
  }
}

// Everything that was said is there, with its bytes.
void expect_kept(Store& store, const std::vector<Word>& words) {
  for (const Word word : words) {
    const RequestId id(word & ~kAnswered);
    const auto found = store.find(id);
    ASSERT_TRUE(found) << found.error().message;
    ASSERT_TRUE(*found) << "request " << id.value() << " is lost";
    const bool answered = (*found)->answer.state == State::met;
    EXPECT_TRUE(answered || (word & kAnswered) == 0) << "the answer of " << id.value() << " is lost";
    EXPECT_EQ(answered ? *store.outputs_of(id) : *store.inputs_of(id), input_of(id.value()));
    EXPECT_EQ(code_of(store.finish_request(id, met(0), "")),
              answered ? ErrorCode::already_exists : ErrorCode::internal);
  }
}

using Body = void (*)(const std::string&, std::uint64_t, int);

// One process after the other on the same directory, each killed after a random number of words.
void kill_again_and_again(Body body) {
  const TemporaryDirectory directory;
  Rng rng(20);
  std::set<Word> all;
  for (std::uint64_t round = 0; round < 15; ++round) {
    const std::uint64_t first = round * 1'000'000 + 1;
    const Child child = start([&](int out) { body(directory.path(), first, out); });
    const std::vector<Word> words = heard_until_killed(child, rng.below(300) + 1);
    for (const Word word : words) EXPECT_TRUE(all.insert(word).second) << word << " was said twice";
    Store store = opened(directory);
    expect_kept(store, words);
    const auto listed = ids(*store.list({.limit = 10'000'000}));
    EXPECT_EQ(std::set(listed.begin(), listed.end()).size(), listed.size());
    EXPECT_TRUE(std::is_sorted(listed.rbegin(), listed.rend()));
  }
}

TEST(Crash, LosesNothingThatWasCommitted) {
  kill_again_and_again(write_batches);
}

TEST(Crash, LosesNothingThatTheWriterAnswered) {
  kill_again_and_again(write_posts);
}

TEST(Crash, FreesTheDirectoryForTheNextServer) {
  const TemporaryDirectory directory;
  const Child child = start([&](int out) {
    auto store = Store::open(directory.path());
    CHECK(store);
    say(out, 1);
    ::pause();
  });
  Word word = 0;
  ASSERT_EQ(::read(child.words, &word, sizeof word), static_cast<ssize_t>(sizeof word));
  EXPECT_NE(error_of_opening(directory.path()).find("(process " + std::to_string(child.process) + ")"),
            std::string::npos);
  ::kill(child.process, SIGKILL);
  ::waitpid(child.process, nullptr, 0);
  ::close(child.words);
  EXPECT_EQ(error_of_opening(directory.path()), "opened");
}

}  // namespace
}  // namespace sluice::store
