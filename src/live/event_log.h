// EventLog: everything the scheduler is told, and a hash of everything it decides, on disk before its commands leave.
// Survives the end of the process; `sluice replay` plays it again. A full disk stops the log, not the platform, and is
// told once. Segments are bounded: a new one begins with a save of the scheduler beside it, and only the newest stay.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"
#include "core/scheduler.h"
#include "record/log_writer.h"
#include "wire/channel.h"

namespace sluice::live {

class EventLog {
 public:
  struct Options {
    std::string directory;
    std::uint64_t epoch = 0;  // of this start; part of the names
    std::uint64_t segment_bytes = 256u << 20;
    std::uint64_t segments_kept = 4;
  };
  [[nodiscard]] static Result<EventLog> open(const Options& options, const record::LogHeader& header);
  EventLog(EventLog&&) noexcept = default;

  void observed(const Event& event, Time at);
  void decided(const Commands& commands, Time at);
  // To disk. An error once, when it first fails.
  [[nodiscard]] Status flush();
  // After flush(): begins a new segment if this one is large.
  void rotate_if_due(core::Scheduler& scheduler);

 private:
  EventLog(const Options& options, const record::LogHeader& header);
  [[nodiscard]] Status begin_segment();
  [[nodiscard]] std::string path(std::uint64_t segment, const char* ending) const;

  Options options_;
  record::LogHeader header_;
  std::unique_ptr<std::string> buffer_;
  std::unique_ptr<record::LogWriter> writer_;
  wire::Descriptor file_;
  std::uint64_t segment_ = 0, written_ = 0;
  bool broken_ = false;
};

}  // namespace sluice::live
