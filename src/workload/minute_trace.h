// Plays counts a minute (azure_functions.h): the requests of a minute come as a Poisson process whose number is known.
// Used by stream.h. Memory is that of the counts, however many requests they stand for.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "domain/experiment.h"
#include "workload/azure_functions.h"
#include "workload/instant.h"

namespace sluice::workload {

// The application that a function of a trace calls if nothing maps it: the hash of its name (base/hash.h) mod their
// number. REQUIRES: applications > 0.
[[nodiscard]] std::uint32_t application_by_hash(std::string_view function, std::size_t applications);

class MinuteTrace {
 public:
  // `trace` says how it is scaled and mapped; a function without a mapping calls application_by_hash. Scaled counts are
  // rounded up or down at random for each minute and application, so that sums keep their mean. REQUIRES: counts.ok(),
  // applications is not empty.
  [[nodiscard]] static Result<MinuteTrace> make(const AzureFunctions& counts, const Trace& trace,
                                                std::span<const std::string> applications);
  [[nodiscard]] std::optional<Instant> next(Rng& rng);

 private:
  struct Cell {
    std::uint32_t application = 0;
    std::uint64_t count = 0;  // above 0 in cells_
  };
  void begin_minute(Rng& rng);
  [[nodiscard]] std::uint32_t take_one(Rng& rng);

  std::vector<Cell> cells_;               // of all minutes, by minute and application
  std::vector<std::size_t> minute_ends_;  // where in cells_ each minute ends
  double rate_scale_ = 1, minute_ns_ = 0;
  // The minute that is played: minutes_begun_ - 1.
  std::size_t minutes_begun_ = 0;
  std::vector<Cell> left_;
  std::uint64_t left_total_ = 0;
  double place_ = 0;  // in [0, 1]
};

}  // namespace sluice::workload
