// The endpoints behind the router, a group a file. Each answers its exchange exactly once, now or later.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/exchange.h"
#include "gateway/metrics.h"
#include "gateway/models.h"
#include "gateway/request_ids.h"
#include "gateway/router.h"
#include "live/identity.h"
#include "live/service.h"

namespace sluice::gateway {

// Shared with answers that are still to come.
struct Endpoints {
  live::Service& service;
  live::Identity& identity;
  RouterOptions options;
  RequestIds ids;
  AnswerMetrics metrics;
  Endpoints(live::Service& s, live::Identity& i, RouterOptions o)
      : service(s), identity(i), options(std::move(o)), ids(options.id_secret) {}
};
using SharedEndpoints = std::shared_ptr<Endpoints>;

inline void answer(const Respond& respond, Reply reply) {
  respond->respond([kept = std::move(reply)] { return kept; });
}
inline void answer_json(const Respond& respond, std::string body) {
  answer(respond, {.body = std::move(body)});
}

// infer.cpp
void infer(const SharedEndpoints& endpoints, const ModelPath& path, const Request& request, const Respond& respond);

// applications.cpp
// `what`: promote or rollback.
void change_version(Endpoints& endpoints, const Request& request, std::string name, std::string_view what,
                    const Respond& respond);
void deploy_application(Endpoints& endpoints, const Request& request, const Respond& respond);
void remove_application(Endpoints& endpoints, const Principal& principal, const std::string& name,
                        const Respond& respond);

// identity.cpp
void list_keys(Endpoints& endpoints, const Respond& respond);
void add_key(Endpoints& endpoints, const Request& request, const Respond& respond);
void revoke_key(Endpoints& endpoints, const std::string& name, const Respond& respond);
void list_tenants(Endpoints& endpoints, const Respond& respond);
void add_tenant(const SharedEndpoints& endpoints, const Request& request, const Respond& respond);
void set_tenant(const SharedEndpoints& endpoints, const std::string& name, const Request& request,
                const Respond& respond);
void remove_tenant(Endpoints& endpoints, const std::string& name, const Respond& respond);

// requests.cpp
void list_requests(const SharedEndpoints& endpoints, const Request& request, const Respond& respond);
// `principal`: who asks; what it does not see is answered as what is not there.
void show_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                  const Respond& respond);
void trace_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                   const Respond& respond);
void cancel_request(const SharedEndpoints& endpoints, const Principal& principal, std::string_view id,
                    const Respond& respond);

}  // namespace sluice::gateway
