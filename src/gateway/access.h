// Who may talk to the server. On a loopback address everybody on the machine may, but no web page: a browser sends what
// a page asks for, and would deploy what the page wants. Elsewhere a key is needed.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "gateway/exchange.h"

namespace sluice::gateway {

struct Caller {
  std::string_view key, host, origin;  // headers; empty: not sent
};

class Access {
 public:
  // Open to this machine.
  Access() = default;
  // REQUIRES: the key is not empty.
  explicit Access(std::string key) : key_(std::move(key)) {}

  // The refusal; nothing: let in.
  [[nodiscard]] std::optional<Reply> refuse(const Caller& caller) const;

 private:
  std::string key_;
};

// Takes as long for a wrong text as for the right one.
[[nodiscard]] bool same_secret(std::string_view given, std::string_view secret);

}  // namespace sluice::gateway
