#include "base/spread.h"

#include <cmath>
#include <iterator>

namespace sluice {

Spread spread_of(std::span<const double> numbers) {
  Spread out;
  if (numbers.empty()) return out;
  const auto n = static_cast<double>(numbers.size());
  for (const double number : numbers) out.mean += number / n;
  if (numbers.size() < 2) return out;
  double squares = 0;
  for (const double number : numbers) squares += (number - out.mean) * (number - out.mean);
  // Student's t at 97.5 % for few numbers; beyond 21 the normal value.
  constexpr double kT[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23,
                           2.20,  2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09};
  const double t = numbers.size() - 2 < std::size(kT) ? kT[numbers.size() - 2] : 1.96;
  out.half = t * std::sqrt(squares / (n - 1) / n);
  return out;
}

}  // namespace sluice
