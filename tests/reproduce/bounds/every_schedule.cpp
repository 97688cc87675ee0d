#include "reproduce/bounds/every_schedule.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "plan/workflow_model.h"
#include "profile/transfer.h"

namespace sluice::reproduce {
namespace {

constexpr std::uint32_t kNowhere = 0xFFFFFFFFu;

struct Progress {
  std::uint32_t stage = 0;  // the one it waits for or runs
  bool running = false;
  double ready_ms = 0;            // arrival, or the end of the stage before; when running: its end
  std::uint32_t node = kNowhere;  // where its data are
  Dollars paid = 0;
};
struct Node {
  std::uint32_t vcpus, slices;
};
struct Running {
  double end_ms;
  std::uint32_t node;
  Configuration configuration;
};

class Search {
 public:
  Search(const Experiment& experiment, const Offered& offered) : experiment_(experiment), offered_(offered) {
    for (const Application& application : experiment.applications)
      profiles_.push_back(*plan::make_profiles(application));
    const NodeGroup& group = experiment.cluster.nodes.front();
    nodes_.assign(group.count, {group.vcpu, group.gpus * group.slices_per_gpu});
    for (const OfferedRequest& r : offered.requests) requests_.push_back({.ready_ms = r.at_ms});
  }
  EverySchedule run() {
    decide(0, 0);
    return std::move(out_);
  }

 private:
  // What can still be decided at `now`: sets of waiting requests from `least_set` on, so that no order is tried twice.
  void decide(double now, std::uint32_t least_set) {
    for (std::uint32_t set = std::max(1u, least_set); set < (1u << requests_.size()); ++set) {
      if (waits(set, now)) start_any(now, set);
    }
    advance(now);
  }

  [[nodiscard]] const OfferedStage& stage_of(std::size_t r) const { return offered_.stages_of(r)[requests_[r].stage]; }

  // All of a set wait for the same function.
  [[nodiscard]] bool waits(std::uint32_t set, double now) const {
    int function = -1;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      if ((set >> r & 1) == 0) continue;
      const Progress& p = requests_[r];
      if (p.running || p.ready_ms > now || p.stage == offered_.stages_of(r).size()) return false;
      const int own = static_cast<int>(stage_of(r).function);
      if (function >= 0 && function != own) return false;
      function = own;
    }
    return true;
  }

  void start_any(double now, std::uint32_t set) {
    const auto first = static_cast<std::size_t>(__builtin_ctz(set));
    const std::size_t a = offered_.requests[first].application;
    const Stage& stage = experiment_.applications[a].workflow.stages[stage_of(first).id];
    const profile::FunctionProfile& profile = profiles_[a][stage.function.index()];
    const int members = __builtin_popcount(set);
    for (const Configuration& c : profile.configurations()) {
      if (c.batch < members) continue;
      for (std::uint32_t node = 0; node < nodes_.size(); ++node) {
        if (nodes_[node].vcpus < c.vcpu || nodes_[node].slices < c.slices || like_the_one_before(node)) continue;
        for (std::size_t oldest = 0; oldest < requests_.size(); ++oldest) {
          if (set >> oldest & 1) start(now, set, c, profile, node, oldest);
        }
      }
    }
  }

  // Nothing runs and no data lie on either: what goes for one machine goes for the other.
  [[nodiscard]] bool like_the_one_before(std::uint32_t node) const {
    if (node == 0) return false;
    const auto untouched = [&](std::uint32_t n) {
      return std::none_of(requests_.begin(), requests_.end(), [&](const Progress& p) { return p.node == n; });
    };
    return untouched(node) && untouched(node - 1);
  }

  void start(double now, std::uint32_t set, const Configuration& c, const profile::FunctionProfile& profile,
             std::uint32_t node, std::size_t oldest) {
    const std::vector<Progress> before = requests_;
    const auto members = static_cast<std::uint16_t>(__builtin_popcount(set));
    profile::BatchInputs inputs;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      if ((set >> r & 1) == 0 || requests_[r].node == kNowhere) continue;
      auto& sum = requests_[r].node == node ? inputs.local : inputs.remote;
      const Application& application = experiment_.applications[offered_.requests[r].application];
      const Function& function = application.function(application.workflow.stages[stage_of(r).id].function);
      sum = sum.value_or(Bytes()) + function.input_bytes.value_or(Bytes());
    }
    Configuration actual = c;
    actual.batch = members;
    const double held = profile::transfer_time(experiment_.transfer, inputs).to_ms() +
                        profile.latency(actual).mean_ms * offered_.luck(oldest, stage_of(oldest));
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      if ((set >> r & 1) == 0) continue;
      Progress& p = requests_[r];
      p.running = true;
      p.ready_ms = now + held;
      p.node = node;
      p.paid += experiment_.applications[0].prices.per_ms(c) * held / members;
    }
    nodes_[node].vcpus -= c.vcpu;
    nodes_[node].slices -= c.slices;
    running_.push_back({now + held, node, c});
    decide(now, set + 1);
    running_.pop_back();
    nodes_[node].vcpus += c.vcpu;
    nodes_[node].slices += c.slices;
    requests_ = before;
  }

  // To the next arrival or end; if there is none, what has been reached counts.
  void advance(double now) {
    double next = 1e18;
    for (const Progress& p : requests_) {
      if (p.ready_ms > now) next = std::min(next, p.ready_ms);
    }
    if (next == 1e18) return count();
    const std::vector<Progress> before = requests_;
    const std::vector<Running> running_before = running_;
    const std::vector<Node> nodes_before = nodes_;
    for (Progress& p : requests_) {
      if (!p.running || p.ready_ms > next) continue;
      p.running = false;
      ++p.stage;
    }
    std::erase_if(running_, [&](const Running& r) {
      if (r.end_ms > next) return false;
      nodes_[r.node].vcpus += r.configuration.vcpu;
      nodes_[r.node].slices += r.configuration.slices;
      return true;
    });
    decide(next, 0);
    requests_ = before;
    running_ = running_before;
    nodes_ = nodes_before;
  }

  void count() {
    std::uint32_t ran = 0, met = 0;
    BestBills bills;
    for (std::size_t r = 0; r < requests_.size(); ++r) {
      const Progress& p = requests_[r];
      const bool in_time = p.stage == offered_.stages_of(r).size() && p.ready_ms <= offered_.requests[r].due_ms;
      if (p.node != kNowhere) ran |= 1u << r;
      if (in_time) met |= 1u << r;
      bills.whole += p.paid;
      bills.of_the_met += in_time ? p.paid : 0;
    }
    const auto [it, fresh] = out_.try_emplace({ran, met}, bills);
    if (fresh) return;
    it->second.whole = std::min(it->second.whole, bills.whole);
    it->second.of_the_met = std::min(it->second.of_the_met, bills.of_the_met);
  }

  const Experiment& experiment_;
  const Offered& offered_;
  std::vector<std::vector<profile::FunctionProfile>> profiles_;
  std::vector<Progress> requests_;
  std::vector<Node> nodes_;
  std::vector<Running> running_;
  EverySchedule out_;
};

}  // namespace

EverySchedule every_schedule(const Experiment& experiment, const Offered& offered) {
  return Search(experiment, offered).run();
}

}  // namespace sluice::reproduce
