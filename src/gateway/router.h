// Router: every endpoint of docs/api.md on top of a live::Service. The handler that `sluice up` gives to the server.
#pragma once
#include <memory>
#include <string>

#include "gateway/exchange.h"
#include "gateway/open_metrics.h"
#include "live/identity.h"
#include "live/service.h"

namespace sluice::gateway {

struct RouterOptions {
  std::string name = "sluice";  // of the server, in its metadata; Triton's own examples want "triton"
  std::string version;
  bool triton_errors = false;  // 503 and Triton's texts instead of 429 and 504
  std::string id_secret;       // of the request ids that clients see (request_ids.h)
  OpenMetrics open_metrics = OpenMetrics::server;
};

// `service` and `identity` must live until the server that calls the router has stopped.
[[nodiscard]] std::unique_ptr<Handler> make_router(live::Service& service, live::Identity& identity,
                                                   RouterOptions options);

}  // namespace sluice::gateway
