#include "policy/catalog.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "policy/compose.h"
#include "policy/esg.h"
#include "policy/fast_gshare.h"
#include "policy/frontiers.h"
#include "policy/infless.h"
#include "policy/kaas.h"
#include "policy/keep_alive.h"
#include "policy/loading.h"
#include "policy/orion.h"
#include "policy/reserved.h"
#include "policy/sluice.h"
#include "policy/thesis.h"

namespace sluice::policy {
namespace {

constexpr auto kNames = std::to_array<std::string_view>(
    {"sluice", "esg", "infless", "fast-gshare", "orion", "aquatope", "fifo", "frontier", "best-fit", "kaas-round-robin",
     "admission", "thesis-fifo", "thesis-whole-dag", "thesis-random"});

// Everything is let in.
class AdmitAll final : public Admission {
 public:
  Admitted admit(const View&, const RequestArrived&) override { return {}; }
  void visit(Archive&) override {}
};

std::unique_ptr<Dispatch> make_dispatch(std::string_view name, const Parameters& parameters, const Prepared& prepared) {
  if (name == "esg") return make_esg(parameters, prepared.esg);
  if (name == "infless") return make_infless(parameters);
  if (name == "fast-gshare") return make_fast_gshare(parameters);
  if (name == "orion") return make_orion(parameters);
  if (name == "aquatope") return make_aquatope(parameters, prepared.aquatope);
  if (name == "fifo") {
    return compose({.ordering = Ordering::fifo, .planning = Planning::fixed, .placement = Placement::balance});
  }
  if (name == "best-fit") {
    return compose({.placement = Placement::best_fit, .margin = parameter_or(parameters, "margin", 0.1)});
  }
  if (name == "kaas-round-robin") return make_kaas_round_robin();
  if (name == "admission") return make_reserved_dispatch();
  if (name == "thesis-fifo") return make_thesis(Thesis::fifo, parameters);
  if (name == "thesis-whole-dag") return make_thesis(Thesis::whole_dag, parameters);
  if (name == "thesis-random") return make_thesis(Thesis::random, parameters);
  return compose({.margin = parameter_or(parameters, "margin", 0.1)});  // frontier
}

std::unique_ptr<Admission> make_admission(std::string_view name, const Parameters& parameters) {
  if (name == "admission") return make_slo_admission(parameters);
  if (name == "thesis-whole-dag") return make_whole_dag_admission();
  return std::make_unique<AdmitAll>();
}

// ESG's evaluation gives all its schedulers the same prewarming.
std::unique_ptr<Prewarm> make_prewarm(std::string_view name, const Parameters& parameters) {
  constexpr auto kEvaluation = std::to_array<std::string_view>({"esg", "infless", "fast-gshare", "orion", "aquatope"});
  if (std::find(kEvaluation.begin(), kEvaluation.end(), name) != kEvaluation.end())
    return make_prewarm_ewma(parameters);
  if (name == "fifo") return make_prewarm_none();
  if (name == "sluice") return make_prewarm_ahead(parameters);
  return make_prewarm_keep_alive(parameters);
}

}  // namespace

Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters, const Prepared& prepared) {
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    const std::string wrong = str("there is no scheduler '", name, "'. ");
    if (const auto near = nearest(name, kNames)) {
      return Error{ErrorCode::not_found, str(wrong, "Did you mean '", *near, "'?")};
    }
    std::string known;
    for (const std::string_view n : kNames) known += str(known.empty() ? "" : ", ", n);
    return Error{ErrorCode::not_found, str(wrong, "Known: ", known, ".")};
  }
  if (name == "sluice") {
    SluiceParts parts = make_sluice(parameters);
    if (parameter_or(parameters, "slo", 0) != 0) {
      parts.admission = make_slo_admission(parameters, std::move(parts.admission));
      parts.dispatch = make_reserved_dispatch(std::move(parts.dispatch));
    }
    return Policies{.admission = std::move(parts.admission),
                    .dispatch = make_loading(std::move(parts.dispatch)),
                    .prewarm = make_prewarm(name, parameters),
                    .learns = parameter_or(parameters, "learn", 1) != 0};
  }
  return Policies{.admission = make_admission(name, parameters),
                  .dispatch = make_loading(make_dispatch(name, parameters, prepared), name == "kaas-round-robin"),
                  .prewarm = make_prewarm(name, parameters),
                  .learns = name == "admission" && parameter_or(parameters, "learn", 1) != 0};
}

Derive derives_of(std::string_view name, const Parameters& parameters, const std::vector<NodeGroup>& machines) {
  constexpr auto kPlanAhead = std::to_array<std::string_view>({"frontier", "best-fit", "admission", "thesis-random"});
  if (std::ranges::find(kPlanAhead, name) != kPlanAhead.end()) return frontiers_derive();
  if (name != "sluice") return {};
  const bool slo = parameter_or(parameters, "slo", 0) != 0;
  return slo ? both(sluice_derives(parameters, machines), frontiers_derive()) : sluice_derives(parameters, machines);
}

std::span<const std::string_view> scheduler_names() {
  return kNames;
}

}  // namespace sluice::policy
