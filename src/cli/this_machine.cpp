#include "cli/this_machine.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <cctype>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "cli/run_program.h"
#include "domain/limits.h"

namespace sluice::cli {
namespace {

// A group of 16 SMs runs a small network in little more than the time it takes on all of them, and 8 groups at once.
constexpr std::uint32_t kSmsOfSlice = 16;
constexpr std::string_view kMigDevice = "MIG-";  // in place of "GPU-" in the name of such a device

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// "NVIDIA A100-SXM4-80GB" is a100, as profiles name it.
DeviceKind kind_of(std::string_view name) {
  constexpr std::string_view kMaker = "NVIDIA ";
  if (name.starts_with(kMaker)) name.remove_prefix(kMaker.size());
  std::string kind(name.substr(0, name.find_first_of(" -")));
  std::ranges::transform(kind, kind.begin(), [](unsigned char c) { return std::tolower(c); });
  return DeviceKind::fits(kind) ? DeviceKind(kind) : DeviceKind::gpu();
}

// What workers take besides weights: contexts, libraries, activations of graphs.
Bytes for_functions(Bytes memory) {
  constexpr double kPart = 0.85;
  return Bytes(static_cast<std::int64_t>(static_cast<double>(memory.count()) * kPart));
}

}  // namespace

Result<std::vector<invoker::GpuDevice>> read_gpus(std::string_view printed) {
  std::vector<invoker::GpuDevice> out;
  for (const std::string_view line : parts_of(printed, '\n')) {
    const auto fields = parts_of(line, '\t');
    const auto sms = fields.size() == 4 ? parse_int(fields[1]) : std::nullopt;
    const auto bytes = fields.size() == 4 ? parse_int(fields[2]) : std::nullopt;
    if (!sms || !bytes || *sms < 1 || *bytes < 1 ||
        !(fields[0].starts_with("GPU-") || fields[0].starts_with(kMigDevice))) {
      return Error{ErrorCode::invalid, str("`sluice-worker --gpus` printed '", line, "': is it of this version?")};
    }
    out.push_back({.uuid = std::string(fields[0]),
                   .name = std::string(fields[3]),
                   .multiprocessors = static_cast<std::uint32_t>(*sms),
                   .memory = Bytes(*bytes)});
  }
  return out;
}

Result<std::vector<invoker::GpuDevice>> find_gpus(const std::string& worker) {
  const auto ran = run_program({worker, "--gpus"});
  if (!ran) return ran.error();
  if (ran->status == 0) return read_gpus(ran->output);
  return Error{ErrorCode::unavailable, str("the GPUs of this machine cannot be used (`", worker,
                                           " --gpus` says why): try nvidia-smi, or serve without them, --gpus none")};
}

Result<invoker::Gpus> shared_as(const UpOptions& options, std::vector<invoker::GpuDevice> found) {
  invoker::Gpus out;
  if (options.gpus == "none" || found.empty()) return out;
  const invoker::GpuDevice& first = found.front();
  const bool parted = first.uuid.starts_with(kMigDevice);
  out.mode = parted ? GpuMode::mig : GpuMode::green;
  if (const auto asked = gpu_mode_of(options.gpu_mode)) out.mode = *asked;
  if (out.mode == GpuMode::mig && !parted) {
    return Error{ErrorCode::invalid, str("--gpu-mode mig: ", first.name,
                                         " has no MIG devices (`nvidia-smi -L` lists them; Sluice never makes any)")};
  }
  if (out.mode == GpuMode::mig && options.gpu_slices > 1) {
    return Error{ErrorCode::invalid, str("--gpu-slices ", options.gpu_slices, ": a MIG device is one slice")};
  }
  for (const invoker::GpuDevice& gpu : found) {
    if (gpu.name == first.name && gpu.multiprocessors == first.multiprocessors) continue;
    return Error{ErrorCode::invalid, str("--gpus auto found different ones, ", first.name, " and ", gpu.name,
                                         ": name equal ones with CUDA_VISIBLE_DEVICES")};
  }
  const std::uint32_t most = std::min(first.multiprocessors, static_cast<std::uint32_t>(limits::slices_per_gpu_max));
  if (options.gpu_slices > most) {
    return Error{ErrorCode::invalid, str("--gpu-slices ", options.gpu_slices, ": ", first.name, " has at most ", most)};
  }
  out.slices = options.gpu_slices > 0 ? options.gpu_slices : std::clamp(first.multiprocessors / kSmsOfSlice, 1u, most);
  if (out.mode == GpuMode::mig) out.slices = 1;
  out.devices = std::move(found);
  if (options.gpu_mps) out.mps = "nvidia-cuda-mps-control";
  return out;
}

NodeGroup this_machine(const invoker::Gpus& gpus) {
  constexpr double kForWorkers = 0.8;
  struct sysinfo info {};
  ::sysinfo(&info);
  const double memory = static_cast<double>(info.totalram) * static_cast<double>(info.mem_unit) * kForWorkers;
  NodeGroup out{.vcpu = std::max(1u, std::thread::hardware_concurrency()),
                .memory = Bytes(static_cast<std::int64_t>(memory))};
  if (gpus.devices.empty()) return out;
  const invoker::GpuDevice& first = gpus.devices.front();
  out.gpus = static_cast<std::uint32_t>(gpus.devices.size());
  out.slices_per_gpu = gpus.slices;
  out.gpu_memory = for_functions(first.memory);
  out.device = kind_of(first.name);
  out.layout = SliceLayout::buddy;
  out.ahead = Duration::us(300);  // two messages, a decision, and reading inputs
  return out;
}

}  // namespace sluice::cli
