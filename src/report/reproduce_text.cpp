#include "report/reproduce_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "report/table.h"

namespace sluice::report {
namespace {

using reproduce::Row;
using Rows = std::span<const Row>;

// Our figures by experiment, setting, scheduler and metric, and who is there in which order.
struct Figures {
  std::map<std::tuple<std::string, std::string, std::string, std::string>, double> ours;
  [[nodiscard]] std::optional<double> at(const std::string& experiment, const std::string& setting,
                                         const std::string& scheduler, const std::string& metric) const {
    const auto it = ours.find({experiment, setting, scheduler, metric});
    return it == ours.end() ? std::nullopt : std::optional(it->second);
  }
};

using Cells = std::vector<std::vector<std::string>>;

std::string markdown(const Cells& cells) {
  std::string out;
  for (std::size_t r = 0; r < cells.size(); ++r) {
    out += "|";
    for (const std::string& cell : cells[r]) out += fmt::format(" {} |", cell);
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (std::size_t c = 0; c < cells[r].size(); ++c) out += "---|";
    out += "\n";
  }
  return out;
}

std::string plain(const Cells& cells) {
  Table table(cells.front());
  for (std::size_t r = 1; r < cells.size(); ++r) table.add(cells[r]);
  return table.text("  ");
}

void add_once(std::vector<std::string>& list, const std::string& value) {
  if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
}

// How one experiment is shown: a cell for every setting and scheduler; empty cells are left blank.
struct Shown {
  std::string experiment, title;
  std::function<std::string(const std::string& setting, const std::string& scheduler)> cell;
};

std::string table_of(Rows rows, const Shown& shown, const TextStyle& style) {
  std::vector<std::string> settings, schedulers;
  for (const Row& row : rows) {
    if (row.experiment != shown.experiment || shown.cell(row.setting, row.scheduler).empty()) continue;
    add_once(settings, row.setting);
    add_once(schedulers, row.scheduler);
  }
  if (settings.empty()) return "";
  const bool down = settings.size() > schedulers.size();  // the longer list goes down the page
  const std::vector<std::string>& lines = down ? settings : schedulers;
  const std::vector<std::string>& columns = down ? schedulers : settings;
  Cells cells{{down ? "setting" : "scheduler"}};
  cells[0].insert(cells[0].end(), columns.begin(), columns.end());
  for (const std::string& line : lines) {
    std::vector<std::string> row{line};
    for (const std::string& column : columns) row.push_back(down ? shown.cell(line, column) : shown.cell(column, line));
    cells.push_back(std::move(row));
  }
  const std::string head = fmt::format("{}: {}", shown.experiment, shown.title);
  return style.markdown ? fmt::format("### {}\n\n{}\n", head, markdown(cells))
                        : fmt::format("{}\n{}\n", style.heading(head), plain(cells));
}

std::vector<Shown> shown_experiments(const Figures& f) {
  const auto hits_at_cost = [&f](const std::string& experiment) -> Shown {
    return {experiment, "hits % @ µ$ per met request", [&f, experiment](const auto& setting, const auto& scheduler) {
              const auto hits = f.at(experiment, setting, scheduler, "slo_hit_rate");
              const auto cost = f.at(experiment, setting, scheduler, "cost_per_met_request");
              if (!hits) return std::string();
              if (!cost) return fmt::format("{:.2f} @ –", 100 * *hits);
              return fmt::format("{:.2f} @ {:.{}f}", 100 * *hits, 1e6 * *cost, *cost < 100e-6 ? 2 : 0);
            }};
  };
  const auto number = [&f](const std::string& experiment, const std::string& metric, const std::string& title,
                           double scale, int digits) -> Shown {
    return {experiment, title, [=, &f](const auto& setting, const auto& scheduler) {
              const auto value = f.at(experiment, setting, scheduler, metric);
              return value ? fmt::format("{:.{}f}", scale * *value, digits) : std::string();
            }};
  };
  const auto charged = [&f](const std::string& experiment) -> Shown {
    return {experiment, "µs charged for a batch, p50 / p90 / p99 / most",
            [&f, experiment](const auto& setting, const auto& scheduler) {
              std::string out;
              for (const char* metric : {"search_us_p50", "search_us_p90", "search_us_p99", "search_us_max"}) {
                const auto value = f.at(experiment, setting, scheduler, metric);
                if (value) out += fmt::format("{}{:.0f}", out.empty() ? "" : " / ", *value);
              }
              return out;
            }};
  };
  std::vector<Shown> out{
      hits_at_cost("hits-and-cost"),
      number("hits-and-cost", "slo_hit_rate_worst_application", "hits % of the worst application", 100, 2),
      number("hits-and-cost", "p95_ms", "p95 ms", 1, 0),
      number("hits-and-cost", "configuration_miss_rate", "configuration misses %", 100, 2),
      charged("hits-and-cost"),
      number("hits-and-cost", "idle_warm_gb_s", "idle warm GB·s", 1, 0)};
  for (const char* sweep : {"arrivals", "noise", "laws", "layouts", "transfer", "price", "k", "group", "containers",
                            "ablations", "ideas", "assumptions"})
    out.push_back(hits_at_cost(sweep));
  out.push_back(number("assumptions", "configuration_miss_rate", "configuration misses %", 100, 1));
  out.push_back(number("assumptions-judged", "value", "what of the paper comes out", 1, 0));
  out.push_back(number("containers", "cold_starts", "cold starts", 1, 0));
  out.push_back(number("containers", "idle_warm_gb_s", "idle warm GB·s", 1, 0));
  for (const char* experiment : {"azure-100", "azure-500", "azure-llm", "a100-mig"}) {
    out.push_back(hits_at_cost(experiment));
    out.push_back(number(experiment, "slo_hit_rate_worst_application", "hits % of the worst application", 100, 2));
  }
  for (const char* experiment : {"orion-search", "orion"}) {
    out.push_back(number(experiment, "slo_hit_rate", "hits %", 100, 2));
    out.push_back(number(experiment, "search_us", "µs charged for a decision", 1, 1));
    out.push_back(number(experiment, "configuration_miss_rate", "configuration misses %", 100, 2));
  }
  out.push_back(number("overhead", "full_queue_search_us", "µs of a search with a full queue, timed here", 1, 0));
  out.push_back(number("load-axis", "slo_hit_rate", "hits % by load, in multiples of heavy", 100, 2));
  out.push_back(number("capacity", "capacity_at_99", "largest load with 99 % hits, in multiples of heavy", 1, 2));
  out.push_back(number("table-4.1", "met", "requests of 1200 in time", 1, 0));
  out.push_back(number("table-4.1", "missed_after_admission", "accepted, and not in time", 1, 0));
  out.push_back(number("table-4.1", "latency_goodput", "in time, a second", 1, 3));
  out.push_back(number("table-4.1", "cost_goodput", "within the limit of cost, a second", 1, 1));
  out.push_back(number("extended", "met", "requests of 1200 in time", 1, 0));
  out.push_back(number("extended", "missed_after_admission", "accepted, and not in time", 1, 0));
  out.push_back(number("extended", "goodput", "in time, a second until the last one ends", 1, 1));
  out.push_back(number("extended", "p99_ms", "p99 ms", 1, 0));
  out.push_back(number("extended", "cost_per_met", "cost per request in time, in the thesis's units", 1, 1));
  out.push_back(number("curve", "goodput_at_4x_over_peak", "goodput at 4 x capacity over its peak", 1, 3));
  out.push_back(number("bounds", "most_hits", "hits % no scheduler can exceed", 100, 2));
  out.push_back(number("bounds", "cost_with_misses", "µ$ per request, a miss priced", 1e6, 1));
  out.push_back(number("bounds", "cost_with_misses_over_together", "the same over the noise-aware figure", 1, 3));
  out.push_back(number("bounds", "cost_over_least", "dollars over the least for the same met requests", 1, 3));
  return out;
}

// Paired with sluice, stream by stream: hits in points, dollars per met request in per cent of sluice's.
Shown paired(const Figures& f) {
  return {"hits-and-cost", "less sluice's, stream by stream: hits in points; dollars per met request in %",
          [&f](const auto& setting, const auto& scheduler) {
            const auto at = [&](const char* metric) { return f.at("hits-and-cost", setting, scheduler, metric); };
            const auto hits = at("slo_hit_rate_less_sluice"), sure = at("slo_hit_rate_less_sluice_ci95");
            if (!hits || !sure) return std::string();
            std::string out = fmt::format("{:+.2f} ± {:.2f}", 100 * *hits, 100 * *sure);
            const auto cost = at("cost_per_met_request_less_sluice"),
                       cost_sure = at("cost_per_met_request_less_sluice_ci95");
            const auto whole = f.at("hits-and-cost", setting, "sluice", "cost_per_met_request");
            if (cost && cost_sure && whole)
              out += fmt::format("; {:+.1f} ± {:.1f}", 100 * *cost / *whole, 100 * *cost_sure / *whole);
            return out;
          }};
}

// Latency over objective: applications beside each other.
std::string latencies(Rows rows, const Figures& f, const TextStyle& style) {
  std::vector<std::string> applications, schedulers;
  for (const Row& row : rows) {
    if (row.experiment != "latency" || row.holds || row.metric.rfind("p50_of_slo.", 0) != 0) continue;
    add_once(applications, row.metric.substr(11));
    add_once(schedulers, row.scheduler);
  }
  if (applications.empty()) return "";
  Cells cells{{"scheduler"}};
  cells[0].insert(cells[0].end(), applications.begin(), applications.end());
  for (const std::string& scheduler : schedulers) {
    std::vector<std::string> line{scheduler};
    for (const std::string& a : applications) {
      const auto p50 = f.at("latency", "relaxed-heavy", scheduler, "p50_of_slo." + a);
      const auto p95 = f.at("latency", "relaxed-heavy", scheduler, "p95_of_slo." + a);
      line.push_back(fmt::format("{:.2f} / {:.2f}", p50.value_or(NAN), p95.value_or(NAN)));
    }
    cells.push_back(std::move(line));
  }
  const std::string head = "latency: p50 / p95 over the SLO, relaxed-heavy";
  return style.markdown ? fmt::format("### {}\n\n{}\n", head, markdown(cells))
                        : fmt::format("{}\n{}\n", style.heading(head), plain(cells));
}

// The parameters that ESG's twins were given, a line each; sweeps search for them at every point and are left out.
std::string tunings(Rows rows, const Figures& f, const TextStyle& style) {
  Cells cells{{"twin"}};
  for (const Row& row : rows) {
    if (row.experiment != "tuning" || row.setting.find('/') != std::string::npos) continue;
    add_once(cells[0], row.metric);
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    if (row.experiment == "tuning" && row.setting.find('/') == std::string::npos)
      add_once(lines, row.setting + ' ' + row.scheduler);
  }
  for (const std::string& line : lines) {
    const std::size_t space = line.find(' ');
    std::vector<std::string> own{line};
    for (std::size_t c = 1; c < cells[0].size(); ++c) {
      const auto value = f.at("tuning", line.substr(0, space), line.substr(space + 1), cells[0][c]);
      own.push_back(value ? fmt::format("{:g}", *value) : "");
    }
    cells.push_back(std::move(own));
  }
  if (lines.empty()) return "";
  const std::string head = "tuning: parameters of ESG's twins";
  return style.markdown ? fmt::format("### {}\n\n{}\n", head, markdown(cells))
                        : fmt::format("{}\n{}\n", style.heading(head), plain(cells));
}

std::string claims(Rows rows, const TextStyle& style) {
  Cells cells{{"", "setting", "scheduler", "ours", "paper", "mark", "claim"}};
  for (const Row& row : rows) {
    if (!row.holds) continue;
    const auto number = [](const std::optional<double>& n) { return n ? fmt::format("{:.4g}", *n) : std::string("–"); };
    cells.push_back({*row.holds ? "holds" : "does not", row.setting, row.scheduler, number(row.ours), number(row.paper),
                     std::string(name_of(row.mark)), fmt::format("{} ({})", row.claim, row.metric)});
  }
  if (cells.size() == 1) return "";
  return style.markdown ? fmt::format("### Claims\n\n{}", markdown(cells))
                        : fmt::format("{}\n{}", style.heading("Claims"), plain(cells));
}

}  // namespace

std::string text_of(Rows rows, const TextStyle& style) {
  Figures figures;
  for (const Row& row : rows) {
    if (row.ours) figures.ours.emplace(std::tuple{row.experiment, row.setting, row.scheduler, row.metric}, *row.ours);
  }
  std::string out;
  std::vector<Shown> all = shown_experiments(figures);
  all.insert(all.begin() + 1, paired(figures));
  for (const Shown& shown : all) out += table_of(rows, shown, style);
  out += tunings(rows, figures, style);
  out += latencies(rows, figures, style);
  out += claims(rows, style);
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

}  // namespace sluice::report
