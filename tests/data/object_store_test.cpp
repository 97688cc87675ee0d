#include "data/object_store.h"

#include <gtest/gtest.h>

namespace sluice::data {
namespace {

SharedTensors tensors(const std::string& name) {
  return std::make_shared<const Tensors>(Tensors{{.info = {name, DataType::fp32, {}}}});
}

TEST(ObjectStore, KeepsObjectsOfRequestsApart) {
  ObjectStore store;
  for (const std::uint64_t id : {1, 2}) store.open(RequestId(id), tensors("inputs"));
  const auto a = tensors("a"), b = tensors("b");
  store.put(RequestId(1), {.run = 1, .stage = StageId(0)}, a);
  store.put(RequestId(2), {.run = 1, .stage = StageId(0)}, b);
  EXPECT_EQ(store.get(RequestId(1), {.run = 1, .stage = StageId(0)}), a);
  EXPECT_EQ(store.get(RequestId(2), {.run = 1, .stage = StageId(0)}), b);
  EXPECT_EQ(store.get(RequestId(1), {.run = 2, .stage = StageId(0)}), nullptr);
  EXPECT_EQ(store.get(RequestId(1), {.run = 1, .stage = StageId(1)}), nullptr);
  EXPECT_EQ(store.get(RequestId(1), {.run = 1, .stage = StageId(0), .item = 1}), nullptr);
  EXPECT_EQ(store.get(RequestId(3), {}), nullptr);
  EXPECT_EQ(store.requests(), 2u);
}

TEST(ObjectStore, PutsALaterObjectInThePlaceOfTheEarlierOne) {
  ObjectStore store;
  store.open(RequestId(1), tensors("a"));
  const auto again = tensors("b");
  store.put(RequestId(1), {}, again);
  EXPECT_EQ(store.get(RequestId(1), {}), again);
  EXPECT_EQ(store.items(RequestId(1), kRequestInputs, StageId()), 1u);
}

TEST(ObjectStore, DropsWhatComesAfterTheRequestIsOver) {
  ObjectStore store;
  store.put(RequestId(1), {.run = 1, .stage = StageId(0)}, tensors("early"));
  store.open(RequestId(1), tensors("inputs"));
  store.release(RequestId(1));
  store.put(RequestId(1), {.run = 1, .stage = StageId(0)}, tensors("late"));
  EXPECT_EQ(store.requests(), 0u);
}

TEST(ObjectStore, CountsTheItemsOfAStage) {
  ObjectStore store;
  store.open(RequestId(1), tensors("inputs"));
  for (std::uint32_t item = 0; item < 3; ++item)
    store.put(RequestId(1), {.run = 4, .stage = StageId(2), .item = item}, tensors("a"));
  store.put(RequestId(1), {.run = 5, .stage = StageId(2)}, tensors("b"));
  EXPECT_EQ(store.items(RequestId(1), 4, StageId(2)), 3u);
  EXPECT_EQ(store.items(RequestId(1), 4, StageId(3)), 0u);
  EXPECT_EQ(store.items(RequestId(9), 4, StageId(2)), 0u);
}

TEST(ObjectStore, FreesTheMemoryOfARequestThatIsReleasedUnlessSomebodyReadsIt) {
  const auto arena = Arena::make(Bytes(1024)).value();
  ObjectStore store;
  store.open(RequestId(1), tensors("inputs"));
  for (std::uint32_t item = 0; item < 2; ++item) {
    store.put(RequestId(1), {.item = item}, std::make_shared<const Tensors>(Tensors{{.block = *arena->allocate(64)}}));
  }
  auto reader = store.get(RequestId(1), {.item = 1});
  EXPECT_EQ(arena->used(), 128u);
  store.release(RequestId(1));
  EXPECT_EQ(arena->used(), 64u);
  EXPECT_EQ(store.requests(), 0u);
  reader.reset();
  EXPECT_EQ(arena->used(), 0u);
  store.release(RequestId(1));
}

}  // namespace
}  // namespace sluice::data
