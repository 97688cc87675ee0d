// The command line itself: what is said of words that nothing takes.
#include <gtest/gtest.h>

#include <string>

#include "cli/program.h"

namespace {

using sluice::test::Printed;
using sluice::test::sluice;

TEST(Usage, NamesTheNearestCommandOrOption) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"depoy app.yaml", "unknown command 'depoy': did you mean 'deploy'?\nTry: sluice --help\n"},
      {"xyzzy", "unknown command 'xyzzy'\nTry: sluice --help\n"},
      {"--versoin", "unknown option '--versoin': did you mean '--version'?\nTry: sluice --help\n"},
      {"keys lst", "unknown command 'lst' of 'sluice keys': did you mean 'list'?\nTry: sluice keys --help\n"},
      {"invoke m --repat 5",
       "unknown option '--repat' of 'sluice invoke': did you mean '--repeat'?\nTry: sluice invoke --help\n"},
      {"plan a.yaml --sol=3ms",
       "unknown option '--sol' of 'sluice plan': did you mean '--slo'?\nTry: sluice plan --help\n"},
      {"trace 1 --xyzzy", "unknown option '--xyzzy' of 'sluice trace'\nTry: sluice trace --help\n"}};
  for (const auto& [arguments, message] : cases) {
    const Printed run = sluice(arguments);
    EXPECT_EQ(run.status, 2) << arguments;
    EXPECT_EQ(run.output, "error: " + message) << arguments;
  }
}

TEST(Usage, SaysWhatIsMissing) {
  const Printed nothing = sluice("");
  EXPECT_EQ(nothing.status, 2);
  EXPECT_EQ(nothing.output, "error: A subcommand is required\nTry: sluice --help\n");
  EXPECT_EQ(sluice("trace").output, "error: ID is required\nTry: sluice trace --help\n");
  EXPECT_NE(sluice("trace 1 2").output.find("not expected: 2"), std::string::npos);
}

}  // namespace
