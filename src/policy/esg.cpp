#include "policy/esg.h"

#include <algorithm>
#include <utility>

#include "policy/esg_placement.h"
#include "policy/esg_search.h"
#include "policy/runnable.h"
#include "policy/slack.h"

namespace sluice::policy {
namespace {

class Esg final : public Dispatch {
 public:
  Esg(const Parameters& parameters, EsgLibrary library)
      : search_({.k = static_cast<std::size_t>(parameter_or(parameters, "k", 5)),
                 .group = static_cast<std::size_t>(parameter_or(parameters, "group", 3)),
                 .distinct_first = parameter_or(parameters, "distinct", 0) != 0,
                 .memo = parameter_or(parameters, "memo", 1) != 0},
                std::move(library)),
        fails_max_(static_cast<std::uint32_t>(parameter_or(parameters, "fails", 3))),
        safety_(parameter_or(parameters, "safety", 1)),
        by_deadline_(parameter_or(parameters, "order", 0) != 0),
        fallback_(fallback_of(parameter_or(parameters, "fallback", 0))),
        drops_(parameter_or(parameters, "drop", 0) != 0) {}

  void begin(const View& view) override {
    if (state_.fails.size() < view.queues.size()) {
      state_.fails.resize(view.queues.size());
      state_.recheck.resize(view.queues.size());
    }
    pass_.clear();
    // Queues in round robin from where the last pass stopped, those on the recheck list after the others.
    const auto start = std::lower_bound(view.busy_queues.begin(), view.busy_queues.end(), state_.round_robin);
    const auto add = [&](bool recheck) {
      const auto first = static_cast<std::ptrdiff_t>(pass_.size());
      for (auto it = start; it != view.busy_queues.end(); ++it) add_if(*it, recheck);
      for (auto it = view.busy_queues.begin(); it != start; ++it) add_if(*it, recheck);
      if (by_deadline_) sort_by_deadline(view, first);
    };
    add(false);
    add(true);
    if (!pass_.empty()) state_.round_robin = pass_.front() + 1;
    at_ = 0;
    progressed_ = false;
    failed_now_.assign(view.queues.size(), 0);
  }

  bool next(const View& view, Proposals& out) override {
    for (;; ++at_) {
      if (at_ == pass_.size()) {
        if (!progressed_) return false;  // another pass only while something starts
        progressed_ = false;
        at_ = 0;
        if (pass_.empty()) return false;
      }
      const Queue& queue = view.queues[pass_[at_]];
      if (queue.waiting.empty()) continue;
      propose(view, queue, out);
      ++at_;
      return true;
    }
  }

  void decided(const View&, const Proposals& proposals, std::optional<std::size_t> booked) override {
    const std::uint32_t queue = proposals.queue.value();
    if (proposals.drop > 0) {
      --at_;  // who waits behind it is asked about now
    } else if (booked) {
      state_.fails[queue] = 0;
      state_.recheck[queue] = 0;
      progressed_ = true;
    } else {
      // Once an instant: while other queues start batches this one is asked again and again for what is full.
      state_.fails[queue] += failed_now_[queue] == 0 ? 1 : 0;
      failed_now_[queue] = 1;
      state_.recheck[queue] = 1;
    }
  }

  void removed(const View&, const Queue& queue) override {
    placement_.forget(queue);
    rests_.forget(queue);
    if (queue.id.index() < state_.fails.size()) state_.fails[queue.id.index()] = state_.recheck[queue.id.index()] = 0;
  }

  void visit(Archive& archive) override { archive(state_.fails, state_.recheck, state_.round_robin); }

 private:
  // What runs when no path meets the budget. The paper does not say; `fastest` is ours, the others are for its twins.
  enum class Fallback { fastest, least, cheapest };
  static Fallback fallback_of(double number) {
    return number >= 2 ? Fallback::cheapest : number >= 1 ? Fallback::least : Fallback::fastest;
  }
  struct State {
    std::vector<std::uint32_t> fails;  // in a row, by queue
    std::vector<std::uint8_t> recheck;
    std::uint32_t round_robin = 0;
  };

  void add_if(std::uint32_t queue, bool recheck) {
    if ((state_.recheck[queue] != 0) == recheck) pass_.push_back(queue);
  }

  void sort_by_deadline(const View& view, std::ptrdiff_t first) {
    const auto due = [&](std::uint32_t q) { return std::pair(view.queues[q].waiting.front().deadline, q); };
    std::sort(pass_.begin() + first, pass_.end(), [&](std::uint32_t a, std::uint32_t b) { return due(a) < due(b); });
  }

  void propose(const View& view, const Queue& queue, Proposals& out) {
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    const EsgModel& esg = search_.model(queue);
    const std::uint32_t stage = queue.model_stage;
    const double left_ms = (queue.waiting.front().deadline - view.now).to_ms();
    if (drops_ && left_ms < rests_.ms(view, queue)) {
      out.drop = 1;  // late, whatever is done for it
      return;
    }
    placement_.look_at(view, queue);
    const auto offer = [&](const Configuration& c) { placement_.offer(view, queue, c, out); };
    if (state_.fails[queue.id.index()] >= fails_max_) {  // forced minimum
      offer(least_runnable(view, queue));
      return;
    }
    const double budget = esg.budget_ms(stage, left_ms) / safety_;
    const plan::BatchCap cap = esg.cap(stage, queue.waiting.size());
    const EsgAnswer& found = search_.find(queue, cap, budget);
    out.work.expansions = found.expansions;
    for (const Configuration& c : found.firsts) offer(c);
    if (!out.ranked.empty() || std::any_of(found.firsts.begin(), found.firsts.end(),
                                           [&](const Configuration& c) { return runs_somewhere(view, queue, c); }))
      return;
    // Out of reach.
    if (fallback_ == Fallback::fastest)
      offer(first_by(esg.candidates(stage), cap, [](const plan::Candidate& c) { return c.ms; }));
    if (fallback_ == Fallback::cheapest)
      offer(first_by(esg.candidates(stage), cap, [](const plan::Candidate& c) { return c.cost; }));
    offer(least_runnable(view, queue));
  }

  // The one that has the least of something; of equal ones the first.
  template <class Number>
  static Configuration first_by(const plan::Candidates& candidates, plan::BatchCap cap, const Number& number) {
    const plan::Candidate* best = nullptr;
    for (const plan::Candidate& c : candidates) {
      if (c.configuration.batch <= cap && (best == nullptr || number(c) < number(*best))) best = &c;
    }
    return best == nullptr ? plan::least(candidates).configuration : best->configuration;
  }

  EsgSearch search_;                       // derived: not part of the state
  FastestRests rests_{plan::kNoBatchCap};  // likewise
  std::uint32_t fails_max_;
  double safety_;
  bool by_deadline_;
  Fallback fallback_;
  bool drops_;
  State state_;
  // Derived or of one instant only: not part of the state.
  EsgPlacement placement_;
  std::vector<std::uint32_t> pass_;
  std::vector<std::uint8_t> failed_now_;  // by queue
  std::size_t at_ = 0;
  bool progressed_ = false;
};

}  // namespace

std::unique_ptr<Dispatch> make_esg(const Parameters& parameters, EsgLibrary library) {
  return std::make_unique<Esg>(parameters, std::move(library));
}

}  // namespace sluice::policy
