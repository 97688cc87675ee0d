#include "reproduce/esg_capacity.h"

#include <algorithm>

#include "base/check.h"
#include "base/text.h"

namespace sluice::reproduce {
namespace {

constexpr double kEnough = 0.99;       // of hits
constexpr double kCollapsed = 0.5;     // likewise
constexpr int kUnit = 100;             // loads are whole hundredths of heavy
constexpr int kStep = 20, kTop = 160;  // of the axis
constexpr int kBeyond = 2 * kTop;      // taken for too much

// One contender at one objective with one kind of arrivals.
struct Search {
  Slo slo = Slo::strict;
  bool poisson = false;
  Contender contender;
  std::vector<double> axis;  // mean hits at kStep, 2 kStep, … until it has collapsed
  std::optional<Bisection> bisection;
};

std::string label(const Search& search, int load) {
  return str(name_of(search.slo), "/", search.poisson ? "poisson" : "uniform-gap",
             "/load=", static_cast<double>(load) / kUnit);
}

Point point(const Search& search, const Experiment& evaluation, int load) {
  const double times = static_cast<double>(load) / kUnit;
  Experiment e = with_setting(evaluation, {search.slo, Load::heavy});
  if (search.poisson) {
    e.workload.arrivals = Poisson{heavy_rate() * times};
  } else {
    const UniformGap gap = gap_of(Load::heavy);
    e.workload.arrivals = UniformGap{gap.low * (1 / times), gap.high * (1 / times)};
  }
  Point out{.setting = label(search, load), .set_up = std::move(e), .contenders = {search.contender}};
  if (search.contender.name == "esg-tuned") out.tuning = Tuning::brief;
  return out;
}

std::vector<Search> searches(const EsgOptions& options) {
  std::vector<Search> out;
  for (const Slo slo : kSlos) {
    const bool wanted =
        std::any_of(options.settings.begin(), options.settings.end(), [&](const Setting& s) { return s.slo == slo; });
    if (!options.settings.empty() && !wanted) continue;
    for (const bool poisson : {false, true}) {
      for (Contender& c : contenders({})) {
        if (c.name == "esg-thrifty") continue;  // it gives up hits, which are what is asked for
        out.push_back({slo, poisson, std::move(c), {}, {}});
      }
    }
  }
  return out;
}

double mean_hits(const PlayedPoint& played) {
  return spread_over(played.contenders.front().second, metric("slo_hit_rate"))->mean;
}

// The largest load of the axis that is good; the next one is not, as far as the axis goes.
Bisection bracket(const std::vector<double>& axis) {
  for (std::size_t i = axis.size(); i > 0; --i) {
    if (axis[i - 1] < kEnough) continue;
    const int good = static_cast<int>(i) * kStep;
    return {good, good == kTop ? kBeyond : good + kStep};
  }
  return {0, kStep};
}

// Load by load. Whoever has collapsed is not asked about more: queues without end tell nothing and take long.
Status play_axis(std::vector<Search>& all, const Experiment& evaluation, const Length& length, Player& player,
                 std::vector<Row>& rows, std::uint64_t& took) {
  for (int load = kStep; load <= kTop; load += kStep) {
    std::vector<Point> points;
    std::vector<Search*> open;
    for (Search& search : all) {
      if (!search.axis.empty() && search.axis.back() < kCollapsed) continue;
      points.push_back(point(search, evaluation, load));
      open.push_back(&search);
    }
    took += work_of(points, length);
    const auto played = play_points(player, "load-axis", points, length.streams);
    if (!played) return played.error();
    for (std::size_t i = 0; i < open.size(); ++i) {
      open[i]->axis.push_back(mean_hits((*played)[i]));
      const std::vector<Row> own = rows_of("load-axis", (*played)[i]);
      rows.insert(rows.end(), own.begin(), own.end());
    }
  }
  for (Search& search : all) search.bisection = bracket(search.axis);
  return Done{};
}

// One step of every bisection that is not done; false when all are.
Result<bool> step(std::vector<Search>& all, const Experiment& evaluation, const Length& length, Player& player,
                  std::uint64_t& took) {
  std::vector<Point> points;
  std::vector<Search*> open;
  for (Search& search : all) {
    const std::optional<int> load = search.bisection->next();
    if (!load) continue;
    points.push_back(point(search, evaluation, *load));
    open.push_back(&search);
  }
  if (open.empty()) return false;
  took += work_of(points, length);
  const auto played = play_points(player, "capacity", points, length.streams);
  if (!played) return played.error();
  for (std::size_t i = 0; i < open.size(); ++i) open[i]->bisection->tell(mean_hits((*played)[i]) >= kEnough);
  return true;
}

}  // namespace

std::optional<int> Bisection::next() const {
  if (bad_ - good_ <= 1) return std::nullopt;
  return good_ + (bad_ - good_) / 2;
}

void Bisection::tell(bool good) {
  const std::optional<int> asked = next();
  CHECK(asked);
  (good ? good_ : bad_) = *asked;
}

std::uint64_t work_of_capacity(const EsgOptions& options, const Experiment& evaluation, const Length& length) {
  constexpr std::uint64_t kRunsOfOne = kTop / kStep + 5;  // of the axis, and halvings of a step
  std::uint64_t runs = 0, tuning = 0;
  for (const Search& search : searches(options)) {
    runs += kRunsOfOne * length.streams;
    if (search.contender.name == "esg-tuned") tuning += kRunsOfOne * work_of(Tuning::brief, evaluation);
  }
  return runs * length.played() + tuning;
}

Result<std::vector<Row>> play_capacity(const EsgOptions& options, const Experiment& evaluation, const Length& length,
                                       Player& player) {
  std::vector<Search> all = searches(options);
  std::uint64_t took = 0;
  std::vector<Row> rows;
  if (const Status axis = play_axis(all, evaluation, length, player, rows, took); !axis) return axis.error();
  for (;;) {
    const auto more = step(all, evaluation, length, player, took);
    if (!more) return more.error();
    if (!*more) break;
  }
  player.settle(work_of_capacity(options, evaluation, length), took);
  for (const Search& search : all) {
    Row row{"capacity", str(name_of(search.slo), "/", search.poisson ? "poisson" : "uniform-gap"),
            search.contender.name, "capacity_at_99"};
    if (const int load = search.bisection->last_good(); load > 0) row.ours = static_cast<double>(load) / kUnit;
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace sluice::reproduce
