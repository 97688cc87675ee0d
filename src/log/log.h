// Log: the server's log. Whoever writes to it never waits for the disk or a terminal: lines pass through a bounded
// queue to a thread of its own. What does not fit goes, oldest first, and the next line says how many went.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "base/remark.h"
#include "base/result.h"
#include "log/line.h"

namespace sluice::log {

class Log {
 public:
  struct Options {
    Format format = Format::text;
    Remark::Level least = Remark::Level::info;  // lines of lower levels are not written
    std::string file;                           // appended to; empty: `descriptor`
    int descriptor = 2;                         // stays the caller's
    std::size_t queue_max = 1'024;              // lines
  };
  [[nodiscard]] static Result<std::unique_ptr<Log>> open(const Options& options);
  virtual ~Log() = default;  // writes what waits, and waits for that

  // Any thread. `request`: as clients know it; empty: of none.
  virtual void write(const Remark& remark, std::string_view request = {}) = 0;
  // The file is opened by its name before the next line: somebody has moved it away. If that fails the old one stays,
  // and its next line says why.
  virtual void reopen() = 0;
};

}  // namespace sluice::log
