#include "plan/rivals/gaussian_predictions.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plan/rivals/matern.h"

namespace sluice::plan {
namespace {

// Operations on a pair are element by element, which gives the same bits as one after the other.
using Pair = double __attribute__((vector_size(16)));

Pair load(const double* from) {
  Pair out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

// sums -= factor[j] · rows[j] for all rows, in their order. Four pairs by name: compilers keep an array of them in
// memory, and waiting for it takes twice as long.
void subtract_products(std::array<double, 8>& sums, const double* factor,
                       const std::vector<std::array<double, 8>>& rows) {
  Pair a = load(&sums[0]), b = load(&sums[2]), c = load(&sums[4]), d = load(&sums[6]);
  for (std::size_t j = 0; j < rows.size(); ++j) {
    const double* row = rows[j].data();
    a -= factor[j] * load(row);
    b -= factor[j] * load(row + 2);
    c -= factor[j] * load(row + 4);
    d -= factor[j] * load(row + 6);
  }
  sums = {a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]};
}

}  // namespace

GaussianPredictions::GaussianPredictions(const GaussianProcess& process, const Points& at)
    : process_(process), at_(at), blocks_((at.size() + kWidth - 1) / kWidth) {
  for (std::size_t b = 0; b < blocks_.size(); ++b) solve(blocks_[b], b * kWidth);
}

Prediction GaussianPredictions::operator[](std::size_t i) const {
  const Block& block = blocks_[i / kWidth];
  return process_.in_units(block.mean[i % kWidth], block.variance[i % kWidth]);
}

// Of the last block the lanes beyond the last point repeat it.
GaussianPredictions::Lanes GaussianPredictions::covariances(std::span<const double> point, std::size_t first) const {
  Lanes out;
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    const std::size_t i = std::min(first + lane, at_.size() - 1);
    out[lane] = matern(distance(point, at_[i]), process_.settings_.length);
  }
  return out;
}

void GaussianPredictions::solve(Block& block, std::size_t first) const {
  const std::size_t n = process_.points_.size();
  constexpr std::size_t kBelievedMost = 8;  // more than that moves the rows once
  block.solved.reserve(n + kBelievedMost);
  block.variance.fill(1);
  for (std::size_t i = 0; i < n; ++i) {
    append(block, process_.row(i), covariances(process_.points_[i], first));
    for (std::size_t lane = 0; lane < kWidth; ++lane)
      block.mean[lane] += process_.halfway_[i] * block.solved.back()[lane];
  }
}

// The next step of the forward substitution: `sums` are the covariances with the point that `factor_row` belongs to.
void GaussianPredictions::append(Block& block, const double* factor_row, Lanes sums) {
  subtract_products(sums, factor_row, block.solved);
  for (std::size_t lane = 0; lane < kWidth; ++lane) {
    sums[lane] /= factor_row[block.solved.size()];
    block.variance[lane] -= sums[lane] * sums[lane];
  }
  block.solved.push_back(sums);
}

// The factor gets one more row: what solving for the new point gave, and on the diagonal what is left of 1 + noise. The
// new value is the predicted one, so nothing is left of it after the rows before: means stay.
void GaussianPredictions::believe(std::size_t i) {
  std::vector<double> row;
  double left = 1 + process_.settings_.noise;
  for (const Lanes& solved : blocks_[i / kWidth].solved) {
    row.push_back(solved[i % kWidth]);
    left -= row.back() * row.back();
  }
  row.push_back(std::sqrt(left));  // at least √noise
  for (std::size_t b = 0; b < blocks_.size(); ++b) append(blocks_[b], row.data(), covariances(at_[i], b * kWidth));
}

}  // namespace sluice::plan
