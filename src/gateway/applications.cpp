#include <utility>

#include "gateway/admin_pages.h"
#include "gateway/deployment.h"
#include "gateway/endpoints.h"
#include "gateway/refusal.h"
#include "gateway/target.h"

namespace sluice::gateway {

void deploy_application(Endpoints& endpoints, const Request& request, const Respond& respond) {
  auto deployment = read_deployment(request.body);
  if (!deployment) return answer(respond, reply_of(deployment.error()));
  deployment->principal = request.principal;
  deployment->dry_run = query_value(request.query, "dry_run") == "true";
  endpoints.service.deploy(*std::move(deployment), [respond](Result<live::Deployed> deployed) {
    if (deployed && deployed->over) return answer(respond, over_quota(*deployed->over));
    answer(respond, deployed ? Reply{.body = deployed_page(*deployed)} : reply_of(deployed.error()));
  });
}

void remove_application(Endpoints& endpoints, const Principal& principal, const std::string& name,
                        const Respond& respond) {
  endpoints.service.remove(principal, name, [respond, name](const Status& done) {
    answer(respond, done ? Reply{.body = removed_page(name)} : reply_of(done.error()));
  });
}

}  // namespace sluice::gateway
