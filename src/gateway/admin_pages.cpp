#include "gateway/admin_pages.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "gateway/http_reply.h"
#include "gateway/models.h"

namespace sluice::gateway {
namespace {

using nlohmann::ordered_json;

constexpr std::array<std::string_view, 6> kStates = {"running", "met", "late", "rejected", "failed", "cancelled"};

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

constexpr std::array<std::string_view, 6> kProfiled = {"document", "measured",  "learned",
                                                       "waiting",  "measuring", "failed"};

// What stands in for a profile that is not known yet is none.
std::string_view profile_of(const Function& function, const live::ProfileStanding& standing) {
  if (!live::is_known(standing.state)) return "none";
  return std::holds_alternative<ProfileTable>(function.profile)   ? "table"
         : std::holds_alternative<ProfileModel>(function.profile) ? "model"
                                                                  : "none";
}

ordered_json on_gpu_of(const live::OnGpu& function) {
  return {{"number", function.gpu},
          {"precision", name_of(function.form.precision)},
          {"layout", name_of(function.form.layout)},
          {"weights", function.weights.count()},
          {"graphs", function.graphs},
          {"kernel_by_kernel", function.kernel_by_kernel},
          {"row_by_row", function.form.rows_apart}};
}

ordered_json function_of(const live::Snapshot& snapshot, const live::Model& model, std::size_t f) {
  const Function& function = model.application->functions[f];
  const auto& body = function.gpu ? function.gpu : function.cpu;
  const bool stands = model.profiled != nullptr && f < model.profiled->size();
  const live::ProfileStanding standing = stands ? (*model.profiled)[f] : live::ProfileStanding{};
  ordered_json out = {{"name", function.name},
                      {"runtime", body ? name_of(body->runtime) : std::string_view()},
                      {"profile", profile_of(function, standing)},
                      {"profiled", kProfiled[static_cast<std::size_t>(standing.state)]},
                      {"why", standing.why},
                      {"loaded", snapshot.machines_of(model.tenant, function)}};
  if (const auto there = snapshot.on_gpu(model.tenant, function)) out["gpu"] = on_gpu_of(*there);
  return out;
}

// Null: as many as possible.
ordered_json percentile_of(const Application* application) {
  if (application == nullptr || !application->objective.percentile) return nullptr;
  return *application->objective.percentile;
}

ordered_json outcomes_of(const live::ModelStats& stats) {
  return {{"met", stats.met},
          {"late", stats.late},
          {"rejected", stats.rejected},
          {"failed", stats.failed},
          {"cancelled", stats.cancelled}};
}

ordered_json canary_of(const live::Model& model) {
  if (model.canary == nullptr) return nullptr;
  const live::Model& canary = model.canary->model;
  return {{"version", canary.version}, {"percent", 100 * model.canary->share}, {"requests", outcomes_of(canary.stats)}};
}

ordered_json application_of(const live::Snapshot& snapshot, const live::Model& model) {
  ordered_json stages = ordered_json::array(), functions = ordered_json::array();
  const Application* application = model.application.get();
  if (application != nullptr) {
    for (const Stage& stage : application->workflow.stages) stages.push_back(stage.name);
    for (std::size_t f = 0; f < application->functions.size(); ++f)
      functions.push_back(function_of(snapshot, model, f));
  }
  return {{"name", model.name},
          {"tenant", model.tenant},
          {"version", model.version},
          {"versions", model.versions},
          {"canary", canary_of(model)},
          {"state", name_of(model.state)},
          {"reason", model.reason},
          {"slo_ms", application != nullptr ? application->objective.latency.to_ms() : 0.0},
          {"percentile", percentile_of(application)},
          {"stages", std::move(stages)},
          {"functions", std::move(functions)},
          {"requests", outcomes_of(model.stats)}};
}

ordered_json request_of(const live::RequestRecord& record, const RequestIds& ids) {
  const bool running = record.state == live::RequestState::running;
  const bool cold = std::ranges::any_of(record.stages, &live::StageRecord::cold);
  return {{"id", ids.text(record.id)},
          {"tenant", record.tenant},
          {"application", record.application},
          {"version", record.version},
          {"arrived_ms", static_cast<double>(record.arrival.count_ns()) / 1e6},
          {"state", name_of(record.state)},
          {"latency_ms", running ? ordered_json() : ordered_json((record.finished - record.arrival).to_ms())},
          {"slo_ms", (record.deadline - record.arrival).to_ms()},
          {"slack_ms", running ? ordered_json() : ordered_json((record.deadline - record.finished).to_ms())},
          {"cost_dollars", record.cost},
          {"cold", cold},
          {"asynchronous", record.asynchronous},
          {"stage", record.stage},
          {"error", record.error}};
}

// Milliseconds after the arrival; null: not yet.
ordered_json after(Time time, Time arrival) {
  return time == Time() ? ordered_json() : ordered_json((time - arrival).to_ms());
}

ordered_json waited_of(const live::StageRecord& stage) {
  const Duration room = stage.start - stage.ready - stage.loading - stage.company;
  return {{"load_ms", stage.loading.to_ms()},
          {"company_ms", stage.company.to_ms()},
          {"room_ms", std::max(0.0, room.to_ms())},
          {"retry_ms", stage.retry.to_ms()}};
}

// Null: the scheduler does not say.
ordered_json reason_of(const live::StageRecord& stage, Time deadline) {
  if (stage.reason.considered == 0) return nullptr;
  return {{"considered", stage.reason.considered},
          {"no_room", stage.reason.no_room},
          {"left_ms", (deadline - stage.start).to_ms()}};
}

ordered_json slices_of(const SlicePositions& positions) {
  ordered_json out = ordered_json::array();
  for (unsigned slice = 0; slice < 64; ++slice) {
    if ((positions.slices >> slice & 1) != 0) out.push_back(slice);
  }
  return out;
}

ordered_json stage_of(const live::StageRecord& stage, const live::RequestRecord& request) {
  const Time arrival = request.arrival;
  ordered_json out = {{"stage", stage.stage},
                      {"function", stage.function},
                      {"ready_ms", after(stage.ready, arrival)},
                      {"start_ms", after(stage.start, arrival)},
                      {"end_ms", after(stage.end, arrival)},
                      {"invoker", stage.invoker.valid() ? ordered_json(stage.invoker.value()) : ordered_json()},
                      {"batch", stage.configuration.batch},
                      {"vcpu", stage.configuration.vcpu},
                      {"vgpu", stage.configuration.slices},
                      {"members", stage.members},
                      {"attempt", stage.attempt},
                      {"cold", stage.cold},
                      {"waited", waited_of(stage)},
                      {"why", reason_of(stage, request.deadline)},
                      {"error", stage.error},
                      {"log", stage.log}};
  if (stage.positions.slices != 0) {
    out["gpu"] = stage.positions.gpu;
    out["slices"] = slices_of(stage.positions);
  }
  return out;
}

// Since the start of the server.
void add_use(ordered_json& gpu, const live::GpuUse& use) {
  ordered_json busy = ordered_json::array();
  for (const Duration& slice : use.busy) busy.push_back(slice.to_ms() / 1e3);
  gpu["busy_s"] = std::move(busy);
  gpu["batches"] = use.batches;
  gpu["captures"] = use.captures;
  gpu["bytes_in"] = use.bytes_in;
  gpu["bytes_out"] = use.bytes_out;
  gpu["loads"] = use.loads;
  gpu["kept"] = use.kept;
  gpu["fetches"] = use.fetches;
  gpu["kept_bytes"] = use.kept_bytes;
}

std::string_view name_of_level(Level level) {
  constexpr std::array<std::string_view, 4> kLevels = {"none", "process", "host", "device"};
  return kLevels[static_cast<std::size_t>(level)];
}

ordered_json node_of(const live::NodeInfo& node, const Principal& principal) {
  ordered_json gpus = ordered_json::array(), instances = ordered_json::array();
  for (const live::GpuInfo& gpu : node.gpus) {
    gpus.push_back({{"slices", gpu.slices},
                    {"free", gpu.free},
                    {"memory", gpu.memory.count()},
                    {"memory_free", gpu.memory_free.count()}});
    if (gpu.use && principal.sees_everything()) add_use(gpus.back(), *gpu.use);
  }
  for (const live::InstanceInfo& instance : node.instances) {
    if (!principal.sees(instance.tenant)) continue;
    instances.push_back({{"id", instance.id.value()},
                         {"tenant", instance.tenant},
                         {"function", instance.function},
                         {"level", name_of_level(instance.level)},
                         {"running", instance.running},
                         {"pid", instance.pid}});
    if (instance.on_gpu) instances.back()["gpu"] = on_gpu_of(*instance.on_gpu);
  }
  return {{"id", node.id.value()},
          {"name", node.name},
          {"state", node.state},
          {"vcpu", node.vcpu},
          {"vcpu_free", node.vcpu_free},
          {"running", node.running},
          {"memory", node.memory.count()},
          {"memory_free", node.memory_free.count()},
          {"gpus", std::move(gpus)},
          {"instances", std::move(instances)},
          {"vcpu_enforced", node.vcpu_enforced},
          {"gpu_enforced", node.gpu_enforced},
          {"memory_enforced", node.memory_enforced},
          {"workers_enforced", node.workers_enforced}};
}

}  // namespace

std::string_view name_of(live::RequestState state) {
  return kStates[static_cast<std::size_t>(state)];
}

std::optional<live::RequestState> parse_request_state(std::string_view name) {
  const auto found = std::ranges::find(kStates, name);
  if (found == kStates.end()) return std::nullopt;
  return static_cast<live::RequestState>(found - kStates.begin());
}

std::string applications_page(const live::Snapshot& snapshot, const Principal& principal) {
  ordered_json list = ordered_json::array();
  for (const live::Model& model : snapshot.models) {
    if (!model.is_function && principal.sees(model.tenant)) list.push_back(application_of(snapshot, model));
  }
  return text_of({{"applications", std::move(list)}});
}

std::string deployed_page(const live::Deployed& deployed) {
  return text_of({{"application", deployed.application},
                  {"version", deployed.version},
                  {"canary_percent", deployed.canary ? ordered_json(100 * *deployed.canary) : ordered_json(nullptr)},
                  {"fits", deployed.fits},
                  {"messages", deployed.messages}});
}

std::string removed_page(std::string_view application) {
  return text_of({{"removed", application}});
}

std::string requests_page(const std::vector<live::RequestRecord>& records, const RequestIds& ids) {
  ordered_json list = ordered_json::array();
  for (const live::RequestRecord& record : records) list.push_back(request_of(record, ids));
  return text_of({{"requests", std::move(list)}});
}

std::string request_page(const live::RequestRecord& record, const std::optional<std::string>& result,
                         const RequestIds& ids) {
  std::string page = text_of(request_of(record, ids));
  if (!result) return page;
  page.pop_back();
  return page + ",\"result\":" + *result + "}";
}

std::string trace_page(const live::RequestRecord& record, const RequestIds& ids) {
  ordered_json page = request_of(record, ids);
  page["deadline_ms"] = (record.deadline - record.arrival).to_ms();
  page["stages"] = ordered_json::array();
  for (const live::StageRecord& stage : record.stages) page["stages"].push_back(stage_of(stage, record));
  return text_of(page);
}

std::string cancelled_page(std::string_view id) {
  return text_of({{"cancelled", id}});
}

std::string status_page(const live::Snapshot& snapshot, std::string_view version, const Principal& principal) {
  const auto applications = std::ranges::count_if(
      snapshot.models, [&](const live::Model& model) { return !model.is_function && principal.sees(model.tenant); });
  ordered_json page = {
      {"version", version}, {"uptime_s", (snapshot.at - snapshot.started).to_s()}, {"scheduler", snapshot.scheduler}};
  const bool all = principal.sees_everything();
  if (all) page.update({{"data", snapshot.data_directory}, {"listening", snapshot.listening}});
  page["applications"] = applications;
  if (!all) return text_of(page);
  page["in_system"] = snapshot.in_system;
  page["mailbox"] = {{"size", snapshot.mailbox_size}, {"max", snapshot.mailbox_max}};
  page["objects"] = {{"used", snapshot.objects_used.count()},
                     {"max", snapshot.objects_max.count()},
                     {"bytes_in", snapshot.bytes_in},
                     {"bytes_out", snapshot.bytes_out},
                     {"bytes_gathered", snapshot.bytes_gathered},
                     {"gathers", snapshot.gathers},
                     {"batches", snapshot.batches}};
  page["cold_starts"] = snapshot.cold_starts;
  page["worker_crashes"] = snapshot.worker_crashes;
  page["retries"] = snapshot.retries;
  return text_of(page);
}

// Whoever sees none of it is told that something is wrong, not what.
Reply readiness(const live::Snapshot& snapshot, const Principal& principal) {
  ordered_json list = ordered_json::array();
  bool ready = true;
  for (const live::Model& model : snapshot.models) {
    if (model.is_function || model.state == live::ModelState::ready) continue;
    ready = false;
    if (!principal.sees(model.tenant)) continue;
    list.push_back(
        {{"name", model.name}, {"tenant", model.tenant}, {"state", name_of(model.state)}, {"reason", model.reason}});
  }
  if (ready) return {.body = text_of({{"ready", true}})};
  return {.status = 503,
          .body = text_of({{"ready", false}, {"error", "not ready"}, {"applications", std::move(list)}}),
          .headers = std::string(kRetryLater)};
}

std::string nodes_page(const live::Snapshot& snapshot, const Principal& principal) {
  ordered_json list = ordered_json::array();
  for (const live::NodeInfo& node : snapshot.nodes) list.push_back(node_of(node, principal));
  return text_of({{"nodes", std::move(list)}});
}

}  // namespace sluice::gateway
