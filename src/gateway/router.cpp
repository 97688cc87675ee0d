#include "gateway/router.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "gateway/access.h"
#include "gateway/admin_pages.h"
#include "gateway/endpoints.h"
#include "gateway/http_reply.h"
#include "gateway/invalid.h"
#include "gateway/json_body.h"
#include "gateway/model_config.h"
#include "gateway/model_pages.h"
#include "gateway/models.h"
#include "gateway/refusal.h"
#include "gateway/target.h"

namespace sluice::gateway {
namespace {

using Parts = std::span<const std::string_view>;

std::string_view name_of(Method method) {
  return method == Method::get      ? "GET, HEAD"
         : method == Method::post   ? "POST"
         : method == Method::remove ? "DELETE"
                                    : "";
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The body of a question for the index is optional; `ready` is the only key that means something.
Result<bool> asks_for_ready(std::string_view body) {
  if (body.empty()) return false;
  const auto json = object_in(body);
  if (!json) return json.error();
  const data::Json* ready = json->find("ready");
  if (ready == nullptr) return false;
  if (const bool* only = ready->as<bool>()) return *only;
  return invalid("'ready' is neither true nor false");
}

class Router final : public Handler {
 public:
  Router(live::Service& service, live::Identity& identity, RouterOptions options)
      : access_(identity, options.open_metrics),
        endpoints_(std::make_shared<Endpoints>(service, identity, std::move(options))) {}

  [[nodiscard]] Admission admit(const Knock& knock) override { return access_.admit(knock); }

  void handle(const Request& request, Respond respond) override {
    const auto tenant = request.query.empty() ? std::nullopt : query_value(request.query, "tenant");
    if (!tenant || *tenant == request.principal.tenant) return route(request, respond);
    if (!request.principal.may(Role::admin)) {
      return answer(respond, error_reply(403, "only an admin acts for another tenant"));
    }
    Request acting = request;
    acting.principal = {.tenant = *tenant, .role = Role::deployer};
    route(acting, respond);
  }

 private:
  void route(const Request& request, const Respond& respond) {
    const std::vector<std::string_view> parts = path_parts(request.path);
    if (parts.empty()) return not_found(respond);
    const Parts rest = Parts(parts).subspan(1);
    if (parts[0] == "v2") return open_inference(rest, request, respond);
    if (parts[0] == "v1" && !rest.empty()) return admin(rest, request, respond);
    if (parts[0] == "metrics" && rest.empty()) return metrics(request, respond);
    not_found(respond);
  }

  static void not_found(const Respond& respond) { answer(respond, error_reply(404, "Not Found")); }

  // False, and answered, if the method is another.
  // `beside`: what else could have been asked for.
  static bool is(Method wanted, const Request& request, const Respond& respond, std::string_view beside = {}) {
    if (request.method == wanted) return true;
    Reply reply = error_reply(405, "Method Not Allowed");
    reply.headers = str("Allow: ", name_of(wanted), beside, "\r\n");
    answer(respond, std::move(reply));
    return false;
  }

  [[nodiscard]] std::shared_ptr<const live::Snapshot> snapshot() const { return endpoints_->service.snapshot(); }

  void metrics(const Request& request, const Respond& respond) const {
    if (!is(Method::get, request, respond)) return;
    // What everybody sees without a key is not hidden from those who have one.
    const bool open = endpoints_->options.open_metrics != OpenMetrics::none;
    const bool server = open || request.principal.sees_everything();
    answer(respond,
           {.body = endpoints_->metrics.page(*snapshot(), request.principal, server), .type = ContentType::metrics});
  }

  // --- /v2

  void open_inference(Parts parts, const Request& request, const Respond& respond) {
    if (parts.empty()) {
      if (!is(Method::get, request, respond)) return;
      return answer_json(respond, server_metadata(endpoints_->options.name, endpoints_->options.version));
    }
    if (parts[0] == "models" && parts.size() >= 2) return model(parts.subspan(1), request, respond);
    if (parts[0] == "health" && parts.size() == 2) return health(parts[1], request, respond);
    if (parts[0] == "repository" && parts.size() >= 2) return repository(parts.subspan(1), request, respond);
    not_found(respond);
  }

  void health(std::string_view what, const Request& request, const Respond& respond) const {
    if (what != "live" && what != "ready") return not_found(respond);
    if (!is(Method::get, request, respond)) return;
    answer(respond, what == "live" ? Reply{.body = R"({"live":true})"} : readiness(*snapshot(), request.principal));
  }

  // M[/versions/V][/WHAT]
  void model(Parts parts, const Request& request, const Respond& respond) {
    std::string decoded;
    ModelPath path{.tenant = request.principal.tenant, .name = parts[0], .version = {}};
    if (path.name.find('%') != std::string_view::npos) {
      decoded = percent_decoded(path.name).value_or("");
      path.name = decoded;
    }
    if (parts.size() == 1 && path.name == "stats") return all_stats(request, respond);
    parts = parts.subspan(1);
    if (parts.size() >= 2 && parts[0] == "versions" && is_number(parts[1])) {
      path.version = parts[1];
      parts = parts.subspan(2);
    }
    if (path.name.empty() || parts.size() > 1) return not_found(respond);
    const std::string_view what = parts.empty() ? std::string_view() : parts[0];
    if (what == "infer") {
      if (is(Method::post, request, respond)) infer(endpoints_, path, request, respond);
      return;
    }
    about_model(path, what, request, respond);
  }

  void about_model(const ModelPath& path, std::string_view what, const Request& request, const Respond& respond) const {
    if (!what.empty() && what != "ready" && what != "config" && what != "stats") return not_found(respond);
    if (!is(Method::get, request, respond)) return;
    const auto now = snapshot();
    ModelLookup found = look_up(*now, path);
    if (found.model == nullptr) {
      if (what == "ready") found.refusal.status = 400;
      return answer(respond, std::move(found.refusal));
    }
    if (what.empty()) return answer_json(respond, model_metadata(*found.model));
    if (what == "config") return answer_json(respond, model_config(*found.model));
    if (what == "stats") return answer_json(respond, model_stats({found.model, 1}));
    answer(respond, model_readiness(*found.model));
  }

  void all_stats(const Request& request, const Respond& respond) const {
    if (!is(Method::get, request, respond)) return;
    const auto now = snapshot();
    answer_json(respond, model_stats(now->models_of(request.principal.tenant)));
  }

  // index, models/M/load, models/M/unload
  void repository(Parts parts, const Request& request, const Respond& respond) const {
    const bool index = parts.size() == 1 && parts[0] == "index";
    const bool load = parts.size() == 3 && parts[0] == "models" && parts[2] == "load";
    const bool unload = parts.size() == 3 && parts[0] == "models" && parts[2] == "unload";
    if (!index && !load && !unload) return not_found(respond);
    if (!is(Method::post, request, respond)) return;
    if (index) {
      const auto ready_only = asks_for_ready(request.body);
      if (!ready_only) return answer(respond, reply_of(ready_only.error()));
      const auto now = snapshot();
      return answer_json(respond, repository_index(now->models_of(request.principal.tenant), *ready_only));
    }
    answer(respond, error_reply(400, load ? "models are not loaded over this interface: use 'sluice deploy FILE'"
                                          : "models are not unloaded over this interface: use 'sluice remove NAME'"));
  }

  // --- /v1

  void admin(Parts parts, const Request& request, const Respond& respond) {
    if (parts[0] == "applications" && parts.size() <= 3) return applications(parts.subspan(1), request, respond);
    if (parts[0] == "requests" && parts.size() <= 3) return requests(parts.subspan(1), request, respond);
    if (parts[0] == "keys" && parts.size() <= 2) return keys(parts.subspan(1), request, respond);
    if (parts[0] == "tenants" && parts.size() <= 2) return tenants(parts.subspan(1), request, respond);
    if (parts.size() == 1 && parts[0] == "status") {
      if (!is(Method::get, request, respond)) return;
      return answer_json(respond, status_page(*snapshot(), endpoints_->options.version, request.principal));
    }
    if (parts.size() == 1 && parts[0] == "nodes") {
      if (is(Method::get, request, respond)) answer_json(respond, nodes_page(*snapshot(), request.principal));
      return;
    }
    not_found(respond);
  }

  void applications(Parts parts, const Request& request, const Respond& respond) {
    if (parts.size() == 2) {
      auto name = percent_decoded(parts[0]);
      if (!name || (parts[1] != "promote" && parts[1] != "rollback")) return not_found(respond);
      if (is(Method::post, request, respond)) change_version(*endpoints_, request, *std::move(name), parts[1], respond);
      return;
    }
    if (parts.size() == 1) {
      if (!is(Method::remove, request, respond)) return;
      auto name = percent_decoded(parts[0]);
      return name ? remove_application(*endpoints_, request.principal, *name, respond) : not_found(respond);
    }
    if (request.method == Method::post) return deploy_application(*endpoints_, request, respond);
    if (is(Method::get, request, respond, ", POST"))
      answer_json(respond, applications_page(*snapshot(), request.principal));
  }

  void requests(Parts parts, const Request& request, const Respond& respond) {
    if (parts.empty()) {
      if (is(Method::get, request, respond)) list_requests(endpoints_, request, respond);
      return;
    }
    if (parts.size() == 2) {
      if (parts[1] != "trace") return not_found(respond);
      if (is(Method::get, request, respond)) trace_request(endpoints_, request.principal, parts[0], respond);
      return;
    }
    if (request.method == Method::remove) return cancel_request(endpoints_, request.principal, parts[0], respond);
    if (is(Method::get, request, respond, ", DELETE")) show_request(endpoints_, request.principal, parts[0], respond);
  }

  void keys(Parts parts, const Request& request, const Respond& respond) {
    if (parts.size() == 1) {
      if (is(Method::remove, request, respond)) revoke_key(*endpoints_, named(parts[0]), respond);
      return;
    }
    if (request.method == Method::post) return add_key(*endpoints_, request, respond);
    if (is(Method::get, request, respond, ", POST")) list_keys(*endpoints_, respond);
  }

  void tenants(Parts parts, const Request& request, const Respond& respond) {
    if (parts.size() == 1) {
      if (request.method == Method::post) return set_tenant(endpoints_, named(parts[0]), request, respond);
      if (is(Method::remove, request, respond, ", POST")) remove_tenant(*endpoints_, named(parts[0]), respond);
      return;
    }
    if (request.method == Method::post) return add_tenant(endpoints_, request, respond);
    if (is(Method::get, request, respond, ", POST")) list_tenants(*endpoints_, respond);
  }

  // Empty where it is broken, which no name is.
  static std::string named(std::string_view part) { return percent_decoded(part).value_or(""); }

  Access access_;
  SharedEndpoints endpoints_;
};

}  // namespace

std::unique_ptr<Handler> make_router(live::Service& service, live::Identity& identity, RouterOptions options) {
  return std::make_unique<Router>(service, identity, std::move(options));
}

}  // namespace sluice::gateway
