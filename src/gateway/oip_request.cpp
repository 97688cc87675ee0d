#include "gateway/oip_request.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "gateway/invalid.h"
#include "gateway/oip_data.h"
#include "gateway/oip_input.h"
#include "gateway/oip_parameters.h"
#include "live/batch_dimension.h"

namespace sluice::gateway {
namespace {

namespace ondemand = simdjson::ondemand;

// Whether the JSON is nested deeper than kJsonDepthMax. Brackets in strings do not count.
bool too_deep(std::string_view json) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (c == '\\') {
      i += in_string ? 1 : 0;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kJsonDepthMax) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      depth -= depth > 0 ? 1 : 0;
    }
  }
  return false;
}

// Reads one request; errors that Triton marks with the request's id say so, since the id may come last.
class Reader {
 public:
  Reader(const live::Model& model, data::Arena* arena, std::string_view json, std::string_view raw)
      : model_(model), arena_(arena), json_(json), raw_(raw) {
    out_.inputs = std::make_shared<data::Tensors>();
  }

  [[nodiscard]] bool wants_id() const { return wants_id_; }
  [[nodiscard]] InferRequest take() { return std::move(out_); }

  [[nodiscard]] Status read(ondemand::document& document) {
    ondemand::object root;
    if (const auto error = document.get_object().get(root)) return json_error(error);
    bool has_inputs = false;
    for (auto field : root) {
      std::string_view key;
      ondemand::value value;
      if (const auto error = field.unescaped_key().get(key)) return json_error(error);
      if (const auto error = field.value().get(value)) return json_error(error);
      has_inputs = has_inputs || key == "inputs";
      if (Status done = read_field(key, value); !done) return done;
    }
    if (document.current_location().error() == simdjson::SUCCESS) return json_error(simdjson::TRAILING_CONTENT);
    if (!has_inputs) return invalid("Unable to parse 'inputs': attempt to access non-existing object member 'inputs'");
    if (!raw_.empty()) return invalid(str("unexpected additional input data for model '", model_.name, "'"));
    if (model_.inputs.empty() && !model_.lists) out_.form.rows = live::take_batch_dimension_off(*out_.inputs) ? 1 : 0;
    return check_all_there();
  }

 private:
  Status read_field(std::string_view key, ondemand::value& value) {
    if (key == "id") return read_id(value);
    if (key == "parameters") return read_request_parameters(value, out_);
    if (key == "outputs") return read_outputs(value, model_, out_.form);
    if (key != "inputs") return Done{};
    ondemand::array inputs;
    if (value.get_array().get(inputs)) return invalid("Unable to parse 'inputs': expected an array");
    for (auto element : inputs) {
      ondemand::object input;
      if (element.get_object().get(input)) return invalid("Unable to parse 'inputs': expected an array of objects");
      if (Status done = read_input(input); !done) return done;
    }
    return Done{};
  }

  Status read_id(ondemand::value& value) {
    std::string_view id;
    if (value.get_string().get(id)) return invalid("Unable to parse 'id': expected a string");
    out_.form.id = id;
    return Done{};
  }

  // What is known of an input while its fields are read, in any order.
  struct Fields {
    InputHead head;
    bool name = false, type = false, shape = false, data = false, placed = false;
    std::optional<std::uint64_t> binary_bytes;
    [[nodiscard]] bool described() const { return name && type && shape; }
  };

  Status read_input(ondemand::object& input) {
    Fields fields;
    for (auto field : input) {
      std::string_view key;
      ondemand::value value;
      if (const auto error = field.unescaped_key().get(key)) return json_error(error);
      if (const auto error = field.value().get(value)) return json_error(error);
      if (Status done = read_input_field(key, value, fields); !done) return done;
    }
    if (!fields.name) return invalid("Unable to parse 'name': every input needs one");
    if (!fields.type) return invalid(str("Unable to parse 'datatype' of input '", fields.head.name, "'"));
    if (!fields.shape) return invalid(str("Unable to parse 'shape' of input '", fields.head.name, "'"));
    if (fields.data == fields.binary_bytes.has_value()) {
      return invalid(str("Input '", fields.head.name, "' must set exactly one of 'data' and 'binary_data_size' in ",
                         "'parameters'"));
    }
    if (fields.placed) return Done{};
    if (fields.binary_bytes) return place_binary(fields);
    return place_late(input, fields);
  }

  Status read_input_field(std::string_view key, ondemand::value& value, Fields& fields) {
    if (key == "name") {
      std::string_view name;
      if (value.get_string().get(name)) return invalid("Unable to parse 'name': expected a string");
      fields.head.name = name;
      fields.name = true;
    } else if (key == "datatype") {
      std::string_view name;
      if (value.get_string().get(name)) return invalid("Unable to parse 'datatype': expected a string");
      const auto type = data_type_of(name);
      if (!type) return invalid(str("Unable to parse 'datatype': there is no type '", printable(name), "'"));
      fields.head.type = *type;
      fields.type = true;
    } else if (key == "shape") {
      fields.shape = true;
      return read_shape(value, fields.head.shape);
    } else if (key == "parameters") {
      return read_input_parameters(value, fields.binary_bytes);
    } else if (key == "data") {
      fields.data = true;
      if (!fields.described() || fields.binary_bytes) return Done{};  // later, when all is known
      fields.placed = true;
      return place_data(value, fields);
    }
    return Done{};
  }

  static Status read_shape(ondemand::value& value, Shape& shape) {
    shape.clear();
    ondemand::array array;
    if (value.get_array().get(array)) return invalid("Unable to parse 'shape': expected an array");
    for (auto element : array) {
      std::int64_t dimension = 0;
      if (element.get_int64().get(dimension) || dimension < 0) {
        return invalid("Unable to parse 'shape': expected whole numbers from 0 on");
      }
      if (shape.size() > limits::tensor_rank_max) {
        return invalid(str("Unable to parse 'shape': more than ", limits::tensor_rank_max + 1, " dimensions"));
      }
      shape.push_back(dimension);
    }
    return Done{};
  }

  // `data` came before what describes it: look for it again.
  Status place_late(ondemand::object& input, Fields& fields) {
    ondemand::value value;
    if (const auto error = input.reset().error()) return json_error(error);
    if (const auto error = input.find_field("data").get(value)) return json_error(error);
    return place_data(value, fields);
  }

  Status place_data(ondemand::value& value, Fields& fields) {
    if (Status done = admit(fields.head); !done) return done;
    ondemand::array array;
    if (value.get_array().get(array)) return invalid("Unable to parse 'data': expected an array");
    return keep(place_json(fields.head, array, json_.size(), model_, arena_), fields.head);
  }

  Status place_binary(Fields& fields) {
    if (Status done = admit(fields.head); !done) return done;
    if (*fields.binary_bytes > raw_.size()) {
      return invalid(str("unexpected size for input '", fields.head.name, "', expecting ",
                         *fields.binary_bytes - raw_.size(), " additional bytes for model '", model_.name, "'"));
    }
    const std::string_view bytes = raw_.substr(0, *fields.binary_bytes);
    raw_.remove_prefix(bytes.size());
    wants_id_ = true;
    Status done = keep(place(fields.head, bytes, model_, arena_), fields.head);
    wants_id_ = !done.ok() && done.error().code == ErrorCode::invalid;
    return done;
  }

  // Whether the model takes such an input.
  Status admit(InputHead& head) {
    if (!model_.inputs.empty() && find_port(model_.inputs, head.name) == nullptr) {
      return invalid(str("unexpected inference input '", head.name, "' for model '", model_.name, "'"));
    }
    if (std::ranges::find(*out_.inputs, head.name, [](const auto& t) { return t.info.name; }) != out_.inputs->end()) {
      return invalid(str("input '", head.name, "' already exists in request"));
    }
    if (out_.inputs->size() == limits::stage_inputs_max) {
      return invalid(str("more than ", limits::stage_inputs_max, " inputs for model '", model_.name, "'"));
    }
    wants_id_ = true;
    if (Status done = check_input(head, model_); !done) return done;
    if (!out_.inputs->empty() && head.rows != out_.form.rows) {
      return invalid(str("input '", head.name, "' batch size does not match other inputs for '", model_.name, "'"));
    }
    wants_id_ = false;
    return Done{};
  }

  Status keep(Result<data::Tensor> tensor, const InputHead& head) {
    if (!tensor) return tensor.error();
    out_.form.rows = head.rows;
    out_.inputs->push_back(*std::move(tensor));
    return Done{};
  }

  Status check_all_there() {
    if (out_.inputs->size() >= model_.inputs.size()) return Done{};
    std::string got, missing;
    for (const data::Tensor& tensor : *out_.inputs) got += str(got.empty() ? "'" : ",'", tensor.info.name, "'");
    for (const Port& port : model_.inputs) {
      const bool there = std::ranges::any_of(*out_.inputs, [&](const auto& t) { return t.info.name == port.name; });
      if (!there) missing += str(missing.empty() ? "'" : ",'", port.name, "'");
    }
    wants_id_ = true;
    return invalid(str("expected ", model_.inputs.size(), " inputs but got ", out_.inputs->size(),
                       " inputs for model '", model_.name, "'. Got input(s) [", got,
                       "], but missing required input(s) [", missing, "]. Please provide all required input(s)."));
  }

  const live::Model& model_;
  data::Arena* arena_;
  std::string_view json_, raw_;
  InferRequest out_;
  bool wants_id_ = false;
};

// One parser a thread: its memory is reused, six times the request's.
ondemand::parser& parser() {
  thread_local ondemand::parser kept;
  return kept;
}

// At its end memory that a large request needed is given back.
struct ParserUse {
  ParserUse() = default;
  ParserUse(const ParserUse&) = delete;
  ParserUse& operator=(const ParserUse&) = delete;
  ~ParserUse() {
    static constexpr std::size_t kKeptMax = 1u << 20;
    if (parser().capacity() > kKeptMax) parser() = ondemand::parser();
  }
};

std::string id_of(std::string_view json) {
  ondemand::document document;
  std::string_view id;
  if (parser().iterate(json.data(), json.size(), json.size() + simdjson::SIMDJSON_PADDING).get(document)) return {};
  return document["id"].get_string().get(id) ? std::string() : std::string(id);
}

Result<InferRequest> read_json(std::string_view json, std::string_view raw, const live::Model& model,
                               data::Arena* arena) {
  if (json.size() > kJsonBytesMax) {
    return Error{ErrorCode::too_large, str("request JSON of ", json.size(), " bytes is longer than ", kJsonBytesMax,
                                           " bytes. Please use the binary data format for large tensors.")};
  }
  if (too_deep(json)) {
    return invalid(str("JSON nesting depth exceeds maximum allowed limit (", kJsonDepthMax, ")"));
  }
  const ParserUse use;
  ondemand::document document;
  const auto error = parser().iterate(json.data(), json.size(), json.size() + simdjson::SIMDJSON_PADDING).get(document);
  if (error) return json_error(error);
  Reader reader(model, arena, json, raw);
  const Status done = reader.read(document);
  if (done) return reader.take();
  Error refused = done.error();
  if (reader.wants_id()) refused.message = id_prefix(id_of(json)) + refused.message;
  return refused;
}

Result<InferRequest> read_raw(std::string_view body, const live::Model& model, data::Arena* arena) {
  auto tensor = place_raw(body, model, arena);
  if (!tensor) {
    Error refused = tensor.error();
    if (refused.code == ErrorCode::invalid) refused.message = id_prefix({}) + refused.message;  // it has none
    return refused;
  }
  InferRequest out;
  out.inputs = std::make_shared<data::Tensors>();
  out.inputs->push_back(*std::move(tensor));
  out.form.rows = 1;
  out.form.binary = true;
  return out;
}

}  // namespace

Result<InferRequest> read_infer_request(const InferBody& body, const live::Model& model, data::Arena* arena) {
  if (!body.json_bytes) return read_json(body.bytes, {}, model, arena);
  const auto length = parse_int(*body.json_bytes);
  if (!length) {
    return invalid(str("Unable to parse Inference-Header-Content-Length, got: ", printable(*body.json_bytes)));
  }
  if (*length < 0 || static_cast<std::uint64_t>(*length) > body.bytes.size()) {
    return invalid(str("inference header size should be in range (0, ", body.bytes.size(), "), got: ", *length));
  }
  if (*length == 0) return read_raw(body.bytes, model, arena);
  const auto json_size = static_cast<std::size_t>(*length);
  return read_json(body.bytes.substr(0, json_size), body.bytes.substr(json_size), model, arena);
}

}  // namespace sluice::gateway
