// Scarcity: what vCPUs and slices are worth while more is asked for than the cluster can do. Used by reserved admission
// to choose between places that are all in time, and to refuse those that would spoil the machines for others.
//
// Prices: every request takes, at the least, for each stage the candidate that is cheapest at these prices. The prices
// (one for vCPUs, one for slices, a whole cluster of both together costs 1 a millisecond) are those at which what is
// asked for comes to the most: by duality that is the load, the share of the cluster that the present mix of requests
// needs if it is served as well as can be. Below 1 everything fits and nothing is scarce.
//
// Waste: between two bookings a stretch may be left in which no stage, or no two or three stages one after the other,
// end just where the next booking begins. What cannot be used of it counts as taken.
//
// Known caveats: all slices of the cluster are one kind of thing, and so are vCPUs; a stage counts as what it keeps
// others from using on an otherwise empty machine (30 of 50 vCPUs are all 50 if nothing fits into 20).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/archive.h"
#include "policy/call_rate.h"
#include "policy/timeline.h"
#include "policy/view.h"

namespace sluice::policy {

// Which of several lengths fit one after the other into a stretch.
class FillTable {
 public:
  FillTable() = default;
  explicit FillTable(const std::vector<double>& lengths_ms);
  // What is left of a stretch that is filled as well as can be; 0 beyond four times the longest length.
  [[nodiscard]] double left_ms(double stretch_ms) const;
  void visit(Archive& a) { a(filled_, cell_ms_); }

 private:
  std::vector<std::uint32_t> filled_;  // the most cells that can be filled of so many
  double cell_ms_ = 1;
};

class Scarcity {
 public:
  // A request has arrived: how often each application is called, and what that makes things worth.
  void called(const View& view, ApplicationId application);

  // Of the cluster, that what is asked for needs at best; above 1 not everything can be done in time.
  [[nodiscard]] double load() const { return load_; }
  // Whether what is taken and spoiled should decide between places.
  [[nodiscard]] bool tight() const { return load_ > kTight; }
  // What one request of the application takes at the least, and what a configuration takes for so long: in
  // milliseconds of the whole cluster.
  [[nodiscard]] double least_of(ApplicationId application) const {
    return application.index() < least_.size() ? least_[application.index()] : 0;
  }
  [[nodiscard]] double of(const Configuration& c, double ms) const;
  // What a booking from `from` to `to` at `positions` would leave unusable around itself, less what was unusable
  // before.
  [[nodiscard]] double wasted_by(const Skyline& skyline, const Configuration& c, const SlicePositions& positions,
                                 const Span& span) const;

  void visit(Archive& a) { a(rates_, vcpus_, slices_, least_, load_, looked_at_, calls_); }

 private:
  static constexpr double kTight = 0.9;  // rates are guesses, and not everything comes evenly
  static constexpr std::uint32_t kCallsBetween = 16;
  static constexpr Duration kOld = Duration::ms(25);

  // vCPUs by machine, or slices by GPU.
  struct Kind {
    double units = 0;         // machines or GPUs, as many as the largest has
    std::uint32_t size = 0;   // of the largest
    std::uint32_t least = 1;  // that any candidate takes
    double price = 0;         // of a unit for a millisecond
    FillTable fill;
    // How much of a unit a share keeps from others.
    [[nodiscard]] double part(std::uint32_t share) const { return share == 0 ? 0 : 1.0 / (size / share); }
    void visit(Archive& a) { a(units, size, least, price, fill); }
  };
  void look(const View& view);
  void look_at_machines(const View& view);
  void look_at_candidates(const View& view);
  [[nodiscard]] double priced(const plan::WorkflowModel& model, double vcpu_price, double slice_price) const;
  [[nodiscard]] bool possible(const Configuration& c) const;

  std::vector<CallRate> rates_;  // by ApplicationId
  Kind vcpus_, slices_;
  std::vector<double> least_;  // by ApplicationId
  double load_ = 0;
  Time looked_at_;
  std::uint32_t calls_ = 0;  // since then
};

}  // namespace sluice::policy
