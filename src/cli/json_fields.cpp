#include "cli/json_fields.h"

namespace sluice::cli {

using data::Json;

const Json& object_at(const Json& json, std::string_view key) {
  static const Json kNull;
  const Json* found = json.find(key);
  return found == nullptr ? kNull : *found;
}

std::string text_at(const Json& json, std::string_view key) {
  const auto* text = object_at(json, key).as<std::string>();
  return text == nullptr ? "" : *text;
}

std::optional<double> number(const Json& json) {
  if (const auto* whole = json.as<std::int64_t>()) return static_cast<double>(*whole);
  if (const auto* real = json.as<double>()) return *real;
  return std::nullopt;
}

std::optional<double> maybe_number_at(const Json& json, std::string_view key) {
  return number(object_at(json, key));
}

double number_at(const Json& json, std::string_view key) {
  return maybe_number_at(json, key).value_or(0);
}

std::int64_t whole_at(const Json& json, std::string_view key) {
  const auto* whole = object_at(json, key).as<std::int64_t>();
  return whole == nullptr ? 0 : *whole;
}

bool flag_at(const Json& json, std::string_view key) {
  const auto* flag = object_at(json, key).as<bool>();
  return flag != nullptr && *flag;
}

std::span<const Json> items_at(const Json& json, std::string_view key) {
  const auto* items = object_at(json, key).as<data::JsonArray>();
  return items == nullptr ? std::span<const Json>() : std::span<const Json>(*items);
}

}  // namespace sluice::cli
