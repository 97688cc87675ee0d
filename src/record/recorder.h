// Writes down what a driver does with its scheduler, so that it can be replayed: a log to a stream. Used by the
// simulator; the live server has its own policy of flushing and uses LogWriter.
#pragma once
#include <ostream>
#include <string>

#include "record/log_writer.h"

namespace sluice::record {

class Recorder {
 public:
  // `out` must outlive the recorder and be opened as binary.
  explicit Recorder(std::ostream& out) : out_(&out), writer_(buffer_) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // First, once. Then every observe() and every decide() of the scheduler, in order, from its first event on.
  void header(const LogHeader& header);
  void observed(const Event& event, Time now);
  void decided(Time now, const Commands& commands);
  // False if the stream did not take everything.
  [[nodiscard]] bool ok() const { return out_->good(); }

 private:
  void flush();
  std::ostream* out_;
  std::string buffer_;
  LogWriter writer_;
};

}  // namespace sluice::record
