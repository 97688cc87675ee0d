// Opening: what cannot be opened is refused with a text that says where, why and what would help.
#include <unistd.h>

#include <fstream>

#include "base/text.h"
#include "store/schema.h"
#include "store/worlds.h"

namespace sluice::store {
namespace {

void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

TEST(Open, MakesTheDirectoryForItsOwnerOnly) {
  const TemporaryDirectory directory;
  const std::string deep = directory.file("a/b");
  ASSERT_TRUE(Store::open(deep));
  EXPECT_EQ(std::filesystem::status(deep).permissions(), std::filesystem::perms::owner_all);
}

TEST(Open, FailsWhereAFileIsInTheWay) {
  const TemporaryDirectory directory;
  write(directory.file("taken"), "");
  EXPECT_EQ(error_of_opening(directory.file("taken")),
            str("data directory ", directory.file("taken"), " cannot be made: Not a directory"));
  EXPECT_EQ(error_of_opening(directory.file("taken/below")),
            str("data directory ", directory.file("taken/below"), " cannot be made: Not a directory"));
}

TEST(Open, FailsWhereNothingCanBeWritten) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("lock"));  // root may write anywhere but not open this as a file
  EXPECT_EQ(error_of_opening(directory.path()),
            str("data directory ", directory.path(), " cannot be written: Is a directory"));
}

TEST(Open, RefusesASecondServerAndNamesTheFirst) {
  const TemporaryDirectory directory;
  {
    const Store first = opened(directory);
    EXPECT_EQ(error_of_opening(directory.path()),
              str("data directory ", directory.path(), " is in use by another server (process ", ::getpid(),
                  "): stop that one or use another directory"));
  }
  EXPECT_EQ(error_of_opening(directory.path()), "opened");
}

TEST(Open, RefusesANewerSchemaAndLeavesItAlone) {
  const TemporaryDirectory directory;
  ASSERT_TRUE(opened(directory).set("a", "b"));
  const auto set_version = [&](int version) {
    return Database::open(database_path(directory.path()), Access::write)
        ->script(str("PRAGMA user_version = ", version));
  };
  ASSERT_TRUE(set_version(99));
  EXPECT_EQ(error_of_opening(directory.path()),
            str("data directory ", directory.path(), " was written by a newer version (schema 99, this one knows ",
                migrations().size(), "): use that version or another directory"));
  ASSERT_TRUE(set_version(static_cast<int>(migrations().size())));
  EXPECT_EQ(*opened(directory).get("a"), "b");
}

TEST(Open, RefusesTheDatabaseOfAnotherProgram) {
  const TemporaryDirectory directory;
  const std::string path = database_path(directory.path());
  ASSERT_TRUE(Database::open(path, Access::write)->script("CREATE TABLE bookmarks(url)"));
  EXPECT_EQ(error_of_opening(directory.path()), path + " is a database of another program");
}

TEST(Open, RefusesGarbage) {
  const TemporaryDirectory directory;
  const std::string path = database_path(directory.path());
  write(path, std::string(10'000, 'x'));
  EXPECT_EQ(error_of_opening(directory.path()),
            path +
                " is damaged (file is not a database): restore it from a backup, or move it away to begin with an "
                "empty one");
}

// Enough to fill many pages, so that a cut takes some of them away.
void fill(const TemporaryDirectory& directory) {
  Store store = opened(directory);
  for (std::uint64_t id = 1; id <= 100; ++id) ASSERT_TRUE(store.put_request(a_request(id), std::string(3'000, 'x')));
}

TEST(Open, RefusesATruncatedFileWhereverItIsCut) {
  const TemporaryDirectory directory;
  fill(directory);
  const std::string path = database_path(directory.path());
  const auto size = std::filesystem::file_size(path);
  ASSERT_GT(size, 300'000u);
  for (std::uintmax_t cut = size - 1; cut > 0; cut = cut * 3 / 4) {
    std::filesystem::resize_file(path, cut);
    const std::string error = error_of_opening(directory.path());
    EXPECT_TRUE(error.starts_with(path + " is damaged (")) << cut << ": " << error;
  }
}

TEST(Open, ReportsPagesThatWereOverwritten) {
  const TemporaryDirectory directory;
  fill(directory);
  {
    std::fstream file(database_path(directory.path()), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(20 * 4'096);
    file << std::string(250'000, '\x7F');
  }
  Store store = opened(directory);
  std::size_t damaged = 0;
  for (std::uint64_t id = 1; id <= 100; ++id) {
    const auto inputs = store.inputs_of(RequestId(id));
    if (!inputs) damaged += inputs.error().message.find(" is damaged (") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(damaged, 0u);
}

constexpr std::string_view kFirst = "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES(7);";
constexpr std::string_view kSecond = "ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 8;";
constexpr std::string_view kBroken = "INSERT INTO t VALUES(9, 9); INSERT INTO nowhere VALUES(1);";

TEST(Migrations, RunOnceEachAndKeepWhatIsThere) {
  const TemporaryDirectory directory;
  auto database = Database::open(directory.file("a.db"), Access::write);
  const std::vector<std::string_view> first{kFirst}, both{kFirst, kSecond};
  ASSERT_TRUE(migrate(*database, first, "d"));
  ASSERT_TRUE(migrate(*database, first, "d"));
  ASSERT_TRUE(migrate(*database, both, "d"));
  EXPECT_EQ(*database->integer("SELECT a * 10 + b FROM t"), 78);
  EXPECT_EQ(*database->integer("SELECT count(*) FROM t"), 1);
  EXPECT_EQ(*database->integer("PRAGMA user_version"), 2);
}

// A directory as the first version left it: nothing of it is lost, and its bounds go on to hold.
TEST(Migrations, OpenAJournalThatKnewNeitherCallersNorVersions) {
  const TemporaryDirectory directory;
  {
    auto database = Database::open(database_path(directory.path()), Access::write);
    ASSERT_TRUE(migrate(*database, migrations().first(1), directory.path()));
    ASSERT_TRUE(database->script(
        "INSERT INTO requests(id, application, arrival, objective, timeout, priority, inputs)"
        "  VALUES(1, 'photos', 10, 20, 30, 4, X'6162'), (2, 'photos', 11, 20, NULL, 0, X'63');"
        "UPDATE requests SET state = 1, finished = 50, cost = 0.5, stage = '', error = '', output_bytes = 3,"
        "  outputs = X'646566', inputs = NULL WHERE id = 1"));
  }
  Store store = opened(directory, {.finished_max = 1});
  const auto old = *store.find(RequestId(1));
  EXPECT_EQ(old->request,
            (Request{RequestId(1), "default", "photos", Time::from_ns(10), Duration::ns(20), Duration::ns(30), 4}));
  EXPECT_EQ(old->answer, (Answer{.state = State::met, .finished = Time::from_ns(50), .cost = 0.5}));
  EXPECT_EQ(*store.outputs_of(RequestId(1)), "def");
  EXPECT_EQ(*store.inputs_of(RequestId(2)), "c");
  EXPECT_EQ(ids(*store.unfinished_requests()), std::vector<std::uint64_t>{2});
  ASSERT_TRUE(store.finish_request(RequestId(2), met(60), "ghi"));
  EXPECT_EQ(ids(*store.list({})), std::vector<std::uint64_t>{2});
}

TEST(Migrations, ThatFailLeaveTheOldVersion) {
  const TemporaryDirectory directory;
  auto database = Database::open(directory.file("a.db"), Access::write);
  const std::vector<std::string_view> first{kFirst}, broken{kFirst, kSecond, kBroken};
  ASSERT_TRUE(migrate(*database, first, "d"));
  EXPECT_FALSE(migrate(*database, broken, "d"));
  EXPECT_FALSE(database->in_transaction());
  EXPECT_EQ(*database->integer("SELECT count(*) FROM t"), 1);
  EXPECT_EQ(*database->integer("PRAGMA user_version"), 1);
}

}  // namespace
}  // namespace sluice::store
