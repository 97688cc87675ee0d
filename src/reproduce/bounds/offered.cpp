#include "reproduce/bounds/offered.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "base/text.h"
#include "profile/transfer.h"
#include "sim/rules.h"
#include "workload/stream.h"

namespace sluice::reproduce {
namespace {

constexpr double kSameSigma = 1e-9;

bool fits(const Configuration& c, const Cluster& cluster) {
  return std::any_of(cluster.nodes.begin(), cluster.nodes.end(), [&](const NodeGroup& node) {
    const std::uint32_t slices = node.slices_per_gpu == 0 ? 7 : node.slices_per_gpu;
    return node.vcpu >= c.vcpu && (c.slices == 0 || (node.gpus > 0 && slices >= c.slices));
  });
}

// Drops what another way matches or beats in time, vCPUs and slices.
std::vector<Way> undominated(std::vector<Way> ways) {
  const auto key = [](const Way& w) { return std::tuple(w.ms, w.slices, w.vcpu); };
  std::sort(ways.begin(), ways.end(), [&](const Way& a, const Way& b) { return key(a) < key(b); });
  std::vector<Way> out;
  for (const Way& way : ways) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const Way& kept) { return kept.vcpu <= way.vcpu && kept.slices <= way.slices; }))
      out.push_back(way);
  }
  return out;
}

// Any number of members up to the batch may run with the vCPUs and slices of a configuration; a batch of more members
// than counted is never better than the best of those sizes.
void add_ways(OfferedFunction& function, const profile::FunctionProfile& profile,
              const std::vector<Configuration>& all) {
  std::map<std::tuple<std::uint16_t, std::uint16_t, DeviceKind>, std::uint16_t> largest;
  for (const Configuration& c : all) {
    auto& batch = largest[{c.vcpu, c.slices, c.device}];
    batch = std::max(batch, c.batch);
  }
  for (const auto& [held, batch] : largest) {
    if (function.ways.size() < batch) function.ways.resize(batch);
    Configuration c{
        .batch = batch, .vcpu = std::get<0>(held), .slices = std::get<1>(held), .device = std::get<2>(held)};
    double least = std::numeric_limits<double>::infinity();
    for (; c.batch >= 1; --c.batch) {
      least = std::min(least, profile.latency(c).mean_ms);
      function.ways[c.batch - 1u].push_back({least, static_cast<double>(c.vcpu), static_cast<double>(c.slices)});
    }
  }
}

class OfferedBuilder {
 public:
  OfferedBuilder(const Experiment& experiment, std::uint64_t seed) : experiment_(experiment) {
    out_.seed = seed;
    out_.noise = experiment.noise;
    out_.warmup = experiment.workload.warmup;
    out_.bills_transfer = experiment.billing == Billing::held;
    out_.prices.vcpu_hour = out_.prices.vgpu_hour = std::numeric_limits<double>::infinity();
    for (const NodeGroup& node : experiment.cluster.nodes) {
      out_.vcpus += static_cast<double>(node.count) * node.vcpu;
      out_.slices += static_cast<double>(node.count) * node.gpus * (node.slices_per_gpu == 0 ? 7 : node.slices_per_gpu);
    }
  }

  Result<Offered> run(std::string_view trace_text) {
    for (const Application& application : experiment_.applications) {
      if (const Status status = add(application); !status) return status.error();
    }
    for (OfferedFunction& function : out_.functions) {
      for (std::vector<Way>& ways : function.ways) ways = undominated(std::move(ways));
    }
    out_.sigma = experiment_.noise ? experiment_.noise->sigma : sigma_.value_or(0);
    std::vector<std::string> names;
    for (const Application& application : experiment_.applications) names.push_back(application.name);
    auto stream = workload::ArrivalStream::make(experiment_.workload, names, out_.seed, trace_text);
    if (!stream) return stream.error();
    while (const auto arrival = stream->next()) {
      const double at = arrival->at.to_ms();
      out_.requests.push_back({at, at + out_.objective_ms[arrival->application], arrival->application});
    }
    return std::move(out_);
  }

 private:
  Status add(const Application& application) {
    auto profiles = plan::make_profiles(application);
    if (!profiles) return profiles.error();
    auto model = plan::make_model(application, *profiles);
    if (!model) return model.error();
    const Prices& prices = experiment_.prices ? *experiment_.prices : application.prices;
    out_.prices.vcpu_hour = std::min(out_.prices.vcpu_hour, prices.vcpu_hour);
    out_.prices.vgpu_hour = std::min(out_.prices.vgpu_hour, prices.vgpu_hour);
    out_.objective_ms.push_back(sim::objective_of(experiment_, application, *model).to_ms());
    out_.models.push_back(std::move(model).value());
    return add_chain(application, *profiles);
  }

  Status add_chain(const Application& application, const std::vector<profile::FunctionProfile>& profiles) {
    const Error not_a_chain{ErrorCode::invalid,
                            str("application '", application.name, "' is not a chain of functions: no bounds for it")};
    const Workflow& workflow = application.workflow;
    std::vector<std::optional<std::size_t>> next(workflow.size());
    std::optional<std::size_t> first;
    for (std::size_t s = 0; s < workflow.size(); ++s) {
      const Stage& stage = workflow.stages[s];
      if (stage.kind != Stage::Kind::run || stage.when || stage.foreach || stage.after.size() > 1) return not_a_chain;
      auto& before = stage.after.empty() ? first : next[stage.after.front().index()];
      if (before) return not_a_chain;
      before = s;
    }
    std::vector<OfferedStage> chain;
    for (auto s = first; s; s = next[*s]) {
      const Stage& stage = workflow.stages[*s];
      const auto function = add_function(application, stage, profiles[stage.function.index()]);
      if (!function) return function.error();
      chain.push_back({*function, *s});
    }
    out_.chains.push_back(std::move(chain));
    return Done{};
  }

  // Functions of one name and content may share batches, whatever the application; what one stage may not use, another
  // may, so that the ways are those of all stages.
  Result<std::uint32_t> add_function(const Application& application, const Stage& stage,
                                     const profile::FunctionProfile& profile) {
    const Function& function = application.function(stage.function);
    const auto same = std::find(known_.begin(), known_.end(), function);
    const auto index = static_cast<std::uint32_t>(same - known_.begin());
    if (same == known_.end()) {
      known_.push_back(function);
      out_.functions.emplace_back();
    }
    std::vector<Configuration> allowed;
    for (const Configuration& c : profile.configurations()) {
      if (!stage.configurations.allows(c) || !fits(c, experiment_.cluster)) continue;
      allowed.push_back(c);
      const profile::Latency latency = profile.latency(c);
      const double sigma = latency.mean_ms > 0 ? latency.sd_ms / latency.mean_ms : 0;
      if (!experiment_.noise && std::abs(sigma_.value_or(sigma) - sigma) > kSameSigma)
        return Error{ErrorCode::invalid, "profiles with different spreads: write the experiment's `noise`"};
      sigma_ = sigma;
    }
    add_ways(out_.functions[index], profile, allowed);
    if (out_.functions[index].ways.empty())
      return Error{ErrorCode::invalid, str("no machine of the cluster fits function '", function.name, "'")};
    Transfer fastest = experiment_.transfer;  // wherever the inputs are
    fastest.local_bytes_per_s = std::max(fastest.local_bytes_per_s, fastest.remote_bytes_per_s);
    out_.functions[index].delay_ms = fastest.local_delay.to_ms();
    out_.functions[index].copy_ms =
        profile::transfer_time(fastest, {.local = function.input_bytes.value_or(Bytes())}).to_ms() -
        fastest.local_delay.to_ms();
    return index;
  }

  const Experiment& experiment_;
  Offered out_;
  std::vector<Function> known_;
  std::optional<double> sigma_;
};

}  // namespace

double OfferedFunction::fastest_ms(std::size_t members) const {
  double least = std::numeric_limits<double>::infinity();
  if (members > ways.size()) return least;
  for (const Way& way : ways[members - 1]) least = std::min(least, way.ms);
  return least;
}

double Offered::luck(std::size_t request, const OfferedStage& stage) const {
  return sim::luck_of({seed, request, stage.id}, sigma, noise);
}

Result<Offered> make_offered(const Experiment& experiment, std::uint64_t seed, std::string_view trace_text) {
  return OfferedBuilder(experiment, seed).run(trace_text);
}

}  // namespace sluice::reproduce
