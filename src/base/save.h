// Whole values to bytes, from bytes, and into a hash, for those who do not walk an Archive themselves.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/archive.h"

namespace sluice {

// Appends `value` to `out`; false if it is nested too deep to be loaded again. Like hashing it only reads, though the
// walk is written for values that change.
template <class T>
bool save(const T& value, std::string& out) {
  Archive archive = Archive::saving(out);
  archive(const_cast<T&>(value));
  return archive.ok();
}

// Nothing if the bytes are not exactly one T.
template <class T>
[[nodiscard]] std::optional<T> load(std::string_view bytes) {
  T value{};
  Archive archive = Archive::loading(bytes);
  archive(value);
  if (!archive.ok() || !archive.at_end()) return std::nullopt;
  return value;
}

template <class T>
void add_to(Hash& hash, const T& value) {
  Archive archive = Archive::hashing(hash);
  archive(const_cast<T&>(value));
}

}  // namespace sluice
