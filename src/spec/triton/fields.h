// The pieces Triton configurations are made of: messages, tensors and name maps. Used by triton.cpp.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "domain/function.h"
#include "spec/cursor.h"
#include "spec/draft.h"

namespace sluice::spec::triton {

// The fields of a message. As the tree does not tell repeated fields from others, the caller does.
class Message {
 public:
  explicit Message(const Cursor& cursor) : fields_(cursor) {}
  [[nodiscard]] std::optional<Cursor> one(std::string_view name) { return single(fields_.optional(name)); }
  [[nodiscard]] std::optional<Cursor> required(std::string_view name, std::string_view example) {
    return single(fields_.required(name, example));
  }
  [[nodiscard]] std::vector<Cursor> many(std::string_view name) { return repeated(fields_.optional(name)); }
  [[nodiscard]] std::vector<Cursor> required_many(std::string_view name, std::string_view example) {
    const auto field = fields_.required(name, example);
    auto out = repeated(field);
    if (field && out.empty()) field->error(str("is empty; write ", example));
    return out;
  }
  // Fields that mean something to Triton and nothing here: a warning where one is written.
  struct Ignored {
    std::string_view name, why;
  };
  void ignore(std::span<const Ignored> fields);
  void finish() { fields_.finish(); }  // reports fields nobody asked for

 private:
  [[nodiscard]] static std::optional<Cursor> single(std::optional<Cursor> field);
  [[nodiscard]] static std::vector<Cursor> repeated(const std::optional<Cursor>& field);
  Fields fields_;
};

struct Tensor {
  Port port;
  Mark mark;  // of its name
};
// Whose `input` and `output` declarations: an ensemble's are read to the last field; of a model's only what makes a
// port.
enum class Role { ensemble_input, ensemble_output, model };
// Broken declarations and second ones of a name are reported and left out.
[[nodiscard]] std::vector<Tensor> read_tensors(const std::vector<Cursor>& declarations, Role role);

// A tensor's name: any text without control characters; Triton's models use dots, colons and slashes in theirs.
[[nodiscard]] std::optional<Name> read_tensor_name(const Cursor& cursor);

// `input_map` and `output_map`: the model's name of a tensor and the ensemble's. Second ones of a key are reported.
[[nodiscard]] std::vector<std::pair<Name, Name>> read_name_map(const std::vector<Cursor>& entries);

// suggestion(), or nothing where there are too many candidates to compare.
[[nodiscard]] std::string near(std::string_view name, std::span<const std::string_view> candidates);

}  // namespace sluice::spec::triton
