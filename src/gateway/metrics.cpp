#include "gateway/metrics.h"

#include <algorithm>
#include <mutex>

#include "base/text.h"
#include "gateway/metrics_text.h"
#include "gateway/refusal.h"

namespace sluice::gateway {
namespace {

using Models = std::span<const live::Model>;

constexpr double kNsPerSecond = 1e9;

// Calls visit(model) for every model and every canary, which is another version of one.
template <class Visit>
void each_version(Models models, Visit visit) {
  for (const live::Model& model : models) {
    visit(model);
    if (model.canary != nullptr) visit(model.canary->model);
  }
}

// One family with a sample of every model.
template <class Value>
void each_model(std::string& out, Models models, std::string_view name, std::string_view type, std::string_view help,
                Value value) {
  begin_family(out, name, type, help);
  each_version(models, [&](const live::Model& model) {
    append_sample(out, name, {{"tenant", model.tenant}, {"model", model.name}, {"version", str(model.version)}},
                  value(model.stats));
  });
}

void append_triton_failures(std::string& out, Models models) {
  constexpr std::string_view kName = "nv_inference_request_failure";
  begin_family(out, kName, "counter", "Requests that failed, by reason");
  each_version(models, [&](const live::Model& model) {
    const std::string version = str(model.version);
    const auto sample = [&](std::string_view reason, std::uint64_t count) {
      append_sample(out, kName,
                    {{"tenant", model.tenant}, {"model", model.name}, {"version", version}, {"reason", reason}}, count);
    };
    sample("REJECTED", model.stats.rejected);
    sample("CANCELED", model.stats.cancelled);
    sample("BACKEND", model.stats.failed);
  });
}

void append_triton(std::string& out, Models models) {
  using Stats = live::ModelStats;
  const auto us = [](const live::Counted& counted) { return counted.ns / 1000; };
  const auto counter = [&](std::string_view name, std::string_view help, auto value) {
    each_model(out, models, name, "counter", help, value);
  };
  counter("nv_inference_request_success", "Requests answered", [](const Stats& s) { return s.success.count; });
  append_triton_failures(out, models);
  counter("nv_inference_count", "Inferences: of an application requests, of a function invocations",
          [](const Stats& s) { return s.inferences; });
  counter("nv_inference_exec_count", "Executions: of an application requests, of a function batches",
          [](const Stats& s) { return s.executions; });
  counter("nv_inference_request_duration_us", "Time of requests", [&](const Stats& s) { return us(s.success); });
  counter("nv_inference_queue_duration_us", "Time in queues", [&](const Stats& s) { return us(s.queue); });
  counter("nv_inference_compute_input_duration_us", "Time of inputs",
          [&](const Stats& s) { return us(s.compute_input); });
  counter("nv_inference_compute_infer_duration_us", "Time of running",
          [&](const Stats& s) { return us(s.compute_infer); });
  counter("nv_inference_compute_output_duration_us", "Time of outputs",
          [&](const Stats& s) { return us(s.compute_output); });
  each_model(out, models, "nv_inference_pending_request_count", "gauge", "Requests not answered yet",
             [](const Stats& s) { return s.pending; });
}

// Calls visit(model) for every application.
template <class Visit>
void each_application(Models models, Visit visit) {
  for (const live::Model& model : models) {
    if (!model.is_function) visit(model);
  }
}

// An application's, whichever version answered.
live::ModelStats counts_of(const live::Model& model) {
  live::ModelStats out = model.stats;
  if (model.canary == nullptr) return out;
  out.add(model.canary->model.stats);
  out.pending += model.canary->model.stats.pending;
  return out;
}

void append_canaries(std::string& out, Models models) {
  constexpr std::string_view kName = "sluice_canary_requests_total";
  begin_family(out, kName, "counter", "Requests that a canary got, by how they ended");
  each_application(models, [&](const live::Model& model) {
    if (model.canary == nullptr) return;
    const std::string version = str(model.canary->model.version);
    const live::ModelStats& stats = model.canary->model.stats;
    for (const auto& [outcome, count] :
         std::initializer_list<std::pair<std::string_view, std::uint64_t>>{{"met", stats.met},
                                                                           {"late", stats.late},
                                                                           {"rejected", stats.rejected},
                                                                           {"failed", stats.failed},
                                                                           {"cancelled", stats.cancelled}}) {
      append_sample(out, kName,
                    {{"tenant", model.tenant}, {"application", model.name}, {"version", version}, {"outcome", outcome}},
                    count);
    }
  });
}

void append_applications(std::string& out, Models models) {
  constexpr std::string_view kRequests = "sluice_application_requests_total";
  begin_family(out, kRequests, "counter", "Requests by how they ended");
  each_application(models, [&](const live::Model& model) {
    const live::ModelStats stats = counts_of(model);
    const auto sample = [&](std::string_view outcome, std::uint64_t count) {
      append_sample(out, kRequests, {{"tenant", model.tenant}, {"application", model.name}, {"outcome", outcome}},
                    count);
    };
    sample("met", stats.met);
    sample("late", stats.late);
    sample("rejected", stats.rejected);
    sample("failed", stats.failed);
    sample("cancelled", stats.cancelled);
  });
  append_canaries(out, models);
  begin_family(out, "sluice_application_pending_requests", "gauge", "Requests not answered yet");
  each_application(models, [&](const live::Model& model) {
    const live::ModelStats stats = counts_of(model);
    append_sample(out, "sluice_application_pending_requests", {{"tenant", model.tenant}, {"application", model.name}},
                  stats.pending);
  });
  begin_family(out, "sluice_cost_dollars_total", "counter", "What requests cost");
  each_application(models, [&](const live::Model& model) {
    const live::ModelStats stats = counts_of(model);
    append_sample(out, "sluice_cost_dollars_total", {{"tenant", model.tenant}, {"application", model.name}},
                  stats.cost);
  });
}

void append_stage_seconds(std::string& out, Models models, std::string_view name, std::string_view help,
                          live::Counted live::ModelStats::OfStage::*field) {
  begin_family(out, name, "summary", help);
  each_application(models, [&](const live::Model& model) {
    const live::ModelStats stats = counts_of(model);
    for (const auto& stage : stats.stages) {
      const live::Counted& counted = stage.*field;
      append_sample(out, str(name, "_sum"),
                    {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}},
                    static_cast<double>(counted.ns) / kNsPerSecond);
      append_sample(out, str(name, "_count"),
                    {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}}, counted.count);
    }
  });
}

void append_batch_sizes(std::string& out, Models models) {
  constexpr std::string_view kName = "sluice_stage_batch_size", kBucket = "sluice_stage_batch_size_bucket";
  begin_family(out, kName, "histogram", "Members of batches");
  each_application(models, [&](const live::Model& model) {
    const live::ModelStats stats = counts_of(model);
    for (const auto& stage : stats.stages) {
      std::uint64_t count = 0, sum = 0;
      for (std::uint32_t bound = 1; bound <= 128; bound *= 2) {
        count = 0;
        for (const auto& batch : stage.batches) count += batch.size <= bound ? batch.infer.count : 0;
        append_sample(
            out, kBucket,
            {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}, {"le", str(bound)}}, count);
      }
      count = 0;
      for (const auto& batch : stage.batches) {
        count += batch.infer.count;
        sum += batch.size * batch.infer.count;
      }
      append_sample(out, kBucket,
                    {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}, {"le", "+Inf"}},
                    count);
      append_sample(out, str(kName, "_sum"),
                    {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}}, sum);
      append_sample(out, str(kName, "_count"),
                    {{"tenant", model.tenant}, {"application", model.name}, {"stage", stage.name}}, count);
    }
  });
}

void append_server(std::string& out, const live::Snapshot& snapshot) {
  const auto one = [&](std::string_view name, std::string_view type, std::string_view help, std::uint64_t value) {
    begin_family(out, name, type, help);
    append_sample(out, name, {}, value);
  };
  one("sluice_cold_starts_total", "counter", "Functions loaded for a request", snapshot.cold_starts);
  one("sluice_worker_crashes_total", "counter", "Worker processes that died", snapshot.worker_crashes);
  one("sluice_retries_total", "counter", "Invocations run again", snapshot.retries);
  one("sluice_in_system_requests", "gauge", "Requests taken and not answered", snapshot.in_system);
  one("sluice_waiting_requests", "gauge", "Accepted asynchronous requests that wait on disk to be let in",
      snapshot.waiting);
  one("sluice_mailbox_size", "gauge", "Events that wait for the scheduler", snapshot.mailbox_size);
  one("sluice_object_bytes", "gauge", "Shared memory that tensors take",
      static_cast<std::uint64_t>(snapshot.objects_used.count()));
  one("sluice_object_bytes_max", "gauge", "Shared memory that tensors may take",
      static_cast<std::uint64_t>(snapshot.objects_max.count()));
}

// Applications that were removed are not told of any more.
void append_cold_starts(std::string& out, const live::Snapshot& snapshot, const Principal& principal) {
  constexpr std::string_view kName = "sluice_cold_start_seconds";
  begin_family(out, kName, "summary", "Time that functions took to start, by phase");
  for (const live::ColdStartStats& cold : snapshot.cold) {
    if (!principal.sees(cold.tenant) || snapshot.find(cold.tenant, cold.application) == nullptr) continue;
    const auto phase = [&](std::string_view name, const live::Counted& counted) {
      const auto labels = {Label{"tenant", cold.tenant}, Label{"application", cold.application},
                           Label{"function", cold.function}, Label{"phase", name}};
      append_sample(out, str(kName, "_sum"), labels, static_cast<double>(counted.ns) / kNsPerSecond);
      append_sample(out, str(kName, "_count"), labels, counted.count);
    };
    phase("process", cold.process);
    phase("load", cold.load);
    phase("ready", cold.ready);
  }
}

// NAME_seconds as a histogram, NAME_max_seconds: the longest since the start.
void append_times(std::string& out, const std::string& name, std::string_view what, const live::TimeCounts& times) {
  const std::string seconds = str(name, "_seconds"), longest = str(name, "_max_seconds");
  begin_family(out, seconds, "histogram", str("Time that ", what));
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < times.counts.size(); ++i) {
    count += times.counts[i];
    const bool last = i == live::TimeCounts::kBoundsNs.size();
    const std::string bound = last ? "+Inf" : str(static_cast<double>(live::TimeCounts::kBoundsNs[i]) / kNsPerSecond);
    append_sample(out, str(seconds, "_bucket"), {{"le", bound}}, count);
  }
  append_sample(out, str(seconds, "_sum"), {}, static_cast<double>(times.sum_ns) / kNsPerSecond);
  append_sample(out, str(seconds, "_count"), {}, count);
  begin_family(out, longest, "gauge", "The longest since the start");
  append_sample(out, longest, {}, static_cast<double>(times.max_ns) / kNsPerSecond);
}

void append_scheduler(std::string& out, const live::Snapshot& snapshot) {
  append_times(out, "sluice_scheduler_decision", "decisions of the scheduler took", snapshot.decisions);
  append_times(out, "sluice_step", "turns of the scheduler's thread took: events, decisions, answers, log",
               snapshot.steps);
  constexpr std::string_view kPlanned = "sluice_step_plans_total";
  begin_family(out, kPlanned, "counter", "Plans and tables that the scheduler's thread had to make itself");
  append_sample(out, kPlanned, {}, snapshot.planned_here);
}

void append_nodes(std::string& out, const live::Snapshot& snapshot) {
  const auto each = [&](std::string_view name, std::string_view help, auto value) {
    begin_family(out, name, "gauge", help);
    for (const live::NodeInfo& node : snapshot.nodes) append_sample(out, name, {{"node", node.name}}, value(node));
  };
  each("sluice_node_ready", "1: takes work", [](const live::NodeInfo& n) { return n.state == "READY" ? 1 : 0; });
  each("sluice_node_vcpu", "vCPUs of the machine", [](const live::NodeInfo& n) { return n.vcpu; });
  each("sluice_node_vcpu_free", "vCPUs nobody holds", [](const live::NodeInfo& n) { return n.vcpu_free; });
  constexpr std::string_view kShare = "sluice_gpu_share_allocated_ratio";
  begin_family(out, kShare, "gauge", "Slices held of all slices");
  for (const live::NodeInfo& node : snapshot.nodes) {
    for (std::size_t i = 0; i < node.gpus.size(); ++i) {
      const live::GpuInfo& gpu = node.gpus[i];
      const double held = gpu.slices == 0 ? 0 : static_cast<double>(gpu.slices - gpu.free) / gpu.slices;
      append_sample(out, kShare, {{"node", node.name}, {"gpu", str(i)}}, held);
    }
  }
}

// Of GPUs that are really there.
void append_gpus(std::string& out, const live::Snapshot& snapshot) {
  const auto is_there = [](const live::GpuInfo& gpu) { return gpu.use.has_value(); };
  if (std::ranges::none_of(snapshot.nodes, [&](const auto& node) { return std::ranges::any_of(node.gpus, is_there); }))
    return;
  const auto each = [&](std::string_view name, std::string_view type, std::string_view help, auto append) {
    begin_family(out, name, type, help);
    for (const live::NodeInfo& node : snapshot.nodes) {
      for (std::size_t i = 0; i < node.gpus.size(); ++i) {
        if (node.gpus[i].use) append(name, node, i, *node.gpus[i].use);
      }
    }
  };
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t live::GpuUse::*count) {
    each(name, "counter", help,
         [&](std::string_view family, const live::NodeInfo& node, std::size_t gpu, const live::GpuUse& use) {
           append_sample(out, family, {{"node", node.name}, {"gpu", str(gpu)}}, use.*count);
         });
  };
  each("sluice_gpu_slice_busy_seconds_total", "counter", "As long as the device took for batches on the slice",
       [&](std::string_view name, const live::NodeInfo& node, std::size_t gpu, const live::GpuUse& use) {
         for (std::size_t slice = 0; slice < use.busy.size(); ++slice)
           append_sample(out, name, {{"node", node.name}, {"gpu", str(gpu)}, {"slice", str(slice)}},
                         use.busy[slice].to_ms() / 1e3);
       });
  counter("sluice_gpu_batches_total", "Batches that ran on it", &live::GpuUse::batches);
  counter("sluice_gpu_captures_total", "CUDA graphs that were recorded", &live::GpuUse::captures);
  counter("sluice_gpu_copied_in_bytes_total", "Inputs copied to it", &live::GpuUse::bytes_in);
  counter("sluice_gpu_copied_out_bytes_total", "Outputs copied from it", &live::GpuUse::bytes_out);
  counter("sluice_gpu_loads_total", "Functions that came to it, or back to it", &live::GpuUse::loads);
  counter("sluice_gpu_kept_total", "Outputs that stayed on it for the stages after them", &live::GpuUse::kept);
  counter("sluice_gpu_fetches_total", "Outputs that stayed on it and were fetched later", &live::GpuUse::fetches);
  each("sluice_gpu_kept_bytes", "gauge", "Outputs that are on it now",
       [&](std::string_view name, const live::NodeInfo& node, std::size_t gpu, const live::GpuUse& use) {
         append_sample(out, name, {{"node", node.name}, {"gpu", str(gpu)}}, use.kept_bytes);
       });
  each("sluice_gpu_graphs", "gauge", "CUDA graphs that functions have",
       [&](std::string_view name, const live::NodeInfo& node, std::size_t gpu, const live::GpuUse&) {
         std::uint64_t graphs = 0;
         for (const live::InstanceInfo& instance : node.instances) {
           if (instance.on_gpu && instance.on_gpu->gpu == gpu) graphs += instance.on_gpu->graphs;
         }
         append_sample(out, name, {{"node", node.name}, {"gpu", str(gpu)}}, graphs);
       });
  each("sluice_gpu_memory_booked_bytes", "gauge", "What the functions on it may take",
       [&](std::string_view name, const live::NodeInfo& node, std::size_t gpu, const live::GpuUse&) {
         const live::GpuInfo& info = node.gpus[gpu];
         append_sample(out, name, {{"node", node.name}, {"gpu", str(gpu)}}, (info.memory - info.memory_free).count());
       });
}

template <std::size_t N>
void append_histogram(std::string& out, std::string_view name, const AnswerMetrics::Whose& whose,
                      const std::array<double, N>& bounds, const CountHistogram<N>& histogram) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i <= N; ++i) {
    count += histogram.count(i);
    const std::string bound = i < N ? str(bounds[i]) : std::string("+Inf");
    append_sample(out, str(name, "_bucket"), {{"tenant", whose.tenant}, {"application", whose.name}, {"le", bound}},
                  count);
  }
  append_sample(out, str(name, "_sum"), {{"tenant", whose.tenant}, {"application", whose.name}}, histogram.sum());
  append_sample(out, str(name, "_count"), {{"tenant", whose.tenant}, {"application", whose.name}}, count);
}

}  // namespace

AnswerMetrics::OfTenant& AnswerMetrics::of_tenant(std::string_view tenant) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = tenants_.find(tenant); found != tenants_.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  auto& slot = tenants_[std::string(tenant)];
  if (slot == nullptr) slot = std::make_unique<OfTenant>();
  return *slot;
}

AnswerMetrics::OfApplication& AnswerMetrics::of(const Whose& application) {
  OfTenant& tenant = of_tenant(application.tenant);
  {
    const std::shared_lock lock(mutex_);
    const auto found = tenant.applications.find(application.name);
    if (found != tenant.applications.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  auto& slot = tenant.applications[std::string(application.name)];
  if (slot == nullptr) slot = std::make_unique<OfApplication>();
  return *slot;
}

void AnswerMetrics::observe(const Whose& application, const live::Answer& answer) {
  if (answer.kind == live::AnswerKind::rejected) {
    of_tenant(application.tenant)
        .rejections[static_cast<std::size_t>(answer.reason)]
        .fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (answer.kind != live::AnswerKind::finished) return;
  OfApplication& histograms = of(application);
  histograms.latency.add(kLatencyBounds, answer.latency.to_s());
  histograms.slack.add(kSlackBounds, answer.slack.to_s());
}

// Applications that were removed are not told of any more.
void AnswerMetrics::append_histograms(std::string& out, const live::Snapshot& snapshot,
                                      const Principal& principal) const {
  const std::shared_lock lock(mutex_);
  const auto each = [&](auto visit) {
    for (const auto& [tenant, of_tenant] : tenants_) {
      if (!principal.sees(tenant)) continue;
      for (const auto& [name, histograms] : of_tenant->applications) {
        if (snapshot.find(tenant, name) != nullptr) visit(Whose{tenant, name}, *histograms);
      }
    }
  };
  constexpr std::string_view kLatency = "sluice_application_latency_seconds",
                             kSlack = "sluice_application_slack_seconds";
  begin_family(out, kLatency, "histogram", "From arrival to answer");
  each([&](const Whose& whose, const OfApplication& of) {
    append_histogram(out, kLatency, whose, kLatencyBounds, of.latency);
  });
  begin_family(out, kSlack, "histogram", "Time left until the deadline; below zero: late");
  each([&](const Whose& whose, const OfApplication& of) {
    append_histogram(out, kSlack, whose, kSlackBounds, of.slack);
  });
}

void AnswerMetrics::append_rejections(std::string& out, const Principal& principal) const {
  constexpr std::string_view kName = "sluice_admission_rejections_total";
  const std::shared_lock lock(mutex_);
  begin_family(out, kName, "counter", "Requests not let in, by reason");
  for (const auto& [tenant, of_tenant] : tenants_) {
    if (!principal.sees(tenant)) continue;
    for (std::size_t i = 0; i < of_tenant->rejections.size(); ++i) {
      append_sample(out, kName, {{"tenant", tenant}, {"reason", code_of(static_cast<RejectReason>(i))}},
                    of_tenant->rejections[i].load());
    }
  }
}

std::string AnswerMetrics::page(const live::Snapshot& snapshot, const Principal& principal, bool server) const {
  std::string out;
  const Models models = principal.sees_everything() ? Models(snapshot.models) : snapshot.models_of(principal.tenant);
  append_applications(out, models);
  append_histograms(out, snapshot, principal);
  append_stage_seconds(out, models, "sluice_stage_queue_seconds", "Time in queues", &live::ModelStats::OfStage::queue);
  append_stage_seconds(out, models, "sluice_stage_exec_seconds", "Time of running", &live::ModelStats::OfStage::infer);
  append_batch_sizes(out, models);
  append_rejections(out, principal);
  if (server) append_server(out, snapshot);
  append_cold_starts(out, snapshot, principal);
  if (server) append_scheduler(out, snapshot);
  if (server) append_nodes(out, snapshot);
  if (server) append_gpus(out, snapshot);
  append_triton(out, models);
  return out;
}

}  // namespace sluice::gateway
