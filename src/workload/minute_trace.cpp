#include "workload/minute_trace.h"

#include <map>
#include <set>
#include <string_view>

#include "base/hash.h"
#include "base/text.h"
#include "domain/limits.h"
#include "workload/draws.h"
#include "workload/mix.h"

namespace sluice::workload {
namespace {

Status check_mapping(const std::map<std::string, std::string>& mapping, const AzureFunctions& counts) {
  std::set<std::string_view> functions;
  for (const FunctionCounts& row : counts.rows) functions.insert(row.function);
  for (const auto& [function, application] : mapping) {
    if (functions.contains(function)) continue;
    return Error{ErrorCode::not_found, str("mapping: the trace has no function '", printable(function, 80), "'")};
  }
  return Done{};
}

// The application that each row of `counts` calls.
Result<std::vector<std::uint32_t>> callees(const AzureFunctions& counts,
                                           const std::map<std::string, std::string>& mapping,
                                           std::span<const std::string> applications) {
  std::vector<std::uint32_t> out;
  for (const FunctionCounts& row : counts.rows) {
    if (const auto mapped = mapping.find(row.function); mapped != mapping.end()) {
      const Result<std::uint32_t> found = find_application(mapped->second, applications, "mapping");
      if (!found) return found.error();
      out.push_back(*found);
    } else {
      out.push_back(application_by_hash(row.function, applications.size()));
    }
  }
  return out;
}

}  // namespace

std::uint32_t application_by_hash(std::string_view function, std::size_t applications) {
  CHECK(applications > 0);
  Hash hash;
  hash.add(function);
  return static_cast<std::uint32_t>(hash.value() % applications);
}

Result<MinuteTrace> MinuteTrace::make(const AzureFunctions& counts, const Trace& trace,
                                      std::span<const std::string> applications) {
  CHECK(counts.ok() && !applications.empty());
  if (Status known = check_mapping(trace.mapping, counts); !known) return known.error();
  const auto callee = callees(counts, trace.mapping, applications);
  if (!callee) return callee.error();
  MinuteTrace out;
  out.rate_scale_ = trace.rate_scale;
  out.minute_ns_ = 60e9 * trace.time_scale;
  for (std::size_t minute = 0; minute < counts.minutes; ++minute) {
    std::vector<std::uint64_t> sums(applications.size());
    for (std::size_t row = 0; row < counts.rows.size(); ++row) sums[(*callee)[row]] += counts.rows[row].minutes[minute];
    double requests = 0;
    for (std::uint32_t application = 0; application < sums.size(); ++application) {
      if (sums[application] > 0) out.cells_.push_back({application, sums[application]});
      requests += static_cast<double>(sums[application]) * trace.rate_scale;
    }
    out.minute_ends_.push_back(out.cells_.size());
    if (requests <= limits::trace_minute_requests_max) continue;
    return Error{ErrorCode::too_large, str("rate_scale ", trace.rate_scale, " gives ", requests, " requests in minute ",
                                           counts.first_minute + static_cast<std::int64_t>(minute), "; the most is ",
                                           limits::trace_minute_requests_max)};
  }
  if (out.cells_.empty()) return Error{ErrorCode::invalid, "every count of the trace is 0"};
  return out;
}

std::optional<Instant> MinuteTrace::next(Rng& rng) {
  while (left_total_ == 0) {
    if (minutes_begun_ == minute_ends_.size()) return std::nullopt;
    begin_minute(rng);
  }
  place_ += (1 - place_) * least_uniform(left_total_, rng);
  const double minutes = static_cast<double>(minutes_begun_ - 1) + place_;
  const std::uint32_t application = take_one(rng);
  return Instant{.ns = minutes * minute_ns_, .application = application};
}

void MinuteTrace::begin_minute(Rng& rng) {
  const std::size_t begin = minutes_begun_ == 0 ? 0 : minute_ends_[minutes_begun_ - 1];
  const std::size_t end = minute_ends_[minutes_begun_++];
  left_.assign(cells_.begin() + static_cast<std::ptrdiff_t>(begin), cells_.begin() + static_cast<std::ptrdiff_t>(end));
  left_total_ = 0;
  for (Cell& cell : left_) {
    cell.count = round_at_random(static_cast<double>(cell.count) * rate_scale_, rng);
    left_total_ += cell.count;
  }
  place_ = 0;
}

// Each request that is left is equally likely to be the next: the instants of the applications are independent.
std::uint32_t MinuteTrace::take_one(Rng& rng) {
  std::uint64_t skip = rng.below(left_total_--);
  for (Cell& cell : left_) {
    if (skip < cell.count) {
      --cell.count;
      return cell.application;
    }
    skip -= cell.count;
  }
  CHECK(false);
  return 0;
}

}  // namespace sluice::workload
