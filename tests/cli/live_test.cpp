// The program itself against a server with canned answers: what is asked, and what is printed.
#include <gtest/gtest.h>

#include <string>

#include "cli/fake_server.h"
#include "cli/program.h"

namespace {

using sluice::test::FakeServer;
using sluice::test::Printed;
using sluice::test::sluice;

constexpr const char* kApplications =
    R"({"applications":[{"name":"classify","tenant":"default","version":2,"state":"READY","reason":"","slo_ms":420.0,)"
    R"("percentile":95.0,"stages":["decode","classify"],"functions":[],)"
    R"("requests":{"met":10,"late":1,"rejected":2,"failed":3,"cancelled":0}},)"
    R"({"name":"caption","version":1,"state":"UNAVAILABLE","reason":"stage 'ocr' needs 9 GB, the largest node has 8 GB",)"
    R"("slo_ms":1.5,"percentile":50,"requests":{}}]})";

TEST(Apps, AreATable) {
  FakeServer fake;
  fake.answer("GET /v1/applications", kApplications);
  const Printed run = sluice("apps" + fake.option());
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, R"(application  version  status       SLO          met  late  rejected  failed
classify     2        READY        420 ms p95   10   1     2         3
caption      1        UNAVAILABLE  1.50 ms p50  0    0     0         0
caption: stage 'ocr' needs 9 GB, the largest node has 8 GB
)");
}

TEST(Apps, AreTheServersJsonOnRequest) {
  FakeServer fake;
  fake.answer("GET /v1/applications", kApplications);
  EXPECT_EQ(sluice("apps --json" + fake.option()).output, std::string(kApplications) + "\n");
}

TEST(Apps, SayHowToBeginWhereThereAreNone) {
  FakeServer fake;
  fake.answer("GET /v1/applications", R"({"applications":[]})");
  EXPECT_EQ(sluice("apps" + fake.option()).output, "ok: nothing is deployed; start with `sluice deploy FILE`\n");
}

TEST(Remove, NamesWhatIsGone) {
  FakeServer fake;
  fake.answer("DELETE /v1/applications/classify", R"({"removed":"classify"})");
  EXPECT_EQ(sluice("remove classify" + fake.option()).output, "ok: removed classify\n");
}

TEST(Remove, RepeatsTheServersRefusal) {
  FakeServer fake;
  fake.answer("DELETE /v1/applications/a%2Fb", R"({"error":"no application 'a/b' is deployed"})", "404 Not Found");
  const Printed run = sluice("remove a/b" + fake.option());
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output, "error: no application 'a/b' is deployed (HTTP 404)\n");
}

TEST(Server, IsFoundByOptionThenEnvironment) {
  FakeServer fake;
  fake.answer("GET /v1/applications", R"({"applications":[]})");
  ::setenv("SLUICE_SERVER", fake.address().c_str(), 1);
  ::setenv("SLUICE_KEY", "secret", 1);
  EXPECT_EQ(sluice("apps").status, 0);
  const Printed nobody = sluice("apps --server 127.0.0.1:1");
  ::unsetenv("SLUICE_SERVER");
  ::unsetenv("SLUICE_KEY");
  ASSERT_EQ(fake.heard().size(), 1u);
  EXPECT_NE(fake.heard().front().head.find("Authorization: Bearer secret\r\n"), std::string::npos);
  EXPECT_EQ(nobody.status, 1);
  EXPECT_EQ(nobody.output,
            "error: no server at 127.0.0.1:1: start one with `sluice up`, or name another with --server\n");
}

TEST(Server, IsToldApartFromOtherServers) {
  FakeServer fake;
  fake.answer("GET /v1/status", "<html>");
  fake.answer("GET /v1/nodes", R"({"error":"Unauthorized"})", "401 Unauthorized");
  EXPECT_EQ(sluice("status" + fake.option())
                .output.find("error: " + fake.address() + " answered /v1/status with something else than JSON: "),
            0u);
  EXPECT_EQ(sluice("nodes" + fake.option()).output,
            "error: Unauthorized (HTTP 401); set SLUICE_KEY to the server's key\n");
}

TEST(Status, SaysHowTheServerIs) {
  FakeServer fake;
  fake.answer("GET /v1/status",
              R"({"version":"0.1.0","uptime_s":4000,"scheduler":"sluice","data":"somewhere",)"
              R"("listening":["127.0.0.1:8000","[::1]:8000"],"applications":3,"in_system":7,)"
              R"("mailbox":{"size":0,"max":65536},"objects":{"used":1048576,"max":1073741824,"bytes_in":1,)"
              R"("bytes_out":2000,"bytes_gathered":0,"gathers":0,"batches":9},"cold_starts":4,"worker_crashes":1,)"
              R"("retries":2})");
  EXPECT_EQ(sluice("status" + fake.option()).output, R"(ok: sluice 0.1.0 at 127.0.0.1:8000, [::1]:8000, up for 1h06m
  scheduler     sluice
  data          somewhere
  applications  3
  in system     7 requests
  mailbox       0 of 65536 events
  objects       1.05 MB of 1.07 GB; 1 B came in, 2 kB went out
  batches       9; inputs of 0 were copied together, 0 B
  workers       4 cold starts, 1 crashes, 2 retries
)");
}

TEST(Nodes, SayWhatIsEnforced) {
  FakeServer fake;
  fake.answer("GET /v1/nodes",
              R"({"nodes":[{"id":0,"name":"local","state":"READY","vcpu":16,"vcpu_free":12,"running":2,)"
              R"("memory":64000000000,"memory_free":60000000000,)"
              R"("gpus":[{"slices":7,"free":5,"memory":80000000000,"memory_free":70000000000}],)"
              R"("instances":[{"id":3,"function":"classify","level":"device","running":1,"pid":4711},)"
              R"({"id":14,"function":"a","level":"host","running":0,"pid":0}],"vcpu_enforced":"cgroup v2 quota",)"
              R"("gpu_enforced":"not enforced: emulated","memory_enforced":"cgroup v2 limit"},)"
              R"({"id":1,"name":"other","state":"LOST","vcpu":2,"memory":1000000000,"memory_free":0}]})");
  EXPECT_EQ(sluice("nodes" + fake.option()).output, R"(node 0 'local'  READY
  vCPU      12 of 16 free, 2 batches running; cgroup v2 quota
  memory    60 GB of 64 GB free; cgroup v2 limit
  GPU 0     5 of 7 slices free, 70 GB of 80 GB free; not enforced: emulated
  instance  function  level   running  pid
  3         classify  device  1        4711
  14        a         host    0        –
node 1 'other'  LOST
  vCPU      0 of 2 free, 0 batches running
  memory    0 B of 1 GB free
  GPU       none
)");
}

}  // namespace
