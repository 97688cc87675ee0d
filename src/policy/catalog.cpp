#include "policy/catalog.h"

#include <array>

#include "base/text.h"
#include "policy/compose.h"
#include "policy/esg.h"
#include "policy/kaas.h"

namespace sluice::policy {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"sluice", "esg", "fifo", "best-fit", "kaas-round-robin"};

// Everything is let in.
class AdmitAll final : public Admission {
 public:
  Admitted admit(const View&, ApplicationId, Time) override { return {}; }
  void visit(Archive&) override {}
};

std::unique_ptr<Dispatch> make_dispatch(std::string_view name, const Parameters& parameters) {
  if (name == "esg") return make_esg(parameters);
  if (name == "fifo") return compose({.ordering = Ordering::fifo, .placement = Placement::balance, .fixed = true});
  if (name == "best-fit")
    return compose({.placement = Placement::best_fit, .margin = parameter_or(parameters, "margin", 0.1)});
  if (name == "kaas-round-robin") return make_kaas_round_robin();
  return compose({.margin = parameter_or(parameters, "margin", 0.1)});
}

}  // namespace

Result<Policies> make_scheduler(std::string_view name, const Parameters& parameters) {
  bool known = false;
  for (const std::string_view n : kNames) known = known || n == name;
  if (!known) {
    const auto near = nearest(name, kNames);
    return Error{ErrorCode::not_found, near ? str("there is no scheduler '", name, "'. Did you mean '", *near, "'?")
                                            : str("there is no scheduler '", name,
                                                  "'. Known: sluice, esg, fifo, best-fit, kaas-round-robin.")};
  }
  Policies out;
  out.admission = std::make_unique<AdmitAll>();
  out.dispatch = make_dispatch(name, parameters);
  return out;
}

std::span<const std::string_view> scheduler_names() {
  return kNames;
}

}  // namespace sluice::policy
