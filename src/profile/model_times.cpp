#include "profile/model_times.h"

#include <algorithm>

#include "base/check.h"

namespace sluice::profile {
namespace {
constexpr double kVcpuExponent = 0.8;  // of the formula in domain/profile.h
}

ModelTimes::Powers::Powers(const std::vector<std::uint16_t>& set, double power)
    : exponent(power), least(*std::ranges::min_element(set)) {
  const std::uint32_t most = *std::ranges::max_element(set);
  table.reserve(most + 1);
  table.push_back(0);
  for (std::uint32_t n = 1; n <= most; ++n) table.push_back(portable_pow(n, power));
}

double ModelTimes::Powers::of(std::uint32_t n) const {
  return n < table.size() ? table[n] : portable_pow(n, exponent);
}

ModelTimes::ModelTimes(const ProfileModel& model)
    : exec_ms_(model.exec.to_ms()),
      floor_(model.floor),
      cpu_(model.cpu),
      gpu_(model.gpu),
      noise_(model.noise),
      batch_(model.batch, model.beta),
      vcpu_(model.vcpu, kVcpuExponent),
      slices_(model.slices, model.gamma) {}

Latency ModelTimes::latency(const Configuration& c) const {
  CHECK_MSG(knows(c.device) && c.slices > 0, "a model has no times for the CPU");
  const std::uint32_t useful_vcpu = std::clamp(std::uint32_t{c.vcpu}, 1u, 2u * c.batch);
  const double gpu = gpu_ * batch_.of(c.batch) / slices_.of(c.slices);
  const double cpu = cpu_ * c.batch / vcpu_.of(useful_vcpu);
  const double mean_ms = exec_ms_ * (floor_ + gpu + cpu);
  // Every batch up to the largest is within the model; more or fewer vCPUs and slices than it lists are not.
  const bool within = c.batch < batch_.table.size() && vcpu_.holds(c.vcpu) && slices_.holds(c.slices);
  return {mean_ms, mean_ms * noise_, !within};
}

}  // namespace sluice::profile
