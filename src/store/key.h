// A key: what a caller must know. Only a salted SHA-256 of it is kept; keys are random and long, so that a slow hash
// would add nothing. One salt for all keys of a store, so that a key is found by its hash.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "domain/principal.h"

namespace sluice::store {

struct Key {
  std::string name;
  Principal principal;
  Time made;
  std::string hash;
  friend bool operator==(const Key&, const Key&) = default;
};

// "sluice-" and 48 hexadecimal digits.
[[nodiscard]] Result<std::string> make_key();
// 32 hexadecimal digits that nobody can guess.
[[nodiscard]] Result<std::string> make_secret();
// SHA-256 as 64 hexadecimal digits.
[[nodiscard]] std::string sha256_text(std::string_view bytes);
// 32 bytes.
[[nodiscard]] std::string key_hash(std::string_view salt, std::string_view key);

}  // namespace sluice::store
