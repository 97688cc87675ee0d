#include "policy/sluice.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "policy/affordable.h"
#include "policy/branches_share.h"
#include "policy/frontiers.h"
#include "policy/load_wait.h"
#include "policy/loading.h"
#include "policy/slack.h"
#include "policy/sluice_models.h"
#include "policy/sluice_parts.h"
#include "policy/sluice_tables.h"
#include "policy/wait_rules.h"
#include "profile/transfer.h"

namespace sluice::policy {
namespace {

// What a prefix of a queue costs to bring to a machine.
struct Moving {
  double near_ms = 0;  // to where the oldest one's inputs are
  double far_ms = 0;   // to anywhere else
};

// Of the batch proposed last: how long it waited for company, and for its function to be loaded.
struct Member {
  RequestId request;
  Time ready;
  Duration waited, loading;
};

Derive derives_with(SluiceTerms terms) {
  return [terms = std::move(terms)](const std::shared_ptr<const plan::WorkflowModel>& model,
                                    const Application& application) -> DerivedList {
    if (auto tables = make_tables(model, application, terms)) return {std::move(tables)};
    return frontiers_derive()(model, application);
  };
}

class SluiceDispatch final : public Dispatch {
 public:
  SluiceDispatch(const SluiceSettings& settings, std::shared_ptr<SluiceState> state)
      : settings_(settings), state_(std::move(state)), models_(settings.model) {}

  void queued(const View& view, const Queue& queue) override {
    state_->grow(view);
    state_->calls[queue.id.index()].add(view.now);
    Taken& taken_ms = state_->taken_ms[queue.id.index()];
    const SluiceModel* m = taken_ms.none() ? model(view, queue, 0) : nullptr;
    if (m != nullptr) taken_ms = m->taken_ms(queue.model_stage);
  }

  // What an invocation of this stage takes, as it is really batched and as long as it really takes.
  void ran(const View& view, const Ran& batch) override {
    state_->grow(view);
    Taken& known = state_->taken_ms[batch.queue.index()];
    const Taken taken = Taken::by(batch.configuration) * batch.took.to_ms() / batch.members;
    known = known + (taken - known) * kLearn;
  }

  void ended(const View& view, RequestId request) override {
    state_->foresight.forget(request);
    const auto it = state_->inside.find(request);
    if (it == state_->inside.end()) return;
    learn_from_end(view, it->second, settings_.fair, *state_);
    state_->needed = state_->needed - it->second.needs;
    const auto due = state_->due.find(it->second.deadline);
    if (due != state_->due.end()) {
      std::erase(due->second, request);
      if (due->second.empty()) state_->due.erase(due);
    }
    state_->inside.erase(it);
    if (state_->inside.empty()) state_->needed = {};  // sums of fractions leave dust
  }

  void removed(const View& view, const Queue& queue) override {
    state_->grow(view);
    state_->calls[queue.id.index()] = {};
    state_->taken_ms[queue.id.index()] = {};
    state_->pauses[queue.id.index()] = {};
    models_.forget(queue.id);
    frontiers_.forget(queue);
    rests_.forget(queue);
    rules_.forget(queue.id);
    state_->bill.forget(queue.id);
  }

  void begin(const View& view) override {
    state_->grow(view);
    order_.clear();
    for (const std::uint32_t q : view.busy_queues) order_.emplace_back(urgency(view, view.queues[q]), q);
    std::sort(order_.begin(), order_.end());
    at_ = 0;
    wake_.reset();
    // Under load waiting burns slack that is needed, and then wide shares that do not fit a full cluster.
    look_at_cluster(view, *state_);
    const double load = state_->load;
    const auto rise = [&](double from) { return std::clamp((load - from) / 0.15, 0.0, 1.0); };
    least_gain_ = settings_.wait_gain * rise(settings_.wait_load);
    reserve_ms_ = settings_.reserve_load_ms * rise(0.75);
    roomiest_ = load <= (slots_matter() ? std::min(kSlotsLoad, settings_.roomiest_load) : settings_.roomiest_load);
    cold_ = some_cold(view);
  }

  bool next(const View& view, Proposals& out) override {
    for (; at_ < order_.size(); ++at_) {
      const Queue& queue = view.queues[order_[at_].second];
      if (queue.waiting.empty() || waits(view, queue)) continue;
      propose(view, queue, out);
      return true;
    }
    return false;
  }

  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    if (!booked) {
      if (proposals.drop == 0) ++at_;
      return;
    }
    const Proposal& batch = proposals.ranked[*booked];
    state_->bill.paid();
    for (const Member& member : members_) {
      const auto it = state_->inside.find(member.request);
      if (it == state_->inside.end()) continue;
      it->second.waited = std::max(it->second.waited, member.waited);
      it->second.loading += member.loading;
      it->second.queued += std::max(Duration{}, view.now - member.ready - member.waited - member.loading);
    }
    if (!settings_.foresee) return;
    // The request of the oldest stands for the whole batch, which goes on together.
    for (const Member& member : members_) state_->foresight.forget(member.request);
    state_->foresight.expect(members_.front().request, batch.invoker, path_);
  }

  [[nodiscard]] Derive derives(const View& view, ApplicationId id) const override {
    SluiceTerms terms{.options = settings_.model, .shapes = shapes_in(view)};
    if (id.index() < state_->applications.size()) terms.level = state_->applications[id.index()].price.level();
    return derives_with(std::move(terms));
  }
  [[nodiscard]] std::uint64_t derived_here() const override { return models_.made_here() + frontiers_.made_here(); }
  [[nodiscard]] std::optional<Time> next_wake(const View&) const override { return wake_; }
  void visit(Archive& archive) override { state_->visit(archive); }

 private:
  static constexpr double kLearn = 0.02;
  static constexpr double kSlotsLoad = 0.6;  // up to it the roomiest machine is taken where slots_matter()
  static constexpr std::size_t kLook = 32;   // machines for a batch

  // The least slack first, but what is late already after everything that is not.
  std::int64_t urgency(const View& view, const Queue& queue) {
    constexpr std::int64_t kLater = std::int64_t{1} << 61;
    const Waiting& oldest = queue.waiting.front();
    const std::int64_t hurry = (oldest.deadline - earliest(view, queue, queue.waiting.size())).count_ns();
    return slack_ns(view, queue, rests_) - hurry + (oldest.deadline < view.now ? kLater : 0);
  }

  // When the first of the `count` oldest must be done. They came in this order and have the same objective, so it is
  // the oldest, unless that one's caller brought a longer objective of its own.
  static Time earliest(const View& view, const Queue& queue, std::size_t count) {
    constexpr std::size_t kAhead = 64;
    const Waiting& oldest = queue.waiting.front();
    const Duration deployed = view.application(queue.application).application->objective.latency;
    Time out = oldest.deadline;
    if (oldest.deadline - oldest.arrival <= deployed) return out;
    for (std::size_t i = 1; i < std::min(count, kAhead); ++i) out = std::min(out, queue.waiting[i].deadline);
    return out;
  }

  const SluiceModel* model(const View& view, const Queue& queue, double left_ms) {
    return models_.find(view, queue, left_ms, *state_);
  }

  // Whether some machine's slices cannot start everywhere. There small shares that are spread out leave no start for
  // wide ones, however much is free (docs/reproduce-esg.md, layouts).
  [[nodiscard]] bool slots_matter() const {
    return std::any_of(state_->shapes.begin(), state_->shapes.end(),
                       [](const NodeGroup& machine) { return machine.layout != SliceLayout::any; });
  }

  // Whether a first stage had better wait for company; then it is asked again when that has changed.
  bool waits(const View& view, const Queue& queue) {
    if (!settings_.wait || !queue.entry) return false;
    const double more = worth_waiting_ms(view, queue);
    Pause& pause = state_->pauses[queue.id.index()];
    if (more <= 0) {
      if (pause.on) pause.end = view.now;
      pause.on = false;
      return false;
    }
    if (!pause.on) pause.begin = view.now;
    pause.on = true;
    const Time again = view.now + std::max(Duration::ms(more), Duration::us(1));
    if (!wake_ || again < *wake_) wake_ = again;
    return true;
  }

  // How much longer, if nobody comes: while company is worth its risk (batch_wait.h), but only if it was seen to come
  // while so many are unanswered, no longer than a few gaps between arrivals, and with the patience that is left.
  double worth_waiting_ms(const View& view, const Queue& queue) {
    const SluiceModel* m = model(view, queue, 0);
    const Standing& standing = state_->applications[queue.application.index()];
    const Prefer prefer = view.application(queue.application).application->objective.prefer;
    if (prefer == Prefer::latency) return 0;
    const double rate = state_->calls[queue.id.index()].per_ms(view.now), company = standing.crowd.rate();
    if (m == nullptr || rate <= 0 || company <= 0) return 0;
    const BatchWait& rule = rules_.rule(queue, *m, rate, state_->bill);
    const Waiting& oldest = queue.waiting.front();
    const std::size_t n = queue.waiting.size();
    const double left = paced_ms(queue, *m, (earliest(view, queue, n) - view.now).to_ms());
    const double age = m->horizon_ms() - left + loads_ms(view, queue, *m);
    if (rule.gain(n, age) <= least_gain_) return 0;
    const double waited = (view.now - oldest.ready).to_ms();
    const double share = standing.patience.left * (cold_ ? state_->loads.left : 1);
    const double most = (rule.until_ms(n, age, least_gain_) - age + waited) * share;
    const double usual = prefer == Prefer::cost ? most : execution_ms(queue, *m, left);
    return std::min({most, settings_.wait_gaps / company, usual}) - waited;
  }

  // What a request of one is expected to take from this stage on, if it starts now.
  static double execution_ms(const Queue& queue, const SluiceModel& m, double left) {
    double out = 0;
    for (std::optional<std::uint32_t> stage = queue.model_stage; stage; stage = m.next(*stage)) {
      const Choice* choice = m.cheapest_alone(*stage, left - out);
      if (choice == nullptr) break;
      out += choice->ms;
    }
    return out * slower(queue);
  }

  void propose(const View& view, const Queue& queue, Proposals& out) {
    out.clear();
    out.queue = queue.id;
    out.work.searches = 1;
    const SluiceModel* m = model(view, queue, until_due_ms(view, queue.waiting.front().deadline));
    if (m == nullptr) return propose_by_frontier(view, queue, out);
    const double loads = loads_ms(view, queue, *m), left = left_ms(view, queue, *m);
    score(view, queue, *m, left - loads);
    out.work.expansions = scored_.size() + state_->bill.owed();
    // A lone request delays no other, so it runs even if its plan says "late": the measured time corrects a profile
    // that was learned too slow.
    const bool drops = settings_.drop && state_->inside.size() > 1;
    const Dollars miss = drops ? worth_of_a_request(*m) : std::numeric_limits<Dollars>::infinity();
    // How long loads take is a guess: nobody is given up for it.
    const auto lost = [&] { return scored_.empty() || scored_.front().score >= miss; };
    if (loads > 0 && lost()) score(view, queue, *m, left);
    const bool hopeless = lost() || view.now > timeout_of(queue);
    if (drops && hopeless) return drop_oldest(view, queue, out);
    // Mostly the first one fits: a heap instead of a sorted list.
    BatchReason reason{.considered = considered(queue)};
    for (auto end = scored_.end(); end != scored_.begin() && scored_.front().score < miss; --end) {
      if (offer(view, queue, scored_.front(), out)) return give_reason(queue, reason, out);
      reason.no_room += scored_.front().near ? 0 : 1;
      std::pop_heap(scored_.begin(), end, worse);
    }
    // It is worth running, but nothing fits now. If nothing ends before, that changes when it is late.
    for (const Time at : {queue.waiting.front().deadline, timeout_of(queue)}) {
      if (at >= view.now && (!wake_ || at < *wake_)) wake_ = at + Duration::ns(1);
    }
  }

  // Configurations among scored_, which has those that may run beside their inputs twice.
  [[nodiscard]] std::uint32_t considered(const Queue& queue) const {
    const bool twice = settings_.locality && queue.waiting.front().inputs_at.valid();
    return static_cast<std::uint32_t>(twice ? (scored_.size() + 1) / 2 : scored_.size());
  }
  void give_reason(const Queue& queue, BatchReason reason, Proposals& out) const {
    const Pause& pause = state_->pauses[queue.id.index()];
    reason.company_from = pause.begin;
    reason.company_until = pause.end;
    out.ranked.front().reason = reason;
  }

  // What is late is answered nevertheless where being late is allowed for, but not for ever: three times the request's
  // own objective.
  [[nodiscard]] static Time timeout_of(const Queue& queue) {
    const Waiting& oldest = queue.waiting.front();
    return oldest.deadline + (oldest.deadline - oldest.arrival) * 2;
  }
  static double until_due_ms(const View& view, Time deadline) { return (deadline - view.now).to_ms(); }

  void drop_oldest(const View& view, const Queue& queue, Proposals& out) {
    out.drop = 1;
    const Waiting& oldest = queue.waiting.front();
    const auto it = state_->inside.find(oldest.request);
    if (it == state_->inside.end()) return;
    it->second.dropped = true;
    it->second.queued += view.now - oldest.ready;
    if (cold_ && !has_ready(view, view.functions[queue.shared.index()])) it->second.loading += view.now - oldest.ready;
  }

  void propose_by_frontier(const View& view, const Queue& queue, Proposals& out) {
    constexpr double kMargin = 1.1;
    const double budget = (queue.waiting.front().deadline - view.now).to_ms() / kMargin;
    const plan::Candidates& candidates = queue.model->stages[queue.model_stage].candidates;
    const auto cap = static_cast<plan::BatchCap>(queue.waiting.size());
    BatchReason reason;
    for (const plan::Option& option : frontiers_.of(view, queue)->query(queue.model_stage, cap, budget, workspace_)) {
      const Choice choice{option.candidate, candidates[option.candidate].configuration,
                          candidates[option.candidate].ms};
      const bool near = queue.waiting.front().inputs_at.valid();
      if ((near && offer(view, queue, {0, &choice, true}, out)) || offer(view, queue, {0, &choice, false}, out)) {
        reason.considered = static_cast<std::uint32_t>(workspace_.options.size());
        return give_reason(queue, reason, out);
      }
      ++reason.no_room;
    }
    if (workspace_.options.empty() && settings_.drop) drop_oldest(view, queue, out);
  }

  // Until the deadline of the oldest, less what later stages may lose.
  [[nodiscard]] double left_ms(const View& view, const Queue& queue, const SluiceModel& m) const {
    // Where objectives are short that is little: a request with time enough would be given up for it.
    constexpr double kMost = 0.07;
    const double reserve = std::min(reserve_ms_ * m.stages_after(queue.model_stage), kMost * m.horizon_ms());
    return paced_ms(queue, m, until_due_ms(view, queue.waiting.front().deadline)) - reserve;
  }

  // What a time is worth in the planner's own milliseconds: the stages to come go as this one's last batches did. What
  // they take besides executing is in the model as far as its reserve goes.
  [[nodiscard]] double paced_ms(const Queue& queue, const SluiceModel& m, double ms) const {
    const double beside = std::max(0.0, queue.pace.beside_ms() - settings_.model.reserve_ms);
    return (ms - beside * (1 + m.stages_after(queue.model_stage))) / slower(queue);
  }
  // Noise alone is no reason to plan otherwise.
  [[nodiscard]] static double slower(const Queue& queue) {
    constexpr double kNoise = 1.1;
    return queue.pace.slower() > kNoise ? queue.pace.slower() : 1;
  }

  // How long it and the stages after it will wait for loads.
  [[nodiscard]] double loads_ms(const View& view, const Queue& queue, const SluiceModel& m) const {
    return cold_ ? load_wait_ms(view, queue, m, models_.queues(queue.id)) : 0;
  }

  // All ways to run the oldest invocations within `left` milliseconds, as a heap with the best on top.
  void score(const View& view, const Queue& queue, const SluiceModel& m, double left) {
    scored_.clear();
    const bool moves = queue.waiting.front().inputs_at.valid();
    cheapest_move_ = moves ? std::numeric_limits<Dollars>::infinity() : 0;
    const std::vector<Choice>& choices = m.choices(queue.model_stage);
    for (std::size_t i = 0; i < choices.size();) {
      const std::uint16_t batch = choices[i].configuration.batch;
      if (batch > queue.waiting.size()) break;
      const Moving moving = moves ? moving_of(view, queue, batch) : Moving{};
      // With those who have less time in the batch, it is theirs that counts.
      const Time first = earliest(view, queue, batch);
      const double hurry = (queue.waiting.front().deadline - first).to_ms() / slower(queue);
      const plan::ValueTable& table = (hurry > 0 ? model(view, queue, until_due_ms(view, first)) : &m)->table();
      const auto near = table.decide(queue.model_stage, batch, left - hurry - moving.near_ms);
      const auto far = table.decide(queue.model_stage, batch, left - hurry - moving.far_ms);
      for (; i < choices.size() && choices[i].configuration.batch == batch; ++i) {
        const Choice& c = choices[i];
        if (moves && settings_.locality)
          scored_.push_back({near.expected(c.candidate) + c.per_ms * moving.near_ms, &c, true});
        scored_.push_back({far.expected(c.candidate) + c.per_ms * moving.far_ms, &c, false});
        cheapest_move_ = std::min(cheapest_move_, c.per_ms * moving.far_ms);
      }
    }
    keep_affordable(view, queue, m, scored_);
    if (m.has_branches()) leave_to_other_branches(view, queue, worth_of_a_request(m), scored_);
    std::make_heap(scored_.begin(), scored_.end(), worse);
  }

  // More is not paid for one. Of stages that take less time than their inputs on the way it is what moving them costs:
  // a multiple of the stages alone would never pay for that, and everybody would be given up. REQUIRES: score().
  [[nodiscard]] Dollars worth_of_a_request(const SluiceModel& m) const {
    constexpr double kMoves = 3;
    return std::max(m.drop_price(), kMoves * cheapest_move_);
  }

  static bool worse(const Scored& a, const Scored& b) {
    return std::tuple(b.score, !b.near, b.choice->candidate) < std::tuple(a.score, !a.near, a.choice->candidate);
  }

  static Moving moving_of(const View& view, const Queue& queue, std::uint32_t count) {
    profile::BatchInputs near, far;
    const InvokerId home = queue.waiting.front().inputs_at;
    for (std::uint32_t i = 0; i < count; ++i) {
      const Waiting& w = queue.waiting[i];
      near.add(w.inputs_at == home, w.bytes);
      far.add(false, w.bytes);
    }
    return {profile::transfer_time(view.transfer, near).to_ms(), profile::transfer_time(view.transfer, far).to_ms()};
  }

  bool offer(const View& view, const Queue& queue, const Scored& scored, Proposals& out) {
    const Configuration& c = scored.choice->configuration;
    const auto fits = [&](std::uint32_t invoker) { return view.fits(queue, c, invoker); };
    std::optional<std::uint32_t> invoker;
    if (scored.near) {
      const std::uint32_t home = queue.waiting.front().inputs_at.value();
      if (fits(home)) invoker = home;
    } else {
      invoker = best_place(view, queue, *scored.choice);
    }
    if (!invoker) return false;
    foresee(view, queue, *scored.choice);
    members_.clear();
    const Pause& pause = state_->pauses[queue.id.index()];
    const std::optional<Time> loaded = cold_ ? loaded_at(view, queue, InvokerId(*invoker)) : std::nullopt;
    for (std::uint32_t i = 0; i < c.batch; ++i) {
      const Waiting& member = queue.waiting[i];
      members_.push_back({.request = member.request,
                          .ready = member.ready,
                          .waited = std::max(Duration{}, pause.end - std::max(pause.begin, member.ready)),
                          .loading = loaded ? std::max(Duration{}, *loaded - member.ready) : Duration{}});
    }
    out.ranked.push_back({.configuration = c, .invoker = InvokerId(*invoker), .members = c.batch});
    return true;
  }

  // Where the batch and what follows it leave the most room, or under load just enough.
  std::optional<std::uint32_t> best_place(const View& view, const Queue& queue, const Choice& choice) {
    const Configuration& c = choice.configuration;
    std::optional<std::uint32_t> best;
    std::int32_t best_room = 0;
    std::size_t looked = 0;
    const auto better = [&](std::int32_t room) {
      return roomiest_ || room < 0 || best_room < 0 ? room > best_room : room < best_room;
    };
    // Asked for machine by machine, those that promise the most first; true ends the search.
    const auto look = [&](std::uint32_t invoker) {
      if (!view.fits(queue, c, invoker)) return false;
      if (looked == 0) foresee(view, queue, choice);
      const auto free = static_cast<std::int32_t>(view.invokers[invoker].slices_free()) - c.slices;
      const std::int32_t room = state_->foresight.least_free(InvokerId(invoker), free, view.now, path_);
      if (!best || better(room)) {
        best = invoker;
        best_room = room;
      }
      return ++looked == kLook;
    };
    (void)(roomiest_ ? view.by_free.emptiest(c.slices, look) : view.by_free.fullest(c.slices, look));
    return best;
  }

  // What the batch and the cheapest way on are expected to take, into path_. Empty without a model, or switched off.
  void foresee(const View& view, const Queue& queue, const Choice& choice) {
    path_.clear();
    if (!settings_.foresee) return;
    const SluiceModel* m = model(view, queue, until_due_ms(view, queue.waiting.front().deadline));
    if (m == nullptr) return;
    double at = choice.ms;
    const double left = left_ms(view, queue, *m);
    std::int32_t has = choice.configuration.slices;
    for (auto stage = m->next(queue.model_stage); stage; stage = m->next(*stage)) {
      const Choice* next = m->cheapest_alone(*stage, left - at);
      if (next == nullptr) break;
      path_.push_back({view.now + Duration::ms(at), next->configuration.slices - has});
      has = next->configuration.slices;
      at += next->ms;
    }
    path_.push_back({view.now + Duration::ms(at), -has});
  }

  SluiceSettings settings_;
  std::shared_ptr<SluiceState> state_;
  // Derived, or of one instant only: not part of the state.
  SluiceModels models_;
  Frontiers frontiers_;  // of workflows whose tables would not fit into memory
  FastestRests rests_{1};
  WaitRules rules_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> order_;  // by slack, the least first
  std::vector<Scored> scored_;
  Dollars cheapest_move_ = 0;  // of one invocation's inputs to another machine, of all ways in scored_
  plan::FrontierWorkspace workspace_;
  std::size_t at_ = 0;
  double least_gain_ = 0, reserve_ms_ = 0;
  bool roomiest_ = true;
  bool cold_ = false;  // there are machines on which functions have to be loaded
  // Of the batch proposed last.
  std::vector<Member> members_;
  std::vector<SliceStep> path_;
  std::optional<Time> wake_;
};

}  // namespace

Derive sluice_derives(const Parameters& parameters, const std::vector<NodeGroup>& machines) {
  return derives_with({.options = SluiceSettings(parameters).model, .shapes = shapes_of(machines)});
}

std::unique_ptr<Dispatch> make_sluice_dispatch(const SluiceSettings& settings, std::shared_ptr<SluiceState> state) {
  return std::make_unique<SluiceDispatch>(settings, std::move(state));
}

SluiceParts make_sluice(const Parameters& parameters) {
  const SluiceSettings settings(parameters);
  auto state = std::make_shared<SluiceState>();
  return {make_sluice_admission(settings, state), make_sluice_dispatch(settings, state)};
}

}  // namespace sluice::policy
