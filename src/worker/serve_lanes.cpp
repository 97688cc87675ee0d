// Several batches at once: this thread reads messages and hands them to the lane they are for.
#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/text.h"
#include "wire/messages.h"
#include "worker/alarm.h"
#include "worker/lanes.h"
#include "worker/run_batch.h"
#include "worker/serve.h"

namespace sluice::worker {
namespace {

// A batch from Run until it is answered. What the reading thread and the batch's lane tell each other is guarded.
struct UnderWay {
  wire::Run run;
  std::shared_ptr<LoadedFunction> function;
  std::mutex mutex;
  std::condition_variable told;
  bool begun = false, cancelled = false, over = false;  // over: the worker ends
  bool wants = false;
  std::optional<wire::Space> grant;
};

class LaneContext : public GrantedSpace {
 public:
  LaneContext(wire::Channel& channel, const Mapping& mapping, UnderWay& batch, Alarm& alarm)
      : GrantedSpace(mapping,
                     mapping.at(batch.run.outputs.offset, batch.run.outputs.size).value_or(std::span<std::byte>{})),
        channel_(channel),
        batch_(batch),
        alarm_(alarm) {}

  bool sleep_until(std::int64_t instant_ns) override {
    const std::chrono::steady_clock::time_point instant{std::chrono::nanoseconds(instant_ns)};
    std::unique_lock lock(batch_.mutex);
    gave_up_ = batch_.told.wait_until(lock, instant, [&] { return batch_.cancelled || batch_.over; });
    return !gave_up_;
  }
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  void nearly_done() override { alarm_.ring(); }

 private:
  std::optional<wire::Space> ask(std::uint64_t bytes) override {
    {
      const std::lock_guard lock(batch_.mutex);
      batch_.wants = true;
    }
    if (!send(channel_, wire::FromWorker(wire::Wanted{batch_.run.batch, bytes}))) return std::nullopt;
    std::unique_lock lock(batch_.mutex);
    batch_.told.wait(lock, [&] { return batch_.grant.has_value() || batch_.over; });
    return std::exchange(batch_.grant, std::nullopt);
  }

  wire::Channel& channel_;
  UnderWay& batch_;
  Alarm& alarm_;
  bool gave_up_ = false;
};

class Reader {
 public:
  Reader(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make, std::uint32_t lanes, engine::Gpu gpu)
      : channel_(channel), mapping_(mapping), functions_(make, lanes, gpu), has_gpu_(gpu.slices > 0), batches_(lanes) {
    // By the thread that loads: it waits until nothing runs on the GPU, and who reads messages must not wait for that.
    if (!has_gpu_) return;
    functions_.dispose_by([this](std::unique_ptr<LoadedFunction> function) {
      (void)loads_.post([going = std::shared_ptr<LoadedFunction>(std::move(function))] {});
    });
  }
  ~Reader() {
    {
      const std::lock_guard lock(mutex_);
      for (auto& [number, batch] : under_way_) tell(*batch, [](UnderWay& b) { b.over = true; });
    }
    batches_.stop();
    positions_.clear();
    fetches_.stop();
    functions_.dispose_by({});  // nothing runs any more that could let one go
    loads_.stop();
  }

  Status serve() {
    std::string bytes;
    for (;;) {
      if (!positions_.empty()) alarm_.sleep_until_readable(channel_.descriptor());
      came_along_.clear();
      if (channel_.receive(bytes, &came_along_) != wire::Received::message) break;
      auto message = wire::decode_to_worker(bytes);
      if (!message) return message.error();
      if (std::holds_alternative<wire::Stop>(*message)) break;
      if (const Status done = std::visit([this](auto& m) { return this->on(m); }, *message); !done) return done;
    }
    return Done{};
  }

 private:
  static constexpr std::size_t kPositionsMax = 256;  // of 64 slices a buddy layout has 127

  static void tell(UnderWay& batch, auto&& change) {
    {
      const std::lock_guard lock(batch.mutex);
      change(batch);
    }
    batch.told.notify_one();
  }

  Status on(wire::Load& load) {
    const std::uint32_t number = load.function;
    if (!functions_.reserve(number)) return out_of_turn(str("Load of function ", number));
    const auto model = std::make_shared<wire::Descriptor>();
    if (!came_along_.empty()) *model = std::move(came_along_.front());
    const bool posted =
        loads_.post([this, load = std::move(load), model] { (void)send(channel_, functions_.load(load, *model)); });
    return posted ? Status(Done{}) : Error{ErrorCode::unavailable, "no thread can be made"};
  }
  Status on(const wire::Move& move) {
    auto function = functions_.find(move.function);
    if (function == nullptr) return out_of_turn(str("Move of function ", move.function));
    const bool posted = loads_.post([this, move, function = std::move(function)] {
      (void)send(channel_, wire::FromWorker(moved(move, *function->engine)));
    });
    return posted ? Status(Done{}) : Error{ErrorCode::unavailable, "no thread can be made"};
  }
  // Answered when all of it is gone, by whoever had it last.
  Status on(const wire::Unload& unload) {
    const auto function = functions_.take(unload.function);
    if (function == nullptr) return out_of_turn(str("Unload of function ", unload.function));
    function->gone = [this, number = unload.function] {
      (void)send(channel_, wire::FromWorker(wire::Unloaded{number}));
    };
    return Done{};
  }
  Status on(wire::Run& run) {
    const std::uint64_t number = run.batch;
    auto batch = std::make_shared<UnderWay>();
    batch->function = functions_.find(run.function);
    if (batch->function == nullptr) return out_of_turn(str("Run of function ", run.function));
    {
      const std::lock_guard lock(mutex_);
      if (const auto other = in_the_way(run.positions)) {
        (void)send(channel_,
                   wire::Ran{.batch = number,
                             .error = str("its slices of GPU ", run.positions.gpu, " are those of batch ", *other)});
        return Done{};
      }
      batch->run = std::move(run);
      if (!under_way_.emplace(number, batch).second) return out_of_turn(str("batch ", number, " twice"));
    }
    Lanes* lanes = lanes_of(batch->run.positions);
    if (lanes == nullptr) return out_of_turn("more positions of a GPU than there may be");
    if (lanes->post([this, batch = std::move(batch)]() mutable { run_in_lane(*batch); })) return Done{};
    return Error{ErrorCode::unavailable, "no thread can be made"};
  }
  Status on(const wire::Grant& grant) {
    const auto batch = find(grant.batch);
    bool wanted = false;
    if (batch != nullptr) {
      tell(*batch, [&](UnderWay& b) {
        wanted = std::exchange(b.wants, false);
        b.grant = grant.outputs;
      });
    }
    return wanted ? Status(Done{}) : out_of_turn("Grant to nothing wanted");
  }
  Status on(const wire::Cancel& cancel) {
    const auto batch = find(cancel.batch);
    if (batch == nullptr) return Done{};  // it is over
    bool begun = false;
    tell(*batch, [&](UnderWay& b) {
      b.cancelled = true;
      begun = b.begun;
    });
    if (!begun) answer(*batch, {.ran = {.batch = cancel.batch, .cancelled = true}});
    return Done{};
  }
  // By a thread of its own: a copy waits for the device, and a load would hold it up for seconds.
  Status on(const wire::Fetch& fetch) {
    auto kept = kept_.at(fetch.offset);
    if (kept.output == nullptr) {
      (void)send(channel_, wire::FromWorker(wire::Fetched{fetch.offset, "nothing is kept under this place"}));
      return Done{};
    }
    const bool posted = fetches_.post([this, offset = fetch.offset, kept = std::move(kept)] {
      const Status copied = kept.output->copy_to(*mapping_.at(offset, kept.size));
      (void)send(channel_, wire::FromWorker(wire::Fetched{offset, copied ? "" : copied.error().message}));
    });
    return posted ? Status(Done{}) : Error{ErrorCode::unavailable, "no thread can be made"};
  }
  // Its memory is given back by the same thread: who reads messages must not wait for others that take some.
  Status on(const wire::Release& release) {
    auto output = kept_.take(release.offset);
    if (output == nullptr) return out_of_turn(str("Release of what is not kept under ", release.offset));
    (void)fetches_.post([gone = std::move(output)] {});
    return Done{};
  }
  static Status on(const wire::Hello&) { return out_of_turn("a second Hello"); }
  static Status on(const wire::Stop&) { return Done{}; }

  std::shared_ptr<UnderWay> find(std::uint64_t batch) {
    const std::lock_guard lock(mutex_);
    const auto it = under_way_.find(batch);
    return it == under_way_.end() ? nullptr : it->second;
  }
  // A position of a GPU has a thread for itself: what engines keep for a thread belongs to its slices. Emulated slices
  // are of no GPU. Null: there are too many positions.
  Lanes* lanes_of(const SlicePositions& positions) {
    if (positions.slices == 0 || !has_gpu_) return &batches_;
    const auto known = positions_.find(positions.slices);
    if (known != positions_.end()) return known->second.get();
    if (positions_.size() >= kPositionsMax) return nullptr;
    return positions_.emplace(positions.slices, std::make_unique<Lanes>(1, Alarm::kLook)).first->second.get();
  }
  // A batch that has some of these slices for itself. Of CPUs any number of batches may use the same.
  [[nodiscard]] std::optional<std::uint64_t> in_the_way(const SlicePositions& wanted) const {
    for (const auto& [number, batch] : under_way_) {
      const SlicePositions& held = batch->run.positions;
      if ((has_gpu_ || held.gpu == wanted.gpu) && (held.slices & wanted.slices) != 0) return number;
    }
    return std::nullopt;
  }

  void run_in_lane(UnderWay& batch) {
    {
      const std::lock_guard lock(batch.mutex);
      if (batch.cancelled || batch.over) return;  // answered
      batch.begun = true;
    }
    LaneContext context(channel_, mapping_, batch, alarm_);
    engine::Engine& engine = *batch.function->engine;
    std::unique_lock one_at_a_time(batch.function->one_at_a_time, std::defer_lock);
    if (!engine.concurrent()) one_at_a_time.lock();
    const Memory memory{.mapping = mapping_, .kept = has_gpu_ ? &kept_ : nullptr};
    BatchAnswer made = run_batch(batch.run, engine, memory, context);
    if (one_at_a_time.owns_lock()) one_at_a_time.unlock();
    if (context.lost()) return;  // the worker ends
    if (context.gave_up()) made = {.ran = {.batch = batch.run.batch, .cancelled = true, .took = made.ran.took}};
    answer(batch, std::move(made));
  }
  // Forgotten before it is answered: from then on the server may give its slices to another batch.
  void answer(UnderWay& batch, BatchAnswer made) {
    std::shared_ptr<UnderWay> forgotten;
    {
      const std::lock_guard lock(mutex_);
      const auto it = under_way_.find(batch.run.batch);
      if (it != under_way_.end()) forgotten = std::move(under_way_.extract(it).mapped());
    }
    (void)send(channel_, std::move(made), kept_);
  }

  wire::Channel& channel_;
  const Mapping& mapping_;
  Alarm alarm_;
  std::vector<wire::Descriptor> came_along_;  // with the message at hand: of a Load the model
  Functions functions_;
  bool has_gpu_;
  KeptOutputs kept_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<UnderWay>> under_way_;  // guarded by mutex_
  Lanes batches_;
  std::map<std::uint64_t, std::unique_ptr<Lanes>> positions_;  // by slices, of the one GPU that a worker has
  Lanes loads_{1};
  Lanes fetches_{1};  // of what is kept, and its end
};

}  // namespace

Status serve_lanes(wire::Channel& channel, const Mapping& mapping, const MakeEngine& make, std::uint32_t lanes,
                   engine::Gpu gpu) {
  return Reader(channel, mapping, make, lanes, gpu).serve();
}

}  // namespace sluice::worker
