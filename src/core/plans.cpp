#include "core/plans.h"

#include <string>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace sluice::core {
namespace {

std::shared_ptr<const plan::WorkflowModel> kept(Result<plan::WorkflowModel> model) {
  CHECK_MSG(model.ok(), model.error().message);
  return std::make_shared<const plan::WorkflowModel>(std::move(model).value());
}

class HandlerModels {
 public:
  HandlerModels(const Application& application, std::span<const profile::FunctionProfile> profiles, Plans& out)
      : application_(application), profiles_(profiles), out_(out) {}

  void add(const Workflow& workflow, const std::string& prefix) {
    const plan::WorkflowModel& model = *out_.workflow;
    for (const Stage& stage : workflow.stages) {
      if (stage.kind == Stage::Kind::run && model.find(prefix + stage.name) == model.stages.size())
        out_.handlers.push_back(kept(plan::make_stage_model(application_, profiles_, stage)));
      if (stage.foreach && !stage.foreach->body.empty()) add(stage.foreach->body.front(), str(prefix, stage.name, "/"));
    }
  }

 private:
  const Application& application_;
  std::span<const profile::FunctionProfile> profiles_;
  Plans& out_;
};

}  // namespace

std::shared_ptr<const Plans> make_plans(const Application& application, const plan::ModelAssumptions& assumptions,
                                        const policy::Derive& derive) {
  const auto profiles = plan::make_profiles(application);
  CHECK_MSG(profiles.ok(), profiles.error().message);  // the driver deploys only what can be planned
  auto out = std::make_shared<Plans>();
  out->workflow = kept(plan::make_model(application, *profiles, assumptions));
  HandlerModels(application, *profiles, *out).add(application.workflow, "");
  if (!derive) return out;
  const auto derive_from = [&](const std::shared_ptr<const plan::WorkflowModel>& model) {
    for (auto& derived : derive(model, application)) out->derived.push_back(std::move(derived));
  };
  derive_from(out->workflow);
  for (const auto& handler : out->handlers) derive_from(handler);
  return out;
}

}  // namespace sluice::core
