#include "data/object_store.h"

#include <gtest/gtest.h>

namespace sluice::data {
namespace {

SharedTensors tensors(const std::string& name) {
  return std::make_shared<const Tensors>(Tensors{{.info = {name, DataType::fp32, {}}}});
}

TEST(ObjectStore, KeepsObjectsOfRequestsApart) {
  ObjectStore store;
  for (const std::uint64_t id : {1u, 2u}) store.open(RequestId(id), tensors("inputs"));
  const auto a = tensors("a"), b = tensors("b");
  store.put(RequestId(1), {.outermost = 1, .stage = StageId(0)}, a);
  store.put(RequestId(2), {.outermost = 1, .stage = StageId(0)}, b);
  EXPECT_EQ(store.get(RequestId(1), {.outermost = 1, .stage = StageId(0)}), a);
  EXPECT_EQ(store.get(RequestId(2), {.outermost = 1, .stage = StageId(0)}), b);
  EXPECT_EQ(store.get(RequestId(1), {.outermost = 2, .stage = StageId(0)}), nullptr);
  EXPECT_EQ(store.get(RequestId(1), {.outermost = 1, .stage = StageId(1)}), nullptr);
  EXPECT_EQ(store.get(RequestId(1), {.outermost = 1, .stage = StageId(0), .item = 1}), nullptr);
  EXPECT_EQ(store.get(RequestId(3), {}), nullptr);
  EXPECT_EQ(store.requests(), 2u);
}

TEST(ObjectStore, PutsALaterObjectInThePlaceOfTheEarlierOne) {
  ObjectStore store;
  store.open(RequestId(1), tensors("a"));
  const auto again = tensors("b");
  store.put(RequestId(1), {}, again);
  EXPECT_EQ(store.get(RequestId(1), {}), again);
}

TEST(ObjectStore, DropsWhatComesAfterTheRequestIsOver) {
  ObjectStore store;
  store.put(RequestId(1), {.outermost = 1, .stage = StageId(0)}, tensors("early"));
  store.open(RequestId(1), tensors("inputs"));
  store.release(RequestId(1));
  store.put(RequestId(1), {.outermost = 1, .stage = StageId(0)}, tensors("late"));
  EXPECT_EQ(store.requests(), 0u);
}

TEST(ObjectStore, KeepsObjectsOfRunsOfARequestApart) {
  ObjectStore store;
  store.open(RequestId(1), tensors("inputs"));
  const RunPath paths[] = {{}, {{StageId(0), 0}}, {{StageId(0), 1}}, {{StageId(0), 0}, {StageId(0), 1}}};
  std::vector<SharedTensors> put;
  for (const RunPath& path : paths) {
    put.push_back(tensors("a"));
    store.put(RequestId(1), {4, StageId(0), 0, path}, put.back());
  }
  for (std::size_t i = 0; i < put.size(); ++i) EXPECT_EQ(store.get(RequestId(1), {4, StageId(0), 0, paths[i]}), put[i]);
  EXPECT_EQ(store.get(RequestId(1), {4, StageId(0), 0, {{StageId(1), 0}}}), nullptr);
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

TEST(ObjectStore, ARequestWhoseInputsAreElsewhereIsOpenWithoutThem) {
  ObjectStore store;
  EXPECT_EQ(store.held(RequestId(1)), std::nullopt);
  store.expect(RequestId(1));
  EXPECT_EQ(store.held(RequestId(1)), 0u);
  const SharedTensors a = tensors("a");
  store.put(RequestId(1), {.outermost = 1, .stage = StageId(0)}, a);
  store.expect(RequestId(1));
  EXPECT_EQ(store.held(RequestId(1)), 1u);
  EXPECT_EQ(store.get(RequestId(1), {.outermost = 1, .stage = StageId(0)}), a);
}

}  // namespace
}  // namespace sluice::data
