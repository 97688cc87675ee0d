// ModelTimes: a profile given as a formula, with its powers tabulated. Part of FunctionProfile, which states the rules;
// nobody else uses it.
#pragma once
#include <cstdint>
#include <vector>

#include "domain/profile.h"
#include "profile/latency.h"

namespace sluice::profile {

class ModelTimes {
 public:
  // REQUIRES: problems_of(model) is empty (domain/profile_rules.h).
  explicit ModelTimes(const ProfileModel& model);

  [[nodiscard]] static bool knows(DeviceKind device) { return !device.is_cpu(); }
  // REQUIRES: knows(configuration.device), slices ≥ 1. Table lookups within the model's sets, no allocation.
  [[nodiscard]] Latency latency(const Configuration& configuration) const;

 private:
  // n^exponent for n up to the largest of a set; the smallest tells where the model was meant to hold.
  struct Powers {
    Powers(const std::vector<std::uint16_t>& set, double power);
    [[nodiscard]] double of(std::uint32_t n) const;
    [[nodiscard]] bool holds(std::uint32_t n) const { return n >= least && n < table.size(); }
    double exponent;
    std::uint32_t least;
    std::vector<double> table;
  };

  double exec_ms_, floor_, cpu_, gpu_, noise_;
  Powers batch_, vcpu_, slices_;
};

}  // namespace sluice::profile
