// Workloads from real traces, at a given share of what a cluster can do: which piece of a trace is played and how it is
// scaled. Used by azure.h. The same for every scheduler; nothing here depends on who schedules.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "domain/experiment.h"
#include "workload/azure_functions.h"

namespace sluice::reproduce {

// What a request of each application holds with batch 1, one vCPU and one slice at every stage, transfer not counted.
[[nodiscard]] Result<std::vector<double>> slice_seconds(const Experiment& experiment);
[[nodiscard]] double slices_of(const Cluster& cluster);

// The load wanted, and about how many requests.
struct Target {
  double slices = 0;                  // busy on average, if all requests ran at (1,1,1)
  std::vector<double> slice_seconds;  // by application
  std::uint64_t requests = 0, warmup = 0;
};
// A workload and the text of the trace it names, which is a piece of the real one.
struct Piece {
  Workload workload;
  std::string trace_text;
};

// A piece of whole minutes at their own pace, as many as come nearest to the requests wanted (at least one), with
// counts scaled so that just this piece asks for `target.slices`. Pieces follow one another from the busiest hour on,
// round and round the trace; the stream of that number plays its own. All of a piece is played; only where one minute
// is more than wanted it is cut. A function calls application_by_hash. REQUIRES: trace.ok(), target.slices > 0.
[[nodiscard]] Result<Piece> piece_of_minutes(const workload::AzureFunctions& trace, const Target& target,
                                             std::uint64_t stream);
// The trace without the functions that are in `others` as well.
[[nodiscard]] workload::AzureFunctions without(workload::AzureFunctions trace, const workload::AzureFunctions& others);

// The first requests of an LLM trace, one for each row, played faster so that they ask for `target.slices`. Times are
// all that is taken: requests have size 1 and call any application alike, drawn by stream. Fewer than wanted if the
// trace has no more.
[[nodiscard]] Result<Piece> piece_of_requests(std::string_view llm_trace, const Target& target);

// Poisson over all applications alike.
[[nodiscard]] Piece poisson_piece(const Target& target);

// The slices that the requests of an experiment really ask for at (1,1,1), over those of the cluster, from the first to
// the last arrival; warm-up included.
[[nodiscard]] Result<double> offered_slice_load(const Experiment& experiment, std::uint64_t seed,
                                                std::string_view trace_text);

}  // namespace sluice::reproduce
