// Result<T>: a value, or an Error that says what was tried, with which value, and what would help.
// For failures of the outside only: a bug is a CHECK, an outcome of the domain is an ordinary value.
#pragma once
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace sluice {

enum class ErrorCode { invalid, not_found, already_exists, unavailable, too_large, io, internal };

struct Error {
  ErrorCode code = ErrorCode::invalid;
  std::string message;
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: a value is a result
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: so is an error

  [[nodiscard]] bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }
  // REQUIRES: ok().
  [[nodiscard]] T& value() & { return checked(); }
  [[nodiscard]] const T& value() const& { return const_cast<Result*>(this)->checked(); }
  [[nodiscard]] T&& value() && { return std::move(checked()); }
  [[nodiscard]] T& operator*() & { return checked(); }
  [[nodiscard]] const T& operator*() const& { return value(); }
  [[nodiscard]] T&& operator*() && { return std::move(checked()); }
  [[nodiscard]] T* operator->() { return &checked(); }
  [[nodiscard]] const T* operator->() const { return &value(); }
  // REQUIRES: !ok().
  [[nodiscard]] const Error& error() const {
    CHECK(!ok());
    return std::get<Error>(state_);
  }

 private:
  T& checked() {
    CHECK_MSG(ok(), std::get<Error>(state_).message);
    return std::get<T>(state_);
  }
  std::variant<T, Error> state_;
};

struct Done {
  friend bool operator==(Done, Done) = default;
};
using Status = Result<Done>;

}  // namespace sluice
