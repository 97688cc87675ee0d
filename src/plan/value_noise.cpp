#include "plan/value_noise.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "profile/portable_math.h"

namespace sluice::plan {
namespace {

constexpr double kStrideSds = 0.4;
constexpr double kSameInstant = 1e-9;  // times add up in another order than deadlines are made

// The normal distribution function F and its integral H from -3 on, in cells of 1/64 with cubic pieces: about 1e-9.
// From portable_exp, since the library's erf differs between machines.
class NormalTable {
 public:
  NormalTable() {
    std::array<double, kPoints> density{};
    for (std::size_t i = 0; i < kPoints; ++i) density[i] = density_at(at(i));
    double below = 0;  // of the density between -3 and 0
    for (std::size_t i = 0; i < kPoints / 2; ++i) below += mass(i, density);
    distribution_[0] = 0.5 - below;
    for (std::size_t i = 0; i + 1 < kPoints; ++i) {
      distribution_[i + 1] = distribution_[i] + mass(i, density);
      integral_[i + 1] = integral_[i] + kCell / 2 * (distribution_[i] + distribution_[i + 1]) +
                         kCell * kCell / 12 * (density[i] - density[i + 1]);
    }
    density_ = density;
  }
  // REQUIRES: |u| ≤ 3.
  [[nodiscard]] double distribution(double u) const { return piece(distribution_, density_, u); }
  [[nodiscard]] double integral(double u) const { return piece(integral_, distribution_, u); }

 private:
  static constexpr std::size_t kPoints = 385;
  static constexpr double kCell = 1.0 / 64;
  using Values = std::array<double, kPoints>;

  [[nodiscard]] static double at(std::size_t i) { return -kNoiseCut + kCell * static_cast<double>(i); }
  [[nodiscard]] static double density_at(double u) {
    return profile::portable_exp(-u * u / 2) / std::sqrt(2 * std::numbers::pi);
  }
  [[nodiscard]] static double mass(std::size_t i, const Values& density) {  // Simpson's rule
    return kCell / 6 * (density[i] + 4 * density_at(at(i) + kCell / 2) + density[i + 1]);
  }
  [[nodiscard]] static double piece(const Values& values, const Values& slopes, double u) {
    const double cells = (u + kNoiseCut) / kCell;
    const std::size_t i = std::min(static_cast<std::size_t>(std::max(0.0, cells)), kPoints - 2);
    const double x = cells - static_cast<double>(i), y = 1 - x;
    return values[i] * (1 + 2 * x) * y * y + values[i + 1] * (1 + 2 * y) * x * x +
           kCell * x * y * (slopes[i] * y - slopes[i + 1] * x);
  }

  Values density_{}, distribution_{}, integral_{};
};

const NormalTable& normal() {
  static const NormalTable kTable;
  return kTable;
}

// E max(0, u - z) for a cut normal z: the integral of its distribution function.
double expected_excess(double u) {
  if (u <= -kNoiseCut) return 0;
  return u >= kNoiseCut ? u : normal().integral(u);
}

}  // namespace

NoiseKernel noise_kernel(double mean, double spread) {
  CHECK(spread >= 0 && mean >= kNoiseCut * spread * (1 - 1e-12));
  NoiseKernel out;
  out.stride = std::max(1, static_cast<int>(kStrideSds * spread));
  // Hats wider than the grid add a sixth of their squared width to the variance.
  const double sd = out.stride == 1 ? spread : std::sqrt(spread * spread - out.stride * out.stride / 6.0);
  const double low = -mean - kNoiseCut * sd, high = -mean + kNoiseCut * sd;
  out.first = static_cast<int>(std::floor(low));
  // The weight of a node is the expectation of the hat that is 1 there and 0 at its neighbours: a second difference.
  const auto excess = [&](int node) {
    const double over = -mean - node;
    return sd > 0 ? sd * expected_excess(over / sd) : std::max(0.0, over);
  };
  double sum = 0;
  for (int node = out.first; node == out.first || node - out.stride < high; node += out.stride) {
    const double hat = (excess(node - out.stride) - 2 * excess(node) + excess(node + out.stride)) / out.stride;
    out.weights.push_back(static_cast<float>(std::max(0.0, hat)));
    sum += std::max(0.0, hat);
  }
  for (float& weight : out.weights) weight = static_cast<float>(weight / sum);
  return out;
}

double late_probability(double slack, double sd) {
  if (slack >= kNoiseCut * sd - kSameInstant) return 0;
  if (slack < -kNoiseCut * sd) return 1;
  return 1 - normal().distribution(slack / sd);
}

}  // namespace sluice::plan
