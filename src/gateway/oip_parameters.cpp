#include "gateway/oip_parameters.h"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "domain/limits.h"
#include "gateway/invalid.h"
#include "gateway/oip_data.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::size_t kOutputsMax = 1024;  // that a request may name

Error unable(std::string_view key, std::string_view expected) {
  return invalid(str("Unable to parse '", key, "': expected ", expected));
}

// Calls take(key, value) for every field.
template <class Take>
Status each_field(ondemand::value& value, std::string_view what, Take take) {
  ondemand::object object;
  if (value.get_object().get(object)) return unable(what, "an object");
  for (auto field : object) {
    std::string_view key;
    ondemand::value inner;
    if (const auto error = field.unescaped_key().get(key)) return json_error(error);
    if (const auto error = field.value().get(inner)) return json_error(error);
    if (Status done = take(key, inner); !done) return done;
  }
  return Done{};
}

Status read_time(std::string_view key, double ns, std::optional<Duration>& out) {
  if (!(ns >= 1) || ns > static_cast<double>(limits::duration_max.count_ns())) {
    return unable(key, "a time above zero and below a year");
  }
  out = Duration::ns(static_cast<std::int64_t>(ns));
  return Done{};
}

Status read_request_parameter(std::string_view key, ondemand::value& value, InferRequest& out) {
  if (key == "timeout") {
    std::uint64_t us = 0;
    if (value.get_uint64().get(us)) return unable(key, "a whole number of microseconds");
    if (us == 0) return Done{};  // Triton's way to say none
    return read_time(key, static_cast<double>(us) * 1e3, out.timeout);
  }
  if (key == "slo_ms") {
    double ms = 0;
    if (value.get_double().get(ms)) return unable(key, "a number of milliseconds");
    return read_time(key, ms * 1e6, out.objective);
  }
  if (key == "priority") {
    std::uint64_t priority = 0;
    if (value.get_uint64().get(priority)) return unable(key, "a whole number");
    out.priority = static_cast<std::uint8_t>(std::min<std::uint64_t>(priority, 255));
    return Done{};
  }
  if (key == "binary_data_output") {
    if (value.get_bool().get(out.form.binary)) return unable(key, "true or false");
    return Done{};
  }
  if (key.starts_with("triton_")) {
    return invalid("parameter keys starting with 'triton_' are reserved for Triton usage and should not be specified.");
  }
  return Done{};
}

Status read_output_parameter(std::string_view key, ondemand::value& value, RequestedOutput& output) {
  if (key == "classification") return invalid("the classification extension is not served");
  if (key == "shared_memory_region") return invalid("the shared memory extension is not served");
  if (key != "binary_data") return Done{};
  bool binary = false;
  if (value.get_bool().get(binary)) return unable(key, "true or false");
  output.binary = binary;
  return Done{};
}

Status read_output(ondemand::value& value, const live::Model& model, ResponseForm& form) {
  RequestedOutput output;
  bool named = false;
  const Status done = each_field(value, "outputs", [&](std::string_view key, ondemand::value& inner) -> Status {
    if (key == "parameters") {
      return each_field(inner, "parameters", [&](std::string_view parameter, ondemand::value& setting) {
        return read_output_parameter(parameter, setting, output);
      });
    }
    if (key != "name") return Done{};
    std::string_view name;
    if (inner.get_string().get(name)) return unable("name", "a string");
    output.name = name;
    named = true;
    return Done{};
  });
  if (!done) return done;
  if (!named) return unable("name", "a string in every output");
  if (!model.outputs.empty() && find_port(model.outputs, output.name) == nullptr) {
    return invalid(str("unexpected inference output '", output.name, "' for model '", model.name, "'"));
  }
  if (std::ranges::find(form.outputs, output.name, &RequestedOutput::name) != form.outputs.end()) {
    return invalid(str("output '", output.name, "' already requested"));
  }
  form.outputs.push_back(std::move(output));
  return Done{};
}

}  // namespace

Status read_request_parameters(ondemand::value& value, InferRequest& out) {
  return each_field(value, "parameters", [&](std::string_view key, ondemand::value& inner) {
    return read_request_parameter(key, inner, out);
  });
}

Status read_input_parameters(ondemand::value& value, std::optional<std::uint64_t>& binary_bytes) {
  return each_field(value, "parameters", [&](std::string_view key, ondemand::value& inner) -> Status {
    if (key == "shared_memory_region") return invalid("the shared memory extension is not served");
    if (key != "binary_data_size") return Done{};
    std::uint64_t bytes = 0;
    if (inner.get_uint64().get(bytes)) return unable(key, "a whole number");
    binary_bytes = bytes;
    return Done{};
  });
}

Status read_outputs(ondemand::value& value, const live::Model& model, ResponseForm& form) {
  ondemand::array array;
  if (value.get_array().get(array)) return unable("outputs", "an array");
  for (auto element : array) {
    ondemand::value output;
    // NOLINTNEXTLINE(performance-move-const-arg): get() is there for temporaries alone
    if (const auto error = std::move(element).get(output)) return json_error(error);
    if (form.outputs.size() == kOutputsMax) return invalid(str("more than ", kOutputsMax, " outputs requested"));
    if (Status done = read_output(output, model, form); !done) return done;
  }
  return Done{};
}

}  // namespace sluice::gateway
