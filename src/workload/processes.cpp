#include "workload/processes.h"

#include <algorithm>
#include <cmath>

#include "base/portable_math.h"
#include "base/text.h"
#include "domain/limits.h"
#include "workload/range.h"

namespace sluice::workload {
namespace {

double ns_of(Duration duration) {
  return static_cast<double>(duration.count_ns());
}

Status check_rate(std::string_view field, double rate, double low = limits::rate_min) {
  return check_range(field, rate, low, limits::rate_max);
}

Status check_length(std::string_view field, Duration length, Duration shortest) {
  if (length >= shortest && length <= limits::duration_max) return Done{};
  return Error{ErrorCode::invalid, str(field, " is ", to_string(length), "; it must be from ", to_string(shortest),
                                       " to ", to_string(limits::duration_max))};
}

}  // namespace

Result<UniformGapProcess> UniformGapProcess::make(const UniformGap& gap) {
  if (Status low = check_length("the shortest gap", gap.low, Duration{}); !low) return low.error();
  const Duration least = std::max(gap.low, Duration::ns(1));
  if (Status high = check_length("the longest gap", gap.high, least); !high) return high.error();
  UniformGapProcess process;
  process.low_ns_ = ns_of(gap.low);
  process.high_ns_ = ns_of(gap.high);
  return process;
}

Instant UniformGapProcess::next(Rng& rng) {
  return {.ns = now_ns_ += rng.uniform(low_ns_, high_ns_)};
}

Result<RenewalProcess> RenewalProcess::make(const Renewal& renewal) {
  if (Status rate = check_rate("rate", renewal.rate); !rate) return rate.error();
  if (Status cv = check_range("cv", renewal.cv, 0, limits::gap_cv_max); !cv) return cv.error();
  RenewalProcess process;
  process.mean_ns_ = 1e9 / renewal.rate;
  process.cv_ = renewal.cv;
  const double square = renewal.cv * renewal.cv;
  if (renewal.cv > 1) process.short_share_ = (1 + std::sqrt((square - 1) / (square + 1))) / 2;
  return process;
}

Instant RenewalProcess::next(Rng& rng) {
  return {.ns = now_ns_ += mean_ns_ * gap(rng)};
}

double RenewalProcess::gap(Rng& rng) const {
  if (cv_ <= 1) return (1 - cv_) + cv_ * rng.exponential();
  // Balanced: short gaps and long gaps fill the same time, each half of it.
  const double share = rng.chance(short_share_) ? short_share_ : 1 - short_share_;
  return rng.exponential() / (2 * share);
}

Result<OnOffProcess> OnOffProcess::make(const OnOff& on_off) {
  if (Status rate = check_rate("on_rate", on_off.on_rate); !rate) return rate.error();
  if (Status rate = check_rate("off_rate", on_off.off_rate, 0); !rate) return rate.error();
  if (Status length = check_length("on", on_off.on, Duration::ns(1)); !length) return length.error();
  if (Status length = check_length("off", on_off.off, Duration{}); !length) return length.error();
  const double requests = on_off.on.to_s() * on_off.on_rate + on_off.off.to_s() * on_off.off_rate;
  if (requests < 1e-6) {  // next() would pass through millions of periods
    return Error{ErrorCode::invalid, str("an on and an off period have ", requests,
                                         " requests on average; it must be 1e-06 or more, so make them longer")};
  }
  OnOffProcess process;
  process.on_ = {.per_ns = on_off.on_rate / 1e9, .mean_ns = ns_of(on_off.on)};
  process.off_ = {.per_ns = on_off.off_rate / 1e9, .mean_ns = ns_of(on_off.off)};
  return process;
}

Instant OnOffProcess::next(Rng& rng) {
  for (;;) {
    if (const double rate = (is_on_ ? on_ : off_).per_ns; rate > 0) {
      const double arrival = now_ns_ + rng.exponential() / rate;
      if (arrival < end_ns_) return {.ns = now_ns_ = arrival};
    }
    // Exponential gaps have no memory: what was drawn beyond the period is forgotten.
    now_ns_ = end_ns_;
    is_on_ = !is_on_;
    end_ns_ += rng.exponential() * (is_on_ ? on_ : off_).mean_ns;
  }
}

Result<DiurnalProcess> DiurnalProcess::make(const Diurnal& diurnal) {
  if (Status rate = check_rate("rate", diurnal.rate); !rate) return rate.error();
  if (Status amplitude = check_range("amplitude", diurnal.amplitude, 0, 1); !amplitude) return amplitude.error();
  if (Status period = check_length("period", diurnal.period, Duration::ns(1)); !period) return period.error();
  DiurnalProcess process;
  process.peak_per_ns_ = diurnal.rate * (1 + diurnal.amplitude) / 1e9;
  process.amplitude_ = diurnal.amplitude;
  process.period_ns_ = ns_of(diurnal.period);
  return process;
}

Instant DiurnalProcess::next(Rng& rng) {
  for (;;) {
    now_ns_ += rng.exponential() / peak_per_ns_;
    const double turns = now_ns_ / period_ns_;
    const double relative = 1 + amplitude_ * portable_sine_of_turns(turns - std::floor(turns));
    if (rng.uniform() * (1 + amplitude_) < relative) return {.ns = now_ns_};
  }
}

Result<ListedProcess> ListedProcess::make(const Listed& listed) {
  if (!std::is_sorted(listed.at.begin(), listed.at.end()))
    return Error{ErrorCode::invalid, "the listed arrivals are not in order"};
  if (!listed.at.empty() && listed.at.front() < Duration{})
    return Error{ErrorCode::invalid, "the first listed arrival is before the start"};
  ListedProcess process;
  process.at_ = listed.at;
  return process;
}

std::optional<Instant> ListedProcess::next(Rng&) {
  if (next_ == at_.size()) return std::nullopt;
  return Instant{.ns = ns_of(at_[next_++])};
}

}  // namespace sluice::workload
