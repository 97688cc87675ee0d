// Reads an event log record by record. Bytes from outside: whatever they are, the answer is a record or an Error that
// names the byte, and memory grows only with what is there.
#pragma once
#include <istream>
#include <optional>
#include <string>

#include "base/result.h"
#include "record/log.h"

namespace sluice::record {

class LogReader {
 public:
  // Reads up to the end of the header. `in` must outlive the reader.
  [[nodiscard]] static Result<LogReader> open(std::istream& in);

  [[nodiscard]] const LogHeader& header() const { return header_; }
  // The next record; nothing at the end of the log. After an error there is no next.
  [[nodiscard]] Result<std::optional<Record>> next();

  // Reads on to the end, or to what cannot be read: the instant of the last decision. Decodes no events.
  [[nodiscard]] std::optional<Time> last_decision();

  // After an error: the log just stops within its last record, as a crash while writing leaves it. The records before
  // are whole, so a caller may go on with those.
  [[nodiscard]] bool cut_off() const { return cut_off_; }
  // The end of the last whole record: where a log that was cut off can be continued.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

 private:
  explicit LogReader(std::istream& in) : in_(&in) {}
  [[nodiscard]] Status read_start();
  // The content of the next record into content_; false at the end of the log.
  [[nodiscard]] Result<bool> read_content();
  // Up to `size` bytes into content_; fewer at the end of the log.
  void take(std::size_t size);
  // A writer that ended without notice leaves the room it had made, as zeros. REQUIRES: content_ are zeros.
  [[nodiscard]] bool only_room_left();
  [[nodiscard]] Error damaged(std::string_view what) const;
  [[nodiscard]] Error cut_short();

  std::istream* in_;
  LogHeader header_;
  std::string content_;
  std::uint64_t offset_ = 0;
  bool cut_off_ = false;
};

}  // namespace sluice::record
