// What a client sent is wrong: the error behind most answers of status 400.
#pragma once
#include <string>
#include <utility>

#include "base/result.h"

namespace sluice::gateway {

[[nodiscard]] inline Error invalid(std::string message) {
  return Error{ErrorCode::invalid, std::move(message)};
}

}  // namespace sluice::gateway
