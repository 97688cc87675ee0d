#include "reproduce/esg.h"

#include "base/text.h"
#include "reproduce/esg_overhead.h"
#include "reproduce/esg_points.h"
#include "reproduce/esg_sweeps.h"
#include "reproduce/esg_trends.h"

namespace sluice::reproduce {
namespace {

Length length_of(const EsgOptions& options) {
  Length length = options.full ? Length{.requests = 20'000, .streams = 20} : Length{};
  length.requests = options.requests.value_or(length.requests);
  length.streams = options.streams.value_or(length.streams);
  return length;
}

std::vector<Point> grid(const EsgOptions& options, const Experiment& evaluation) {
  const std::span<const Setting> usual = options.full ? all_settings() : headline_settings();
  const std::vector<Setting> settings =
      options.settings.empty() ? std::vector<Setting>(usual.begin(), usual.end()) : options.settings;
  // The known parameters are those of the usual profiles.
  const bool tune = options.full || !options.profiles.empty();
  std::vector<Point> out;
  for (const Setting setting : settings) {
    out.push_back({.setting = name_of(setting),
                   .set_up = with_setting(evaluation, setting),
                   .contenders = contenders(known_twins(setting)),
                   .tuning = tune ? Tuning::whole : Tuning::none});
  }
  return out;
}

// Experiments 2 and 4: latency over objective by application, and of the longest one over the course of the run.
void add_latencies(const PlayedPoint& point, std::vector<Row>& out) {
  for (const auto& contender : point.contenders) {
    const std::string& name = contender.first;
    const Figures mean = mean_of(contender.second);
    const auto add = [&](const char* experiment, std::string metric, double ours) {
      Row row{experiment, point.setting, name, std::move(metric)};
      row.ours = ours;
      out.push_back(std::move(row));
    };
    for (const ApplicationFigures& a : mean.applications) {
      add("latency", str("slo_hit_rate.", a.application), a.hit_rate);
      add("latency", str("p50_of_slo.", a.application), a.p50_of_slo);
      add("latency", str("p95_of_slo.", a.application), a.p95_of_slo);
    }
    if (name != "esg" && name != "infless" && name != "fast-gshare" && name != "sluice") continue;
    const ApplicationFigures& longest = mean.of("expanded-image-classification");
    for (std::size_t t = 0; t < kTenths; ++t) {
      add("expanded-latency", str("mean_of_slo.tenth-", t + 1), longest.tenths[t]);
    }
  }
}

std::vector<Row> rows_of_grid(const std::vector<PlayedPoint>& points) {
  std::vector<Row> out;
  FigureTable table;
  for (const PlayedPoint& point : points) {
    std::vector<Row> rows = rows_of("hits-and-cost", point);
    std::move(rows.begin(), rows.end(), std::back_inserter(out));
    if (!point.twins) {
      std::vector<Row> twins = rows_of(point.setting, known_twins(*setting_of(point.setting)));
      std::move(twins.begin(), twins.end(), std::back_inserter(out));
    }
    for (const auto& [name, figures] : point.contenders) table.put(point.setting, name, mean_of(figures));
    if (point.setting == "relaxed-heavy") add_latencies(point, out);
  }
  for (const std::vector<Row>& rows : {paper_trends(table), our_claims(table)}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

std::uint64_t work_of_grid(const EsgOptions& options, const Experiment& evaluation, const Length& length) {
  return work_of(grid(options, evaluation), length) + work_of(orion_points(evaluation), {length.requests, 1});
}

Result<std::vector<Row>> play_grid(const EsgOptions& options, const Experiment& evaluation, const Length& length,
                                   Player& player) {
  const std::vector<Point> points = grid(options, evaluation);
  const std::vector<Point> searches = orion_points(evaluation);
  const auto played = play_points(player, "hits-and-cost", points, length.streams);
  if (!played) return played.error();
  std::vector<Row> out = rows_of_grid(*played);
  const auto searched = play_points(player, "orion-search", searches, 1);
  if (!searched) return searched.error();
  for (const PlayedPoint& point : *searched) {
    const std::vector<Row> rows = rows_of("orion-search", point);
    out.insert(out.end(), rows.begin(), rows.end());
  }
  const std::vector<Row> measured = search_times(evaluation, player.means());
  out.insert(out.end(), measured.begin(), measured.end());
  return out;
}

// Lengths of the page: intervals of the grid are tight with ten streams, and sweeps need no more than three to tell
// schedulers apart.
constexpr std::uint64_t kPageStreams = 10, kPageSweepStreams = 3, kPageSweepRequests = 4'000;

struct Part {
  EsgOptions options;
  Length length;
  Experiment evaluation;
};

Result<Part> part_of(EsgOptions options) {
  Length length = length_of(options);
  if (!options.sweeps.empty()) length.streams = options.streams.value_or(5);
  auto evaluation = make_evaluation(options.profiles, length);
  if (!evaluation) return evaluation.error();
  return Part{std::move(options), length, std::move(evaluation).value()};
}

// What is asked for, one after the other: the grid, or sweeps; of the page both.
Result<std::vector<Part>> parts_of(const EsgOptions& options) {
  std::vector<EsgOptions> all{options};
  if (options.sweeps == std::vector<std::string>{std::string(kPage)}) {
    EsgOptions grid = options, sweeps = options;
    grid.sweeps.clear();
    grid.full = true;
    grid.streams = options.streams.value_or(kPageStreams);
    sweeps.sweeps = page_sweeps();
    sweeps.streams = options.streams.value_or(kPageSweepStreams);
    sweeps.requests = options.requests.value_or(kPageSweepRequests);
    sweeps.full = false;
    all = {grid, sweeps};
  }
  std::vector<Part> out;
  for (const EsgOptions& one : all) {
    auto part = part_of(one);
    if (!part) return part.error();
    out.push_back(std::move(part).value());
  }
  return out;
}

}  // namespace

Result<std::vector<Row>> reproduce_esg(const EsgOptions& options, const Means& means) {
  const auto parts = parts_of(options);
  if (!parts) return parts.error();
  std::uint64_t work = 0;
  for (const auto& [own, length, evaluation] : *parts) {
    if (const Status known = check_sweeps(own.sweeps); !known) return known.error();
    work += own.sweeps.empty() ? work_of_grid(own, evaluation, length) : work_of_sweeps(own, evaluation, length);
  }
  if (means.expect) means.expect(work);
  std::vector<Row> out;
  for (const auto& [own, length, evaluation] : *parts) {
    Player player(means, {{"full", own.full ? 1.0 : 0.0}});
    const auto rows =
        own.sweeps.empty() ? play_grid(own, evaluation, length, player) : play_sweeps(own, evaluation, length, player);
    if (!rows) return rows.error();
    out.insert(out.end(), rows->begin(), rows->end());
  }
  return out;
}

}  // namespace sluice::reproduce
