// Tensors as bytes: what was kept is loaded, and whatever else there is, is refused without harm.
#include "data/tensor_blob.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/rng.h"

namespace sluice::data {
namespace {

std::shared_ptr<Arena> an_arena(double megabytes = 1) {
  return Arena::make(Bytes::mb(megabytes)).value();
}

Tensor a_tensor(Arena& arena, TensorInfo info, std::string_view bytes) {
  Block block = *arena.allocate(bytes.size() + 8);  // inside of a larger block, as outputs of a batch are
  std::memcpy(block.data() + 8, bytes.data(), bytes.size());
  return {std::move(info), std::move(block), 8, bytes.size()};
}

Tensors some_tensors(Arena& arena) {
  using enum DataType;
  return {a_tensor(arena, {"image", uint8, {2, 3}}, "abcdef"), a_tensor(arena, {"empty", fp32, {0, 4}}, ""),
          a_tensor(arena, {"scalar", fp64, {}}, "12345678"),
          a_tensor(arena, {"words", bytes, {2}}, std::string_view("\3\0\0\0one\0\0\0\0", 11))};
}

std::string text_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.size};
}

TEST(TensorBlob, GivesBackWhatWasPut) {
  const auto arena = an_arena();
  const Tensors tensors = some_tensors(*arena);
  const auto loaded = from_blob(to_blob(tensors), *arena);
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->size(), tensors.size());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ((*loaded)[i].info, tensors[i].info);
    EXPECT_EQ(text_of((*loaded)[i]), text_of(tensors[i]));
    EXPECT_EQ(static_cast<bool>((*loaded)[i].texts), tensors[i].info.type == DataType::bytes);  // walked once, here
  }
  EXPECT_EQ(from_blob(to_blob({}), *arena)->size(), 0u);
}

TEST(TensorBlob, PartsAreTheSameBytes) {
  const auto arena = an_arena();
  const auto tensors = std::make_shared<const Tensors>(some_tensors(*arena));
  const std::string blob = to_blob(*tensors);
  const BlobParts parts(tensors);
  EXPECT_EQ(parts.size(), blob.size());
  for (std::size_t most = 1; most <= blob.size() + 1; ++most) {
    std::string all;
    while (all.size() < parts.size()) {
      const std::string part = parts.part(all.size(), most);
      ASSERT_EQ(part.size(), std::min(most, blob.size() - all.size()));
      all += part;
    }
    ASSERT_EQ(all, blob) << most;
  }
  EXPECT_EQ(parts.part(blob.size(), 10), "");
}

TEST(TensorBlob, FailsCleanlyWhenTheArenaIsFull) {
  const auto large = an_arena(1);
  const auto small = Arena::make(Bytes(256)).value();
  const std::string half(100, 'x');
  const Tensors tensors{a_tensor(*large, {"a", DataType::uint8, {100}}, half),
                        a_tensor(*large, {"b", DataType::uint8, {100}}, half),
                        a_tensor(*large, {"c", DataType::uint8, {100}}, half)};
  const auto loaded = from_blob(to_blob(tensors), *small);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error(), (Error{ErrorCode::unavailable,
                                   "no room for 100 bytes of c in shared memory (256 of 256 "
                                   "bytes are taken)"}));
  EXPECT_EQ(small->used(), 0u);
}

TEST(TensorBlob, RefusesEveryCutAndEveryAddition) {
  const auto arena = an_arena();
  const std::string blob = to_blob(some_tensors(*arena));
  const std::size_t used = arena->used();
  for (std::size_t size = 0; size < blob.size(); ++size) {
    EXPECT_FALSE(from_blob(std::string_view(blob).substr(0, size), *arena)) << size;
  }
  EXPECT_FALSE(from_blob(blob + "x", *arena));
  EXPECT_EQ(arena->used(), used);
}

TEST(TensorBlob, RefusesBytesThatDoNotFitTheShape) {
  const auto arena = an_arena();
  const auto refused = [&](TensorInfo info, std::string_view bytes) {
    const auto loaded = from_blob(to_blob({a_tensor(*arena, std::move(info), bytes)}), *arena);
    return !loaded && loaded.error().code == ErrorCode::invalid;
  };
  EXPECT_TRUE(refused({"a", DataType::fp32, {2}}, "1234"));
  EXPECT_TRUE(refused({"a", DataType::uint8, {-4}}, "1234"));
  EXPECT_TRUE(refused({"a", DataType::uint8, std::vector<std::int64_t>(17, 1)}, "1"));
  EXPECT_TRUE(refused({"a", DataType::bytes, {1}}, std::string_view("\xFF\xFF\xFF\xFFx", 5)));
  EXPECT_FALSE(refused({"a", DataType::uint8, {4}}, "1234"));
}

TEST(TensorBlob, SurvivesRandomDamage) {
  const auto arena = an_arena();
  const std::string blob = to_blob(some_tensors(*arena));
  Rng rng(7);
  for (int i = 0; i < 20'000; ++i) {
    std::string damaged = blob;
    for (std::uint64_t n = rng.below(4) + 1; n > 0; --n) {
      damaged[rng.below(damaged.size())] = static_cast<char>(rng.below(256));
    }
    const auto loaded = from_blob(damaged, *arena);
    EXPECT_TRUE(!loaded || to_blob(*loaded) == damaged);
  }
}

}  // namespace
}  // namespace sluice::data
