#include "data/values.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"
#include "domain/limits.h"
#include "support/tensor_text.h"

namespace sluice::data {
namespace {

constexpr RequestId kRequest(1);
constexpr std::uint64_t kRun = 7;

Stage stage(const std::string& name, std::vector<StageId> after = {}) {
  return {.name = name, .function = FunctionId(0), .after = std::move(after)};
}
Stage each(const std::string& name, const Reference& over, std::vector<Stage> body, std::vector<StageId> after = {}) {
  Stage out{.name = name, .kind = Stage::Kind::pass, .after = std::move(after)};
  out.foreach = Foreach{.over = over, .body = {Workflow{std::move(body)}}};
  return out;
}
Stage pass(const std::string& name, std::vector<StageId> after = {}) {
  return {.name = name, .kind = Stage::Kind::pass, .after = std::move(after)};
}
Condition above(const Reference& left, double right) {
  return {.comparison = {left, Comparator::greater, right}};
}
const Reference kRequestX{StageId::none(), "x"};

// One request with an input x, of functions that hand their inputs on.
class ValuesTest : public testing::Test {
 protected:
  void ask(std::vector<Stage> stages, const std::vector<float>& x, const std::vector<std::int64_t>& shape) {
    application_.functions = {{.name = "f"}};
    application_.workflow.stages = std::move(stages);
    store_.open(kRequest, floats(x, shape));
  }
  SharedTensors floats(const std::vector<float>& x, const std::vector<std::int64_t>& shape, const char* name = "x") {
    const Block block = *arena_->allocate(x.size() * sizeof(float));
    if (!x.empty()) std::memcpy(block.data(), x.data(), block.size());
    return std::make_shared<const Tensors>(
        Tensors{{.info = {name, DataType::fp32, shape}, .block = block, .size = block.size()}});
  }
  SharedTensors texts(const std::vector<std::string>& values) {
    std::string bytes;
    for (const std::string& value : values) {
      const auto length = static_cast<std::uint32_t>(value.size());
      bytes.append(reinterpret_cast<const char*>(&length), sizeof length).append(value);
    }
    const Block block = *arena_->allocate(bytes.size());
    std::memcpy(block.data(), bytes.data(), bytes.size());
    const auto count = static_cast<std::int64_t>(values.size());
    return std::make_shared<const Tensors>(
        Tensors{{.info = {"x", DataType::bytes, {count}}, .block = block, .size = bytes.size()}});
  }
  [[nodiscard]] Values run(const RunPath& path = {}) const {
    return {store_, application_, {kRequest, kRun, path}, *arena_};
  }
  void left(const RunPath& path, std::uint32_t stage, SharedTensors tensors, std::uint32_t item = 0) {
    store_.put(kRequest, {kRun, StageId(stage), item, path}, std::move(tensors));
  }
  // What a stage reads as "name shape: values".
  [[nodiscard]] std::string reads(const RunPath& path, std::uint32_t stage, std::uint32_t item = 0) const {
    const auto inputs = run(path).inputs_of(StageId(stage), item);
    return inputs ? text(*inputs) : inputs.error().message;
  }
  [[nodiscard]] std::string gives() const {
    const auto outputs = run().outputs();
    return outputs ? text(*outputs) : outputs.error().message;
  }
  static std::string text(const Tensors& tensors) {
    std::string out;
    for (const Tensor& tensor : tensors) {
      out += str(out.empty() ? "" : "; ", tensor.info.name, " ", test::shape_text(tensor), ":",
                 test::numbers_text(tensor));
    }
    return out;
  }
  // What is known after a stage, as "path/stage: yes" and "path/stage: items".
  [[nodiscard]] std::vector<std::string> known(const RunPath& path, StageId finished) const {
    const auto known = run(path).known_after(finished);
    if (!known) return {known.error().message};
    std::vector<std::string> out;
    const auto place = [](const RunPath& at, StageId id) {
      std::string text;
      for (const ItemOf& item : at) text += str(item.stage.value(), "[", item.item, "]/");
      return text + str(id.value());
    };
    for (const FanOut& f : known->fan_outs) out.push_back(str(place(f.path, f.stage), ": ", f.items));
    for (const Verdict& v : known->verdicts) out.push_back(str(place(v.path, v.stage), v.holds ? ": yes" : ": no"));
    return out;
  }

  std::shared_ptr<Arena> arena_ = Arena::make(Bytes::mb(1)).value();
  ObjectStore store_;
  Application application_;
};
using Said = std::vector<std::string>;

TEST_F(ValuesTest, AWorkflowInsideReadsItsItemAsItsRequest) {
  ask({each("each", kRequestX, {stage("crop"), stage("recognise", {StageId(0)})})}, {1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(known({}, StageId::none()), Said{"0: 2"});
  EXPECT_EQ(reads({{StageId(0), 0}}, 0), "x [2]: 1 2");
  EXPECT_EQ(reads({{StageId(0), 1}}, 0), "x [2]: 3 4");
  left({{StageId(0), 1}}, 0, floats({5}, {1}, "y"));
  EXPECT_EQ(reads({{StageId(0), 1}}, 1), "y [1]: 5");
  EXPECT_EQ(reads({{StageId(0), 0}}, 1), "");  // the other item's is no business of this one
  EXPECT_EQ(reads({{StageId(0), 2}}, 0), "item 2 of request.x is not there");
}

// `inputs: {box: request}` inside of a foreach, `"box.$": "$"` in a Map.
TEST_F(ValuesTest, AReferenceWithoutAnOutputIsTheOnlyOneThereIs) {
  Stage crop = stage("crop"), last = stage("last", {StageId(0)});
  crop.inputs = {{"box", {StageId::none(), ""}}};
  last.inputs = {{"what", {StageId(0), ""}}};
  ask({each("each", kRequestX, {crop}), last}, {1, 2}, {2});
  EXPECT_EQ(reads({{StageId(0), 1}}, 0), "box []: 2");
  for (const std::uint32_t item : {0u, 1u}) left({{StageId(0), item}}, 0, floats({4}, {1}, "y"));
  EXPECT_EQ(reads({}, 1), "what [2,1]: 4 4");
  Stage through = pass("through", {StageId(0)}), end = stage("end", {StageId(1)});
  end.inputs = {{"z", {StageId(1), ""}}};
  ask({stage("first"), through, end}, {1}, {1});
  left({}, 0, floats({6}, {1}, "y"));
  EXPECT_EQ(reads({}, 2), "z [1]: 6");
}

TEST_F(ValuesTest, SaysThatThereAreSeveralWhereOneIsMeant) {
  Stage last = stage("last", {StageId(0)});
  last.inputs = {{"box", {StageId(0), ""}}};
  ask({stage("detect"), last}, {1}, {1});
  EXPECT_EQ(reads({}, 1), "input 'box' of stage 'last' has no value: detect is not there");
  Tensors both = *floats({1}, {1}, "boxes");
  both.push_back(floats({3}, {1}, "scores")->front());
  left({}, 0, std::make_shared<const Tensors>(both));
  EXPECT_EQ(reads({}, 1),
            "input 'box' of stage 'last' has no value: detect has several: boxes, scores; write detect.boxes");
}

TEST_F(ValuesTest, SaysWhatItLookedForInVain) {
  ask({each("each", kRequestX, {stage("crop")}), stage("last", {StageId(0)})}, {1, 2, 3}, {3});
  const auto missing = [&] {
    Missing out;
    (void)Values(store_, application_, {kRequest, kRun}, *arena_, &out).inputs_of(StageId(1), 0);
    return out;
  };
  const auto key = [](std::uint32_t item) { return ObjectKey{kRun, StageId(0), 0, {{StageId(0), item}}}; };
  EXPECT_EQ(missing(), Missing{key(0)});  // at the ends one sees soonest that some are not there
  left({{StageId(0), 0}}, 0, floats({4}, {1}));
  EXPECT_EQ(missing(), Missing{key(2)});
  ask(application_.workflow.stages, std::vector<float>(5), {5});
  for (const std::uint32_t item : {0u, 4u}) left({{StageId(0), item}}, 0, floats({4}, {1}));
  EXPECT_EQ(missing(), (Missing{key(1), key(2), key(3)}));  // all that are fetched together
  store_.release(kRequest);
  EXPECT_EQ(missing().begin()->outermost, kRequestInputs);
}

TEST_F(ValuesTest, WhatTheEndsOfAWorkflowInsideLeaveIsStackedInTheOrderOfTheItems) {
  ask({each("each", kRequestX, {stage("crop"), stage("recognise", {StageId(0)})}), stage("last", {StageId(0)})},
      {1, 2, 3}, {3});
  for (const std::uint32_t item : {2u, 0u, 1u}) {
    left({{StageId(0), item}}, 0, floats({9}, {1}, "not the end"));
    EXPECT_EQ(reads({}, 1), "");
    left({{StageId(0), item}}, 1, floats({static_cast<float>(10 + item)}, {}, "y"));
  }
  EXPECT_EQ(reads({}, 1), "y [3]: 10 11 12");
}

TEST_F(ValuesTest, ItemsThatLeaveDifferentFormsAreNotStacked) {
  ask({each("each", kRequestX, {stage("f")})}, {1, 2}, {2});
  for (const std::uint32_t item : {0u, 1u}) {
    Tensors both = *floats({1}, {1}, "same");
    both.push_back(floats(std::vector<float>(item + 1), {item + 1}, "longer")->front());
    left({{StageId(0), item}}, 0, std::make_shared<const Tensors>(both));
  }
  EXPECT_EQ(gives(), "same [2,1]: 1 1");
}

TEST_F(ValuesTest, AnEmptyListHasNoItemsAndLeavesNothing) {
  ask({each("each", kRequestX, {stage("f")})}, {}, {0, 2});
  EXPECT_EQ(known({}, StageId::none()), Said{"0: 0"});
  EXPECT_EQ(gives(), "");
}

TEST_F(ValuesTest, WorkflowsInsideWorkflowsReadItemsOfItems) {
  ask({each("rows", kRequestX, {each("cells", kRequestX, {stage("f")})})}, {1, 2, 3, 4}, {2, 2});
  EXPECT_EQ(known({}, StageId::none()), (Said{"0: 2", "0[0]/0: 2", "0[1]/0: 2"}));
  for (const std::uint32_t row : {0u, 1u}) {
    for (const std::uint32_t cell : {0u, 1u}) {
      const RunPath path = {{StageId(0), row}, {StageId(0), cell}};
      EXPECT_EQ(reads(path, 0), str("x []: ", 1 + 2 * row + cell));
      EXPECT_EQ(gives(), "");
      left(path, 0, floats({static_cast<float>(10 * row + cell)}, {1}));
    }
  }
  EXPECT_EQ(gives(), "x [2,2,1]: 0 1 10 11");
}

TEST_F(ValuesTest, InputsOfTheStageGoToAllItems) {
  Stage all = each("each", {StageId(0), "boxes"}, {stage("f")}, {StageId(0)});
  all.inputs = {{"box", {StageId(0), "boxes"}}, {"image", kRequestX}};
  ask({stage("detect"), all}, {5}, {1});
  left({}, 0, floats({1, 2}, {2}, "boxes"));
  EXPECT_EQ(reads({{StageId(1), 1}}, 0), "box []: 2; image [1]: 5; boxes []: 2");
}

TEST_F(ValuesTest, AFunctionReadsItsItemByWhateverNameTheListIsWired) {
  Stage all = stage("each", {StageId(0)});
  all.inputs = {{"all", {StageId(0), "scores"}}, {"box", {StageId(0), "boxes"}}};
  all.foreach = Foreach{.over = {StageId(0), "boxes"}};
  ask({stage("detect"), all}, {5}, {1});
  Tensors both = *floats({1, 2}, {2}, "boxes");
  both.push_back(floats({3, 4}, {2}, "scores")->front());
  left({}, 0, std::make_shared<const Tensors>(both));
  EXPECT_EQ(reads({}, 1, 1), "all [2]: 3 4; box []: 2");
}

TEST_F(ValuesTest, OneForeachAfterTheOtherReadsWhatItsItemLeft) {
  ask({each("a", kRequestX, {stage("f")}), each("b", {StageId(0), "y"}, {stage("f")}, {StageId(0)})}, {1, 2}, {2});
  left({{StageId(0), 1}}, 0, floats({4, 5, 6}, {3}, "y"));
  EXPECT_EQ(known({{StageId(0), 1}}, StageId(0)), Said{});
  left({{StageId(0), 0}}, 0, floats({3}, {1}, "y"));  // of another form: nothing need be stacked
  EXPECT_EQ(known({{StageId(0), 0}}, StageId(0)), Said{"1: 2"});
  EXPECT_EQ(reads({{StageId(1), 1}}, 0), "y [3]: 4 5 6");
}

TEST_F(ValuesTest, ConditionsInsideAreKnownWithTheList) {
  Stage large = stage("large"), small = stage("small", {StageId(0)});
  large.when = above(kRequestX, 2);
  small.when = above({StageId(0), "y"}, 1);
  ask({stage("detect"), each("each", {StageId(0), "x"}, {large, small}, {StageId(0)})}, {0}, {1});
  EXPECT_EQ(known({}, StageId::none()), Said{});
  left({}, 0, floats({1, 3}, {2}));
  EXPECT_EQ(known({}, StageId(0)), (Said{"1: 2", "1[0]/0: no", "1[1]/0: yes"}));
  left({{StageId(1), 1}}, 0, floats({2}, {1}, "y"));
  EXPECT_EQ(known({{StageId(1), 1}}, StageId(0)), Said{"1[1]/1: yes"});
}

TEST_F(ValuesTest, ConditionsAroundAreKnownWhenTheLastItemIsDone) {
  Stage after = stage("after", {StageId(0)});
  after.when = above({StageId(0), "y"}, 2);
  Stage outer_after = after;
  ask({each("outer", kRequestX, {each("inner", kRequestX, {stage("f")}), after}), outer_after}, {1}, {1, 1});
  const RunPath path = {{StageId(0), 0}, {StageId(0), 0}};
  EXPECT_EQ(known(path, StageId(0)), Said{});
  left(path, 0, floats({3}, {}, "y"));
  EXPECT_EQ(known(path, StageId(0)), Said{"0[0]/1: yes"});
}

TEST_F(ValuesTest, PassStagesHandOnWhatIsKnown) {
  Stage renamed = pass("renamed", {StageId(0)});
  renamed.inputs = {{"z", {StageId(0), "y"}}};
  Stage asked = stage("asked", {StageId(1)});
  asked.when = above({StageId(1), "z"}, 2);
  ask({stage("f"), renamed, asked}, {1}, {1});
  left({}, 0, floats({3}, {1}, "y"));
  EXPECT_EQ(known({}, StageId(0)), Said{"2: yes"});
  EXPECT_EQ(reads({}, 2), "z [1]: 3");
}

TEST_F(ValuesTest, PassStagesThatWereSkippedHandOnNothing) {
  Stage keep = pass("keep", {StageId(0)}), refine = stage("refine", {StageId(0)});
  refine.when = above({StageId(0), "y"}, 2);
  keep.when = Condition{.kind = Condition::Kind::otherwise};
  ask({each("each", kRequestX, {stage("f"), keep, refine})}, {1, 2}, {2});
  left({{StageId(0), 0}}, 0, floats({1}, {1}, "y"));
  left({{StageId(0), 1}}, 0, floats({3}, {1}, "y"));
  EXPECT_EQ(gives(), "");
  left({{StageId(0), 1}}, 2, floats({4}, {1}, "y"));
  EXPECT_EQ(gives(), "y [2,1]: 1 4");
}

TEST_F(ValuesTest, PassStagesForErrorsHandOnWhereThereWasOne) {
  Stage f = stage("f"), after = pass("after", {StageId(1)}), sorry = pass("a sorry one");
  f.catches = {{"all", StageId(0)}};
  ask({sorry, f, after}, {1}, {1});
  EXPECT_EQ(gives(), "x [1]: 1");
  left({}, 1, floats({2}, {1}, "x"));
  EXPECT_EQ(gives(), "x [1]: 2");
}

TEST_F(ValuesTest, AWorkflowInsideThatOnlyPassesIsKnownAtOnce) {
  ask({each("each", kRequestX, {pass("p")}), each("again", {StageId(0), "x"}, {stage("f")}, {StageId(0)})}, {1, 2},
      {2});
  EXPECT_EQ(known({}, StageId::none()), (Said{"0: 2", "1: 2"}));
  EXPECT_EQ(reads({{StageId(1), 1}}, 0), "x []: 2");
}

TEST_F(ValuesTest, TextsAreItemsAndStackAsNumbersDo) {
  ask({each("each", kRequestX, {stage("f")})}, {}, {});
  store_.open(kRequest, texts({"one", "twenty"}));
  EXPECT_EQ(known({}, StageId::none()), Said{"0: 2"});
  for (const std::uint32_t item : {0u, 1u}) {
    const auto inputs = run({{StageId(0), item}}).inputs_of(StageId(0), 0).value();
    EXPECT_EQ(inputs.at(0).info.shape, std::vector<std::int64_t>{});
    left({{StageId(0), item}}, 0, std::make_shared<const Tensors>(inputs));
  }
  const Tensor all = run().outputs().value().at(0), given = texts({"one", "twenty"})->at(0);
  EXPECT_EQ(all.info, given.info);
  EXPECT_TRUE(std::equal(all.bytes().begin(), all.bytes().end(), given.bytes().begin(), given.bytes().end()));
}

// A worker can write where the texts are as long as it lives: their lengths were read when they came. That also keeps
// item i from being looked for behind all items before it.
TEST_F(ValuesTest, TextsAreItemsAndStackByTheLengthsThatWereReadFirst) {
  ask({each("each", kRequestX, {stage("f")})}, {}, {});
  Tensors given = *texts({"one", "twenty"});
  ASSERT_TRUE(index_texts(given[0], given[0].bytes()));
  store_.open(kRequest, std::make_shared<const Tensors>(given));
  const auto overwrite = [](const Tensor& tensor, std::size_t at) { std::memset(tensor.bytes().data() + at, 0xff, 4); };
  for (const std::size_t at : {0u, 7u}) overwrite(given[0], at);
  for (const std::uint32_t item : {0u, 1u}) {
    const auto inputs = run({{StageId(0), item}}).inputs_of(StageId(0), 0);
    ASSERT_TRUE(inputs.ok()) << inputs.error().message;
    EXPECT_EQ(inputs->at(0).texts.begins, given[0].texts.begins);  // nothing was walked again
    left({{StageId(0), item}}, 0, std::make_shared<const Tensors>(*inputs));
  }
  const Tensor all = run().outputs().value().at(0);
  for (const std::size_t at : {0u, 7u}) overwrite(all, at);
  const auto found = texts_of(all);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->at(0).size(), 3u);
  EXPECT_EQ(found->at(1).size(), 6u);
}

TEST_F(ValuesTest, MoreItemsThanAForeachMayHaveAreRefused) {
  ask({each("rows", kRequestX, {each("cells", kRequestX, {stage("f")})})}, {}, {400, 400, 0});
  EXPECT_NE(known({}, StageId::none()).at(0).find("TooManyItems"), std::string::npos);
  ask({each("rows", kRequestX, {stage("f")})}, {}, {limits::foreach_items_max + 1, 0});
  EXPECT_NE(known({}, StageId::none()).at(0).find("TooManyItems"), std::string::npos);
  ask({each("rows", kRequestX, {stage("f")})}, {}, {limits::foreach_items_max, 0});
  EXPECT_EQ(known({}, StageId::none()), Said{"0: 100000"});
}

TEST_F(ValuesTest, WhatARequestLeftBeforeItBeganAgainIsNotMixedIn) {
  ask({each("each", kRequestX, {stage("f")})}, {1}, {1});
  store_.put(kRequest, {kRun - 1, StageId(0), 0, {{StageId(0), 0}}}, floats({1}, {1}));
  EXPECT_EQ(gives(), "");
}

TEST_F(ValuesTest, NothingIsLeftOfARequestThatIsReleased) {
  ask({each("each", kRequestX, {stage("f")}), stage("last", {StageId(0)})}, {1, 2}, {2});
  for (const std::uint32_t item : {0u, 1u}) left({{StageId(0), item}}, 0, floats({1}, {1}));
  EXPECT_EQ(reads({}, 1), "x [2,1]: 1 1");
  EXPECT_GT(arena_->used(), 0u);
  store_.release(kRequest);
  EXPECT_EQ(arena_->used(), 0u);
}

}  // namespace
}  // namespace sluice::data
