// `sluice deploy`: which files go to the server, and what is printed.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/folder.h"
#include "cli/program.h"
#include "gateway/base64.h"
#include "support/fake_server.h"

namespace {

using sluice::gateway::to_base64;
using sluice::test::FakeServer;
using sluice::test::Folder;
using sluice::test::Printed;
using sluice::test::sluice;

constexpr const char* kDocument =
    "application: classify\nslo: {latency: 100ms}\nfunctions: [lists/functions.yaml]\nworkflow:\n  classify: {}\n";
constexpr const char* kFunctions =
    "functions:\n  classify: {runtime: torch, model: ../models/m.pt, profile: {table: [[1, 1, 0, 5, 1]]}}\n";

std::string part(const std::string& path, const std::string& content) {
  return "{\"path\":\"" + path + "\",\"base64\":\"" + to_base64(content) + "\"}";
}

class Deploy : public testing::Test {
 protected:
  Deploy() {
    folder_.write("app.yaml", kDocument);
    folder_.write("lists/functions.yaml", kFunctions);
    folder_.write("models/m.pt", std::string("\0\1weights", 9));
  }
  Folder folder_;
  FakeServer fake_;
};

TEST_F(Deploy, SendsTheDocumentWithAllFilesItNames) {
  fake_.answer("POST /v1/applications",
               R"({"application":"classify","version":3,"fits":true,"messages":["fits: 5 ms of 100 ms"]})");
  const Printed run = sluice("deploy " + folder_.path("app.yaml") + fake_.option());
  EXPECT_EQ(run.status, 0);
  EXPECT_EQ(run.output, "ok: deployed classify version 3\n  fits: 5 ms of 100 ms\n");
  ASSERT_EQ(fake_.heard().size(), 1u);
  EXPECT_EQ(fake_.heard().front().body, "{\"main\":\"app.yaml\",\"files\":[" + part("app.yaml", kDocument) + "," +
                                            part("lists/functions.yaml", kFunctions) + "," +
                                            part("models/m.pt", std::string("\0\1weights", 9)) + "]}");
}

TEST_F(Deploy, TakesAFolderThatHoldsAllFiles) {
  folder_.write("apps/app.yaml",
                "application: classify\nslo: {latency: 100ms}\nfunctions: [../lists/functions.yaml]\n"
                "workflow:\n  classify: {}\n");
  fake_.answer("POST /v1/applications", R"({"application":"classify","version":1,"fits":true,"messages":[]})");
  EXPECT_EQ(sluice("deploy " + folder_.path("apps/app.yaml") + fake_.option()).status, 0);
  const std::string body = fake_.heard().front().body;
  for (const char* wanted :
       {R"({"main":"apps/app.yaml",)", R"("path":"lists/functions.yaml")", R"("path":"models/m.pt")"})
    EXPECT_NE(body.find(wanted), std::string::npos) << wanted << " in " << body;
}

TEST_F(Deploy, SaysOfADryRunWhetherItFits) {
  fake_.answer("POST /v1/applications?dry_run=true",
               R"({"application":"classify","version":3,"fits":false,"messages":["does not fit: 5 ms of 1 ms"]})");
  const Printed run = sluice("deploy --dry-run " + folder_.path("app.yaml") + fake_.option());
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output, "error: classify does not fit; nothing was deployed\n  does not fit: 5 ms of 1 ms\n");
}

TEST_F(Deploy, SendsNothingThatIsWrong) {
  const std::string wrong = "tests/cli/wrong/missing_unit.yaml";
  EXPECT_EQ(sluice("deploy " + wrong + fake_.option()).output, sluice("check " + wrong).output);
  EXPECT_EQ(sluice("deploy examples/cluster.yaml" + fake_.option()).output,
            "error: examples/cluster.yaml is no application\n");
  std::filesystem::remove(folder_.path("models/m.pt"));
  const Printed run = sluice("deploy " + folder_.path("app.yaml") + fake_.option());
  EXPECT_EQ(run.status, 1);
  EXPECT_EQ(run.output, "error: " + folder_.path("app.yaml") + ": function 'classify': model: there is no file " +
                            folder_.path("models/m.pt") + "\n");
  EXPECT_TRUE(fake_.heard().empty());
}

}  // namespace
