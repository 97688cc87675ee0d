// The rules that judge claims: each can say yes and no.
#include "reproduce/esg_trends.h"

#include <gtest/gtest.h>

#include "reproduce/esg_contenders.h"

namespace sluice::reproduce {
namespace {

constexpr std::array kApplications{"image-classification", "depth-recognition", "background-elimination",
                                   "expanded-image-classification"};

struct Canned {
  double hits = 1, cost = 1, share = 0.9, misses = 0, search_us = 10, expansions = 100, longest_hits = 1;
};

Figures figures(const Canned& c) {
  Figures out{.hit_rate = c.hits,
              .cost_per_met = c.cost,
              .cost_per_request = c.cost,
              .configuration_miss_rate = c.misses,
              .search_us = c.search_us,
              .search_us_p95 = c.search_us,
              .expansions = c.expansions};
  for (const char* name : kApplications) {
    out.applications.push_back(
        {.application = name, .hit_rate = c.longest_hits, .p50_of_slo = c.share, .p95_of_slo = c.share});
  }
  return out;
}

// Everything as the paper says, and as we say.
FigureTable as_claimed() {
  FigureTable table;
  for (const Setting s : all_settings()) {
    const std::string setting = name_of(s);
    table.put(setting, "esg", figures({.hits = 0.95}));
    table.put(setting, "esg-tuned", figures({.hits = 0.95}));
    table.put(setting, "infless", figures({.hits = 0.5, .cost = 2.8, .longest_hits = 0.3}));
    table.put(setting, "fast-gshare", figures({.hits = 0.5, .cost = 1.5, .share = 0.95, .longest_hits = 0.3}));
    table.put(setting, "orion", figures({.hits = 0.4, .cost = 1.5, .search_us = 700}));
    table.put(setting, "aquatope", figures({.hits = 0.4, .cost = 1.5, .misses = 0.8}));
    table.put(setting, "sluice", figures({.hits = 0.99, .cost = 0.9}));
    table.put(setting, "sluice-hits", figures({.hits = 0.99, .cost = 0.9}));
  }
  table.put("moderate-normal", "orion", figures({.hits = 0.4, .cost = 1.5, .misses = 0.2}));
  table.put("relaxed-heavy", "orion", figures({.hits = 0.4, .cost = 1.5, .misses = 0.4}));
  table.put("moderate-normal", "aquatope", figures({.hits = 0.4, .cost = 1.5, .misses = 0.7}));
  table.put("relaxed-heavy", "aquatope", figures({.hits = 0.4, .cost = 1.5, .misses = 0.6}));
  table.put("relaxed-heavy", "esg", figures({.hits = 0.95, .expansions = 200}));
  return table;
}

// The verdict about one claim; absent: there is no such row.
std::optional<bool> verdict(const FigureTable& table, const std::string& setting, const std::string& scheduler,
                            const std::string& metric) {
  for (const std::vector<Row>& rows : {paper_trends(table), our_claims(table)}) {
    for (const Row& row : rows) {
      if (row.setting == setting && row.scheduler == scheduler && row.metric == metric) return row.holds;
    }
  }
  return std::nullopt;
}

TEST(EsgTrends, AllHoldIfEverythingIsAsClaimed) {
  std::size_t rows = 0;
  for (const std::vector<Row>& list : {paper_trends(as_claimed()), our_claims(as_claimed())}) {
    for (const Row& row : list) {
      EXPECT_EQ(row.holds, true) << row.setting << " " << row.scheduler << " " << row.metric;
      EXPECT_FALSE(row.claim.empty());
      ++rows;
    }
  }
  EXPECT_GT(rows, 60u);
}

struct Broken {
  const char *setting, *contender;  // whose figures are changed
  Canned figures;
  const char *judged, *scheduler, *metric;  // the claim that no longer holds
};

TEST(EsgTrends, EachCanFail) {
  const std::vector<Broken> cases{
      {"strict-light", "infless", {.hits = 0.9, .cost = 2.8}, "strict-light", "infless", "hit_rate_gain_points"},
      {"strict-light", "infless", {.hits = 0.9, .cost = 2.8}, "strict-light", "infless", "hit_rate_gain_relative"},
      {"strict-light", "orion", {.hits = 0.96, .cost = 1.5}, "strict-light", "esg", "hit_rate_lead"},
      {"strict-light", "orion", {.hits = 0.4, .cost = 0.9}, "strict-light", "orion", "cost_over_esg"},
      {"strict-light", "aquatope", {.cost = 3}, "strict-light", "infless", "cost_over_dearest_other"},
      {"relaxed-heavy", "esg", {.share = 0.5}, "relaxed-heavy", "esg", "p95_of_slo.depth-recognition"},
      {"relaxed-heavy", "esg", {.share = 1.1}, "relaxed-heavy", "esg", "p95_of_slo.depth-recognition"},
      {"relaxed-heavy", "fast-gshare", {.share = 0.8}, "relaxed-heavy", "fast-gshare", "p50_over_esg"},
      {"relaxed-heavy", "infless", {}, "relaxed-heavy", "infless", "slo_hit_rate.expanded-image-classification"},
      {"relaxed-heavy", "orion", {.misses = 0.1}, "headline", "orion", "configuration_miss_rate_rise"},
      {"relaxed-heavy", "aquatope", {.misses = 0.9}, "headline", "aquatope", "configuration_miss_rate_fall"},
      {"relaxed-heavy", "orion", {.misses = 0.7}, "headline", "aquatope", "configuration_miss_rate_over_orion"},
      {"strict-light", "orion", {.search_us = 5}, "strict-light", "orion", "search_over_esg"},
      {"moderate-normal", "esg", {.search_us = 20'000}, "moderate-normal", "esg", "search_us_p95"},
      {"relaxed-heavy", "esg", {.expansions = 50}, "headline", "esg", "expansions_relaxed_over_strict"},
      {"strict-normal", "sluice", {.hits = 0.948, .cost = 0.9}, "strict-normal", "sluice", "hit_rate_lead"},
      {"strict-normal",
       "sluice",
       {.hits = 0.951, .cost = 1.1},
       "strict-normal",
       "sluice",
       "cost_over_cheapest_with_such_hits"},
      {"strict-normal", "sluice", {.longest_hits = 0.97}, "strict-normal", "sluice", "worst_application_over_esg"},
      {"strict-heavy", "sluice-hits", {.hits = 0.94}, "strict-heavy", "sluice-hits", "slo_hit_rate"},
  };
  for (const Broken& broken : cases) {
    FigureTable table = as_claimed();
    EXPECT_EQ(verdict(table, broken.judged, broken.scheduler, broken.metric), true) << broken.metric;
    table.put(broken.setting, broken.contender, figures(broken.figures));
    EXPECT_EQ(verdict(table, broken.judged, broken.scheduler, broken.metric), false) << broken.metric;
  }
}

TEST(EsgTrends, SayNothingAboutWhatWasNotPlayed) {
  FigureTable table;
  table.put("strict-light", "esg", figures({}));
  EXPECT_EQ(verdict(table, "strict-light", "esg", "hit_rate_lead"), std::nullopt);
  EXPECT_EQ(verdict(table, "strict-light", "infless", "cost_over_dearest_other"), std::nullopt);
  EXPECT_TRUE(paper_trends({}).empty());
  EXPECT_TRUE(our_claims({}).empty());
}

}  // namespace
}  // namespace sluice::reproduce
