// `sluice plan`: which configuration every stage gets, what it costs, what the alternatives are, and why.
#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "cli/planners.h"
#include "cli/terminal.h"
#include "report/plan_text.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

Result<PlanAnswer> ask(const PlanOptions& options, const plan::FrontierPlanner& planner, const PlanQuestion& question) {
  if (options.planner == "frontier") return ask_frontier(planner, question);
  if (options.planner == "esg-1q") return ask_esg_1q(planner.model(), question);
  if (options.planner == "label") return ask_label(planner.model(), question);
  return ask_brute_force(planner.model(), question);
}

// The stage to plan from: the one named, or the first that has no predecessors.
Result<std::size_t> stage_to_plan(const PlanOptions& options, const plan::WorkflowModel& model) {
  if (options.from.empty()) return std::size_t{0};
  const std::size_t stage = model.find(options.from);
  if (stage < model.stages.size()) return stage;
  std::string known;
  for (std::size_t i = 0; i < std::min<std::size_t>(model.stages.size(), 16); ++i)
    known += (i == 0 ? "" : ", ") + model.stages[i].name;
  return Error{ErrorCode::not_found, fmt::format("--from: there is no stage '{}'. Known: {}", options.from, known)};
}

constexpr std::size_t kExactStagesMax = 30;  // larger workflows get thinner frontiers

}  // namespace

int plan_command(const PlanOptions& options) {
  const spec::Loaded loaded = spec::load(options.file);
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) fmt::print(stderr, "{}\n", to_string(d));
  if (!loaded.document) return 1;
  const auto* application = std::get_if<Application>(&*loaded.document);
  if (application == nullptr) return failed(fmt::format("{} is no application; sluice plan needs one", options.file));
  const auto profiles = plan::make_profiles(*application);
  if (!profiles) return failed(profiles.error().message);
  auto model = plan::make_model(*application, *profiles);
  if (!model) return failed(model.error().message);
  const auto from = stage_to_plan(options, *model);
  if (!from) return failed(from.error().message);
  const double slo_ms = options.slo_ms.value_or(application->objective.latency.to_ms());
  const PlanQuestion question{.from = *from,
                              .remaining_ms = slo_ms - options.elapsed_ms,
                              .queue = options.queue,
                              .percentile = options.percentile ? options.percentile : application->objective.percentile,
                              .top = options.top,
                              .repeat = options.repeat};
  const plan::FrontierOptions thinning{.points_max =
                                           model->stages.size() <= kExactStagesMax ? std::size_t{1} << 16 : 512};
  const plan::FrontierPlanner planner(std::move(model).value(), thinning);
  const auto answer = ask(options, planner, question);
  if (!answer) return failed(answer.error().message);
  const report::PlanShown shown{.planner_name = options.planner,
                                .elapsed_ms = options.elapsed_ms,
                                .application = *application,
                                .planner = planner,
                                .question = question,
                                .answer = *answer};
  if (options.json)
    fmt::print("{}\n", report::plan_json(shown));
  else
    fmt::print("{} {}", bold(application->name), report::plan_text(shown));
  return 0;
}

}  // namespace sluice::cli
