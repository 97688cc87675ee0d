// Requests of several rows: how they are called, put together again, refused and cancelled.
#include <gtest/gtest.h>

#include "gateway/router_fixture.h"

namespace sluice::gateway {
namespace {

constexpr std::string_view kThree =
    R"({"id":"7","inputs":[{"name":"X","shape":[3,2],"datatype":"FP32","data":[1,2,3,4,5,6]}]})";
constexpr std::string_view kInfer = "/v2/models/echo/infer";
constexpr std::string_view kStacked =
    R"({"id":"7","model_name":"echo","model_version":"1","outputs":[{"name":"X","datatype":"FP32","shape":[3,2],)"
    R"("data":[1.0,2.0,3.0,4.0,5.0,6.0]}]})";

class Rows : public RouterTest {
 protected:
  // Row `row` is answered as this says, the others are held; their answers in the order in which they were called.
  void answer_one(std::uint64_t row, live::Answer given) {
    service_.when_called([this, row, given](const live::Call& call, RequestId id, live::OnAnswer answer) {
      if (id.value() != row + 1) return held_.push_back([=] { FakeService::echo(call, id, answer); });
      live::Answer copy = given;
      copy.request = id;
      answer(std::move(copy));
    });
  }
  std::vector<std::function<void()>> held_;
};

TEST_F(Rows, EveryRowIsCalledAloneAndAnswersAreStackedInOrder) {
  std::vector<std::string> shapes;
  service_.when_called([&](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    shapes.push_back(call.inputs->front().info.shape == data::Shape{2} ? bytes_of(call.inputs->front()) : "wrong");
    EXPECT_EQ(call.caller_id, "7");
    FakeService::echo(call, id, answer);
  });
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_TRUE(exchange->reply);
  EXPECT_EQ(exchange->reply->status, 200u);
  EXPECT_EQ(exchange->reply->body, kStacked);
  EXPECT_EQ(exchange->reply->headers,
            "Sluice-Request-Id: 0000000000000001\r\n"
            "Sluice-Row-Request-Ids: 0000000000000001,0000000000000002,0000000000000003\r\n");
  EXPECT_EQ(shapes, (std::vector{raw<float>({1, 2}), raw<float>({3, 4}), raw<float>({5, 6})}));
  EXPECT_EQ(service_.entered, 3u);
}

TEST_F(Rows, AreStackedInTheirOrderWhicheverIsAnsweredFirst) {
  answer_one(99, {});  // all are held
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_EQ(held_.size(), 3u);
  for (const std::size_t row : {2u, 0u}) held_[row]();
  EXPECT_FALSE(exchange->reply);
  held_[1]();
  ASSERT_TRUE(exchange->reply);
  EXPECT_EQ(exchange->reply->body, kStacked);
  EXPECT_TRUE(service_.cancelled().empty());
}

TEST_F(Rows, ARowThatIsRefusedRefusesTheRequestAndCancelsTheOthers) {
  answer_one(
      1, {.kind = live::AnswerKind::rejected, .reason = RejectReason::slo_infeasible, .needed = 240, .available = 180});
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_TRUE(exchange->reply);
  EXPECT_EQ(exchange->reply->status, 429u);
  EXPECT_EQ(
      exchange->reply->body,
      R"({"error":"row 1: SLO cannot be met: needs 240 ms, deadline in 180 ms","code":"SLO_INFEASIBLE","needed":240.0,)"
      R"("available":180.0,"retry_after_ms":1000,"row":1})");
  EXPECT_EQ(exchange->reply->headers,
            "Retry-After: 1\r\nSluice-Request-Id: 0000000000000002\r\n"
            "Sluice-Row-Request-Ids: 0000000000000001,0000000000000002,0000000000000003\r\n");
  EXPECT_EQ(service_.cancelled(), (std::vector{RequestId(1), RequestId(3)}));
  for (const auto& answer : held_) answer();  // the others have finished meanwhile: nobody is told
  EXPECT_EQ(exchange->reply->status, 429u);
}

TEST_F(Rows, ARowThatFailsLaterKeepsItsStageAndStatus) {
  service_.hold();
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_TRUE(service_.answer_next());
  EXPECT_FALSE(exchange->reply);
  service_.drop_held();
  answer_one(4, {.kind = live::AnswerKind::failed, .stage = "ocr", .error = "no paper"});
  const auto other = start(Method::post, kInfer, kThree);
  ASSERT_TRUE(other->reply);
  EXPECT_EQ(other->reply->status, 500u);
  EXPECT_EQ(other->reply->body,
            R"({"error":"row 1: stage 'ocr' failed: no paper","code":"STAGE_FAILED","stage":"ocr","row":1})");
}

TEST_F(Rows, HangingUpCancelsAllThatAreNotAnswered) {
  service_.hold();
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_EQ(service_.held(), 3u);
  ASSERT_TRUE(service_.answer_next());
  exchange->hang_up();
  EXPECT_EQ(service_.cancelled(), (std::vector{RequestId(2), RequestId(3)}));
}

TEST_F(Rows, AreHeldAgainstTheQuotaTogether) {
  service_.over = live::Answer{.request = RequestId(9),
                               .kind = live::AnswerKind::rejected,
                               .reason = RejectReason::quota_exceeded,
                               .needed = 3,
                               .available = 2,
                               .error = "quota exceeded: 3 requests in the system, allowed are 2"};
  const auto exchange = start(Method::post, kInfer, kThree);
  ASSERT_TRUE(exchange->reply);
  EXPECT_EQ(exchange->reply->status, 429u);
  EXPECT_EQ(exchange->reply->headers, "Retry-After: 1\r\nSluice-Request-Id: 0000000000000009\r\n");
  EXPECT_EQ(service_.entered, 3u);
}

TEST_F(Rows, OutputsThatCannotBeStackedAreNamed) {
  service_.when_called([](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    live::Answer given{.request = id, .outputs = *call.inputs};
    if (id.value() == 3) given.outputs.front() = *data::row_of(given.outputs.front(), 0);
    answer(std::move(given));
  });
  EXPECT_EQ(
      post(kInfer, kThree),
      R"(400 {"error":"the rows of output 'X' cannot be stacked: row 0 is FP32 [2], row 2 is FP32 []. Please send these )"
      R"(rows one by one."})");
}

TEST_F(Rows, AreNotTakenForLater) {
  EXPECT_EQ(post(std::string(kInfer) + "?async=true", kThree),
            R"(400 {"error":"infer?async=true takes one row, got 3: send one request for each row"})");
}

TEST_F(Rows, AreNotCountedWhereInputsAreNotDeclared) {
  live::Snapshot snapshot;
  snapshot.models = {a_model("open", {})};
  service_.set(std::move(snapshot));
  const auto exchange = start(Method::post, "/v2/models/open/infer", kThree);
  ASSERT_TRUE(exchange->reply);
  EXPECT_NE(exchange->reply->body.find(R"("shape":[3,2])"), std::string::npos);
  EXPECT_EQ(service_.entered, 1u);
}

}  // namespace
}  // namespace sluice::gateway
