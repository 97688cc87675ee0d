// The mean of a few repeated measurements and how sure it is.
#pragma once
#include <span>

namespace sluice {

struct Spread {
  double mean = 0;
  double half = 0;  // of the 95 % interval; 0 with fewer than two numbers
};
// By Student's t. Nothing measured: zeros.
[[nodiscard]] Spread spread_of(std::span<const double> numbers);

}  // namespace sluice
