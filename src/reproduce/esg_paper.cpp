#include "reproduce/esg_paper.h"

#include <array>

namespace sluice::reproduce {
namespace {

struct MissRate {
  std::string_view setting, scheduler;
  double value;
};
constexpr std::array kMissRates{
    MissRate{"strict-light", "orion", 0.096},        MissRate{"moderate-normal", "orion", 0.2732},
    MissRate{"relaxed-heavy", "orion", 0.5168},      MissRate{"strict-light", "aquatope", 0.855},
    MissRate{"moderate-normal", "aquatope", 0.5985}, MissRate{"relaxed-heavy", "aquatope", 0.5872},
};

}  // namespace

std::optional<Known> known_number(std::string_view setting, std::string_view scheduler, std::string_view metric) {
  if (metric != "configuration_miss_rate") return std::nullopt;
  for (const MissRate& rate : kMissRates) {
    if (rate.setting == setting && rate.scheduler == scheduler) return Known{rate.value, Mark::stated};
  }
  return std::nullopt;
}

double least_hit_gain(std::string_view baseline) {
  return baseline == "orion" || baseline == "aquatope" ? 0.46 : 0.36;
}

}  // namespace sluice::reproduce
