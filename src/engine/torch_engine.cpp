// Compiled into `sluice-torch.so` alone. libtorch throws: everything is caught here.
#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include "engine/torch_tensor.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <istream>
#include <sstream>
#include <utility>

#include "base/text.h"
#include "engine/place.h"
#include "engine/torch_entry.h"

namespace sluice::engine {
namespace {

// What libtorch says spreads over many lines: the one that matters is reported, all of them go to the log.
Error failed(const std::exception& exception) {
  const auto* own = dynamic_cast<const c10::Error*>(&exception);
  const std::string text = own != nullptr ? own->what_without_backtrace() : exception.what();
  std::fprintf(stderr, "%s\n", text.c_str());
  constexpr std::string_view kRaised = "RuntimeError: ";
  const std::size_t raised = text.rfind(kRaised);  // last in what a script raised, below where it was
  const std::string line = text.substr(raised == std::string::npos ? 0 : raised + kRaised.size());
  return {ErrorCode::internal, line.substr(0, line.find('\n'))};
}

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
    (void)failed(exception);
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

std::string text_of(at::IntArrayRef shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

// What torch says, first, since errors go by the name they begin with; then what the model was given: mostly it is the
// shapes of its inputs that it could not use.
Error refused(const std::exception& exception, const std::vector<TorchInput>& inputs, const std::vector<Port>& declared,
              std::uint32_t rows) {
  std::string given;
  for (const TorchInput& input : inputs) {
    const bool all = input.stacked.defined();
    const at::Tensor& tensor = all ? input.stacked : input.rows.front();
    if (!tensor.defined()) continue;
    given += str(given.empty() ? "" : ", ", "input `", input.name, "` of shape ",
                 text_of(all ? tensor.sizes().slice(1) : tensor.sizes()));
    const auto port = std::ranges::find(declared, input.name, &Port::name);
    if (port != declared.end()) given += str(" (declared ", text_of(port->shape), ")");
  }
  return {ErrorCode::internal, str(failed(exception).message, "; the model was given ",
                                   given.empty() ? "no inputs" : given, " in a batch of ", rows)};
}

struct TorchOutput {
  std::string name;
  std::int32_t row = kAllRows;
  DataType type = DataType::fp32;
  at::Tensor tensor;
};

class TorchEngine : public Engine {
 public:
  Status load(const Function& function, const Body& body, std::uint32_t threads) override {
    inputs_ = function.inputs;
    outputs_ = function.outputs;
    try {
      at::set_num_threads(static_cast<int>(threads));
      std::ifstream file(body.model, std::ios::binary);
      if (!file) return Error{ErrorCode::not_found, str("model `", body.model, "` cannot be read")};
      model_ = read_model(file);
      return Done{};
    } catch (const std::exception& exception) {
      return Error{ErrorCode::invalid, str("model `", body.model, "` cannot be loaded: ", failed(exception).message)};
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
      if (const auto ran = forward(*inputs, batch.rows, outputs); !ran) return ran.error();
      return copied(std::move(outputs), context);
    } catch (const std::exception& exception) {
      return failed(exception);
    }
  }

 private:
  // All rows at once where that can be done.
  Status forward(const std::vector<TorchInput>& inputs, std::uint32_t rows, std::vector<TorchOutput>& out) {
    if (std::ranges::all_of(inputs, [](const TorchInput& input) { return input.stacked.defined(); })) {
      return call(inputs, kAllRows, rows, out);
    }
    for (std::uint32_t row = 0; row < rows; ++row) {
      if (auto called = call(inputs, static_cast<std::int32_t>(row), 1, out); !called) return called;
    }
    return Done{};
  }

  Status call(const std::vector<TorchInput>& inputs, std::int32_t row, std::uint32_t rows,
              std::vector<TorchOutput>& out) {
    std::vector<c10::IValue> arguments;
    const auto give = [&](const TorchInput& input) {
      arguments.emplace_back(row == kAllRows ? input.stacked : input.row(row));
      return arguments.back().toTensor().defined();
    };
    for (const Port& port : inputs_) {
      const auto input = std::ranges::find(inputs, port.name, &TorchInput::name);
      if (input == inputs.end() || !give(*input)) {
        return Error{ErrorCode::invalid, str("input `", port.name, "` is missing")};
      }
    }
    for (const TorchInput& input : inputs) {
      if (inputs_.empty() && !give(input)) return Error{ErrorCode::invalid, str("input `", input.name, "` is missing")};
    }
    c10::IValue returned;
    try {
      returned = model_.module.forward(std::move(arguments));
    } catch (const std::exception& exception) {
      return refused(exception, inputs, inputs_, rows);
    }
    return collect(returned, row, rows, out);
  }

  // Puts names to what the module returned.
  Status collect(const c10::IValue& returned, std::int32_t row, std::uint32_t rows,
                 std::vector<TorchOutput>& out) const {
    std::vector<std::pair<std::string, at::Tensor>> named;
    const auto add = [&](const c10::IValue& value) {
      const std::size_t number = named.size();
      named.emplace_back(number < outputs_.size() ? outputs_[number].name : str("output", number), value.toTensor());
    };
    if (returned.isTensor()) {
      add(returned);
    } else if (returned.isTuple()) {
      for (const c10::IValue& value : returned.toTupleRef().elements()) add(value);
    } else if (returned.isTensorList()) {
      for (const at::Tensor& value : returned.toTensorVector()) add(value);
    } else if (returned.isGenericDict()) {
      for (const auto& entry : returned.toGenericDict()) {
        named.emplace_back(entry.key().toStringRef(), entry.value().toTensor());
      }
    } else {
      return Error{ErrorCode::invalid, str("the model returned a value of type ", returned.tagKind(),
                                           ", which is neither a tensor nor some")};
    }
    return choose(std::move(named), row, rows, out);
  }

  Status choose(std::vector<std::pair<std::string, at::Tensor>> named, std::int32_t row, std::uint32_t rows,
                std::vector<TorchOutput>& out) const {
    if (outputs_.empty()) {
      for (auto& [name, tensor] : named) {
        const auto type = data_type(tensor.scalar_type());
        if (!type) return Error{ErrorCode::invalid, str("output `", name, "` is of a type that tensors cannot have")};
        if (auto added = add({name, row, *type, tensor}, nullptr, rows, out); !added) return added;
      }
    }
    for (const Port& port : outputs_) {
      const auto found =
          std::ranges::find(named, port.name, [](const auto& pair) -> const std::string& { return pair.first; });
      if (found == named.end()) return Error{ErrorCode::invalid, str("the model returned no output `", port.name, "`")};
      if (!scalar_type(port.type)) {
        return Error{ErrorCode::invalid,
                     str("output `", port.name, "` is declared ", name_of(port.type), ", which torch does not have")};
      }
      if (auto added = add({port.name, row, port.type, found->second}, &port, rows, out); !added) return added;
    }
    return Done{};
  }

  static Status add(TorchOutput output, const Port* port, std::uint32_t rows, std::vector<TorchOutput>& out) {
    const std::string shape = text_of(output.tensor.sizes());
    if (output.tensor.dim() == 0 || output.tensor.size(0) != static_cast<std::int64_t>(rows)) {
      return Error{ErrorCode::invalid, str("output `", output.name, "` has shape ", shape,
                                           ", its first dimension has to be the ", rows, " rows")};
    }
    if (output.row != kAllRows) output.tensor = output.tensor.squeeze(0);
    const auto sizes = output.row == kAllRows ? output.tensor.sizes().slice(1) : output.tensor.sizes();
    const auto fits = [](std::int64_t wanted, std::int64_t length) { return wanted < 0 || wanted == length; };
    if (port != nullptr && !std::ranges::equal(port->shape, sizes, fits)) {
      return Error{ErrorCode::invalid,
                   str("output `", output.name, "` has shape ", shape, ", which is not as declared")};
    }
    out.push_back(std::move(output));
    return Done{};
  }

  // The only copy of outputs; it also makes them contiguous and of the declared type.
  static Result<Outputs> copied(std::vector<TorchOutput> outputs, OutputSpace& space) {
    std::vector<PlannedOutput> planned;
    for (const TorchOutput& output : outputs) {
      const std::size_t bytes = static_cast<std::size_t>(output.tensor.numel()) * data::element_size(output.type);
      planned.push_back({{output.name, output.type, output.tensor.sizes().vec()}, output.row, bytes});
    }
    auto placed = place(std::move(planned), space);
    if (!placed) return placed.error();
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const auto& [info, bytes] = (*placed)[i].tensor;
      if (!bytes.empty())
        at::from_blob(bytes.data(), dimensions(info.shape), *scalar_type(info.type)).copy_(outputs[i].tensor);
    }
    return Outputs{.tensors = std::move(*placed)};
  }

  std::vector<Port> inputs_, outputs_;
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
    (void)sluice::engine::failed(exception);  // then children warm up by themselves
  }
}
