// What `sluice` remembers: how often stages are called, what their batches take, how much it may still let in, and what
// requests will need where they are.
// Shared by its admission and its dispatch, which saves it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/archive.h"
#include "policy/foresight.h"
#include "policy/view.h"
#include "profile/portable_math.h"

namespace sluice::policy {

// Calls per millisecond: an exponential mean over kMemoryMs, made right for the time before the first call.
struct CallRate {
  static constexpr double kMemoryMs = 20'000;
  std::uint64_t seen = 0;
  Time first, last;
  double sum = 0;  // of calls, each fading with its age

  void add(Time now) {
    if (seen == 0) first = now;
    sum = sum * fade(now - last) + 1;
    last = now;
    ++seen;
  }
  [[nodiscard]] double per_ms(Time now) const {
    constexpr std::uint64_t kFew = 5;
    if (seen < kFew) return 0;
    const bool long_ago = (now - first).to_ms() > 10 * kMemoryMs;
    const double covered = long_ago ? kMemoryMs : kMemoryMs * (1 - fade(now - first));
    return (sum * fade(now - last) - 1) / std::max(covered, 1.0);
  }
  void visit(Archive& a) { a(seen, first, last, sum); }

 private:
  static double fade(Duration age) { return profile::portable_exp(-std::min(age.to_ms() / kMemoryMs, 700.0)); }
};

struct SluiceState {
  std::vector<double> horizon_ms;  // by application: the longest objective of a request so far
  std::vector<CallRate> calls;     // by queue
  std::vector<double> slice_ms;    // by queue: of an invocation, as its batches take it; 0: not known
  // Slices that each request in the system needs on average until its deadline, and their sum.
  std::map<RequestId, double> needs;
  double needed = 0;
  // Of the whole cluster, looked at now and then.
  Time looked_at;
  double slices = 0;  // usable ones
  double load = 0;    // the share of them that the calls of the recent past take
  Foresight foresight;
  void visit(Archive& a) { a(horizon_ms, calls, slice_ms, needs, needed, looked_at, slices, load, foresight); }

  void grow(const View& view) {
    if (calls.size() < view.queues.size()) {
      calls.resize(view.queues.size());
      slice_ms.resize(view.queues.size());
    }
    if (horizon_ms.size() < view.applications.size()) horizon_ms.resize(view.applications.size());
  }
};

}  // namespace sluice::policy
