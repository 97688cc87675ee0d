// What comes in: letters become events.
#include "live/runner.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "data/clock.h"
#include "live/ports_of.h"
#include "live/rejection.h"

namespace sluice::live {
namespace {

constexpr std::size_t kHistory = 20'000;
constexpr Duration kSnapshotAge = Duration::ms(50);

// How long a caller waits at the most: as it says, else its objective, or three times that where a percentile allows
// for some that are late. Nobody waits for an asynchronous request; and what is still being profiled takes nobody knows
// how long.
std::optional<Duration> timeout_of(const bus::Arrival& arrival, const Installed& installed) {
  constexpr int kLate = 3;
  if (arrival.timeout || arrival.asynchronous || !installed.reason.empty()) return arrival.timeout;
  const Objective& objective = installed.application->objective;
  return arrival.objective.value_or(objective.latency) * (objective.percentile ? kLate : 1);
}

}  // namespace

Runner::Runner(std::unique_ptr<core::Scheduler> scheduler, EventLog log, data::Arenas& arenas, Machines machines,
               Listeners listeners, std::size_t mailbox_max)
    : scheduler_(std::move(scheduler)),
      log_(std::move(log)),
      arenas_(arenas),
      link_(machines.link),
      waker_(machines.waker),
      listeners_(std::move(listeners)),
      mailbox_(mailbox_max, [this] { ring(); }),
      history_(kHistory),
      standings_(directory_, link_),
      installer_({directory_, standings_, *scheduler_, arenas_, link_},
                 {.observe = [this](const Event& event) { observe(event); },
                  .settle =
                      [this] {
                        if (told_) decide();
                      },
                  .changed = [this] { publish(); },
                  .forgotten =
                      [this](ApplicationId id) {
                        batches_.forget(id);
                        listeners_.forgotten(id);
                      }}),
      callers_({directory_, history_, link_, [this](const Callers::Ended& ended) { note_unlucky(ended); }}),
      planning_([this](PlansMade made) { mailbox_.post(Event(std::move(made))); }) {}

void Runner::start() {
  running_ = true;
  if (started_ == Time()) started_ = data::now();
  thread_ = std::thread([this] { loop(); });
}

void Runner::stop() {
  if (!thread_.joinable()) return;
  mailbox_.post(Stopping{});
  thread_.join();
}

void Runner::lend(std::function<void()> soon) {
  stop();
  soon_ = std::move(soon);
  borrower_ = std::this_thread::get_id();
  waker_.ring();  // what is there already
}

void Runner::take_back() {
  borrower_ = std::thread::id();
  start();
}

// The thread that runs it needs no waking.
void Runner::ring() {
  if (borrower_.load() == std::this_thread::get_id()) {
    soon_();
  } else {
    waker_.ring();
  }
}

void Runner::loop() {
  for (;;) {
    work();
    if (!running_) return;
    waker_.wait();
  }
}

void Runner::work() {
  heard_.clear();
  link_.receive(step_.begin(), heard_);
  mailbox_.take(letters_);
  now_ = std::max(now_, step_.end_of(StepClock::Part::look));
  for (const bus::Printed& printed : heard_.printed) history_.log(printed.batch, printed.line);
  for (Event& event : heard_.events) read(event);
  for (bus::Sampled& sample : heard_.samples) {
    if (auto first = standings_.take(std::move(sample)); first && listeners_.sampled)
      listeners_.sampled(std::move(*first));
    changed_ = true;
  }
  for (Letter& letter : letters_) read(letter);
  letters_.clear();
  while (const auto expired = callers_.expire_one(now_)) observe(RequestCancelled{*expired});
  const auto due = [this] {  // asked only where nothing was told: policies look at all that is loaded for it
    const auto wake = scheduler_->next_wake();
    return wake && *wake <= now_;
  };
  step_.end_of(StepClock::Part::read);
  if (told_ || due()) decide();
  installer_.look(now_);
  if (told_) decide();
  in_system_.store(scheduler_->requests_in_system());
  if (changed_ && now_ - published_ >= kSnapshotAge) publish();
  step_.end_of(StepClock::Part::publish);
  note_step();
  waker_.listen(std::min(wake_at().value_or(Time::max()), link_.due()));
  if (mailbox_.size() > 0 || link_.due() <= now_) waker_.ring();
}

void Runner::decide() {
  told_ = false;
  commands_.list.clear();
  const Time began = data::now();
  scheduler_->decide(now_, commands_);
  decisions_.add(step_.end_of(StepClock::Part::decide) - began);
  log_.decided(commands_, now_);
  if (const Status flushed = log_.flush(); !flushed)
    listeners_.remark({.level = Remark::Level::error, .component = "scheduler", .text = flushed.error().message});
  step_.end_of(StepClock::Part::log);
  deliver(commands_);
  installer_.forget_retired();
  step_.end_of(StepClock::Part::deliver);
  log_.rotate_if_due(*scheduler_);
  step_.end_of(StepClock::Part::log);
}

// Whatever is slow here holds up everybody. Told at most once in ten seconds.
void Runner::note_step() {
  constexpr Duration kSlow = Duration::ms(1), kTellEvery = Duration::s(10);
  steps_.add(step_.whole());
  if (step_.whole() <= kSlow || now_ - slow_told_ < kTellEvery) return;
  slow_told_ = now_;
  listeners_.remark({.level = Remark::Level::warning,
                     .component = "scheduler",
                     .text = str("a step took ", step_.whole().to_ms(), " ms: ", step_.text()),
                     .quiet = true});
}

void Runner::note_unlucky(const Callers::Ended& ended) {
  const auto before = unlucky_.pass(now_);
  if (!before) return;
  const bool refused = ended.state == RequestState::rejected;
  const Installed* known = directory_.find(ended.application);
  const std::string name = known != nullptr && known->application ? known->application->name : "";
  std::string why = ended.error.empty() ? "its time was over" : ended.error;
  if (refused) {
    const bus::Answered& from = ended.answered;
    why = rejection_text(
        {.reason = from.reason, .needed = from.needed, .available = from.available, .error = from.error}, name);
  }
  listeners_.remark(
      {.level = refused ? Remark::Level::info : Remark::Level::warning,
       .component = "requests",
       .text = str("a request of '", name, "' ", refused ? "was refused: " : "failed: ", why, not_listed(*before)),
       .request = ended.answered.request.value(),
       .quiet = true});
}

std::optional<Time> Runner::wake_at() const {
  std::optional<Time> at = scheduler_->next_wake();
  const auto sooner = [&](Time other) {
    if (!at || other < *at) at = other;
  };
  if (const auto timeout = callers_.next_timeout()) sooner(*timeout);
  if (const auto entering = installer_.due()) sooner(*entering);
  if (changed_) sooner(published_ + kSnapshotAge);
  return at;
}

void Runner::observe(const Event& event) {
  log_.observed(event, now_);
  scheduler_->observe(event, now_);
  told_ = changed_ = true;
}

void Runner::read(Letter& letter) {
  std::visit([this](auto& l) { read(l); }, letter);
}

void Runner::read(Event& event) {
  if (const auto* finished = std::get_if<BatchFinished>(&event)) {
    history_.finished(*finished, now_);
    batches_.finished(*finished, now_, directory_);
  }
  if (const auto* failed = std::get_if<BatchFailed>(&event)) {
    history_.failed(failed->id, failed->error, now_);
    batches_.lost(failed->id);
  }
  if (const auto* expired = std::get_if<BatchExpired>(&event)) {
    history_.failed(expired->id, "Expired", now_);
    batches_.lost(expired->id);
  }
  if (const auto* quota = std::get_if<QuotaChanged>(&event)) link_.limit({quota->tenant, quota->vcpu});
  if (const auto* loaded = std::get_if<InstanceLoaded>(&event)) history_.loaded(loaded->instance, now_);
  if (const auto* unloaded = std::get_if<InstanceUnloaded>(&event)) history_.unloaded(unloaded->instance);
  observe(event);
}

bool Runner::offer(std::span<bus::Arrival> arrivals, bus::Gateway& from) {
  return mailbox_.offer(arrivals.size(), [&](std::size_t i) {
    return Letter(Arriving{std::move(arrivals[i]), &from});
  });
}

void Runner::read(Arriving& arriving) {
  bus::Arrival& arrival = arriving.arrival;
  Installed* const found = directory_.find(arrival.application);
  if (found == nullptr) return arriving.from->moved(std::move(arrival));
  Installed& installed = *found;
  const Duration objective = arrival.objective.value_or(installed.application->objective.latency);
  RequestArrived event{.id = arrival.request,
                       .application = arrival.application,
                       .tenant = installed.tenant,
                       .deadline = now_ + std::min(objective, arrival.timeout.value_or(objective)),
                       .bytes = arrival.bytes,
                       .priority = arrival.priority,
                       .verdicts = std::move(arrival.verdicts),
                       .fan_outs = std::move(arrival.fan_outs)};
  if (installed.application->objective.cost)
    event.cost_limit = PicoDollars::from_dollars(*installed.application->objective.cost);
  bytes_in_ += static_cast<std::uint64_t>(event.bytes.count());
  ++installed.stats.pending;
  history_.arrived({event.id, installed.application, installed.version, now_, event.deadline, arrival.asynchronous});
  Callers::Pending pending{.gateway = arriving.from,
                           .application = event.application,
                           .arrival = now_,
                           .deadline = event.deadline,
                           .timeout = std::nullopt};
  if (const auto timeout = timeout_of(arrival, installed)) pending.timeout = now_ + *timeout;
  callers_.add(event.id, pending);
  if (!arrival.error.empty()) {
    bus::Answered failed{.request = event.id, .kind = bus::Answered::Kind::failed};
    failed.error = std::move(arrival.error);
    return callers_.answer(std::move(failed), RequestState::failed, now_);
  }
  observe(event);
}

void Runner::read(Missing& missing) {
  directory_.miss(std::move(missing));
  publish();
}

void Runner::read(Cancelling& cancelling) {
  if (callers_.waits(cancelling.request)) observe(RequestCancelled{cancelling.request});
}

void Runner::read(Telling& telling) {
  std::vector<Believed> believed;
  directory_.each([&](ApplicationId id, const Installed& installed) {
    if (!installed.is_function)
      believed.push_back({scheduler_->believed(id), installed.version, scheduler_->known_branches(id)});
  });
  telling.tell(std::move(believed));
}

void Runner::read(Barrier& barrier) {
  publish();
  barrier.reached();
}

void Runner::read(Profiled& profiled) {
  changed_ = true;
  standings_.change(profiled.key, profiled.standing);
  if (profiled.profile == nullptr) return;
  standings_.each_of(profiled.key, [&](ApplicationId id, Installed&, std::size_t f) {
    observe(ProfileChanged{id, FunctionId(static_cast<std::uint32_t>(f)), profiled.profile});
  });
}

void Runner::read(Branched& branched) {
  directory_.each([&](ApplicationId id, const Installed& installed) {
    if (installed.application->tenant != branched.tenant || installed.application->name != branched.application) return;
    branched.known.application = id;
    observe(branched.known);
  });
}

}  // namespace sluice::live
