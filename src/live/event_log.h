// EventLog: everything the scheduler is told, and a hash of everything it decides, in the system's page cache before
// its commands leave: it survives the end of the process, however that comes. `sluice replay` plays it again. A full
// disk stops the log, not the platform, and is told once. Segments are bounded: a new one goes on from a save of the
// scheduler beside it. What takes long, room for the log and saves, another thread does. Logs of all starts together
// are bounded too: the oldest go first.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "core/scheduler.h"
#include "invoker/task_thread.h"
#include "live/appended_file.h"
#include "record/log_writer.h"

namespace sluice::live {

class EventLog {
 public:
  struct Options {
    std::string directory;
    std::uint64_t epoch = 0;  // of this start; part of the names
    std::uint64_t segment_bytes = 256u << 20;
    std::uint64_t bytes_max = 1u << 30;  // of all segments and saves of all starts
  };
  [[nodiscard]] static Result<EventLog> open(const Options& options, const record::LogHeader& header);
  EventLog(EventLog&&) noexcept = default;
  ~EventLog();

  void observed(const Event& event, Time at);
  void decided(const Commands& commands, Time at);
  // Into the page cache. An error once, when it first fails.
  [[nodiscard]] Status flush();
  // After flush(): begins a new segment if this one is large.
  void rotate_if_due(core::Scheduler& scheduler);

 private:
  EventLog(Options options, record::LogHeader header);
  [[nodiscard]] Status begin_segment();
  [[nodiscard]] std::string path(const char* ending) const;

  Options options_;
  record::LogHeader header_;
  std::unique_ptr<std::string> buffer_;
  std::unique_ptr<record::LogWriter> writer_;
  std::shared_ptr<AppendedFile> file_;
  std::uint64_t segment_ = 0;
  bool broken_ = false;
  std::unique_ptr<invoker::TaskThread> saving_;
};

// Deletes the segments, with their saves, that were begun first, until what is left has at most `bytes_max`; `newest`
// stays. Named events-EPOCH-SEGMENT.
void forget_segments(const std::string& directory, std::uint64_t bytes_max, const std::string& newest);

// The last instant that a log of the directory has: no later start may tell its scheduler an earlier one. Zero: none.
[[nodiscard]] Time last_instant(const std::string& directory);

}  // namespace sluice::live
