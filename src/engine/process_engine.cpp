#include "engine/process_engine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>
#include <mutex>
#include <utility>

#include "base/text.h"
#include "data/json.h"
#include "engine/join_rows.h"
#include "engine/program.h"
#include "engine/rows.h"
#include "engine/tensor_json.h"

namespace sluice::engine {
namespace {

using data::Json;

// The inputs of every row, in the order in which they came.
Result<std::vector<std::vector<data::TensorView>>> inputs_by_row(const Batch& batch) {
  std::vector<std::vector<data::TensorView>> by_row(batch.rows);
  for (const BatchTensor& input : batch.inputs) {
    if (input.row != kAllRows) {
      by_row[static_cast<std::size_t>(input.row)].push_back(input.tensor);
      continue;
    }
    auto rows = rows_of(input.tensor, batch.rows);
    if (!rows) return rows.error();
    for (std::size_t i = 0; i < rows->size(); ++i) by_row[i].push_back(std::move((*rows)[i]));
  }
  return by_row;
}

void append_hex(std::string& out, std::uint64_t number) {
  std::array<char, 16> digits{};
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  const auto length = static_cast<std::size_t>(end - digits.data());
  out.append(digits.size() - length, '0').append(digits.data(), length);
}

// What a program says about its failure, which may be any value.
std::string reason(const Json& error) {
  const auto* text = error.as<std::string>();
  std::string said = text != nullptr ? *text : data::to_text(error);
  return said.empty() ? "the program failed without a reason" : said;
}

// A program answers one line after the other: of batches that run at once, each has a program of its own.
class ProcessEngine : public Engine {
 public:
  Status load(const Function& function, const Body& body, const LoadInto&) override {
    function_ = function.name;
    outputs_ = function.outputs;
    command_ = body.command;
    auto program = Program::start(command_);
    if (!program) return program.error();
    idle_.push_back(std::move(*program));
    return Done{};
  }
  [[nodiscard]] bool concurrent() const override { return true; }

  Result<Outputs> run(const Batch& batch, BatchContext& context) override {
    auto inputs = inputs_by_row(batch);
    if (!inputs) return inputs.error();
    auto program = take();
    if (!program) return program.error();
    std::vector<RowOutputs> rows;
    for (const auto& row : *inputs) {
      auto outputs = answer(*program, row, batch.deadline);
      if (!outputs) return outputs.error();  // the program goes
      rows.push_back(std::move(*outputs));
    }
    give_back(std::move(*program));
    return join_rows(std::move(rows), context);
  }

 private:
  Result<Program> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        Program program = std::move(idle_.back());
        idle_.pop_back();
        return program;
      }
    }
    return Program::start(command_);
  }
  void give_back(Program program) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(program));
  }

  // An error is one of the program; what is wrong with the row alone is in the value.
  Result<RowOutputs> answer(Program& program, const std::vector<data::TensorView>& inputs, Time deadline) {
    const auto line = request(inputs, deadline);
    if (!line) return RowOutputs{.error = line.error().message};
    const auto answer = program.exchange(*line);
    if (!answer) return answer.error();
    const auto json = data::parse_json(*answer);
    if (!json) {
      return Error{ErrorCode::internal, str("the program answered `", printable(*answer), "`: ", json.error().message)};
    }
    return outputs_of(*json);
  }

  Result<std::string> request(const std::vector<data::TensorView>& inputs, Time deadline) {
    std::string line = R"({"value":{)";
    for (const data::TensorView& input : inputs) {
      if (line.back() != '{') line += ',';
      data::append_quoted(line, input.info.name);
      line += ':';
      if (const auto appended = append_tensor(line, input); !appended) return appended.error();
    }
    line += R"(},"action_name":)";
    data::append_quoted(line, function_);
    line += str(R"(,"deadline":)", deadline.count_ns() / 1'000'000, R"(,"activation_id":")");
    append_hex(line, static_cast<std::uint64_t>(::getpid()));
    append_hex(line, ++activations_);
    line += "\"}\n";
    return line;
  }

  RowOutputs outputs_of(const Json& json) const {
    const auto* object = json.as<data::JsonObject>();
    if (object == nullptr) {
      return {.error = str("the program has to answer with an object, not with ", printable(data::to_text(json)))};
    }
    if (const Json* error = json.find("error")) return {.error = reason(*error)};
    RowOutputs row;
    if (outputs_.empty()) {
      for (const auto& [name, value] : *object) row.tensors.push_back(tensor_of(name, value));
    }
    for (const Port& port : outputs_) {
      const Json* value = json.find(port.name);
      if (value == nullptr) return {.error = str("the program's answer has no output `", port.name, "`")};
      auto tensor = tensor_of(port, *value);
      if (!tensor) return {.error = tensor.error().message};
      row.tensors.push_back(std::move(*tensor));
    }
    return row;
  }

  std::string function_;
  std::vector<Port> outputs_;
  std::vector<std::string> command_;
  std::atomic<std::uint64_t> activations_ = 0;
  std::mutex mutex_;
  std::vector<Program> idle_;  // guarded by mutex_
};

}  // namespace

std::unique_ptr<Engine> make_process_engine() {
  return std::make_unique<ProcessEngine>();
}

}  // namespace sluice::engine
