// Applications, profiles and small values: what is put is there after the store is opened again.
#include "store/worlds.h"

namespace sluice::store {
namespace {

using Names = std::vector<std::string>;

const std::vector<File> kFiles{{"photos.yaml", "application: photos"},
                               {"models/a.pt", std::string("\0\xFF weights", 10)}};

Names names(Store& store) {
  Names out;
  const auto all = store.applications();
  for (const DeployedApplication& application : *all) out.push_back(application.name);
  return out;
}

TEST(Applications, ComeBackWithTheirFilesInOrder) {
  const TemporaryDirectory directory;
  EXPECT_EQ(*opened(directory).put_application(
                {.name = "photos", .deployed_at = at(7), .main = "photos.yaml", .files = kFiles}),
            1u);
  const auto all = opened(directory).applications();
  const DeployedApplication expected{
      .name = "photos", .version = 1, .deployed_at = at(7), .main = "photos.yaml", .files = kFiles, .versions = {1}};
  EXPECT_EQ(*all, std::vector{expected});
}

TEST(Applications, AreReplacedAsAWhole) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.put_application({.name = "photos", .deployed_at = at(1), .main = "photos.yaml", .files = kFiles}));
  EXPECT_EQ(
      *store.put_application({.name = "photos", .deployed_at = at(2), .main = "new.yaml", .files = {{"new.yaml", ""}}}),
      2u);
  const DeployedApplication expected{.name = "photos",
                                     .version = 2,
                                     .deployed_at = at(2),
                                     .main = "new.yaml",
                                     .files = {{"new.yaml", ""}},
                                     .versions = {1, 2}};
  EXPECT_EQ(*store.applications(), std::vector{expected});
}

DeployedApplication version_of_photos(const std::string& content, std::optional<double> share = std::nullopt) {
  return {.name = "photos",
          .role = share ? VersionRole::canary : VersionRole::serving,
          .share = share,
          .main = "a",
          .files = {{"a", content}}};
}

TEST(Applications, KnowWhatServesAlready) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  EXPECT_FALSE(store.serving_alike(version_of_photos("one"))->has_value());
  for (const char* content : {"one", "two"}) ASSERT_TRUE(store.put_application(version_of_photos(content)));
  ASSERT_TRUE(store.put_application(version_of_photos("three", 0.1)));
  EXPECT_FALSE(store.serving_alike(version_of_photos("one"))->has_value());
  EXPECT_EQ(*store.serving_alike(version_of_photos("two")), std::optional(2u));
  EXPECT_FALSE(store.serving_alike(version_of_photos("three"))->has_value()) << "a canary does not serve all calls";
}

TEST(Applications, WhatWasReplacedIsKeptAndCanServeAgain) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (const char* content : {"one", "two", "three"}) ASSERT_TRUE(store.put_application(version_of_photos(content)));
  ASSERT_TRUE(store.serve_version("default", "photos", 2));
  ASSERT_EQ(store.applications()->size(), 1u);
  EXPECT_EQ(store.applications()->front().version, 2u);
  EXPECT_EQ(store.applications()->front().files.front().content, "two");
  EXPECT_EQ(store.application("default", "photos", 3)->files.front().content, "three");
  EXPECT_EQ(store.application("default", "photos", 9).error().message, "version 9 of application photos is not kept");
  EXPECT_EQ(store.serve_version("default", "photos", 9).error().code, ErrorCode::not_found);
  EXPECT_EQ(store.applications()->front().version, 2u);  // as before
}

TEST(Applications, TheVersionBeforeIsTheOneThatServedAndWasNotGoneBackFrom) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (const char* content : {"one", "two", "bad"}) ASSERT_TRUE(store.put_application(version_of_photos(content)));
  EXPECT_EQ(*store.version_before("default", "photos"), 2u);
  ASSERT_TRUE(store.serve_version("default", "photos", 2, true));
  ASSERT_TRUE(store.put_application(version_of_photos("mended")));
  EXPECT_EQ(*store.version_before("default", "photos"), 2u);  // not 3
  ASSERT_TRUE(store.put_application(version_of_photos("canary", 0.5)));
  ASSERT_TRUE(store.serve_version("default", "photos", 5));
  EXPECT_EQ(*store.version_before("default", "photos"), 4u);
  ASSERT_TRUE(store.serve_version("default", "photos", 1, true));
  EXPECT_EQ(store.version_before("default", "photos").error().code, ErrorCode::not_found);
}

TEST(Applications, TheOldestThatAreOnlyKeptGo) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  for (int i = 0; i < 9; ++i) ASSERT_TRUE(store.put_application(version_of_photos("x")));
  EXPECT_EQ(*store.versions("default", "photos"), (std::vector<std::uint32_t>{4, 5, 6, 7, 8, 9}));
  ASSERT_TRUE(store.serve_version("default", "photos", 4));
  ASSERT_TRUE(store.put_application(version_of_photos("y")));  // 10 serves; 4 is the oldest of the others
  EXPECT_EQ(*store.versions("default", "photos"), (std::vector<std::uint32_t>{5, 6, 7, 8, 9, 10}));
}

TEST(Applications, ACanaryStandsBesideWhatServes) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.put_application(version_of_photos("one")));
  ASSERT_TRUE(store.put_application(version_of_photos("two", 0.25)));
  const auto both = store.applications();
  ASSERT_EQ(both->size(), 2u);
  EXPECT_EQ((*both)[0].role, VersionRole::serving);
  EXPECT_EQ((*both)[1].role, VersionRole::canary);
  EXPECT_EQ((*both)[1].share, 0.25);
  ASSERT_TRUE(store.remove_canary("default", "photos"));
  EXPECT_EQ(store.remove_canary("default", "photos").error().code, ErrorCode::not_found);
  EXPECT_EQ(*store.versions("default", "photos"), std::vector<std::uint32_t>{1});
  ASSERT_TRUE(store.put_application(version_of_photos("three", 0.5)));
  ASSERT_TRUE(store.serve_version("default", "photos", 3));
  ASSERT_EQ(store.applications()->size(), 1u);
  EXPECT_EQ(store.applications()->front().share, std::nullopt);
  ASSERT_TRUE(store.remove_application("default", "photos"));
  EXPECT_TRUE(store.versions("default", "photos")->empty());
}

TEST(Applications, NeverUseAVersionAgain) {
  const TemporaryDirectory directory;
  {
    Store store = opened(directory);
    ASSERT_TRUE(
        store.put_application({.name = "photos", .deployed_at = at(1), .main = "photos.yaml", .files = kFiles}));
    ASSERT_TRUE(
        store.put_application({.name = "photos", .deployed_at = at(2), .main = "photos.yaml", .files = kFiles}));
    ASSERT_TRUE(store.remove_application("default", "photos"));
    EXPECT_EQ(names(store), Names{});
  }
  Store store = opened(directory);
  EXPECT_EQ(*store.put_application({.name = "photos", .deployed_at = at(3), .main = "photos.yaml", .files = kFiles}),
            3u);
  EXPECT_EQ(*store.put_application({.name = "depth", .deployed_at = at(3), .main = "depth.yaml", .files = {}}), 1u);
  EXPECT_EQ(names(store), (Names{"depth", "photos"}));
}

TEST(Applications, StayAsTheyWereWhenTheNewOneIsRefused) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.put_application({.name = "photos", .deployed_at = at(1), .main = "photos.yaml", .files = kFiles}));
  const auto twice =
      store.put_application({.name = "photos", .deployed_at = at(2), .main = "a", .files = {{"a", "1"}, {"a", "2"}}});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().message, "application photos has the file a twice");
  EXPECT_EQ((*store.applications())[0].files, kFiles);
}

TEST(Applications, ThatAreNotThereCannotBeRemoved) {
  const TemporaryDirectory directory;
  const Status removed = opened(directory).remove_application("default", "photos");
  EXPECT_EQ(code_of(removed), ErrorCode::not_found);
}

TEST(Applications, AreUndoneWithTheirBatch) {
  const TemporaryDirectory directory;
  {
    Store store = opened(directory);
    ASSERT_TRUE(store.begin_batch());
    ASSERT_TRUE(
        store.put_application({.name = "photos", .deployed_at = at(1), .main = "photos.yaml", .files = kFiles}));
    EXPECT_TRUE(store.in_batch());
  }
  Store store = opened(directory);
  EXPECT_EQ(names(store), Names{});
  EXPECT_EQ(*store.put_application({.name = "photos", .deployed_at = at(1), .main = "photos.yaml", .files = kFiles}),
            1u);
}

TEST(Profiles, AreKeptByFunctionVersion) {
  const TemporaryDirectory directory;
  constexpr FunctionVersion high = 0xFFFF'0000'0000'0001;
  {
    Store store = opened(directory);
    ASSERT_TRUE(store.put_profile(high, "batch,vcpu"));
    ASSERT_TRUE(store.put_profile(high, std::string_view("a\0b", 3)));
    ASSERT_TRUE(store.put_profile(5, ""));
  }
  Store store = opened(directory);
  EXPECT_EQ(*store.profile(high), std::string("a\0b", 3));
  EXPECT_EQ(*store.profile(5), std::string());
  EXPECT_EQ(*store.profile(6), std::nullopt);
}

TEST(SmallValues, AreSetAndChanged) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  EXPECT_EQ(*store.get("scheduler"), std::nullopt);
  ASSERT_TRUE(store.set("scheduler", "esg"));
  ASSERT_TRUE(store.set("scheduler", "sluice"));
  EXPECT_EQ(*store.get("scheduler"), "sluice");
}

TEST(Epochs, GrowOverRestarts) {
  const TemporaryDirectory directory;
  EXPECT_EQ(*opened(directory).next_epoch(), 1u);
  Store store = opened(directory);
  EXPECT_EQ(*store.next_epoch(), 2u);
  EXPECT_EQ(*store.next_epoch(), 3u);
}

TEST(Applications, OfTwoTenantsMayHaveOneName) {
  const TemporaryDirectory directory;
  Store store = opened(directory);
  ASSERT_TRUE(store.add_tenant("acme", {}));
  EXPECT_EQ(*store.put_application({.name = "photos", .main = "a", .files = {{"a", "ours"}}}), 1u);
  EXPECT_EQ(*store.put_application({.tenant = "acme", .name = "photos", .main = "a", .files = {{"a", "theirs"}}}), 1u);
  ASSERT_EQ(store.applications()->size(), 2u);
  EXPECT_EQ(store.applications()->front().files.front().content, "theirs");
  EXPECT_EQ(code_of(store.remove_tenant("acme")), ErrorCode::invalid);
  ASSERT_TRUE(store.remove_application("acme", "photos"));
  EXPECT_EQ(store.applications()->front().files.front().content, "ours");
  EXPECT_TRUE(store.remove_tenant("acme"));
}

}  // namespace
}  // namespace sluice::store
