// The set-up of ESG's evaluation: four applications, sixteen machines, three objectives by three loads. What is stated
// by the paper and what is assumed is in docs/reproduce-esg.md. Tests compare it with examples/esg.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/experiment.h"

namespace sluice::reproduce {

enum class Slo { strict, moderate, relaxed };
enum class Load { light, normal, heavy };
inline constexpr std::array kSlos{Slo::strict, Slo::moderate, Slo::relaxed};
inline constexpr std::array kLoads{Load::light, Load::normal, Load::heavy};

struct Setting {
  Slo slo = Slo::strict;
  Load load = Load::light;
  friend auto operator<=>(const Setting&, const Setting&) = default;
};
[[nodiscard]] std::string_view name_of(Slo slo);
[[nodiscard]] std::string name_of(Setting setting);  // "strict-light"
[[nodiscard]] std::optional<Setting> setting_of(std::string_view name);
[[nodiscard]] std::span<const Setting> all_settings();       // by load, then objective
[[nodiscard]] std::span<const Setting> headline_settings();  // strict-light, moderate-normal, relaxed-heavy
[[nodiscard]] double scale_of(Slo slo);                      // of the objective: times L
[[nodiscard]] UniformGap gap_of(Load load);
[[nodiscard]] double heavy_rate();  // requests per second of the heavy load, over all applications

// Other profiles for some of the six functions, by name.
using Profiles = std::map<std::string, Profile>;
[[nodiscard]] std::span<const std::string_view> function_names();

// How much is played.
struct Length {
  std::uint64_t requests = 4'000;  // without warm-up
  std::uint64_t streams = 1;       // seeds 1, 2, …
  [[nodiscard]] std::uint64_t warmup() const { return requests < 2'000 ? requests : 2'000; }
  [[nodiscard]] std::uint64_t played() const { return requests + warmup(); }  // of one stream
};

// All of an experiment but objective and load; an error if a profile cannot be used.
[[nodiscard]] Result<Experiment> make_evaluation(const Profiles& profiles, const Length& length);
[[nodiscard]] Experiment with_setting(Experiment evaluation, Setting setting);

}  // namespace sluice::reproduce
