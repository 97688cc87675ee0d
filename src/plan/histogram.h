// Histogram: the distribution of a latency as masses on a lattice of multiples of one width, to verify that a plan
// meets its percentile (percentiles do not add; distributions convolve).
//
// At most kBinsMax bins. What would need more is computed on a lattice twice as wide, four times, … A mass between two
// lattice points is split between them so that the mean stays exact; the variance grows by at most a quarter of the new
// width squared, so tails err on the safe side. Operands of different width meet on the wider lattice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace sluice::plan {

class Histogram {
 public:
  static constexpr std::size_t kBinsMax = 512;

  // REQUIRES, here and below: values and width are finite, value ≥ 0, width > 0.
  [[nodiscard]] static Histogram point(double value, double width);
  // Normal, cut at three standard deviations; what lies below 0 counts as 0. REQUIRES: mean ≥ 0, sd ≥ 0.
  [[nodiscard]] static Histogram from_normal(double mean, double sd, double width);
  // Each lattice point from `low` to `high` gets the mass within half a width of it, the outermost all the rest.
  // REQUIRES: cdf does not fall; 0 ≤ low ≤ high.
  [[nodiscard]] static Histogram from_cdf(const std::function<double(double)>& cdf, double low, double high,
                                          double width);

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] std::size_t bins() const { return mass_.size(); }
  [[nodiscard]] double mean() const;
  [[nodiscard]] double variance() const;
  [[nodiscard]] double at_most(double value) const;  // P(X ≤ value)
  // The smallest lattice point x with P(X ≤ x) ≥ q. REQUIRES: 0 < q ≤ 1.
  [[nodiscard]] double quantile(double q) const;

  // The sum of two independent times: stages in series.
  friend Histogram convolve(const Histogram& a, const Histogram& b);
  // The k-th smallest of independent times: a join that needs k branches. REQUIRES: 1 ≤ k ≤ parts.size().
  friend Histogram kth_of(std::span<const Histogram> parts, std::size_t k);
  // The largest of independent times: a join that needs all branches. REQUIRES: there is a part.
  friend Histogram max_of(std::span<const Histogram> parts);
  // The largest of n independent times with this distribution: a fan-out. REQUIRES: n ≥ 1.
  friend Histogram max_of(const Histogram& one, std::uint64_t n);
  // One of the parts, with probability by weight: alternatives. REQUIRES: as many weights as parts, ≥ 0, sum > 0.
  friend Histogram mixture(std::span<const Histogram> parts, std::span<const double> weights);

 private:
  Histogram(double width, std::int64_t first, std::vector<double> mass);
  // The distribution whose P(X ≤ x) is `f` of the parts' P(X ≤ x), at every lattice point x.
  [[nodiscard]] static Histogram combine(std::span<const Histogram> parts,
                                         const std::function<double(std::span<const double>)>& f);
  // From P(X ≤ lattice point), for the lattice points from `first` on.
  [[nodiscard]] static Histogram from_cumulative(double width, std::int64_t first, std::vector<double> cumulative);
  // REQUIRES: wider than now, or the same.
  [[nodiscard]] Histogram rebinned(double width) const;
  [[nodiscard]] double low() const { return value_of(0); }
  [[nodiscard]] double high() const { return value_of(mass_.size() - 1); }
  [[nodiscard]] double value_of(std::size_t bin) const {
    return (static_cast<double>(first_) + static_cast<double>(bin)) * width_;
  }

  double width_;
  std::int64_t first_;        // the lattice point of mass_[0]
  std::vector<double> mass_;  // sums to 1; neither end is 0
};

[[nodiscard]] Histogram convolve(const Histogram& a, const Histogram& b);
[[nodiscard]] Histogram kth_of(std::span<const Histogram> parts, std::size_t k);
[[nodiscard]] Histogram max_of(std::span<const Histogram> parts);
[[nodiscard]] Histogram max_of(const Histogram& one, std::uint64_t n);
[[nodiscard]] Histogram mixture(std::span<const Histogram> parts, std::span<const double> weights);

}  // namespace sluice::plan
