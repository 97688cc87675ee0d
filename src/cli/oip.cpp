#include "cli/oip.h"

#include <span>

#include "base/text.h"
#include "cli/json_fields.h"

namespace sluice::cli {
namespace {

using data::Json;
using engine::OwnTensor;

Error wrong(std::string message) {
  return {ErrorCode::invalid, std::move(message)};
}

data::Shape shape_at(const Json& tensor) {
  data::Shape out;
  for (const Json& dimension : items_at(tensor, "shape")) {
    const auto* whole = dimension.as<std::int64_t>();
    out.push_back(whole == nullptr ? -1 : *whole);
  }
  return out;
}

Result<data::TensorInfo> info_of(const Json& tensor) {
  const std::string type_name = text_at(tensor, "datatype");
  const auto type = data_type_of(type_name);
  if (!type) return wrong(str("'", text_at(tensor, "name"), "' has the unknown type '", printable(type_name), "'"));
  return data::TensorInfo{text_at(tensor, "name"), *type, shape_at(tensor)};
}

void append_input(std::string& out, const OwnTensor& tensor) {
  out += R"({"name":)";
  data::append_quoted(out, tensor.info.name);
  out += str(R"(,"datatype":")", name_of(tensor.info.type), R"(","shape":[)");
  for (const std::int64_t dimension : tensor.info.shape) out += str(out.back() == '[' ? "" : ",", dimension);
  out += str(R"(],"parameters":{"binary_data_size":)", tensor.bytes.size(), "}}");
}

Result<OwnTensor> output_of(const Json& tensor, std::string_view& binary) {
  auto info = info_of(tensor);
  if (!info) return info.error();
  OwnTensor out{std::move(*info), {}};
  const auto size = maybe_number_at(object_at(tensor, "parameters"), "binary_data_size");
  if (size) {
    if (*size < 0 || *size > static_cast<double>(binary.size())) return wrong("the answer is shorter than it says");
    out.bytes = binary.substr(0, static_cast<std::size_t>(*size));
    binary.remove_prefix(out.bytes.size());
  } else if (const Json* values = tensor.find("data")) {
    const auto* list = values->as<data::JsonArray>();
    const Port flat{out.info.name, out.info.type, {list == nullptr ? 1 : static_cast<std::int64_t>(list->size())}, {}};
    auto read = engine::tensor_of(flat, *values);
    if (!read) return read.error();
    out.bytes = std::move(read->bytes);
  } else {
    return wrong(str("output '", out.info.name, "' has no data that can be shown; --json prints the whole answer"));
  }
  const std::span<const char> bytes = out.bytes;
  if (!data::well_formed(out.info, std::as_bytes(bytes)))
    return wrong(str("output '", out.info.name, "' has other bytes than its shape asks for"));
  return out;
}

}  // namespace

Result<std::vector<Port>> inputs_of(const Json& metadata) {
  std::vector<Port> out;
  for (const Json& input : items_at(metadata, "inputs")) {
    auto info = info_of(input);
    if (!info) return info.error();
    if (!info->shape.empty() && info->shape.front() == -1) info->shape.pop_front();
    out.push_back({info->name, info->type, {info->shape.begin(), info->shape.end()}, {}});
  }
  return out;
}

client::HttpRequest infer_request(const InferOptions& options, const std::vector<OwnTensor>& inputs) {
  std::string body = R"({"parameters":{)";
  if (options.slo_ms) {
    body += R"("slo_ms":)";
    data::append_number(body, *options.slo_ms);
    body += ',';
  }
  body += str(R"("binary_data_output":)", options.binary ? "true" : "false", R"(},"inputs":[)");
  for (const OwnTensor& input : inputs) {
    if (body.back() != '[') body += ',';
    append_input(body, input);
  }
  body += "]}";
  client::HttpRequest out{
      .method = "POST",
      .target =
          str("/v2/models/", client::url_encoded(options.model), "/infer", options.asynchronous ? "?async=true" : ""),
      .headers = {{"Content-Type", "application/octet-stream"}, {"Inference-Header-Content-Length", str(body.size())}},
      .timeout = Duration::s(600)};
  for (const OwnTensor& input : inputs) body += input.bytes;
  out.body = std::move(body);
  return out;
}

Result<std::vector<OwnTensor>> outputs_of(const Json& json, std::string_view binary) {
  std::vector<OwnTensor> out;
  for (const Json& tensor : items_at(json, "outputs")) {
    auto output = output_of(tensor, binary);
    if (!output) return output.error();
    out.push_back(std::move(*output));
  }
  return out;
}

Result<std::vector<OwnTensor>> outputs_of(const client::HttpResponse& response) {
  const std::string_view body = response.body;
  const std::string* header = response.header("inference-header-content-length");
  const auto length = header == nullptr ? static_cast<std::int64_t>(body.size()) : parse_int(*header).value_or(-1);
  if (length < 0 || length > static_cast<std::int64_t>(body.size())) return wrong("the answer is shorter than it says");
  const auto json = data::parse_json(body.substr(0, static_cast<std::size_t>(length)));
  if (!json) return wrong(str("the answer is no JSON: ", json.error().message));
  return outputs_of(*json, body.substr(static_cast<std::size_t>(length)));
}

}  // namespace sluice::cli
