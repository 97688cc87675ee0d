// Appends the records of an event log to a text. No clock, no file, no flushing: whoever owns the text does that,
// before the commands that the events cause leave.
#pragma once
#include <string>

#include "record/log.h"

namespace sluice::record {

class LogWriter {
 public:
  // `out` must outlive the writer; it may be emptied between calls.
  explicit LogWriter(std::string& out) : out_(out) {}

  // First and once, unless an existing log is continued.
  void header(const LogHeader& header);
  void observed(const Event& event, Time at);
  void decided(const Decided& decided);

 private:
  void begin(RecordKind kind);
  void end();
  std::string& out_;
  std::string frame_;
  std::size_t begin_ = 0;  // of the record being written
};

}  // namespace sluice::record
