// Keys: only whoever has the text gets in, and the text is nowhere on disk.
#include <fstream>
#include <iterator>

#include "store/schema.h"
#include "store/worlds.h"

namespace sluice::store {
namespace {

TEST(Keys, AreKnownByTheirTextAfterARestart) {
  const TemporaryDirectory directory;
  const std::string text = *opened(directory).add_key("laptop");
  EXPECT_EQ(text.size(), std::string("sluice-").size() + 48);
  Store store = opened(directory);
  EXPECT_TRUE(*store.key_is_known(text));
  EXPECT_FALSE(*store.key_is_known(""));
  EXPECT_FALSE(*store.key_is_known(text + "0"));
  EXPECT_FALSE(*store.key_is_known(text.substr(0, text.size() - 1)));
}

TEST(Keys, AreListedByNameAndRemoved) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  const std::string robot = *store.add_key("robot"), laptop = *store.add_key("laptop");
  EXPECT_NE(robot, laptop);
  const auto all = store.keys();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "laptop");
  EXPECT_EQ(find_key(*all, robot)->name, "robot");
  ASSERT_TRUE(store.remove_key("robot"));
  EXPECT_FALSE(*store.key_is_known(robot));
  EXPECT_TRUE(*store.key_is_known(laptop));
  EXPECT_EQ(code_of(store.remove_key("robot")), ErrorCode::not_found);
}

TEST(Keys, AreNotReplacedByTheSameName) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  const std::string first = *store.add_key("laptop");
  const auto second = store.add_key("laptop");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "there is a key laptop already: remove it first, or use another name");
  EXPECT_TRUE(*store.key_is_known(first));
}

TEST(Keys, AreNotOnDisk) {
  const TemporaryDirectory directory;
  const std::string text = *opened(directory).add_key("laptop");
  std::ifstream file(database_path(directory.path()), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(bytes.find("laptop"), std::string::npos);
  EXPECT_EQ(bytes.find(text.substr(7)), std::string::npos);
}

}  // namespace
}  // namespace sluice::store
