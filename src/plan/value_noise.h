// What noise does to a function of the time left: the expectation of f(rest - time) for a time that is normal, cut at
// three standard deviations, as a short list of weights on a grid. Used by the value table.
// The cut puts what lies beyond it on the edge, as the simulator draws (sim/world.cpp).
#pragma once
#include <cstddef>
#include <vector>

namespace sluice::plan {

inline constexpr double kNoiseCut = 3;  // standard deviations

// E f(k) = Σ weights[i] · f(k + first + i · stride), k counting steps of the grid.
struct NoiseKernel {
  int first = 0;  // steps; not positive but for rounding up
  int stride = 1;
  std::vector<float> weights;  // not negative, their sum is 1
  [[nodiscard]] int last() const { return first + stride * (static_cast<int>(weights.size()) - 1); }
};

// For a time of `mean` ± `spread` steps; the weights keep its mean. Exact for an f that is linear between the points of
// the grid while a step is more than 0.4 spreads; finer grids are taken with a stride of about that, keeping the
// variance. REQUIRES: mean ≥ 3 spread ≥ 0.
[[nodiscard]] NoiseKernel noise_kernel(double mean, double spread);

// The probability that a time of mean 0 and standard deviation `sd` exceeds `slack`. REQUIRES: sd ≥ 0.
[[nodiscard]] double late_probability(double slack, double sd);

}  // namespace sluice::plan
