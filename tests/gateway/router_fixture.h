// A router over a fake platform, and what that platform has.
#pragma once
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/fake_identity.h"
#include "gateway/fake_service.h"
#include "gateway/router.h"

namespace sluice::gateway {

class Kept final : public Exchange {
 public:
  void respond(std::function<Reply()> make) override {
    if (!reply) reply = make();
  }
  void on_disconnect(std::function<void()> gone) override { hang_up = std::move(gone); }
  std::optional<Reply> reply;
  std::function<void()> hang_up;
};

inline std::shared_ptr<const Application> an_application() {
  Application application;
  application.name = "chain";
  application.objective = {.latency = Duration::ms(420), .percentile = 95, .cost = {}};
  Function decode, label;
  decode.name = "decode";
  decode.cpu = Body{.runtime = Runtime::python};
  decode.profile = ProfileTable{};
  label.name = "label";
  label.gpu = Body{.runtime = Runtime::torch};
  application.functions = {decode, label};
  Stage first, second;
  first.name = "first";
  first.function = FunctionId(0);
  second.name = "second";
  second.function = FunctionId(1);
  application.workflow.stages = {first, second};
  return std::make_shared<const Application>(std::move(application));
}

inline live::Snapshot a_snapshot() {
  live::Model chain = a_model("chain", {port("I", DataType::fp32, {3, -1, -1})}, {port("L", DataType::bytes, {1})});
  chain.version = 2;
  chain.batch_max = 8;
  chain.application = an_application();
  chain.profiled = std::make_shared<const std::vector<live::ProfileStanding>>(std::vector<live::ProfileStanding>{
      {live::ProfileState::measured, ""}, {live::ProfileState::failed, "RuntimeError: no"}});
  chain.stats.met = 3;
  chain.stats.late = 1;
  chain.stats.rejected = 2;
  chain.stats.inferences = 8;
  chain.stats.executions = 4;
  chain.stats.success = {.count = 4, .ns = 4'000'000};
  chain.stats.queue = {.count = 8, .ns = 900};
  chain.stats.batches = {{.size = 2, .infer = {.count = 4, .ns = 700}}};
  chain.stats.cost = 0.25;
  chain.stats.stages = {
      {.name = "first",
       .queue = {.count = 4, .ns = 500'000'000},
       .infer = {.count = 2, .ns = 250'000'000},
       .batches = {{.size = 2, .infer = {.count = 2, .ns = 1}}, {.size = 9, .infer = {.count = 1, .ns = 1}}}}};
  live::Model echo = a_model("echo", {port("X", DataType::fp32, {-1})}, {port("X", DataType::fp32, {-1})});
  live::Model missing = a_model("missing", {}), broken = a_model("broken", {});
  missing.state = live::ModelState::unavailable;
  broken.state = live::ModelState::unavailable;
  broken.reason = "stage 'ocr' needs 9000 MiB";
  live::Model function = a_model("chain.decode", {port("B", DataType::bytes, {1})});
  function.is_function = true;
  live::Snapshot snapshot;
  snapshot.models = {broken, chain, echo, missing, function};
  snapshot.started = Time::from_ns(1'000'000'000);
  snapshot.at = Time::from_ns(3'500'000'000);
  snapshot.scheduler = "sluice";
  snapshot.data_directory = "data";
  snapshot.listening = {"127.0.0.1:8000"};
  snapshot.in_system = 7;
  snapshot.mailbox_max = 1024;
  snapshot.objects_max = Bytes(4096);
  snapshot.cold_starts = 5;
  snapshot.cold = {{.application = "chain",
                    .function = "decode",
                    .process = {.count = 2, .ns = 30'000'000},
                    .load = {.count = 2, .ns = 1'500'000'000},
                    .ready = {.count = 1, .ns = 0}},
                   {.application = "removed", .function = "decode", .process = {.count = 1, .ns = 1}}};
  for (const double us : {1.0, 1.1, 40.0, 200'000.0}) snapshot.decisions.add(Duration::us(us));
  live::NodeInfo node;
  node.id = InvokerId(0);
  node.name = "local";
  node.state = "READY";
  node.vcpu = 16;
  node.vcpu_free = 12;
  node.gpus = {{.slices = 7, .free = 5, .memory = Bytes(80), .memory_free = Bytes(70)}};
  node.instances = {{.id = InstanceId(3),
                     .function = "label",
                     .version = code_of(an_application()->functions[1]),
                     .level = Level::device,
                     .running = 1,
                     .pid = 4711}};
  node.vcpu_enforced = "cgroup";
  snapshot.nodes = {node};
  return snapshot;
}

class RouterTest : public testing::Test {
 protected:
  RouterTest() { service_.set(a_snapshot()); }

  std::shared_ptr<Kept> start(Method method, std::string_view target, std::string_view body = {},
                              std::optional<std::string_view> json_bytes = {}) {
    const std::size_t mark = target.find('?');
    const Padded padded(body);
    auto exchange = std::make_shared<Kept>();
    router_->handle({.method = method,
                     .path = target.substr(0, mark),
                     .query = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1),
                     .body = padded.view(),
                     .json_bytes = json_bytes,
                     .principal = principal_},
                    exchange);
    return exchange;
  }
  // "STATUS BODY"
  std::string ask(Method method, std::string_view target, std::string_view body = {}) {
    const auto exchange = start(method, target, body);
    if (!exchange->reply) return "no answer";
    return std::to_string(exchange->reply->status) + " " + exchange->reply->body;
  }
  std::string get(std::string_view target) { return ask(Method::get, target); }
  std::string post(std::string_view target, std::string_view body = {}) { return ask(Method::post, target, body); }
  std::string remove(std::string_view target) { return ask(Method::remove, target); }
  // The reply to one inference whose answer is `given`.
  Reply answered(live::Answer given, std::string_view id = "") {
    service_.when_called([given](const live::Call&, RequestId request, const live::OnAnswer& answer) {
      live::Answer copy = given;
      copy.request = request;
      answer(std::move(copy));
    });
    const std::string body =
        R"({"id":")" + std::string(id) + R"(","inputs":[{"name":"X","shape":[1],"datatype":"FP32","data":[1]}]})";
    return start(Method::post, "/v2/models/echo/infer", body)->reply.value();
  }

  Principal principal_;  // who asks
  FakeService service_;
  FakeIdentity identity_;
  std::unique_ptr<Handler> router_ = make_router(service_, identity_, {.name = "sluice", .version = "1.2.3"});
};

constexpr std::string_view kEcho = R"({"inputs":[{"name":"X","shape":[1,2],"datatype":"FP32","data":[1,2]}]})";

}  // namespace sluice::gateway
