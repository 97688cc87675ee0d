// CHECK: a broken invariant is a bug, so it prints what is needed to find it and aborts, in every build.
// For bad input use Result (result.h); for an outcome of the domain use an ordinary value.
#pragma once
#include <string_view>

namespace sluice::detail {
[[noreturn]] void check_failed(const char* file, int line, const char* condition, std::string_view message);
}

#define CHECK(condition)                                                  \
  do {                                                                    \
    if (!(condition)) [[unlikely]]                                        \
      ::sluice::detail::check_failed(__FILE__, __LINE__, #condition, {}); \
  } while (false)

// As CHECK; `message` (anything a string_view can be made of) is only evaluated on failure.
#define CHECK_MSG(condition, message)                                            \
  do {                                                                           \
    if (!(condition)) [[unlikely]]                                               \
      ::sluice::detail::check_failed(__FILE__, __LINE__, #condition, (message)); \
  } while (false)
