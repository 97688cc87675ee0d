// Functions of real numbers from basic operations only, so that they give the same bits with every compiler and library
// (the standard library's do not). portable_log is in base/rng.h, whose draws need it.
#pragma once

namespace sluice {

// The sine of an angle in full turns: 0 at 0, 1 at a quarter. About 2e-16 absolute. REQUIRES: |turns| < 1e15.
[[nodiscard]] double portable_sine_of_turns(double turns);
// e^x - 1 without losing digits near 0; about 1e-15 relative. REQUIRES: -700 ≤ x ≤ 0.
[[nodiscard]] double portable_expm1(double x);

}  // namespace sluice
