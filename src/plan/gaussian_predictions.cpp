#include "plan/gaussian_predictions.h"

#include <algorithm>
#include <cmath>

namespace sluice::plan {
namespace {

constexpr double kVarianceLeast = 1e-12;  // what rounding leaves of no variance at all

// sums -= factor · solved, for a row of the factor and as many solved rows. Every lane adds up in the same order,
// however wide the machine's registers are.
template <std::size_t N>
void subtract_products(std::array<double, N>& sums, const double* factor, const std::array<double, N>* solved,
                       std::size_t count) {
  std::array<double, N> local = sums;
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t lane = 0; lane < N; ++lane) local[lane] -= factor[j] * solved[j][lane];
  }
  sums = local;
}

}  // namespace

GaussianPredictions::GaussianPredictions(const GaussianProcess& process, const Points& at)
    : process_(process), at_(at), blocks_((at.size() + kWidth - 1) / kWidth) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) solve(blocks_[b], b * kWidth);
}

Prediction GaussianPredictions::operator[](std::size_t i) const {
  const Block& block = blocks_[i / kWidth];
  const double variance = std::max(block.variance[i % kWidth], kVarianceLeast);
  return {process_.center_ + process_.scale_ * block.mean[i % kWidth], process_.scale_ * std::sqrt(variance)};
}

// Of the last block the lanes beyond the last point repeat it.
std::array<double, GaussianPredictions::kWidth> GaussianPredictions::covariances(std::span<const double> point,
                                                                                 std::size_t first) const {
  std::array<double, kWidth> out;
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    const std::size_t i = std::min(first + lane, at_.size() - 1);
    out[lane] = matern(distance(point, at_[i]), process_.settings_.length);
  }
  return out;
}

void GaussianPredictions::solve(Block& block, std::size_t first) const {
  const std::size_t n = process_.points_.size();
  block.solved.reserve(n + 8);  // some to be believed
  block.variance.fill(1);
  for (std::size_t i = 0; i < n; ++i) {
    std::array<double, kWidth> sums = covariances(process_.points_[i], first);
    subtract_products(sums, process_.row(i), block.solved.data(), i);
    for (std::size_t lane = 0; lane < kWidth; ++lane) {
      sums[lane] /= process_.row(i)[i];
      block.mean[lane] += sums[lane] * process_.halfway_[i];
      block.variance[lane] -= sums[lane] * sums[lane];
    }
    block.solved.push_back(sums);
  }
}

// The factor gets one more row: what solving for the new point gave, and on the diagonal what is left of 1 + noise. Its
// value is the mean, so nothing is left of it after the rows before: means stay.
void GaussianPredictions::believe(std::size_t i) {
  std::vector<double> row;
  double diagonal = 1 + process_.settings_.noise;
  for (const auto& solved : blocks_[i / kWidth].solved) {
    row.push_back(solved[i % kWidth]);
    diagonal -= row.back() * row.back();
  }
  row.push_back(std::sqrt(diagonal));  // ≥ noise
  for (std::size_t b = 0; b < blocks_.size(); ++b) append(blocks_[b], b * kWidth, row, i);
}

void GaussianPredictions::append(Block& block, std::size_t first, const std::vector<double>& row,
                                 std::size_t believed) const {
  std::array<double, kWidth> sums = covariances(at_[believed], first);
  subtract_products(sums, row.data(), block.solved.data(), block.solved.size());
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    sums[lane] /= row.back();
    block.variance[lane] -= sums[lane] * sums[lane];
  }
  block.solved.push_back(sums);
}

}  // namespace sluice::plan
