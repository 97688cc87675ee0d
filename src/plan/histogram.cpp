#include "plan/histogram.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace sluice::plan {
namespace {

// Where a value lies on the lattice: between `low` and `low` + 1, with the part of its mass that goes up.
struct Place {
  std::int64_t low = 0;
  double up = 0;
};

// Values within rounding of a lattice point lie on it.
Place place_of(double value, double width) {
  CHECK(value >= 0 && width > 0 && value / width < 1e15);
  constexpr double kNear = 1e-9;
  const double position = value / width, low = std::floor(position), up = position - low;
  if (up < kNear) return {.low = static_cast<std::int64_t>(low)};
  if (up > 1 - kNear) return {.low = static_cast<std::int64_t>(low) + 1};
  return {.low = static_cast<std::int64_t>(low), .up = up};
}

// The normal distribution function within three standard deviations. Taylor's series of the error function, from basic
// operations only, so that it is the same bits everywhere; absolute error below 1e-14.
double normal_cdf(double z) {
  const double x = z * 0.70710678118654752440, square = x * x;
  double term = x, sum = x;  // term = (-1)^n x^(2n+1) / n!
  for (int n = 1; n < 45; ++n) {
    term *= -square / n;
    sum += term / (2 * n + 1);
  }
  return 0.5 + sum * 0.56418958354775628695;  // 1 / sqrt(pi)
}

}  // namespace

Histogram::Histogram(double width, std::int64_t first, std::vector<double> mass) : width_(width), first_(first) {
  const auto has_mass = [](double m) { return m > 0; };
  const auto begin = std::find_if(mass.begin(), mass.end(), has_mass);
  const auto end = std::find_if(mass.rbegin(), mass.rend(), has_mass).base();
  CHECK(begin < end && end - begin <= static_cast<std::ptrdiff_t>(kBinsMax));
  first_ += begin - mass.begin();
  mass_.assign(begin, end);
}

Histogram Histogram::point(double value, double width) {
  const Place place = place_of(value, width);
  return Histogram(width, place.low, {1 - place.up, place.up});
}

Histogram Histogram::from_normal(double mean, double sd, double width) {
  CHECK(mean >= 0 && sd >= 0);
  if (sd == 0) return point(mean, width);
  const double cut = normal_cdf(-3), within = 1 - 2 * cut;
  const auto cdf = [&](double x) { return (normal_cdf(std::clamp((x - mean) / sd, -3.0, 3.0)) - cut) / within; };
  return from_cdf(cdf, std::max(0.0, mean - 3 * sd), mean + 3 * sd, width);
}

Histogram Histogram::from_cdf(const std::function<double(double)>& cdf, double low, double high, double width) {
  CHECK(0 <= low && low <= high);
  while (high / width - low / width > static_cast<double>(kBinsMax - 2)) width *= 2;
  const auto first = static_cast<std::int64_t>(std::llround(low / width));
  const auto last = static_cast<std::int64_t>(std::llround(high / width));
  std::vector<double> cumulative;
  for (std::int64_t i = first; i < last; ++i) cumulative.push_back(cdf((static_cast<double>(i) + 0.5) * width));
  cumulative.push_back(1);
  return from_cumulative(width, first, std::move(cumulative));
}

Histogram Histogram::from_cumulative(double width, std::int64_t first, std::vector<double> cumulative) {
  double below = 0;
  for (double& c : cumulative) {
    const double mass = std::max(0.0, c - below);  // rounding must not make a mass negative
    below = std::max(below, c);
    c = mass;
  }
  return Histogram(width, first, std::move(cumulative));
}

double Histogram::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < mass_.size(); ++i) sum += mass_[i] * value_of(i);
  return sum;
}

double Histogram::variance() const {
  const double center = mean();
  double sum = 0;
  for (std::size_t i = 0; i < mass_.size(); ++i) sum += mass_[i] * (value_of(i) - center) * (value_of(i) - center);
  return sum;
}

double Histogram::at_most(double value) const {
  if (value < low()) return 0;
  if (value >= high()) return 1;
  const std::int64_t point = place_of(value, width_).low;
  double sum = 0;
  for (std::size_t i = 0; i < mass_.size() && first_ + static_cast<std::int64_t>(i) <= point; ++i) sum += mass_[i];
  return sum;
}

double Histogram::quantile(double q) const {
  CHECK(q > 0 && q <= 1);
  constexpr double kRounding = 1e-12;  // masses that should add up to q may stay a little below
  double sum = 0;
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    sum += mass_[i];
    if (sum >= q - kRounding) return value_of(i);
  }
  return high();
}

Histogram Histogram::rebinned(double width) const {
  if (width == width_) return *this;
  const std::int64_t first = place_of(low(), width).low;
  const std::int64_t last = place_of(high(), width).low + 1;
  std::vector<double> mass(static_cast<std::size_t>(last - first + 1), 0.0);
  for (std::size_t i = 0; i < mass_.size(); ++i) {
    const Place place = place_of(value_of(i), width);
    const auto bin = static_cast<std::size_t>(place.low - first);
    mass[bin] += mass_[i] * (1 - place.up);
    if (place.up > 0) mass[bin + 1] += mass_[i] * place.up;
  }
  return Histogram(width, first, std::move(mass));
}

}  // namespace sluice::plan
