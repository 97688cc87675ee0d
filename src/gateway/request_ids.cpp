#include "gateway/request_ids.h"

#include <bit>
#include <charconv>

namespace sluice::gateway {
namespace {

// One round of Speck64 (Beaulieu et al., 2013), and its inverse.
void forth(std::uint32_t& high, std::uint32_t& low, std::uint32_t key) {
  high = (std::rotr(high, 8) + low) ^ key;
  low = std::rotl(low, 3) ^ high;
}
void back(std::uint32_t& high, std::uint32_t& low, std::uint32_t key) {
  low = std::rotr(low ^ high, 3);
  high = std::rotl((high ^ key) - low, 8);
}

std::uint64_t joined(std::uint32_t high, std::uint32_t low) {
  return (std::uint64_t{high} << 32) | low;
}

}  // namespace

RequestIds::RequestIds(std::string_view secret) : plain_(secret.empty()) {
  constexpr std::size_t kDigits = 8;
  std::array<std::uint32_t, 4> key{};
  for (std::size_t i = 0; i < key.size() && secret.size() >= (i + 1) * kDigits; ++i) {
    const char* word = secret.data() + i * kDigits;
    std::from_chars(word, word + kDigits, key[key.size() - 1 - i], 16);
  }
  std::uint32_t low = key[0];
  std::array<std::uint32_t, 3> rest = {key[1], key[2], key[3]};
  for (std::size_t i = 0; i < kRounds; ++i) {
    round_keys_[i] = low;
    forth(rest[i % rest.size()], low, static_cast<std::uint32_t>(i));
  }
}

std::uint64_t RequestIds::outer(std::uint64_t inner) const {
  if (plain_) return inner;
  auto high = static_cast<std::uint32_t>(inner >> 32), low = static_cast<std::uint32_t>(inner);
  for (const std::uint32_t key : round_keys_) forth(high, low, key);
  return joined(high, low);
}

std::uint64_t RequestIds::inner(std::uint64_t outer) const {
  if (plain_) return outer;
  auto high = static_cast<std::uint32_t>(outer >> 32), low = static_cast<std::uint32_t>(outer);
  for (std::size_t i = kRounds; i-- > 0;) back(high, low, round_keys_[i]);
  return joined(high, low);
}

std::string RequestIds::text(RequestId id) const {
  std::string out;
  append(out, id);
  return out;
}

void RequestIds::append(std::string& out, RequestId id) const {
  constexpr std::size_t kDigits = 16;
  char digits[kDigits];
  const auto end = std::to_chars(digits, digits + kDigits, outer(id.value()), 16).ptr;
  const auto count = static_cast<std::size_t>(end - digits);
  out.append(kDigits - count, '0').append(digits, count);
}

std::optional<RequestId> RequestIds::parse(std::string_view text) const {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  const bool whole = text.size() == 16 && error == std::errc() && end == text.data() + text.size();
  return whole ? std::optional(RequestId(inner(value))) : std::nullopt;
}

}  // namespace sluice::gateway
