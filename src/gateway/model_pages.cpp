#include "gateway/model_pages.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "gateway/models.h"
#include "gateway/oip_input.h"

namespace sluice::gateway {
namespace {

using nlohmann::ordered_json;

std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json metadata_of(const std::vector<Port>& ports) {
  ordered_json list = ordered_json::array();
  for (const Port& port : ports) {
    list.push_back({{"name", port.name}, {"datatype", name_of(port.type)}, {"shape", shown_shape(port)}});
  }
  return list;
}

ordered_json pair_of(const live::Counted& counted) {
  return {{"count", counted.count}, {"ns", counted.ns}};
}

ordered_json stats_of(const live::Model& model) {
  const live::ModelStats& stats = model.stats;
  ordered_json batches = ordered_json::array();
  for (const auto& batch : stats.batches) {
    batches.push_back({{"batch_size", batch.size},
                       {"compute_input", pair_of({.count = batch.infer.count})},
                       {"compute_infer", pair_of(batch.infer)},
                       {"compute_output", pair_of({.count = batch.infer.count})}});
  }
  return {{"name", model.name},
          {"version", str(model.version)},
          {"last_inference", stats.last_inference_ms},
          {"inference_count", stats.inferences},
          {"execution_count", stats.executions},
          {"inference_stats",
           {{"success", pair_of(stats.success)},
            {"fail", pair_of(stats.fail)},
            {"queue", pair_of(stats.queue)},
            {"compute_input", pair_of(stats.compute_input)},
            {"compute_infer", pair_of(stats.compute_infer)},
            {"compute_output", pair_of(stats.compute_output)},
            {"cache_hit", pair_of({})},
            {"cache_miss", pair_of({})}}},
          {"response_stats", ordered_json::object()},
          {"batch_stats", std::move(batches)},
          {"memory_usage", ordered_json::array()}};
}

}  // namespace

std::string_view platform_of(const live::Model& model) {
  return model.is_function ? "sluice_function" : "ensemble";
}

std::string server_metadata(std::string_view name, std::string_view version) {
  return text_of({{"name", name},
                  {"version", version},
                  {"extensions",
                   {"model_repository", "schedule_policy", "model_configuration", "binary_tensor_data", "parameters",
                    "statistics"}}});
}

std::string model_metadata(const live::Model& model) {
  return text_of({{"name", model.name},
                  {"versions", {str(model.version)}},
                  {"platform", platform_of(model)},
                  {"inputs", metadata_of(model.inputs)},
                  {"outputs", metadata_of(model.outputs)}});
}

Reply model_readiness(const live::Model& model) {
  if (model.state == live::ModelState::ready) return {.body = text_of({{"name", model.name}, {"ready", true}})};
  return {.status = 400,
          .body = text_of({{"name", model.name}, {"ready", false}, {"error", "Model version not ready"}})};
}

std::string model_stats(std::span<const live::Model> models) {
  ordered_json list = ordered_json::array();
  for (const live::Model& model : models) list.push_back(stats_of(model));
  return text_of({{"model_stats", std::move(list)}});
}

std::string repository_index(std::span<const live::Model> models, bool ready_only) {
  ordered_json list = ordered_json::array();
  for (const live::Model& model : models) {
    if (ready_only && model.state != live::ModelState::ready) continue;
    ordered_json entry = {{"name", model.name}, {"version", str(model.version)}, {"state", name_of(model.state)}};
    if (!model.reason.empty()) entry["reason"] = model.reason;
    list.push_back(std::move(entry));
  }
  return text_of(list);
}

}  // namespace sluice::gateway
