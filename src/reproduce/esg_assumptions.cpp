#include "reproduce/esg_assumptions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/text.h"
#include "reproduce/esg_paper.h"
#include "reproduce/esg_trends.h"

namespace sluice::reproduce {
namespace {

// Changes a point; several of them make one assumption.
using Change = void (*)(Point&);

// Nothing is loaded at first, and what happens until it is counts.
void cold_containers(Point& p) {
  p.set_up.instances = InstanceMode::counted;
  p.set_up.workload.requests += p.set_up.workload.warmup;
  p.set_up.workload.warmup = 0;
  p.begins_empty = true;
}

// 5 ms for a decision of ESG, 20 µs for a state of Orion's search.
void paper_time(Point& p) {
  p.set_up.scheduler_time = SchedulerTime::paper;
}

// The gaps are those of each application, not of all together.
void stream_of_each(Point& p) {
  auto& gap = std::get<UniformGap>(p.set_up.workload.arrivals);
  const double applications = static_cast<double>(p.set_up.applications.size());
  gap = {gap.low * (1 / applications), gap.high * (1 / applications)};
}

// Plans may hold larger batches than what waits.
void uncapped_orion(Point& p) {
  for (Contender& c : p.contenders) {
    if (c.name == "orion") c.parameters["cap"] = 0;
  }
}

void exact_times(Point& p) {
  p.set_up.noise = Noise{};
}

struct Assumption {
  const char* name;
  std::vector<Change> changes;
};

std::vector<Assumption> assumptions() {
  return {{"as-assumed", {}},
          {"cold-containers", {cold_containers}},
          {"paper-time", {paper_time}},
          {"stream-of-each-application", {stream_of_each}},
          {"uncapped-orion", {uncapped_orion}},
          {"together", {cold_containers, paper_time, stream_of_each, uncapped_orion}},
          {"together-but-one-stream", {cold_containers, paper_time, uncapped_orion}},
          {"exact-times", {exact_times}}};
}

// "strict-light/together": the setting and the assumption.
std::pair<std::string, std::string> parts_of(const std::string& setting) {
  const std::size_t slash = setting.find('/');
  return {setting.substr(0, slash), setting.substr(slash + 1)};
}

Row judged(const std::string& assumption, const char* what, double value) {
  Row row{"assumptions-judged", assumption, what, "value"};
  row.ours = value;
  return row;
}

// Of the six miss rates that the paper states: how far off on average; nothing if one is not there.
std::optional<double> miss_rate_error(const FigureTable& table) {
  double sum = 0;
  std::size_t known = 0;
  for (const Setting setting : headline_settings()) {
    for (const char* scheduler : {"orion", "aquatope"}) {
      const Figures* figures = table.find(name_of(setting), scheduler);
      const auto paper = known_number(name_of(setting), scheduler, "configuration_miss_rate");
      if (figures == nullptr || !figures->configuration_miss_rate || !paper) return std::nullopt;
      sum += std::abs(*figures->configuration_miss_rate - paper->value);
      ++known;
    }
  }
  return sum / static_cast<double>(known);
}

void judge(const std::string& assumption, const FigureTable& table, std::vector<Row>& out) {
  double leads = 0, gains = 0, rises = 0, falls = 0, all = 0, held = 0;
  for (const Row& row : paper_trends(table)) {
    if (!row.holds) continue;
    const double holds = *row.holds ? 1 : 0;
    all += 1;
    held += holds;
    // Where nobody meets anything nobody leads.
    if (row.metric == "hit_rate_lead" && table.find(row.setting, "esg")->hit_rate > 0) leads += holds;
    if (row.metric == "hit_rate_gain_points") gains += holds;
    if (row.metric == "configuration_miss_rate_rise") rises += holds;
    if (row.metric == "configuration_miss_rate_fall") falls += holds;
  }
  out.push_back(judged(assumption, "settings of 3 in which ESG has the most hits", leads));
  out.push_back(judged(assumption, "of 12 hit rates as far below ESG's as stated", gains));
  out.push_back(judged(assumption, "Orion's misses rise", rises));
  out.push_back(judged(assumption, "Aquatope's misses fall", falls));
  if (const auto error = miss_rate_error(table))
    out.push_back(judged(assumption, "points that miss rates are off", 100 * *error));
  out.push_back(judged(assumption, "% of all claims that hold", all > 0 ? 100 * held / all : 0));
}

}  // namespace

std::vector<Point> assumption_points(const Experiment& evaluation) {
  std::vector<Point> out;
  for (const Assumption& assumption : assumptions()) {
    for (const Setting setting : headline_settings()) {
      Point p{.setting = str(name_of(setting), "/", assumption.name), .set_up = with_setting(evaluation, setting)};
      for (const std::string_view name : paper_contenders()) p.contenders.push_back(contender(name));
      for (const Change change : assumption.changes) change(p);
      out.push_back(std::move(p));
    }
  }
  return out;
}

std::vector<Row> assumption_rows(std::span<const PlayedPoint> points) {
  std::vector<Row> out;
  for (const PlayedPoint& point : points) {
    const std::string setting = parts_of(point.setting).first;
    for (Row& row : rows_of("assumptions", point)) {
      if (const auto paper = known_number(setting, row.scheduler, row.metric)) {
        row.paper = paper->value;
        row.mark = paper->mark;
      }
      out.push_back(std::move(row));
    }
  }
  for (const Assumption& assumption : assumptions()) {
    FigureTable table;
    for (const PlayedPoint& point : points) {
      const auto [setting, name] = parts_of(point.setting);
      if (name != assumption.name) continue;
      for (const auto& played : point.contenders) table.put(setting, played.first, mean_of(played.second));
    }
    judge(assumption.name, table, out);
  }
  return out;
}

}  // namespace sluice::reproduce
