#include "reproduce/bounds/together.h"

#include <gtest/gtest.h>

#include <string>

#include "spec/load.h"

namespace sluice::reproduce {
namespace {

constexpr Dollars kMissPrice = 9000 / 3.6e6;

Offered offered(const std::string& setting, std::uint64_t requests) {
  const spec::Loaded loaded = spec::load("examples/esg/" + setting + ".yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment experiment = std::get<Experiment>(*loaded.document);
  experiment.workload.requests = requests;
  auto made = make_offered(experiment, 1);
  EXPECT_TRUE(made.ok());
  return std::move(made).value();
}

// Dollars per hour times milliseconds, per request: the unit of the figures to compare with.
double per_request(Dollars dollars, const Together& figures) {
  return dollars * 3.6e6 / static_cast<double>(figures.requests);
}

// An earlier, independent simulation of the same evaluation gives these, 20,000 requests, transfer included.
TEST(Together, AgreesWithIndependentFigures) {
  struct Row {
    const char* setting;
    double planned, expected;
  };
  for (const Row& row :
       {Row{"strict_light", 966, 991}, Row{"moderate_normal", 835, 871}, Row{"relaxed_heavy", 731, 754}}) {
    const Together figures = together(offered(row.setting, 8'000), kMissPrice);
    EXPECT_EQ(figures.requests, 8'000u);
    EXPECT_NEAR(per_request(figures.planned, figures), row.planned, 0.008 * row.planned) << row.setting;
    EXPECT_NEAR(per_request(figures.expected, figures), row.expected, 0.008 * row.expected) << row.setting;
  }
}

TEST(Together, NoiseCostsAndMissingAllCostsTheMissPrice) {
  Offered load = offered("moderate_normal", 400);
  const Together noisy = together(load, kMissPrice);
  EXPECT_GT(noisy.expected, noisy.planned);
  load.objective_ms.assign(load.objective_ms.size(), 1);
  const Together hopeless = together(load, kMissPrice);
  EXPECT_NEAR(hopeless.planned, 400 * kMissPrice, 1e-9);
  EXPECT_NEAR(hopeless.expected, 400 * kMissPrice, 1e-6);
}

}  // namespace
}  // namespace sluice::reproduce
