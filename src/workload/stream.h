// ArrivalStream: a workload as a stream of arrivals, the same for every scheduler it is played to. Used by sim/.
// Memory does not grow with the number of requests; a trace is kept as its counts or rows. A copy plays on from the
// same place.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "base/rng.h"
#include "domain/experiment.h"
#include "workload/arrival.h"
#include "workload/minute_trace.h"
#include "workload/mix.h"
#include "workload/processes.h"
#include "workload/request_trace.h"

namespace sluice::workload {

class ArrivalStream {
 public:
  // `applications`: their names in the order of the experiment. `trace_text`: what is in the file that a Trace names;
  // not used otherwise. An error names the field, for a trace every line that is wrong.
  [[nodiscard]] static Result<ArrivalStream> make(const Workload& workload, std::span<const std::string> applications,
                                                  std::uint64_t seed, std::string_view trace_text = {});

  // The next arrival. Nothing after warmup + requests of them, at the end of the trace, and where the next would come
  // later than limits::arrivals_span_max.
  [[nodiscard]] std::optional<Arrival> next();

 private:
  using Source = std::variant<UniformGapProcess, RenewalProcess, OnOffProcess, DiurnalProcess, ListedProcess,
                              MinuteTrace, RequestTrace>;
  struct SourceMaker;
  ArrivalStream(Source source, Mix mix, std::uint64_t seed, std::uint64_t requests);

  Source source_;
  Mix mix_;
  Rng time_rng_, mix_rng_;  // apart, so that another mix does not move the instants
  std::uint64_t left_ = 0;
};

}  // namespace sluice::workload
