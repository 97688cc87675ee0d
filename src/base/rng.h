// Rng: a small seeded generator that gives the same numbers with every compiler and library.
// Pass it as an argument, one per component; it is a value, so saving it saves the stream. Nothing from <random> is
// used, because its distributions differ between libraries.
#pragma once
#include <array>
#include <cstdint>

namespace sluice {

class Rng {
 public:
  explicit Rng(std::uint64_t seed = 0);
  // A generator that depends on all of `keys`: draws for (request 7, stage 2) do not move when others are added.
  [[nodiscard]] static Rng keyed(std::uint64_t seed, std::uint64_t key, std::uint64_t second_key = 0);

  [[nodiscard]] std::uint64_t next();                      // xoshiro256++
  [[nodiscard]] double uniform();                          // in [0, 1), 53 bits
  [[nodiscard]] double uniform(double low, double high);   // in [low, high)
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);  // in [0, bound), unbiased. REQUIRES: bound > 0
  [[nodiscard]] double normal();                           // mean 0, standard deviation 1
  [[nodiscard]] double exponential();                      // mean 1
  [[nodiscard]] bool chance(double probability) { return uniform() < probability; }

  friend bool operator==(const Rng&, const Rng&) = default;

 private:
  std::array<std::uint64_t, 4> state_;
};

// log(x) from basic operations only, so that it is the same bits everywhere; about 1e-15 relative. REQUIRES: x > 0,
// finite.
[[nodiscard]] double portable_log(double x);

}  // namespace sluice
