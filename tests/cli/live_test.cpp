// The program itself against a server with canned answers: what is asked, and what is printed.
#include <gtest/gtest.h>

#include <string>

#include "cli/program.h"
#include "support/fake_server.h"

namespace {

using sluice::test::FakeServer;
using sluice::test::Printed;
using sluice::test::sluice;

constexpr const char* kApplications =
    R"({"applications":[{"name":"classify","tenant":"default","version":2,"state":"READY","reason":"","slo_ms":420.0,)"
    R"("percentile":95.0,"stages":["decode","classify"],"functions":[)"
    R"({"name":"decode","runtime":"python","profile":"none","profiled":"waiting","why":"","loaded":[]},)"
    R"({"name":"classify","runtime":"torch","profile":"table","profiled":"measured","why":"","loaded":["node-0","node-2"]}],)"
    R"("requests":{"met":10,"late":1,"rejected":2,"failed":3,"cancelled":0}},)"
    R"({"name":"caption","version":1,"state":"UNAVAILABLE","reason":"stage 'ocr' needs 9 GB, the largest node has 8 GB",)"
    R"("slo_ms":1.5,"percentile":null,"requests":{}}]})";

TEST(Apps, AreATable) {
  FakeServer fake;
  fake.answer("GET /v1/applications", kApplications);
  const Printed run = sluice("apps" + fake.option());
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, R"(application  version  status       SLO         met  late  rejected  failed
classify     2        READY        420 ms p95  10   1     2         3
caption      1        UNAVAILABLE  1.50 ms     0    0     0         0

function           runtime  profiled                     loaded
classify.decode    python   waits for its first request  none
classify.classify  torch    measured                     node-0, node-2

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
            "error: no server at 127.0.0.1:1: start one with `sluice up`, or name another with --server or "
            "SLUICE_DATA, its data directory\n");
}

TEST(Server, IsToldApartFromOtherServers) {
  FakeServer fake;
  fake.answer("GET /v1/status", "<html>");
  fake.answer("GET /v1/nodes", R"({"error":"Unauthorized"})", "401 Unauthorized");
  EXPECT_EQ(sluice("status" + fake.option())
                .output.find("error: " + fake.address() + " answered /v1/status with something else than JSON: "),
            0u);
  EXPECT_EQ(
      sluice("nodes" + fake.option()).output,
      "error: Unauthorized (HTTP 401); set SLUICE_KEY to a key of the server, or SLUICE_DATA to its data directory\n");
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

constexpr const char* kRequests =
    R"({"requests":[{"id":"00000000000000a1","application":"classify","version":2,"arrived_ms":1767225600000.0,)"
    R"("state":"late","latency_ms":431.2,"slo_ms":420.0,"slack_ms":-11.2,"cost_dollars":1.1e-05,"cold":true,)"
    R"("asynchronous":false,"stage":"","error":""},)"
    R"({"id":"00000000000000a0","application":"classify","version":2,"arrived_ms":1767225599000,"state":"running",)"
    R"("latency_ms":null,"slo_ms":420.0,"slack_ms":null,"cost_dollars":0,"cold":false,"stage":"","error":""},)"
    R"({"id":"000000000000009f","application":"classify","arrived_ms":1767225598000,"state":"rejected",)"
    R"("latency_ms":0.1,"slo_ms":420.0,"slack_ms":419.9,"cost_dollars":0,"cold":false}]})";

TEST(Requests, AreATable) {
  FakeServer fake;
  fake.answer("GET /v1/requests?limit=30", kRequests);
  ::setenv("TZ", "UTC", 1);
  const Printed run = sluice("requests" + fake.option());
  ::unsetenv("TZ");
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output,
            R"(time                 id                application  start  duration  state     SLO     slack     cost
2026-01-01 00:00:00  00000000000000a1  classify     cold   431 ms    late      420 ms  -11.2 ms  $1.1e-05
2025-12-31 23:59:59  00000000000000a0  classify     warm   –         running   420 ms  –         $0
2025-12-31 23:59:58  000000000000009f  classify     –      100 µs    rejected  420 ms  420 ms    $0
)");
}

TEST(Requests, AreFilteredByTheServer) {
  FakeServer fake;
  fake.answer("GET /v1/requests?limit=2&application=a%20b&state=late", R"({"requests":[]})");
  EXPECT_EQ(sluice("requests --application 'a b' --state late --limit 2" + fake.option()).output,
            "ok: no requests; make one with `sluice invoke`\n");
  EXPECT_EQ(sluice("requests --state lost" + fake.option()).status, 2);
}

std::string traced(const std::string& request, const std::string& stages) {
  return R"({"id":"00000000000000a1","application":"describe","arrived_ms":1767225600000.0,"slo_ms":200.0,)" + request +
         R"(,"deadline_ms":200.0,"stages":[)" + stages + "]}";
}

TEST(Trace, DrawsStagesAgainstTheDeadline) {
  FakeServer fake;
  fake.answer(
      "GET /v1/requests/00000000000000a1/trace",
      traced(
          R"("state":"met","latency_ms":170.0,"slack_ms":30.0)",
          R"({"stage":"decode","function":"decode","ready_ms":0,"start_ms":0.2,"end_ms":8,"invoker":0,)"
          R"("batch":1,"vcpu":1,"vgpu":0,"members":1,"attempt":0,"cold":false,"waited":{"load_ms":0.0,"company_ms":0.0,)"
          R"("room_ms":0.2,"retry_ms":0.0},"why":{"considered":1,"no_room":0,"left_ms":199.8},"error":"","log":[]},)"
          R"({"stage":"detect","function":"yolo","ready_ms":8,"start_ms":16,"end_ms":48,"invoker":0,)"
          R"("batch":4,"vcpu":2,"vgpu":1,"members":3,"attempt":0,"cold":false,"waited":{"load_ms":0.0,"company_ms":6.0,)"
          R"("room_ms":2.0,"retry_ms":0.0},"why":{"considered":14,"no_room":2,"left_ms":184.0},"error":"",)"
          R"("log":["warming up","done"]},)"
          R"({"stage":"fuse","function":"fuse","ready_ms":48,"start_ms":120,"end_ms":170,"invoker":1,)"
          R"("batch":1,"vcpu":1,"vgpu":0,"members":1,"attempt":1,"cold":true,"waited":{"load_ms":60.0,"company_ms":0.0,)"
          R"("room_ms":12.0,"retry_ms":0.5},"why":null,"error":""})"));
  const Printed run = sluice("trace a1 --log" + fake.option());
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, R"(request 00000000000000a1 of 'describe'   SLO 200 ms   met, slack 30 ms
. queue   # run   ~ loading   | deadline
  decode  ##                                                |  batch 1 of 1, 1 vCPU, node 0
  detect    ..########                                      |  batch 3 of 4, 2 vCPU, 1 vGPU, node 0, yolo
  fuse                ~~~~~~~~~~~~~~~...############        |  batch 1 of 1, 1 vCPU, node 1, cold, attempt 2
          0           50           100         150          200 ms

  stage   queue   load   run      waited                                                                     why
  decode  200 µs  –      7.80 ms  200 µs for free vCPUs                                                      the only configuration with 200 ms left
  detect  8 ms    –      32 ms    6 ms for company, 2 ms for free vCPUs and slices                           the cheapest of 14 configurations with 184 ms left; 2 cheaper ones found no room
  fuse    12 ms   60 ms  50 ms    500 µs to try again, 60 ms for its function to load, 12 ms for free vCPUs

  detect: warming up
  detect: done
)");
}

TEST(Trace, SaysWhereARequestFailed) {
  FakeServer fake;
  fake.answer("GET /v1/requests/00000000000000a1/trace",
              traced(R"("state":"failed","latency_ms":20.0,"slack_ms":180.0,"stage":"ocr","error":"out of memory")",
                     R"({"stage":"ocr","function":"ocr","ready_ms":0,"start_ms":4,"end_ms":20,"invoker":0,"batch":1,)"
                     R"("vcpu":1,"vgpu":0,"members":1,"attempt":0,"cold":false,"error":"out of memory","log":[]})"));
  EXPECT_EQ(sluice("trace 00000000000000a1 --log" + fake.option()).output,
            R"(request 00000000000000a1 of 'describe'   SLO 200 ms   failed in stage 'ocr': out of memory
. queue   # run   ~ loading   | deadline
  ocr  .####                                             |  batch 1 of 1, 1 vCPU, node 0, error: out of memory
       0           50           100         150          200 ms

  stage  queue  load  run    waited  why
  ocr    4 ms   –     16 ms

  its workers printed nothing
)");
}

}  // namespace
