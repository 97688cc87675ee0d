// The program itself: what `sluice check` prints for wrong and right documents.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.h"
#include "support/places.h"

namespace {

using sluice::test::in_build;
using sluice::test::Printed;
using sluice::test::sluice;

std::string content(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream out;
  out << stream.rdbuf();
  return out.str();
}

std::vector<std::filesystem::path> documents(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const auto extension = entry.path().extension();
    const auto name = entry.path().filename();
    const bool data =
        name == "labels.json" || name == "sample.json" || entry.path().parent_path().filename() == "samples";
    if (!data && (extension == ".yaml" || extension == ".json" || extension == ".pbtxt")) out.push_back(entry.path());
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(Check, SaysWhatIsWrongWithEveryWrongDocument) {
  const auto wrong = documents("tests/cli/wrong");
  EXPECT_GE(wrong.size(), 40u);
  for (const auto& path : wrong) {
    const Printed run = sluice("check " + path.string());
    EXPECT_EQ(run.status, 1) << path;
    EXPECT_EQ(run.output, content(std::filesystem::path(path).replace_extension(".expected"))) << path;
  }
}

TEST(Check, AcceptsEveryExample) {
  for (const auto& path : documents("examples")) {
    const Printed run = sluice("check " + path.string());
    EXPECT_EQ(run.status, 0) << run.output;
    EXPECT_EQ(run.output.find("warning:"), std::string::npos) << run.output;
  }
}

TEST(Check, PrintsJsonForRightAndWrongDocumentsTogether) {
  const Printed run = sluice("check --json examples/esg/image_classification.yaml tests/cli/wrong/missing_unit.yaml");
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("\"latency_ms\": 526.0"), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("\"field\": \"slo.latency\""), std::string::npos) << run.output;
  EXPECT_NE(run.output.find("\"line\": 2"), std::string::npos) << run.output;
}

TEST(Check, RefusesADocumentThatIsTooLarge) {
  const auto path = std::filesystem::temp_directory_path() / ("sluice_large_" + std::to_string(::getpid()) + ".yaml");
  {
    std::ofstream stream(path);
    const std::string line(1 << 20, '#');
    for (int i = 0; i < 50; ++i) stream << line << "\n";
  }
  const Printed run = sluice("check " + path.string());
  std::filesystem::remove(path);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.output.find("52428850 bytes, at most 8388608 are allowed"), std::string::npos) << run.output;
}

TEST(CommandLine, HelpsWithWhatItDoesNotKnow) {
  EXPECT_EQ(sluice("--help").status, 0);
  EXPECT_EQ(sluice("--version").output, "sluice " SLUICE_VERSION "\n");
  EXPECT_EQ(sluice("").status, 2);
  EXPECT_EQ(sluice("chek x").status, 2);
  EXPECT_EQ(sluice("check").status, 2);
  EXPECT_EQ(sluice("check /nowhere.yaml").status, 1);
}

TEST(CommandLine, CompletesInBash) {
  const Printed run = sluice("completion bash");
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.output.find("complete -o filenames -F _sluice sluice"), std::string::npos);
  EXPECT_EQ(sluice("completion fish").status, 2);
}

std::string completed(const std::string& line) {
  return sluice("completion bash >/dev/null; bash -c 'source <(\"" + in_build("sluice") +
                "\" completion bash); COMP_WORDS=(" + line +
                "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _sluice; echo ${COMPREPLY[@]}'")
      .output;
}

TEST(CommandLine, CompletesCommandsAndTheirOptions) {
  EXPECT_EQ(completed("sluice re"), "remove requests replay reproduce\n");
  EXPECT_EQ(completed("sluice invoke --i"), "--input --image\n");
  EXPECT_EQ(completed("sluice nodes --s"), "--server\n");
  EXPECT_EQ(completed("sluice requests --state r"), "running rejected\n");
}

}  // namespace
