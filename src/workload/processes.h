// The arrival processes of domain/experiment.h that need no trace. Each is a small value that stream.h asks for one
// instant after the other; the caller owns the Rng, and all numbers are the same with every compiler.
#pragma once
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/rng.h"
#include "domain/experiment.h"
#include "workload/instant.h"

namespace sluice::workload {

// Gaps uniform between two bounds; the first request comes after the first gap, as in all processes.
class UniformGapProcess {
 public:
  [[nodiscard]] static Result<UniformGapProcess> make(const UniformGap& gap);
  [[nodiscard]] Instant next(Rng& rng);

 private:
  double low_ns_ = 0, high_ns_ = 0, now_ns_ = 0;
};

// Independent gaps of a given mean and coefficient of variation; cv 1 is Poisson. Below 1 a gap is a constant plus an
// exponential part, above 1 one of two exponentials with balanced means. Both have exactly the mean and cv asked for
// and become the exponential at 1; the shape beyond two moments is a choice.
class RenewalProcess {
 public:
  [[nodiscard]] static Result<RenewalProcess> make(const Renewal& renewal);
  [[nodiscard]] Instant next(Rng& rng);

 private:
  [[nodiscard]] double gap(Rng& rng) const;  // relative to the mean
  double mean_ns_ = 0, cv_ = 1, short_share_ = 0.5, now_ns_ = 0;
};

// Poisson at two rates in turn, for exponential periods; starts with an on period.
class OnOffProcess {
 public:
  [[nodiscard]] static Result<OnOffProcess> make(const OnOff& on_off);
  [[nodiscard]] Instant next(Rng& rng);

 private:
  struct Phase {
    double per_ns = 0, mean_ns = 0;
  };
  Phase on_, off_;
  bool is_on_ = false;  // with an end at 0, so that the first call begins an on period
  double now_ns_ = 0, end_ns_ = 0;
};

// Poisson whose rate follows a sine: drawn at the highest rate and thinned.
class DiurnalProcess {
 public:
  [[nodiscard]] static Result<DiurnalProcess> make(const Diurnal& diurnal);
  [[nodiscard]] Instant next(Rng& rng);

 private:
  double peak_per_ns_ = 0, amplitude_ = 0, period_ns_ = 1, now_ns_ = 0;
};

// Instants that were written down, one after the other.
class ListedProcess {
 public:
  [[nodiscard]] static Result<ListedProcess> make(const Listed& listed);
  [[nodiscard]] std::optional<Instant> next(Rng& rng);  // nothing after the last one

 private:
  std::vector<Duration> at_;
  std::size_t next_ = 0;
};

}  // namespace sluice::workload
