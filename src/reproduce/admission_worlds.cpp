#include "reproduce/admission_worlds.h"

#include <cmath>

#include "base/text.h"

namespace sluice::reproduce {
namespace {

constexpr std::uint64_t kRequests = 1'200;

// On CPU and GPU: what it holds, in whole milliseconds, and of how many vCPUs and slices.
struct Held {
  int vcpus, cpu_ms, slices, gpu_ms;
};

Function function_of(const std::string& name, const Held& held) {
  ProfileTable table;
  table.rows.push_back({.configuration = configuration(1, held.vcpus, 0), .mean_ms = double(held.cpu_ms)});
  table.rows.push_back({.configuration = configuration(1, 0, held.slices), .mean_ms = double(held.gpu_ms)});
  return {.name = name, .cpu = Body{}, .gpu = Body{}, .profile = std::move(table)};
}

Application application_of(ThesisDag dag, Duration objective) {
  constexpr std::uint32_t kMiddles = 10;
  const bool chain = dag == ThesisDag::chain;
  Application out{.name = chain ? "chain" : "branch"};
  out.objective.latency = objective;
  if (chain) out.objective.cost = kCostLimit * kCostUnit;
  // The front of the branching one takes 2 ms of the GPU instead of 3, and costs half.
  out.functions = {function_of("f1", chain ? Held{45, 4, 4, 3} : Held{45, 4, 3, 2}), function_of("f2", {50, 6, 3, 2}),
                   function_of("f3", {30, 2, 5, 6})};
  out.workflow.stages.push_back({.name = "f1", .function = FunctionId(0)});
  const std::uint32_t middles = chain ? 1 : kMiddles;
  Stage last{.name = "f3", .function = FunctionId(2)};
  for (std::uint32_t i = 0; i < middles; ++i) {
    out.workflow.stages.push_back(
        {.name = chain ? "f2" : str("f2-", i), .function = FunctionId(1), .after = {StageId(0)}});
    last.after.emplace_back(i + 1);
  }
  out.workflow.stages.push_back(std::move(last));
  // A vCPU for a millisecond is a twelfth of a unit, a slice two and a half.
  constexpr double kPerHour = 3.6e6;
  out.prices = {.vcpu_hour = kCostUnit / 12 * kPerHour, .vgpu_hour = kCostUnit * 2.5 * kPerHour};
  return out;
}

Experiment world_of(Application application, Arrivals arrivals) {
  Experiment out{.name = application.name};
  out.cluster.nodes = {{.vcpu = 50, .gpus = 1, .slices_per_gpu = 5}};
  out.applications = {std::move(application)};
  out.workload = {.arrivals = std::move(arrivals), .requests = kRequests, .warmup = 0};
  out.noise = Noise{};
  out.transfer = {.local_delay = {}, .remote_delay = {}};
  out.scheduler_time = SchedulerTime::none;
  return out;
}

// Each half is spread evenly over its part of the window; whole milliseconds if asked for.
Listed halves(double window_ms, double first_part, bool whole) {
  Listed out;
  const std::uint64_t half = kRequests / 2;
  const double first_ms = window_ms * first_part;
  const auto at = [&](double ms) { return Duration::ms(whole ? std::floor(ms) : ms); };
  for (std::uint64_t i = 0; i < half; ++i)
    out.at.push_back(at(static_cast<double>(i) * first_ms / static_cast<double>(half)));
  for (std::uint64_t i = 0; i < half; ++i)
    out.at.push_back(at(first_ms + static_cast<double>(i) * (window_ms - first_ms) / static_cast<double>(half)));
  return out;
}

Listed pillars(double window_ms) {
  constexpr std::uint64_t kPillars = 10;
  Listed out;
  for (std::uint64_t i = 0; i < kRequests; ++i)
    out.at.push_back(Duration::ms(static_cast<double>(i / (kRequests / kPillars)) * window_ms / kPillars));
  return out;
}

}  // namespace

double capacity_of(ThesisDag dag) {
  return dag == ThesisDag::chain ? 7'000.0 / 26 : 1'000.0 / 17;
}

Experiment table_41(Duration objective) {
  return world_of(application_of(ThesisDag::chain, objective), halves(1'200, 0.1, true));
}

std::string name_of(const ExtendedWorld& world) {
  constexpr std::array kShapes = {"uniform", "burst", "pillar", "poisson"};
  return str(world.dag == ThesisDag::chain ? "chain" : "branch", "/", kShapes[static_cast<std::size_t>(world.shape)],
             "/load-", world.load, "/error-", world.time_error * 100, "%");
}

Experiment extended(const ExtendedWorld& world) {
  const double rate = capacity_of(world.dag) * world.load;
  const double window_ms = static_cast<double>(kRequests) / rate * 1'000;
  Arrivals arrivals = Poisson{rate};
  if (world.shape == Shape::uniform) arrivals = halves(window_ms, 0.5, false);
  if (world.shape == Shape::burst) arrivals = halves(window_ms, 0.1, false);
  if (world.shape == Shape::pillar) arrivals = pillars(window_ms);
  const Duration objective = Duration::ms(world.dag == ThesisDag::chain ? 40 : 120);
  Experiment out = world_of(application_of(world.dag, objective), std::move(arrivals));
  out.noise->sigma = world.time_error;
  return out;
}

std::string name_of(const EsgOverload& world) {
  return str("esg-", name_of(world.objective), "/load-", world.load, "/error-5%");
}

Experiment esg_overload(const EsgOverload& world) {
  constexpr double kSeconds = 30;
  const double rate = heavy_rate() * world.load;
  const Length length{.requests = static_cast<std::uint64_t>(kSeconds * rate)};
  Experiment out = with_setting(make_evaluation({}, length).value(), {world.objective, Load::heavy});
  UniformGap gap = gap_of(Load::heavy);
  gap.low = gap.low * (1 / world.load);
  gap.high = gap.high * (1 / world.load);
  out.workload.arrivals = gap;
  out.workload.warmup = 0;
  return out;
}

}  // namespace sluice::reproduce
