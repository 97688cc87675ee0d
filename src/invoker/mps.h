// Mps: NVIDIA's daemon, one for each GPU, with which the workers of several tenants compute on it at the same time;
// without it they take turns. Workers find it by their environment. Caveat: a fault of one of them on the device is
// felt by the others of that GPU, which end and are made anew.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "invoker/gpus.h"

namespace sluice::invoker {

class Mps {
 public:
  // `program`: nvidia-cuda-mps-control, looked for in PATH. Ends daemons first that a killed server left. An error says
  // what it cannot do; then none is left running.
  [[nodiscard]] static Result<std::unique_ptr<Mps>> start(const std::vector<GpuDevice>& gpus, std::string program);
  ~Mps();  // ends them
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  // For workers on this one, as NAME=VALUE.
  [[nodiscard]] const std::vector<std::string>& environment(std::size_t gpu) const { return environments_[gpu]; }

 private:
  Mps(std::string program, std::string folder) : program_(std::move(program)), folder_(std::move(folder)) {}
  [[nodiscard]] Status start_one(const GpuDevice& gpu);

  std::string program_, folder_;
  std::vector<std::vector<std::string>> environments_;  // of daemons that were started
};

}  // namespace sluice::invoker
