#include "policy/catalog.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "policy/compose.h"
#include "policy/esg.h"
#include "policy/kaas.h"
#include "policy/keep_alive.h"
#include "policy/reserved.h"

namespace sluice::policy {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"sluice", "esg", "fifo", "best-fit", "kaas-round-robin", "admission"};

// Everything is let in.
class AdmitAll final : public Admission {
 public:
  Admitted admit(const View&, const RequestArrived&) override { return {}; }
  void visit(Archive&) override {}
};

std::unique_ptr<Dispatch> make_dispatch(std::string_view name, const Parameters& parameters) {
  if (name == "esg") return make_esg(parameters);
  if (name == "fifo") {
    return compose({.ordering = Ordering::fifo, .planning = Planning::fixed, .placement = Placement::balance});
  }
  if (name == "best-fit") {
    return compose({.placement = Placement::best_fit, .margin = parameter_or(parameters, "margin", 0.1)});
  }
  if (name == "kaas-round-robin") return make_kaas_round_robin();
  if (name == "admission") return make_reserved_dispatch();
  return compose({.margin = parameter_or(parameters, "margin", 0.1)});
}

std::unique_ptr<Admission> make_admission(std::string_view name) {
  if (name == "admission") return make_slo_admission();
  return std::make_unique<AdmitAll>();
}

std::unique_ptr<Prewarm> make_prewarm(std::string_view name, const Parameters& parameters) {
  if (name == "fifo") return make_prewarm_none();
  if (name == "esg") return make_prewarm_ewma(parameters);
  return make_prewarm_keep_alive(parameters);
}

}  // namespace

Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters) {
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    const std::string wrong = str("there is no scheduler '", name, "'. ");
    const auto near = nearest(name, kNames);
    if (near) return Error{ErrorCode::not_found, str(wrong, "Did you mean '", *near, "'?")};
    std::string known;
    for (const std::string_view n : kNames) known += str(known.empty() ? "" : ", ", n);
    return Error{ErrorCode::not_found, str(wrong, "Known: ", known, ".")};
  }
  Policies out;
  out.admission = make_admission(name);
  out.dispatch = make_dispatch(name, parameters);
  out.prewarm = make_prewarm(name, parameters);
  return out;
}

std::span<const std::string_view> scheduler_names() {
  return kNames;
}

}  // namespace sluice::policy
