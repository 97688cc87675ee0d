#include "cli/profile_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/problems.h"
#include "cli/progress.h"
#include "cli/read_file.h"
#include "cli/temporary_folder.h"
#include "cli/terminal.h"
#include "cli/units.h"
#include "cli/worker_path.h"
#include "data/arena.h"
#include "data/json.h"
#include "invoker/profiler.h"
#include "live/sample.h"
#include "spec/csv/profile_csv.h"
#include "spec/include.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

constexpr Bytes kArena = Bytes::gb(4);  // of addresses; memory is taken when it is written

volatile std::sig_atomic_t interrupted = 0;

// The first Ctrl-C is noted, a second one ends the program.
void note_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { interrupted = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
}

Result<std::vector<Function>> functions_of(const spec::Document& document, const ProfileOptions& options) {
  std::vector<Function> all;
  if (const auto* application = std::get_if<Application>(&document)) all = application->functions;
  if (const auto* list = std::get_if<spec::FunctionList>(&document)) all = list->functions;
  if (all.empty()) return Error{ErrorCode::invalid, fmt::format("{} has no functions", options.file)};
  std::vector<Function> out;
  for (const std::string& name : options.functions) {
    const auto found = std::ranges::find_if(all, [&](const Function& f) { return f.name == name; });
    if (found == all.end())
      return Error{ErrorCode::not_found, fmt::format("{} has no function '{}'", options.file, name)};
    out.push_back(*found);
  }
  if (out.empty()) out = std::move(all);
  for (Function& function : out) {
    for (std::optional<Body>* body : {&function.cpu, &function.gpu}) {
      if (*body && !(*body)->model.empty()) (*body)->model = spec::beside(options.file, (*body)->model);
    }
  }
  return out;
}

invoker::ProfilePlan plan_of(const ProfileOptions& options) {
  invoker::ProfilePlan out{.budget = options.budget};
  if (!options.batch.empty()) out.batch = options.batch;
  if (!options.vcpu.empty())
    out.vcpu = options.vcpu;
  else if (std::thread::hardware_concurrency() >= 2)
    out.vcpu = {1, 2};
  return out;
}

struct Measured {
  std::string function, file, error;  // error: nothing was measured
  ProfileTable table;
  std::size_t all = 0;  // configurations that were asked for
};

class Profiler {
 public:
  Profiler(const ProfileOptions& options, const spec::Samples& samples, invoker::Spawner& spawner,
           std::shared_ptr<data::Arena> arena)
      : options_(options), samples_(samples), spawner_(spawner), arena_(std::move(arena)), plan_(plan_of(options)) {}

  [[nodiscard]] Measured run(const Function& function) {
    Measured out{.function = function.name, .all = plan_.batch.size() * plan_.vcpu.size()};
    auto table = measure(function);
    if (!table) {
      out.error = interrupted != 0 ? "stopped before anything was measured" : table.error().message;
      return out;
    }
    out.table = std::move(*table);
    out.file = (std::filesystem::path(options_.out) / (function.name + ".csv")).string();
    std::error_code ignored;
    std::filesystem::create_directories(options_.out, ignored);
    if (const Status written = write_file(out.file, spec::write_profile_csv(out.table)); !written)
      out.error = written.error().message;
    return out;
  }

 private:
  Result<ProfileTable> measure(const Function& function) {
    plan_.sample.reset();
    if (const auto sample = samples_.find(function.name); sample != samples_.end()) {
      auto placed = live::Sample::of_document(sample->second).place(function, *arena_);
      if (!placed) return placed.error();
      plan_.sample = std::move(*placed);
    }
    Progress progress("profiling " + function.name, plan_.batch.size() * plan_.vcpu.size());
    return invoker::measure(function, plan_, spawner_, arena_, [&](const invoker::ProfileProgress& at) {
      progress.say(
          fmt::format("profiling {}  {}/{}  b{} @ {} vCPU", function.name, at.done, at.all, at.at.batch, at.at.vcpu));
      if (at.row) progress.add(1);
      return interrupted == 0;
    });
  }

  const ProfileOptions& options_;
  const spec::Samples& samples_;
  invoker::Spawner& spawner_;
  std::shared_ptr<data::Arena> arena_;
  invoker::ProfilePlan plan_;
};

void print(const Measured& measured, const std::string& document) {
  if (!measured.error.empty()) {
    failed(fmt::format("function '{}': {}", measured.function, measured.error));
    return;
  }
  fmt::print("{} {}: {} of {} configurations measured, written to {}\n", green("ok:"), measured.function,
             measured.table.rows.size(), measured.all, measured.file);
  Table table({"batch", "vCPU", "mean", "sd"});
  for (const ProfileRow& row : measured.table.rows) {
    table.add({fmt::format("{}", row.configuration.batch), fmt::format("{}", row.configuration.vcpu),
               ms_text(row.mean_ms), ms_text(row.sd_ms)});
  }
  fmt::print("{}", table.text("  "));
  fmt::print("  use it: {}: {{…, profile: {}}}\n", measured.function,
             spec::relative_to(document, std::filesystem::path(measured.file).lexically_normal().string()));
}

data::Json to_json(const Measured& measured) {
  data::JsonArray rows;
  for (const ProfileRow& row : measured.table.rows) {
    rows.push_back({data::JsonObject{{"batch", {std::int64_t{row.configuration.batch}}},
                                     {"vcpu", {std::int64_t{row.configuration.vcpu}}},
                                     {"vgpu", {std::int64_t{row.configuration.slices}}},
                                     {"mean_ms", {row.mean_ms}},
                                     {"sd_ms", {row.sd_ms}}}});
  }
  return {data::JsonObject{{"function", {measured.function}},
                           {"file", {measured.file}},
                           {"error", {measured.error}},
                           {"configurations", {static_cast<std::int64_t>(measured.all)}},
                           {"rows", {std::move(rows)}}}};
}

}  // namespace

int profile_command(const ProfileOptions& options) {
  const spec::Loaded loaded = spec::load(options.file);
  if (!loaded.document) {
    fmt::print("{}", problems(loaded));
    return 1;
  }
  const auto functions = functions_of(*loaded.document, options);
  if (!functions) return failed(functions.error().message);
  const TemporaryFolder folder;
  auto spawning = spawner_options(folder.path());
  if (!spawning) return failed(spawning.error().message);
  auto arena = data::Arena::make(kArena);
  if (!arena) return failed(arena.error().message);
  invoker::Spawner spawner(std::move(*spawning));
  Profiler profiler(options, loaded.samples, spawner, *arena);
  note_interrupts();
  data::JsonArray all;
  bool right = true, any = false;
  for (const Function& function : *functions) {
    if (interrupted != 0) break;
    const Measured measured = profiler.run(function);
    right = right && measured.error.empty();
    any = any || measured.error.empty();
    if (options.json)
      all.push_back(to_json(measured));
    else
      print(measured, options.file);
  }
  if (options.json) fmt::print("{}\n", data::to_text({data::JsonObject{{"functions", {std::move(all)}}}}));
  if (interrupted != 0 && any) fmt::print(stderr, "stopped; what was measured is kept\n");
  return right ? 0 : 1;
}

}  // namespace sluice::cli
