#include "gateway/oip_response.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"
#include "gateway/base64.h"
#include "gateway/json_text.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {
namespace {

std::string_view text_of(const data::Tensor& tensor) {
  const auto bytes = tensor.bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_json_form(DataType type) {
  return type != DataType::fp16 && type != DataType::bf16;
}

template <class T>
void append_numbers(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
    T number{};
    std::memcpy(&number, bytes.data() + i, sizeof(T));
    if (i > 0) out += ',';
    append_json(out, number);
  }
}

void append_booleans(std::string& out, std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out += ',';
    out += bytes[i] != 0 ? "true" : "false";
  }
}

// Each is copied before it is looked at: a worker may be writing it.
void append_texts(std::string& out, const data::Tensor& tensor) {
  const auto texts = data::texts_of(tensor);
  for (std::size_t i = 0; texts && i < texts->size(); ++i) {
    const auto bytes = (*texts)[i];
    if (i > 0) out += ',';
    append_json(out, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  }
}

void append_values(std::string& out, const data::Tensor& tensor) {
  const std::string_view bytes = text_of(tensor);
  switch (tensor.info.type) {
    case DataType::boolean:
      return append_booleans(out, bytes);
    case DataType::uint8:
      return append_numbers<std::uint8_t>(out, bytes);
    case DataType::uint16:
      return append_numbers<std::uint16_t>(out, bytes);
    case DataType::uint32:
      return append_numbers<std::uint32_t>(out, bytes);
    case DataType::uint64:
      return append_numbers<std::uint64_t>(out, bytes);
    case DataType::int8:
      return append_numbers<std::int8_t>(out, bytes);
    case DataType::int16:
      return append_numbers<std::int16_t>(out, bytes);
    case DataType::int32:
      return append_numbers<std::int32_t>(out, bytes);
    case DataType::int64:
      return append_numbers<std::int64_t>(out, bytes);
    case DataType::fp32:
      return append_numbers<float>(out, bytes);
    case DataType::fp64:
      return append_numbers<double>(out, bytes);
    case DataType::bytes:
      return append_texts(out, tensor);
    case DataType::fp16:
    case DataType::bf16:
      return;
  }
}

void append_data(std::string& out, const data::Tensor& tensor) {
  out += ",\"data\":[";
  append_values(out, tensor);
  out += ']';
}

// The rows of one output, which are all of the same shape.
void append_data(std::string& out, std::span<const data::Tensor* const> rows) {
  out += ",\"data\":[";
  const bool empty = rows.front()->size == 0;
  for (const data::Tensor* row : rows) {
    if (row != rows.front() && !empty) out += ',';
    append_values(out, *row);
  }
  out += ']';
}

void append_head(std::string& out, const data::TensorInfo& info, std::uint32_t rows) {
  out += "{\"name\":";
  append_json(out, info.name);
  out += ",\"datatype\":\"";
  out += name_of(info.type);
  out += "\",\"shape\":[";
  if (rows > 0) {
    append_json(out, rows);
    if (!info.shape.empty()) out += ',';
  }
  for (std::size_t i = 0; i < info.shape.size(); ++i) {
    if (i > 0) out += ',';
    append_json(out, info.shape[i]);
  }
  out += ']';
}

std::string begin(const ModelName& model, std::string_view id) {
  constexpr std::size_t kUsual = 256;  // the answer with a few numbers: it need not grow piece by piece
  std::string out;
  out.reserve(kUsual);
  out += '{';
  if (!id.empty()) {
    out += "\"id\":";
    append_json(out, id);
    out += ',';
  }
  out += "\"model_name\":";
  append_json(out, model.name);
  out += ",\"model_version\":\"";
  append_json(out, model.version);
  out += "\",\"outputs\":[";
  return out;
}

const data::Tensor* find(const data::Tensors& tensors, std::string_view name) {
  const auto found = std::ranges::find_if(tensors, [&](const data::Tensor& t) { return t.info.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

Error cannot_stack(const data::Tensor& first, const data::Tensor* other, std::size_t row) {
  const auto described = [](const data::Tensor& t) { return str(name_of(t.info.type), " ", shape_text(t.info.shape)); };
  return {ErrorCode::invalid, str("the rows of output '", first.info.name, "' cannot be stacked: row 0 is ",
                                  described(first), ", row ", row, other == nullptr ? " has none" : " is ",
                                  other == nullptr ? "" : described(*other), ". Please send these rows one by one.")};
}

class Writer {
 public:
  Writer(const ModelName& model, const ResponseForm& form, std::span<const data::Tensors> further)
      : model_(model), form_(form), further_(further), out_(begin(model, form.id)) {}

  Status add(const data::Tensor& tensor, bool binary) {
    if (!binary && !has_json_form(tensor.info.type)) {
      return Error{
          ErrorCode::invalid,
          str("sending ", name_of(tensor.info.type),
              " data via JSON is not supported. Please use the binary data format for output ", tensor.info.name)};
    }
    if (!first_) out_ += ',';
    first_ = false;
    append_head(out_, tensor.info, form_.rows);
    if (!further_.empty()) {
      if (Status done = add_rows(tensor, binary); !done) return done;
    } else if (binary) {
      out_ += ",\"parameters\":{\"binary_data_size\":";
      append_json(out_, tensor.size);
      out_ += '}';
      binary_.push_back(&tensor);
    } else {
      append_data(out_, tensor);
    }
    out_ += '}';
    return Done{};
  }

  InferResponse finish() {
    out_ += "]}";
    if (binary_.empty()) return {.body = std::move(out_), .json_bytes = std::nullopt};
    const std::size_t json_bytes = out_.size();
    std::size_t total = json_bytes;
    for (const data::Tensor* tensor : binary_) total += tensor->size;
    out_.reserve(total);
    for (const data::Tensor* tensor : binary_) out_ += text_of(*tensor);
    return {.body = std::move(out_), .json_bytes = json_bytes};
  }

  // REQUIRES: every output that is asked for was declared, or outputs are not declared.
  Status add_requested(const RequestedOutput& wanted, const data::Tensors& outputs) {
    const data::Tensor* found = find(outputs, wanted.name);
    if (found == nullptr) {
      return Error{ErrorCode::invalid,
                   str("unexpected inference output '", wanted.name, "' for model '", model_.name, "'")};
    }
    return add(*found, wanted.binary.value_or(form_.binary));
  }

 private:
  Status add_rows(const data::Tensor& first, bool binary) {
    std::vector<const data::Tensor*> rows = {&first};
    std::size_t bytes = first.size;
    for (const data::Tensors& further : further_) {
      const data::Tensor* row = find(further, first.info.name);
      if (row == nullptr || row->info != first.info) return cannot_stack(first, row, rows.size());
      rows.push_back(row);
      bytes += row->size;
    }
    if (!binary) return append_data(out_, rows), Done{};
    out_ += ",\"parameters\":{\"binary_data_size\":";
    append_json(out_, bytes);
    out_ += '}';
    binary_.insert(binary_.end(), rows.begin(), rows.end());
    return Done{};
  }

  ModelName model_;
  const ResponseForm& form_;
  std::span<const data::Tensors> further_;  // of the rows after the first
  std::string out_;
  std::vector<const data::Tensor*> binary_;
  bool first_ = true;
};

}  // namespace

Result<InferResponse> write_infer_response(const ModelName& model, const ResponseForm& form,
                                           const data::Tensors& outputs, std::span<const data::Tensors> further) {
  Writer writer(model, form, further);
  for (const RequestedOutput& wanted : form.outputs) {
    if (Status done = writer.add_requested(wanted, outputs); !done) return done.error();
  }
  if (!form.outputs.empty()) return writer.finish();
  for (const data::Tensor& tensor : outputs) {
    if (Status done = writer.add(tensor, form.binary); !done) return done.error();
  }
  return writer.finish();
}

std::string write_stored_result(const ModelName& model, std::string_view caller_id, const data::Tensors& outputs) {
  std::string out = begin(model, caller_id);
  for (const data::Tensor& tensor : outputs) {
    if (&tensor != &outputs.front()) out += ',';
    append_head(out, tensor.info, 0);
    if (has_json_form(tensor.info.type)) {
      append_data(out, tensor);
    } else {
      out += ",\"base64\":\"" + to_base64(text_of(tensor)) + '"';
    }
    out += '}';
  }
  return out + "]}";
}

}  // namespace sluice::gateway
