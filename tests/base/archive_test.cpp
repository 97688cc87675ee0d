#include "base/archive.h"

#include <gtest/gtest.h>

#include "base/save.h"

namespace sluice {
namespace {

enum class Fruit { apple, pear };
constexpr Fruit last_of(Fruit) {
  return Fruit::pear;
}

struct Tree {
  std::string name;
  std::vector<Tree> branches;
  friend bool operator==(const Tree&, const Tree&) = default;
  void visit(auto& archive) { archive(name, branches); }
};

template <class T>
std::string saved(const T& value) {
  std::string out;
  save(value, out);
  return out;
}

template <class T>
void expect_round_trip(const T& value) {
  const std::string bytes = saved(value);
  EXPECT_EQ(load<T>(bytes), value);
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(load<T>(bytes.substr(0, size)), std::nullopt) << size << " of " << bytes.size();
}

template <class T>
std::uint64_t hash_of(const T& value) {
  Hash hash;
  add_to(hash, value);
  return hash.value();
}

Tree nested(std::size_t depth) {
  Tree tree{.name = "leaf"};
  for (std::size_t i = 1; i < depth; ++i) tree = Tree{.name = "", .branches = {tree}};
  return tree;
}

TEST(Archive, LoadsWhatWasSavedAndNothingThatIsCutOff) {
  using Choice = std::variant<std::monostate, double, std::string>;
  expect_round_trip(true);
  expect_round_trip(Fruit::pear);
  expect_round_trip(Time::from_ns(-5));
  expect_round_trip(std::string("text"));
  expect_round_trip(std::optional<Duration>(Duration::ms(2)));
  expect_round_trip(std::vector<Choice>{std::monostate{}, 2.5, "text"});
  expect_round_trip(std::map<std::string, double>{{"a", 1}, {"b", 2}});
  expect_round_trip(Tree{.name = "root", .branches = {{.name = "a", .branches = {{.name = "b"}}}, {.name = "c"}}});
}

TEST(Archive, SharedValuesAreSavedByValueAndMayBeMissing) {
  using Shared = std::shared_ptr<const Tree>;
  const auto tree = load<Shared>(saved(Shared(std::make_shared<Tree>(Tree{.name = "root"}))));
  ASSERT_TRUE(tree.has_value() && *tree != nullptr);
  EXPECT_EQ((*tree)->name, "root");
  EXPECT_EQ(load<Shared>(saved(Shared())), Shared());
}

TEST(Archive, RefusesValuesOutOfRange) {
  EXPECT_EQ(load<Fruit>("\x01"), Fruit::pear);
  EXPECT_EQ(load<Fruit>("\x02"), std::nullopt);
  EXPECT_EQ(load<bool>("\x02"), std::nullopt);
  EXPECT_EQ(load<std::optional<bool>>(std::string("\x02\0", 2)), std::nullopt);
  using Choice = std::variant<std::monostate, bool>;
  EXPECT_EQ(load<Choice>(std::string("\0", 1)), Choice());
  EXPECT_EQ(load<Choice>("\x02"), std::nullopt);
}

TEST(Archive, RefusesAMapThatIsNotInOrder) {
  using Map = std::map<std::string, bool>;
  using List = std::vector<std::pair<std::string, bool>>;
  EXPECT_EQ(load<Map>(saved(List{{"a", true}, {"b", false}})), (Map{{"a", true}, {"b", false}}));
  EXPECT_EQ(load<Map>(saved(List{{"a", true}, {"a", false}})), std::nullopt);
  EXPECT_EQ(load<Map>(saved(List{{"b", true}, {"a", false}})), std::nullopt);
}

TEST(Archive, RefusesALengthBeyondTheBytesThereAre) {
  std::string bytes = saved(std::uint64_t{1} << 40);
  EXPECT_EQ(load<std::string>(bytes), std::nullopt);
  EXPECT_EQ(load<std::vector<Tree>>(bytes), std::nullopt);
  EXPECT_EQ((load<std::map<int, int>>(bytes)), std::nullopt);
  bytes =
      saved(std::uint64_t{100'000}) + std::string(100'000, '\xFF');  // each tree is larger than the byte it is given
  std::vector<Tree> trees;
  Archive archive = Archive::loading(bytes);
  archive(trees);
  EXPECT_FALSE(archive.ok());
  EXPECT_EQ(trees.size(), 1u);
}

TEST(Archive, RefusesWhatIsNestedTooDeep) {
  expect_round_trip(nested(Archive::kDepthMax));
  std::string bytes;
  for (int i = 0; i < 100'000; ++i) bytes += saved(std::string()) + saved(std::uint64_t{1});
  EXPECT_EQ(load<Tree>(bytes), std::nullopt);
  std::string out;
  Archive archive = Archive::saving(out);
  Tree tree = nested(Archive::kDepthMax + 1);
  archive(tree);
  EXPECT_FALSE(archive.ok());
}

TEST(Archive, HashesTellValuesApart) {
  EXPECT_EQ(hash_of(nested(3)), hash_of(nested(3)));
  EXPECT_NE(hash_of(nested(3)), hash_of(nested(4)));
  EXPECT_NE(hash_of(std::vector<std::string>{"ab", "c"}), hash_of(std::vector<std::string>{"a", "bc"}));
  EXPECT_NE(hash_of(std::optional<bool>()), hash_of(std::optional<bool>(false)));
}

}  // namespace
}  // namespace sluice
