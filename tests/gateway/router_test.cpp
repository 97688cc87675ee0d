// The endpoints for models and inference, and the metrics: the exact texts that docs/api.md promises.
#include "gateway/router.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gateway/router_fixture.h"

namespace sluice::gateway {
namespace {

TEST_F(RouterTest, TellsOfTheServer) {
  EXPECT_EQ(get("/v2"), R"(200 {"name":"sluice","version":"1.2.3","extensions":["model_repository","schedule_policy",)"
                        R"("model_configuration","binary_tensor_data","parameters","statistics"]})");
  EXPECT_EQ(get("/v2/"), get("/v2"));
  EXPECT_EQ(get("/v2/health/live"), R"(200 {"live":true})");
  EXPECT_EQ(get("/v2/health/ready"),
            R"(503 {"ready":false,"error":"not ready","applications":[)"
            R"({"name":"broken","tenant":"default","state":"UNAVAILABLE","reason":"stage 'ocr' needs 9000 MiB"},)"
            R"({"name":"missing","tenant":"default","state":"UNAVAILABLE","reason":""}]})");
  principal_ = {.tenant = "", .role = Role::caller};
  EXPECT_EQ(get("/v2/health/ready"), R"(503 {"ready":false,"error":"not ready","applications":[]})");
  service_.set({});
  EXPECT_EQ(get("/v2/health/ready"), R"(200 {"ready":true})");
}

TEST_F(RouterTest, TellsOfAModel) {
  const std::string metadata =
      R"(200 {"name":"chain","versions":["2"],"platform":"ensemble",)"
      R"("inputs":[{"name":"I","datatype":"FP32","shape":[-1,3,-1,-1]}],"outputs":[{"name":"L","datatype":"BYTES","shape":[-1,1]}]})";
  EXPECT_EQ(get("/v2/models/chain"), metadata);
  EXPECT_EQ(get("/v2/models/chain/versions/2"), metadata);
  EXPECT_EQ(get("/v2/models/ch%61in?x=1"), metadata);
  EXPECT_EQ(get("/v2/models/chain/ready"), R"(200 {"name":"chain","ready":true})");
  EXPECT_EQ(get("/v2/models/chain/versions/2/ready"), get("/v2/models/chain/ready"));
  EXPECT_EQ(get("/v2/models/missing/ready"),
            R"(400 {"name":"missing","ready":false,"error":"Model version not ready"})");
}

TEST_F(RouterTest, TellsStatistics) {
  const std::string zero = R"({"count":0,"ns":0})";
  EXPECT_EQ(
      get("/v2/models/chain/stats"),
      R"(200 {"model_stats":[{"name":"chain","version":"2","last_inference":0,"inference_count":8,"execution_count":4,)"
      R"("inference_stats":{"success":{"count":4,"ns":4000000},"fail":)" +
          zero + R"(,"queue":{"count":8,"ns":900},"compute_input":)" + zero + R"(,"compute_infer":)" + zero +
          R"(,"compute_output":)" + zero + R"(,"cache_hit":)" + zero + R"(,"cache_miss":)" + zero +
          R"(},"response_stats":{},"batch_stats":[{"batch_size":2,"compute_input":{"count":4,"ns":0},)"
          R"("compute_infer":{"count":4,"ns":700},"compute_output":{"count":4,"ns":0}}],"memory_usage":[]}]})");
  const std::string all = get("/v2/models/stats");
  EXPECT_NE(all.find(R"("name":"echo")"), std::string::npos);
  EXPECT_NE(all.find(R"("name":"chain.decode")"), std::string::npos);
}

TEST_F(RouterTest, RefusesUnknownModels) {
  const std::string unknown = R"({"error":"Request for unknown model: 'nope' is not found"})";
  for (const std::string_view what : {"", "/config", "/stats", "/ready"}) {
    EXPECT_EQ(get("/v2/models/nope" + std::string(what)), "400 " + unknown);
  }
  EXPECT_EQ(post("/v2/models/nope/infer", kEcho), "400 " + unknown);
  EXPECT_EQ(post("/v2/models/echo/versions/3/infer", kEcho),
            R"(404 {"error":"Request for unknown model: 'echo' version 3 is not found"})");
  EXPECT_EQ(post("/v2/models/missing/versions/1/infer", kEcho),
            R"(503 {"error":"Request for unknown model: 'missing' version 1 is not at ready state"})");
  EXPECT_EQ(post("/v2/models/broken/infer", kEcho),
            R"(404 {"error":"Request for unknown model: 'broken' has no available versions"})");
}

TEST_F(RouterTest, ListsTheRepository) {
  EXPECT_EQ(
      post("/v2/repository/index"),
      R"(200 [{"name":"broken","version":"1","state":"UNAVAILABLE","reason":"stage 'ocr' needs 9000 MiB"},)"
      R"({"name":"chain","version":"2","state":"READY"},{"name":"echo","version":"1","state":"READY"},)"
      R"({"name":"missing","version":"1","state":"UNAVAILABLE"},{"name":"chain.decode","version":"1","state":"READY"}])");
  EXPECT_EQ(post("/v2/repository/index", R"({ "ready" : true })"),
            R"(200 [{"name":"chain","version":"2","state":"READY"},{"name":"echo","version":"1","state":"READY"},)"
            R"({"name":"chain.decode","version":"1","state":"READY"}])");
  const std::string all = post("/v2/repository/index");
  for (const char* other : {R"({"note":"\"ready\": true"})", R"({"ready":false})", R"({"inner":{"ready":true}})", "{}"})
    EXPECT_EQ(post("/v2/repository/index", other), all) << other;
  EXPECT_EQ(post("/v2/repository/models/m/load"),
            R"(400 {"error":"models are not loaded over this interface: use 'sluice deploy FILE'"})");
  EXPECT_EQ(post("/v2/repository/models/m/unload"),
            R"(400 {"error":"models are not unloaded over this interface: use 'sluice remove NAME'"})");
}

TEST_F(RouterTest, RefusesRubbishThatAsksForTheRepository) {
  const auto index = [&](std::string_view body) { return post("/v2/repository/index", body); };
  EXPECT_EQ(index("ready true"), R"(400 {"error":"the body is no JSON: JSON, byte 1: a value is expected"})");
  EXPECT_EQ(index(R"([{"ready":true}])"), R"(400 {"error":"the body is no JSON object"})");
  EXPECT_EQ(index("true"), R"(400 {"error":"the body is no JSON object"})");
  for (const char* wrong : {R"({"ready":"true"})", R"({"ready":1})", R"({"ready":null})"}) {
    EXPECT_EQ(index(wrong), R"(400 {"error":"'ready' is neither true nor false"})") << wrong;
  }
  EXPECT_EQ(index(R"({"note":")" + std::string(70'000, 'x') + R"("})"),
            R"(400 {"error":"the body is longer than 65536 bytes"})");
}

TEST_F(RouterTest, RefusesUnknownUrlsAndMethods) {
  for (const std::string_view target :
       {"/", "/v3", "/v1", "/v2/x", "/v2/models", "/v2/models/echo/nope", "/v2/models/echo/versions/x/infer",
        "/metrics/x", "/v1/requests/a/b", "/v1/requests/a/trace/c", "/v1/applications/a/b", "/v2/health/x", "*",
        "/v2/repository/x"}) {
    EXPECT_EQ(get(target), R"(404 {"error":"Not Found"})") << target;
  }
  const auto refused = start(Method::get, "/v2/models/echo/infer");
  EXPECT_EQ(refused->reply->status, 405u);
  EXPECT_EQ(refused->reply->body, R"({"error":"Method Not Allowed"})");
  EXPECT_EQ(refused->reply->headers, "Allow: POST\r\n");
  for (const std::string_view target : {"/v2", "/v2/models/echo", "/v2/health/live", "/metrics", "/v1/status",
                                        "/v1/nodes", "/v1/requests", "/v1/applications/x"}) {
    EXPECT_EQ(post(target).substr(0, 3), "405") << target;
  }
}

TEST_F(RouterTest, Infers) {
  const auto exchange = start(Method::post, "/v2/models/echo/infer", kEcho);
  EXPECT_EQ(
      exchange->reply->body,
      R"({"model_name":"echo","model_version":"1","outputs":[{"name":"X","datatype":"FP32","shape":[1,2],"data":[1.0,2.0]}]})");
  EXPECT_EQ(exchange->reply->headers, "Sluice-Request-Id: 0000000000000001\r\n");
  EXPECT_EQ(exchange->reply->type, ContentType::json);
}

TEST_F(RouterTest, LetsNothingButInferencesBePacked) {
  EXPECT_TRUE(start(Method::post, "/v2/models/echo/infer", kEcho)->reply->packable);
  EXPECT_FALSE(start(Method::post, "/v2/models/echo/infer", "rubbish")->reply->packable);
  EXPECT_FALSE(answered({.kind = live::AnswerKind::rejected}).packable);
  EXPECT_FALSE(start(Method::post, "/v2/repository/index")->reply->packable);
  for (const std::string_view target :
       {"/v2", "/v2/models/chain", "/v2/models/chain/config", "/v2/models/stats", "/metrics", "/v1/applications"}) {
    EXPECT_FALSE(start(Method::get, target)->reply->packable) << target;
  }
}

// It arrived while version 1 was deployed; version 2 took its place before the request was let in.
TEST_F(RouterTest, NamesTheVersionThatServed) {
  service_.when_called([](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    answer({.request = id, .outputs = *call.inputs, .version = 2});
  });
  const auto exchange = start(Method::post, "/v2/models/echo/infer", kEcho);
  EXPECT_NE(exchange->reply->body.find(R"("model_version":"2")"), std::string::npos) << exchange->reply->body;
}

TEST_F(RouterTest, InfersWithBytes) {
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[{"name":"X","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}}]})";
  const std::string bytes = raw<float>({1, 2});
  const std::string length = std::to_string(json.size());
  const auto exchange = start(Method::post, "/v2/models/echo/infer", json + bytes, length);
  const std::string head =
      R"({"model_name":"echo","model_version":"1","outputs":[{"name":"X","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}}]})";
  EXPECT_EQ(exchange->reply->body, head + bytes);
  EXPECT_EQ(exchange->reply->headers, "Inference-Header-Content-Length: " + std::to_string(head.size()) +
                                          "\r\nSluice-Request-Id: 0000000000000001\r\n");
  EXPECT_EQ(exchange->reply->type, ContentType::octets);
}

// What one output says wins over what the request says of all.
TEST_F(RouterTest, MixesBytesAndJsonAsEachOutputSays) {
  service_.when_called([](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    data::Tensors outputs = *call.inputs;
    for (const char* name : {"Y", "Z"}) {
      outputs.push_back(outputs.front());
      outputs.back().info.name = name;
    }
    answer({.request = id, .outputs = std::move(outputs)});
  });
  const auto body_of = [&](std::string_view all, std::string_view x, std::string_view y) {
    const std::string json = R"({"parameters":{"binary_data_output":)" + std::string(all) +
                             R"(},"inputs":[{"name":"X","shape":[1],"datatype":"FP32","data":[1]}],"outputs":[)" +
                             R"({"name":"X","parameters":{"binary_data":)" + std::string(x) +
                             R"(}},{"name":"Y","parameters":{"binary_data":)" + std::string(y) + R"(}},{"name":"Z"}]})";
    return start(Method::post, "/v2/models/open/infer", json)->reply->body;
  };
  live::Snapshot snapshot = a_snapshot();
  snapshot.models.insert(snapshot.models.begin() + 4, a_model("open", {}));
  service_.set(std::move(snapshot));
  const auto output = [](std::string_view name, bool binary) {
    return R"({"name":")" + std::string(name) + R"(","datatype":"FP32","shape":[1],)" +
           (binary ? R"("parameters":{"binary_data_size":4}})" : R"("data":[1.0]})");
  };
  const std::string head = R"({"model_name":"open","model_version":"1","outputs":[)", one = raw<float>({1});
  EXPECT_EQ(body_of("true", "false", "true"),
            head + output("X", false) + "," + output("Y", true) + "," + output("Z", true) + "]}" + one + one);
  EXPECT_EQ(body_of("false", "false", "true"),
            head + output("X", false) + "," + output("Y", true) + "," + output("Z", false) + "]}" + one);
}

TEST_F(RouterTest, PassesTheCallOn) {
  live::Call seen;
  service_.when_called([&](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    seen = call;
    FakeService::echo(call, id, answer);
  });
  post(
      "/v2/models/echo/infer",
      R"({"id":"mine","parameters":{"slo_ms":20,"timeout":5000,"priority":1},"inputs":[{"name":"X","shape":[0],"datatype":"FP32","data":[]}]})");
  EXPECT_EQ(seen.application, "echo");
  EXPECT_EQ(seen.caller_id, "mine");
  EXPECT_EQ(seen.objective, Duration::ms(20));
  EXPECT_EQ(seen.timeout, Duration::ms(5));
  EXPECT_EQ(seen.priority, 1);
}

TEST_F(RouterTest, CancelsWhenTheClientHangsUp) {
  service_.hold();
  const auto exchange = start(Method::post, "/v2/models/echo/infer", kEcho);
  EXPECT_FALSE(exchange->reply);
  exchange->hang_up();
  EXPECT_EQ(service_.cancelled(), std::vector<RequestId>{RequestId(1)});
}

TEST_F(RouterTest, RefusesInTheWordsOfItsTable) {
  live::Answer answer{.kind = live::AnswerKind::rejected};
  answer.reason = RejectReason::slo_infeasible;
  answer.needed = 240;
  answer.available = 180;
  answer.retry_after = Duration::ms(300);
  const Reply slo = answered(answer);
  EXPECT_EQ(slo.status, 429u);
  EXPECT_EQ(
      slo.body,
      R"({"error":"SLO cannot be met: needs 240 ms, deadline in 180 ms","code":"SLO_INFEASIBLE","needed":240.0,"available":180.0,"retry_after_ms":300})");
  EXPECT_EQ(slo.headers, "Retry-After: 1\r\nSluice-Request-Id: 0000000000000001\r\n");

  const auto rejected = [&](RejectReason reason, double needed, double available) {
    const Reply reply =
        answered({.kind = live::AnswerKind::rejected, .reason = reason, .needed = needed, .available = available});
    return std::to_string(reply.status) + " " + reply.body;
  };
  EXPECT_EQ(
      rejected(RejectReason::queue_full, 1025, 1024),
      R"(429 {"error":"queue is full: 1025 requests, at most 1024 may wait","code":"QUEUE_FULL","needed":1025.0,"available":1024.0,"retry_after_ms":1000})");
  EXPECT_EQ(
      rejected(RejectReason::overloaded, 8.39999, 7.2),
      R"(429 {"error":"the machines are full: what is under way and this request of 'echo' need 8.4 slices or vCPUs, at most 7.2 are given","code":"OVERLOADED","needed":8.4,"available":7.2,"retry_after_ms":1000})");
  EXPECT_EQ(
      rejected(RejectReason::no_capacity, 2, 1),
      R"-(503 {"error":"no capacity: nothing here can run a stage of 'echo' (needs 2, there is 1)","code":"NO_CAPACITY","needed":2.0,"available":1.0,"retry_after_ms":10000})-");
  EXPECT_EQ(
      rejected(RejectReason::cost_exceeded, 0.002, 0.001),
      R"(429 {"error":"cost limit cannot be met: needs $0.002, limit is $0.001","code":"COST_INFEASIBLE","needed":0.002,"available":0.001,"retry_after_ms":1000})");
  EXPECT_EQ(rejected(RejectReason::not_deployed, 0, 0),
            R"(400 {"error":"Request for unknown model: 'echo' is not found","code":"NOT_DEPLOYED"})");
  EXPECT_EQ(
      rejected(RejectReason::not_reservable, 0, 0),
      R"(400 {"error":"the workflow of 'echo' cannot be reserved ahead: its scheduler takes only what it can plan","code":"NOT_RESERVABLE"})");
}

TEST_F(RouterTest, RoundsTheSecondsUpAfterWhichToTryAgain) {
  const auto header = [&](Duration retry_after) {
    const Reply reply =
        answered({.kind = live::AnswerKind::rejected, .reason = RejectReason::overloaded, .retry_after = retry_after});
    return reply.headers.substr(0, reply.headers.find('\r'));
  };
  EXPECT_EQ(header(Duration::ms(0)), "Retry-After: 1");
  EXPECT_EQ(header(Duration::ms(1000)), "Retry-After: 1");
  EXPECT_EQ(header(Duration::ms(1001)), "Retry-After: 2");
}

TEST_F(RouterTest, SaysWhyNothingIsTakenWhileItStops) {
  const Reply reply = answered(
      {.kind = live::AnswerKind::rejected, .reason = RejectReason::no_capacity, .error = "the server is stopping"});
  EXPECT_EQ(reply.status, 503u);
  EXPECT_EQ(reply.body, R"({"error":"the server is stopping","code":"NO_CAPACITY","retry_after_ms":10000})");
  EXPECT_TRUE(reply.headers.starts_with("Retry-After: 10\r\n")) << reply.headers;
}

TEST_F(RouterTest, SaysWhereARequestFailed) {
  live::Answer late{.kind = live::AnswerKind::deadline_exceeded};
  late.stage = "ocr";
  late.latency = Duration::ms(212.5);
  late.slack = Duration::ms(-12.5);
  EXPECT_EQ(
      answered(late).body,
      R"({"error":"deadline exceeded after 212.5 ms in stage 'ocr': it was due after 200 ms","code":"DEADLINE_EXCEEDED","stage":"ocr","latency_ms":212.5})");
  EXPECT_EQ(answered(late).status, 504u);
  live::Answer failed{.kind = live::AnswerKind::failed};
  failed.stage = "ocr";
  failed.error = "no \"text\"";
  EXPECT_EQ(answered(failed).body,
            R"({"error":"stage 'ocr' failed: no \"text\"","code":"STAGE_FAILED","stage":"ocr"})");
  EXPECT_EQ(answered(failed).status, 500u);
  EXPECT_EQ(answered({.kind = live::AnswerKind::cancelled}).body,
            R"({"error":"the request was cancelled","code":"CANCELLED"})");
}

TEST_F(RouterTest, SpeaksTritonWhereAskedTo) {
  router_ = make_router(service_, identity_, {.triton_errors = true});
  const Reply full = answered({.kind = live::AnswerKind::rejected, .reason = RejectReason::slo_infeasible}, "42");
  EXPECT_EQ(full.status, 503u);
  EXPECT_EQ(full.body,
            R"({"error":"[request id: 42] Exceeds maximum queue size","code":"SLO_INFEASIBLE","retry_after_ms":1000})");
  const Reply expired = answered({.kind = live::AnswerKind::deadline_exceeded});
  EXPECT_EQ(expired.status, 503u);
  EXPECT_TRUE(expired.headers.starts_with("Retry-After: 1\r\n")) << expired.headers;
}

TEST_F(RouterTest, SaysOfEverything503WhenToTryAgain) {
  const auto headers = [&](Method method, std::string_view target, std::string_view body = {}) {
    const auto exchange = start(method, target, body);
    EXPECT_EQ(exchange->reply->status, 503u) << target;
    return exchange->reply->headers;
  };
  EXPECT_EQ(headers(Method::get, "/v2/health/ready"), "Retry-After: 10\r\n");
  EXPECT_EQ(headers(Method::post, "/v2/models/missing/versions/1/infer", kEcho), "Retry-After: 10\r\n");
  service_.on_later = [](const live::Call&) -> Result<RequestId> { return Error{ErrorCode::io, "disk is full"}; };
  EXPECT_EQ(headers(Method::post, "/v2/models/echo/infer?async=true", kEcho), "Retry-After: 10\r\n");
  service_.on_deploy = [](const live::Deployment&) -> Result<live::Deployed> {
    return Error{ErrorCode::io, "disk is full"};
  };
  EXPECT_EQ(headers(Method::post, "/v1/applications", R"({"main":"a","files":[{"path":"a","base64":""}]})"),
            "Retry-After: 10\r\n");
}

TEST_F(RouterTest, TakesRequestsForLater) {
  EXPECT_EQ(post("/v2/models/echo/infer?async=true", kEcho),
            R"(202 {"id":"00000000000000ab","model_name":"echo","model_version":"1"})");
  service_.on_later = [](const live::Call&) -> Result<RequestId> { return Error{ErrorCode::io, "disk is full"}; };
  EXPECT_EQ(post("/v2/models/echo/infer?async=true", kEcho), R"(503 {"error":"disk is full"})");
  service_.on_later = [](const live::Call&) -> Result<RequestId> {
    return Error{ErrorCode::unavailable, "journal is full"};
  };
  EXPECT_EQ(post("/v2/models/echo/infer?x&async=true", kEcho),
            R"(429 {"error":"journal is full","code":"QUEUE_FULL","retry_after_ms":1000})");
}

TEST_F(RouterTest, CountsInPrometheusText) {
  post("/v2/models/echo/infer", kEcho);
  answered({.kind = live::AnswerKind::rejected, .reason = RejectReason::quota_exceeded});
  const auto exchange = start(Method::get, "/metrics");
  EXPECT_EQ(exchange->reply->type, ContentType::metrics);
  const std::string& page = exchange->reply->body;
  for (const std::string_view line : {
           "# TYPE sluice_application_requests_total counter\n",
           "sluice_application_requests_total{tenant=\"default\",application=\"chain\",outcome=\"met\"} 3\n",
           "sluice_application_requests_total{tenant=\"default\",application=\"chain\",outcome=\"rejected\"} 2\n",
           "sluice_cost_dollars_total{tenant=\"default\",application=\"chain\"} 0.25\n",
           "# TYPE sluice_application_latency_seconds histogram\n",
           "sluice_application_latency_seconds_bucket{tenant=\"default\",application=\"echo\",le=\"0.0025\"} 0\n",
           "sluice_application_latency_seconds_bucket{tenant=\"default\",application=\"echo\",le=\"0.005\"} 1\n",
           "sluice_application_latency_seconds_bucket{tenant=\"default\",application=\"echo\",le=\"+Inf\"} 1\n",
           "sluice_application_latency_seconds_sum{tenant=\"default\",application=\"echo\"} 0.003\n",
           "sluice_application_latency_seconds_count{tenant=\"default\",application=\"echo\"} 1\n",
           "sluice_application_slack_seconds_bucket{tenant=\"default\",application=\"echo\",le=\"0.001\"} 0\n",
           "sluice_application_slack_seconds_bucket{tenant=\"default\",application=\"echo\",le=\"0.01\"} 1\n",
           "sluice_stage_queue_seconds_sum{tenant=\"default\",application=\"chain\",stage=\"first\"} 0.5\n",
           "sluice_stage_exec_seconds_count{tenant=\"default\",application=\"chain\",stage=\"first\"} 2\n",
           "sluice_stage_batch_size_bucket{tenant=\"default\",application=\"chain\",stage=\"first\",le=\"1\"} 0\n",
           "sluice_stage_batch_size_bucket{tenant=\"default\",application=\"chain\",stage=\"first\",le=\"8\"} 2\n",
           "sluice_stage_batch_size_bucket{tenant=\"default\",application=\"chain\",stage=\"first\",le=\"+Inf\"} 3\n",
           "sluice_stage_batch_size_sum{tenant=\"default\",application=\"chain\",stage=\"first\"} 13\n",
           "sluice_admission_rejections_total{tenant=\"default\",reason=\"QUOTA_EXCEEDED\"} 1\n",
           "sluice_cold_starts_total 5\n",
           "# TYPE sluice_cold_start_seconds summary\n",
           "sluice_cold_start_seconds_sum{tenant=\"default\",application=\"chain\",function=\"decode\",phase="
           "\"process\"} 0.03\n",
           "sluice_cold_start_seconds_sum{tenant=\"default\",application=\"chain\",function=\"decode\",phase=\"load\"} "
           "1.5\n",
           "sluice_cold_start_seconds_count{tenant=\"default\",application=\"chain\",function=\"decode\",phase="
           "\"load\"} 2\n",
           "sluice_cold_start_seconds_count{tenant=\"default\",application=\"chain\",function=\"decode\",phase="
           "\"ready\"} 1\n",
           "# TYPE sluice_scheduler_decision_seconds histogram\n",
           "sluice_scheduler_decision_seconds_bucket{le=\"1e-06\"} 1\n",
           "sluice_scheduler_decision_seconds_bucket{le=\"2.5e-06\"} 2\n",
           "sluice_scheduler_decision_seconds_bucket{le=\"5e-05\"} 3\n",
           "sluice_scheduler_decision_seconds_bucket{le=\"0.1\"} 3\n",
           "sluice_scheduler_decision_seconds_bucket{le=\"+Inf\"} 4\n",
           "sluice_scheduler_decision_seconds_count 4\n",
           "sluice_scheduler_decision_max_seconds 0.2\n",
           "sluice_node_ready{node=\"local\"} 1\n",
           "nv_inference_request_success{tenant=\"default\",model=\"chain\",version=\"2\"} 4\n",
           "nv_inference_request_failure{tenant=\"default\",model=\"chain\",version=\"2\",reason=\"REJECTED\"} 2\n",
           "nv_inference_request_duration_us{tenant=\"default\",model=\"chain\",version=\"2\"} 4000\n",
           "nv_inference_pending_request_count{tenant=\"default\",model=\"chain\",version=\"2\"} 0\n",
       }) {
    EXPECT_NE(page.find(line), std::string::npos) << line;
  }
  EXPECT_EQ(page.find("\"removed\""), std::string::npos);
}

TEST_F(RouterTest, RefusesWhatIsBeyondTheQuotaOfItsTenant) {
  service_.over = {.kind = live::AnswerKind::rejected,
                   .reason = RejectReason::quota_exceeded,
                   .needed = 11,
                   .available = 10,
                   .error = "quota exceeded: 11 requests in the system, allowed are 10"};
  service_.on_later = [](const live::Call&) -> Result<RequestId> { return Error{ErrorCode::internal, "let in"}; };
  for (const char* target : {"/v2/models/echo/infer", "/v2/models/echo/infer?async=true"}) {
    EXPECT_EQ(post(target, kEcho),
              R"(429 {"error":"quota exceeded: 11 requests in the system, allowed are 10","code":"QUOTA_EXCEEDED",)"
              R"("needed":11.0,"available":10.0,"retry_after_ms":1000})");
  }
  service_.on_deploy = [](const live::Deployment&) -> Result<live::Deployed> {
    return live::Deployed{.over = live::OverQuota{.needed = 3, .available = 2, .text = "quota exceeded: 3 functions"}};
  };
  EXPECT_EQ(post("/v1/applications", R"({"main":"a","files":[{"path":"a","base64":""}]})"),
            R"(429 {"error":"quota exceeded: 3 functions","code":"QUOTA_EXCEEDED","needed":3.0,"available":2.0,)"
            R"("retry_after_ms":1000})");
}

}  // namespace
}  // namespace sluice::gateway
