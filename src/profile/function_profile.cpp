#include "profile/function_profile.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "domain/profile_rules.h"

namespace sluice::profile {
namespace {

Error error_of(const ProfileProblem& problem) {
  std::string message = problem.row ? str("profile row ", *problem.row + 1, ": ") : std::string("profile: ");
  message += problem.message;
  if (problem.repeats) message += str(" (row ", *problem.repeats + 1, ")");
  return {ErrorCode::invalid, std::move(message)};
}

std::vector<Configuration> candidates_of(const ProfileTable& table) {
  std::vector<Configuration> all;
  all.reserve(table.rows.size());
  for (const ProfileRow& row : table.rows) all.push_back(row.configuration);
  return all;
}

std::vector<Configuration> candidates_of(const ProfileModel& model) {
  std::vector<Configuration> all;
  all.reserve(model.batch.size() * model.vcpu.size() * model.slices.size());
  for (const std::uint16_t batch : model.batch) {
    for (const std::uint16_t vcpu : model.vcpu) {
      for (const std::uint16_t slices : model.slices) all.push_back({batch, vcpu, slices, DeviceKind::gpu()});
    }
  }
  return all;
}

std::vector<Configuration> sorted_unique(std::vector<Configuration> all) {
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

FunctionProfile::FunctionProfile(Times times, std::vector<Configuration> configurations)
    : times_(std::move(times)), configurations_(std::move(configurations)) {}

Result<FunctionProfile> FunctionProfile::make(const Profile& profile) {
  if (const auto* table = std::get_if<ProfileTable>(&profile)) {
    if (const auto problems = problems_of(*table); !problems.empty()) return error_of(problems.front());
    return FunctionProfile(TableTimes(*table), sorted_unique(candidates_of(*table)));
  }
  if (const auto* model = std::get_if<ProfileModel>(&profile)) {
    if (const auto problems = problems_of(*model); !problems.empty()) return error_of(problems.front());
    return FunctionProfile(ModelTimes(*model), sorted_unique(candidates_of(*model)));
  }
  return Error{ErrorCode::unavailable, "there is no profile yet; give a table or a model, or measure it"};
}

Result<FunctionProfile> FunctionProfile::make(const Function& function) {
  Result<FunctionProfile> result = make(function.profile);
  if (result.ok()) return result;
  return Error{result.error().code, str("function ", printable(function.name), ": ", result.error().message)};
}

bool FunctionProfile::knows(DeviceKind device) const {
  return std::visit([&](const auto& times) { return times.knows(device); }, times_);
}

Latency FunctionProfile::latency(const Configuration& configuration, bool busy) const {
  CHECK(configuration.batch >= 1);
  const auto* table = std::get_if<TableTimes>(&times_);
  Latency latency = table ? table->latency(configuration, busy) : std::get<ModelTimes>(times_).latency(configuration);
  const double most = limits::duration_max.to_ms();  // so that it still fits a Duration
  latency.mean_ms = std::min(latency.mean_ms, most);
  latency.sd_ms = std::min(latency.sd_ms, most);
  return latency;
}

Latency FunctionProfile::beside(const Configuration& configuration, double neighbours) const {
  const Latency alone = latency(configuration);
  if (neighbours <= 0) return alone;
  const Latency busy = latency(configuration, true);
  return {.mean_ms = alone.mean_ms + neighbours * (busy.mean_ms - alone.mean_ms),
          .sd_ms = alone.sd_ms + neighbours * (busy.sd_ms - alone.sd_ms),
          .extrapolated = alone.extrapolated};
}

}  // namespace sluice::profile
