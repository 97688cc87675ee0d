// A machine and a wire for tests of the bus: an invoker that only remembers what it was told, and a transport that
// loses, doubles and reorders frames as a seed has it.
#pragma once
#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "bus/frame.h"
#include "bus/link.h"

namespace sluice::bus {

class Machine : public Link {
 public:
  explicit Machine(InvokerId id = InvokerId(0), std::uint64_t epoch = 1) {
    events.push_back(InvokerJoined{.id = id, .epoch = epoch, .capacity = {.vcpu = 4}});
  }
  void deploy(ApplicationId id, std::shared_ptr<const Application>) override { deployed.push_back(id); }
  void forget(ApplicationId id) override { forgotten.push_back(id); }
  void limit(const TenantLimit& limit) override { limits.push_back(limit); }
  void send(Command& command) override {
    carried_out.push_back(command.id);
    if (auto* start = std::get_if<StartBatch>(&command.action)) running.emplace(start->id, std::move(*start));
  }
  void receive(Time, Heard& out) override {
    for (Event& event : events) out.events.push_back(std::move(event));
    events.clear();
  }
  [[nodiscard]] Time due() const override { return Time::max(); }

  void finish_all() {
    for (const auto& [id, start] : running) events.push_back(BatchFinished{.id = id});
    running.clear();
  }

  std::vector<ApplicationId> deployed, forgotten;
  std::vector<CommandId> carried_out;
  std::vector<TenantLimit> limits;
  std::map<BatchId, StartBatch> running;
  std::vector<Event> events;
};

// One direction.
class Wire {
 public:
  void put(std::string frame) { frames_.push_back(std::move(frame)); }
  [[nodiscard]] bool take(std::string& frame) {
    if (frames_.empty()) return false;
    frame = std::move(frames_.front());
    frames_.pop_front();
    return true;
  }
  // Each frame on the way is lost, doubled or overtaken with a chance of one in four each.
  void shake(Rng& rng) {
    std::deque<std::string> out;
    for (std::string& frame : frames_) {
      const std::uint64_t luck = rng.below(4);
      if (luck == 0) continue;
      if (luck == 1) out.push_back(frame);
      if (luck == 2 && !out.empty())
        out.insert(out.end() - 1, frame);
      else
        out.push_back(std::move(frame));
    }
    frames_ = std::move(out);
  }
  void drop_all() { frames_.clear(); }
  void keep(std::size_t count) { frames_.resize(std::min(count, frames_.size())); }
  [[nodiscard]] std::size_t size() const { return frames_.size(); }

 private:
  std::deque<std::string> frames_;
};

class End : public Transport {
 public:
  End(Wire& out, Wire& in) : out_(out), in_(in) {}
  void send(std::string frame) override { out_.put(std::move(frame)); }
  [[nodiscard]] bool receive(std::string& frame) override { return in_.take(frame); }

 private:
  Wire &out_, &in_;
};

}  // namespace sluice::bus
