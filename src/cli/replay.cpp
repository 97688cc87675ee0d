// `sluice replay`: a recorded log again, decision by decision.
#include "record/replay.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"

namespace sluice::cli {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const record::Decided& decided) {
  return {{"commands", decided.commands}, {"hash", fmt::format("{:016x}", decided.hash)}};
}

Json to_json(const record::LogHeader& header, const record::Replayed& run) {
  Json difference;  // null: none
  if (run.difference)
    difference = {{"event", run.difference->events},
                  {"decision", run.difference->decision},
                  {"time_ns", run.difference->recorded.at.count_ns()},
                  {"recorded", to_json(run.difference->recorded)},
                  {"replayed", to_json(run.difference->replayed)}};
  return {{"scheduler", header.scheduler},
          {"events", run.events},
          {"decisions", run.decisions},
          {"commands", run.commands},
          {"same", !run.difference},
          {"difference", std::move(difference)},
          {"cut_off", run.cut_off ? Json(run.cut_off->message) : Json()}};
}

void print(const record::LogHeader& header, const record::Replayed& run) {
  if (run.cut_off) fmt::print("warning: {}\n", run.cut_off->message);
  const std::string what =
      fmt::format("{} events and {} decisions of scheduler {}", run.events, run.decisions, header.scheduler);
  if (!run.difference) {
    fmt::print("{} {} replayed, all {} commands are the same\n", green("ok:"), what, run.commands);
    return;
  }
  const record::Difference& d = *run.difference;
  fmt::print("{} {} replayed, the last one differs\n", red("error:"), what);
  fmt::print(
      "  decision {} at {} ns, after event {}: {} commands with hash {:016x} were recorded, {} with {:016x} came\n",
      d.decision, d.recorded.at.count_ns(), d.events, d.recorded.commands, d.recorded.hash, d.replayed.commands,
      d.replayed.hash);
}

// The save beside a log: events-3-2.save for events-3-2.log.
Status begin_with_save(const std::string& file, const record::LogHeader& header, core::Scheduler& scheduler) {
  const std::string path = std::filesystem::path(file).replace_extension(".save").string();
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error{ErrorCode::not_found,
                 fmt::format("it goes on from a save, which is not there: {}: {}", path, std::strerror(errno))};
  }
  const std::string save{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const Status loaded = record::load_save(header, save, scheduler);
  if (!loaded) return Error{loaded.error().code, fmt::format("{}: {}", path, loaded.error().message)};
  return Done{};
}

}  // namespace

int replay_command(const ReplayOptions& options) {
  std::ifstream file(options.file, std::ios::binary);
  if (!file) return failed(fmt::format("{}: {}", options.file, std::strerror(errno)));
  auto log = record::LogReader::open(file);
  if (!log) return failed(fmt::format("{}: {}", options.file, log.error().message));
  auto scheduler = record::make_scheduler(log->header());
  if (!scheduler) return failed(fmt::format("{}: {}", options.file, scheduler.error().message));
  if (log->header().begins_with != 0) {
    if (const Status begun = begin_with_save(options.file, log->header(), **scheduler); !begun)
      return failed(fmt::format("{}: {}", options.file, begun.error().message));
  }
  const auto run = record::replay(*log, **scheduler);
  if (!run) return failed(fmt::format("{}: {}", options.file, run.error().message));
  if (options.json)
    fmt::print("{}\n", to_json(log->header(), *run).dump(2));
  else
    print(log->header(), *run);
  return run->difference ? 1 : 0;
}

}  // namespace sluice::cli
