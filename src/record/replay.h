// Replay: feeds a recorded log to a scheduler and compares what it wants done, decision by decision. The third driver
// beside the live server and the simulator.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "core/scheduler.h"
#include "record/log_reader.h"

namespace sluice::record {

// A decision that gave other commands than when it was recorded.
struct Difference {
  std::uint64_t events = 0;    // observed before it
  std::uint64_t decision = 0;  // its number, from 1
  Decided recorded, replayed;
};

struct Replayed {
  std::uint64_t events = 0, decisions = 0, commands = 0;
  std::optional<Difference> difference;  // the first; replay stops there, what follows belongs to other commands
  std::optional<Error> cut_off;          // the last record of the log is torn; those before it were replayed
};

// The scheduler a log was recorded with, before its first event.
[[nodiscard]] Result<std::unique_ptr<core::Scheduler>> make_scheduler(const LogHeader& header);
// What its policy derives from the plans of an application that is about to be deployed on these machines.
[[nodiscard]] policy::Derive derives_of(const LogHeader& header, const std::vector<NodeGroup>& machines);

// Makes it what it was when the log began. REQUIRES: the header says that the log begins with a save.
[[nodiscard]] Status load_save(const LogHeader& header, std::string_view save, core::Scheduler& scheduler);

// REQUIRES: `scheduler` has observed nothing, or is as load_save() left it. An error names the byte of the log that
// cannot be replayed.
[[nodiscard]] Result<Replayed> replay(LogReader& log, core::Scheduler& scheduler);

}  // namespace sluice::record
