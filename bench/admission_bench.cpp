// What a decision of reserved admission takes at 1,000 machines and 10,000 promises: the question alone, and the whole
// step with booking and dispatch. usage: bench_admission
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "base/text.h"
#include "core/scheduler.h"
#include "policy/catalog.h"

namespace sluice {
namespace {

using Clock = std::chrono::steady_clock;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Times {
  std::vector<double> us;
  [[nodiscard]] std::string text() {
    std::sort(us.begin(), us.end());
    const auto at = [&](double q) { return us[static_cast<std::size_t>(q * static_cast<double>(us.size() - 1))]; };
    return fmt::format("p50 {:7.1f}   p90 {:7.1f}   p99 {:7.1f}   most {:7.1f} us", at(0.5), at(0.9), at(0.99), at(1));
  }
};

class Timed final : public policy::Admission {
 public:
  Timed(std::unique_ptr<policy::Admission> inner, Times& times) : inner_(std::move(inner)), times_(times) {}
  policy::Admitted admit(const policy::View& view, const RequestArrived& request) override {
    const auto start = Clock::now();
    policy::Admitted out = inner_->admit(view, request);
    times_.us.push_back(us_since(start));
    return out;
  }
  void visit(Archive& archive) override { inner_->visit(archive); }

 private:
  std::unique_ptr<policy::Admission> inner_;
  Times& times_;
};

// A chain of four stages, each with every share of a GPU and of 8 vCPUs.
Application chain() {
  Application out{.name = "chain"};
  out.objective.latency = Duration::ms(2'000);
  for (std::uint32_t s = 0; s < 4; ++s) {
    ProfileTable table;
    for (const int vcpu : {1, 2, 4, 8}) {
      for (const int slices : {1, 2, 3, 4, 7})
        table.rows.push_back({.configuration = configuration(1, vcpu, slices),
                              .mean_ms = 200.0 / (0.4 + 0.6 * slices) / (0.8 + 0.2 * vcpu)});
    }
    out.functions.push_back({.name = str("f", s), .cpu = Body{}, .gpu = Body{}, .profile = std::move(table)});
    Stage stage{.name = str("s", s), .function = FunctionId(s)};
    if (s > 0) stage.after.push_back(StageId(s - 1));
    out.workflow.stages.push_back(std::move(stage));
  }
  return out;
}

void run(std::string_view name, std::uint32_t machines, std::size_t promises, const policy::Parameters& parameters,
         double objective_ms) {
  Times asked, steps;
  auto policies = policy::make_scheduler("admission", parameters);
  policies->admission = std::make_unique<Timed>(std::move(policies->admission), asked);
  core::Scheduler scheduler(std::move(*policies));
  Time now = Time::from_ns(0);
  scheduler.observe(ApplicationDeployed{ApplicationId(0), std::make_shared<Application>(chain())}, now);
  for (std::uint32_t i = 0; i < machines; ++i) {
    scheduler.observe(
        InvokerJoined{
            .id = InvokerId(i), .epoch = 1, .capacity = {.vcpu = 16, .gpus = 1, .slices_per_gpu = 7}, .warm = true},
        now);
  }
  Commands commands;
  scheduler.decide(now, commands);
  std::uint64_t request = 0;
  const auto arrive = [&](double within_ms) {
    scheduler.observe(
        RequestArrived{
            .id = RequestId(++request), .application = ApplicationId(0), .deadline = now + Duration::ms(within_ms)},
        now);
  };
  // Three promises each: the first stage starts. All at one instant, so that nothing ends meanwhile.
  for (std::size_t i = 0; i < promises / 3; ++i) arrive(2'000);
  scheduler.decide(now, commands = {});
  asked.us.clear();
  std::size_t accepted = 0;
  for (int i = 0; i < 500; ++i) {
    now = now + Duration::us(1);
    arrive(objective_ms);
    const auto start = Clock::now();
    scheduler.decide(now, commands = {});
    steps.us.push_back(us_since(start));
    for (const Command& command : commands.list) accepted += std::holds_alternative<Accept>(command.action) ? 1 : 0;
  }
  fmt::print("{}: {} machines, {} promises, {} of 500 accepted\n  question   {}\n  whole step {}\n", name, machines,
             promises, accepted, asked.text(), steps.text());
}

}  // namespace
}  // namespace sluice

int main() {
  sluice::run("cheapest", 1'000, 10'000, {{"prices", 0}}, 2'000);
  sluice::run("earliest", 1'000, 10'000, {{"prices", 0}, {"cost_weight", 0}}, 2'000);
  sluice::run("refused", 1'000, 10'000, {{"prices", 0}}, 30);
  // More is asked for than can be done, and times are exact: all starts are weighed by what they spoil.
  sluice::run("scarce", 1'000, 10'000, {}, 2'000);
  sluice::run("scarce, few machines", 16, 160, {}, 2'000);
}
