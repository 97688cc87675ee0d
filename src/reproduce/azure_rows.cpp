#include "reproduce/azure_rows.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/check.h"
#include "base/text.h"
#include "reproduce/esg_points.h"

namespace sluice::reproduce {
namespace {

constexpr std::string_view kAll = "azure";
constexpr std::array<std::string_view, 4> kExperiments{"azure-100", "azure-500", "azure-llm", "a100-mig"};

// How ESG fares on the first stream with each of the short grid's parameters.
std::vector<Contender> tried() {
  std::vector<Contender> out;
  for (const EsgTuning& tuning : short_tuning_grid()) out.push_back({"esg-tuned", "esg", tuning.parameters()});
  return out;
}

// Every contender on every stream of a setting, contender by contender.
std::vector<Trial> trials_of(std::span<const AzureCell> streams, const std::vector<Contender>& contenders) {
  std::vector<Trial> out;
  for (const Contender& contender : contenders) {
    for (const AzureCell& cell : streams) {
      auto own = std::make_shared<Experiment>(*cell.set_up);
      own->parameters = {{contender.scheduler, contender.parameters}};
      out.push_back({.experiment = cell.experiment,
                     .setting = cell.setting,
                     .contender = contender.name,
                     .scheduler = contender.scheduler,
                     .set_up = std::move(own),
                     .seed = cell.seed,
                     .trace_text = cell.trace_text});
    }
  }
  return out;
}

Result<PlayedPoint> play_setting(std::span<const AzureCell> streams, Player& player) {
  std::vector<Trial> tuning = trials_of(streams.first(1), tried());
  for (std::size_t i = 0; i < tuning.size(); ++i) tuning[i].experiment = str("tuning/", tuning[i].experiment, "-", i);
  const auto tunings = player.play(tuning);
  if (!tunings) return tunings.error();
  const std::vector<Contender> contenders = reproduce::contenders(short_tuning_grid()[best_tuning(*tunings)]);
  const auto figures = player.play(trials_of(streams, contenders));
  if (!figures) return figures.error();
  PlayedPoint out{.setting = streams.front().setting};
  auto next = figures->begin();
  for (const Contender& contender : contenders) {
    const auto end = next + static_cast<std::ptrdiff_t>(streams.size());
    out.contenders.emplace_back(contender.name, std::vector<Figures>(next, end));
    next = end;
  }
  return out;
}

}  // namespace

bool is_azure_sweep(std::string_view sweep) {
  return sweep == kAll || std::ranges::find(kExperiments, sweep) != kExperiments.end();
}

Result<std::vector<Row>> azure_rows(std::string_view sweep, const AzureData& data, const Experiment& evaluation,
                                    std::uint64_t streams, Player& player) {
  CHECK(is_azure_sweep(sweep) && streams > 0);
  const auto cells = azure_cells(evaluation, data, streams, sweep == kAll ? std::string_view() : sweep);
  if (!cells) return cells.error();
  std::uint64_t work = 0;
  for (const AzureCell& cell : *cells) work += cell.set_up->workload.requests + cell.set_up->workload.warmup;
  const std::uint64_t runs = streams * contenders({}).size() + tried().size();  // of a setting
  if (player.means().expect) player.means().expect(work / streams * runs);
  std::vector<Row> out;
  for (std::size_t first = 0; first < cells->size(); first += streams) {
    const auto point = play_setting(std::span(*cells).subspan(first, streams), player);
    if (!point) return point.error();
    const std::vector<Row> rows = rows_of((*cells)[first].experiment, *point);
    out.insert(out.end(), rows.begin(), rows.end());
  }
  return out;
}

}  // namespace sluice::reproduce
