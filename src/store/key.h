// Key: what a caller from another machine must know. Only a salted SHA-256 is kept; keys are random and long, so that
// a slow hash would add nothing. The gateway checks a caller against the keys it has read, without asking the store.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace sluice::store {

struct Key {
  std::string name;
  std::string salt, hash;
};

struct NewKey {
  std::string text;  // for the caller; "sluice-" and 48 hexadecimal digits
  Key key;
};

[[nodiscard]] Result<NewKey> make_key(const std::string& name);
// The key whose text this is, in a time that does not tell how much of it is right; null: none.
[[nodiscard]] const Key* find_key(std::span<const Key> keys, std::string_view text);

}  // namespace sluice::store
