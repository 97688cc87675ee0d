// Learner: how far one function's profile is off, learned from what executions measured. Core state: a plain value that
// is fed by BatchFinished, compared, hashed and saved.
// One factor per kind of device comes first, because a profile that is wrong is mostly wrong everywhere (another GPU,
// another clock): correcting only what was tried makes a planner flee to entries that are still wrong. Then a
// configuration that was run often enough moves away from its device's factor by its own ratios.
//
// Every estimate is the same rule (Window::adjust): keep what was believed, the profile first and the device next,
// unless the middle of the latest values lies elsewhere. kVotes votes for the belief make five samples the least that
// move it and a single outlier harmless.
//
// Known caveats: medians ignore rare stragglers (tail.h does not). A planner that runs one configuration only cannot
// tell its error from the device's. After a device changes, a configuration that is no longer run keeps its own ratios
// for kIdleMax executions of others.
#pragma once
#include <cstdint>
#include <vector>

#include "domain/configuration.h"
#include "profile/latency.h"
#include "profile/window.h"

namespace sluice::profile {

class Learner {
 public:
  static constexpr std::size_t kDeviceWindow = 32;  // executions of any configuration
  static constexpr std::size_t kOwnWindow = 16;     // executions of one configuration
  static constexpr std::size_t kSpreadWindow = 64;  // a spread needs more samples than a mean, and changes less
  static constexpr std::size_t kVotes = 4;
  static constexpr std::uint64_t kIdleMax = 128;  // executions of others after which a configuration starts over
  static constexpr std::size_t kConfigurationsMax = 128;  // remembered per device; the one idle longest goes first
  static constexpr double kTolerance = 0.03;

  // Everything a learner knows, to be saved and hashed. Values are oldest first; lists are sorted by their key.
  struct ConfigurationState {
    Configuration configuration;
    std::uint64_t last_run = 0;  // execution of the device, counted from 1
    std::vector<double> ratios;  // measured over planned
    void visit(auto& archive) { archive(configuration, last_run, ratios); }
  };
  struct DeviceState {
    DeviceKind device;
    std::uint64_t executions = 0;
    std::vector<double> ratios;
    std::vector<double> deviations;  // of a ratio from what was expected, relative
    std::vector<ConfigurationState> configurations;
    void visit(auto& archive) { archive(device, executions, ratios, deviations, configurations); }
  };
  using State = std::vector<DeviceState>;

  Learner() = default;
  // REQUIRES: `state` came from state().
  explicit Learner(const State& state);
  [[nodiscard]] State state() const;

  // One execution. `planned_mean_ms` is the profile's own answer for it (same batch and neighbours), not the
  // corrected one. REQUIRES: planned_mean_ms > 0, measured_ms ≥ 0.
  void observe(const Configuration& configuration, double planned_mean_ms, double measured_ms);

  // What to multiply the profile's mean with; 1 while nothing is known.
  [[nodiscard]] double factor(const Configuration& configuration) const;
  // Standard deviation over mean: `planned` until the distances from what was expected say otherwise, for all
  // configurations of a device together.
  [[nodiscard]] double relative_sd(DeviceKind device, double planned) const;
  // The profile's answer, corrected.
  [[nodiscard]] Latency corrected(const Configuration& configuration, const Latency& planned) const;

  // Whether plans made with `published`, an earlier copy, are off by more than kTolerance now that `observed` has run:
  // in the factor of its device, or in its own corrected mean or spread (the latter relative to the mean). Asked after
  // each observe() it misses only configurations that start over because they were idle.
  [[nodiscard]] bool changed_since(const Learner& published, const Configuration& observed,
                                   const Latency& planned) const;

  friend bool operator==(const Learner&, const Learner&) = default;

 private:
  struct Own {
    Configuration configuration;
    std::uint64_t last_run = 0;
    Window<kOwnWindow> ratios;
    friend bool operator==(const Own&, const Own&) = default;
  };
  struct Device {
    DeviceKind kind;
    std::uint64_t executions = 0;
    Window<kDeviceWindow> ratios;
    Window<kSpreadWindow> deviations;
    std::vector<Own> own;  // sorted by configuration
    [[nodiscard]] double factor() const { return ratios.adjust(1, kVotes); }
    [[nodiscard]] double factor(const Configuration& configuration) const;
    [[nodiscard]] Own& own_of(const Configuration& configuration);
    friend bool operator==(const Device&, const Device&) = default;
  };
  [[nodiscard]] const Device* find(DeviceKind kind) const;
  [[nodiscard]] Device& device_of(DeviceKind kind);

  std::vector<Device> devices_;  // sorted by kind
};

}  // namespace sluice::profile
