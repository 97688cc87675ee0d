// The machine that `sluice up` serves on, where no document says otherwise: its CPUs, memory and GPUs.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/up.h"
#include "domain/cluster.h"
#include "invoker/gpus.h"

namespace sluice::cli {

// What `sluice-worker --gpus` prints, a line for each: UUID, SMs, bytes and name, with tabs between them. An error: it
// prints something else.
[[nodiscard]] Result<std::vector<invoker::GpuDevice>> read_gpus(std::string_view printed);
// Asks `worker`, the program. An error: there are GPUs and they cannot be used.
[[nodiscard]] Result<std::vector<invoker::GpuDevice>> find_gpus(const std::string& worker);

// Those of `found` that serve as the options say, and how. None with `--gpus none`. An error names the option, or GPUs
// of different kinds.
[[nodiscard]] Result<invoker::Gpus> shared_as(const UpOptions& options, std::vector<invoker::GpuDevice> found);

[[nodiscard]] NodeGroup this_machine(const invoker::Gpus& gpus);

}  // namespace sluice::cli
