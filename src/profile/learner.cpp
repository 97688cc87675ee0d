#include "profile/learner.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace sluice::profile {
namespace {

// A time that is off by more than this is not a time; it also keeps factors positive and finite.
constexpr double kRatioMax = 1000;
// Of normally distributed values half lie within the standard deviation divided by this.
constexpr double kMedianToSd = 1.4826;

bool differs(double published, double current) {
  return std::abs(current - published) > Learner::kTolerance * published;
}

template <std::size_t N>
std::vector<double> values_of(const Window<N>& window) {
  return {window.recent().begin(), window.recent().end()};
}

template <std::size_t N>
void fill(Window<N>& window, const std::vector<double>& values) {
  for (const double value : values) window.push(value);
}

}  // namespace

void Learner::observe(const Configuration& configuration, double planned_mean_ms, double measured_ms) {
  CHECK(planned_mean_ms > 0 && measured_ms >= 0);
  Device& device = device_of(configuration.device);
  const double ratio = std::clamp(measured_ms / planned_mean_ms, 1 / kRatioMax, kRatioMax);
  const double expected = device.factor(configuration);
  Own& own = device.own_of(configuration);
  own.ratios.push(ratio);
  own.last_run = ++device.executions;
  device.ratios.push(ratio);
  device.deviations.push(std::abs(ratio / expected - 1));
}

double Learner::factor(const Configuration& configuration) const {
  const Device* device = find(configuration.device);
  return device ? device->factor(configuration) : 1;
}

double Learner::relative_sd(DeviceKind device, double planned) const {
  const Device* known = find(device);
  return known ? kMedianToSd * known->deviations.adjust(planned / kMedianToSd, kVotes) : planned;
}

Latency Learner::corrected(const Configuration& configuration, const Latency& planned) const {
  const double mean_ms = planned.mean_ms * factor(configuration);
  const double planned_relative_sd = planned.mean_ms > 0 ? planned.sd_ms / planned.mean_ms : 0;
  return {mean_ms, mean_ms * relative_sd(configuration.device, planned_relative_sd), planned.extrapolated};
}

bool Learner::changed_since(const Learner& published, const Configuration& observed, const Latency& planned) const {
  const Device* then = published.find(observed.device);
  const Device* now = find(observed.device);
  if (differs(then ? then->factor() : 1, now ? now->factor() : 1)) return true;
  const Latency before = published.corrected(observed, planned), after = corrected(observed, planned);
  return differs(before.mean_ms, after.mean_ms) || std::abs(after.sd_ms - before.sd_ms) > kTolerance * before.mean_ms;
}

double Learner::Device::factor(const Configuration& configuration) const {
  const auto found = std::ranges::lower_bound(own, configuration, {}, &Own::configuration);
  const bool known = found != own.end() && found->configuration == configuration;
  return known && executions - found->last_run <= kIdleMax ? found->ratios.adjust(factor(), kVotes) : factor();
}

Learner::Own& Learner::Device::own_of(const Configuration& configuration) {
  auto found = std::ranges::lower_bound(own, configuration, {}, &Own::configuration);
  if (found != own.end() && found->configuration == configuration) {
    if (executions - found->last_run > kIdleMax) found->ratios = {};
    return *found;
  }
  if (own.size() == kConfigurationsMax) {
    own.erase(std::ranges::min_element(own, {}, &Own::last_run));
    found = std::ranges::lower_bound(own, configuration, {}, &Own::configuration);
  }
  return *own.insert(found, {.configuration = configuration, .last_run = executions, .ratios = {}});
}

const Learner::Device* Learner::find(DeviceKind kind) const {
  const auto found = std::ranges::lower_bound(devices_, kind, {}, &Device::kind);
  return found != devices_.end() && found->kind == kind ? &*found : nullptr;
}

Learner::Device& Learner::device_of(DeviceKind kind) {
  const auto found = std::ranges::lower_bound(devices_, kind, {}, &Device::kind);
  if (found != devices_.end() && found->kind == kind) return *found;
  return *devices_.insert(found, {.kind = kind, .ratios = {}, .deviations = {}, .own = {}});
}

Learner::Learner(const State& state) {
  for (const DeviceState& saved : state) {
    Device& device = device_of(saved.device);
    device.executions = saved.executions;
    fill(device.ratios, saved.ratios);
    fill(device.deviations, saved.deviations);
    for (const ConfigurationState& one : saved.configurations) {
      device.own.push_back({.configuration = one.configuration, .last_run = one.last_run, .ratios = {}});
      fill(device.own.back().ratios, one.ratios);
    }
  }
}

Learner::State Learner::state() const {
  State state;
  for (const Device& device : devices_) {
    state.push_back({device.kind, device.executions, values_of(device.ratios), values_of(device.deviations), {}});
    for (const Own& own : device.own) {
      state.back().configurations.push_back({own.configuration, own.last_run, values_of(own.ratios)});
    }
  }
  return state;
}

}  // namespace sluice::profile
