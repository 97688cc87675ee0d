#include "report/reproduce_page.h"

#include <nlohmann/json.hpp>

#include "base/check.h"

namespace sluice::report {

std::string reproduce_html(std::string_view paper, std::span<const reproduce::Row> rows) {
  nlohmann::ordered_json data = nlohmann::ordered_json::parse(reproduce::to_json(paper, rows));
  for (std::size_t i = 0; i < rows.size(); ++i) data["rows"][i]["claim"] = rows[i].claim;
  std::string text = data.dump();
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;) text.replace(at, 1, "\\u003c");
  std::string page(kReproducePage);
  constexpr std::string_view kHere = "{{data}}";
  const std::size_t here = page.find(kHere);
  CHECK(here != std::string::npos);
  return page.replace(here, kHere.size(), text);
}

}  // namespace sluice::report
