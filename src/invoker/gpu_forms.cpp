#include "invoker/gpu_forms.h"

#include <algorithm>
#include <optional>
#include <sstream>

#include "base/text.h"

namespace sluice::invoker {
namespace {

constexpr std::size_t kFormsMax = 10'000;

template <class Enum>
std::optional<Enum> named(const auto& names, std::string_view name) {
  const auto it = std::ranges::find(names, name);
  if (it == names.end()) return std::nullopt;
  return static_cast<Enum>(it - names.begin());
}

}  // namespace

std::string to_text(const GpuForms& forms) {
  std::string out;
  for (const auto& [code, form] : forms) {
    out +=
        str(code, " ", name_of(form.precision), " ", name_of(form.layout), form.rows_apart ? " rows_apart" : "", "\n");
  }
  return out;
}

GpuForms gpu_forms_of(std::string_view text) {
  GpuForms out;
  std::istringstream lines{std::string(text)};
  for (std::string line; out.size() < kFormsMax && std::getline(lines, line);) {
    std::istringstream words(line);
    FunctionVersion code = 0;
    std::string precision, layout, apart;
    if (!(words >> code >> precision >> layout)) continue;
    words >> apart;
    const auto p = named<Precision>(kPrecisions, precision);
    const auto l = named<MemoryLayout>(kMemoryLayouts, layout);
    const GpuForm form{p.value_or(Precision::best), l.value_or(MemoryLayout::best), apart == "rows_apart"};
    if (form.known()) out.emplace(code, form);
  }
  return out;
}

}  // namespace sluice::invoker
