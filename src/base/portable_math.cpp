#include "base/portable_math.h"

#include <cmath>

#include "base/check.h"

namespace sluice {

double portable_sine_of_turns(double turns) {
  CHECK(std::abs(turns) < 1e15);
  double part = turns - std::floor(turns + 0.5);  // in [-½, ½), exact
  if (part > 0.25) part = 0.5 - part;             // mirrored into [-¼, ¼], where the series converges fast
  if (part < -0.25) part = -0.5 - part;
  const double x = part * 6.28318530717958647692;
  double sum = 1;
  for (int n = 22; n >= 2; n -= 2) sum = 1 - x * x / (n * (n + 1)) * sum;  // (π/2)^25 / 25! is below 1e-20
  return x * sum;
}

double portable_expm1(double x) {
  CHECK(x >= -700 && x <= 0);
  int halvings = 0;
  for (; x < -0.5; x /= 2) ++halvings;
  double sum = 1;
  for (int n = 14; n >= 2; --n) sum = 1 + x / n * sum;  // ½^14 / 15! is below 1e-16
  double result = x * sum;
  for (; halvings > 0; --halvings) result *= result + 2;  // e^2x - 1 = (e^x - 1)(e^x + 1)
  return result;
}

}  // namespace sluice
