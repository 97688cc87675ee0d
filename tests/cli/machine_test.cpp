// The program on this machine: `sluice profile` with real workers, `sluice doctor`.
#include <gtest/gtest.h>

#include <string>

#include "cli/folder.h"
#include "cli/program.h"
#include "data/json.h"
#include "spec/csv/profile_csv.h"
#include "support/fake_server.h"

namespace {

using sluice::test::FakeServer;
using sluice::test::Folder;
using sluice::test::Printed;
using sluice::test::sluice;

constexpr const char* kFunctions = R"(functions:
  echo:
    runtime: process
    command: [sh, -c, "while read line; do echo '{\"y\": 1}' >&3; done"]
    inputs: {x: {type: FP32, shape: [2]}}
  broken:
    runtime: process
    command: [sh, -c, "exit 3"]
    inputs: {x: {type: FP32, shape: [2]}}
)";

TEST(Profile, WritesWhatItMeasured) {
  const Folder folder;
  folder.write("functions.yaml", kFunctions);
  const Printed run = sluice("profile " + folder.path("functions.yaml") +
                             " --function echo --batch 1,2 --vcpu 1 --out " + folder.path("profiles"));
  EXPECT_EQ(run.status, 0) << run.output;
  EXPECT_EQ(run.output.find("ok: echo: 2 of 2 configurations measured, written to " + folder.path("profiles/echo.csv") +
                            "\n  batch  vCPU  mean"),
            0u)
      << run.output;
  EXPECT_NE(run.output.find("  use it: echo: {…, profile: profiles/echo.csv}\n"), std::string::npos) << run.output;
  const auto csv = ::sluice::spec::read_profile_csv(folder.read("profiles/echo.csv"));
  EXPECT_TRUE(csv.ok());
  ASSERT_EQ(csv.table.rows.size(), 2u);
  EXPECT_EQ(csv.table.rows[1].configuration.batch, 2);
  EXPECT_GT(csv.table.rows[1].mean_ms, 0);
}

TEST(Profile, GoesOnAfterAFunctionThatFails) {
  const Folder folder;
  folder.write("functions.yaml", kFunctions);
  const Printed run =
      sluice("profile " + folder.path("functions.yaml") + " --batch 1 --vcpu 1 --json --out " + folder.path("p"));
  EXPECT_EQ(run.status, 1);
  const auto json = ::sluice::data::parse_json(run.output);
  ASSERT_TRUE(json) << run.output;
  const auto* functions = json->find("functions")->as<::sluice::data::JsonArray>();
  ASSERT_EQ(functions->size(), 2u);
  for (const auto& function : *functions) {
    const bool broken = *function.find("function")->as<std::string>() == "broken";
    EXPECT_EQ(function.find("error")->as<std::string>()->empty(), !broken);
    EXPECT_EQ(function.find("rows")->as<::sluice::data::JsonArray>()->size(), broken ? 0u : 1u);
  }
}

TEST(Profile, SaysWhatItCannotMeasure) {
  EXPECT_EQ(sluice("profile examples/cluster.yaml").output, "error: examples/cluster.yaml has no functions\n");
  EXPECT_EQ(sluice("profile examples/esg/functions.yaml --function nothing").output,
            "error: examples/esg/functions.yaml has no function 'nothing'\n");
  EXPECT_EQ(sluice("profile tests/cli/wrong/missing_unit.yaml").output,
            sluice("check tests/cli/wrong/missing_unit.yaml").output);
  EXPECT_EQ(sluice("profile examples/esg/functions.yaml --budget 2").status, 2);
}

TEST(Doctor, SaysOfEachThingHowItIs) {
  FakeServer fake;
  fake.answer("GET /v1/status", R"({"version":"0.1.0","applications":3})");
  const Folder folder;
  const Printed run = sluice("doctor --data " + folder.path("data") + fake.option());
  EXPECT_EQ(run.status, 0) << run.output;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < run.output.size(); at = run.output.find('\n', at) + 1, ++lines) {
    const bool known = run.output.compare(at, 4, "ok: ") == 0 || run.output.compare(at, 9, "warning: ") == 0;
    EXPECT_TRUE(known) << run.output.substr(at);
  }
  EXPECT_EQ(lines, 10u);
  EXPECT_NE(run.output.find("sluice-worker runs "), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("ok: data directory " + folder.path("data") + " is writable, "), std::string::npos);
  EXPECT_NE(run.output.find("ok: the server at " + fake.address() + " answers: sluice 0.1.0, 3 applications\n"),
            std::string::npos)
      << run.output;
}

TEST(Doctor, FailsWhereAServerCouldNotRun) {
  const Folder folder;
  folder.write("file", "");
  ::setenv("SLUICE_WORKER", "/nowhere/sluice-worker", 1);
  const Printed run = sluice("doctor --server 127.0.0.1:1 --data " + folder.path("file/data"));
  ::unsetenv("SLUICE_WORKER");
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output.find("error: the program that runs functions is not at '/nowhere/sluice-worker'"), 0u);
  EXPECT_NE(run.output.find("error: " + folder.path("file") + " cannot be written: choose another folder"),
            std::string::npos)
      << run.output;
  EXPECT_NE(run.output.find("warning: no server at 127.0.0.1:1: start one"), std::string::npos);
}

}  // namespace
