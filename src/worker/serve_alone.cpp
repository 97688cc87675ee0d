// One batch at a time, in the thread that reads messages.
#include <poll.h>

#include <algorithm>
#include <ctime>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"
#include "wire/messages.h"
#include "worker/run_batch.h"
#include "worker/serve.h"

namespace sluice::worker {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
// While a batch as long as this ran, others may have come and been cancelled: that is looked at before the next one.
constexpr Duration kLong = Duration::ms(1);

std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

// The server's messages in order. A batch that waits reads ahead; what is not for it is kept for later.
class Inbox {
 public:
  explicit Inbox(wire::Channel& channel) : channel_(channel) {}

  // Blocks. Nothing: it is over, see status().
  [[nodiscard]] std::optional<wire::ToWorker> next();
  // The same, but nothing that was kept.
  [[nodiscard]] std::optional<wire::ToWorker> read();
  // Until then, a time of CLOCK_MONOTONIC; false: it came and there is no message.
  [[nodiscard]] bool wait(std::int64_t until_ns) const;
  // A batch that is kept and cancelled is answered at once.
  void keep(wire::ToWorker message);
  void read_ahead();
  void break_off(Error why) { status_ = std::move(why); }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  wire::Channel& channel_;
  std::string bytes_;
  std::deque<wire::ToWorker> kept_;
  Status status_ = Done{};
  bool over_ = false;
};

std::optional<wire::ToWorker> Inbox::next() {
  if (kept_.empty()) return read();
  wire::ToWorker message = std::move(kept_.front());
  kept_.pop_front();
  return message;
}

std::optional<wire::ToWorker> Inbox::read() {
  if (over_ || !status_) return std::nullopt;
  if (channel_.receive(bytes_) != wire::Received::message) {
    over_ = true;
    return std::nullopt;
  }
  auto message = wire::decode_to_worker(bytes_);
  if (!message) {
    status_ = message.error();
    return std::nullopt;
  }
  over_ = std::holds_alternative<wire::Stop>(*message);
  if (over_) return std::nullopt;
  return std::move(*message);
}

bool Inbox::wait(std::int64_t until_ns) const {
  const std::int64_t left = std::max<std::int64_t>(until_ns - now_ns(), 0);
  const timespec timeout{left / kSecond, left % kSecond};
  pollfd readable{channel_.descriptor(), POLLIN, 0};
  return ::ppoll(&readable, 1, &timeout, nullptr) > 0;
}

void Inbox::keep(wire::ToWorker message) {
  const auto* cancel = std::get_if<wire::Cancel>(&message);
  if (cancel == nullptr) return kept_.push_back(std::move(message));
  const auto batch = std::find_if(kept_.begin(), kept_.end(), [&](const wire::ToWorker& one) {
    const auto* run = std::get_if<wire::Run>(&one);
    return run != nullptr && run->batch == cancel->batch;
  });
  if (batch == kept_.end()) return;  // it is over
  kept_.erase(batch);
  (void)send(channel_, wire::Ran{.batch = cancel->batch, .cancelled = true});
}

void Inbox::read_ahead() {
  while (wait(0)) {
    auto message = read();
    if (!message) return;
    keep(std::move(*message));
  }
}

class Context : public GrantedSpace {
 public:
  Context(wire::Channel& channel, Inbox& inbox, const Mapping& mapping, const wire::Run& run)
      : GrantedSpace(mapping, mapping.at(run.outputs.offset, run.outputs.size).value_or(std::span<std::byte>{})),
        channel_(channel),
        inbox_(inbox),
        batch_(run.batch) {}

  bool sleep_until(std::int64_t instant_ns) override {
    while (!cancelled_ && !lost() && inbox_.wait(instant_ns)) (void)granted();
    gave_up_ = now_ns() < instant_ns;
    return !gave_up_;
  }
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  std::optional<wire::Space> ask(std::uint64_t bytes) override {
    if (!send(channel_, wire::FromWorker(wire::Wanted{batch_, bytes}))) return std::nullopt;
    wants_ = true;
    while (wants_ && !lost()) {
      if (const auto space = granted()) return space;
    }
    return std::nullopt;
  }
  // Reads one message. The space, if it is the grant that the batch waits for.
  std::optional<wire::Space> granted() {
    auto message = inbox_.read();
    if (!message) {
      lose();
      return std::nullopt;
    }
    if (const auto* grant = std::get_if<wire::Grant>(&*message)) {
      if (std::exchange(wants_, false) && grant->batch == batch_) return grant->outputs;
      inbox_.break_off(out_of_turn("Grant to nothing wanted"));
      lose();
    } else if (const auto* cancel = std::get_if<wire::Cancel>(&*message);
               cancel != nullptr && cancel->batch == batch_) {
      cancelled_ = true;
    } else {
      inbox_.keep(std::move(*message));
    }
    return std::nullopt;
  }

  wire::Channel& channel_;
  Inbox& inbox_;
  std::uint64_t batch_;
  bool wants_ = false, cancelled_ = false, gave_up_ = false;
};

class Alone {
 public:
  Alone(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make)
      : channel_(channel), mapping_(mapping), inbox_(channel), functions_(make, 1, {}) {}

  Status serve() {
    while (auto message = inbox_.next()) {
      if (const Status done = std::visit([this](const auto& m) { return this->on(m); }, *message); !done) return done;
    }
    return inbox_.status();
  }

 private:
  Status on(const wire::Load& load) {
    if (!functions_.reserve(load.function)) return out_of_turn(str("Load of function ", load.function));
    (void)send(channel_, functions_.load(load, {}));
    return Done{};
  }
  Status on(const wire::Move& move) {
    const auto function = functions_.find(move.function);
    if (function == nullptr) return out_of_turn(str("Move of function ", move.function));
    (void)send(channel_, wire::FromWorker(moved(move, *function->engine)));
    return Done{};
  }
  Status on(const wire::Unload& unload) {
    if (functions_.take(unload.function) == nullptr) return out_of_turn(str("Unload of function ", unload.function));
    (void)send(channel_, wire::FromWorker(wire::Unloaded{unload.function}));
    return Done{};
  }
  Status on(const wire::Run& run) {
    const auto function = functions_.find(run.function);
    if (function == nullptr) return out_of_turn(str("Run of function ", run.function));
    Context context(channel_, inbox_, mapping_, run);
    wire::Ran ran = run_batch(run, *function->engine, {.mapping = mapping_}, context).ran;
    if (context.lost()) return Done{};  // the inbox knows why
    const bool was_long = ran.took >= kLong;
    if (context.gave_up()) ran = {.batch = run.batch, .cancelled = true, .took = ran.took};
    (void)send(channel_, std::move(ran));
    if (was_long) inbox_.read_ahead();
    return Done{};
  }
  Status on(const wire::Fetch& fetch) {
    (void)send(channel_, wire::FromWorker(wire::Fetched{fetch.offset, "this worker has no device"}));
    return Done{};
  }
  static Status on(const wire::Release&) { return out_of_turn("Release of what is not kept"); }
  static Status on(const wire::Cancel&) { return Done{}; }  // that batch is over
  static Status on(const wire::Hello&) { return out_of_turn("a second Hello"); }
  static Status on(const wire::Grant&) { return out_of_turn("Grant to nothing wanted"); }
  static Status on(const wire::Stop&) { return Done{}; }

  wire::Channel& channel_;
  const Mapping& mapping_;
  Inbox inbox_;
  Functions functions_;
};

}  // namespace

Status serve_alone(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make) {
  return Alone(channel, mapping, make).serve();
}

}  // namespace sluice::worker
