#include "report/sim_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace sluice::report {
namespace {

TEST(SimPage, ANameCannotEndTheScriptOfTheData) {
  Experiment experiment;
  experiment.name = "</script><b>";
  const sim::RunResult result{.vcpu_capacity = 1};
  const sim::RunShape shape(0, 0);
  const sim::RunWindow window(0, 100);
  const std::string page = report_html(experiment, {{{&result}, &shape, &window}});
  const std::string open = "<script id=\"data\" type=\"application/json\">";
  const std::size_t begin = page.find(open) + open.size();
  const auto data = nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin), nullptr, false);
  ASSERT_TRUE(data.is_object());
  EXPECT_EQ(data["experiment"], "</script><b>");
}

}  // namespace
}  // namespace sluice::report
