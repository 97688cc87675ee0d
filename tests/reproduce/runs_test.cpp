// No run of any scheduler beats the bounds: ESG's nine experiments, every scheduler of the catalog.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "policy/catalog.h"
#include "reproduce/bounds/bounds.h"
#include "sim/observer.h"
#include "sim/world.h"
#include "spec/load.h"
#include "support/sanitized.h"

namespace sluice::reproduce {
namespace {

constexpr std::array kSettings{"strict_light",   "moderate_light", "relaxed_light",  "strict_normal", "moderate_normal",
                               "relaxed_normal", "strict_heavy",   "moderate_heavy", "relaxed_heavy"};

Experiment setting(const std::string& name, std::uint64_t requests) {
  const spec::Loaded loaded = spec::load("examples/esg/" + name + ".yaml");
  EXPECT_TRUE(loaded.document.has_value());
  Experiment out = std::get<Experiment>(*loaded.document);
  out.workload.requests = requests;
  out.workload.warmup = requests / 10;
  return out;
}

// How every request ended and what it paid.
class Ends final : public sim::Observer {
 public:
  explicit Ends(std::size_t requests) : ending(requests), measured(requests), ran(requests), paid(requests) {}
  void request(const sim::RequestRow& row) override {
    ending[row.id.value()] = row.ending;
    measured[row.id.value()] = row.measured;
    paid[row.id.value()] = row.cost.to_dollars();
  }
  void action(const sim::ActionRow& row) override {
    for (const BatchMember& member : row.members) ran[member.request.value()] = true;
  }
  std::vector<sim::Ending> ending;
  std::vector<bool> measured, ran;
  std::vector<Dollars> paid;
};

struct Compared {
  Dollars paid = 0, bound = 0;
};

enum class Bill { whole, of_the_met };

// The dollars of the measured requests that finished, or of those that were met.
Compared compare(const Offered& offered, const Ends& ends, Bill bill) {
  std::vector<Outcome> outcomes;
  Compared out;
  for (std::size_t r = 0; r < ends.paid.size(); ++r) {
    const bool met = ends.ending[r] == sim::Ending::met;
    const bool billed = ends.measured[r] && (met || (bill == Bill::whole && ends.ending[r] == sim::Ending::late));
    if (billed) out.paid += ends.paid[r];
    outcomes.push_back({.ran = ends.ran[r], .met = met, .billed = billed});
  }
  out.bound = least_cost(offered, outcomes);
  return out;
}

TEST(Bounds, NoRunOfAnySchedulerBeatsThem) {
  for (const char* const name : kSettings) {
    const Experiment experiment = setting(name, test::fewer_if_sanitized(1'000));
    const auto offered = make_offered(experiment, experiment.seed);
    ASSERT_TRUE(offered.ok()) << offered.error().message;
    const HitBound hits = most_hits(*offered);
    for (const std::string_view scheduler : policy::scheduler_names()) {
      Ends ends(offered->requests.size());
      auto world = sim::World::make(experiment,
                                    {.scheduler = std::string(scheduler), .seed = experiment.seed, .observer = &ends});
      ASSERT_TRUE(world.ok());
      const sim::RunResult result = (*world)->run();
      EXPECT_LE(result.met, hits.hits) << name << " " << scheduler;
      const Compared whole = compare(*offered, ends, Bill::whole), met = compare(*offered, ends, Bill::of_the_met);
      EXPECT_LE(whole.bound, whole.paid) << name << " " << scheduler;
      EXPECT_LE(met.bound, met.paid) << name << " " << scheduler;
      std::printf("%-16s %-16s hits %.3f of %.3f  dollars over bound %.3f, of the met %.3f  bound/met %.0f\n", name,
                  std::string(scheduler).c_str(), result.hit_rate(),
                  static_cast<double>(hits.hits) / static_cast<double>(hits.requests),
                  whole.bound > 0 ? whole.paid / whole.bound : 0, met.bound > 0 ? met.paid / met.bound : 0,
                  whole.bound * 3.6e6 / static_cast<double>(std::max<std::uint64_t>(1, result.met)));
    }
  }
}

}  // namespace
}  // namespace sluice::reproduce
