#include "spec/triton/fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "base/text.h"
#include "domain/limits.h"

namespace sluice::spec::triton {
namespace {

// In the order of DataType.
constexpr std::array<std::string_view, 14> kDataTypes = {
    "TYPE_BOOL",  "TYPE_UINT8", "TYPE_UINT16", "TYPE_UINT32", "TYPE_UINT64", "TYPE_INT8", "TYPE_INT16",
    "TYPE_INT32", "TYPE_INT64", "TYPE_FP16",   "TYPE_BF16",   "TYPE_FP32",   "TYPE_FP64", "TYPE_STRING"};

constexpr std::array<Message::Ignored, 3> kIgnoredInTensors = {{
    {"format", "the layout of an image is the functions' affair"},
    {"is_shape_tensor", "a shape tensor is passed like any other"},
    {"is_non_linear_format_io", "tensors are passed in linear order"},
}};
constexpr std::array<Message::Ignored, 1> kIgnoredInInputs = {{
    {"allow_ragged_batch", "a batch holds inputs of any shape its function takes"},
}};
constexpr std::array<Message::Ignored, 1> kIgnoredInOutputs = {{
    {"label_filename", "answers carry numbers, not labels"},
}};

std::optional<std::vector<std::int64_t>> read_dims(Message& message) {
  const auto dims = message.required_many("dims", "dims: [3, 224, 224], where -1 stands for any length");
  if (dims.empty()) return std::nullopt;
  std::vector<std::int64_t> shape;
  for (const Cursor& item : dims) {
    using Limits = std::numeric_limits<std::int64_t>;
    const auto length = item.integer(Limits::min(), Limits::max());
    if (!length) return std::nullopt;
    if (*length < 1 && *length != -1) {
      item.error(str("is ", *length, "; a dimension is 1 or more, or -1 for any length"));
      return std::nullopt;
    }
    shape.push_back(*length);
  }
  if (shape.size() <= limits::tensor_rank_max) return shape;
  dims.back().error(str("is one of ", shape.size(), " dimensions; at most ", limits::tensor_rank_max, " are possible"));
  return std::nullopt;
}

// What a declaration may say beyond name, type and shape.
void read_rest(Message& message, Role role) {
  if (const auto reshape = message.one("reshape"))
    reshape->error("is not supported: a tensor keeps its shape on its way");
  message.ignore(kIgnoredInTensors);
  if (role == Role::ensemble_output) {
    message.ignore(kIgnoredInOutputs);
  } else {
    message.ignore(kIgnoredInInputs);
    const auto optional = message.one("optional");
    if (optional && optional->boolean().value_or(false)) optional->warning("ignored: a request brings every input");
  }
  message.finish();
}

std::optional<Tensor> read_tensor(const Cursor& cursor, Role role) {
  Message message(cursor);
  const auto name_field = message.required("name", "name: \"image\"");
  const auto type_field = message.required("data_type", "data_type: TYPE_FP32");
  const auto name = name_field ? read_tensor_name(*name_field) : std::nullopt;
  const auto type = type_field ? type_field->choice(kDataTypes) : std::nullopt;
  auto shape = read_dims(message);
  if (role != Role::model) read_rest(message, role);
  if (!name || !type || !shape) return std::nullopt;
  return Tensor{.port = {.name = name->text, .type = static_cast<DataType>(*type), .shape = std::move(*shape)},
                .mark = name->mark};
}

}  // namespace

void Message::ignore(std::span<const Ignored> fields) {
  for (const auto& [name, why] : fields) {
    if (const auto field = fields_.optional(name)) field->warning(str("ignored: ", why));
  }
}

std::optional<Cursor> Message::single(std::optional<Cursor> field) {
  if (!field || field->node().kind != Node::Kind::sequence || field->node().items.size() < 2) return field;
  field->error_at(field->node().items[1].mark, "is given more than once");
  return std::nullopt;
}

std::vector<Cursor> Message::repeated(const std::optional<Cursor>& field) {
  if (!field) return {};
  if (field->node().kind == Node::Kind::sequence) return field->items();
  return {*field};
}

std::optional<Name> read_tensor_name(const Cursor& cursor) {
  auto text = cursor.text();
  if (!text) return std::nullopt;
  const bool control =
      std::any_of(text->begin(), text->end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; });
  if (control || text->size() > limits::name_length_max) {
    cursor.error(str("'", printable(*text), "' is not a tensor's name: at most ", limits::name_length_max,
                     " characters, and no line breaks or tabs"));
    return std::nullopt;
  }
  return Name{std::move(*text), cursor.mark()};
}

std::vector<Tensor> read_tensors(const std::vector<Cursor>& declarations, Role role) {
  std::vector<Tensor> out;
  std::set<std::string> seen;
  for (const Cursor& cursor : declarations) {
    auto tensor = read_tensor(cursor, role);
    if (!tensor) continue;
    if (!seen.insert(tensor->port.name).second) {
      cursor.error_at(tensor->mark, str("the tensor '", printable(tensor->port.name), "' is declared twice"));
    } else {
      out.push_back(std::move(*tensor));
    }
  }
  return out;
}

std::vector<std::pair<Name, Name>> read_name_map(const std::vector<Cursor>& entries) {
  std::vector<std::pair<Name, Name>> out;
  std::set<std::string> seen;
  for (const Cursor& cursor : entries) {
    Message message(cursor);
    const auto key_field = message.required("key", "key: \"the model's name of the tensor\"");
    const auto value_field = message.required("value", "value: \"the ensemble's name of the tensor\"");
    message.finish();
    const auto key = key_field ? read_tensor_name(*key_field) : std::nullopt;
    const auto value = value_field ? read_tensor_name(*value_field) : std::nullopt;
    if (key && !seen.insert(key->text).second) {
      key_field->error(str("'", printable(key->text), "' is mapped twice in this step"));
    }
    // Also without a key, which is reported: else the tensor would be reported as missing, too.
    if (value) out.emplace_back(key.value_or(Name{}), *value);
  }
  return out;
}

std::string near(std::string_view name, std::span<const std::string_view> candidates) {
  constexpr std::size_t kCandidatesMax = 1'000;
  return candidates.size() <= kCandidatesMax ? suggestion(name, candidates) : "";
}

}  // namespace sluice::spec::triton
