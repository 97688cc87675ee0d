#include "base/rng.h"

#include <bit>
#include <cmath>

#include "base/check.h"

namespace sluice {
namespace {

std::uint64_t splitmix(std::uint64_t& state) {
  std::uint64_t z = state += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = splitmix(seed);
}

Rng Rng::keyed(std::uint64_t seed, std::uint64_t key, std::uint64_t second_key) {
  std::uint64_t mixed = splitmix(seed) ^ key;
  mixed = splitmix(mixed) ^ second_key;
  return Rng(splitmix(mixed));
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11) * 0x1.0p-53;
}

double Rng::uniform(double low, double high) {
  return low + (high - low) * uniform();
}

std::uint64_t Rng::below(std::uint64_t bound) {
  CHECK(bound > 0);
  const std::uint64_t threshold = (0 - bound) % bound;  // rejects the incomplete last round of multiples
  for (;;) {
    const std::uint64_t draw = next();
    if (draw >= threshold) return draw % bound;
  }
}

// Marsaglia's polar method: only log and square root, the latter exact in IEEE arithmetic. The second value is thrown
// away so that the state stays four words.
double Rng::normal() {
  for (;;) {
    const double u = 2 * uniform() - 1;
    const double v = 2 * uniform() - 1;
    const double s = u * u + v * v;
    if (s > 0 && s < 1) return u * std::sqrt(-2 * portable_log(s) / s);
  }
}

double Rng::exponential() {
  return -portable_log(1 - uniform());
}

// x = m · 2^e with m in [√½, √2); log m = 2 atanh((m-1)/(m+1)), whose series converges fast as |z| ≤ 0.172.
double portable_log(double x) {
  CHECK(x > 0 && std::isfinite(x));
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  const double z = (mantissa - 1) / (mantissa + 1);
  const double z2 = z * z;
  double sum = 0;
  for (int n = 21; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n;
  return 2 * z * sum + exponent * 0.69314718055994530942;
}

}  // namespace sluice
