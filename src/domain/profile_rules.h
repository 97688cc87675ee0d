// What a profile may contain, said once: spec/ adds file, line and column, profile/ refuses what still slips through.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "domain/profile.h"

namespace sluice {

struct ProfileProblem {
  std::optional<std::size_t> row;  // from 0; absent: the whole table, or a model
  std::string field;               // as the documents call it: "vgpu", "mean_ms", "floor"
  std::string message;
  std::optional<std::size_t> repeats;  // the earlier row, where this one is its duplicate
  friend bool operator==(const ProfileProblem&, const ProfileProblem&) = default;
};

// Everything wrong with a profile, rows in order, at most limits::errors_reported_max; empty if it can be used.
[[nodiscard]] std::vector<ProfileProblem> problems_of(const ProfileTable& table);
[[nodiscard]] std::vector<ProfileProblem> problems_of(const ProfileModel& model);
// What is wrong with an integer before it is narrowed; `field` is "batch", "vcpu" or "vgpu".
[[nodiscard]] std::optional<std::string> integer_problem(std::string_view field, std::int64_t value);

}  // namespace sluice
