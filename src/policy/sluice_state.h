// What `sluice` remembers: how often stages are called, what their batches take, who is in the system and what they
// need, what being late costs, and what requests will need where they are.
// Shared by its admission and its dispatch, which saves it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/archive.h"
#include "policy/call_rate.h"
#include "policy/crowd.h"
#include "policy/foresight.h"
#include "policy/headroom.h"
#include "policy/miss_price.h"
#include "policy/patience.h"
#include "policy/table_bill.h"
#include "policy/view.h"

namespace sluice::policy {

// An amount of what the cluster has: slices, and the vCPUs of what runs without any. What runs on slices is scarce
// there, not in its vCPUs.
struct Taken {
  double slices = 0, vcpus = 0;

  static Taken by(const Configuration& c) {
    return c.slices > 0 ? Taken{double(c.slices), 0} : Taken{0, double(c.vcpu)};
  }
  [[nodiscard]] bool none() const { return slices == 0 && vcpus == 0; }
  // The larger share of what there is; what there is nothing of does not count.
  [[nodiscard]] double share_of(const Taken& all) const {
    return std::max(all.slices > 0 ? slices / all.slices : 0, all.vcpus > 0 ? vcpus / all.vcpus : 0);
  }
  friend Taken operator*(const Taken& t, double factor) { return {t.slices * factor, t.vcpus * factor}; }
  friend Taken operator/(const Taken& t, double parts) { return {t.slices / parts, t.vcpus / parts}; }
  friend Taken operator+(const Taken& a, const Taken& b) { return {a.slices + b.slices, a.vcpus + b.vcpus}; }
  friend Taken operator-(const Taken& a, const Taken& b) { return {a.slices - b.slices, a.vcpus - b.vcpus}; }
  void visit(Archive& a) { a(slices, vcpus); }
};

// A request that was let in and has not ended.
struct Inside {
  ApplicationId application;
  Taken needs;                         // on average until its deadline; none from then on
  bool slices = false, vcpus = false;  // which of them it takes
  Time arrival, deadline;
  Duration queued;   // for room, in all stages
  Duration waited;   // for company
  Duration loading;  // how long it waited for functions that were not loaded
  bool dropped = false;

  void visit(Archive& a) { a(application, needs, slices, vcpus, arrival, deadline, queued, waited, loading, dropped); }
};

// When a queue waited for company last.
struct Pause {
  Time begin, end;
  bool on = false;  // then `end` is not known yet
  void visit(Archive& a) { a(begin, end, on); }
};

struct Standing {  // of an application
  Crowd crowd;
  MissPrice price;
  Patience patience;  // with company
  void visit(Archive& a) { a(crowd, price, patience); }
};

struct SluiceState {
  std::vector<Standing> applications;  // by ApplicationId
  std::vector<CallRate> calls;         // by QueueId
  std::vector<Taken> taken_ms;  // by QueueId: milliseconds of an invocation, as its batches take it; none: not known
  std::vector<Pause> pauses;    // by QueueId
  std::map<RequestId, Inside> inside;
  std::map<Time, std::vector<RequestId>> due;  // those that need something, by deadline
  Taken needed;                                // by all of them
  // Of the whole cluster, looked at now and then.
  Time looked_at;
  Taken usable;
  std::vector<NodeGroup> shapes;  // of the machines, each once
  double load = 0;                // demand of recent arrivals ÷ what there is
  Headroom slices, vcpus;         // of what may be promised of either
  Patience loads;                 // where loads take the time that waiting has left: memory is short for all alike
  Foresight foresight;
  TableBill bill;
  void visit(Archive& a) {
    a(applications, calls, taken_ms, pauses, inside, due, needed, looked_at, usable, shapes, load, slices, vcpus, loads,
      foresight, bill);
  }

  // What is late needs no more on average: it is about to end, or to be given up.
  void forget_late(Time now) {
    while (!due.empty() && due.begin()->first < now) {
      for (const RequestId request : due.begin()->second) {
        const auto it = inside.find(request);
        if (it == inside.end()) continue;
        needed = needed - it->second.needs;
        it->second.needs = {};
      }
      due.erase(due.begin());
    }
    if (due.empty()) needed = {};  // sums of fractions leave dust
  }

  void grow(const View& view) {
    if (calls.size() < view.queues.size()) {
      calls.resize(view.queues.size());
      taken_ms.resize(view.queues.size());
      pauses.resize(view.queues.size());
    }
    if (applications.size() < view.applications.size()) applications.resize(view.applications.size());
  }
};

}  // namespace sluice::policy
