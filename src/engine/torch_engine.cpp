// Compiled into `sluice-torch.so` alone. libtorch throws: everything is caught here.
#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include "engine/torch_call.h"

#include <exception>
#include <istream>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "engine/model_file.h"
#include "engine/torch_entry.h"

namespace sluice::engine {
namespace {

// Optimised, loading takes 6 to 200 ms longer and every call is 1.6 to 3.5 times as fast (small CNN to ResNet-18):
// batch normalisation is folded and convolutions use packed weights. Not every module can be frozen; such a one runs as
// it is.
struct Model {
  torch::jit::Module module;
  bool frozen = false;  // it has no state that a call could change
};
Model optimised(torch::jit::Module module) {
  try {
    return {torch::jit::optimize_for_inference(module), true};
  } catch (const std::exception& exception) {
    (void)torch_error(exception);
    return {module, false};
  }
}

// The executor that watches the first calls makes them 2 to 100 times as slow, and nothing faster afterwards, so that
// it is off when models run. It has to be on while one is optimised: without it calls are not inlined, and freezing
// drops methods that are still called. Both are settings of the thread that calls.
Model read_model(std::istream& file) {
  torch::jit::setGraphExecutorOptimize(true);
  torch::jit::Module module = torch::jit::load(file, at::kCPU);
  module.eval();
  Model model = optimised(std::move(module));
  torch::jit::setGraphExecutorOptimize(false);
  return model;
}

class TorchEngine : public Engine {
 public:
  Status load(const Function& function, const Body& body, const LoadInto& into) override {
    call_ = TorchCall(function.inputs, function.outputs);
    try {
      at::set_num_threads(static_cast<int>(into.threads));
      ModelFile file(body.model, into.model);
      if (!file) return Error{ErrorCode::not_found, str("model `", shown_name(body.model), "` cannot be read")};
      model_ = read_model(file.stream());
      return Done{};
    } catch (const std::exception& exception) {
      return Error{ErrorCode::invalid, str("model `", shown_name(body.model),
                                           "` cannot be loaded as TorchScript: ", torch_error(exception).message)};
    }
  }

  [[nodiscard]] bool concurrent() const override { return model_.frozen; }

  // Inference mode, the number of threads and the executor's setting belong to the thread that calls.
  Result<Outputs> run(const Batch& batch, BatchContext& context) override {
    const c10::InferenceMode inference;
    try {
      torch::jit::setGraphExecutorOptimize(false);
      at::set_num_threads(static_cast<int>(batch.threads));
      auto inputs = torch_inputs(batch);
      if (!inputs) return inputs.error();
      std::vector<TorchOutput> outputs;
      if (const auto ran = call_.forward(model_.module, *inputs, batch.rows, outputs); !ran) return ran.error();
      return copied(outputs, context);
    } catch (const std::exception& exception) {
      return torch_error(exception);
    }
  }

 private:
  // The only copy of outputs; it also makes them contiguous and of the declared type.
  static Result<Outputs> copied(const std::vector<TorchOutput>& outputs, OutputSpace& space) {
    auto placed = place_outputs(outputs, space);
    if (!placed) return placed.error();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& [info, bytes] = (*placed)[i].tensor;
      if (!bytes.empty())
        at::from_blob(bytes.data(), dimensions(info.shape), *scalar_type(info.type)).copy_(outputs[i].tensor);
    }
    return Outputs{.tensors = std::move(*placed)};
  }

  TorchCall call_;
  Model model_;
};

}  // namespace
}  // namespace sluice::engine

sluice::engine::Engine* sluice_make_torch_engine() {
  return std::make_unique<sluice::engine::TorchEngine>().release();
}

// Saves and loads a small network and runs it, so that a child finds everything a model needs where it is.
// On one thread: a child that asks for two hangs for ever if its parent ever had a pool of two.
void sluice_warm_torch() {
  try {
    at::set_num_threads(1);
    torch::jit::Module module("Warm");
    module.register_attribute("training", c10::BoolType::get(), false);
    module.register_parameter("filter", at::ones({4, 3, 3, 3}), false);
    module.register_parameter("weight", at::ones({2, 4}), false);
    module.define(
        "def forward(self, x):\n"
        "  return torch.matmul(torch.mean(torch.relu(torch.conv2d(x, self.filter)), [2, 3]), self.weight.t())\n");
    std::stringstream file;
    module.save(file);
    auto loaded = sluice::engine::read_model(file).module;
    const c10::InferenceMode inference;
    (void)loaded.forward({at::ones({1, 3, 8, 8})});
  } catch (const std::exception& exception) {
    (void)sluice::engine::torch_error(exception);  // then children warm up by themselves
  }
}
