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
// bookings, and its stages at those that have their inputs; of many configurations of a stage kChoices are looked at,
// from the fastest to the cheapest; stages behind a condition are placed as if they ran.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "policy/policy.h"
#include "policy/scarcity.h"
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
    Time deadline;
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

  // How long a request of it takes at the least, on machines with nothing else to do.
  [[nodiscard]] double alone_ms(const View& view, ApplicationId application);

  // By how much the slowest executions of its stages exceed the usual ones: 0 if times are exact, at most 1.
  [[nodiscard]] double doubt(const View& view, ApplicationId application);

  // How many times as long as its profiles say, spread and all, what runs its stages is promised a place.
  [[nodiscard]] double slower(const View& view, ApplicationId application);

  // Whether all of its stages can be placed at all: known ahead are those that run a function once, or nothing.
  [[nodiscard]] static bool placeable(const Workflow& workflow);

 private:
  static constexpr std::size_t kKept = 12;
  static constexpr std::size_t kMachines = 16;
  static constexpr std::size_t kMachinesForWaste = 4;  // where it is counted: every start on each is another way
  static constexpr std::size_t kStarts = 4;            // of a configuration on a machine, there
  static constexpr std::size_t kChoices = 8;
  static constexpr std::size_t kMachinesWithPlaces = 16;  // left in batches, which are looked at besides

  // What does not change between two requests of an application with the same plans.
  struct Choice {
    Configuration configuration;
    double ms = 0, sd_ms = 0;
    // Of one member, without moving its inputs, if as few come as make it the dearest: the smallest batch for those who
    // are there is run.
    Dollars most = 0;
  };
  struct StageToPlace {
    std::uint32_t stage = 0;
    bool runs = false;
    Duration wait;
    std::vector<std::uint32_t> before, after;  // stages
    QueueId queue;
    std::size_t in_model = 0;
    std::vector<Choice> choices;  // of the fewest at once
    std::vector<Choice> batches;  // of more
    double spread = 0;            // standard deviation of its times, as a part of them: the most of all
    double rest_ms = 0;           // the least that what follows takes
    Dollars rest_cost = 0;        // the least that all stages after this one in the order cost
  };
  struct Order {
    std::shared_ptr<const plan::FrontierPlanner> planner;  // held, so that no other one has its address
    std::pair<std::uint32_t, std::uint32_t> quota;         // of the tenant: vCPUs and slices
    std::vector<StageToPlace> stages;                      // predecessors first
    std::vector<std::uint32_t> at;                         // by stage: its place in `stages`
  };
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

  using Guide = std::vector<std::size_t>;  // a choice for every stage of an order

  const Order& order_of(const View& view, const ApplicationModel& model);
  void look_at_shapes(const View& view);
  [[nodiscard]] bool is_possible(const View& view, const Queue& queue, const Configuration& c) const;
  [[nodiscard]] static std::vector<Choice> worth_a_look(const std::vector<const plan::Candidate*>& candidates);
  [[nodiscard]] static std::vector<Choice> worth_sharing(const std::vector<const plan::Candidate*>& candidates,
                                                         std::uint32_t fewest);
  void choose_machines(const View& view, const ApplicationModel& model, std::size_t most);
  [[nodiscard]] bool guide(const Request& request, const Order& order, double available_ms,
                           const Preference& preference);
  [[nodiscard]] const Skyline& skyline_of(const View& view, std::uint32_t invoker, std::uint32_t way);
  [[nodiscard]] const Way* way_of(std::uint32_t way, const Order& order, std::uint32_t stage) const;
  void extend(const View& view, const ApplicationModel& model, const Request& request, const Order& order,
              std::size_t index, std::uint32_t way, const Preference& preference);
  void join_others(const View& view, const ApplicationModel& model, const Request& request, const StageToPlace& stage,
                   const Invoker& invoker, std::uint32_t way, Time ready);
  void offer(const Request& request, const StageToPlace& stage, const Way& next);
  void rooms_at(const View& view, const Queue& queue, const Invoker& invoker, const Configuration& c);
  struct Stretch {
    Time earliest;
    Duration length;
  };
  [[nodiscard]] std::optional<Gap> gap_at(const Skyline& skyline, const Queue& queue, const Invoker& invoker,
                                          const Configuration& c, const Stretch& wanted) const;
  void prune(const Order& order, std::size_t index, bool by_taken);
  [[nodiscard]] Placed result_of(const Order& order, const Request& request, std::uint32_t way) const;

  std::vector<NodeGroup> shapes_;          // of the machines that are usable
  std::map<ApplicationId, Order> orders_;  // derived from plans and shapes
  plan::FrontierWorkspace workspace_;
  // Of one request.
  Guide guide_;
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
