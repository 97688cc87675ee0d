#include "store/key.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/text.h"

namespace sluice::store {
namespace {

constexpr std::size_t kSaltBytes = 16, kSecretBytes = 24, kHashBytes = 32;

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1) return bytes;
  return Error{ErrorCode::unavailable, "a key cannot be made: the system gives no random numbers"};
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string hashed(std::string_view salt, std::string_view text) {
  const std::string salted = str(salt, text);
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  CHECK(EVP_Digest(salted.data(), salted.size(), hash.data(), &length, EVP_sha256(), nullptr) == 1);
  CHECK(length == kHashBytes);
  return {reinterpret_cast<const char*>(hash.data()), length};
}

}  // namespace

Result<NewKey> make_key(const std::string& name) {
  const auto salt = random_bytes(kSaltBytes);
  if (!salt) return salt.error();
  const auto secret = random_bytes(kSecretBytes);
  if (!secret) return secret.error();
  std::string text = "sluice-" + hexadecimal(*secret);
  std::string hash = hashed(*salt, text);
  return NewKey{std::move(text), {.name = name, .salt = *salt, .hash = std::move(hash)}};
}

const Key* find_key(std::span<const Key> keys, std::string_view text) {
  const Key* found = nullptr;
  for (const Key& key : keys) {
    const std::string hash = hashed(key.salt, text);
    const bool same = key.hash.size() == hash.size() && CRYPTO_memcmp(hash.data(), key.hash.data(), hash.size()) == 0;
    if (same) found = &key;
  }
  return found;
}

}  // namespace sluice::store
