// Several machines with real workers, a scheduler and a gateway, in one process: agents with stores of their own that
// reach each other over wires only. Tests see where stages ran and what the caller got.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "bus/machine.h"
#include "bus/object_exchange.h"
#include "bus/resolver.h"
#include "core/scheduler.h"
#include "data/clock.h"
#include "data/values.h"
#include "invoker/scene.h"
#include "policy/catalog.h"
#include "support/places.h"
#include "support/tensor_text.h"

namespace sluice::invoker_test {

class Machines {
 public:
  struct Machine {
    data::Arenas arenas{{.all = Bytes::mb(64)}};
    data::ObjectStore objects;
    std::optional<bus::ObjectExchange> exchange;
    std::vector<Event> events;
    std::unique_ptr<invoker::Agent> agent;  // none: the gateway
  };

  // `workflow` is of the function `copy`, which hands its inputs on. The last machine is the gateway.
  Machines(const std::string& workflow, std::uint32_t count, Duration silent_after = Duration::s(10))
      : application_(std::make_shared<const Application>(application_of(
            "application: a\nslo: 60s\nfunctions:\n"
            "  copy: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 2.0, 0.0]]}}\nworkflow:\n" +
            workflow))),
        scheduler_(policy::make_scheduler("fifo", {}).value()) {
    scheduler_.observe(ApplicationDeployed{ApplicationId(0), application_}, now());
    for (std::uint32_t m = 0; m <= count; ++m) {
      Machine& added = machines_.emplace_back();
      bus::ObjectExchange::Options options{.silent_after = silent_after};
      if (m < count) options.here = {InvokerId(m)};
      added.exchange.emplace(added.objects, options);
      for (std::uint32_t other = 0; other < m; ++other) connect(m, other, count);
    }
    for (std::uint32_t m = 0; m < count; ++m) join(m);
    resolver_.emplace(*gateway().exchange, gateway().objects);
  }

  // Called with every event before the scheduler sees it.
  std::function<void(const Event&)> watch = [](const Event&) {};
  [[nodiscard]] Machine& machine(std::uint32_t m) { return machines_[m]; }
  [[nodiscard]] Machine& gateway() { return machines_.back(); }
  [[nodiscard]] core::Scheduler& scheduler() { return scheduler_; }
  // On which machines a stage ran, in order.
  [[nodiscard]] const std::vector<std::uint32_t>& ran(std::uint32_t stage) { return ran_[stage]; }
  [[nodiscard]] std::uint32_t where(BatchId batch) const { return started_.at(batch).invoker.value(); }
  [[nodiscard]] StageId stage_of(BatchId batch) const { return started_.at(batch).members[0].stage; }
  void drain(std::uint32_t m) { scheduler_.observe(InvokerDraining{InvokerId(m)}, now()); }
  // Other machines hear nothing from this one and it hears nothing from them; the scheduler does.
  void cut(std::uint32_t m) { cut_.insert(m); }

  // The answer: outputs as "[shape] values; …", or what went wrong.
  std::string call(const std::vector<float>& x, const std::vector<std::int64_t>& shape) {
    const RequestId id(++requests_);
    const auto arena = gateway().arenas.of("default").value();
    const data::Block block = *arena->allocate(x.size() * sizeof(float));
    if (!x.empty()) std::memcpy(block.data(), x.data(), block.size());
    gateway().objects.open(id, std::make_shared<const data::Tensors>(data::Tensors{
                                   {.info = {"x", DataType::fp32, shape}, .block = block, .size = block.size()}}));
    const auto known = data::Values(gateway().objects, *application_, {id}, *arena).known_after(StageId::none());
    scheduler_.observe(RequestArrived{.id = id,
                                      .application = ApplicationId(0),
                                      .tenant = TenantId(0),
                                      .deadline = now() + Duration::s(60),
                                      .verdicts = known->verdicts,
                                      .fan_outs = known->fan_outs},
                       now());
    answer_.reset();
    for (const Time until = now() + Duration::s(30); !answer_ && now() < until;) step();
    for (const ReleaseObjects& release : releases_) act(release.invoker, release);
    releases_.clear();
    gateway().objects.release(id);
    gateway().exchange->forget(id);
    return answer_.value_or("no answer");
  }
  // Requests of which something is left.
  [[nodiscard]] std::size_t left() const {
    std::size_t out = 0;
    for (const Machine& machine : machines_) out += machine.objects.requests();
    return out;
  }

 private:
  struct Line {
    std::uint32_t from, to;
    bus::Wire wire;
  };
  static Time now() { return data::now(); }

  void connect(std::uint32_t a, std::uint32_t b, std::uint32_t gateway) {
    bus::Wire& there = lines_.emplace_back(Line{a, b, {}}).wire;
    bus::Wire& back = lines_.emplace_back(Line{b, a, {}}).wire;
    const auto place = [&](std::uint32_t m) { return m == gateway ? InvokerId::none() : InvokerId(m); };
    machines_[a].exchange->connect(place(b), ends_.emplace_back(there, back));
    machines_[b].exchange->connect(place(a), ends_.emplace_back(back, there));
  }
  void join(std::uint32_t m) {
    Machine& added = machines_[m];
    invoker::AgentOptions options;
    options.spawner.worker = test::worker_program();
    options.hang_least = Duration::s(30);
    options.others = &*added.exchange;
    added.agent = std::make_unique<invoker::Agent>(
        options, added.arenas, added.objects,
        invoker::AgentHooks{
            .event = [&added](Event event) { added.events.push_back(std::move(event)); }, .log = {}, .note = {}});
    EXPECT_TRUE(added.agent->start().ok());
    added.agent->deploy(ApplicationId(0), application_);
    scheduler_.observe(InvokerJoined{.id = InvokerId(m), .epoch = 1, .capacity = {.vcpu = 1, .gpus = 0}}, now());
  }
  void step() {
    for (Line& line : lines_) {
      if (cut_.contains(line.from) || cut_.contains(line.to)) line.wire.drop_all();
    }
    for (Machine& machine : machines_) {
      if (machine.agent) machine.agent->look();
      machine.exchange->work(now());
      for (const Event& event : std::exchange(machine.events, {})) {
        watch(event);
        scheduler_.observe(event, now());
      }
    }
    Commands commands;
    scheduler_.decide(now(), commands);
    ASSERT_EQ(scheduler_.broken_invariant(), "");
    for (Command& command : commands.list) std::visit([&](auto& action) { carry(action); }, command.action);
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  void act(InvokerId invoker, Action action) {
    Command command{.action = std::move(action)};
    machines_[invoker.value()].agent->act(command);
  }
  void carry(const Accept&) {}
  void carry(const MakePlans& wanted) { scheduler_.observe(PlansMade{wanted.application, wanted.revision}, now()); }
  void carry(const Reject&) { answer_ = "rejected"; }
  void carry(const StartBatch& start) {
    started_[start.id] = start;
    for (const BatchMember& member : start.members) ran_[member.stage.value()].push_back(start.invoker.value());
    act(start.invoker, start);
  }
  // Objects are released when the outputs were taken.
  void carry(const ReleaseObjects& release) { releases_.push_back(release); }
  template <class Other>
  void carry(const Other& other) requires requires {
    other.invoker;
  }
  { act(other.invoker, other); }
  void carry(const Reply& reply) {
    if (reply.outcome != RequestOutcome::finished) {
      answer_ = reply.error;
      return;
    }
    const auto arena = gateway().arenas.of("default").value();
    const auto text = std::make_shared<std::string>();
    ticket_ = resolver_->resolve({.request = reply.request,
                                  .places = reply.places,
                                  .arena = arena,
                                  .attempt =
                                      [this, reply, arena, text](data::Missing& missing) {
                                        const auto outputs =
                                            data::Values(gateway().objects, *application_,
                                                         {reply.request, reply.outermost}, *arena, &missing)
                                                .outputs();
                                        *text = outputs ? text_of(*outputs) : outputs.error().message;
                                      },
                                  .done = [this, text](const bus::Resolver::Missed&) { answer_ = *text; }});
    if (!ticket_) answer_ = *text;
  }
  static std::string text_of(const data::Tensors& tensors) {
    std::string out;
    for (const data::Tensor& tensor : tensors) {
      out += str(out.empty() ? "" : "; ", test::shape_text(tensor), test::numbers_text(tensor));
    }
    return out;
  }

  std::shared_ptr<const Application> application_;
  core::Scheduler scheduler_;
  std::deque<Line> lines_;
  std::deque<bus::End> ends_;
  std::deque<Machine> machines_;
  std::optional<bus::Resolver> resolver_;
  std::optional<bus::Resolver::Ticket> ticket_;
  std::set<std::uint32_t> cut_;
  std::map<BatchId, StartBatch> started_;
  std::map<std::uint32_t, std::vector<std::uint32_t>> ran_;
  std::vector<ReleaseObjects> releases_;
  std::optional<std::string> answer_;
  std::uint64_t requests_ = 0;
};

}  // namespace sluice::invoker_test
