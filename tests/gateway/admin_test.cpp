// The admin endpoints: the exact texts that docs/api.md promises.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gateway/admin_pages.h"
#include "gateway/base64.h"
#include "gateway/models.h"
#include "gateway/router_fixture.h"

namespace sluice::gateway {
namespace {

using AdminTest = RouterTest;

TEST_F(AdminTest, ListsApplications) {
  const std::string page = get("/v1/applications");
  EXPECT_NE(
      page.find(
          R"({"name":"chain","tenant":"default","version":2,"versions":[],"canary":null,"state":"READY","reason":"",)"
          R"("slo_ms":420.0,"percentile":95.0,)"
          R"("stages":["first","second"],"functions":[{"name":"decode","runtime":"python","profile":"table",)"
          R"("profiled":"measured","why":"","loaded":[]},{"name":"label","runtime":"torch","profile":"none",)"
          R"("profiled":"failed","why":"RuntimeError: no","loaded":["local"]}],)"
          R"("requests":{"met":3,"late":1,"rejected":2,"failed":0,"cancelled":0}})"),
      std::string::npos)
      << page;
  EXPECT_EQ(page.find("chain.decode"), std::string::npos);
}

TEST_F(AdminTest, ListsCanariesAndGivesThemTheirShareOfTheCalls) {
  live::Snapshot snapshot = a_snapshot();
  live::Model& chain = snapshot.models[1];
  live::Model other = chain;
  other.version = 3;
  chain.versions = {1, 2, 3};
  chain.canary = std::make_shared<const live::Canary>(
      live::Canary{.model = other, .share = 0.25, .calls = std::make_shared<live::CallCount>(0)});
  int canaries = 0;
  for (int i = 0; i < 100; ++i) canaries += chosen(chain, {"default", "chain", ""}).version == 3 ? 1 : 0;
  EXPECT_EQ(canaries, 25);
  EXPECT_EQ(chosen(chain, {"default", "chain", "2"}).version, 2u);
  EXPECT_EQ(look_up(snapshot, {"default", "chain", "3"}).model->version, 3u);
  EXPECT_EQ(look_up(snapshot, {"default", "chain", "1"}).model, nullptr);
  EXPECT_NE(applications_page(snapshot, {})
                .find(R"("versions":[1,2,3],"canary":{"version":3,"percent":25.0,"requests":{"met":3,"late":1,)"),
            std::string::npos);
}

TEST_F(AdminTest, ChangesVersions) {
  EXPECT_TRUE(post("/v1/applications/chain/promote", "").starts_with("200 "))
      << post("/v1/applications/chain/promote", "");
  EXPECT_EQ(service_.changes.front().kind, live::VersionChange::Kind::promote);
  EXPECT_TRUE(post("/v1/applications/chain/rollback?version=7", "").starts_with("200 "));
  EXPECT_EQ(service_.changes.back().version, 7u);
  EXPECT_TRUE(post("/v1/applications/chain/rollback?version=seven", "").starts_with("400 "));
  EXPECT_TRUE(post("/v1/applications/chain/rewind", "").starts_with("404 "));
  EXPECT_TRUE(get("/v1/applications/chain/promote").starts_with("405 "));
}

TEST_F(AdminTest, Deploys) {
  live::Deployment seen;
  service_.on_deploy = [&](const live::Deployment& deployment) -> Result<live::Deployed> {
    seen = deployment;
    return live::Deployed{.application = "chain", .version = 3, .messages = {"profiling"}, .fits = !deployment.dry_run};
  };
  const std::string body = R"({"main":"app.yaml","files":[{"path":"app.yaml","base64":")" +
                           to_base64("application: x") + R"("},{"base64":"","path":"models/m.pt"}]})";
  EXPECT_EQ(post("/v1/applications", body),
            R"(200 {"application":"chain","version":3,"canary_percent":null,"fits":true,"messages":["profiling"]})");
  ASSERT_EQ(seen.files.size(), 2u);
  EXPECT_EQ(seen.files[0].content, "application: x");
  EXPECT_FALSE(seen.dry_run);
  EXPECT_EQ(post("/v1/applications?dry_run=true", body),
            R"(200 {"application":"chain","version":3,"canary_percent":null,"fits":false,"messages":["profiling"]})");
  service_.on_deploy = [](const live::Deployment&) -> Result<live::Deployed> {
    return Error{ErrorCode::invalid, "app.yaml:3:7: no"};
  };
  EXPECT_EQ(post("/v1/applications", body), R"(400 {"error":"app.yaml:3:7: no"})");
}

TEST_F(AdminTest, RefusesFilesThatLeaveTheirFolder) {
  service_.on_deploy = [](const live::Deployment&) -> Result<live::Deployed> {
    ADD_FAILURE() << "was deployed";
    return live::Deployed{};
  };
  const auto deploy = [&](const std::string& path) {
    return post("/v1/applications", R"({"main":"a","files":[{"path":")" + path + R"(","base64":""}]})");
  };
  EXPECT_EQ(deploy("/etc/passwd"), R"(400 {"error":"file '/etc/passwd' is refused: its path is absolute"})");
  EXPECT_EQ(deploy("a/../../b"), R"(400 {"error":"file 'a/../../b' is refused: its path leaves the folder"})");
  EXPECT_EQ(deploy(".."), R"(400 {"error":"file '..' is refused: its path leaves the folder"})");
  EXPECT_EQ(deploy(""), R"(400 {"error":"file '' is refused: its path is empty"})");
  EXPECT_EQ(deploy("a//b"), R"(400 {"error":"file 'a//b' is refused: its path is not in its plain form"})");
  EXPECT_EQ(deploy("a\\u0000b").substr(0, 3), "400");
  EXPECT_NE(deploy(std::string(256, 'x')).find("its path is longer than 255 bytes"), std::string::npos);
  EXPECT_EQ(deploy("b"), R"(400 {"error":"'main' is 'a', which is not among the files"})");
  EXPECT_EQ(post("/v1/applications", R"({"main":"a","files":[{"path":"a","base64":"?"}]})"),
            R"(400 {"error":"file 'a' is not base64"})");
  EXPECT_EQ(post("/v1/applications", R"({"main":"a","files":[{"path":"a","base64":""},{"path":"a","base64":""}]})"),
            R"(400 {"error":"file 'a' is there twice"})");
  for (const std::string_view body : {"", "[]", "{", R"({"files":[1]})", R"({"files":{}})"}) {
    EXPECT_EQ(post("/v1/applications", body).substr(0, 37), R"(400 {"error":"this is no deployment: )") << body;
  }
}

TEST_F(AdminTest, RemovesApplications) {
  service_.on_remove = [](const std::string& name) -> Status {
    if (name == "my app") return Done{};
    return Error{ErrorCode::not_found, "there is no application '" + name + "'"};
  };
  EXPECT_EQ(remove("/v1/applications/my%20app"), R"(200 {"removed":"my app"})");
  EXPECT_EQ(remove("/v1/applications/x"), R"(404 {"error":"there is no application 'x'"})");
}

live::RequestRecord a_record(live::RequestState state) {
  live::RequestRecord record;
  record.id = RequestId(0xA1);
  record.application = "chain";
  record.version = 2;
  record.arrival = Time::from_ns(1'000'000'000);
  record.deadline = record.arrival + Duration::ms(420);
  record.finished = record.arrival + Duration::ms(431.5);
  record.state = state;
  record.cost = 0.5;
  live::StageRecord stage;
  stage.stage = "first";
  stage.function = "decode";
  stage.ready = record.arrival;
  stage.start = record.arrival + Duration::ms(1.5);
  stage.invoker = InvokerId(4);
  stage.configuration = configuration(8, 2, 1);
  stage.members = 3;
  stage.cold = true;
  stage.loading = Duration::ms(0.5);
  stage.company = Duration::ms(0.25);
  stage.retry = Duration::ms(3);
  stage.reason = {.considered = 14, .no_room = 2};
  stage.log = {"hello"};
  record.stages = {stage};
  return record;
}

const std::string kLate =
    R"({"id":"00000000000000a1","tenant":"default","application":"chain","version":2,"arrived_ms":1000.0,"state":"late","latency_ms":431.5,)"
    R"("slo_ms":420.0,"slack_ms":-11.5,"cost_dollars":0.5,"cold":true,"asynchronous":false,"stage":"","error":""})";

TEST_F(AdminTest, ListsRequests) {
  service_.records = {a_record(live::RequestState::late)};
  EXPECT_EQ(get("/v1/requests"), R"(200 {"requests":[)" + kLate + "]}");
  EXPECT_EQ(service_.asked.limit, 30u);
  get("/v1/requests?application=cha%69n&state=late&limit=2");
  EXPECT_EQ(service_.asked.application, "chain");
  EXPECT_EQ(service_.asked.state, live::RequestState::late);
  EXPECT_EQ(service_.asked.limit, 2u);
  EXPECT_EQ(get("/v1/requests?state=gone"),
            R"(400 {"error":"there is no state 'gone': expected running, met, late, rejected, failed or cancelled"})");
  EXPECT_EQ(get("/v1/requests?limit=0"), R"(400 {"error":"limit is '0': expected 1 to 1000"})");
}

TEST_F(AdminTest, ShowsARequest) {
  service_.records = {a_record(live::RequestState::late)};
  EXPECT_EQ(get("/v1/requests/00000000000000a1"), "200 " + kLate);
  EXPECT_EQ(get("/v1/requests/00000000000000a2"),
            R"(404 {"error":"there is no request 00000000000000a2, or it is not kept any more"})");
  EXPECT_EQ(get("/v1/requests/a1"), R"(400 {"error":"'a1' is no id of a request: expected 16 hexadecimal digits"})");
  service_.records[0].asynchronous = true;
  EXPECT_TRUE(get("/v1/requests/00000000000000a1").ends_with(R"(,"result":null})"));
  service_.outputs =
      std::make_shared<data::Tensors>(data::Tensors{a_tensor(*service_.arena(), "L", DataType::int8, {1}, "\7")});
  EXPECT_TRUE(
      get("/v1/requests/00000000000000a1")
          .ends_with(
              R"(,"result":{"model_name":"chain","model_version":"2","outputs":[{"name":"L","datatype":"INT8","shape":[1],"data":[7]}]}})"));
  service_.records[0].caller_id = "mine";
  EXPECT_NE(get("/v1/requests/00000000000000a1").find(R"("result":{"id":"mine","model_name":"chain")"),
            std::string::npos);
  service_.records[0].state = live::RequestState::running;
  const std::string running = get("/v1/requests/00000000000000a1");
  EXPECT_NE(running.find(R"("latency_ms":null,"slo_ms":420.0,"slack_ms":null)"), std::string::npos) << running;
  EXPECT_EQ(running.find("result"), std::string::npos);
}

TEST_F(AdminTest, TracesARequest) {
  service_.records = {a_record(live::RequestState::late)};
  EXPECT_EQ(
      get("/v1/requests/00000000000000a1/trace"),
      "200 " + kLate.substr(0, kLate.size() - 1) +
          R"(,"deadline_ms":420.0,"stages":[{"stage":"first","function":"decode","ready_ms":0.0,"start_ms":1.5,"end_ms":null,)"
          R"("invoker":4,"batch":8,"vcpu":2,"vgpu":1,"members":3,"attempt":0,"cold":true,)"
          R"("waited":{"load_ms":0.5,"company_ms":0.25,"room_ms":0.75,"retry_ms":3.0},)"
          R"("why":{"considered":14,"no_room":2,"left_ms":418.5},"error":"","log":["hello"]}]})");
  service_.records[0].stages[0].reason = {};
  EXPECT_NE(get("/v1/requests/00000000000000a1/trace").find(R"("why":null)"), std::string::npos);
}

TEST_F(AdminTest, CancelsARequest) {
  service_.records = {a_record(live::RequestState::running)};
  EXPECT_EQ(remove("/v1/requests/00000000000000a1"), R"(200 {"cancelled":"00000000000000a1"})");
  EXPECT_EQ(service_.cancelled(), std::vector<RequestId>{RequestId(0xA1)});
  service_.records = {a_record(live::RequestState::late)};
  EXPECT_EQ(remove("/v1/requests/00000000000000a1"),
            R"(400 {"error":"request 00000000000000a1 has ended already: late"})");
}

TEST_F(AdminTest, TellsOfTheMachines) {
  EXPECT_EQ(
      get("/v1/status"),
      R"(200 {"version":"1.2.3","uptime_s":2.5,"scheduler":"sluice","data":"data","listening":["127.0.0.1:8000"],"applications":4,)"
      R"("in_system":7,"mailbox":{"size":0,"max":1024},"objects":{"used":0,"max":4096,"bytes_in":0,"bytes_out":0,)"
      R"("bytes_gathered":0,"gathers":0,"batches":0},"cold_starts":5,"worker_crashes":0,"retries":0})");
  EXPECT_EQ(
      get("/v1/nodes"),
      R"(200 {"nodes":[{"id":0,"name":"local","state":"READY","vcpu":16,"vcpu_free":12,"running":0,"memory":0,"memory_free":0,)"
      R"("gpus":[{"slices":7,"free":5,"memory":80,"memory_free":70}],)"
      R"("instances":[{"id":3,"tenant":"default","function":"label","level":"device","running":1,"pid":4711}],)"
      R"("vcpu_enforced":"cgroup","gpu_enforced":"","memory_enforced":"","workers_enforced":""}]})");
}

}  // namespace
}  // namespace sluice::gateway
