// The operations of Histogram that make one distribution of several.
#include <algorithm>
#include <utility>

#include "base/check.h"
#include "plan/histogram.h"

namespace sluice::plan {
namespace {

// P(at least k of independent events happen), k ≥ 1.
double at_least(std::span<const double> probabilities, std::size_t k) {
  std::vector<double> exactly(k + 1, 0.0);  // exactly[j]: j so far; exactly[k]: k or more
  exactly[0] = 1;
  for (const double p : probabilities) {
    exactly[k] += exactly[k - 1] * p;
    for (std::size_t j = k - 1; j > 0; --j) exactly[j] = exactly[j] * (1 - p) + exactly[j - 1] * p;
    exactly[0] *= 1 - p;
  }
  return exactly[k];
}

double power(double base, std::uint64_t exponent) {
  double result = 1;
  for (; exponent > 0; exponent /= 2, base *= base) {
    if (exponent % 2 != 0) result *= base;
  }
  return result;
}

}  // namespace

Histogram Histogram::combine(std::span<const Histogram> parts,
                             const std::function<double(std::span<const double>)>& f) {
  CHECK(!parts.empty());
  double width = 0, low = parts[0].low(), high = 0;
  for (const Histogram& part : parts) {
    width = std::max(width, part.width_);
    low = std::min(low, part.low());
    high = std::max(high, part.high());
  }
  while ((high - low) / width > static_cast<double>(kBinsMax - 2)) width *= 2;  // 2: splitting may add one at each end
  std::vector<Histogram> aligned;
  for (const Histogram& part : parts) aligned.push_back(part.rebinned(width));

  const auto lower = [](const Histogram& a, const Histogram& b) { return a.first_ < b.first_; };
  const std::int64_t first = std::min_element(aligned.begin(), aligned.end(), lower)->first_;
  std::vector<double> reached(parts.size(), 0.0), cumulative;  // reached: P(X ≤ here) by part
  const auto unfinished = [&](const Histogram& part) {
    return first + static_cast<std::int64_t>(cumulative.size()) < part.first_ + static_cast<std::int64_t>(part.bins());
  };
  while (std::any_of(aligned.begin(), aligned.end(), unfinished)) {
    const std::int64_t here = first + static_cast<std::int64_t>(cumulative.size());
    for (std::size_t i = 0; i < aligned.size(); ++i) {
      const std::int64_t bin = here - aligned[i].first_, last = static_cast<std::int64_t>(aligned[i].bins()) - 1;
      if (bin >= 0 && bin < last) reached[i] += aligned[i].mass_[static_cast<std::size_t>(bin)];
      if (bin >= last) reached[i] = 1;  // and not a rounding error less, which a large fan-out would multiply
    }
    cumulative.push_back(f(reached));
  }
  return from_cumulative(width, first, std::move(cumulative));
}

Histogram convolve(const Histogram& a, const Histogram& b) {
  double width = std::max(a.width_, b.width_);
  const double range = (a.high() - a.low()) + (b.high() - b.low());
  while (range / width > static_cast<double>(Histogram::kBinsMax - 5)) width *= 2;  // 5: what splitting can add
  const Histogram x = a.rebinned(width), y = b.rebinned(width);
  std::vector<double> mass(x.bins() + y.bins() - 1, 0.0);
  for (std::size_t i = 0; i < x.bins(); ++i) {
    for (std::size_t j = 0; j < y.bins(); ++j) mass[i + j] += x.mass_[i] * y.mass_[j];
  }
  return Histogram(width, x.first_ + y.first_, std::move(mass));
}

Histogram kth_of(std::span<const Histogram> parts, std::size_t k) {
  CHECK(1 <= k && k <= parts.size());
  return Histogram::combine(parts, [&](std::span<const double> reached) { return at_least(reached, k); });
}

Histogram max_of(std::span<const Histogram> parts) {
  return Histogram::combine(parts, [](std::span<const double> reached) {
    double all = 1;
    for (const double p : reached) all *= p;
    return all;
  });
}

Histogram max_of(const Histogram& one, std::uint64_t n) {
  CHECK(n >= 1);
  return Histogram::combine({&one, 1}, [&](std::span<const double> reached) { return power(reached[0], n); });
}

Histogram mixture(std::span<const Histogram> parts, std::span<const double> weights) {
  CHECK(parts.size() == weights.size());
  double total = 0;
  for (const double weight : weights) total += weight;
  CHECK(total > 0);
  return Histogram::combine(parts, [&](std::span<const double> reached) {
    double sum = 0;
    for (std::size_t i = 0; i < reached.size(); ++i) sum += reached[i] * weights[i];
    return sum / total;
  });
}

}  // namespace sluice::plan
