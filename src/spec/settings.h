// Settings: a flat YAML file of names and values, for options of a command. Positions are kept: what is wrong with a
// value may be known only by whoever uses it.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "spec/diagnostics.h"
#include "spec/load.h"

namespace sluice::spec {

struct Setting {
  std::string name;
  bool is_switch = false;  // true or false, nothing else
};

struct SettingValue {
  std::string name, text;
  bool on = false;  // of a switch
  Mark mark;
};

// Those that the file has, in the order of `known`. Unknown names are errors, with the nearest one that is known.
[[nodiscard]] std::vector<SettingValue> load_settings(const std::string& path, std::span<const Setting> known,
                                                      Diagnostics& out, const ReadFile& read = read_from_disk);

}  // namespace sluice::spec
