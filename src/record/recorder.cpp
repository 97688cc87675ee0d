#include "record/recorder.h"

#include "record/command_hash.h"

namespace sluice::record {

void Recorder::flush() {
  out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void Recorder::header(const LogHeader& header) {
  writer_.header(header);
  flush();
}

void Recorder::observed(const Event& event, Time now) {
  writer_.observed(event, now);
  flush();
}

void Recorder::decided(Time now, const Commands& commands) {
  writer_.decided({.at = now, .commands = commands.list.size(), .hash = hash_of(commands)});
  flush();
}

}  // namespace sluice::record
