#include "policy/aquatope.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "policy/esg_placement.h"
#include "policy/queue_pass.h"
#include "policy/runnable.h"

namespace sluice::policy {
namespace {

std::string name_of(const Application& application) {
  return str(application.tenant, "/", application.name);
}

// To the nearest.
std::int64_t whole_ms(Duration slo) {
  return (slo.count_ns() + 500'000) / 1'000'000;
}

std::vector<std::uint32_t> search(const plan::WorkflowModel& model, const AquatopePresets::key_type& key,
                                  const plan::AquatopeSettings& settings) {
  return plan::aquatope_preset(model, key.first, static_cast<double>(key.second), settings).candidates;
}

class Aquatope final : public Dispatch {
 public:
  Aquatope(const Parameters& parameters, std::shared_ptr<const AquatopePresets> known)
      : settings_(aquatope_settings(parameters)), known_(std::move(known)) {}

  void begin(const View& view) override {
    presets_.resize(view.queues.size(), kUnknown);
    held_up_.resize(view.queues.size());
    pass_.begin(view);
  }

  bool next(const View& view, Proposals& out) override {
    const Queue* queue = pass_.next(view);
    if (queue == nullptr) return false;
    out.clear();
    out.queue = queue->id;
    out.work.searches = 1;
    propose(view, *queue, out);
    return true;
  }

  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (!booked) held_up_[proposals.queue.index()] = view.queue(proposals.queue).waiting.front().invocation;
    pass_.decided(booked.has_value());
  }

  void removed(const View&, const Queue& queue) override {
    placement_.forget(queue);
    if (queue.id.index() < presets_.size()) presets_[queue.id.index()] = kUnknown;
    if (queue.id.index() < held_up_.size()) held_up_[queue.id.index()] = InvocationId::none();
  }

  void visit(Archive& archive) override {
    archive(presets_, held_up_);
    pass_.visit(archive);
  }

 private:
  static constexpr std::uint32_t kUnknown = std::numeric_limits<std::uint32_t>::max();

  void propose(const View& view, const Queue& queue, Proposals& out) {
    Configuration c = preset(view, queue);
    const Waiting& oldest = queue.waiting.front();
    out.planned = true;
    out.configuration_missed = queue.waiting.size() < c.batch || held_up_[queue.id.index()] == oldest.invocation;
    if (!runs_somewhere(view, queue, c)) {  // nobody waits for it
      c = least_runnable(view, queue);
      out.configuration_missed = true;
    }
    placement_.look_at(view, queue);
    placement_.offer(view, queue, c, out);
  }

  const Configuration& preset(const View& view, const Queue& queue) {
    const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
    // Unknown, or found in a profile that had more rows.
    if (presets_[queue.id.index()] >= candidates.size()) find_presets(view, queue);
    CHECK(presets_[queue.id.index()] < candidates.size());
    return candidates[presets_[queue.id.index()]].configuration;
  }

  // For all queues that are planned together: those of one application, or one of an error handler alone.
  void find_presets(const View& view, const Queue& queue) {
    const ApplicationModel& model = view.application(queue.application);
    const Waiting& first = queue.waiting.front();
    std::string name = name_of(*model.application);
    if (queue.model != model.model) name += str("/", queue.model->stages[queue.model_stage].name);
    const std::vector<std::uint32_t> found =
        look_up(*queue.model, {std::move(name), whole_ms(first.deadline - first.arrival)});
    CHECK(found.size() == queue.model->stages.size());  // else it was made for another application
    for (const Queue& other : view.queues) {
      if (other.model == queue.model) presets_[other.id.index()] = found[other.model_stage];
    }
  }

  static bool is_of(const plan::WorkflowModel& model, const std::vector<std::uint32_t>& preset) {
    for (std::size_t s = 0; s < std::min(preset.size(), model.stages.size()); ++s) {
      const std::size_t there = model.stages[s].candidates.size();
      if (there > 0 && preset[s] >= there) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<std::uint32_t> look_up(const plan::WorkflowModel& model,
                                                   const AquatopePresets::key_type& key) const {
    if (known_ != nullptr) {
      if (const auto it = known_->find(key); it != known_->end() && is_of(model, it->second)) return it->second;
    }
    return search(model, key, settings_);
  }

  plan::AquatopeSettings settings_;
  std::shared_ptr<const AquatopePresets> known_;
  std::vector<std::uint32_t> presets_;  // candidates by queue
  std::vector<InvocationId> held_up_;   // by queue: the oldest when it last found no place
  QueuePass pass_;
  EsgPlacement placement_;  // derived: not part of the state
};

}  // namespace

plan::AquatopeSettings aquatope_settings(const Parameters& parameters) {
  const bool full = parameter_or(parameters, "full", 0) != 0;
  plan::AquatopeSettings out = full ? plan::AquatopeSettings::full() : plan::AquatopeSettings::small();
  const auto count = [&](const char* name, std::size_t& value, double least) {
    value =
        static_cast<std::size_t>(std::clamp(parameter_or(parameters, name, static_cast<double>(value)), least, 1e6));
  };
  count("initial", out.initial, 1);
  count("rounds", out.rounds, 0);
  count("points", out.points, 1);
  count("prospects", out.prospects, 1);
  count("settings_every", out.settings_every, 1);
  out.outlier_deviations = parameter_or(parameters, "outlier_deviations", out.outlier_deviations);
  out.seed = static_cast<std::uint64_t>(
      std::clamp(parameter_or(parameters, "seed", static_cast<double>(out.seed)), 0.0, 9e15));
  return out;
}

AquatopePresets::value_type aquatope_preset(const Application& application, const plan::WorkflowModel& model,
                                            Duration slo, const Parameters& parameters) {
  AquatopePresets::key_type key{name_of(application), whole_ms(slo)};
  std::vector<std::uint32_t> found = search(model, key, aquatope_settings(parameters));
  return {std::move(key), std::move(found)};
}

std::unique_ptr<Dispatch> make_aquatope(const Parameters& parameters, std::shared_ptr<const AquatopePresets> known) {
  return std::make_unique<Aquatope>(parameters, std::move(known));
}

}  // namespace sluice::policy
