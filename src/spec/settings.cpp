#include "spec/settings.h"

#include "spec/cursor.h"
#include "spec/yaml/reader.h"

namespace sluice::spec {

std::vector<SettingValue> load_settings(const std::string& path, std::span<const Setting> known, Diagnostics& out,
                                        const ReadFile& read) {
  const auto text = read(path);
  if (!text) {
    out.error(path, {}, "", text.error().message);
    return {};
  }
  const auto node = read_yaml(*text, path, out);
  if (!node) return {};
  Fields fields(Cursor(*node, path, "", out));
  if (!fields.valid()) return {};
  std::vector<SettingValue> values;
  for (const Setting& setting : known) {
    const auto field = fields.optional(setting.name);
    if (!field) continue;
    if (setting.is_switch) {
      if (const auto on = field->boolean()) values.push_back({setting.name, "", *on, field->mark()});
    } else if (auto value = field->text()) {
      values.push_back({setting.name, std::move(*value), false, field->mark()});
    }
  }
  fields.finish();
  return values;
}

}  // namespace sluice::spec
