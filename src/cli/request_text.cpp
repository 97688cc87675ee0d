#include "cli/request_text.h"

#include <fmt/format.h>

#include "cli/json_fields.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "client/server_address.h"

namespace sluice::cli {

std::string full_id(std::string_view id) {
  constexpr std::size_t kDigits = 16;
  const bool digits = id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!digits || id.size() >= kDigits) return client::url_encoded(id);
  return std::string(kDigits - id.size(), '0') + std::string(id);
}

std::string outcome(const data::Json& request) {
  const std::string state = text_at(request, "state");
  const auto slack = maybe_number_at(request, "slack_ms");
  std::string out = state;
  if (state == "met" && slack) out = fmt::format("met, slack {}", ms_text(*slack));
  if (state == "late" && slack) out = fmt::format("late by {}", ms_text(-*slack));
  const std::string stage = text_at(request, "stage"), error = text_at(request, "error");
  if (!stage.empty()) out += fmt::format(" in stage '{}'", stage);
  if (!error.empty()) out += fmt::format(": {}", error);
  return out;
}

std::string heading(const data::Json& request) {
  const std::string state = text_at(request, "state"), words = outcome(request);
  const bool bad = state == "late" || state == "failed" || state == "rejected";
  return fmt::format("request {} of '{}'   SLO {}   {}\n", text_at(request, "id"), text_at(request, "application"),
                     ms_text(number_at(request, "slo_ms")),
                     state == "met" ? green(words)
                     : bad          ? red(words)
                                    : words);
}

}  // namespace sluice::cli
