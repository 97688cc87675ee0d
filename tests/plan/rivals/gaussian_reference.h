// Gaussian processes in their plainest form, for tests: dense matrices, elimination without structure, and draws.
#pragma once
#include <cmath>
#include <vector>

#include "base/rng.h"
#include "plan/rivals/gaussian_process.h"
#include "plan/rivals/matern.h"

namespace sluice::plan {

inline Points random_points(Rng& rng, std::size_t count, std::size_t dimensions) {
  Points out(dimensions);
  std::vector<double> point(dimensions);
  for (std::size_t i = 0; i < count; ++i) {
    for (double& x : point) x = rng.uniform();
    out.add(point);
  }
  return out;
}

// Normal, then shifted and scaled to mean 0 and variance 1, so that standardising changes nothing.
inline std::vector<double> standard_values(Rng& rng, std::size_t count) {
  std::vector<double> out(count, 0.0);
  if (count == 1) return out;
  double mean = 0, squares = 0;
  for (double& v : out) mean += (v = rng.normal()) / static_cast<double>(count);
  for (double& v : out) squares += (v - mean) * (v - mean) / static_cast<double>(count);
  for (double& v : out) v = (v - mean) / std::sqrt(squares);
  return out;
}

struct GaussianReference {
  Points points;
  std::vector<double> values;  // standardised
  double length, noise;

  [[nodiscard]] Prediction predict(std::span<const double> at) const {
    std::vector<double> k;
    for (std::size_t i = 0; i < points.size(); ++i) k.push_back(matern(distance(points[i], at), length));
    const std::vector<double> solved = solve(k);
    Prediction out{0, 1};
    for (std::size_t i = 0; i < k.size(); ++i) {
      out.mean += solved[i] * values[i];
      out.sd -= solved[i] * k[i];
    }
    out.sd = std::sqrt(out.sd);
    return out;
  }

  // (K + noise · I)⁻¹ · right, by Gauss.
  [[nodiscard]] std::vector<double> solve(std::vector<double> right) const {
    const std::size_t n = points.size();
    std::vector<std::vector<double>> a(n, std::vector<double>(n));
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j)
        a[i][j] = matern(distance(points[i], points[j]), length) + (i == j ? noise : 0);
    }
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t i = p + 1; i < n; ++i) {
        const double f = a[i][p] / a[p][p];
        for (std::size_t j = p; j < n; ++j) a[i][j] -= f * a[p][j];
        right[i] -= f * right[p];
      }
    }
    for (std::size_t p = n; p-- > 0;) {
      for (std::size_t j = p + 1; j < n; ++j) right[p] -= a[p][j] * right[j];
      right[p] /= a[p][p];
    }
    return right;
  }
};

// Values of a random function with this covariance, with noise.
inline std::vector<double> draw_from_process(Rng& rng, const Points& points, double length, double noise) {
  const std::size_t n = points.size();
  std::vector<std::vector<double>> l(n, std::vector<double>(n));
  std::vector<double> out(n), z(n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matern(distance(points[i], points[j]), length) + (i == j ? noise : 0);
      for (std::size_t k = 0; k < j; ++k) sum -= l[i][k] * l[j][k];
      l[i][j] = i == j ? std::sqrt(sum) : sum / l[j][j];
    }
    z[i] = rng.normal();
    for (std::size_t j = 0; j <= i; ++j) out[i] += l[i][j] * z[j];
  }
  return out;
}

}  // namespace sluice::plan
