// StagesToPlace: with what and for how long the stages of an application could run, and how long a request of it takes
// at the least. Used by Placing and by reserved admission. Derived from plans and machines, never saved.
//
// Known caveat: of many configurations of a stage kChoices are looked at, from the fastest to the cheapest, and two of
// every larger batch.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "policy/view.h"

namespace sluice::policy {

// With what a stage could run.
struct PlaceChoice {
  Configuration configuration;
  double ms = 0, sd_ms = 0;
  // Of one member, without moving its inputs, if as few come as make it the dearest: the smallest batch for those who
  // are there is run.
  Dollars most = 0;
  // 99 of 100 take no longer, as far as the profile knows.
  static constexpr double kDeviations = 2.33;
  [[nodiscard]] double slowest_ms() const { return ms + kDeviations * sd_ms; }
};

struct StageToPlace {
  std::uint32_t stage = 0;
  bool runs = false;
  Duration wait;
  std::vector<std::uint32_t> before, after;  // stages
  QueueId queue;
  std::size_t in_model = 0;
  std::vector<PlaceChoice> choices;  // of the fewest at once
  std::vector<PlaceChoice> batches;  // of more
  double spread = 0;                 // standard deviation of its times, as a part of them: the most of all
  double rest_ms = 0;                // the least that what follows takes
  Dollars rest_cost = 0;             // the least that all stages after this one in the order cost
};

// What does not change between two requests of an application with the same plans.
struct PlaceOrder {
  std::uint64_t made = 0;                            // no two have the same number
  std::shared_ptr<const plan::WorkflowModel> model;  // held, so that no other one has its address
  std::pair<std::uint32_t, std::uint32_t> quota;     // of the tenant: vCPUs and slices
  std::vector<StageToPlace> stages;                  // predecessors first
  std::vector<std::uint32_t> at;                     // by stage: its place in `stages`
};

// How long a batch of the queue is promised its place.
[[nodiscard]] double promised_ms(const Queue& queue, const PlaceChoice& choice);

class StagesToPlace {
 public:
  // Whether all of its stages can be placed at all: known ahead are those that run a function once, or nothing. Of more
  // than kStagesMax a search would take too long.
  static constexpr std::size_t kStagesMax = 40;
  [[nodiscard]] static bool placeable(const Workflow& workflow);

  [[nodiscard]] const PlaceOrder& of(const View& view, ApplicationId application);

  // Machines that are alike have the same number, below `shapes()`. REQUIRES: of() at this instant, and it is usable.
  [[nodiscard]] std::uint32_t shape_of(InvokerId invoker) const { return shape_of_[invoker.index()]; }
  [[nodiscard]] std::size_t shapes() const { return shapes_.size(); }

  // How long a request of it takes at the least, on machines with nothing else to do; infinity: no machine can run it.
  [[nodiscard]] double alone_ms(const View& view, ApplicationId application);
  // By how much the slowest executions of its stages exceed the usual ones: 0 if times are exact, at most 1.
  [[nodiscard]] double doubt(const View& view, ApplicationId application);
  // How many times as long as its profiles say, spread and all, what runs its stages is promised a place.
  [[nodiscard]] double slower(const View& view, ApplicationId application);

 private:
  void look_at_shapes(const View& view);
  [[nodiscard]] bool is_possible(const View& view, const Queue& queue, const Configuration& c) const;
  void add_choices(const View& view, const ApplicationModel& model, const Queue& queue, StageToPlace& out) const;

  std::vector<NodeGroup> shapes_;               // of the machines that are usable
  std::vector<std::uint32_t> shape_of_;         // by invoker
  std::map<ApplicationId, PlaceOrder> orders_;  // derived from plans and shapes
  std::uint64_t made_ = 0;
};

}  // namespace sluice::policy
