#include "cli/server_log.h"

#include <unistd.h>

#include "base/text.h"

namespace sluice::cli {

Result<Remark::Level> ServerLog::level_of(const Options& options) {
  const auto level = log::level_named(options.level);
  if (!level) {
    return Error{ErrorCode::invalid,
                 str("--log-level '", printable(options.level), "' is none: write debug, info, warning or error")};
  }
  if (!options.format.empty() && options.format != "text" && options.format != "json") {
    return Error{ErrorCode::invalid, str("--log '", printable(options.format), "' is none: write text or json")};
  }
  if (*level != Remark::Level::info && options.format.empty() && options.file.empty()) {
    return Error{ErrorCode::invalid, str("--log-level '", options.level,
                                         "' says nothing without a log: add --log text, or --log-file FILE")};
  }
  return *level;
}

Result<std::unique_ptr<ServerLog>> ServerLog::open(const Options& options) {
  const auto level = level_of(options);
  if (!level) return level.error();
  auto out = std::make_unique<ServerLog>();
  if (!options.format.empty() || !options.file.empty()) {
    auto opened = log::Log::open({.format = options.format == "json" ? log::Format::json : log::Format::text,
                                  .least = *level,
                                  .file = options.file});
    if (!opened) return opened.error();
    out->log_ = std::move(*opened);
  }
  if (out->log_ == nullptr || !options.file.empty()) {
    auto opened = log::Log::open(
        {.format = log::Format::plain, .descriptor = options.people_on_stderr ? STDERR_FILENO : STDOUT_FILENO});
    if (!opened) return opened.error();
    out->console_ = std::move(*opened);
  }
  return out;
}

void ServerLog::say(const Remark& remark) const {
  if (console_ && !remark.quiet) console_->write(remark);
  if (!log_) return;
  const gateway::RequestIds* ids = remark.request == 0 ? nullptr : ids_.load();
  log_->write(remark, ids == nullptr ? "" : ids->text(RequestId(remark.request)));
}

void ServerLog::reopen() const {
  if (log_) log_->reopen();
}

}  // namespace sluice::cli
