// Many models, little memory: all schedulers of the catalog in worlds with more models than the GPUs hold. The tables
// are in docs/many-models.md.
//   many_models_bench               the world of 40 applications, 108 GB of models on 60 GB of device memory
//   many_models_bench FIRST LAST    random worlds of these seeds
//   … then names of schedulers; none: all
//   … and NAME=VALUE for parameters of sluice
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "policy/catalog.h"
#include "sim/many_models.h"
#include "sim/world.h"

namespace {

using namespace sluice;

constexpr std::uint64_t kEventsMax = 100'000;  // a run that ends has some ten thousand

void compare(const sim::ManyModels& world, const std::vector<std::string>& schedulers,
             const policy::Parameters& parameters) {
  std::printf("seed %llu: %s\n", static_cast<unsigned long long>(world.seed), sim::describe(world).c_str());
  std::printf(
      "| scheduler | met %% | cold starts waited for | loads | refused %% | p50 ms | µ$ a request "
      "|\n|---|---|---|---|---|---|---|\n");
  Experiment experiment = sim::many_models(world);
  experiment.parameters["sluice"] = parameters;
  for (const std::string& name : schedulers) {
    auto made = sim::World::make(experiment, {.scheduler = name, .until_event = kEventsMax});
    const sim::RunResult r = (*made)->run();
    const double n = r.requests == 0 ? 1 : static_cast<double>(r.requests);
    std::printf("| %s | %.2f | %.0f | %llu | %.2f | %.0f | %.1f |%s\n", name.c_str(), 100 * r.hit_rate(),
                static_cast<double>(r.cold_batches), static_cast<unsigned long long>(r.cold_starts),
                100 * static_cast<double>(r.rejected) / n, r.latency.quantile_ms(0.5), 1e6 * r.cost / n,
                r.events >= kEventsMax ? " never ends"
                : r.violation          ? r.violation->invariant.c_str()
                                       : "");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc), names;
  std::vector<std::uint64_t> seeds;
  policy::Parameters parameters;
  for (const std::string& word : words) {
    if (const std::size_t equals = word.find('='); equals != std::string::npos)
      parameters[word.substr(0, equals)] = std::strtod(word.c_str() + equals + 1, nullptr);
    else if (word.find_first_not_of("0123456789") == std::string::npos)
      seeds.push_back(std::strtoull(word.c_str(), nullptr, 10));
    else
      names.push_back(word);
  }
  if (names.empty()) names.assign(policy::scheduler_names().begin(), policy::scheduler_names().end());
  if (seeds.empty()) compare({}, names, parameters);
  for (std::uint64_t seed = seeds.empty() ? 1 : seeds.front(); !seeds.empty() && seed <= seeds.back(); ++seed)
    compare(sim::random_many_models(seed), names, parameters);
}
