#include <charconv>
#include <optional>
#include <utility>

#include "gateway/admin_pages.h"
#include "gateway/deployment.h"
#include "gateway/endpoints.h"
#include "gateway/refusal.h"
#include "gateway/target.h"

namespace sluice::gateway {
namespace {

constexpr const char* kCanaryRange = "'canary' is the percentage of calls that the version gets: above 0 and below 100";

std::optional<double> percent_of(std::string_view text) {
  double percent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return percent > 0 && percent < 100 ? std::optional(percent) : std::nullopt;
}

live::OnDeployed answered(const Respond& respond) {
  return [respond](const Result<live::Deployed>& deployed) {
    if (deployed && deployed->over) return answer(respond, over_quota(*deployed->over));
    answer(respond, deployed ? Reply{.body = deployed_page(*deployed)} : reply_of(deployed.error()));
  };
}

}  // namespace

void deploy_application(Endpoints& endpoints, const Request& request, const Respond& respond) {
  auto deployment = read_deployment(request.body);
  if (!deployment) return answer(respond, reply_of(deployment.error()));
  deployment->principal = request.principal;
  deployment->dry_run = query_value(request.query, "dry_run") == "true";
  if (const auto canary = query_value(request.query, "canary")) {
    const auto percent = percent_of(*canary);
    if (!percent) return answer(respond, error_reply(400, kCanaryRange));
    deployment->canary = *percent / 100;
  }
  endpoints.service.deploy(*std::move(deployment), answered(respond));
}

void change_version(Endpoints& endpoints, const Request& request, std::string name, std::string_view what,
                    const Respond& respond) {
  live::VersionChange change{.application = std::move(name), .version = {}};
  if (what == "rollback") {
    change.kind = live::VersionChange::Kind::rollback;
    if (const auto text = query_value(request.query, "version")) {
      std::uint32_t version = 0;
      const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), version);
      if (error != std::errc() || end != text->data() + text->size())
        return answer(respond, error_reply(400, "'version' is no number of a version"));
      change.version = version;
    }
  }
  endpoints.service.change_version(request.principal, std::move(change), answered(respond));
}

void remove_application(Endpoints& endpoints, const Principal& principal, const std::string& name,
                        const Respond& respond) {
  endpoints.service.remove(principal, name, [respond, name](const Status& done) {
    answer(respond, done ? Reply{.body = removed_page(name)} : reply_of(done.error()));
  });
}

}  // namespace sluice::gateway
