// No SIMD of Eigen and no threads: results must not depend on the instruction set (docs/decisions).
#define EIGEN_DONT_VECTORIZE
#define EIGEN_DONT_PARALLELIZE
#include "plan/rivals/gaussian_process.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "plan/rivals/matern.h"

namespace sluice::plan {
namespace {

constexpr double kLogTwoPi = 1.83787706640934548356;

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

struct Standardised {
  double center = 0, scale = 1;
  std::vector<double> values;
};

Standardised standardise(std::span<const double> values) {
  CHECK(!values.empty());
  Standardised out;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) out.center += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - out.center) * (value - out.center) / n;
  CHECK(std::isfinite(squares));
  if (squares > 0) out.scale = std::sqrt(squares);
  for (const double value : values) out.values.push_back((value - out.center) / out.scale);
  return out;
}

// Lower triangle only.
Matrix distances(const Points& points) {
  const auto n = static_cast<Eigen::Index>(points.size());
  Matrix out(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = j; i < n; ++i)
      out(i, j) = distance(points[static_cast<std::size_t>(i)], points[static_cast<std::size_t>(j)]);
  }
  return out;
}

Matrix covariances(const Matrix& distances, double length) {
  Matrix out(distances.rows(), distances.cols());
  for (Eigen::Index j = 0; j < out.cols(); ++j) {
    for (Eigen::Index i = j; i < out.rows(); ++i) out(i, j) = matern(distances(i, j), length);
  }
  return out;
}

// A = K + noise · I, factored, and the values through it.
struct Solved {
  Solved(const Matrix& covariances, double noise, std::span<const double> values) {
    Matrix a = covariances;
    a.diagonal().array() += noise;
    factor.compute(a);
    CHECK(factor.info() == Eigen::Success);  // noise > 0 makes A positive definite
    const Eigen::Map<const Vector> y(values.data(), static_cast<Eigen::Index>(values.size()));
    halfway = factor.matrixL().solve(y);
    log_likelihood = -0.5 * kLogTwoPi * static_cast<double>(values.size());
    for (Eigen::Index i = 0; i < halfway.size(); ++i)
      log_likelihood -= 0.5 * halfway[i] * halfway[i] + portable_log(factor.matrixLLT()(i, i));
  }
  Eigen::LLT<Matrix> factor;
  Vector halfway;
  double log_likelihood = 0;
};

}  // namespace

GaussianProcess::Settings GaussianProcess::choose(const Points& points, std::span<const double> values) {
  CHECK(points.size() == values.size());
  const std::vector<double> y = standardise(values).values;
  const Matrix apart = distances(points);
  Settings best;
  double most = -INFINITY;
  for (const double length : kLengths) {
    const Matrix k = covariances(apart, length);
    for (const double noise : kNoises) {
      const double likelihood = Solved(k, noise, y).log_likelihood;
      if (!(likelihood > most)) continue;
      most = likelihood;
      best = {.length = length, .noise = noise};
    }
  }
  return best;
}

GaussianProcess::GaussianProcess(Points points, std::span<const double> values, const Settings& settings)
    : points_(std::move(points)), settings_(settings) {
  CHECK(points_.size() == values.size() && settings.noise > 0 && settings.length > 0);
  Standardised standardised = standardise(values);
  center_ = standardised.center;
  scale_ = standardised.scale;
  values_ = std::move(standardised.values);
  const Solved solved(covariances(distances(points_), settings.length), settings.noise, values_);
  log_likelihood_ = solved.log_likelihood;
  halfway_.assign(solved.halfway.begin(), solved.halfway.end());
  const Vector weights = solved.factor.matrixU().solve(solved.halfway);
  weights_.assign(weights.begin(), weights.end());
  const Matrix& lower = solved.factor.matrixLLT();
  for (Eigen::Index i = 0; i < lower.rows(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) factor_.push_back(lower(i, j));
  }
}

Prediction GaussianProcess::predict(std::span<const double> point) const {
  double mean = 0, variance = 1;
  std::vector<double> solved(points_.size());
  for (std::size_t i = 0; i < points_.size(); ++i) {
    double sum = matern(distance(points_[i], point), settings_.length);
    for (std::size_t j = 0; j < i; ++j) sum -= row(i)[j] * solved[j];
    solved[i] = sum / row(i)[i];
    mean += solved[i] * halfway_[i];
    variance -= solved[i] * solved[i];
  }
  return in_units(mean, variance);
}

Prediction GaussianProcess::in_units(double mean, double variance) const {
  constexpr double kVarianceLeast = 1e-12;  // what rounding leaves of no variance at all
  return {center_ + scale_ * mean, scale_ * std::sqrt(std::max(variance, kVarianceLeast))};
}

// Without sample i it would have been expected at y_i - [A⁻¹y]_i / [A⁻¹]_ii with variance 1 / [A⁻¹]_ii, noise included.
std::vector<double> GaussianProcess::surprises() const {
  const std::size_t n = points_.size();
  std::vector<double> out(n), column(n);
  for (std::size_t i = 0; i < n; ++i) {
    double diagonal = 0;  // of A⁻¹: the squared length of column i of factor⁻¹
    for (std::size_t r = i; r < n; ++r) {
      double sum = r == i ? 1 : 0;
      for (std::size_t j = i; j < r; ++j) sum -= row(r)[j] * column[j];
      column[r] = sum / row(r)[r];
      diagonal += column[r] * column[r];
    }
    out[i] = weights_[i] / std::sqrt(diagonal);
  }
  return out;
}

}  // namespace sluice::plan
