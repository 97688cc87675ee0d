#include "reproduce/bounds/bounds.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "reproduce/bounds/company.h"
#include "reproduce/bounds/least_chain.h"

namespace sluice::reproduce {
namespace {

// The simulator rounds times to a nanosecond and bills to a pico-dollar.
constexpr double kRoundingMs = 1e-4;
constexpr Dollars kRoundingBill = 2e-12;

// What a batch takes per millisecond, for one kind of cost.
struct Rates {
  double vcpu = 0, slice = 0;
  [[nodiscard]] double of(const Way& way) const { return vcpu * way.vcpu + slice * way.slices; }
};

// Offers every way to run one stage of a request (bounds.h says which).
class StageOffers {
 public:
  StageOffers(const Offered& offered, const Rates& rates, bool with_transfer)
      : offered_(offered), rates_(rates), with_transfer_(with_transfer) {}

  void add(Company& company, std::size_t request, std::size_t stage, LeastChain& chain) const {
    const OfferedFunction& function = offered_.functions[offered_.stages_of(request)[stage].function];
    const double transfer = stage == 0 ? 0 : function.transfer_ms(1);
    const auto offer = [&](std::size_t members, double luck, double sharing, double longest_ms) {
      for (const Way& way : function.ways[members - 1]) {
        const double ms = transfer + luck * way.ms;
        if (ms > longest_ms) break;  // the others take longer
        chain.offer(ms, rates_.of(way) * (ms - (with_transfer_ ? 0 : transfer)) / sharing);
      }
    };
    constexpr double kAny = std::numeric_limits<double>::infinity();
    offer(1, company.own_luck(request, stage), 1, kAny);
    const double luck = company.best_luck(request, stage);
    if (company.has_silent_members() && function.ways.size() > 1) offer(2, luck, 1, kAny);
    const std::span<const double> together = company.together_ms(request, stage);
    for (std::size_t n = 2; n <= function.ways.size(); ++n) {
      offer(n, luck, static_cast<double>(n), together[n - 1] + kRoundingMs);
    }
  }

 private:
  const Offered& offered_;
  Rates rates_;
  bool with_transfer_;
};

double least_of(const Offered& offered, const StageOffers& offers, Company& company, std::size_t request,
                LeastChain& chain) {
  chain.start(offered.requests[request].due_ms - offered.requests[request].at_ms + kRoundingMs);
  for (std::size_t s = 0; s < offered.stages_of(request).size(); ++s) {
    offers.add(company, request, s, chain);
    chain.next_stage();
  }
  return chain.least_cost();
}

// Requests that can be met alone and what they take at least.
struct Demand {
  double from = 0, until = 0;
  double slices = 0, vcpus = 0;  // times milliseconds
};

// How many of the demands, the smallest first, a capacity suffices for.
std::size_t most_within(std::vector<double> demands, double capacity) {
  std::sort(demands.begin(), demands.end());
  std::size_t count = 0;
  for (double sum = 0; count < demands.size(); ++count) {
    sum += demands[count];
    if (sum > capacity * (1 + 1e-9)) break;
  }
  return count;
}

// Misses that cannot be avoided if the span is cut into `blocks`, counting only demands that lie within one.
std::size_t forced_misses(const Offered& offered, const std::vector<Demand>& demands, std::size_t blocks, double from,
                          double until) {
  const double length = (until - from) / static_cast<double>(blocks);
  std::vector<std::vector<double>> slices(blocks), vcpus(blocks);
  for (const Demand& d : demands) {
    const auto block = std::min(blocks - 1, static_cast<std::size_t>((d.from - from) / length));
    if (d.until > from + length * static_cast<double>(block + 1) * (1 + 1e-12)) continue;
    slices[block].push_back(d.slices);
    vcpus[block].push_back(d.vcpus);
  }
  std::size_t misses = 0;
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t fit =
        std::min(most_within(slices[b], offered.slices * length), most_within(vcpus[b], offered.vcpus * length));
    misses += slices[b].size() - fit;
  }
  return misses;
}

}  // namespace

std::vector<Dollars> least_costs(const Offered& offered, std::span<const Outcome> outcomes) {
  CHECK(outcomes.size() == offered.requests.size());
  std::vector<Role> roles;
  for (const Outcome& outcome : outcomes) {
    roles.push_back(
        {.present = outcome.ran, .shares = outcome.met || !outcome.billed, .in_time = outcome.ran && outcome.met});
  }
  Company company(offered, std::move(roles));
  const StageOffers offers(offered, {offered.prices.vcpu_hour / 3.6e6, offered.prices.vgpu_hour / 3.6e6},
                           offered.bills_transfer);
  LeastChain chain;
  std::vector<Dollars> out(outcomes.size());
  for (std::size_t r = 0; r < outcomes.size(); ++r) {
    if (!outcomes[r].ran || !outcomes[r].met || !outcomes[r].billed) continue;
    const Dollars rounding = kRoundingBill * static_cast<double>(offered.stages_of(r).size());
    out[r] = std::max(0.0, least_of(offered, offers, company, r, chain) - rounding);
  }
  return out;
}

Dollars least_cost(const Offered& offered, std::span<const Outcome> outcomes) {
  Dollars sum = 0;
  for (const Dollars cost : least_costs(offered, outcomes)) sum += cost;
  return sum;
}

HitBound most_hits(const Offered& offered) {
  Company company(offered, std::vector<Role>(offered.requests.size(),
                                             {.present = true, .shares = true, .in_time = true, .may_fail = true}));
  const StageOffers slices(offered, {.slice = 1}, true), vcpus(offered, {.vcpu = 1}, true);
  LeastChain chain;
  HitBound out;
  std::vector<Demand> demands;
  double from = std::numeric_limits<double>::infinity(), until = 0, objective = 1;
  for (std::size_t r = offered.warmup; r < offered.requests.size(); ++r) {
    ++out.requests;
    const double least = least_of(offered, slices, company, r, chain);
    if (least == std::numeric_limits<double>::infinity()) continue;
    const OfferedRequest& request = offered.requests[r];
    demands.push_back({request.at_ms, request.due_ms, least, least_of(offered, vcpus, company, r, chain)});
    from = std::min(from, request.at_ms);
    until = std::max(until, request.due_ms);
    objective = std::max(objective, request.due_ms - request.at_ms);
    out.slice_share += demands.back().slices;
    out.vcpu_share += demands.back().vcpus;
  }
  out.reachable = out.hits = demands.size();
  if (demands.empty()) return out;
  out.slice_share = offered.slices > 0 ? out.slice_share / (offered.slices * (until - from)) : 0;
  out.vcpu_share = offered.vcpus > 0 ? out.vcpu_share / (offered.vcpus * (until - from)) : 0;
  for (std::size_t blocks = 1; (until - from) / static_cast<double>(blocks) >= 2 * objective; blocks *= 2) {
    out.hits = std::min(out.hits, out.reachable - forced_misses(offered, demands, blocks, from, until));
  }
  out.hits = std::min(out.hits, out.reachable - forced_misses(offered, demands, 1, from, until));
  return out;
}

}  // namespace sluice::reproduce
