// ServerLog: where what `sluice up` remarks goes: plain lines for the person at its console, and lines with time, level
// and component for the log. A log on stderr takes the place of the plain lines.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "base/remark.h"
#include "base/result.h"
#include "gateway/request_ids.h"
#include "log/log.h"

namespace sluice::cli {

class ServerLog {
 public:
  struct Options {
    std::string format;  // "text", "json"; empty: text in the file if there is one, else no log
    std::string level = "info";
    std::string file;               // empty: stderr
    bool people_on_stderr = false;  // stdout has something for programs
  };
  // The least level that is written; an error if one of the names is none.
  [[nodiscard]] static Result<Remark::Level> level_of(const Options& options);
  [[nodiscard]] static Result<std::unique_ptr<ServerLog>> open(const Options& options);

  // Any thread, and no waiting.
  void say(const Remark& remark) const;
  // For people, and an `info` of the server for the log.
  void say(const std::string& text) const { say({.component = "server", .text = text}); }
  // From now on lines name requests as clients know them; `ids` must outlive the log. Until then they name none.
  void name_requests(const gateway::RequestIds* ids) { ids_.store(ids); }
  void reopen() const;

 private:
  std::unique_ptr<log::Log> console_, log_;  // either may be absent
  std::atomic<const gateway::RequestIds*> ids_ = nullptr;
};

}  // namespace sluice::cli
