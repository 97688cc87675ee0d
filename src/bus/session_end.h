// SessionEnd: the scheduler's end of sessions that the other end begins: hears frames in order, asks for a new session
// where some are missing, and sends what is queued. Used by RemoteLink and Porter.
#pragma once
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/result.h"
#include "base/time.h"
#include "bus/conversation.h"
#include "bus/frame.h"

namespace sluice::bus {

template <class Out, class In>
class SessionEnd {
 public:
  SessionEnd(Transport& transport, Duration heartbeat) : transport_(transport), heartbeat_(heartbeat) {}

  // What is new in a frame, in order; nothing: it is rubbish, late, or behind a gap. `begin` is called where a session
  // begins with it, after what was queued before is dropped: what it queues comes first.
  template <class Begin>
  [[nodiscard]] std::optional<std::vector<In>> hear(Result<Frame<In>> frame, Time now, Begin begin) {
    if (!frame || frame->session < out_.session()) return std::nullopt;
    const Session before = out_.session(), session = frame->session;
    if (before < session) {
      (void)out_.begin(session);
      connected_ = true;
      begin(before, session);
    }
    auto items = connected_ ? out_.take(std::move(*frame)) : std::nullopt;
    connected_ = items.has_value();
    if (connected_) {
      heard_at_ = now;
    } else {
      ask_to_rejoin(session, now);
    }
    return items;
  }

  // REQUIRES: connected().
  void queue(Out item) { out_.queue(std::move(item)); }
  [[nodiscard]] std::size_t unacknowledged() const { return out_.unacknowledged(); }
  // Sends what is queued, and a sign of life where it is time for one.
  void flush(Time now) {
    if (!connected_ || (!out_.owes() && now < next_beat())) return;
    out_.send(transport_, now);
    sent_at_ = now;
  }

  void disconnect() { connected_ = false; }  // until the next session
  [[nodiscard]] bool connected() const { return connected_; }
  [[nodiscard]] Time heard_at() const { return heard_at_; }
  [[nodiscard]] Time next_beat() const { return sent_at_ + heartbeat_; }

 private:
  // Not for every frame that arrives meanwhile.
  void ask_to_rejoin(const Session& session, Time now) {
    if (asked_at_ != Time() && now - asked_at_ < heartbeat_) return;
    asked_at_ = now;
    const auto bytes = encode(Frame<Out>{.session = session, .at = now, .rejoin = true});
    CHECK(bytes.ok());
    transport_.send(*bytes);
  }

  Transport& transport_;
  const Duration heartbeat_;
  Conversation<Out, In> out_;
  bool connected_ = false;  // a session is under way
  Time heard_at_, sent_at_, asked_at_;
};

}  // namespace sluice::bus
