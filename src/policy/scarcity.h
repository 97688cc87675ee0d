// Scarcity: what vCPUs and slices are worth while more is asked for than the cluster can do. Used by reserved admission
// to choose between places that are all in time, and to refuse those that would spoil the machines for others.
//
// Prices: every request takes, at the least, what is cheapest at these prices and in time (least_use.h). The prices
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
#include <utility>
#include <vector>

#include "base/archive.h"
#include "policy/call_rate.h"
#include "policy/least_use.h"
#include "policy/stages_to_place.h"
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
  void called(const View& view, StagesToPlace& stages, ApplicationId application);

  // Of the cluster, that what is asked for needs at best; above 1 not everything can be done in time.
  [[nodiscard]] double load() const { return load_; }
  // How often an application is called lately.
  [[nodiscard]] double calls_per_ms(const View& view, ApplicationId application) const;
  // Whether it is more than can be done, or nearly: what takes or spoils much is refused.
  [[nodiscard]] bool over() const { return load_ > kTight; }
  // Whether it is, or would be without batches: what is taken decides between places.
  [[nodiscard]] bool tight() const { return load_alone_ > kTight || over(); }
  // What was promised to a request: of so many stages so many joined the batches of others.
  void promised(ApplicationId application, std::size_t stages, std::size_t joined);
  [[nodiscard]] double company_of(ApplicationId application) const;
  // What one request of the application takes at the least if it may take so long, and what a configuration takes for
  // so long: in milliseconds of the whole cluster. REQUIRES: called() for the application at this instant.
  [[nodiscard]] double least_of(const View& view, StagesToPlace& stages, ApplicationId application, double within_ms);
  [[nodiscard]] double of(const Configuration& c, double ms) const;
  // What a booking from `from` to `to` at `positions` would leave unusable around itself, less what was unusable
  // before.
  [[nodiscard]] double wasted_by(const Skyline& skyline, const Configuration& c, const SlicePositions& positions,
                                 const Span& span) const;

  void visit(Archive& a) { a(rates_, sharings_, vcpus_, slices_, load_, load_alone_, looked_at_, calls_); }

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
  void look(const View& view, StagesToPlace& stages);
  void look_at_machines(const View& view);
  void look_at_candidates(const View& view);
  const LeastUse& use_of(const View& view, StagesToPlace& stages, const ApplicationModel& model);
  void look_at_use(const View& view, const ApplicationModel& model, const PlaceOrder& order);
  [[nodiscard]] bool possible(const Configuration& c) const;

  // Of the promises to an application lately, each fading with every request after it.
  struct Sharing {
    double stages = 1, batches = 1;
    void visit(Archive& a) { a(stages, batches); }
  };

  std::vector<CallRate> rates_;    // by ApplicationId
  std::vector<Sharing> sharings_;  // likewise
  Kind vcpus_, slices_;
  std::vector<LeastUse> uses_;                        // by ApplicationId; derived
  std::pair<std::uint32_t, std::uint32_t> of_sizes_;  // of machines and GPUs, that uses_ was made for
  double load_ = 0, load_alone_ = 0;
  Time looked_at_;
  std::uint32_t calls_ = 0;  // since then
};

}  // namespace sluice::policy
