// GaussianPredictions: what a process predicts at many points at once, kept up to date as some of them are believed.
// Points are solved for in blocks, so that every step serves several of them; believing one more costs n steps per
// point instead of n² for solving anew. Used by aquatope.cpp.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "plan/rivals/gaussian_process.h"

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
  static constexpr std::size_t kWidth = 8;
  using Lanes = std::array<double, kWidth>;  // one number for each point of a block
  struct Block {
    std::vector<Lanes> solved;  // factor⁻¹ · covariances with the samples, then with the believed
    Lanes mean{}, variance{};   // standardised
  };
  void solve(Block& block, std::size_t first) const;
  static void append(Block& block, const double* factor_row, Lanes sums);
  [[nodiscard]] Lanes covariances(std::span<const double> point, std::size_t first) const;

  const GaussianProcess& process_;
  const Points& at_;
  std::vector<Block> blocks_;
};

}  // namespace sluice::plan
