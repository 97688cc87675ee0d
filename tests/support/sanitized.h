// Whether this build has a sanitizer: processes are then several times as large and as slow, which tests of limits have
// to allow for.
#pragma once
#include <cstddef>

namespace sluice::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

// How many random worlds or requests a test plays whose code has no threads: the rest would take half an hour.
constexpr std::size_t fewer_if_sanitized(std::size_t count) {
  return kSanitized ? count / 3 : count;
}

// Megabytes of a worker that nobody blames it for.
inline constexpr int kSanitizerMb = kSanitized ? 400 : 0;

}  // namespace sluice::test
