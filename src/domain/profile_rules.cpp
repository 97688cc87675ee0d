#include "domain/profile_rules.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "domain/limits.h"

namespace sluice {
namespace {

// batch^8 is steeper than anything that runs, and still far from overflow at batch_max.
constexpr double kExponentMax = 8;
constexpr double kNoiseMax = 10;
constexpr double kSumTolerance = 1e-6;

class Problems {
 public:
  void at_row(std::size_t row) { row_ = row; }
  void add(std::string_view field, std::optional<std::string> message) {
    if (message && !full()) list_.push_back({row_, std::string(field), std::move(*message), std::nullopt});
  }
  void add_repeated(std::size_t first) {
    if (full()) return;
    add("batch", "same configuration as an earlier row; keep one of them");
    list_.back().repeats = first;
  }
  [[nodiscard]] bool full() const { return list_.size() >= limits::errors_reported_max; }
  [[nodiscard]] std::vector<ProfileProblem> take() && { return std::move(list_); }

 private:
  std::vector<ProfileProblem> list_;
  std::optional<std::size_t> row_;
};

// A time of 0 is refused because a learned factor could never correct it.
std::optional<std::string> time_problem(std::string_view field, double ms) {
  const double most = limits::duration_max.to_ms();
  if (ms > 0 && ms <= most) return std::nullopt;  // NaN compares false
  return str(field, " is ", ms, "; it must be above 0 and at most ", most, " ms");
}

std::optional<std::string> range_problem(std::string_view field, double value, double least, double most) {
  if (value >= least && value <= most) return std::nullopt;
  return str(field, " is ", value, "; it must be a number from ", least, " to ", most);
}

void check_device(Problems& problems, const Configuration& c) {
  const std::string_view device = c.device.name();
  if (device.empty() || device.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") != std::string_view::npos) {
    problems.add("device",
                 str("device is '", printable(device), "'; use lower-case letters, digits, '-', '_' and '.'"));
  } else if (c.slices == 0 && !c.device.is_cpu()) {
    problems.add("device", str("device is ", device, " but vgpu is 0; give at least one slice or write cpu"));
  } else if (c.slices > 0 && c.device.is_cpu()) {
    problems.add("device", str("device is cpu but vgpu is ", c.slices, "; write vgpu 0 or the kind of GPU"));
  }
}

void check_row(Problems& problems, const ProfileRow& row) {
  problems.add("batch", integer_problem("batch", row.configuration.batch));
  problems.add("vcpu", integer_problem("vcpu", row.configuration.vcpu));
  problems.add("vgpu", integer_problem("vgpu", row.configuration.slices));
  check_device(problems, row.configuration);
  if (row.size != 1) {
    problems.add("size", str("size is ", row.size, "; requests have no size, so keep the rows of size 1 alone"));
  }
  problems.add("mean_ms", time_problem("mean_ms", row.mean_ms));
  problems.add("sd_ms", range_problem("sd_ms", row.sd_ms, 0, limits::duration_max.to_ms()));
  if (row.busy_mean_ms) problems.add("busy_mean_ms", time_problem("busy_mean_ms", *row.busy_mean_ms));
}

// For every row the first row that says something about the same configuration; itself if there is none before.
std::vector<std::size_t> first_alike(const std::vector<ProfileRow>& rows) {
  std::vector<std::size_t> order(rows.size()), first(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  first = order;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::tie(rows[a].configuration, a) < std::tie(rows[b].configuration, b);
  });
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (rows[order[i]].configuration == rows[order[i - 1]].configuration) first[order[i]] = first[order[i - 1]];
  }
  return first;
}

void check_shares(Problems& problems, const ProfileModel& model) {
  for (const auto& [field, share] : {std::pair{"floor", model.floor}, {"cpu", model.cpu}, {"gpu", model.gpu}}) {
    problems.add(field, range_problem(field, share, 0, 1));
  }
  const double sum = model.floor + model.cpu + model.gpu;
  if (std::abs(sum - 1) <= kSumTolerance) return;
  problems.add("floor", str("floor ", model.floor, " + cpu ", model.cpu, " + gpu ", model.gpu, " is ", sum,
                            ", not 1; they are shares of exec, so change one of them by ", 1 - sum));
}

void check_set(Problems& problems, std::string_view field, const std::vector<std::uint16_t>& values) {
  if (values.empty()) problems.add(field, str(field, " is empty; list at least one value, such as [1]"));
  for (const std::uint16_t value : values) {
    if (value == 0 && field == "vgpu") {
      problems.add(field, "vgpu contains 0, but the model divides by slices; use a table for CPU rows");
    } else if (value == 0 && field == "vcpu") {
      problems.add(field, "vcpu contains 0, but the model divides by vCPUs; use a table for rows without vCPUs");
    } else {
      problems.add(field, integer_problem(field, value));
    }
  }
}

}  // namespace

std::optional<std::string> integer_problem(std::string_view field, std::int64_t value) {
  const bool is_batch = field == "batch", is_vcpu = field == "vcpu";
  CHECK(is_batch || is_vcpu || field == "vgpu");
  const std::int64_t least = is_batch ? 1 : 0;
  const std::int64_t most = is_batch ? limits::batch_max : is_vcpu ? limits::vcpu_max : limits::slices_per_gpu_max;
  if (value >= least && value <= most) return std::nullopt;
  return str(field, " is ", value, "; it must be a whole number from ", least, " to ", most);
}

std::vector<ProfileProblem> problems_of(const ProfileTable& table) {
  Problems problems;
  if (table.rows.empty()) {
    problems.add("table", "the table has no rows; add one, or leave the profile out and it is measured");
  }
  if (table.rows.size() > limits::profile_rows_max) {
    problems.add("table", str("the table has ", table.rows.size(), " rows; the most is ", limits::profile_rows_max));
    return std::move(problems).take();
  }
  const std::vector<std::size_t> first = first_alike(table.rows);
  for (std::size_t i = 0; i < table.rows.size() && !problems.full(); ++i) {
    problems.at_row(i);
    check_row(problems, table.rows[i]);
    if (first[i] == i) continue;
    problems.add_repeated(first[i]);
  }
  return std::move(problems).take();
}

std::vector<ProfileProblem> problems_of(const ProfileModel& model) {
  Problems problems;
  problems.add("exec", time_problem("exec", model.exec.to_ms()));
  check_shares(problems, model);
  for (const auto& [field, exponent] : {std::pair{"beta", model.beta}, {"gamma", model.gamma}}) {
    if (exponent > 0 && exponent <= kExponentMax) continue;
    problems.add(field, str(field, " is ", exponent, "; it must be above 0 and at most ", kExponentMax));
  }
  check_set(problems, "batch", model.batch);
  check_set(problems, "vcpu", model.vcpu);
  check_set(problems, "vgpu", model.slices);
  problems.add("noise", range_problem("noise", model.noise, 0, kNoiseMax));
  const std::size_t candidates = model.batch.size() * model.vcpu.size() * model.slices.size();
  if (candidates > limits::profile_rows_max) {
    problems.add("batch", str("batch × vcpu × vgpu are ", candidates, " configurations; the most is ",
                              limits::profile_rows_max, ", so list fewer values"));
  }
  return std::move(problems).take();
}

}  // namespace sluice
