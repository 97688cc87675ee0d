#include "invoker/gpu_forms.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text.h"

namespace sluice::invoker {
namespace {

template <class Enum>
std::optional<Enum> named(const auto& names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

}  // namespace

std::string to_text(const GpuForms& forms) {
  std::string out;
  for (const auto& [whose, form] : forms) {
    out += str(whose.first, " ", whose.second, " ", name_of(form.precision), " ", name_of(form.layout), " ",
               form.rows_apart ? 1 : 0, " ", form.checked ? 1 : 0, "\n");
  }
  return out;
}

GpuForms gpu_forms_of(std::string_view text) {
  GpuForms out;
  std::istringstream lines{std::string(text)};
  for (std::string line; out.size() < gpu_forms_max && std::getline(lines, line);) {
    std::istringstream words(line);
    FunctionVersion code = 0;
    std::string tenant, precision, layout;
    bool apart = false, checked = false;
    if (!(words >> tenant >> code >> precision >> layout >> apart >> checked)) continue;
    const GpuForm form{named<Precision>(kPrecisions, precision).value_or(Precision::best),
                       named<MemoryLayout>(kMemoryLayouts, layout).value_or(MemoryLayout::best), apart, checked};
    if (form.known()) out.emplace(std::pair(tenant, code), form);
  }
  return out;
}

}  // namespace sluice::invoker
