// `sluice check`: what a document says, or everything that is wrong with it.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/problems.h"
#include "cli/summary.h"
#include "cli/terminal.h"
#include "invoker/profiler.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kStagesShownMax = 60;

std::string joined(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, std::string(separator)));
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "–" : text;
}

void print(const Application& application) {
  const WorkflowSummary summary = summarize(application);
  fmt::print("  application  {} (tenant {})\n", application.name, application.tenant);
  fmt::print("  objective    {}\n", describe(application.objective));
  fmt::print("  stages       {}, on the longest path {}; {} path{} from {} to {}\n", summary.stages.size(),
             summary.longest, summary.paths, summary.paths == 1 ? "" : "s", joined(summary.entries, ", "),
             joined(summary.exits, ", "));
  fmt::print("  regions      {}\n", summary.shape);
  if (summary.irregular > 0)
    fmt::print("               {} irregular: branches share stages, planned by dominators\n", summary.irregular);
  Table table({"stage", "runs", "after", "when", "foreach", "reads", "dominated by"});
  for (std::size_t i = 0; i < std::min(summary.stages.size(), kStagesShownMax); ++i) {
    const StageSummary& stage = summary.stages[i];
    std::string after = joined(stage.after, ", ");
    if (!stage.join.empty() && stage.join != "all") after += fmt::format(" ({} of {})", stage.join, stage.after.size());
    table.add({stage.name, stage.runs, or_dash(after), or_dash(stage.when), or_dash(stage.foreach),
               or_dash(joined(stage.reads, ", ")), or_dash(stage.dominator)});
  }
  fmt::print("{}", table.text("  "));
  if (summary.stages.size() > kStagesShownMax)
    fmt::print("  … {} more stages; --json lists all\n", summary.stages.size() - kStagesShownMax);
}

void print(const Experiment& experiment) {
  std::size_t invokers = 0;
  for (const NodeGroup& group : experiment.cluster.nodes) invokers += group.count;
  fmt::print("  experiment   {}: {} requests after {} of warm-up, seed {}\n", experiment.name,
             experiment.workload.requests, experiment.workload.warmup, experiment.seed);
  fmt::print("  cluster      {} invokers\n", invokers);
  for (const Application& application : experiment.applications) {
    fmt::print("  application  {}: {} stages, {}\n", application.name, application.workflow.size(),
               experiment.slo_scale
                   ? fmt::format("objective {} × the minimum-configuration time", *experiment.slo_scale)
                   : describe(application.objective));
  }
  fmt::print("  schedulers   {}\n", or_dash(joined(experiment.schedulers, ", ")));
}

void print(const Cluster& cluster) {
  Table table({"machines", "vCPU", "memory", "GPUs", "slices a GPU", "GPU memory", "device"});
  for (const NodeGroup& g : cluster.nodes) {
    const std::string slices = g.slices_per_gpu == 0 ? "auto" : fmt::format("{}", g.slices_per_gpu);
    table.add({fmt::format("{}", g.count), fmt::format("{}", g.vcpu), to_string(g.memory), fmt::format("{}", g.gpus),
               g.gpus == 0 ? "–" : slices, g.gpus == 0 ? "–" : to_string(g.gpu_memory),
               g.gpus == 0 ? "–" : std::string(g.device.name())});
  }
  fmt::print("{}", table.text("  "));
}

std::string profile_text(const Profile& profile) {
  if (const auto* table = std::get_if<ProfileTable>(&profile)) return fmt::format("{} rows", table->rows.size());
  if (const auto* model = std::get_if<ProfileModel>(&profile)) {
    return fmt::format("model, {} configurations", model->batch.size() * model->vcpu.size() * model->slices.size());
  }
  return "none: measured at deploy";
}

std::string bodies_text(const Function& function) {
  if (function.cpu == function.gpu && function.cpu) return std::string(name_of(function.cpu->runtime));
  std::string out;
  if (function.cpu) out += fmt::format("cpu {}", name_of(function.cpu->runtime));
  if (function.gpu) out += fmt::format("{}gpu {}", out.empty() ? "" : ", ", name_of(function.gpu->runtime));
  return out;
}

void print(const spec::FunctionList& list) {
  Table table({"function", "runtime", "memory", "cold start", "profile"});
  for (const Function& function : list.functions) {
    table.add({function.name, bodies_text(function), function.memory ? to_string(*function.memory) : "–",
               to_string(function.cold_start.total()), profile_text(function.profile)});
  }
  fmt::print("{}", table.text("  "));
}

Json to_json(const Application& application) {
  const WorkflowSummary summary = summarize(application);
  Json stages = Json::array();
  for (const StageSummary& stage : summary.stages) {
    stages.push_back({{"stage", stage.name},
                      {"runs", stage.runs},
                      {"after", stage.after},
                      {"join", stage.join},
                      {"when", stage.when},
                      {"foreach", stage.foreach},
                      {"reads", stage.reads},
                      {"dominator", stage.dominator}});
  }
  Json functions = Json::array();
  for (const Function& function : application.functions) {
    functions.push_back({{"function", function.name},
                         {"version", fmt::format("{:016x}", version_of(function))},
                         {"runtime", bodies_text(function)},
                         {"profile", profile_text(function.profile)}});
  }
  Json objective = {{"latency_ms", application.objective.latency.to_ms()}};
  if (application.objective.percentile) objective["percentile"] = *application.objective.percentile;
  if (application.objective.cost) objective["cost"] = *application.objective.cost;
  objective["prefer"] = kPreferNames[static_cast<std::size_t>(application.objective.prefer)];
  return {{"kind", "application"},        {"application", application.name},
          {"tenant", application.tenant}, {"objective", objective},
          {"entries", summary.entries},   {"exits", summary.exits},
          {"paths", summary.paths},       {"longest_path", summary.longest},
          {"regions", summary.shape},     {"irregular_regions", summary.irregular},
          {"functions", functions},       {"stages", stages}};
}

Json to_json(const Experiment& experiment) {
  Json applications = Json::array();
  for (const Application& application : experiment.applications) applications.push_back(application.name);
  return {{"kind", "experiment"},
          {"experiment", experiment.name},
          {"applications", applications},
          {"requests", experiment.workload.requests},
          {"warmup", experiment.workload.warmup},
          {"schedulers", experiment.schedulers},
          {"seed", experiment.seed}};
}

Json to_json(const Cluster& cluster) {
  Json nodes = Json::array();
  for (const NodeGroup& g : cluster.nodes) {
    nodes.push_back({{"count", g.count},
                     {"vcpu", g.vcpu},
                     {"memory_bytes", g.memory.count()},
                     {"gpus", g.gpus},
                     {"slices_per_gpu", g.slices_per_gpu},
                     {"gpu_memory_bytes", g.gpu_memory.count()},
                     {"device", g.device.name()}});
  }
  return {{"kind", "cluster"}, {"cluster", cluster.name}, {"nodes", nodes}};
}

Json to_json(const spec::FunctionList& list) {
  Json functions = Json::array();
  for (const Function& function : list.functions)
    functions.push_back(
        {{"function", function.name}, {"runtime", bodies_text(function)}, {"profile", profile_text(function.profile)}});
  return {{"kind", "functions"}, {"functions", functions}};
}

// What is no fault, but good to know before it is deployed.
std::vector<std::string> notes_of(const spec::Loaded& loaded) {
  std::vector<std::string> out;
  const auto* application = loaded.document ? std::get_if<Application>(&*loaded.document) : nullptr;
  if (application == nullptr) return out;
  for (const Function& function : application->functions) {
    const bool profiled = !std::holds_alternative<std::monostate>(function.profile);
    if (profiled || loaded.samples.contains(function.name) || invoker::inputs_can_be_made(function)) continue;
    out.push_back(fmt::format(
        "function '{}' {}: the inputs of its first request will be its sample, and until it is "
        "profiled with them it runs one at a time",
        function.name, function.inputs.empty() ? "declares no `inputs:`" : "takes texts and has no `sample:`"));
  }
  return out;
}

Json to_json(const spec::Loaded& loaded) {
  Json out = {{"file", loaded.file}, {"format", spec::name_of(loaded.format)}, {"ok", loaded.document.has_value()}};
  Json errors = Json::array(), warnings = Json::array();
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) {
    Json entry = {
        {"file", d.file}, {"line", d.mark.line}, {"column", d.mark.column}, {"field", d.field}, {"message", d.message}};
    (d.severity == spec::Diagnostic::Severity::error ? errors : warnings).push_back(std::move(entry));
  }
  out["errors"] = std::move(errors);
  out["warnings"] = std::move(warnings);
  out["notes"] = notes_of(loaded);
  if (loaded.document)
    out["document"] = std::visit([](const auto& document) { return to_json(document); }, *loaded.document);
  return out;
}

void print(const spec::Loaded& loaded) {
  fmt::print("{}", problems(loaded));
  if (!loaded.document) return;
  fmt::print("{} {}\n", green("ok:"), loaded.file);
  std::visit([](const auto& document) { print(document); }, *loaded.document);
  for (const std::string& note : notes_of(loaded)) fmt::print("  note: {}\n", note);
}

}  // namespace

int check(const CheckOptions& options) {
  bool all_right = true;
  Json documents = Json::array();
  for (const std::string& file : options.files) {
    const spec::Loaded loaded = spec::load(file);
    all_right = all_right && loaded.document.has_value();
    if (options.json)
      documents.push_back(to_json(loaded));
    else
      print(loaded);
  }
  if (options.json)
    fmt::print("{}\n", Json{{"documents", documents}}.dump(2, ' ', false, Json::error_handler_t::replace));
  return all_right ? 0 : 1;
}

}  // namespace sluice::cli
