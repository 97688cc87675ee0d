// What `sluice` remembers: how often stages are called, what their batches take, how much it may still let in, and what
// requests will need where they are.
// Shared by its admission and its dispatch, which saves it.
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/archive.h"
#include "policy/company.h"
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

struct SluiceState {
  std::vector<double> horizon_ms;  // by application: the longest objective of a request so far
  std::vector<CallRate> calls;     // by queue
  std::vector<Company> company;    // likewise
  std::vector<Taken> taken_ms;     // by queue: milliseconds of an invocation, as its batches take it; none: not known
  // What each request in the system needs on average until its deadline, and their sum.
  std::map<RequestId, Taken> needs;
  Taken needed;
  // Of the whole cluster, looked at now and then.
  Time looked_at;
  Taken usable;
  double load = 0;  // the share of it that the calls of the recent past take
  Foresight foresight;
  void visit(Archive& a) { a(horizon_ms, calls, company, taken_ms, needs, needed, looked_at, usable, load, foresight); }

  void grow(const View& view) {
    if (calls.size() < view.queues.size()) {
      calls.resize(view.queues.size());
      company.resize(view.queues.size());
      taken_ms.resize(view.queues.size());
    }
    if (horizon_ms.size() < view.applications.size()) horizon_ms.resize(view.applications.size());
  }
};

}  // namespace sluice::policy
