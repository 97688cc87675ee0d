// Every limit of Sluice in one place. Reaching one is answered with its name and both numbers, never with a longer
// queue.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/time.h"

namespace sluice::limits {

// Documents.
inline constexpr std::size_t document_bytes_max = 8u << 20;
inline constexpr std::size_t document_nodes_max = 2'000'000;
inline constexpr std::size_t document_alias_nodes_max = 100'000;  // that aliases expand to
inline constexpr std::size_t document_depth_max = 64;
inline constexpr std::size_t included_files_max = 256;
inline constexpr std::size_t errors_reported_max = 100;
inline constexpr std::size_t name_length_max = 128;

// Workflows.
inline constexpr std::size_t stages_max = 100'000;
inline constexpr std::size_t functions_max = 10'000;
inline constexpr std::int64_t min_instances_max = 1'000;
inline constexpr std::int64_t versions_kept_max = 5;            // of an application, beside the one that serves
inline constexpr Bytes versions_kept_bytes_max = Bytes::gb(1);  // of an application likewise; models are part of it
inline constexpr std::size_t stage_inputs_max = 64;
inline constexpr std::size_t condition_terms_max = 256;
inline constexpr std::size_t foreach_depth_max = 4;  // workflows inside workflows
inline constexpr std::int64_t foreach_items_max = 100'000;
inline constexpr std::int64_t retry_attempts_max = 100;
inline constexpr Duration duration_max = Duration::s(366.0 * 86'400);

// ASL documents: what an import writes out, so that a small file cannot become a huge workflow.
inline constexpr std::size_t asl_copies_max = 200'000;    // comparisons of rules and catchers of Parallel states
inline constexpr std::size_t asl_results_max = 64;        // keys that ResultPath may add to one document
inline constexpr std::size_t condition_text_max = 1'024;  // bytes of a text or pattern in a condition

// Configurations, profiles, clusters.
inline constexpr std::int64_t batch_max = 4'096;
inline constexpr std::int64_t vcpu_max = 4'096;
inline constexpr std::int64_t slices_per_gpu_max = 64;
inline constexpr std::size_t profile_rows_max = 100'000;
inline constexpr std::int64_t invokers_max = 100'000;
inline constexpr std::int64_t gpus_per_invoker_max = 64;
inline constexpr std::int64_t experiment_requests_max = 1'000'000'000;
inline constexpr std::size_t tensor_rank_max = 16;
inline constexpr std::uint64_t kept_bytes_min = 1'000'000;  // an output that stays on a GPU between stages has more

// Workloads.
inline constexpr double rate_min = 1e-6, rate_max = 1e9;    // requests per second
inline constexpr double scale_min = 1e-9, scale_max = 1e9;  // of a trace's time and rate
inline constexpr double gap_cv_max = 100;
inline constexpr double mix_weight_max = 1e9;
inline constexpr std::size_t listed_arrivals_max = 100'000;
inline constexpr Duration arrivals_span_max = Duration::s(100.0 * 366 * 86'400);  // later requests do not come

// Requests.
inline constexpr std::int64_t request_rows_max = 128;  // the most invocations that a single body starts

// Machines. A request that is spread over more invokers may miss an object, and begins again.
inline constexpr std::size_t places_max = 512;  // of one member of a batch: 4,096 such members fit into a frame

// Event logs.
inline constexpr std::size_t log_record_bytes_max = 256u << 20;

// Traces. Wide enough for a day of all functions of Azure Functions 2019: 1,440 minutes, tens of thousands of rows.
inline constexpr std::size_t trace_bytes_max = 256u << 20;
inline constexpr std::size_t trace_rows_max = 5'000'000;
inline constexpr std::size_t trace_line_bytes_max = 64u << 10;
inline constexpr std::int64_t trace_count_max =
    1'000'000'000;                                         // requests of a function in a minute, tokens of a request
inline constexpr double trace_minute_requests_max = 1e15;  // of all functions, scaled

}  // namespace sluice::limits
