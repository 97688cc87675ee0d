// Every limit of Sluice in one place. Reaching one is answered with its name and both numbers, never with a longer queue.
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/bytes.h"
#include "base/time.h"

namespace sluice::limits {

// Documents.
inline constexpr std::size_t document_bytes_max = 8u << 20;
inline constexpr std::size_t document_nodes_max = 2'000'000;  // after aliases are expanded
inline constexpr std::size_t document_depth_max = 64;
inline constexpr std::size_t included_files_max = 256;
inline constexpr std::size_t errors_reported_max = 100;
inline constexpr std::size_t name_length_max = 128;

// Workflows.
inline constexpr std::size_t stages_max = 100'000;
inline constexpr std::size_t functions_max = 10'000;
inline constexpr std::size_t stage_inputs_max = 64;
inline constexpr std::size_t condition_terms_max = 256;
inline constexpr std::size_t foreach_depth_max = 4;  // workflows inside workflows
inline constexpr std::int64_t foreach_items_max = 100'000;
inline constexpr std::int64_t retry_attempts_max = 100;
inline constexpr Duration duration_max = Duration::s(366.0 * 86'400);

// ASL documents: what an import writes out, so that a small file cannot become a huge workflow.
inline constexpr std::size_t asl_copies_max = 200'000;     // comparisons of rules and catchers of Parallel states
inline constexpr std::size_t asl_results_max = 64;         // keys that ResultPath may add to one document
inline constexpr std::size_t condition_text_max = 1'024;   // bytes of a text or pattern in a condition

// Configurations, profiles, clusters.
inline constexpr std::int64_t batch_max = 4'096;
inline constexpr std::int64_t vcpu_max = 4'096;
inline constexpr std::int64_t slices_per_gpu_max = 64;
inline constexpr std::size_t profile_rows_max = 100'000;
inline constexpr std::int64_t invokers_max = 100'000;
inline constexpr std::int64_t gpus_per_invoker_max = 64;
inline constexpr std::int64_t experiment_requests_max = 1'000'000'000;
inline constexpr std::size_t tensor_rank_max = 16;

}  // namespace sluice::limits
