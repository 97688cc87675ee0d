// Keys: only whoever has the text gets in, and the text is nowhere on disk.
#include <fstream>
#include <iterator>

#include "store/schema.h"
#include "store/worlds.h"

namespace sluice::store {
namespace {

const Principal kCaller{.tenant = "default", .role = Role::caller};

TEST(Keys, AreFoundByTheirTextAfterARestart) {
  const TemporaryDirectory directory;
  const std::string text = *opened(directory).add_key("laptop", kCaller, at(3));
  EXPECT_EQ(text.size(), std::string("sluice-").size() + 48);
  Store store = opened(directory);
  const std::string salt = *store.secret("key_salt");
  EXPECT_EQ(*store.keys(), (std::vector<Key>{{"laptop", kCaller, at(3), key_hash(salt, text)}}));
  EXPECT_NE(key_hash(salt, text), key_hash(salt, text + "0"));
  EXPECT_NE(key_hash(salt, text), key_hash(salt + "0", text));
}

// The test vector of FIPS 180.
TEST(Keys, AreHashedBySha256) {
  EXPECT_EQ(sha256_text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Keys, AreListedByNameAndRemoved) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  const std::string robot = *store.add_key("robot", {.role = Role::admin}, at(1));
  const std::string laptop = *store.add_key("laptop", kCaller, at(2));
  EXPECT_NE(robot, laptop);
  const auto all = store.keys();
  ASSERT_EQ(all->size(), 2u);
  EXPECT_EQ((*all)[0].name, "laptop");
  EXPECT_EQ((*all)[1].principal.role, Role::admin);
  ASSERT_TRUE(store.remove_key("robot"));
  EXPECT_EQ(store.keys()->size(), 1u);
  EXPECT_EQ(code_of(store.remove_key("robot")), ErrorCode::not_found);
}

TEST(Keys, AreNotReplacedByTheSameName) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.add_key("laptop", kCaller, at(1)));
  const auto before = *store.keys();
  const auto second = store.add_key("laptop", kCaller, at(2));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "there is a key 'laptop' already: revoke it, or use another name");
  EXPECT_EQ(*store.keys(), before);
}

TEST(Keys, BelongToATenantThatIsThere) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  EXPECT_EQ(code_of(store.add_key("laptop", {.tenant = "acme", .role = Role::caller}, at(1))), ErrorCode::not_found);
  ASSERT_TRUE(store.add_tenant("acme", {}));
  EXPECT_TRUE(store.add_key("laptop", {.tenant = "acme", .role = Role::caller}, at(1)));
  EXPECT_EQ(code_of(store.remove_tenant("acme")), ErrorCode::invalid);
  ASSERT_TRUE(store.remove_key("laptop"));
  EXPECT_TRUE(store.remove_tenant("acme"));
}

TEST(Keys, AreNotOnDisk) {
  const TemporaryDirectory directory;
  const std::string text = *opened(directory).add_key("laptop", kCaller, at(1));
  std::ifstream file(database_path(directory.path()), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(bytes.find("laptop"), std::string::npos);
  EXPECT_EQ(bytes.find(text.substr(7)), std::string::npos);
}

TEST(Tenants, HaveNumbersThatAreNeverUsedAgain) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  EXPECT_EQ(*store.tenants(), (std::vector<Tenant>{{"default", TenantId(0), {}}}));
  EXPECT_EQ(store.add_tenant("acme", {})->id, TenantId(1));
  EXPECT_EQ(code_of(store.add_tenant("acme", {})), ErrorCode::already_exists);
  ASSERT_TRUE(store.remove_tenant("acme"));
  const TenantId again = store.add_tenant("acme", {})->id;
  EXPECT_GT(again.value(), 1u);
  EXPECT_EQ(code_of(store.remove_tenant("default")), ErrorCode::invalid);
  EXPECT_EQ(code_of(store.remove_tenant("nobody")), ErrorCode::not_found);
}

TEST(Tenants, KeepTheirQuotas) {
  const TemporaryDirectory directory;
  const Quota quota{.requests_per_second = 2.5, .bytes = Bytes(1000), .functions = 3, .slices = 0};
  ASSERT_TRUE(opened(directory).add_tenant("acme", quota));
  Store store = opened(directory);
  EXPECT_EQ(store.tenants()->front().quota, quota);
  ASSERT_TRUE(store.set_quota("acme", {.requests = 7, .vcpu = 2}));
  EXPECT_EQ(store.tenants()->front().quota, (Quota{.requests = 7, .vcpu = 2}));
  EXPECT_EQ(code_of(store.set_quota("nobody", {})), ErrorCode::not_found);
}

TEST(Tenants, AreCalledByPlainNames) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (const std::string& name : {std::string(), std::string("a b"), std::string("a/b"), std::string(65, 'a')}) {
    EXPECT_EQ(code_of(store.add_tenant(name, {})), ErrorCode::invalid) << name;
    EXPECT_EQ(code_of(store.add_key(name, kCaller, at(1))), ErrorCode::invalid) << name;
  }
}

}  // namespace
}  // namespace sluice::store
