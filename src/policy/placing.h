// Placing: where and when all stages of a request could run beside what is promised already. Used by reserved
// admission, which books what is found.
//
// Stage by stage, predecessors first: a way to place the stages so far is kept unless another one ends no later at
// every stage that something still follows, and is no dearer. What cannot be in time any more, or within the limit of
// cost, even on free machines, is left out. So a chain is searched exactly, without trying every assignment, as long as
// no more than kKept ways are worth keeping; of more, those that end first and those that cost least stay. Before that
// the configurations are tried that would be best on free machines: if they are in time, nothing can be better.
//
// Batches: while things are scarce a place may be opened for more than one, at the price of its share among those who
// are expected by then; whoever comes later and has its inputs there in time takes one of the places that are left, for
// nothing more. The time of a full batch is booked.
//
// Known caveats: on large clusters a request looks at the kMachines machines with the fewest
// bookings, and its stages at those that have their inputs; stages behind a condition are placed as if they ran.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "policy/frontiers.h"
#include "policy/policy.h"
#include "policy/scarcity.h"
#include "policy/stages_to_place.h"
#include "policy/timeline.h"

namespace sluice::policy {

struct Placed {
  std::vector<Reserved> stages;
  Time finish;
  Dollars cost = 0;  // at the most: where nobody else comes to share its batches
  double taken = 0;  // of the cluster, with what becomes useless; only where scarcity decides
};

class Placing {
 public:
  struct Request {
    ApplicationId application;
    Time deadline;  // by which it is to end as far as is known,
    Time due;  // and its own, not before: a stage that is late may start until its request would be later than that
    std::optional<PicoDollars> cost_limit;
  };
  // Which of the ways that are in time is taken.
  struct Preference {
    double cost_weight = 1;              // 0: the earliest end, then the least cost; 1: the other way round
    const Scarcity* scarcity = nullptr;  // instead: what takes the least of the cluster,
    bool counts_waste = false;           // with what it spoils, which can be said where times are known
    bool opens = false;                  // batches that others may join
    double calls_per_ms = 0;             // of the application: how soon others come,
    double company = 1;                  // and how many share a batch at the most, as things go
  };
  // Nothing: no way is in time and within the limit.
  [[nodiscard]] std::optional<Placed> place(const View& view, const Request& request, const Preference& preference);

  // What requests of applications could run with.
  [[nodiscard]] StagesToPlace& stages() { return stages_; }
  // How many planners it made because none were made ahead.
  [[nodiscard]] std::uint64_t derived_here() const { return frontiers_.made_here(); }

 private:
  static constexpr std::size_t kKept = 12;
  static constexpr std::size_t kMachines = 16;
  static constexpr std::size_t kMachinesForWaste = 4;     // where it is counted: every start on each is another way
  static constexpr std::size_t kMachinesOfAKind = 4;      // at the least, where machines differ
  static constexpr std::size_t kStarts = 4;               // of a configuration on a machine, there
  static constexpr std::size_t kMachinesWithPlaces = 16;  // left in batches, which are looked at besides

  // A way to place the first stages.
  struct Way {
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};
    std::uint32_t before = kNone;  // the way without the last one
    Reserved last;                 // its invoker is none: it runs nothing
    InvokerId inputs_at;           // where what the last one leaves is
    Time end, finish;              // of the last stage, of all
    Dollars cost = 0, most = 0;    // expected, and if nobody comes to share
    double taken = 0;
    double company = 1;  // members that are expected of its last batch
  };
  // Where instances of a function are on a machine.
  struct Room {
    std::uint64_t gpus = 0;  // of these; without slices: of the host
    std::uint32_t batches = 0;
    Time ready;
  };

  // What is asked for, the same for all steps.
  struct Call {
    const View& view;
    const ApplicationModel& model;
    const Request& request;
    const PlaceOrder& order;
    const Preference& preference;
  };
  // One more stage after those of a way.
  struct Step {
    const StageToPlace& stage;
    std::uint32_t way;
    Way so_far;
    Time ready;  // its inputs are there
  };
  // One way to run it on one machine.
  struct Trial {
    const Invoker& invoker;
    const Skyline& skyline;
    const PlaceChoice& choice;
    Duration move, length;  // of moving its inputs, and of all
    Time latest;            // it may start
  };

  void choose_machines(const Call& call);
  [[nodiscard]] bool guide(const Call& call);
  [[nodiscard]] bool guide_by_cost(const Call& call);
  [[nodiscard]] bool search(const Call& call);
  [[nodiscard]] std::uint32_t best_of_layer(const Call& call) const;
  [[nodiscard]] const Skyline& skyline_of(const View& view, std::uint32_t invoker, std::uint32_t way);
  [[nodiscard]] const Way* way_of(std::uint32_t way, const PlaceOrder& order, std::uint32_t stage) const;
  void add_sources(const PlaceOrder& order, const StageToPlace& stage, std::uint32_t way);
  [[nodiscard]] Step step_of(const Call& call, std::size_t index, std::uint32_t way);
  void extend(const Call& call, std::size_t index, std::uint32_t way);
  void look_at(const Call& call, const Step& step, const Invoker& invoker);
  [[nodiscard]] bool look_at(const Call& call, const Step& step, const Trial& trial, Way& soonest);
  void join_others(const Call& call, const Step& step, const Invoker& invoker);
  void wait_for_others(const Call& call, const Step& step, const Trial& trial, Time from);
  void start_later(const Call& call, const Step& step, const Trial& trial, Gap gap);
  [[nodiscard]] static Way way_at(const Call& call, const Step& step, const Trial& trial, const Gap& gap);
  void offer(const Request& request, const StageToPlace& stage, const Way& next);
  void rooms_at(const View& view, const Queue& queue, const Invoker& invoker, const Configuration& c);
  [[nodiscard]] std::optional<Gap> gap_at(const View& view, const Step& step, const Trial& trial, Time earliest) const;
  void prune(const PlaceOrder& order, std::size_t index, bool by_taken);
  [[nodiscard]] Placed result_of(const PlaceOrder& order, const Request& request, std::uint32_t way) const;

  StagesToPlace stages_;  // derived
  Frontiers frontiers_;   // likewise
  plan::FrontierWorkspace workspace_;
  // Of one request.
  std::vector<std::size_t> guide_;  // a choice for every stage of the order
  bool guided_ = false;
  std::vector<Way> ways_, soonest_;
  std::vector<InvokerId> from_;
  std::vector<bool> soon_;  // by choice: it was found to start as soon as its inputs are there
  std::vector<std::uint32_t> layer_, next_layer_;
  std::vector<std::uint32_t> machines_, nearest_;
  struct Cached {
    std::uint64_t request = 0;
    Skyline skyline;
  };
  std::vector<Cached> skylines_;  // by invoker
  std::uint64_t request_ = 0;
  Skyline with_own_;
  std::vector<Booking> own_;
  std::vector<Room> rooms_;
};

}  // namespace sluice::policy
