// What the bus costs a command: a call in process, and frames to a station and back.
#include <benchmark/benchmark.h>

#include "bus/machine.h"
#include "bus/remote_link.h"
#include "bus/station.h"

namespace sluice::bus {
namespace {

constexpr int kOfAStep = 64;  // commands of one decision

// Carries out nothing: what is measured is the way.
class Nothing : public Link {
 public:
  void deploy(ApplicationId, std::shared_ptr<const Application>) override {}
  void forget(ApplicationId) override {}
  void limit(const TenantLimit&) override {}
  void send(Command& command) override { last = command.id; }
  void receive(Time, Heard& out) override {
    if (!joined_) out.events.push_back(InvokerJoined{.id = InvokerId(0), .epoch = 1});
    joined_ = true;
    for (; finished > 0; --finished) out.events.push_back(BatchFinished{.results = {{}}});
  }
  [[nodiscard]] Time due() const override { return Time::max(); }
  CommandId last;
  int finished = 0;

 private:
  bool joined_ = false;
};

Command start(std::uint64_t id) {
  return {.id = CommandId(id),
          .action = StartBatch{.id = BatchId(id), .invoker = InvokerId(0), .members = {{.request = RequestId(id)}}}};
}

void in_process(benchmark::State& state) {
  Nothing machine;
  Link* link = &machine;
  benchmark::DoNotOptimize(link);
  std::uint64_t next = 0;
  Command command = start(0);
  for (auto _ : state) {
    command.id = CommandId(++next);
    link->send(command);
    benchmark::DoNotOptimize(machine.last);
  }
  state.SetItemsProcessed(state.iterations());
}

// A command there, an event back, with everything that is made of them on the way.
void by_frames(benchmark::State& state) {
  Wire up, down;
  End controller(down, up), invoker(up, down);
  Nothing machine;
  Station station(machine, invoker, {});
  RemoteLink link(controller, {});
  Time now = Time::from_ns(1);
  std::uint64_t next = 0;
  Heard heard;
  const auto step = [&] {
    now = now + Duration::us(100);
    link.flush(now);
    station.work(now);
    heard.clear();
    link.receive(now, heard);
  };
  step();
  for (auto _ : state) {
    for (int i = 0; i < kOfAStep; ++i) {
      Command command = start(++next);
      link.send(command);
    }
    machine.finished = kOfAStep;
    step();
    if (heard.events.size() != kOfAStep) state.SkipWithError("something was lost");
  }
  state.SetItemsProcessed(state.iterations() * kOfAStep);
}

BENCHMARK(in_process);
BENCHMARK(by_frames);

}  // namespace
}  // namespace sluice::bus

BENCHMARK_MAIN();
