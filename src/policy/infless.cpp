#include "policy/infless.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "policy/fixed_split.h"
#include "policy/queue_pass.h"
#include "policy/rooms.h"
#include "policy/runnable.h"

namespace sluice::policy {
namespace {

// origin: from INFless itself; derived: arithmetic on that; our choice: unknown, set by us.
struct Settings {
  double execution_share;  // 0.5, origin: of a function's time for running a batch of several; the rest collects it
  double vcpu_weight;      // 64, origin: of a free vCPU in a fragment
  double slice_weight;     // 2029, derived: of a free slice; 142 per percent of the SMs, a slice is a seventh of them
  double rate_weight;      // 0.3, our choice: of the newest gap in the mean gap between arrivals
  bool subtract;           // 1, origin: what running batches serve counts as served

  explicit Settings(const Parameters& p)
      : execution_share(parameter_or(p, "execution_share", 0.5)),
        vcpu_weight(parameter_or(p, "vcpu_weight", 64)),
        slice_weight(parameter_or(p, "slice_weight", 2029)),
        rate_weight(parameter_or(p, "rate_weight", 0.3)),
        subtract(parameter_or(p, "subtract", 1) != 0) {}
};

// The exponential mean of the gaps between invocations of one queue.
struct Gaps {
  Time last;
  double mean_ms = 0;
  std::uint64_t seen = 0;  // invocations
  void add(Time now, double weight) {
    if (seen > 0) {
      const double gap = (now - last).to_ms();
      mean_ms = seen == 1 ? gap : weight * gap + (1 - weight) * mean_ms;
    }
    last = now;
    ++seen;
  }
  // Per second; 0 before there is a gap.
  [[nodiscard]] double rate() const {
    if (seen < 2) return 0;
    return mean_ms > 0 ? 1000 / mean_ms : std::numeric_limits<double>::infinity();
  }
  void visit(Archive& a) { a(last, mean_ms, seen); }
};

// The batches of one queue that run, as far as their profiles say.
struct Serving {
  struct Batch {
    Time until;
    double rate = 0;  // per second, that it serves
    void visit(Archive& a) { a(until, rate); }
  };
  std::vector<Batch> batches;
  [[nodiscard]] double rate(Time now) {
    std::erase_if(batches, [&](const Batch& b) { return b.until <= now; });
    double sum = 0;
    for (const Batch& b : batches) sum += b.rate;
    return sum;
  }
  void visit(Archive& a) { a(batches); }
};

// A configuration that is fast enough, with the rates between which an instance of it is worth having.
struct Instance {
  Configuration configuration;
  double rate_max = 0, rate_min = 0;  // per second
};

// The instances of one queue by batch, largest first, for a function that may take `limit_ms`.
struct QueueInstances {
  std::shared_ptr<const plan::WorkflowModel> model;  // whose candidates these are
  double limit_ms = -1;
  std::vector<Instance> list;

  void build(const Queue& queue, double ms, double execution_share) {
    model = queue.model;
    limit_ms = ms;
    list.clear();
    for (const plan::Candidate& c : model->stages[queue.model_stage].candidates) {
      const double batch = c.configuration.batch;
      if (c.ms > (batch > 1 ? ms * execution_share : ms) || c.ms <= 0) continue;
      list.push_back(
          {c.configuration, std::floor(1000 * batch / c.ms), batch > 1 ? std::floor(1000 * batch / (ms - c.ms)) : 1});
    }
    std::stable_sort(list.begin(), list.end(), [](const Instance& a, const Instance& b) {
      return a.configuration.batch > b.configuration.batch;
    });
  }
};

class Infless final : public Dispatch {
 public:
  explicit Infless(const Parameters& parameters) : settings_(parameters) {}

  void queued(const View& view, const Queue& queue) override {
    if (gaps_.size() < view.queues.size()) gaps_.resize(view.queues.size());
    if (serving_.size() < view.queues.size()) serving_.resize(view.queues.size());
    gaps_[queue.id.index()].add(view.now, settings_.rate_weight);
  }
  void removed(const View&, const Queue& queue) override {
    if (queue.id.index() >= gaps_.size()) return;
    gaps_[queue.id.index()] = {};
    serving_[queue.id.index()] = {};
  }
  void begin(const View& view) override { pass_.begin(view); }

  bool next(const View& view, Proposals& out) override {
    const Queue* queue = pass_.next(view);
    if (queue == nullptr) return false;
    out.clear();
    out.queue = queue->id;
    out.work.searches = 1;
    find_rooms(view, *queue, rooms_);
    const double served = settings_.subtract ? serving_[queue->id.index()].rate(view.now) : 0;
    if (offer_best(*queue, gaps_[queue->id.index()].rate() - served, out)) return true;
    if (served == 0 || !offer_smallest(*queue, out)) offer_least(view, *queue, out);
    return true;
  }

  void decided(const View& view, const Proposals& proposals, std::optional<std::size_t> booked) override {
    pass_.decided(booked.has_value());
    if (!booked || !settings_.subtract) return;
    const Queue& queue = view.queues[proposals.queue.index()];
    const Configuration& c = proposals.ranked[*booked].configuration;
    for (const plan::Candidate& candidate : queue.model->stages[queue.model_stage].candidates) {
      if (candidate.configuration == c && candidate.ms > 0)
        serving_[queue.id.index()].batches.push_back(
            {view.now + Duration::ms(candidate.ms), std::floor(1000 * c.batch / candidate.ms)});
    }
  }

  void visit(Archive& archive) override {
    archive(gaps_, serving_);
    pass_.visit(archive);
  }

 private:
  const QueueInstances& instances(const Queue& queue) {
    if (known_.size() <= queue.id.index()) known_.resize(queue.id.index() + 1);
    QueueInstances& known = known_[queue.id.index()];
    const double limit_ms = splits_.limit_ms(queue);
    if (known.model != queue.model || known.limit_ms != limit_ms)
      known.build(queue, limit_ms, settings_.execution_share);
    return known;
  }

  // The best instance of the largest batch that has one; ties go to the first configuration, then the first invoker.
  bool offer_best(const Queue& queue, double rate, Proposals& out) {
    double best = -1;
    for (const Instance& i : instances(queue).list) {
      const Configuration& c = i.configuration;
      if (c.batch > queue.waiting.size() || rate < i.rate_min) continue;
      if (!out.ranked.empty() && c.batch < out.ranked[0].configuration.batch) break;
      for (const Room& room : rooms_) {
        if (!room.fits(c)) continue;
        const double score = i.rate_max / fragment(room, c);
        if (score <= best) continue;
        best = score;
        out.ranked.assign(1, {c, InvokerId(room.invoker), c.batch});
      }
    }
    return !out.ranked.empty();
  }

  // What is left free on the invoker, weighted.
  [[nodiscard]] double fragment(const Room& room, const Configuration& c) const {
    return std::max(1.0,
                    settings_.vcpu_weight * (room.vcpu - c.vcpu) + settings_.slice_weight * (room.slices - c.slices));
  }

  // What runs serves all that comes, and yet something waits: what is fast enough with the fewest slices, then vCPUs.
  bool offer_smallest(const Queue& queue, Proposals& out) {
    const Configuration* smallest = nullptr;
    for (const Instance& i : instances(queue).list) {
      const Configuration& c = i.configuration;
      if (c.batch > queue.waiting.size()) continue;
      if (smallest != nullptr && std::pair(c.slices, c.vcpu) >= std::pair(smallest->slices, smallest->vcpu)) continue;
      const auto fits = [&](const Room& room) { return room.fits(c); };
      const auto room = std::find_if(rooms_.begin(), rooms_.end(), fits);
      if (room == rooms_.end()) continue;
      smallest = &c;
      out.ranked.assign(1, {c, InvokerId(room->invoker), c.batch});
    }
    return smallest != nullptr;
  }

  // Nothing is fast enough: the minimum keeps it moving.
  void offer_least(const View& view, const Queue& queue, Proposals& out) const {
    const Configuration& c = least_runnable(view, queue);
    const auto members = static_cast<std::uint32_t>(std::min<std::size_t>(c.batch, queue.waiting.size()));
    for (const Room& room : rooms_) {
      if (room.fits(c)) return out.ranked.push_back({c, InvokerId(room.invoker), members});
    }
  }

  Settings settings_;
  std::vector<Gaps> gaps_;        // by queue
  std::vector<Serving> serving_;  // by queue
  QueuePass pass_;
  // Derived or of one instant only: not part of the state.
  FixedSplits splits_;
  std::vector<QueueInstances> known_;  // by queue
  std::vector<Room> rooms_;
};

}  // namespace

std::unique_ptr<Dispatch> make_infless(const Parameters& parameters) {
  return std::make_unique<Infless>(parameters);
}

}  // namespace sluice::policy
