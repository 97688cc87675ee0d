// GaussianPredictions: what a process predicts at many points at once, kept up to date as some of them are believed.
// Solving for a block of points together makes the n² steps of each run at the speed of the machine; believing one more
// costs n steps per point instead of solving anew.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "plan/gaussian_process.h"

namespace sluice::plan {

class GaussianPredictions {
 public:
  // REQUIRES: both outlive it.
  GaussianPredictions(const GaussianProcess& process, const Points& at);

  [[nodiscard]] std::size_t size() const { return at_.size(); }
  [[nodiscard]] Prediction operator[](std::size_t i) const;

  // As if point i had been sampled and had given its predicted mean: no mean changes, the doubt around it goes.
  void believe(std::size_t i);

 private:
  static constexpr std::size_t kWidth = 8;  // points solved together
  struct Block {
    std::vector<std::array<double, kWidth>> solved;  // factor⁻¹ · covariances with the samples, then with the believed
    std::array<double, kWidth> mean{}, variance{};  // standardised
  };
  void solve(Block& block, std::size_t first) const;
  void append(Block& block, std::size_t first, const std::vector<double>& row, std::size_t believed) const;
  [[nodiscard]] std::array<double, kWidth> covariances(std::span<const double> point, std::size_t first) const;

  const GaussianProcess& process_;
  const Points& at_;
  std::vector<Block> blocks_;
};

}  // namespace sluice::plan
