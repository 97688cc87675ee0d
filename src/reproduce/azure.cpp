#include "reproduce/azure.h"

#include <array>
#include <functional>

#include "base/text.h"
#include "reproduce/foreign_load.h"
#include "reproduce/mig_applications.h"

namespace sluice::reproduce {
namespace {

struct Objective {
  std::string_view name;
  double scale;
};
constexpr std::array<Objective, 3> kObjectives{{{"strict", 0.8}, {"moderate", 1.0}, {"relaxed", 1.2}}};
constexpr std::array kPercents{60, 80, 100};
constexpr double kMeasuredObjectiveTimes = 2.5;

// Makes the piece that a stream plays.
using PieceMaker = std::function<Result<Piece>(const Target&, std::uint64_t stream)>;

struct Source {
  std::string experiment;
  Experiment evaluation;
  double objective_times = 1;
  PieceMaker piece;
};

std::vector<Source> sources(const Experiment& evaluation, const AzureData& data) {
  const auto minutes = [](const workload::AzureFunctions& trace) {
    return [&trace](const Target& target, std::uint64_t stream) { return piece_of_minutes(trace, target, stream); };
  };
  const auto requests = [&data](const Target& target, std::uint64_t) {
    return piece_of_requests(data.llm_trace, target);
  };
  const auto poisson = [](const Target& target, std::uint64_t) { return Result<Piece>(poisson_piece(target)); };
  Experiment measured = evaluation;
  measured.applications = data.measured;
  return {{"azure-100", evaluation, 1, minutes(data.sample_100)},
          {"azure-500", evaluation, 1, minutes(data.sample_500)},
          {"azure-llm", evaluation, 1, requests},
          {"a100-mig", std::move(measured), kMeasuredObjectiveTimes, poisson}};
}

// The streams of one source at one load, with every objective.
Status add_cells(const Source& source, int percent, std::uint64_t streams, std::vector<AzureCell>& out) {
  const auto each = slice_seconds(source.evaluation);
  if (!each) return each.error();
  const Target target{.slices = slices_of(source.evaluation.cluster) * percent / 100,
                      .slice_seconds = *each,
                      .requests = source.evaluation.workload.requests,
                      .warmup = source.evaluation.workload.warmup};
  std::vector<Piece> pieces;
  for (std::uint64_t stream = 0; stream < streams; ++stream) {
    auto piece = source.piece(target, stream);
    if (!piece) return Error{piece.error().code, str(source.experiment, ": ", piece.error().message)};
    pieces.push_back(std::move(piece).value());
  }
  for (const Objective& objective : kObjectives) {
    for (std::uint64_t stream = 0; stream < streams; ++stream) {
      auto set_up = std::make_shared<Experiment>(source.evaluation);
      set_up->name = str(source.experiment, " ", objective.name, "-", percent, "%");
      set_up->slo_scale = objective.scale * source.objective_times;
      set_up->workload = pieces[stream].workload;
      out.push_back({.experiment = source.experiment,
                     .setting = str(objective.name, "-", percent, "%"),
                     .set_up = std::move(set_up),
                     .trace_text = std::make_shared<const std::string>(pieces[stream].trace_text),
                     .seed = stream + 1});
    }
  }
  return Done{};
}

Result<workload::AzureFunctions> read_sample(const std::string& path, const spec::ReadFile& read) {
  const auto text = read(path);
  if (!text) return text.error();
  workload::AzureFunctions trace = workload::read_azure_functions(*text);
  if (!trace.ok()) return Error{ErrorCode::invalid, describe(trace.errors, path)};
  return trace;
}

}  // namespace

Result<AzureData> read_azure_data(const std::string& folder, const spec::ReadFile& read) {
  const auto failed = [&](const Error& error) {
    return Error{error.code, str(error.message,
                                 "\nThe folder of the data must hold azure-functions-2019, azure-llm-2023 and "
                                 "a100-mig-parvagpu; a sample of them is in examples/traces")};
  };
  auto hundred = read_sample(str(folder, "/azure-functions-2019/100/invocations.csv"), read);
  if (!hundred) return failed(hundred.error());
  auto five_hundred = read_sample(str(folder, "/azure-functions-2019/500/invocations.csv"), read);
  if (!five_hundred) return failed(five_hundred.error());
  auto llm = read(str(folder, "/azure-llm-2023/AzureLLMInferenceTrace_code.csv"));
  if (!llm) return failed(llm.error());
  auto measured = mig_applications(str(folder, "/a100-mig-parvagpu/prof_data"), 0.05, read);
  if (!measured) return failed(measured.error());
  auto unshared = without(std::move(*five_hundred), *hundred);
  return AzureData{.sample_100 = std::move(*hundred),
                   .sample_500 = std::move(unshared),
                   .llm_trace = std::move(*llm),
                   .measured = std::move(*measured)};
}

Result<std::vector<AzureCell>> azure_cells(const Experiment& evaluation, const AzureData& data, std::uint64_t streams,
                                           std::string_view only) {
  std::vector<AzureCell> out;
  for (const Source& source : sources(evaluation, data)) {
    if (!only.empty() && source.experiment != only) continue;
    for (const int percent : kPercents) {
      if (const Status added = add_cells(source, percent, streams, out); !added) return added.error();
    }
  }
  return out;
}

}  // namespace sluice::reproduce
