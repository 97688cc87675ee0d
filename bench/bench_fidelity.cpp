// How far the simulator is from real time: `make bench-fidelity`. The same arrivals, applications and machine once in
// the simulator and once on the live platform with emulated functions, side by side. Takes as long as the workload. On
// a machine that has other work, give it a priority that the other work does not have (`chrt -f 10`).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "data/clock.h"
#include "live/platform.h"
#include "sim/world.h"
#include "spec/load.h"
#include "support/places.h"
#include "workload/stream.h"

namespace sluice::bench {
namespace {

std::string in_folder(const std::string& file) {
  return test::in_source("examples/live/" + file);
}

// What both come to, of the requests after the warm-up.
struct Figures {
  std::uint64_t requests = 0, met = 0, rejected = 0, failed = 0;
  std::vector<double> latencies_ms;  // of those that finished
  double mean_batch = 0;

  [[nodiscard]] double hit_rate() const { return static_cast<double>(met) / static_cast<double>(requests); }
  [[nodiscard]] double percentile_ms(double share) {
    if (latencies_ms.empty()) return 0;
    const auto at = static_cast<std::size_t>(share * static_cast<double>(latencies_ms.size() - 1));
    std::nth_element(latencies_ms.begin(), latencies_ms.begin() + static_cast<std::ptrdiff_t>(at), latencies_ms.end());
    return latencies_ms[at];
  }
};

class Counting final : public sim::Observer {
 public:
  explicit Counting(Figures& figures) : figures_(figures) {}
  void request(const sim::RequestRow& row) override {
    if (!row.measured) return;
    ++figures_.requests;
    figures_.met += row.ending == sim::Ending::met ? 1 : 0;
    figures_.rejected += row.ending == sim::Ending::rejected ? 1 : 0;
    figures_.failed += row.ending == sim::Ending::failed ? 1 : 0;
    if (row.ending == sim::Ending::met || row.ending == sim::Ending::late) {
      figures_.latencies_ms.push_back((row.finish - row.arrival).to_ms());
    }
  }
  void action(const sim::ActionRow&) override {}

 private:
  Figures& figures_;
};

Figures simulate(const Experiment& experiment) {
  Figures out;
  Counting counting(out);
  auto world = sim::World::make(experiment, {.seed = experiment.seed, .observer = &counting});
  CHECK(world.ok());
  const sim::RunResult result = (*world)->run();
  CHECK(!result.violation);
  out.mean_batch = result.mean_batch();
  return out;
}

std::string content_of(const std::string& file) {
  std::ostringstream out;
  out << std::ifstream(file).rdbuf();
  return out.str();
}

void deploy(live::Platform& platform, const Application& application) {
  const std::string file = application.name + ".yaml";
  std::atomic<bool> done = false;
  platform.deploy({.main = file, .files = {{file, content_of(in_folder(file))}}}, [&](Result<live::Deployed> deployed) {
    CHECK(deployed.ok());
    done = true;
    done.notify_all();
  });
  done.wait(false);
}

void sleep_until(Time at) {
  const Duration left = at - data::now();
  if (left <= Duration{}) return;
  const timespec length{left.count_ns() / 1'000'000'000, left.count_ns() % 1'000'000'000};
  (void)::clock_nanosleep(CLOCK_MONOTONIC, 0, &length, nullptr);
}

struct Batches {
  std::uint64_t rows = 0, batches = 0;
};
Batches batches_of(const live::Platform& platform) {
  Batches out;
  const auto snapshot = platform.snapshot();
  for (const live::Model& model : snapshot->models) {
    out.rows += model.stats.inferences;
    out.batches += model.stats.executions;
  }
  return out;
}

// A client that calls when the workload says, whatever was answered.
class Client {
 public:
  Client(live::Platform& platform, const Experiment& experiment) : platform_(platform), experiment_(experiment) {}

  Figures play() {
    std::vector<std::string> names;
    for (const Application& application : experiment_.applications) names.push_back(application.name);
    auto stream = workload::ArrivalStream::make(experiment_.workload, names, experiment_.seed);
    CHECK(stream.ok());
    const Time start = data::now() + Duration::ms(100);
    Batches before;
    std::uint64_t sent = 0;
    while (const auto arrival = stream->next()) {
      sleep_until(start + arrival->at);
      if (sent == experiment_.workload.warmup) before = batches_of(platform_);
      call(names[arrival->application], experiment_.applications[arrival->application].objective.latency,
           sent++ >= experiment_.workload.warmup);
    }
    CHECK(platform_.drain(Duration::s(30)));
    while (platform_.snapshot()->in_system > 0) sleep_until(data::now() + Duration::ms(10));  // as of a moment ago
    const Batches after = batches_of(platform_);
    const std::lock_guard lock(mutex_);
    figures_.mean_batch =
        static_cast<double>(after.rows - before.rows) / static_cast<double>(after.batches - before.batches);
    return std::move(figures_);
  }

 private:
  void call(const std::string& application, Duration objective, bool measured) {
    const auto block = platform_.arena("default")->allocate(sizeof(float));
    CHECK(block.has_value());
    data::Tensor x{.info = {"x", DataType::fp32, {1}}, .block = *block, .size = sizeof(float)};
    const Time began = data::now();
    (void)platform_.call(
        {.application = application, .inputs = std::make_shared<const data::Tensors>(data::Tensors{std::move(x)})},
        [this, began, objective, measured](const live::Answer& answer) {
          if (measured) count(answer, data::now() - began, objective);
        });
  }
  void count(const live::Answer& answer, Duration latency, Duration objective) {
    const std::lock_guard lock(mutex_);
    ++figures_.requests;
    const bool finished = answer.kind == live::AnswerKind::finished;
    figures_.met += finished && latency <= objective ? 1 : 0;
    figures_.rejected += answer.kind == live::AnswerKind::rejected ? 1 : 0;
    figures_.failed += !finished && answer.kind != live::AnswerKind::rejected ? 1 : 0;
    if (finished) figures_.latencies_ms.push_back(latency.to_ms());
  }

  live::Platform& platform_;
  const Experiment& experiment_;
  std::mutex mutex_;
  Figures figures_;  // guarded by mutex_
};

Figures play_live(const Experiment& experiment) {
  std::string folder = (std::filesystem::temp_directory_path() / "sluice-fidelity-XXXXXX").string();
  CHECK(::mkdtemp(folder.data()) != nullptr);
  live::PlatformOptions options;
  options.directory = folder;
  options.nodes = experiment.cluster.nodes;
  options.transfer = experiment.transfer;
  options.agent.spawner.worker = test::worker_program();
  options.agent.seed = experiment.seed;
  Figures out;
  {
    auto platform = live::Platform::start(std::move(options));
    CHECK(platform.ok());
    for (const Application& application : experiment.applications) deploy(**platform, application);
    out = Client(**platform, experiment).play();
  }
  std::filesystem::remove_all(folder);
  return out;
}

void row(const char* what, double simulated, double live, const char* difference) {
  fmt::print("{:<12} {:>10.2f} {:>10.2f} {:>12}\n", what, simulated, live, difference);
}

void print(Figures simulated, Figures live) {
  const auto points = [](double a, double b) { return fmt::format("{:+.2f} points", b - a); };
  const auto percent = [](double a, double b) { return fmt::format("{:+.1f} %", 100 * (b / a - 1)); };
  fmt::print("{:<12} {:>10} {:>10} {:>12}\n", "", "simulated", "live", "difference");
  const double hits = 100 * simulated.hit_rate(), live_hits = 100 * live.hit_rate();
  row("hit rate, %", hits, live_hits, points(hits, live_hits).c_str());
  for (const double p : {0.5, 0.95, 0.99}) {
    const double a = simulated.percentile_ms(p), b = live.percentile_ms(p);
    row(fmt::format("p{:.0f}, ms", p * 100).c_str(), a, b, percent(a, b).c_str());
  }
  row("mean batch", simulated.mean_batch, live.mean_batch, percent(simulated.mean_batch, live.mean_batch).c_str());
  row("rejected", static_cast<double>(simulated.rejected), static_cast<double>(live.rejected), "");
  row("failed", static_cast<double>(simulated.failed), static_cast<double>(live.failed), "");
}

}  // namespace
}  // namespace sluice::bench

int main(int count, char** arguments) {
  using namespace sluice;
  const std::string file = count > 1 ? arguments[1] : bench::in_folder("fidelity.yaml");
  const spec::Loaded loaded = spec::load(file);
  CHECK(loaded.document.has_value());
  const auto& experiment = std::get<Experiment>(*loaded.document);
  const bench::Figures simulated = bench::simulate(experiment);
  fmt::print("{}: {} requests after {} of warm-up, in real time …\n", experiment.name, experiment.workload.requests,
             experiment.workload.warmup);
  std::fflush(stdout);
  bench::print(simulated, bench::play_live(experiment));
}
