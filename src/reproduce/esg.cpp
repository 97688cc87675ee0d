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
                   .contenders = contenders(known_tuning(setting)),
                   .tunings = tune ? tuning_grid() : std::vector<EsgTuning>{}});
  }
  return out;
}

void add_tuning(const PlayedPoint& point, std::vector<Row>& out) {
  const std::optional<Setting> setting = setting_of(point.setting);
  const EsgTuning tuning = point.tuned ? *point.tuned : known_tuning(*setting);
  for (const auto& [name, value] : tuning.parameters()) {
    Row row{"tuning", point.setting, "esg-tuned", name};
    row.ours = value;
    out.push_back(std::move(row));
  }
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
    add_tuning(point, out);
    for (const auto& [name, figures] : point.contenders) table.put(point.setting, name, mean_of(figures));
    if (point.setting == "relaxed-heavy") add_latencies(point, out);
  }
  for (const std::vector<Row>& rows : {paper_trends(table), our_claims(table)}) {
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

Result<std::vector<Row>> play_grid(const EsgOptions& options, const Experiment& evaluation, const Length& length,
                                   Player& player) {
  const std::vector<Point> points = grid(options, evaluation);
  const std::vector<Point> searches = orion_points(evaluation);
  if (player.means().expect) player.means().expect(work_of(points, length) + work_of(searches, {length.requests, 1}));
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

}  // namespace

Result<std::vector<Row>> reproduce_esg(const EsgOptions& options, Means means) {
  const Length length = length_of(options);
  const auto evaluation = make_evaluation(options.profiles, length);
  if (!evaluation) return evaluation.error();
  Player player(std::move(means), {{"full", options.full ? 1.0 : 0.0}});
  if (options.sweeps.empty()) return play_grid(options, *evaluation, length, player);
  return play_sweeps(options, *evaluation, player);
}

}  // namespace sluice::reproduce
