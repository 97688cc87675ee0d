// `sluice reproduce`: threads, clocks and files for what reproduce/ plays.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/worker_path.h"
#include "report/reproduce_log.h"
#include "report/reproduce_page.h"
#include "report/reproduce_text.h"
#include "reproduce/admission.h"
#include "reproduce/azure_rows.h"
#include "reproduce/esg.h"
#include "spec/csv/profile_csv.h"
#include "spec/load.h"

namespace sluice::cli {
namespace {

namespace fs = std::filesystem;

std::size_t cores() {
  return std::max(1u, std::thread::hardware_concurrency());
}

void run_on_all_cores(std::size_t count, const std::function<void(std::size_t)>& task) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) task(i);
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(cores(), count); ++i) threads.emplace_back(work);
  work();
}

double time_us(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

Result<reproduce::Profiles> profiles_in_folder(const std::string& folder) {
  reproduce::Profiles out;
  for (const std::string_view name : reproduce::function_names()) {
    const std::string file = fmt::format("{}/{}.csv", folder, name);
    if (!fs::exists(file)) continue;
    const auto text = spec::read_from_disk(file);
    if (!text) return text.error();
    const spec::ProfileCsv csv = spec::read_profile_csv(*text);
    if (!csv.ok()) {
      const spec::CsvError& first = csv.errors.front();
      return Error{ErrorCode::invalid, fmt::format("{}:{}:{}: {}", file, first.line, first.column, first.message)};
    }
    out.emplace(name, csv.table);
  }
  if (out.empty()) {
    return Error{ErrorCode::not_found,
                 fmt::format("'{}' has no profile; one is called {}.csv", folder, reproduce::function_names().front())};
  }
  return out;
}

// A document of kind functions: those that have a profile.
Result<reproduce::Profiles> profiles_in_file(const std::string& file) {
  const spec::Loaded loaded = spec::load(file);
  for (const spec::Diagnostic& d : loaded.diagnostics.sorted()) fmt::print(stderr, "{}\n", to_string(d));
  if (!loaded.document) return Error{ErrorCode::invalid, fmt::format("{} cannot be read", file)};
  const auto* list = std::get_if<spec::FunctionList>(&*loaded.document);
  if (list == nullptr) return Error{ErrorCode::invalid, fmt::format("{} is no list of functions", file)};
  reproduce::Profiles out;
  for (const Function& function : list->functions) {
    if (!std::holds_alternative<std::monostate>(function.profile)) out.emplace(function.name, function.profile);
  }
  return out;
}

// Where the sample of the traces would be, if this program is not where it was built or unpacked.
std::string sample_of_traces() {
  const std::string found = example_folder("traces");
  return found.empty() ? "examples/traces" : found;
}

bool plays_the_sample(const ReproduceOptions& options) {
  return options.data.empty() && std::ranges::any_of(options.sweeps, reproduce::is_azure_sweep);
}

Result<reproduce::EsgOptions> esg_options(const ReproduceOptions& options) {
  reproduce::EsgOptions out{
      .full = options.full, .streams = options.streams, .requests = options.requests, .sweeps = options.sweeps};
  for (const std::string& name : options.settings) {
    const auto setting = reproduce::setting_of(name);
    if (!setting) {
      return Error{ErrorCode::not_found,
                   fmt::format("there is no setting '{}'; write strict, moderate or relaxed, a dash, and light, normal "
                               "or heavy",
                               name)};
    }
    out.settings.push_back(*setting);
  }
  out.data = options.data.empty() ? sample_of_traces() : options.data;
  if (options.profile.empty()) return out;
  auto profiles =
      fs::is_directory(options.profile) ? profiles_in_folder(options.profile) : profiles_in_file(options.profile);
  if (!profiles) return profiles.error();
  out.profiles = std::move(profiles).value();
  return out;
}

Status write(const std::string& file, const std::string& text) {
  errno = 0;
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", file, std::strerror(errno))};
  return Done{};
}

// What can be wrong with places to write to is said before hours of work.
Status check_places(const ReproduceOptions& options) {
  if (!options.html.empty() && !std::ofstream(options.html, std::ios::app))
    return Error{ErrorCode::io, fmt::format("cannot write '{}': {}", options.html, std::strerror(errno))};
  if (options.csv.empty()) return Done{};
  std::error_code problem;
  fs::create_directories(options.csv, problem);
  if (problem)
    return Error{ErrorCode::io, fmt::format("cannot make the folder '{}': {}", options.csv, problem.message())};
  return Done{};
}

// What of the options is of another paper.
Status check_admission(const ReproduceOptions& options) {
  const auto refuse = [](std::string_view option) {
    return Error{ErrorCode::invalid, fmt::format("reproduce admission has no {}; it has --full", option)};
  };
  if (!options.settings.empty()) return refuse("--setting");
  if (!options.sweeps.empty()) return refuse("--sweep");
  if (options.streams) return refuse("--streams");
  if (options.requests) return refuse("--requests");
  if (!options.profile.empty()) return refuse("--profile");
  if (!options.data.empty()) return refuse("--data");
  return Done{};
}

Result<std::vector<reproduce::Row>> play_admission(const ReproduceOptions& options) {
  if (const Status usable = check_admission(options); !usable) return usable.error();
  Progress progress("reproducing admission", 0);
  return reproduce::reproduce_admission({.full = options.full},
                                        {.run = run_on_all_cores,
                                         .at_once = cores(),
                                         .expect = [&](std::uint64_t work) { progress.expect(work); },
                                         .done = [&](std::uint64_t work) { progress.add(work); }});
}

Result<std::vector<reproduce::Row>> play_esg(const ReproduceOptions& options) {
  const auto esg = esg_options(options);
  if (!esg) return esg.error();
  if (plays_the_sample(options))
    fmt::print(stderr, "note: a sample of the traces is played, {}; --data DIR takes the whole ones\n", esg->data);
  report::ReproduceLog log(options.csv);
  Progress progress("reproducing esg", 0);
  reproduce::Means means{.run = run_on_all_cores,
                         .at_once = cores(),
                         .expect = [&](std::uint64_t work) { progress.expect(work); },
                         .done = [&](std::uint64_t work) { progress.add(work); },
                         .time_us = time_us};
  if (!options.csv.empty()) means.log = [&](const reproduce::Trial& trial) { return log.open(trial); };
  auto rows = reproduce::reproduce_esg(*esg, means);
  if (const Status logged = log.status(); !logged) return logged.error();
  return rows;
}

}  // namespace

int reproduce_command(const ReproduceOptions& options) {
  if (const Status places = check_places(options); !places) return failed(places.error().message);
  const auto rows = options.paper == "admission" ? play_admission(options) : play_esg(options);
  if (!rows) return failed(rows.error().message);
  if (!options.csv.empty()) {
    if (const Status written = write(options.csv + "/rows.csv", reproduce::to_csv(*rows)); !written)
      return failed(written.error().message);
  }
  if (!options.html.empty()) {
    if (const Status written = write(options.html, report::reproduce_html(options.paper, *rows)); !written)
      return failed(written.error().message);
  }
  const auto heading = [](std::string_view text) { return bold(text); };
  fmt::print("{}\n", options.json ? reproduce::to_json(options.paper, *rows)
                                  : report::text_of(*rows, {.markdown = options.markdown, .heading = heading}));
  return 0;
}

}  // namespace sluice::cli
