// Access: who may come in, decided from the head of a request. A key says whose request it is. Without one, a server on
// a loopback address serves callers of its own machine while there is one tenant, but no web page: a browser sends what
// a page asks for.
#pragma once
#include <optional>
#include <string_view>

#include "domain/principal.h"
#include "gateway/exchange.h"
#include "gateway/open_metrics.h"
#include "live/identity.h"

namespace sluice::gateway {

// What a request has to be allowed to, at least.
[[nodiscard]] Role needed_role(Method method, std::string_view path);

class Access {
 public:
  Access(const live::Identity& identity, OpenMetrics open_metrics) : identity_(identity), open_metrics_(open_metrics) {}

  [[nodiscard]] Admission admit(const Knock& knock) const;

 private:
  [[nodiscard]] Admission admit_guest(const Knock& knock) const;
  // Nothing: /metrics is not asked for, or wants a key.
  [[nodiscard]] std::optional<Principal> metrics_guest(const Knock& knock) const;

  const live::Identity& identity_;
  OpenMetrics open_metrics_;
};

}  // namespace sluice::gateway
