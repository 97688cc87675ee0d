#include "reproduce/esg_points.h"

#include <algorithm>

#include "base/text.h"
#include "reproduce/esg_paper.h"

namespace sluice::reproduce {
namespace {

TwinSearch search_of(const Point& point) {
  const auto set_up = std::make_shared<const Experiment>(for_tuning(point.set_up, point.tuning));
  return {point.tuning, [setting = point.setting, set_up](const Contender& contender) {
            Trial out = trials_of("tuning", setting, contender, *set_up, 1).front();
            out.seed = kTuningSeed;
            return out;
          }};
}

// Gives ESG's twins their parameters; what was found, by point.
Result<std::vector<std::optional<EsgTwins>>> tune(Player& player, std::vector<Point>& points) {
  std::vector<TwinSearch> searches;
  for (const Point& point : points) searches.push_back(search_of(point));
  auto found = find_twins(player, searches);
  if (!found) return found;
  for (std::size_t p = 0; p < points.size(); ++p) {
    if ((*found)[p]) make_twins(points[p].contenders, *(*found)[p]);
  }
  return found;
}

void add_interval(const Row& row, const Spread& spread, std::vector<Row>& out) {
  Row half = row;
  half.metric += "_ci95";
  half.paper.reset();
  half.mark = Mark::our_choice;
  half.ours = spread.half;
  out.push_back(std::move(half));
}

// Streams are the same for all, so that differences stream by stream say more than the difference of means.
void add_paired(const Row& row, const Metric& metric, std::span<const Figures> own, std::span<const Figures> sluice,
                std::vector<Row>& out) {
  std::vector<double> differences;
  for (std::size_t s = 0; s < own.size(); ++s) {
    const auto a = metric.of(own[s]), b = metric.of(sluice[s]);
    if (!a || !b) return;
    differences.push_back(*a - *b);
  }
  const Spread spread = spread_of(differences);
  Row difference = row;
  difference.metric += "_less_sluice";
  difference.ours = spread.mean;
  out.push_back(difference);
  add_interval(difference, spread, out);
}

}  // namespace

const std::vector<Figures>* PlayedPoint::find(std::string_view contender) const {
  for (const auto& [name, figures] : contenders) {
    if (name == contender) return &figures;
  }
  return nullptr;
}

std::uint64_t work_of(const std::vector<Point>& points, const Length& length) {
  std::uint64_t out = 0;
  for (const Point& point : points) {
    out += point.contenders.size() * length.streams * length.played() + work_of(point.tuning, point.set_up);
  }
  return out;
}

Result<std::vector<PlayedPoint>> play_points(Player& player, const std::string& experiment,
                                             const std::vector<Point>& points, std::uint64_t streams) {
  std::vector<Point> tuned = points;
  const auto twins = tune(player, tuned);
  if (!twins) return twins.error();
  std::vector<Trial> trials;
  for (const Point& point : tuned) {
    for (const Contender& contender : point.contenders) {
      std::vector<Trial> own = trials_of(experiment, point.setting, contender, point.set_up, streams);
      for (Trial& trial : own) trial.begins_empty = point.begins_empty;
      std::move(own.begin(), own.end(), std::back_inserter(trials));
    }
  }
  const auto figures = player.play(trials);
  if (!figures) return figures.error();
  std::vector<PlayedPoint> out;
  auto next = figures->begin();
  for (std::size_t p = 0; p < tuned.size(); ++p) {
    PlayedPoint& point = out.emplace_back(PlayedPoint{tuned[p].setting, {}, (*twins)[p]});
    for (const Contender& contender : tuned[p].contenders) {
      const auto end = next + static_cast<std::ptrdiff_t>(streams);
      point.contenders.emplace_back(contender.name, std::vector<Figures>(next, end));
      next = end;
    }
  }
  return out;
}

std::vector<Row> rows_of(const std::string& experiment, const PlayedPoint& point) {
  std::vector<Row> out;
  const std::vector<Figures>* sluice = point.find("sluice");
  for (const auto& [name, figures] : point.contenders) {
    for (const Metric& metric : metrics()) {
      const std::optional<Spread> spread = spread_over(figures, metric);
      Row row{experiment, point.setting, name, std::string(metric.name)};
      if (const auto known = known_number(point.setting, name, metric.name)) {
        row.paper = known->value;
        row.mark = known->mark;
      }
      if (spread) row.ours = spread->mean;
      out.push_back(row);
      if (figures.size() < 2 || !spread) continue;
      add_interval(row, *spread, out);
      const bool compared = metric.name == "slo_hit_rate" || metric.name == "cost_per_met_request";
      if (compared && sluice != nullptr && name != "sluice") add_paired(row, metric, figures, *sluice, out);
    }
  }
  if (point.twins) {
    const std::vector<Row> twins = rows_of(point.setting, *point.twins);
    out.insert(out.end(), twins.begin(), twins.end());
  }
  return out;
}

std::vector<Row> rows_of(const std::string& setting, const EsgTwins& twins) {
  std::vector<Row> out;
  const auto add = [&](const char* twin, const EsgTuning& tuning) {
    for (const auto& [name, value] : tuning.parameters()) {
      Row row{"tuning", setting, twin, name};
      row.ours = value;
      out.push_back(std::move(row));
    }
  };
  add("esg-tuned", twins.tuned);
  add("esg-thrifty", twins.thrifty);
  return out;
}

}  // namespace sluice::reproduce
