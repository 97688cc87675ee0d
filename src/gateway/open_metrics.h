// What /metrics shows to those who bring no key, where other pages would want one.
#pragma once
#include <cstdint>

namespace sluice::gateway {

enum class OpenMetrics : std::uint8_t {
  none,    // nothing: it wants a key like other pages
  server,  // the machines and the server as a whole, and applications while there is one tenant
  all,     // the series of all tenants
};

}  // namespace sluice::gateway
