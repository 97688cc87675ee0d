#include "store/key.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <cstddef>

#include "base/check.h"
#include "base/text.h"

namespace sluice::store {
namespace {

constexpr std::size_t kSecretBytes = 16, kKeyBytes = 24, kHashBytes = 32;

Result<std::string> random_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(count)) == 1) return bytes;
  return Error{ErrorCode::unavailable, "a key cannot be made: the system gives no random numbers"};
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int length = 0;
  CHECK(EVP_Digest(bytes.data(), bytes.size(), hash.data(), &length, EVP_sha256(), nullptr) == 1);
  CHECK(length == kHashBytes);
  return {reinterpret_cast<const char*>(hash.data()), length};
}

}  // namespace

Result<std::string> make_key() {
  const auto bytes = random_bytes(kKeyBytes);
  if (!bytes) return bytes.error();
  return "sluice-" + hexadecimal(*bytes);
}

Result<std::string> make_secret() {
  const auto bytes = random_bytes(kSecretBytes);
  if (!bytes) return bytes.error();
  return hexadecimal(*bytes);
}

std::string sha256_text(std::string_view bytes) {
  return hexadecimal(sha256(bytes));
}

std::string key_hash(std::string_view salt, std::string_view key) {
  return sha256(str(salt, key));
}

}  // namespace sluice::store
