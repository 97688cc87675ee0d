#include "log/line.h"

#include <array>
#include <cstdio>
#include <ctime>

#include "base/text.h"
#include "data/json.h"

namespace sluice::log {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"debug", "info", "warning", "error"};
constexpr std::size_t kTextMax = 4000;

void add_field(std::string& out, std::string_view name, std::string_view value) {
  out += str(out.size() == 1 ? "\"" : ",\"", name, "\":");
  data::append_quoted(out, value);
}

}  // namespace

std::string_view name_of(Remark::Level level) {
  return kNames.at(static_cast<std::size_t>(level));
}

std::optional<Remark::Level> level_named(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Remark::Level>(i);
  }
  return std::nullopt;
}

std::string instant_text(Time at) {
  constexpr std::int64_t kMs = 1'000'000, kSecond = 1'000'000'000;
  const auto seconds = static_cast<std::time_t>(at.count_ns() / kSecond);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> ms{};
  (void)std::snprintf(ms.data(), ms.size(), ".%03dZ", static_cast<int>(at.count_ns() % kSecond / kMs));
  return str(std::string_view(text.data(), length), ms.data());
}

std::string format(const Line& line, Format format) {
  const bool fine = line.text.size() <= kTextMax && valid_utf8(line.text) &&
                    line.text.find_first_of("\n\r") == std::string_view::npos;
  const std::string text = fine ? std::string(line.text) : printable(line.text, kTextMax);
  if (format == Format::plain) return str(text, "\n");
  if (format == Format::text) {
    return str(instant_text(line.at), " ", name_of(line.level), " ", line.component, ": ", text,
               line.request.empty() ? "" : str(" [request ", line.request, "]"), "\n");
  }
  std::string out = "{";
  add_field(out, "time", instant_text(line.at));
  add_field(out, "level", name_of(line.level));
  add_field(out, "component", line.component);
  if (!line.request.empty()) add_field(out, "request", line.request);
  add_field(out, "message", text);
  return out += "}\n";
}

}  // namespace sluice::log
