// GaussianProcess: a smooth guess of an unknown function from noisy values at a few points, with its own doubt. Used by
// the configuration search of Aquatope (aquatope.h). Matérn 5/2 covariance; values are standardised, so the prior is
// mean 0 and variance 1; A = K + noise · I, mean = k'A⁻¹y, variance = 1 - k'A⁻¹k. The same bits everywhere
// (docs/decisions/gaussian-processes.md).
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace sluice::plan {

// Points of one space, one after the other.
class Points {
 public:
  // REQUIRES: dimensions ≥ 1.
  explicit Points(std::size_t dimensions) : dimensions_(dimensions) { CHECK(dimensions >= 1); }
  void add(std::span<const double> point) {
    CHECK(point.size() == dimensions_);
    coordinates_.insert(coordinates_.end(), point.begin(), point.end());
  }
  [[nodiscard]] std::size_t dimensions() const { return dimensions_; }
  [[nodiscard]] std::size_t size() const { return coordinates_.size() / dimensions_; }
  [[nodiscard]] std::span<const double> operator[](std::size_t i) const {
    return {coordinates_.data() + i * dimensions_, dimensions_};
  }

 private:
  std::size_t dimensions_;
  std::vector<double> coordinates_;
};

struct Prediction {
  double mean = 0;
  double sd = 0;  // of the function, without the noise of a value
};

class GaussianProcess {
 public:
  struct Settings {
    double length = 0.4;
    double noise = 1e-2;  // variance, as a part of that of the values
    friend bool operator==(const Settings&, const Settings&) = default;
  };
  static constexpr std::array kLengths{0.1, 0.2, 0.4, 0.8, 1.6};
  static constexpr std::array kNoises{1e-4, 1e-3, 1e-2, 1e-1};

  // Of kLengths and kNoises those with the largest marginal likelihood, ties to the earlier. O(20 n³ / 3).
  [[nodiscard]] static Settings choose(const Points& points, std::span<const double> values);

  // REQUIRES: as many values as points, at least one, all finite.
  GaussianProcess(Points points, std::span<const double> values, const Settings& settings);

  [[nodiscard]] const Points& points() const { return points_; }
  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] double log_likelihood() const { return log_likelihood_; }  // of the standardised values
  // O(n²). For many points take GaussianPredictions.
  [[nodiscard]] Prediction predict(std::span<const double> point) const;
  // The modelled function at a point the process was made from.
  [[nodiscard]] double mean_at(std::size_t sample) const {
    return center_ + scale_ * (values_[sample] - settings_.noise * weights_[sample]);
  }
  // By sample: how far its value is from what all the others let expect, in standard deviations. O(n³ / 6).
  [[nodiscard]] std::vector<double> surprises() const;

 private:
  friend class GaussianPredictions;
  [[nodiscard]] Prediction in_units(double mean, double variance) const;  // from standardised ones
  // Row i of the Cholesky factor of A, i + 1 numbers.
  [[nodiscard]] const double* row(std::size_t i) const { return factor_.data() + i * (i + 1) / 2; }

  Points points_;
  Settings settings_;
  double center_ = 0, scale_ = 1;  // of the values
  std::vector<double> values_;     // standardised
  std::vector<double> factor_;     // lower triangle, row after row
  std::vector<double> halfway_;    // factor⁻¹ · values
  std::vector<double> weights_;    // A⁻¹ · values
  double log_likelihood_ = 0;
};

}  // namespace sluice::plan
