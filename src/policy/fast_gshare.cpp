#include "policy/fast_gshare.h"

#include <algorithm>
#include <tuple>

#include "policy/fixed_split.h"
#include "policy/queue_pass.h"
#include "policy/rooms.h"
#include "policy/runnable.h"

namespace sluice::policy {
namespace {

// our choice: unknown, set by us.
struct Settings {
  double vcpu_price_weight;  // 1, our choice: how far the vCPU price counts as a resource; FaST-GShare itself has 0

  explicit Settings(const Parameters& p) : vcpu_price_weight(parameter_or(p, "vcpu_price_weight", 1)) {}
};

// The configurations of one queue for a function that may take `limit_ms`.
struct Ranked {
  std::shared_ptr<const plan::WorkflowModel> model;  // whose candidates these are
  double limit_ms = -1;
  std::vector<Configuration> efficient;  // fast enough, by throughput per resource
  std::vector<Configuration> fastest;    // smallest batch, by time: when nothing is fast enough
};

class FastGshare final : public Dispatch {
 public:
  explicit FastGshare(const Parameters& parameters) : settings_(parameters) {}

  void begin(const View& view) override { pass_.begin(view); }

  bool next(const View& view, Proposals& out) override {
    const Queue* queue = pass_.next(view);
    if (queue == nullptr) return false;
    out.clear();
    out.queue = queue->id;
    out.work.searches = 1;
    propose(view, *queue, out);
    return true;
  }

  void decided(const View&, const Proposals&, std::optional<std::size_t> booked) override {
    pass_.decided(booked.has_value());
  }

  void visit(Archive& archive) override { pass_.visit(archive); }

 private:
  void propose(const View& view, const Queue& queue, Proposals& out) {
    find_rooms(view, queue, rooms_);
    const Ranked& ranked = configurations(view, queue);
    bool waits = false;  // for one that is fast enough and would fit if less ran
    for (const Configuration& c : ranked.efficient) {
      if (c.batch > queue.waiting.size()) continue;
      if (offer(queue, c, out)) return;
      waits = waits || runs_somewhere(view, queue, c);
    }
    if (waits) return;
    for (const Configuration& c : ranked.fastest) {
      if (offer(queue, c, out) || runs_somewhere(view, queue, c)) return;
    }
  }

  // The invoker with the fewest free slices left, then the fewest vCPUs, then the lowest id.
  bool offer(const Queue& queue, const Configuration& c, Proposals& out) const {
    const Room* best = nullptr;
    for (const Room& room : rooms_) {
      if (!room.fits(c)) continue;
      if (best == nullptr || std::tie(room.slices, room.vcpu) < std::tie(best->slices, best->vcpu)) best = &room;
    }
    if (best == nullptr) return false;
    const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
    out.ranked.push_back({c, InvokerId(best->invoker), members});
    return true;
  }

  const Ranked& configurations(const View& view, const Queue& queue) {
    if (known_.size() <= queue.id.index()) known_.resize(queue.id.index() + 1);
    Ranked& known = known_[queue.id.index()];
    const double limit_ms = splits_.limit_ms(queue);
    if (known.model == queue.model && known.limit_ms == limit_ms) return known;
    known = rank(queue.model->stages[queue.model_stage].candidates,
                 view.application(queue.application).application->prices, limit_ms);
    known.model = queue.model;
    return known;
  }

  [[nodiscard]] Ranked rank(const plan::Candidates& candidates, const Prices& prices, double limit_ms) const {
    // Invocations per second and price of what is held.
    const auto efficiency = [&](const plan::Candidate& c) {
      const Configuration& held = c.configuration;
      const double price = held.slices * prices.vgpu_hour + settings_.vcpu_price_weight * held.vcpu * prices.vcpu_hour;
      return 1000 * held.batch / c.ms / price;
    };
    std::vector<std::pair<double, Configuration>> efficient, fastest;  // smaller is better
    const std::uint16_t smallest = plan::least(candidates).configuration.batch;
    for (const plan::Candidate& c : candidates) {
      if (c.ms <= limit_ms) efficient.emplace_back(-efficiency(c), c.configuration);
      if (c.configuration.batch == smallest) fastest.emplace_back(c.ms, c.configuration);
    }
    std::sort(efficient.begin(), efficient.end());
    std::sort(fastest.begin(), fastest.end());
    Ranked out{.limit_ms = limit_ms};
    for (const auto& [key, c] : efficient) out.efficient.push_back(c);
    for (const auto& [key, c] : fastest) out.fastest.push_back(c);
    return out;
  }

  Settings settings_;
  QueuePass pass_;
  // Derived or of one instant only: not part of the state.
  FixedSplits splits_;
  std::vector<Ranked> known_;  // by queue
  std::vector<Room> rooms_;
};

}  // namespace

std::unique_ptr<Dispatch> make_fast_gshare(const Parameters& parameters) {
  return std::make_unique<FastGshare>(parameters);
}

}  // namespace sluice::policy
