#include "engine/torch_call.h"

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "base/text.h"
#include "engine/place.h"

namespace sluice::engine {

// What libtorch says spreads over many lines: the one that matters is reported, all of them go to the log.
Error torch_error(const std::exception& exception) {
  const auto* own = dynamic_cast<const c10::Error*>(&exception);
  const std::string text = own != nullptr ? own->what_without_backtrace() : exception.what();
  std::fprintf(stderr, "%s\n", text.c_str());
  constexpr std::string_view kRaised = "RuntimeError: ";
  const std::size_t raised = text.rfind(kRaised);  // last in what a script raised, below where it was
  const std::string line = text.substr(raised == std::string::npos ? 0 : raised + kRaised.size());
  const bool no_memory = text.find("CUDA out of memory") != std::string::npos;
  return {no_memory ? ErrorCode::too_large : ErrorCode::internal, line.substr(0, line.find('\n'))};
}

namespace {

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
  const Error error = torch_error(exception);
  return {error.code,
          str(error.message, "; the model was given ", given.empty() ? "no inputs" : given, " in a batch of ", rows)};
}

Status add(TorchOutput output, const Port* port, std::uint32_t rows, std::vector<TorchOutput>& out) {
  const std::string shape = text_of(output.tensor.sizes());
  if (output.tensor.dim() == 0 || output.tensor.size(0) != static_cast<std::int64_t>(rows)) {
    return Error{ErrorCode::invalid, str("output `", output.name, "` has shape ", shape,
                                         ", its first dimension has to be the ", rows, " rows")};
  }
  if (output.row != kAllRows) output.tensor = output.tensor.squeeze(0);
  const auto sizes = output.row == kAllRows ? output.tensor.sizes().slice(1) : output.tensor.sizes();
  const auto fits = [](std::int64_t wanted, std::int64_t length) { return wanted < 0 || wanted == length; };
  if (port != nullptr && !std::ranges::equal(port->shape, sizes, fits)) {
    return Error{ErrorCode::invalid, str("output `", output.name, "` has shape ", shape, ", which is not as declared")};
  }
  out.push_back(std::move(output));
  return Done{};
}

}  // namespace

Status TorchCall::forward(torch::jit::Module& module, const std::vector<TorchInput>& inputs, std::uint32_t rows,
                          std::vector<TorchOutput>& out) const {
  if (std::ranges::all_of(inputs, [](const TorchInput& input) { return input.stacked.defined(); })) {
    return call(module, inputs, kAllRows, rows, out);
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    if (auto called = call(module, inputs, static_cast<std::int32_t>(row), 1, out); !called) return called;
  }
  return Done{};
}

Status TorchCall::call(torch::jit::Module& module, const std::vector<TorchInput>& inputs, std::int32_t row,
                       std::uint32_t rows, std::vector<TorchOutput>& out) const {
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
    returned = module.forward(std::move(arguments));
  } catch (const std::exception& exception) {
    return refused(exception, inputs, inputs_, rows);
  }
  return collect(returned, row, rows, out);
}

// Puts names to what the module returned.
Status TorchCall::collect(const c10::IValue& returned, std::int32_t row, std::uint32_t rows,
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

Status TorchCall::choose(std::vector<std::pair<std::string, at::Tensor>> named, std::int32_t row, std::uint32_t rows,
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

Result<std::vector<BatchTensor>> place_outputs(const std::vector<TorchOutput>& outputs, OutputSpace& space) {
  std::vector<PlannedOutput> planned;
  for (const TorchOutput& output : outputs) {
    const std::size_t bytes = static_cast<std::size_t>(output.tensor.numel()) * data::element_size(output.type);
    planned.push_back({{output.name, output.type, output.tensor.sizes().vec()}, output.row, bytes});
  }
  return place(std::move(planned), space);
}

}  // namespace sluice::engine
