#include "live/event_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/text.h"
#include "record/command_hash.h"

namespace sluice::live {

EventLog::EventLog(const Options& options, const record::LogHeader& header)
    : options_(options),
      header_(header),
      buffer_(std::make_unique<std::string>()),
      writer_(std::make_unique<record::LogWriter>(*buffer_)) {}

Result<EventLog> EventLog::open(const Options& options, const record::LogHeader& header) {
  EventLog log(options, header);
  if (const Status begun = log.begin_segment(); !begun) return begun.error();
  return log;
}

std::string EventLog::path(std::uint64_t segment, const char* ending) const {
  return str(options_.directory, "/events-", options_.epoch, "-", segment, ending);
}

Status EventLog::begin_segment() {
  file_ = wire::Descriptor(::open(path(segment_, ".log").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_.valid()) {
    return Error{ErrorCode::io,
                 str("the event log ", path(segment_, ".log"), " cannot be written: ", std::strerror(errno))};
  }
  written_ = 0;
  writer_->header(header_);
  return flush();
}

void EventLog::observed(const Event& event, Time at) {
  if (!broken_) writer_->observed(event, at);
}

void EventLog::decided(const Commands& commands, Time at) {
  if (!broken_) writer_->decided({.at = at, .commands = commands.list.size(), .hash = record::hash_of(commands)});
}

Status EventLog::flush() {
  std::string_view left = *buffer_;
  while (!left.empty() && !broken_) {
    const ssize_t wrote = ::write(file_.get(), left.data(), left.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      broken_ = true;
      buffer_->clear();
      return Error{ErrorCode::io, str("the event log ", path(segment_, ".log"), " has stopped: ", std::strerror(errno),
                                      ". Requests go on; what happens from here on cannot be replayed")};
    }
    left.remove_prefix(static_cast<std::size_t>(wrote));
    written_ += static_cast<std::uint64_t>(wrote);
  }
  buffer_->clear();
  return Done{};
}

void EventLog::rotate_if_due(core::Scheduler& scheduler) {
  if (broken_ || written_ < options_.segment_bytes) return;
  ++segment_;
  std::ofstream(path(segment_, ".save"), std::ios::binary) << scheduler.save();
  if (!begin_segment()) broken_ = true;
  if (segment_ < options_.segments_kept) return;
  for (const char* ending : {".log", ".save"}) (void)::unlink(path(segment_ - options_.segments_kept, ending).c_str());
}

}  // namespace sluice::live
