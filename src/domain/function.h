// Function: code that runs. It belongs to a tenant; same name and content is the same function, other content is a new
// version. A function may have one body for every device or one for CPUs and one for GPUs.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "domain/gpu_form.h"
#include "domain/profile.h"

namespace sluice {

enum class Runtime { torch, kernel, python, process, emulated };
constexpr Runtime last_of(Runtime) {
  return Runtime::emulated;
}
enum class DataType {
  boolean,
  uint8,
  uint16,
  uint32,
  uint64,
  int8,
  int16,
  int32,
  int64,
  fp16,
  bf16,
  fp32,
  fp64,
  bytes
};
constexpr DataType last_of(DataType) {
  return DataType::bytes;
}

// A named tensor; -1 is a dimension of any length.
struct Port {
  std::string name;
  DataType type = DataType::fp32;
  std::vector<std::int64_t> shape;
  std::optional<Bytes> bytes;  // size of one, where the shape does not tell
  friend bool operator==(const Port&, const Port&) = default;
  void visit(auto& archive) { archive(name, type, shape, bytes); }
};

struct Body {
  Runtime runtime = Runtime::emulated;
  std::string model;                 // a file: TorchScript, kernel graph or Python source
  std::vector<std::string> command;  // process: program, arguments; Python: interpreter ("": as usual), requirements
  GpuForm form;                      // torch: in which it is to compute on a GPU
  friend bool operator==(const Body&, const Body&) = default;
  void visit(auto& archive) { archive(runtime, model, command, form); }
};

struct Function {
  std::string name;
  std::optional<Body> cpu, gpu;       // at least one; both equal if one body serves every device
  std::vector<Port> inputs, outputs;  // empty: not declared, then names are not checked
  std::optional<Bytes> input_bytes;   // of one invocation
  std::optional<Bytes> memory;        // resident, per instance
  ColdStart cold_start;
  std::uint32_t min_instances = 0;  // that stay loaded while it is deployed, whether somebody calls it or not
  Profile profile;
  friend bool operator==(const Function&, const Function&) = default;
  void visit(auto& archive) {
    archive(name, cpu, gpu, inputs, outputs, input_bytes, memory, cold_start, min_instances, profile);
  }
};

// The version of a function is a hash of its content: all fields but the name and how many of it are kept loaded.
using FunctionVersion = std::uint64_t;
[[nodiscard]] FunctionVersion version_of(const Function& function);
[[nodiscard]] bool is_emulated(const Function& function);
// A hash of what a worker loads: functions that have it in common can use the same worker, whatever their profiles say.
// Of an emulated function the profile is what it does.
[[nodiscard]] std::uint64_t code_of(const Function& function);

[[nodiscard]] std::string_view name_of(Runtime runtime);  // "torch"
[[nodiscard]] std::string_view name_of(DataType type);    // "FP32", as in the Open Inference Protocol
[[nodiscard]] std::optional<Runtime> runtime_of(std::string_view name);
[[nodiscard]] std::optional<DataType> data_type_of(std::string_view name);
[[nodiscard]] std::span<const std::string_view> runtime_names();
[[nodiscard]] std::span<const std::string_view> data_type_names();

}  // namespace sluice
