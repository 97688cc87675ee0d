// Measured profiles of MIG instances of an A100 as ParvaGPU (Lee et al., SC 2024) publishes them, a file a model:
// `Mig instance,Batch size,Workload Number,Throughput,Latency`, a row for each size of the instance, batch and number
// of processes. Text in, rows out; files are opened elsewhere. Used by spec/yaml/profile.cpp and
// reproduce/mig_applications.h.
#pragma once
#include <string_view>

#include "spec/csv/profile_csv.h"

namespace sluice::spec {

// The rows of one process as a table: vgpu is the size of the instance, vcpu 1, mean_ms batch over throughput (the file
// rounds latencies to a millisecond), sd_ms `noise` times that, because the file has no spread. Rows of several
// processes and rows with throughput 0, which did not fit into memory, are checked and left out. Or every error.
// REQUIRES: 0 ≤ noise ≤ 10.
[[nodiscard]] ProfileCsv read_mig_profile(std::string_view text, double noise = 0);

}  // namespace sluice::spec
