#include "workload/mix.h"

#include <algorithm>

#include "base/text.h"
#include "domain/limits.h"
#include "workload/range.h"

namespace sluice::workload {

Result<Mix> Mix::make(const std::map<std::string, double>& weights, std::span<const std::string> applications) {
  if (applications.empty()) return Error{ErrorCode::invalid, "the workload calls no application; name at least one"};
  std::vector<double> by_position(applications.size(), weights.empty() ? 1 : 0);
  for (const auto& [name, weight] : weights) {
    const Result<std::uint32_t> found = find_application(name, applications, "mix");
    if (!found) return found.error();
    if (Status range = check_range(str("mix.", name), weight, 0, limits::mix_weight_max); !range) return range.error();
    by_position[*found] = weight;
  }
  Mix mix;
  double sum = 0;
  for (const double weight : by_position) mix.up_to_.push_back(sum += weight);
  if (sum <= 0) return Error{ErrorCode::invalid, "mix: no application has a positive weight"};
  return mix;
}

std::uint32_t Mix::draw(Rng& rng) const {
  // Strictly above the draw, so that an application of weight 0 is never the first.
  const auto found = std::ranges::upper_bound(up_to_, rng.uniform() * up_to_.back());
  CHECK(found != up_to_.end());
  return static_cast<std::uint32_t>(found - up_to_.begin());
}

Result<std::uint32_t> find_application(std::string_view name, std::span<const std::string> applications,
                                       std::string_view where) {
  const auto found = std::ranges::find(applications, name);
  if (found != applications.end()) return static_cast<std::uint32_t>(found - applications.begin());
  const std::vector<std::string_view> names(applications.begin(), applications.end());
  const auto near = nearest(name, names);
  const std::string hint = near ? str("; did you mean '", *near, "'?") : "";
  return Error{ErrorCode::not_found, str(where, ": there is no application '", printable(name), "'", hint)};
}

}  // namespace sluice::workload
