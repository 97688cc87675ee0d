// Conversation: one end's half of a session: numbers what is sent, keeps it until it is acknowledged, and knows what of
// the other direction has arrived. Used by SessionEnd, Station and RemoteDoor.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/time.h"
#include "bus/frame.h"

namespace sluice::bus {

template <class Out, class In>
class Conversation {
 public:
  // Everything starts at one again; returns what was not acknowledged, oldest first.
  std::deque<Out> begin(const Session& session) {
    session_ = session;
    queued_ = sent_ = acknowledged_ = received_ = told_ = 0;
    return std::exchange(kept_, {});
  }
  [[nodiscard]] const Session& session() const { return session_; }

  void queue(Out item) {
    kept_.push_back(std::move(item));
    ++queued_;
  }
  [[nodiscard]] std::size_t unacknowledged() const { return kept_.size(); }
  [[nodiscard]] bool owes() const { return sent_ < queued_ || told_ < received_; }

  // All that is queued, in as many frames as it takes, with what has arrived; at least one frame.
  void send(Transport& transport, Time at) {
    do {
      std::uint64_t most = kItemsOfAFrame;
      auto bytes = encode(next(at, most));
      for (; !bytes && most > 1; bytes = encode(next(at, most))) most /= 2;  // large ones: fewer of them
      CHECK_MSG(bytes.ok(), "a command or an event does not fit into a frame");
      sent_ = std::min(queued_, sent_ + most);
      told_ = received_;
      transport.send(std::move(*bytes));
    } while (sent_ < queued_);
  }

  // REQUIRES: of this session. The items that are new, in order; nothing if some before them are missing, or if the
  // other end acknowledges what was never sent.
  [[nodiscard]] std::optional<std::vector<In>> take(Frame<In> frame) {
    if (frame.acknowledged > sent_) return std::nullopt;
    for (; acknowledged_ < frame.acknowledged; ++acknowledged_) kept_.pop_front();
    if (frame.sent <= received_) return std::vector<In>{};  // doubled or overtaken
    if (frame.first() > received_ + 1) return std::nullopt;
    const auto known = static_cast<std::ptrdiff_t>(received_ + 1 - frame.first());
    frame.items.erase(frame.items.begin(), frame.items.begin() + known);
    received_ = frame.sent;
    return std::move(frame.items);
  }

 private:
  static constexpr std::uint64_t kItemsOfAFrame = 256;

  // With at most so many items.
  [[nodiscard]] Frame<Out> next(Time at, std::uint64_t most) const {
    Frame<Out> frame{.session = session_, .at = at, .acknowledged = received_};
    frame.sent = std::min(queued_, sent_ + most);
    for (std::uint64_t i = sent_; i < frame.sent; ++i)
      frame.items.push_back(kept_[static_cast<std::size_t>(i - acknowledged_)]);
    return frame;
  }

  Session session_;
  std::deque<Out> kept_;  // numbered acknowledged_ + 1 … queued_
  std::uint64_t queued_ = 0, sent_ = 0, acknowledged_ = 0;
  std::uint64_t received_ = 0, told_ = 0;  // told_: the last one whose arrival the other end was told of
};

}  // namespace sluice::bus
