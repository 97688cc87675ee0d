// TableBill: what building the tables of `sluice` took, so that its decisions can be charged for them like the searches
// of others. Part of the state: a scheduler that was saved and loaded builds its tables again and owes nothing for it,
// so that it is charged as if it had gone on. In expansions of ESG_1Q, of which one stands for five nanoseconds
// (sim/acting.cpp); how long the work of a table takes in them was measured (docs/reproduce-esg.md).
#pragma once
#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "base/archive.h"
#include "policy/view.h"

namespace sluice::policy {

class TableBill {
 public:
  // The queue's tables are made from this from now on: a number for everything they are derived from.
  void uses(QueueId queue, std::uint64_t plan) {
    OfQueue& own = of(queue);
    if (own.plan == plan) return;
    const std::uint64_t before = own.plan;
    own = {.plan = plan, .kind = 0, .rules = {}};
    const auto same = [&](const OfQueue& other) { return other.plan == before; };
    if (std::none_of(queues_.begin(), queues_.end(), same)) tables_.erase(before);
  }
  void forget(QueueId queue) { uses(queue, 0); }

  // The tables of a plan for one kind of requests, by price of being late. REQUIRES: kind < 64.
  void table(std::uint64_t plan, std::uint32_t kind, std::uint64_t expansions) {
    std::uint64_t& built = tables_[plan];
    if ((built >> kind & 1u) != 0) return;
    built |= std::uint64_t{1} << kind;
    owed_ += expansions;
  }
  // The rule for waiting of a queue at one rate of arrivals. Those of another kind are forgotten.
  void rule(QueueId queue, std::uint32_t kind, std::size_t rate, std::uint64_t expansions) {
    OfQueue& own = of(queue);
    if (own.kind != kind) own = {.plan = own.plan, .kind = kind, .rules = {}};
    if (own.rules.size() <= rate) own.rules.resize(rate + 1);
    if (own.rules[rate] != 0) return;
    own.rules[rate] = 1;
    owed_ += expansions;
  }

  [[nodiscard]] std::uint64_t owed() const { return owed_; }
  void paid() { owed_ = 0; }
  void visit(Archive& a) { a(queues_, tables_, owed_); }

 private:
  struct OfQueue {
    std::uint64_t plan = 0;
    std::uint32_t kind = 0;
    std::vector<std::uint8_t> rules;  // by rate; 1: built
    void visit(Archive& a) { a(plan, kind, rules); }
  };
  OfQueue& of(QueueId queue) {
    if (queues_.size() <= queue.index()) queues_.resize(queue.index() + 1);
    return queues_[queue.index()];
  }
  std::vector<OfQueue> queues_;                    // by QueueId
  std::map<std::uint64_t, std::uint64_t> tables_;  // by plan: a bit for every kind that has some
  std::uint64_t owed_ = 0;                         // charged to no batch yet
};

}  // namespace sluice::policy
